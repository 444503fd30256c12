//! A plain pcap file of TCP packets in Ethernet and IPv4: written fast, cut at a snap length.

use std::io::{self, Write};
use wire::{Segment, Time, Tuple, ip, tcp};

/// What a packet carries besides its segment.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    pub ip_id: u16,
    pub ttl: u8,
}

/// Writes packets up to a limit; microsecond time stamps, as most captures from the field have.
pub struct Writer<W: Write> {
    out: W,
    snap: u32,
    limit: u64,
    packets: u64,
    data_packets: u64,
    header: Vec<u8>,
    frame: Vec<u8>,
}

/// Destination, source, IPv4: locally administered addresses.
const ETHERNET: [u8; 14] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];

impl<W: Write> Writer<W> {
    pub fn new(mut out: W, snap: u32, limit: u64) -> io::Result<Writer<W>> {
        out.write_all(&0xa1b2_c3d4_u32.to_le_bytes())?;
        out.write_all(&[2, 0, 4, 0])?;
        out.write_all(&[0; 8])?;
        out.write_all(&snap.to_le_bytes())?;
        out.write_all(&1u32.to_le_bytes())?;
        let (header, frame) = (Vec::with_capacity(64), Vec::with_capacity(2048));
        Ok(Writer { out, snap, limit, packets: 0, data_packets: 0, header, frame })
    }

    pub fn is_full(&self) -> bool {
        self.packets >= self.limit
    }
    pub fn packets(&self) -> u64 {
        self.packets
    }
    pub fn data_packets(&self) -> u64 {
        self.data_packets
    }

    /// Appends a packet, its payload all zeros; nothing once the limit is reached.
    pub fn write(&mut self, at: Time, tuple: &Tuple, seg: &Segment, carrier: Carrier) -> io::Result<()> {
        if self.is_full() {
            return Ok(());
        }
        self.packets += 1;
        self.data_packets += u64::from(seg.payload > 0);
        tcp::write(&mut self.header, tuple, seg);
        let tcp_len = self.header.len() as u32 + seg.payload;
        self.frame.clear();
        self.frame.extend([0; 16]);
        self.frame.extend(ETHERNET);
        let (src, dst) = (tuple.src.host, tuple.dst.host);
        let header = ip::Header { src, dst, protocol: 6, id: carrier.ip_id, ttl: carrier.ttl, ecn: 0 };
        ip::write(&mut self.frame, &header, tcp_len);
        self.frame.extend(&self.header);
        let on_wire = self.frame.len() as u32 - 16 + seg.payload;
        let kept = on_wire.min(self.snap);
        self.frame.resize(16 + kept as usize, 0);
        let record = [(at.0 / 1_000_000_000) as u32, (at.0 % 1_000_000_000 / 1_000) as u32, kept, on_wire];
        for (field, value) in self.frame.chunks_exact_mut(4).zip(record) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        self.out.write_all(&self.frame)
    }

    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Endpoint, Flags, Host, Seq, Timestamps};

    #[test]
    fn a_packet_longer_than_the_snap_length_is_cut_and_says_how_long_it_was() {
        let end = |n, port| Endpoint { host: Host::v4([10, 0, 0, n]), port };
        let tuple = Tuple { src: end(1, 40_000), dst: end(2, 80) };
        let seg = Segment {
            seq: Seq(7),
            payload: 1448,
            flags: Flags::ACK,
            timestamps: Some(Timestamps { val: 1, ecr: 2 }),
            ..Segment::default()
        };
        let mut w = Writer::new(Vec::new(), 96, 1).unwrap();
        for _ in 0..2 {
            w.write(Time(3_000_005_000), &tuple, &seg, Carrier { ip_id: 9, ttl: 64 }).unwrap();
        }
        let file = w.finish().unwrap();
        assert_eq!(file.len(), 24 + 16 + 96, "the second packet is beyond the limit");
        let field = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        assert_eq!([field(24), field(28), field(32), field(36)], [3, 5, 96, 1514]);
        let ip = ip::parse(&file[54..]).unwrap();
        assert_eq!((ip.payload_len, ip.id), (Some(1480), 9));
        let read = tcp::parse(&file[74..], 1480).unwrap().seg;
        assert_eq!((read.seq, read.payload, read.timestamps), (seg.seq, seg.payload, seg.timestamps));
    }
}
