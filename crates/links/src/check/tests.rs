use super::*;
use crate::channel::{bit_error, delay_step, duplicate, jitter, random, rate_trace};
use crate::queue::{codel, droptail, red};
use instant::Time;

fn link(queue: QueueSpec, channels: Vec<ChannelSpec>) -> LinkSpec {
    LinkSpec { rate_bps: Some(1), delay: Span::from_millis(5), framing_bytes: 0, queue, channels, arq: None }
}

const TAIL: QueueSpec = QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(1) });

fn complaint(spec: LinkSpec) -> String {
    spec.check().expect_err("it cannot be").to_string()
}

fn of(kind: ChannelKind) -> String {
    complaint(link(TAIL, vec![channel("x", kind)]))
}

fn channel(name: &str, kind: ChannelKind) -> ChannelSpec {
    ChannelSpec { name: name.into(), at: Place::Wire, only: Only::All, flows: vec![], kind }
}

fn outage(schedule: Schedule) -> ChannelKind {
    ChannelKind::Outage(Outage { schedule, anchor: Anchor::Start, hold: false, flush: Flush::Nothing })
}

#[test]
fn a_plain_link_can_be() {
    assert_eq!(link(TAIL, vec![]).check(), Ok(()));
    assert_eq!(LinkSpec { rate_bps: None, ..link(TAIL, vec![]) }.check(), Ok(()));
}

/// One line each: what it is, and what the sentence must name.
#[test]
fn what_can_not_be_is_named_with_what_is_allowed() {
    let s = Span::from_secs;
    let no_packets = QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(0) });
    let red = |min, max, weight| {
        QueueSpec::Red(red::Params {
            limit: Limit::Packets(9),
            min_threshold: min,
            max_threshold: max,
            max_probability: 0.1,
            weight,
            gentle: true,
            ecn: false,
        })
    };
    let (limit, target, interval) = (Limit::Packets(9), s(1), Span::ZERO);
    let ge = |dwell| ChannelKind::GilbertElliott(GilbertElliott { dwell, loss_good: 0.0, loss_bad: 1.0 });
    let periodic = |every, length| outage(Schedule::Periodic { every, length, phase: s(0) });
    let spread = Spread::Uniform { mean: s(-1) };
    let table = [
        (complaint(LinkSpec { rate_bps: Some(0), ..link(TAIL, vec![]) }), "rate = 0: at least 1 bit/s"),
        (complaint(LinkSpec { delay: s(-1), ..link(TAIL, vec![]) }), "delay = -1.000 s"),
        (complaint(link(no_packets, vec![])), "queue.packets = 0: at least 1"),
        (complaint(link(red(5.0, 5.0, 0.1), vec![])), "queue.max_threshold = 5: above min_threshold"),
        (complaint(link(red(5.0, f64::NAN, 0.1), vec![])), "queue.max_threshold = NaN"),
        (complaint(link(red(5.0, 9.0, 0.0), vec![])), "queue.weight = 0"),
        (
            complaint(link(QueueSpec::CoDel(codel::Params { limit, target, interval, ecn: false }), vec![])),
            "queue.interval",
        ),
        (
            of(ChannelKind::Random(random::Params { loss: 1.5 })),
            "channel.x.loss = 1.5: a probability, from 0 to 1",
        ),
        (
            of(ChannelKind::BitError(bit_error::Params { per: PerUnit::Bit, rate: f64::NAN })),
            "channel.x.rate = NaN",
        ),
        (of(periodic(s(5), s(5))), "channel.x.schedule.for = 5.000 s: shorter than `every`"),
        (of(periodic(s(5), s(0))), "channel.x.schedule.for"),
        (of(outage(Schedule::Exponential { up_mean: s(0), down_mean: s(1) })), "channel.x.schedule.up"),
        (
            of(outage(Schedule::Intervals(vec![(Time(0), s(2)), (Time(5), s(2))]))),
            "overlapping or out of order",
        ),
        (of(ge(Dwell::Packets { good_to_bad: -0.1, bad_to_good: 0.5 })), "channel.x.good_to_bad = -0.1"),
        (of(ge(Dwell::PacketLengths { good_mean: 0.0, bad_mean: 1.0 })), "channel.x.good = 0"),
        (of(ge(Dwell::Time { good_mean: s(1), bad_mean: s(0) })), "channel.x.bad"),
        (
            of(ChannelKind::DelayStep(delay_step::Params {
                steps: vec![(Time(0), Span::from_millis(-6))],
                reorders: false,
            })),
            "steps",
        ),
        (
            of(ChannelKind::RateTrace(rate_trace::Params { opportunities_ms: vec![] })),
            "a list that ends after 0 ms",
        ),
        (
            of(ChannelKind::RateTrace(rate_trace::Params { opportunities_ms: vec![5, 3] })),
            "times that ascend",
        ),
        (of(ChannelKind::Jitter(jitter::Params { spread, reorders: false })), "channel.x.mean = -1.000 s"),
        (
            of(ChannelKind::Duplicate(duplicate::Params { probability: 0.5, copies: 5000 })),
            "channel.x.copies = 5000: at most 1000",
        ),
        (
            complaint(link(TAIL, vec![channel("a", ChannelKind::Random(random::Params { loss: 0.1 })); 2])),
            "channel.a.name = a: one channel of this name",
        ),
        (
            complaint(LinkSpec {
                arq: Some(ArqSpec { tries: 0, overhead: s(0), backoff: s(0) }),
                ..link(TAIL, vec![])
            }),
            "arq.tries = 0: from 1 to 1000",
        ),
    ];
    for (said, names) in table {
        assert!(said.contains(names), "{said:?} does not say {names:?}");
    }
}
