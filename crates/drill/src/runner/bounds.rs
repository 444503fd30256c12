//! What a script may ask for: numbers in a script are a stranger's, and memory and time are not.

use crate::Stop;
use wire::Span;

/// Bytes that the application of one script may write.
const WRITTEN: u64 = 64 << 20;
/// Segments that the endpoint of one script may send.
const SEGMENTS: u32 = 200_000;
/// Timers that may fire in one script.
const WAKES: u32 = 1_000_000;
/// How long a script may take, by its own clock.
const LONGEST: Span = Span::from_secs(1_000_000);

/// What a script has asked for so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    written: u64,
    segments: u32,
    wakes: u32,
    /// The line of the event that is played.
    line: u32,
}

impl Bounds {
    pub(super) fn at_line(&mut self, line: u32) {
        self.line = line;
    }

    pub(super) fn write(&mut self, bytes: u64) -> Result<(), Stop> {
        self.written = self.written.saturating_add(bytes);
        if self.written <= WRITTEN {
            return Ok(());
        }
        let all = if self.written == bytes { String::new() } else { format!(", {} in all", self.written) };
        self.refused(format!("a write of {bytes} bytes{all}: a script may write at most {WRITTEN} bytes"))
    }

    pub(super) fn wake(&mut self) -> Result<(), Stop> {
        self.wakes += 1;
        if self.wakes <= WAKES {
            return Ok(());
        }
        self.refused(format!("more than {WAKES} timers fire: a script may have so many at most"))
    }

    /// May another segment leave? Whoever is told that none may asks `sent` why.
    pub(super) fn may_send(&mut self) -> bool {
        self.segments += 1;
        self.segments <= SEGMENTS
    }

    pub(super) fn sent(&self) -> Result<(), Stop> {
        if self.segments <= SEGMENTS {
            return Ok(());
        }
        self.refused(format!("more than {SEGMENTS} segments leave: a script may have so many at most"))
    }

    pub(super) fn time(&self, at: Span) -> Result<(), Stop> {
        if at <= LONGEST {
            return Ok(());
        }
        let (at, longest) = (at.as_secs(), LONGEST.as_secs());
        self.refused(format!("the script's clock would be at {at:.6} s: it may run up to {longest:.0} s"))
    }

    fn refused(&self, says: String) -> Result<(), Stop> {
        Err(Stop::unsupported(self.line, says))
    }
}
