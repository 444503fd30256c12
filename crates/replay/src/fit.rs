//! Of stacks that a transfer was replayed through: which explains it best, and which others cannot be told from that one.

use crate::tally::Replay;
use crate::transfer::Transfer;
use wire::Time;

/// Two stacks are told apart where chance alone would have done as much in fewer than one of twenty such captures.
const CHANCE: f64 = 0.05;

/// How a stack does against another, round trip by round trip: one wrong window is wrong at every ACK, so that sends are no
/// independent evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Against {
    /// Round trips in which it has fewer sends wrong.
    pub better: u32,
    /// Those in which it has more.
    pub worse: u32,
}

impl Against {
    /// The chance that of two stacks that explain equally much one would come out so far ahead (a sign test).
    pub fn chance(self) -> f64 {
        let n = self.better + self.worse;
        // The binomial terms from `better` up, at one half, each from the one before; the first is built with a halving
        // beside each factor, so that it stays within range.
        let (mut term, mut halvings) = (1.0, n);
        for i in 1..=self.better {
            term *= f64::from(n - self.better + i) / f64::from(i);
            while term > 1.0 && halvings > 0 {
                term /= 2.0;
                halvings -= 1;
            }
        }
        for _ in 0..halvings {
            term /= 2.0;
        }
        let mut sum = 0.0;
        for k in self.better..=n {
            sum += term;
            term *= f64::from(n - k) / f64::from(k + 1);
        }
        f64::min(sum, 1.0)
    }

    pub fn is_ahead(self) -> bool {
        self.chance() < CHANCE
    }
}

impl Replay {
    /// Sends that the stack did not make as they were recorded, and those that it made besides.
    pub fn wrong(&self) -> u64 {
        self.all.sends - self.all.right
    }

    fn wrong_again(&self) -> u64 {
        self.retransmissions.sends - self.retransmissions.right
    }

    /// This stack against another that the same transfer was replayed through.
    pub fn against(&self, other: &Replay, transfer: &Transfer) -> Against {
        let starts = transfer.round_trips();
        let (mine, theirs) = (self.wrong_by(&starts), other.wrong_by(&starts));
        let mut found = Against::default();
        for (mine, theirs) in mine.iter().zip(&theirs) {
            found.better += u32::from(mine < theirs);
            found.worse += u32::from(mine > theirs);
        }
        found
    }

    /// How many are wrong in each of the spans that begin then.
    fn wrong_by(&self, starts: &[Time]) -> Vec<u32> {
        let mut wrong = vec![0; starts.len() + 1];
        for d in &self.differences {
            wrong[starts.partition_point(|&start| start <= d.at)] += 1;
        }
        wrong
    }
}

/// The places of what was found, the best explanation first: fewest sends wrong; of equals, fewest retransmissions; of those,
/// the first.
pub fn by_fit<'a>(found: impl IntoIterator<Item = &'a Replay>) -> Vec<usize> {
    let mut places: Vec<_> =
        found.into_iter().enumerate().map(|(at, r)| (r.wrong(), r.wrong_again(), at)).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, _, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_is_that_of_a_fair_coin() {
        let chance = |better, worse| Against { better, worse }.chance();
        assert_eq!(chance(0, 0), 1.0);
        assert_eq!(chance(1, 0), 0.5);
        assert_eq!(chance(5, 0), 1.0 / 32.0);
        // Ten tosses: 10 + 1 of 1024 ways to nine heads or ten.
        assert!((chance(9, 1) - 11.0 / 1024.0).abs() < 1e-12);
        assert!((chance(0, 10) - 1.0).abs() < 1e-12);
        // As likely as not, and the middle term once more.
        let middle = chance(2000, 2000);
        assert!(middle > 0.5 && middle < 0.51, "{middle}");
        assert!(chance(4000, 0) < 1e-300);
        assert!(Against { better: 5, worse: 0 }.is_ahead() && !Against { better: 4, worse: 0 }.is_ahead());
    }
}
