//! How long a frame takes to be sent, without a rounding error that grows.

use instant::{Span, Time};

/// A transmitter of a constant rate. The end of each frame is exact: what is left below a nanosecond is carried
/// from frame to frame as long as they follow each other without a pause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// Bits per second; zero for no limit.
    bps: u64,
    /// What is over the nanosecond of `end`, in units of 1 / `bps` nanoseconds.
    over: u64,
    end: Time,
    /// The last size, and how long it takes: most frames of a link have the same.
    last_bytes: u32,
    whole_ns: u64,
    rest: u64,
}

impl Rate {
    pub fn new(bps: Option<u64>) -> Rate {
        Rate { bps: bps.unwrap_or(0), over: 0, end: Time(i64::MIN), last_bytes: 0, whole_ns: 0, rest: 0 }
    }

    /// When a frame that begins now has been sent.
    #[inline]
    pub fn send(&mut self, now: Time, bytes: u32) -> Time {
        if self.bps == 0 {
            return now;
        }
        if bytes != self.last_bytes {
            self.remember(bytes);
        }
        let carried = if now == self.end { self.over } else { 0 };
        let over = carried + self.rest;
        let (ns, over) = if over >= self.bps { (1, over - self.bps) } else { (0, over) };
        self.over = over;
        self.end = now + Span(self.whole_ns as i64 + ns);
        self.end
    }

    /// The same with a gap after the frame that belongs to it.
    pub fn send_with(&mut self, now: Time, bytes: u32, gap: Span) -> Time {
        let end = self.send(now, bytes) + gap;
        self.end = end;
        end
    }

    /// How long a frame takes, to the nanosecond below.
    pub fn duration(&self, bytes: u32) -> Span {
        match self.bps {
            0 => Span::ZERO,
            bps => Span((bytes as u128 * 8_000_000_000 / bps as u128).min(Span::MAX.0 as u128) as i64),
        }
    }

    #[cold]
    fn remember(&mut self, bytes: u32) {
        let bits_e9 = bytes as u128 * 8_000_000_000;
        self.last_bytes = bytes;
        // At one bit per second and 4 GB a frame takes 3.4e19 ns: cut off at what Time can add.
        self.whole_ns = (bits_e9 / self.bps as u128).min(Span::MAX.0 as u128 / 1024) as u64;
        self.rest = (bits_e9 % self.bps as u128) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_takes_its_bits_over_the_rate() {
        let mut r = Rate::new(Some(800_000));
        assert_eq!(r.send(Time(5), 1024), Time(5 + 10_240_000));
        assert_eq!(Rate::new(None).send(Time(5), 1024), Time(5));
        assert_eq!(Rate::new(Some(5_000_000)).send(Time(0), 578), Time(924_800));
    }

    /// 1024 bytes at 1.5 Mb/s take 5461333.333... ns: three frames in a row take 16384000 exactly.
    #[test]
    fn the_rest_below_a_nanosecond_is_carried_through_a_busy_period() {
        let mut r = Rate::new(Some(1_500_000));
        let mut t = Time(0);
        let ends: Vec<i64> = (0..3)
            .map(|_| {
                t = r.send(t, 1024);
                t.0
            })
            .collect();
        assert_eq!(ends, [5_461_333, 10_922_666, 16_384_000]);
        for _ in 0..2_999_997 {
            t = r.send(t, 1024);
        }
        assert_eq!(t, Time(16_384_000 * 1_000_000));
    }

    #[test]
    fn mixed_sizes_are_exact_too_and_a_pause_drops_the_rest() {
        let mut r = Rate::new(Some(7_000_000));
        let mut t = Time(0);
        for k in 0..7_000u32 {
            t = r.send(t, if k % 2 == 0 { 1500 } else { 40 });
        }
        assert_eq!(t, Time(3_500 * 1540 * 8 * 1000 / 7));
        let later = t + Span(1);
        assert_eq!(r.send(later, 1) - later, Span(1142));
    }
}
