//! The thread that takes packets from the kernel's ring to the disk.

use super::files::Files;
use super::filter::{Expr, Facts};
use super::machine::Interface;
use crate::error::sentence;
use crate::sys::{self, PacketRing, Seen};
use std::collections::HashSet;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Between two looks while packets come: a wake-up for each would cost their senders' time.
const LOOK: Duration = Duration::from_millis(20);
const QUIET_NS: i64 = 50_000_000;
/// A block that is not full is handed over within that.
const LAST_BLOCK: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, Default)]
pub struct Taken {
    pub files: Vec<PathBuf>,
    pub packets: u64,
    pub bytes: u64,
    /// That the kernel had no room for.
    pub dropped: u64,
    /// Why it ends early, if it does.
    pub error: Option<String>,
}

pub struct Taking {
    pub ring: PacketRing,
    pub files: Files,
    /// Looked at here where the kernel's filter knows only whose packets they are.
    pub expr: Option<Arc<Expr>>,
    /// Whose packets another interface sees too.
    pub parts: HashSet<u32>,
}

impl Taking {
    pub fn new(
        ring: PacketRing,
        mut files: Files,
        expr: Option<Arc<Expr>>,
        interfaces: &[Interface],
        chosen: Option<u32>,
    ) -> Taking {
        interfaces.iter().for_each(|i| files.name(i.index, i.name.clone()));
        let parts = interfaces.iter().filter(|i| i.is_part && Some(i.index) != chosen);
        Taking { ring, files, expr, parts: parts.map(|i| i.index).collect() }
    }

    /// `seen`: how many packets there are until now.
    pub fn run(mut self, stop: &AtomicBool, seen: &AtomicU64) -> Taken {
        let mut taken = Taken::default();
        let mut turns_left: Option<u32> = None;
        while turns_left != Some(0) {
            if stop.load(Ordering::Relaxed) {
                turns_left = Some(turns_left.map_or(1, |n| n - 1));
                if turns_left == Some(1) {
                    std::thread::sleep(LAST_BLOCK);
                }
            }
            let got = match self.turn(&mut taken) {
                Ok(got) => got,
                Err(e) => {
                    taken.error = Some(sentence(&e));
                    break;
                }
            };
            seen.store(taken.packets, Ordering::Relaxed);
            match got {
                _ if turns_left.is_some() => {}
                0 => drop(sys::wait_readable(&[self.ring.fd().as_raw_fd()], QUIET_NS)),
                _ => std::thread::sleep(LOOK),
            }
        }
        if let Err(e) = self.files.end() {
            taken.error.get_or_insert(sentence(&e));
        }
        taken.files = self.files.there.into();
        taken
    }

    fn turn(&mut self, taken: &mut Taken) -> io::Result<usize> {
        let dropped = sys::packet_drops(self.ring.fd())?;
        taken.dropped += dropped;
        self.files.lost(dropped);
        let mut done = Ok(());
        let (files, expr, parts) = (&mut self.files, &self.expr, &self.parts);
        let got = self.ring.read(|packet| {
            if done.is_ok() && wanted(&packet, expr.as_deref(), parts) {
                done = keep(files, &packet, taken);
            }
        });
        done?;
        // On the disk, whatever becomes of this process.
        self.files.flush()?;
        Ok(got)
    }
}

fn wanted(packet: &Seen<'_>, expr: Option<&Expr>, parts: &HashSet<u32>) -> bool {
    let chosen = |expr: &Expr| Facts::of(packet.data).is_some_and(|facts| expr.matches(&facts));
    !packet.is_tagged && !parts.contains(&packet.interface) && expr.is_none_or(chosen)
}

fn keep(files: &mut Files, packet: &Seen<'_>, taken: &mut Taken) -> io::Result<()> {
    if !files.knows(packet.interface) {
        // It came up meanwhile.
        let found = super::machine::interfaces().into_iter().find(|i| i.index == packet.interface);
        files.name(packet.interface, found.map_or_else(String::new, |i| i.name));
    }
    taken.packets += 1;
    taken.bytes += u64::from(packet.len);
    files.packet(packet, packet.kind == sys::OUTGOING)
}
