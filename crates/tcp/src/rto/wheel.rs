//! Linux's timer wheel (kernel/time/timer.c since 4.8): the longer a wait, the coarser the moments at which it may end.

use wire::{Span, Time};

/// Waits of fewer ticks end at any tick; of eight times as many, at every eighth, and so on (LVL_START, LVL_CLK_SHIFT).
const FINEST: i64 = 63;
const STEP_BITS: u32 = 3;
const MOST_BITS: u32 = 24;

/// A shorter wait ends at a moment that does not depend on where in a step of `level` it began: the first level is 0, and each
/// has steps eight times as long.
pub fn least_wait(level: u32, tick: Span) -> Span {
    tick * (FINEST << (STEP_BITS * level))
}

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
    fn where_a_shorter_wait_begins_in_a_step_of_a_level_changes_nothing() {
        let tick = Span::from_millis(4);
        for level in [0, 1] {
            let waits = |wait: Span| {
                let steps = (0..8).map(|k| Time((tick * (k << (STEP_BITS * level))).0));
                steps.map(|now| fires_at(now, wait, tick) - now).collect::<std::collections::HashSet<_>>()
            };
            let least = least_wait(level, tick);
            assert_eq!(waits(least - tick).len(), 1, "level {level}");
            assert!(waits(least).len() > 1, "level {level}");
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
