//! Linux's timer wheel (kernel/time/timer.c since 4.8): the longer a wait, the coarser the moments at which it may end.

use wire::{Span, Time};

/// Waits of fewer ticks end at any tick; of eight times as many, at every eighth, and so on (LVL_START, LVL_CLK_SHIFT).
const FINEST: i64 = 63;
const STEP_BITS: u32 = 3;
const MOST_BITS: u32 = 24;

/// When a timer fires that is set at `now` to wait for so long: never early, so at the next moment of its level.
pub(super) fn fires_at(now: Time, wait: Span, tick: Span) -> Time {
    let tick = tick.0.max(1);
    let ticks = wait.0.max(0).saturating_add(tick - 1) / tick;
    let mut bits = 0;
    while ticks >= FINEST << bits && bits < MOST_BITS {
        bits += STEP_BITS;
    }
    let ends = now.0.div_euclid(tick) + ticks;
    Time((((ends >> bits) + 1) << bits).saturating_mul(tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_beyond_the_last_time_saturates() {
        for (now, wait) in [(Time(i64::MAX - 1), Span(1)), (Time::FAR_FUTURE, Span(i64::MAX))] {
            assert_eq!(fires_at(now, wait, Span::from_millis(1)), Time(i64::MAX));
        }
    }

    #[test]
    fn longer_waits_end_at_coarser_moments() {
        // calc_index at 250 Hz: 200 ms end at a tick of 4 ms, 300 ms at one of 32 ms, 2.4 s at one of 256 ms.
        let fires = |now_ms: i64, wait_ms: i64| {
            fires_at(Time(now_ms * 1_000_000), Span::from_millis(wait_ms), Span::from_millis(4)).0 / 1_000_000
        };
        assert_eq!([fires(1000, 200), fires(1001, 200), fires(1003, 200)], [1204, 1204, 1204]);
        assert_eq!([fires(1000, 248), fires(1000, 252), fires(1001, 300)], [1252, 1280, 1312]);
        assert_eq!([fires(1000, 2012), fires(1000, 2400)], [3040, 3584]);
    }
}
