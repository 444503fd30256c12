//! Reading what the join's tests need, and feeding a joiner as its caller does.
#![allow(dead_code)] // each test file uses its own part

pub mod synthetic;

use analysis::join::{Joined, Joiner, Side, Warning};
use flate2::read::MultiGzDecoder;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use synthetic::Story;
use wire::Packet;

pub fn data_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}
/// Captures outside the repository, if this checkout has them beside it.
pub fn shared_dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures").join(name)
}

pub fn unzip(path: &Path) -> Vec<u8> {
    let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut bytes = Vec::new();
    MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

pub fn packets(path: &Path) -> Vec<Packet> {
    let opened = capture::open(&[path.to_path_buf()], &capture::Options::default());
    let mut reader = opened.unwrap_or_else(|e| panic!("{e}"));
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while reader.read_batch(&mut batch, 512) {
        all.extend_from_slice(&batch);
    }
    all
}

pub fn pair(dir: &Path, name: &str) -> [Vec<Packet>; 2] {
    ["snd", "rcv"].map(|side| packets(&dir.join(format!("{name}.{side}.pcap.gz"))))
}

/// Feeds both captures in batches, as the joiner wants them.
pub fn join(captures: &[Vec<Packet>; 2]) -> Joined {
    let mut joiner = Joiner::new();
    let mut batches = captures.each_ref().map(|c| c.chunks(100));
    let mut ended = [false; 2];
    while ended != [true; 2] {
        let side = joiner.wants();
        match batches[side as usize].next() {
            Some(batch) => joiner.push(side, batch),
            None => {
                assert!(!ended[side as usize], "an ended capture is not wanted");
                ended[side as usize] = true;
                joiner.end(side);
            }
        }
    }
    joiner.finish()
}

pub fn lost(joined: &Joined, side: Side) -> BTreeSet<u64> {
    let seen = if side == Side::Sender { &joined.sender } else { &joined.receiver };
    seen.lost.iter().map(|l| l.packet).collect()
}

/// Packet numbers, in the capture next to their sender, of what the bridge's log says it dropped.
pub fn dropped(log: &Path, captures: &[Vec<Packet>; 2]) -> [BTreeSet<u64>; 2] {
    let text = String::from_utf8(unzip(log)).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let [dir, id, seq, ack, payload, time] = ["dir", "ip_id", "seq", "ack", "payload", "t_epoch"].map(column);
    let mut numbers = [BTreeSet::new(), BTreeSet::new()];
    for line in lines {
        let f: Vec<&str> = line.split(',').collect();
        let int = |c: usize| f[c].parse::<u64>().unwrap();
        let met = f[time].parse::<f64>().unwrap();
        let way = int(dir) as usize;
        let was = |p: &&Packet| {
            (u64::from(p.ip_id), u64::from(p.seg.seq.0), u64::from(p.seg.payload))
                == (int(id), int(seq), int(payload))
                && u64::from(p.seg.ack.0) == int(ack)
                && !numbers[way].contains(&p.number)
                && (p.time.as_secs() - met).abs() < 10.0
        };
        let p = captures[way].iter().find(was).unwrap_or_else(|| panic!("{}: {line}", log.display()));
        numbers[way].insert(p.number);
    }
    numbers
}

/// Joins a story, which must call lost what was lost and nothing else.
pub fn is_exact(story: &Story) -> Joined {
    let joined = join(&story.captures);
    for side in Side::BOTH {
        assert_eq!(lost(&joined, side), story.lost[side as usize], "{side}: {:?}", joined.warnings);
    }
    joined
}

pub fn warned(joined: &Joined, of: fn(&Warning) -> bool) -> bool {
    joined.warnings.iter().any(of)
}
