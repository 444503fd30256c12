//! Mahimahi's traces: at each time of the list 1500 bytes may leave; the list repeats after its last time.
//!
//! Opportunities count bytes, as mahimahi's do: short packets share one, a long packet takes several, and what is
//! left of one when the queue runs empty is lost.

use super::{Answer, Asked, Channel, Passing, Seeds, Standing, traces};
use crate::check::{Checked, require};
use crate::spec::{ChannelKind, LinkSpec, Only};
use instant::{Span, Time};
use params::keys::{Forms, Kind, Variant, key, whole};
use params::problem::Problems;
use params::{Form, Item, Lines, Values};
use std::convert::Infallible;

/// Mahimahi's format: at each of these times a packet of up to 1500 bytes may leave; repeats after the last. Replaces the
/// link's rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub opportunities_ms: Vec<u64>,
}

impl params::Params for Params {
    const VARIANT: Variant = Variant {
        name: "rate-trace",
        doc: "Packets leave at the times of a trace, which repeats; instead of the link's rate. Mahimahi's format.",
        keys: &[
            key(
                "file",
                Kind::File(Form::Rates),
                "A line for each opportunity to send 1500 bytes: milliseconds, ascending.",
            )
            .absent("see `opportunities`"),
            key(
                "opportunities",
                Kind::List { of: &whole(0, 1 << 40), least: 1 },
                "The same, in the scenario itself: milliseconds, ascending.",
            )
            .absent("see `file`"),
        ],
        forms: Some(Forms { sets: &[&["file"], &["opportunities"]], beside: &[], required: true }),
    };
    fn read(v: &Values, p: &mut Problems) -> Option<Params> {
        if let Some(item) = v.item("opportunities") {
            let opportunities_ms: Vec<u64> = item.list().iter().map(Item::whole).collect::<Option<_>>()?;
            if let Err(says) = traces::check_opportunities(&opportunities_ms) {
                item.refuse(p, says);
            }
            return Some(Params { opportunities_ms });
        }
        let item = v.item("file")?;
        match traces::opportunities(item.contents()?) {
            Ok(opportunities_ms) => Some(Params { opportunities_ms }),
            Err((line, says)) => {
                item.refuse(p, format!("is no rate trace: line {line} {says}"));
                None
            }
        }
    }
    fn write(&self, out: &mut Lines) {
        out.wholes("opportunities", &self.opportunities_ms);
    }
}

impl Channel for Params {
    /// It is asked when a packet leaves, not whether it arrives.
    type Law = Infallible;
    fn law(&self, _: &str, _: Seeds) -> Option<Infallible> {
        None
    }
    fn check(&self, on: &Standing) -> Checked {
        let at_ms = &self.opportunities_ms;
        require(traces_on(on.link) == 1, &on.key("kind"), "rate-trace", "one rate trace on a link")?;
        let all = on.channel.only == Only::All;
        require(all, &on.key("only"), "some packets", "a rate trace is for all packets")?;
        let all = on.channel.flows.is_empty();
        require(all, &on.key("flows"), "some flows", "a rate trace is for all flows")?;
        let key = on.key("opportunities");
        let last = at_ms.last().copied().unwrap_or(0);
        require(last > 0, &key, "no time above zero", "a list that ends after 0 ms")?;
        require(last < 1 << 40, &key, last, "below 2^40 ms")?;
        require(at_ms.is_sorted(), &key, "not ascending", "times that ascend")
    }
    fn fits(&self, link: &LinkSpec, v: &Values, p: &mut Problems) {
        if traces_on(link) > 0 {
            v.refuse(p, "is a second rate-trace on one direction of the link");
        }
    }
}

fn traces_on(link: &LinkSpec) -> usize {
    link.channels.iter().filter(|c| matches!(c.kind, ChannelKind::RateTrace(_))).count()
}

impl Asked for Infallible {
    fn ask(&mut self, _: Passing) -> Answer {
        match *self {}
    }
}

const OPPORTUNITY_BYTES: u32 = 1500;

