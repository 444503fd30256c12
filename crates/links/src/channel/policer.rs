//! A policer: a token bucket that drops packets above a rate, without a queue.

use super::{Answer, Asked, Channel, Passing, Seeds, Standing};
use crate::check::{Checked, require};
use crate::facts::Cause;
use instant::{Span, Time};
use params::keys::{BYTES, Kind, key};

params::params! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "policer", "A token bucket without a queue: a packet that finds too few tokens is dropped. Its drops have the cause `policer`." {
        rate_bps: u64 = key("rate", Kind::Rate, "Rate at which tokens are added, in bits per second; packets are counted with their framing.");
        burst_bytes: u64 = key("burst", BYTES, "Size of the bucket, which is full at the start.");
    }
}

impl Channel for Params {
    type Law = Policer;
    fn law(&self, _: &str, _: Seeds) -> Option<Policer> {
        Some(Policer::new(self))
    }
    fn check(&self, on: &Standing) -> Checked {
        require(self.rate_bps > 0, &on.key("rate"), self.rate_bps, "at least 1 bit/s")?;
        let fits = (1..=1 << 40).contains(&self.burst_bytes);
        require(fits, &on.key("burst"), self.burst_bytes, "from 1 byte to 1 TiB")
    }
    fn cause(&self, index: u16) -> Cause {
        Cause::Policer(index)
    }
}

impl Asked for Policer {
    fn ask(&mut self, packet: Passing) -> Answer {
        self.answer(packet.time, packet.bytes)
    }
}

/// The bucket's level is kept as the time at which the bucket will be full: at most `fills_in` from now.
#[derive(Clone, Debug)]
pub(crate) struct Policer {
    rate_bps: u64,
    full_at: Time,
    fills_in: Span,
}

impl Policer {
    fn new(spec: &Params) -> Policer {
        let fills_in = takes(spec.burst_bytes, spec.rate_bps);
        Policer { rate_bps: spec.rate_bps, full_at: Time::ZERO, fills_in }
    }

    fn answer(&mut self, now: Time, bytes: u32) -> Answer {
        let full_at = self.full_at.max(now) + takes(bytes.into(), self.rate_bps);
        if full_at - now > self.fills_in {
            return Answer::Drop;
        }
        self.full_at = full_at;
        Answer::Deliver
    }
}

/// How long this many tokens take to be added, rounded down by less than a nanosecond a packet. A bound far beyond
/// the end of any run keeps sums of times in range.
fn takes(bytes: u64, rate_bps: u64) -> Span {
    let ns = u128::from(bytes) * 8_000_000_000 / u128::from(rate_bps.max(1));
    Span(i64::try_from(ns).unwrap_or(i64::MAX).min(Span::MAX.0 / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(rate_bps: u64, burst_bytes: u64, packets: impl Iterator<Item = (i64, u32)>) -> Vec<bool> {
        let mut policer = Policer::new(&Params { rate_bps, burst_bytes });
        packets.map(|(us, bytes)| policer.answer(Time(us * 1000), bytes) == Answer::Deliver).collect()
    }

    #[test]
    fn a_burst_passes_and_then_what_the_rate_allows() {
        // 8 Mbps: a packet of 1000 bytes a millisecond.
        let together = passed(8_000_000, 5000, (0..10).map(|_| (0, 1000)));
        assert_eq!(together.iter().filter(|p| **p).count(), 5);
        let twice_as_fast = passed(8_000_000, 5000, (0..1000).map(|k| (k * 500, 1000)));
        let through = twice_as_fast.iter().filter(|p| **p).count();
        assert!((504..=505).contains(&through), "{through}: 500 ms and the bucket");
        assert!(passed(8_000_000, 1000, (0..1000).map(|k| (k * 1000, 1000))).iter().all(|p| *p));
    }

    #[test]
    fn what_is_dropped_takes_no_tokens_and_what_is_larger_than_the_bucket_never_passes() {
        let sizes = passed(8_000_000, 1500, [(0, 1000), (0, 1000), (0, 500), (10_000, 1501)].into_iter());
        assert_eq!(sizes, [true, false, true, false]);
    }
}
