//! A buffer of fixed size that slides over a stream.

use std::io::{self, Read};

/// Large enough for any packet that libpcap writes (262,144 bytes) with its framing; what is longer is looked
/// at by its head and skipped, so a length in a file can never make memory grow.
const CAPACITY: usize = 512 << 10;
/// One read(2): small enough to stay in the second-level cache until it is parsed.
const READ: usize = 64 << 10;

pub(crate) struct Window {
    source: Box<dyn Read + Send>,
    buf: Box<[u8]>,
    pos: usize,
    end: usize,
    /// Stream offset of `buf[0]`.
    base: u64,
    ended: bool,
    failed: Option<io::Error>,
}

/// What a window lies in, from one file to the next: were it given back each time, the allocator would mix it with what
/// the analysis keeps, and hold on to more.
#[derive(Default)]
pub(crate) struct Room(Option<Box<[u8]>>);

impl Window {
    pub fn new(source: Box<dyn Read + Send>, room: &mut Room) -> Window {
        let buf = room.0.take().unwrap_or_else(|| vec![0; CAPACITY].into_boxed_slice());
        Window { source, buf, pos: 0, end: 0, base: 0, ended: false, failed: None }
    }
    pub fn leave(self, room: &mut Room) {
        room.0 = Some(self.buf);
    }

    /// What is in the buffer and not yet consumed.
    #[inline]
    pub fn available(&self) -> &[u8] {
        &self.buf[self.pos..self.end]
    }

    /// How many bytes that is.
    #[inline]
    pub fn held(&self) -> usize {
        self.end - self.pos
    }

    /// The stream offset of the first byte of [`Window::available`].
    #[inline]
    pub fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// Reads on until `n` bytes are available, the buffer is full or the stream has ended; how many there are.
    #[inline]
    pub fn want(&mut self, n: usize) -> usize {
        if self.held() < n {
            self.refill(n);
        }
        self.held()
    }

    #[cold]
    fn refill(&mut self, n: usize) {
        let n = n.min(self.buf.len());
        self.buf.copy_within(self.pos..self.end, 0);
        self.base += self.pos as u64;
        self.end -= self.pos;
        self.pos = 0;
        while self.end < n && !self.ended {
            let to = self.buf.len().min(self.end + READ);
            match self.source.read(&mut self.buf[self.end..to]) {
                Ok(0) => self.ended = true,
                Ok(got) => self.end += got,
                Err(e) => {
                    self.ended = true;
                    self.failed = Some(e);
                }
            }
        }
    }

    /// Moves on by `n` bytes that are available.
    #[inline]
    pub fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.held());
        self.pos += n;
    }

    /// Moves on by `n` bytes, available or not; the number of bytes that the stream was short of.
    #[inline]
    pub fn skip(&mut self, n: u64) -> u64 {
        match n <= self.held() as u64 {
            true => {
                self.pos += n as usize;
                0
            }
            false => self.skip_far(n),
        }
    }

    #[cold]
    fn skip_far(&mut self, mut n: u64) -> u64 {
        while n > 0 {
            let have = self.want(1).min(usize::try_from(n).unwrap_or(usize::MAX));
            if have == 0 {
                break;
            }
            self.pos += have;
            n -= have as u64;
        }
        n
    }

    /// The error that ended the stream, if it was one.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    pub fn capacity(&self) -> usize {
        self.buf.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_slides_over_a_stream_longer_than_itself() {
        let bytes: Vec<u8> = (0..3 * CAPACITY).map(|i| (i % 251) as u8).collect();
        let mut w = Window::new(Box::new(io::Cursor::new(bytes.clone())), &mut Room::default());
        let mut at = 0;
        while w.want(1000) >= 1000 {
            assert_eq!(w.offset(), at as u64);
            assert_eq!(w.available()[..1000], bytes[at..at + 1000]);
            w.consume(1000);
            at += 1000;
        }
        assert_eq!(w.available(), &bytes[at..]);
    }

    #[test]
    fn skipping_beyond_the_end_says_what_is_missing() {
        let mut w = Window::new(Box::new(io::Cursor::new(vec![0; 10])), &mut Room::default());
        assert_eq!(w.skip(4), 0);
        assert_eq!(w.skip(u64::from(u32::MAX)), u64::from(u32::MAX) - 6);
    }
}
