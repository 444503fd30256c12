//! Packets and files for the tests.
#![allow(dead_code, reason = "each test binary uses its own part")]

use capture::{Info, LinkType, NewPacket, Options, Reader, Writer};
use std::path::{Path, PathBuf};
use wire::{Endpoint, Flags, Host, Packet, SackBlocks, Segment, Seq, Time, Timestamps, Tuple};

pub fn tuple() -> Tuple {
    Tuple {
        src: Endpoint { host: Host::v4([10, 0, 0, 1]), port: 40_000 },
        dst: Endpoint { host: Host::v4([10, 0, 0, 2]), port: 80 },
    }
}

pub fn tuple6() -> Tuple {
    let host = |last| {
        let mut a = [0; 16];
        (a[0], a[1], a[15]) = (0x20, 0x01, last);
        Host::v6(a)
    };
    Tuple { src: Endpoint { host: host(1), port: 40_000 }, dst: Endpoint { host: host(2), port: 80 } }
}

pub fn header(seq: u32, payload: u32) -> Segment {
    let mut sack = SackBlocks::NONE;
    sack.push(Seq(5000), Seq(6000));
    Segment {
        seq: Seq(seq),
        ack: Seq(77),
        payload,
        window: 1000,
        header_len: 44,
        flags: Flags::ACK,
        timestamps: Some(Timestamps { val: 1, ecr: 2 }),
        sack,
        ..Segment::default()
    }
}

/// TCP header and payload of zeros, with a correct checksum.
pub fn tcp(t: &Tuple, seq: u32, payload: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    wire::tcp::write(&mut bytes, t, &header(seq, payload));
    bytes.resize(bytes.len() + payload as usize, 0);
    bytes
}

/// An IP datagram with a TCP segment.
pub fn segment(t: &Tuple, seq: u32, payload: u32) -> Vec<u8> {
    ip(t, 6, &tcp(t, seq, payload))
}

pub fn ip(t: &Tuple, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = wire::ip::Header { src: t.src.host, dst: t.dst.host, protocol, id: 321, ttl: 64, ecn: 0 };
    wire::ip::write(&mut bytes, &header, payload.len() as u32);
    [&bytes, payload].concat()
}

pub fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], kind.to_be_bytes().as_slice(), payload].concat()
}

pub fn udp(destination: u16, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16 + 8).to_be_bytes();
    [&[0xc0, 1], destination.to_be_bytes().as_slice(), &length, &[0, 0], payload].concat()
}

/// A pcap file of frames a millisecond apart.
pub fn pcap(link: LinkType, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut w = Writer::pcap(Vec::new(), link, 0).unwrap();
    for (i, data) in frames.iter().enumerate() {
        let time = Time(1_700_000_000_000_000_000 + i as i64 * 1_000_000);
        w.packet(&NewPacket { time, data, ..NewPacket::default() }).unwrap();
    }
    w.finish().unwrap()
}

/// All packets and what is told at the end; batches of an odd size, so that their ends fall anywhere.
pub fn read_all(paths: &[PathBuf], options: &Options) -> (Vec<Packet>, Info) {
    drain(capture::open(paths, options).unwrap_or_else(|e| panic!("{e}")))
}

pub fn drain(mut reader: Reader) -> (Vec<Packet>, Info) {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while reader.read_batch(&mut batch, 7) {
        assert!(batch.len() <= 7);
        all.extend_from_slice(&batch);
    }
    assert!(batch.is_empty());
    assert!(!reader.read_batch(&mut batch, 7), "the end stays the end");
    (all, reader.info().clone())
}

/// A folder of one test's own, removed at its end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
