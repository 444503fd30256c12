use super::*;
use crate::spec::{ChannelKind, ChannelSpec, Flush, Only, Place};

const fn ms(n: i64) -> Span {
    Span::from_millis(n)
}

fn outages(schedule: Schedule, anchor: Anchor, first_packet: Option<Time>) -> Option<Outages> {
    let outage = spec::Outage { schedule, anchor, flush: Flush::Nothing, hold: false };
    let kind = ChannelKind::Outage(outage);
    let spec = ChannelSpec { name: "dark".into(), at: Place::Wire, only: Only::All, flows: vec![], kind };
    Outages::new(&spec, "air", 7, first_packet)
}

fn at(n: i64) -> Time {
    Time::ZERO + ms(n)
}

#[test]
fn outage_k_of_a_period_covers_phase_plus_k_periods() {
    let periodic = Schedule::Periodic { every: ms(5_000), length: ms(200), phase: ms(3_100) };
    let mut o = outages(periodic.clone(), Anchor::Start, None).expect("outages");
    let asked = [3_099, 3_100, 3_299, 3_300, 8_100, 503_150, 8_200, 0];
    assert_eq!(
        asked.map(|n| o.at(at(n))),
        [None, Some(0), Some(0), None, Some(1), Some(100), Some(1), None],
        "also after long quiet, and asked backwards"
    );
    let mut o = outages(periodic.clone(), Anchor::FirstSyn, Some(at(1_000))).expect("outages");
    assert_eq!([o.at(at(3_100)), o.at(at(4_100)), o.at(at(9_150))], [None, Some(0), Some(1)]);
    assert!(outages(periodic, Anchor::FirstSyn, None).is_none());
}

#[test]
fn outages_that_are_listed_or_drawn_are_counted_as_they_come() {
    let list = Schedule::Intervals(vec![(at(10), ms(5)), (at(20), ms(5)), (at(30), ms(5))]);
    let mut o = outages(list, Anchor::Start, None).expect("outages");
    assert_eq!([10, 17, 24, 34, 35].map(|n| o.at(at(n))), [Some(0), None, Some(1), Some(2), None]);
    let drawn = Schedule::Exponential { up_mean: ms(100), down_mean: ms(50) };
    let mut o = outages(drawn, Anchor::Start, None).expect("outages");
    let mut seen: Vec<u64> = (0..20_000).filter_map(|n| o.at(at(n))).collect();
    seen.dedup();
    assert!(seen.len() > 80 && seen.iter().enumerate().all(|(k, n)| *n >= k as u64), "{seen:?}");
    assert!(seen.is_sorted() && *seen.last().expect("some") < 200);
}
