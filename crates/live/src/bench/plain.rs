//! The same hosts and transfers with a bridge of the kernel's between them: what a benchmark holds rexmit's beside.
//!
//! A bridge device has no rate, no delay and no queue of its own, so nothing of the scenario's links is there, and
//! nothing is due at any time. What can be measured is how long packets take through it: from the capture at the
//! host that sent them to the capture at the host they came to.

use super::{Bench, LOOK, Middle};
use crate::check;
use crate::clean;
use crate::error::{Error, Told};
use crate::lateness::Lateness;
use crate::lock::Lock;
use crate::plan::Plan;
use crate::record::{Capture, Taken};
use crate::transfer::Ended;
use capture::Options;
use instant::{Span, Time};
use std::collections::{HashMap, VecDeque};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use wire::Packet;

const BATCH: usize = 256;

/// What a run over a bridge of the kernel's came to.
#[derive(Clone, Debug)]
pub struct Plain {
    /// By connection of the plan.
    pub ended: Vec<Ended>,
    pub captures: Vec<Taken>,
    pub transit: Transit,
}

/// How long packets took from one capture to another.
#[derive(Clone, Debug, Default)]
pub struct Transit {
    pub times: Lateness,
    /// That were seen on their way out only: lost between, or by a capture, or under way when captures ended.
    pub unseen: u64,
}

/// Runs a plan's flows over a bridge of the kernel's, until all are done or the plan's time is over.
pub fn run(plan: &Plan, folder: &Path) -> Result<Plain, Error> {
    check::for_plan(plan)?;
    std::fs::create_dir_all(folder).told(folder.display())?;
    let lock = Lock::take()?;
    clean::clean()?;
    let mut bench = Bench::build(plan, &lock, folder, Middle::Kernel)?;
    let clock = bench.begin()?;
    let limit = Time::ZERO + plan.limit;
    while clock.now() < limit && bench.transfers.done() < plan.connections.len() {
        clock.wait(limit, LOOK);
    }
    let captures: Vec<Taken> = bench.captures.drain(..).filter_map(Capture::finish).collect();
    bench.stop_transfers();
    let ended = bench.ended();
    drop(bench);
    let files: Vec<(Ipv4Addr, PathBuf)> =
        captures.iter().map(|taken| (plan.address(taken.node), taken.path.clone())).collect();
    Ok(Plain { ended, transit: transit(&files)?, captures })
}

/// What tells one transmission from another; packets that are alike in all of it keep their order.
type Key = (wire::Tuple, u16, u32, u32, u32);

fn key(p: &Packet) -> Key {
    (p.tuple, p.ip_id, p.seg.seq.0, p.seg.ack.0, p.seg.payload)
}

/// Matches what hosts sent with what came to the others, packet by packet.
pub fn transit(captures: &[(Ipv4Addr, PathBuf)]) -> Result<Transit, Error> {
    let mut sent: HashMap<Key, VecDeque<i64>> = HashMap::new();
    for (host, path) in captures {
        read(path, |p| {
            if is_from(p, *host) {
                sent.entry(key(p)).or_default().push_back(p.time.0);
            }
        })?;
    }
    let mut transit = Transit::default();
    for (host, path) in captures {
        read(path, |p| {
            if !is_from(p, *host)
                && let Some(left) = sent.get_mut(&key(p)).and_then(VecDeque::pop_front)
            {
                transit.times.add(Span(p.time.0 - left));
            }
        })?;
    }
    transit.unseen = sent.values().map(|left| left.len() as u64).sum();
    Ok(transit)
}

fn is_from(p: &Packet, host: Ipv4Addr) -> bool {
    p.tuple.src.host == wire::Host::v4(host.octets())
}

fn read(path: &PathBuf, mut each: impl FnMut(&Packet)) -> Result<(), Error> {
    let opened = capture::open(std::slice::from_ref(path), &Options::default());
    let mut reader = opened.map_err(|e| Error::Failed(format!("{}: {e}", path.display())))?;
    let mut batch = Vec::new();
    while reader.read_batch(&mut batch, BATCH) {
        batch.iter().for_each(&mut each);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use capture::{LinkType, NewPacket, Writer};

    const A: [u8; 4] = [10, 0, 0, 1];
    const B: [u8; 4] = [10, 0, 0, 2];

    /// A TCP segment without payload, from A to B, over raw IPv4.
    fn segment(ip_id: u16) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 40];
        bytes.extend(ip_id.to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0]);
        bytes.extend(A.into_iter().chain(B));
        bytes.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
        bytes
    }

    fn file(folder: &Path, name: &str, packets: &[(i64, u16)]) -> PathBuf {
        let path = folder.join(name);
        let mut out = Writer::pcapng(std::fs::File::create(&path).unwrap()).unwrap();
        out.interface(None, LinkType::RAW, 0).unwrap();
        for (at, ip_id) in packets {
            let data = segment(*ip_id);
            let packet = NewPacket {
                time: Time(*at),
                data: &data,
                wire_len: data.len() as u32,
                ..NewPacket::default()
            };
            out.packet(&packet).unwrap();
        }
        out.finish().unwrap();
        path
    }

    #[test]
    fn each_packet_is_matched_with_itself_and_a_lost_one_with_none() {
        let folder = tempfile::TempDir::new().unwrap();
        // The second is lost; the last has the identification of the first, 16 bits being few.
        let at = 1_700_000_000_000_000_000;
        let sent = [(at, 1), (at + 1_000, 2), (at + 2_000, 3), (at + 50_000, 1)];
        let came = [(at + 10_000, 1), (at + 12_500, 3), (at + 90_000, 1)];
        let files = [
            (Ipv4Addr::from(A), file(folder.path(), "a.pcapng", &sent)),
            (Ipv4Addr::from(B), file(folder.path(), "b.pcapng", &came)),
        ];
        let found = transit(&files).unwrap();
        assert_eq!((found.times.packets, found.unseen), (3, 1));
        assert_eq!(found.times.max, Span(40_000));
        let least = found.times.quantile(0.01).unwrap();
        assert!((10_000..10_400).contains(&least.0), "{least}");
    }
}
