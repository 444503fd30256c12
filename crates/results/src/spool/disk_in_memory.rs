//! Where rows go that their table's own memory does not hold, in a browser: more memory, up to a bound over all tables.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Bytes that rows of all tables may take, beyond those that each store holds by itself ([`super::store::MEMORY`]).
const MOST: u64 = 160 << 20;
/// Bytes of a block. A vector that grows would take twice the memory while it moves.
const BLOCK: usize = 256 << 10;

static USED: AtomicU64 = AtomicU64::new(0);

/// Bytes as a file has them, in blocks.
#[derive(Default)]
pub struct Disk(Mutex<Vec<Box<[u8]>>>);

/// Where they lie, and what helps where there is no room.
pub fn place() -> [String; 2] {
    ["the browser's memory".into(), "the command line keeps them on the disk".into()]
}

impl Disk {
    #[allow(clippy::unnecessary_wraps)] // a file can fail
    pub fn new() -> io::Result<Disk> {
        Ok(Disk::default())
    }
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        let mut blocks = self.blocks()?;
        let kept = (len as usize).div_ceil(BLOCK).min(blocks.len());
        give_back(blocks.len() - kept);
        blocks.truncate(kept);
        Ok(())
    }
    pub fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let mut blocks = self.blocks()?;
        let more = (at as usize + bytes.len()).div_ceil(BLOCK).saturating_sub(blocks.len());
        if USED.load(Ordering::Relaxed) + (more * BLOCK) as u64 > MOST {
            let most = MOST >> 20;
            return Err(io::Error::other(format!("a page may keep {most} MiB of rows")));
        }
        USED.fetch_add((more * BLOCK) as u64, Ordering::Relaxed);
        blocks.extend((0..more).map(|_| vec![0; BLOCK].into_boxed_slice()));
        for (block, place, part) in pieces(at, bytes.len()) {
            blocks[block][place..place + part.len()].copy_from_slice(&bytes[part]);
        }
        Ok(())
    }
    pub fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let blocks = self.blocks()?;
        for (block, place, part) in pieces(at, bytes.len()) {
            let held = blocks.get(block).ok_or(io::ErrorKind::UnexpectedEof)?;
            let length = part.len();
            bytes[part].copy_from_slice(&held[place..place + length]);
        }
        Ok(())
    }
    fn blocks(&self) -> io::Result<MutexGuard<'_, Vec<Box<[u8]>>>> {
        self.0.lock().map_err(|_| io::Error::other("a failure before this one"))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Ok(blocks) = self.0.get_mut() {
            give_back(blocks.len());
        }
    }
}

fn give_back(blocks: usize) {
    USED.fetch_sub((blocks * BLOCK) as u64, Ordering::Relaxed);
}

/// Of so many bytes from a place on: the block, the place in it, and which of the bytes lie there.
fn pieces(at: u64, len: usize) -> impl Iterator<Item = (usize, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let from = at as usize + done;
        let part = (BLOCK - from % BLOCK).min(len - done);
        done += part;
        (part > 0).then(|| (from / BLOCK, from % BLOCK, done - part..done))
    })
}
