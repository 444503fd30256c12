//! Captures of a run: one pcapng file for each node that the scenario records, written as the run goes.

use capture::{LinkType, NewPacket, Writer};
use net::NodeId;
use scenario::model::Scenario;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use wire::{Host, Notes, Packet, Time, Tuple, ip, tcp};

const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV4_HEADER: u32 = 20;
const UDP_HEADER: u32 = 8;

/// The capture at one node.
struct Open {
    node: u32,
    path: PathBuf,
    out: Option<Writer<BufWriter<File>>>,
    error: Option<io::Error>,
}

#[derive(Default)]
pub struct Captures {
    open: Vec<Open>,
    snap: usize,
    /// Header and payload of the packet being written.
    bytes: Vec<u8>,
    tcp_header: Vec<u8>,
}

/// The file of a node's capture.
pub fn path(folder: &Path, node: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
    folder.join(format!("{}.pcapng", node.chars().map(plain).collect::<String>()))
}

impl Captures {
    pub fn none() -> Captures {
        Captures::default()
    }

    /// A file for each node that `[record]` names.
    pub fn open(folder: &Path, scenario: &Scenario) -> io::Result<Captures> {
        let record = &scenario.record;
        if record.capture.is_empty() {
            return Ok(Captures::none());
        }
        let named = |path: &Path, e: io::Error| {
            io::Error::new(e.kind(), format!("{}: {}", capture::shown(path), capture::sentence(&e)))
        };
        std::fs::create_dir_all(folder).map_err(|e| named(folder, e))?;
        let snap = record.snap_bytes.unwrap_or(0);
        let one = |node: &usize| {
            let name = scenario.nodes.get(*node).map_or("", |n| n.name.as_str());
            let path = path(folder, name);
            let begin = || {
                let mut out = Writer::pcapng(BufWriter::new(capture::create(&path)?))?;
                out.interface(Some(name), LinkType::RAW, snap)?;
                Ok(out)
            };
            let out = begin().map_err(|e| named(&path, e))?;
            Ok(Open { node: *node as u32, path, out: Some(out), error: None })
        };
        let open: io::Result<Vec<Open>> = record.capture.iter().map(one).collect();
        let snap = if snap == 0 { usize::MAX } else { snap as usize };
        Ok(Captures { open: open?, snap, ..Captures::default() })
    }

    /// Whether packets at this node are written.
    pub fn holds(&self, node: NodeId) -> bool {
        self.open.iter().any(|open| open.node == node.0)
    }

    pub fn packet(&mut self, node: NodeId, packet: &Packet) {
        if !self.holds(node) {
            return;
        }
        let whole = frame(&mut self.bytes, &mut self.tcp_header, packet, self.snap);
        self.write(packet.time, node, packet.tuple, whole);
    }

    /// A datagram, headers included so long.
    pub fn datagram(&mut self, time: Time, node: NodeId, ends: Tuple, wire_len: u32) {
        if !self.holds(node) {
            return;
        }
        self.bytes.clear();
        let udp_len = wire_len.saturating_sub(IPV4_HEADER).max(UDP_HEADER);
        let header = ip::Header {
            src: ends.src.host,
            dst: ends.dst.host,
            protocol: UDP,
            id: 0,
            ttl: sim::TTL,
            ecn: 0,
        };
        ip::write(&mut self.bytes, &header, udp_len);
        self.bytes.extend(ends.src.port.to_be_bytes());
        self.bytes.extend(ends.dst.port.to_be_bytes());
        self.bytes.extend((udp_len as u16).to_be_bytes());
        // No checksum (RFC 768).
        self.bytes.extend([0, 0]);
        self.bytes.resize((wire_len as usize).min(self.snap), 0);
        self.write(time, node, ends, wire_len);
    }

    /// Puts what `bytes` holds into the capture at a node.
    fn write(&mut self, time: Time, node: NodeId, ends: Tuple, wire_len: u32) {
        let Some(open) = self.open.iter_mut().find(|o| o.node == node.0) else { return };
        let Some(out) = &mut open.out else { return };
        let notes = match sim::addresses::host(node.0 as usize) {
            host if host == ends.src.host => Notes::OUTBOUND,
            host if host == ends.dst.host => Notes::INBOUND,
            Host(_) => Notes::default(),
        };
        let new = NewPacket { time, data: &self.bytes, wire_len, notes, ..NewPacket::default() };
        if let Err(e) = out.packet(&new) {
            open.error = Some(e);
            open.out = None;
        }
    }

    pub fn finish(&mut self) {
        for open in &mut self.open {
            if let Some(Err(e)) = open.out.take().map(Writer::finish) {
                open.error = Some(e);
            }
        }
    }

    /// The files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.open.iter().map(|open| open.path.clone()).collect()
    }

    /// Sentences about captures that the disk could not take.
    pub fn complaints(&self) -> Vec<String> {
        let told = |open: &Open| {
            let e = open.error.as_ref()?;
            Some(format!("{}: the capture ends early: {}", capture::shown(&open.path), capture::sentence(e)))
        };
        self.open.iter().filter_map(told).collect()
    }
}

/// The packet as it is on the wire, payload of zeros, as much of it as is kept; returns its whole length.
fn frame(out: &mut Vec<u8>, tcp_header: &mut Vec<u8>, packet: &Packet, snap: usize) -> u32 {
    tcp::write(tcp_header, &packet.tuple, &packet.seg);
    let tcp_len = tcp_header.len() as u32 + packet.seg.payload;
    out.clear();
    let header = ip::Header {
        src: packet.tuple.src.host,
        dst: packet.tuple.dst.host,
        protocol: TCP,
        id: packet.ip_id,
        ttl: packet.ttl,
        ecn: packet.notes.ecn(),
    };
    ip::write(out, &header, tcp_len);
    let whole = out.len() as u32 + tcp_len;
    out.extend_from_slice(tcp_header);
    out.resize((whole as usize).min(snap), 0);
    whole
}
