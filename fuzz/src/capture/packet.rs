//! IP datagrams that hold TCP segments, some of them malformed.

use crate::choices::Choices;

/// The captured bytes of a datagram, and its length on the wire.
#[derive(Clone)]
pub struct Datagram {
    pub bytes: Vec<u8>,
    pub wire_len: u32,
    pub v6: bool,
}

/// A TCP header.
#[derive(Clone, Default)]
pub struct Header {
    pub ports: (u16, u16),
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    pub options: Vec<u8>,
}

impl Header {
    pub fn bytes(&self) -> Vec<u8> {
        let mut options = self.options.clone();
        options.resize(options.len().next_multiple_of(4), 1);
        options.truncate(40);
        let mut h = Vec::with_capacity(20 + options.len());
        h.extend(self.ports.0.to_be_bytes());
        h.extend(self.ports.1.to_be_bytes());
        h.extend(self.seq.to_be_bytes());
        h.extend(self.ack.to_be_bytes());
        h.extend([(((20 + options.len()) / 4) << 4) as u8, self.flags]);
        h.extend(self.window.to_be_bytes());
        h.extend([0; 4]);
        h.extend(options);
        h
    }
}

/// Fields of an IPv4 header.
#[derive(Clone, Copy, Default)]
pub struct Ip {
    pub id: u16,
    /// Flags and offset of a fragment.
    pub fragment: u16,
    pub ecn: u8,
    pub protocol: u8,
}

/// A datagram of `body` and of `payload` bytes that were not captured.
pub fn v4(ip: Ip, from: [u8; 4], to: [u8; 4], body: &[u8], payload: u32) -> Datagram {
    let length = 20 + body.len() as u32 + payload;
    let mut bytes = Vec::with_capacity(20 + body.len());
    bytes.extend([0x45, ip.ecn]);
    // A segment that the network card is to cut may have no length in its header.
    bytes.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
    bytes.extend(ip.id.to_be_bytes());
    bytes.extend(ip.fragment.to_be_bytes());
    bytes.extend([64, ip.protocol, 0, 0]);
    bytes.extend(from);
    bytes.extend(to);
    bytes.extend(body);
    Datagram { bytes, wire_len: length, v6: false }
}

/// The same for IPv6, with so many extension headers before the body.
pub fn v6(
    choices: &mut Choices,
    from: [u8; 4],
    to: [u8; 4],
    body: &[u8],
    payload: u32,
    extensions: u32,
) -> Datagram {
    let mut chain = Vec::new();
    let mut next = 6;
    for _ in 0..extensions {
        let kind = choices.pick(&[0, 43, 60, 44]);
        let header = match kind {
            44 => [&[next, 0, 0, 0][..], &choices.bits::<u32>().to_be_bytes()].concat(),
            _ => vec![next, 0, 0, 0, 0, 0, 0, 0],
        };
        chain.splice(0..0, header);
        next = kind;
    }
    let length = (chain.len() + body.len()) as u32 + payload;
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
    bytes.extend([next, 64]);
    for host in [from, to] {
        bytes.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(host);
    }
    bytes.extend(chain);
    bytes.extend(body);
    Datagram { bytes, wire_len: 40 + length, v6: true }
}
