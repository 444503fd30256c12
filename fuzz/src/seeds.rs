//! The corpus: captures, scripts, scenarios and stacks of the project, and rows of decisions from which files are built.

use crate::driver::Random;
use crate::targets;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Captures are cut off here: an execution stays short.
const LONGEST: u64 = 12 << 10;
/// Random rows of decisions.
const BUILT: u64 = 64;

fn project(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)
}

/// The captures that tests read, decompressed.
fn plain() -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let entries = std::fs::read_dir(project("tests/data")).into_iter().flatten();
    paths.extend(entries.filter_map(|e| Some(e.ok()?.path())));
    paths.retain(|p| {
        let name = p.file_name().map_or_else(Default::default, |n| n.to_string_lossy());
        name.contains(".pcap")
    });
    paths.sort();
    paths.iter().filter_map(|p| first_bytes(p).ok()).collect()
}

fn first_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let (file, mut bytes) = (File::open(path)?, Vec::new());
    let file: Box<dyn Read> = match path.extension().is_some_and(|e| e == "gz") {
        true => Box::new(MultiGzDecoder::new(file)),
        false => Box::new(file),
    };
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn built(head: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..BUILT).map(move |n| {
        let mut random = Random::new(n);
        let mut bytes: Vec<u8> = (0..head as u64 + 200 * (n + 1)).map(|_| random.below(256) as u8).collect();
        bytes[0] |= 1;
        bytes
    })
}

/// Captures behind a head that asks for everything, and rows of decisions.
pub fn captures() -> Vec<Vec<u8>> {
    let head = [0, 0, 0xff, 0, 0, 0, 0, 0];
    let plain = plain().into_iter().map(|bytes| [&head[..], &bytes].concat());
    plain.chain(built(head.len())).collect()
}

/// Captures, each followed by as many bytes that decide how the second capture differs.
pub fn pairs() -> Vec<Vec<u8>> {
    captures()
        .into_iter()
        .enumerate()
        .map(|(n, one)| {
            let mut random = Random::new(n as u64);
            let decisions: Vec<u8> = one.iter().map(|_| random.below(256) as u8).collect();
            [one, decisions].concat()
        })
        .collect()
}

fn texts(all: &[String]) -> Vec<Vec<u8>> {
    let plain = all.iter().map(|text| [&[0, 0][..], text.as_bytes()].concat());
    plain.chain(built(2)).collect()
}

pub fn scripts() -> Vec<Vec<u8>> {
    texts(targets::drill_scripts())
}
pub fn scenarios() -> Vec<Vec<u8>> {
    texts(targets::scenario_texts())
}
pub fn stacks() -> Vec<Vec<u8>> {
    texts(targets::stack_texts())
}
