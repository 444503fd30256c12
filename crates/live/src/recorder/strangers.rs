//! Where a command can have no cgroup: everything is recorded, the sockets of its processes are looked at many times a
//! second, and at the end the traffic of others is taken out again. A connection that lives for less than a look may be
//! missed.

use super::filter::{Facts, TCP};
use super::private;
use super::sockets::{Family, Sockets};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

pub struct Strangers {
    family: Family,
    sockets: Option<Sockets>,
    /// Protocol, own end, the other one; of datagram sockets that are not connected the port is all that is known.
    ours: HashSet<(u8, SocketAddr, SocketAddr)>,
    ports: HashSet<(u8, u16)>,
}

const ENHANCED_PACKET: u32 = 6;

impl Strangers {
    /// All that is not of this process and its children.
    pub fn of(process: i32) -> Strangers {
        Strangers {
            family: Family::of(process),
            sockets: Sockets::open().ok(),
            ours: HashSet::new(),
            ports: HashSet::new(),
        }
    }

    pub fn look(&mut self) {
        let Some(sockets) = &self.sockets else { return };
        let inodes = self.family.sockets();
        for (protocol, socket) in sockets.all() {
            if !inodes.contains(&socket.inode) {
                continue;
            }
            match socket.remote.port() {
                0 => drop(self.ports.insert((protocol, socket.local.port()))),
                _ => drop(self.ours.insert((protocol, socket.local, socket.remote))),
            }
        }
    }

    fn has(&self, protocol: u8, a: SocketAddr, b: SocketAddr) -> bool {
        [(a, b), (b, a)].into_iter().any(|(own, other)| {
            self.ours.contains(&(protocol, own, other)) || self.ports.contains(&(protocol, own.port()))
        })
    }

    /// Takes them out of the captures, and out of the kernel's tables.
    pub fn remove(&self, captures: &[PathBuf], tables: &Path) -> io::Result<()> {
        for path in captures {
            rewrite(path, |from, to| self.packets(from, to))?;
        }
        for entry in fs::read_dir(tables)? {
            rewrite(&entry?.path(), |from, to| self.rows(from, to))?;
        }
        Ok(())
    }

    /// Of a pcapng file of this crate's, all but the packets of others.
    fn packets(&self, from: &mut dyn BufRead, to: &mut dyn Write) -> io::Result<()> {
        let mut block = Vec::new();
        loop {
            let mut head = [0; 8];
            match from.read_exact(&mut head) {
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                read => read?,
            }
            let word = |b: &[u8], at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
            let (kind, len) = (word(&head, 0), word(&head, 4) as usize);
            block.clear();
            block.extend(head);
            from.take((len.max(12) - 8) as u64).read_to_end(&mut block)?;
            if kind == ENHANCED_PACKET && block.len() >= 28 {
                let kept = word(&block, 20) as usize;
                let facts = block.get(28..28 + kept).and_then(Facts::of);
                let ours = facts.is_some_and(|f| {
                    f.ports.is_some_and(|(src, dst)| {
                        self.has(f.protocol, SocketAddr::new(f.src, src), SocketAddr::new(f.dst, dst))
                    })
                });
                if !ours {
                    continue;
                }
            }
            to.write_all(&block)?;
        }
    }

    /// Of a table, the first line and those of our connections.
    fn rows(&self, from: &mut dyn BufRead, to: &mut dyn Write) -> io::Result<()> {
        for (k, line) in from.lines().enumerate() {
            let line = line?;
            let ends: Vec<SocketAddr> =
                line.split(',').skip(1).take(2).filter_map(|f| f.parse().ok()).collect();
            if k == 0 || matches!(ends[..], [local, remote] if self.has(TCP, local, remote)) {
                writeln!(to, "{line}")?;
            }
        }
        Ok(())
    }
}

/// Puts another file in the place of this one, whole or not at all.
fn rewrite(
    path: &Path,
    act: impl FnOnce(&mut dyn BufRead, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let beside = path.with_extension("part");
    let mut to = BufWriter::new(private::create(&beside)?);
    let done = act(&mut BufReader::new(File::open(path)?), &mut to).and_then(|()| to.flush());
    match done {
        Ok(()) => fs::rename(&beside, path),
        Err(e) => {
            let _ = fs::remove_file(&beside);
            Err(e)
        }
    }
}
