//! How long this machine keeps a thread waiting that does nothing but look at the clock: no program is in time more
//! often, whatever it does.

use crate::awake::Awake;
use crate::error::{Error, Told};
use crate::lateness::Lateness;
use crate::sys::{self, Clock};
use crate::threads::{Rank, Threads};
use instant::Span;

/// Something is due that often.
const EVERY_NS: i64 = 10_000;
/// It looks for that long at a time, and then leaves the core to others.
const LOOKS: Span = Span::from_millis(30);
const RESTS: Span = Span::from_millis(10);

/// Looks for so long, with the bridge's priority and cores that do not halt, or without.
pub fn run(length: Span, real_time: bool) -> Result<Lateness, Error> {
    // Whatever cannot be had the bridge has not either.
    let _awake = real_time.then(Awake::hold);
    let looking = Threads { real_time }.start(Rank::Bridge, "floor", move || look(length));
    let done = looking.told("a thread that looks at the clock")?.join();
    done.map_err(|_| Error::Failed("the thread that looks at the clock died".into()))
}

fn look(length: Span) -> Lateness {
    sys::exact_timers();
    let mut late = Lateness::default();
    let end = sys::clock(Clock::Monotonic) + length.0;
    loop {
        let begun = sys::clock(Clock::Monotonic);
        let (mut due, mut now) = (begun + EVERY_NS, begun);
        while now < begun + LOOKS.0 {
            now = sys::clock(Clock::Monotonic);
            while due <= now {
                late.add(Span(now - due));
                due += EVERY_NS;
            }
        }
        if now >= end {
            return late;
        }
        sys::sleep_until(now + RESTS.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_due_every_ten_microseconds_of_looking() {
        let begun = sys::clock(Clock::Monotonic);
        let late = run(Span::from_millis(35), false).unwrap();
        let took = Span(sys::clock(Clock::Monotonic) - begun);
        // At least one stretch of looking; a busy machine makes it longer, never shorter.
        assert!(late.packets >= 3_000, "{}", late.packets);
        assert!((late.packets as i64) * EVERY_NS <= took.0, "{} in {took}", late.packets);
        assert!(late.max < took, "{} in {took}", late.max);
    }
}
