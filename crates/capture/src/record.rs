//! What the file formats have in common: records, each a packet with its time, one after the other.

use crate::error::{What, io_reason};
use crate::info::{Compression, FileInfo};
use crate::source;
use crate::window::Window;
use wire::{Notes, Time};

/// Beyond this a packet's length can only be damage.
pub(crate) const MAX_PACKET: u32 = 256 << 20;
/// What libpcap allows a packet of an ordinary link type to be (MAXIMUM_SNAPLEN), whatever the snap length.
pub(crate) const MAX_SNAP: u32 = 262_144;

/// A packet's frame around its bytes. It lies at the window's first byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub time: Time,
    pub link: u16,
    /// Bytes of a frame check sequence that the link type says are at the end.
    pub fcs: u8,
    pub wire_len: u32,
    /// Bytes captured.
    pub captured: u32,
    /// Where they start, from the window's first byte.
    pub head: usize,
    /// What the record takes in the stream, framing and padding included.
    pub total: u64,
    pub notes: Notes,
    pub interface: u32,
    /// Where the record's options start, from the window's first byte; equal to the end if there are none.
    pub options: (usize, usize),
}

impl Record {
    /// The packet's bytes, as far as the window holds them.
    #[inline]
    pub fn data<'w>(&self, window: &'w Window) -> &'w [u8] {
        let all = window.available();
        let end = (self.head + self.captured as usize).min(all.len());
        &all[self.head..end]
    }
}

/// Why there is no next record; `at` counts from the window's first byte.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The stream ends; the record at the window's start needs so many bytes.
    Short {
        needs: u64,
    },
    Nonsense {
        at: u64,
        why: String,
    },
}

/// A file format: gives records until the stream ends.
pub(crate) trait Framing {
    /// The next record, which then lies at the window's first byte; `None` at a clean end.
    fn next(&mut self, window: &mut Window, file: &mut FileInfo) -> Result<Option<Record>, Fault>;
}

/// Brings the whole record of `needs` bytes into the window, or as much as fits there.
#[inline]
pub(crate) fn bring(window: &mut Window, needs: u64) -> Result<(), Fault> {
    if window.held() as u64 >= needs {
        return Ok(());
    }
    let fits = needs.min(window.capacity() as u64) as usize;
    if window.want(fits) < fits {
        return Err(Fault::Short { needs });
    }
    Ok(())
}

/// Turns a fault into what a user is told: where it is in the stream and what was found.
pub(crate) fn explain(fault: Fault, window: &mut Window, compression: Option<Compression>) -> (u64, What) {
    let start = window.offset();
    match fault {
        Fault::Nonsense { at, why } => (start + at, What::Nonsense(why)),
        Fault::Short { needs } => {
            let have = window.held() as u64;
            let byte = start + have;
            (byte, ended(window, compression).unwrap_or(What::Cut { wants: needs - have.min(needs) }))
        }
    }
}

/// Why the stream ended, if its end was not that of the file.
pub(crate) fn ended(window: &mut Window, compression: Option<Compression>) -> Option<What> {
    let error = window.failure()?;
    Some(match compression {
        None => What::Input(io_reason(&error)),
        Some(c) => match error.kind() {
            std::io::ErrorKind::UnexpectedEof => What::Compression(format!("{c} data cut off")),
            _ => What::Compression(
                source::refusal(&error)
                    .unwrap_or_else(|| format!("{c} data damaged ({})", io_reason(&error))),
            ),
        },
    })
}
