//! The largest value of a sliding window, by its three best candidates (Kathleen Nichols's filter; Linux:
//! lib/win_minmax.c).

/// A value and when it was seen, in the filter's unit of time (round trips, for bandwidths).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    at: u32,
    value: u64,
}

/// Best, second and third best, each later than the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax([Seen; 3]);

impl WindowedMax {
    pub(super) fn get(&self) -> u64 {
        self.0[0].value
    }

    /// A new value; those older than `window` go.
    pub(super) fn note(&mut self, window: u32, at: u32, value: u64) {
        let new = Seen { at, value };
        let best = &mut self.0;
        if value >= best[0].value || at.wrapping_sub(best[2].at) > window {
            *best = [new; 3];
            return;
        }
        if value >= best[1].value {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].value {
            best[2] = new;
        }
        let age = at.wrapping_sub(best[0].at);
        if age > window {
            // The best is too old: the others move up, twice if need be.
            *best = [best[1], best[2], new];
            if at.wrapping_sub(best[0].at) > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].at == best[0].at && age > window / 4 {
            // A quarter of the window without a second best: take one from the second quarter.
            (best[1], best[2]) = (new, new);
        } else if best[2].at == best[1].at && age > window / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::draws;

    #[test]
    fn the_largest_stays_for_a_window_and_then_the_next_one_rules() {
        let mut m = WindowedMax::default();
        m.note(10, 0, 100);
        for at in 1..=10 {
            m.note(10, at, 50 + u64::from(at));
            assert_eq!(m.get(), 100, "round {at}");
        }
        m.note(10, 11, 40);
        assert!((56..=60).contains(&m.get()), "{}", m.get());
    }

    /// It never says more than the largest of the window, nor less than the newest value.
    #[test]
    fn it_lies_between_the_newest_and_the_largest() {
        for seed in 0..200 {
            let mut draw = draws(seed);
            let (mut m, mut all, mut at) = (WindowedMax::default(), Vec::new(), 0);
            for _ in 0..200 {
                at += draw(3) as u32;
                let value = draw(1000);
                m.note(10, at, value);
                all.push((at, value));
                let largest = all.iter().filter(|(t, _)| at - t <= 10).map(|(_, v)| *v).max();
                assert!(Some(m.get()) <= largest && m.get() >= value, "seed {seed}, at {at}");
            }
        }
    }
}