#[derive(Clone, Debug)]
pub(crate) struct RateTrace {
    /// Ascending, within one period, which is the last of them.
    times: Vec<Span>,
    /// The opportunity after the current one, and the beginning of its period.
    place: usize,
    base: Time,
    /// When the last packet left, and what is left of that opportunity.
    current: Time,
    left: u32,
}

impl RateTrace {
    pub fn new(opportunities_ms: &[u64]) -> RateTrace {
        let times = opportunities_ms.iter().map(|ms| Span::from_millis(*ms as i64)).collect();
        RateTrace { times, place: 0, base: Time::ZERO, current: Time(i64::MIN), left: 0 }
    }

    /// When a packet that begins now has left.
    pub fn send(&mut self, now: Time, bytes: u32) -> Time {
        // A packet that follows another at once goes on with the same opportunity; what was there when the link
        // was idle is gone.
        if now > self.current {
            self.skip_to(now);
            self.take_next();
        }
        let mut bytes = bytes;
        while bytes > self.left {
            bytes -= self.left;
            self.take_next();
        }
        self.left -= bytes;
        self.current
    }

    fn period(&self) -> Span {
        self.times.last().copied().unwrap_or(Span(1))
    }

    fn take_next(&mut self) {
        if self.place == self.times.len() {
            self.place = 0;
            self.base += self.period();
        }
        self.current = self.base + self.times[self.place];
        self.left = OPPORTUNITY_BYTES;
        self.place += 1;
    }

    /// To the first opportunity after `now`.
    fn skip_to(&mut self, now: Time) {
        let period = self.period();
        if now - self.base > period * 2 {
            let whole = (now - Time::ZERO).0 / period.0 - 1;
            self.base = Time::ZERO + period * whole;
            self.place = 0;
        }
        loop {
            let ahead = &self.times[self.place..];
            self.place += ahead.partition_point(|t| self.base + *t <= now);
            if self.place < self.times.len() {
                return;
            }
            self.place = 0;
            self.base += period;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_packet_leaves_at_the_next_opportunity() {
        let mut trace = RateTrace::new(&[3, 7, 10]);
        for (now, leaves) in [(0, 3), (3, 7), (8, 10), (10, 13), (14, 17), (100, 103)] {
            assert_eq!(trace.send(ms(now), 1500), ms(leaves), "at {now} ms");
        }
    }

    #[test]
    fn short_packets_share_an_opportunity_and_a_long_one_takes_several() {
        let mut trace = RateTrace::new(&[5, 6, 7, 8]);
        assert_eq!(trace.send(ms(0), 700), ms(5));
        assert_eq!(trace.send(ms(5), 700), ms(5));
        assert_eq!(trace.send(ms(5), 700), ms(6)); // 100 bytes at 5 ms, 600 at 6
        assert_eq!(trace.send(ms(6), 2000), ms(7)); // 900 at 6 ms, 1100 at 7
        assert_eq!(trace.send(ms(7), 400), ms(7));
        assert_eq!(trace.send(ms(7), 4000), ms(8) + Span::from_millis(6)); // 1500 at 8, 13 and 14
    }

    /// 12 opportunities a period of 12 ms are 12 Mb/s, however long it takes, and a long silence costs no time.
    #[test]
    fn the_list_repeats_and_keeps_its_rate() {
        let list: Vec<u64> = (1..=12).collect();
        let mut trace = RateTrace::new(&list);
        let mut now = ms(0);
        for _ in 0..100_000 {
            now = trace.send(now, 1500);
        }
        assert_eq!(now, ms(100_000));
        assert_eq!(trace.send(ms(3_600_000_000), 1500), ms(3_600_000_001));
    }

    #[test]
    fn several_opportunities_at_one_time_are_as_many_packets() {
        let mut trace = RateTrace::new(&[0, 4, 4, 4, 9]);
        let mut now = ms(1);
        let mut seen = vec![];
        for _ in 0..7 {
            now = trace.send(now, 1500);
            seen.push(now);
        }
        // The period is 9 ms: the list's zero comes with its last.
        assert_eq!(seen, [ms(4), ms(4), ms(4), ms(9), ms(9), ms(13), ms(13)]);
    }
}
