//! Captures at the hosts: what left and what came, with the kernel's timestamps, until the last packet.

use crate::error::{Error, Told};
use crate::host::{Host, INTERFACE};
use crate::sys::{self, Receiving};
use crate::threads::{Rank, Threads};
use capture::{LinkType, NewPacket, Writer};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use wire::{Notes, Time};

const BATCH: usize = 64;
const WAIT_NS: i64 = 20_000_000;
const SOCKET_BYTES: usize = 128 << 20;
const WHOLE: usize = 2048;

/// What one capture came to.
#[derive(Clone, Debug)]
pub struct Taken {
    pub node: usize,
    pub path: PathBuf,
    pub packets: u64,
    /// That the kernel had no room for.
    pub dropped: u64,
    /// Why it ends early, if it does.
    pub error: Option<String>,
}

/// A capture that is being taken.
pub struct Capture {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Taken>,
}

/// The file of a node's capture.
pub fn path(folder: &Path, node: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
    folder.join(format!("{}.pcapng", node.chars().map(plain).collect::<String>()))
}

impl Capture {
    /// Nothing that passes after this is missed.
    pub fn start(host: &Host, folder: &Path, snap: Option<u32>, threads: Threads) -> Result<Capture, Error> {
        let path = path(folder, &host.name);
        let socket = host
            .ns
            .inside(|| {
                let fd = sys::packet_socket(sys::ETH_P_ALL, sys::interface_index(INTERFACE)?)?;
                sys::prepare_receiver(fd.as_fd(), SOCKET_BYTES)?;
                Ok(fd)
            })
            .told(format!("the capture at {}", host.name))?;
        let out = open(&path, &host.name, snap).told(path.display())?;
        let stop = Arc::new(AtomicBool::new(false));
        let (node, told) = (host.node, Arc::clone(&stop));
        let thread = threads
            .start(Rank::Capture, format!("capture {}", host.name), move || {
                let taken = Taken { node, path, packets: 0, dropped: 0, error: None };
                Taking {
                    socket,
                    out: Some(out),
                    taken,
                    snap: snap.map_or(WHOLE, |s| s as usize),
                    last: Time::ZERO,
                }
                .take(&told)
            })
            .told("a thread for a capture")?;
        Ok(Capture { stop, thread })
    }

    /// Takes what has come until now, and ends.
    pub fn finish(self) -> Option<Taken> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().ok()
    }
}

fn open(path: &Path, node: &str, snap: Option<u32>) -> io::Result<Writer<BufWriter<File>>> {
    let mut out = Writer::pcapng(BufWriter::with_capacity(1 << 18, capture::create(path)?))?;
    out.interface(Some(node), LinkType::ETHERNET, snap.unwrap_or(0))?;
    Ok(out)
}

struct Taking {
    socket: OwnedFd,
    out: Option<Writer<BufWriter<File>>>,
    taken: Taken,
    snap: usize,
    last: Time,
}

impl Taking {
    fn take(mut self, stop: &AtomicBool) -> Taken {
        let mut memory = vec![0u8; BATCH * self.snap];
        let mut receiving = Receiving::new(BATCH);
        let mut received = Vec::with_capacity(BATCH);
        loop {
            // Asked before reading: what came before the order to stop is read after it.
            let last_turn = stop.load(Ordering::Relaxed);
            let mut rooms: Vec<&mut [u8]> = memory.chunks_mut(self.snap).collect();
            let got = match receiving.receive(self.socket.as_fd(), &mut rooms, &mut received) {
                Ok(got) => got,
                // The interface went down. What it had seen is still to be read.
                Err(e) if e.kind() == io::ErrorKind::NetworkDown => continue,
                Err(e) => {
                    self.fail(&e);
                    break;
                }
            };
            for (bytes, packet) in memory.chunks(self.snap).zip(&received) {
                self.packet(bytes, packet);
            }
            if got == BATCH {
                continue;
            }
            if last_turn {
                break;
            }
            if got == 0 {
                // On the disk, whatever becomes of this process.
                self.flush();
                let _ = sys::wait_readable(&[self.socket.as_raw_fd()], WAIT_NS);
            } else {
                // A wake-up for each packet would cost the hosts their time.
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        }
        self.finish()
    }

    fn packet(&mut self, bytes: &[u8], packet: &sys::Received) {
        let Some(out) = &mut self.out else { return };
        self.last = Time(packet.time);
        let new = NewPacket {
            time: self.last,
            data: &bytes[..packet.len.min(bytes.len())],
            wire_len: packet.len as u32,
            notes: if packet.kind == sys::OUTGOING { Notes::OUTBOUND } else { Notes::INBOUND },
            ..NewPacket::default()
        };
        match out.packet(&new) {
            Ok(()) => self.taken.packets += 1,
            Err(e) => self.fail(&e),
        }
    }

    fn flush(&mut self) {
        if let Some(out) = &mut self.out
            && let Err(e) = out.flush()
        {
            self.fail(&e);
        }
    }

    fn fail(&mut self, e: &io::Error) {
        self.taken.error.get_or_insert(crate::error::sentence(e));
        // Dropped without flushing: what is in the file is all that fits.
        self.out = None;
    }

    fn finish(mut self) -> Taken {
        self.taken.dropped = sys::packet_drops(self.socket.as_fd()).unwrap_or(0);
        if let Some(mut out) = self.out.take()
            && let Err(e) =
                out.statistics(0, self.last, self.taken.dropped).and_then(|()| out.finish()?.flush())
        {
            self.fail(&e);
        }
        self.taken
    }
}
