//! How long a link was away, as far as the copies and repairs that it took show.

mod story;

use analysis::rows::Vantage;
use story::{MSS, Story, opened};

/// Ten segments and two repairs of the first are lost; the third repair, at 2.2 s, comes through.
fn dark_for_long() -> Story {
    let mut t = opened(Vantage::Sender).sack_permitted();
    for k in 0..20u32 {
        t = t.at(u64::from(30 + 3 * k)).data(1 + k * MSS, MSS);
    }
    for k in 0..10 {
        t = t.at(u64::from(90 + 3 * k)).ack(1 + (k + 1) * MSS);
    }
    t = t.at(400).data(1 + 10 * MSS, MSS).at(1_000).data(1 + 10 * MSS, MSS).at(2_200).data(1 + 10 * MSS, MSS);
    t = t.at(2_220).ack(1 + 11 * MSS);
    for k in 11..20 {
        t = t.at(u64::from(2_210 + k)).data(1 + k * MSS, MSS);
    }
    t.at(2_260).ack(1 + 20 * MSS)
}

#[test]
fn an_outage_lasts_as_long_as_its_repairs_are_lost_in_it() {
    let told = dark_for_long().ends();
    let first = told.rows.bursts[0].clone();
    assert_eq!(first.lost_copies, Some(12));
    let ms = |t: wire::Time| t.0 / 1_000_000;
    assert_eq!((ms(first.start), ms(first.last), first.back.map(ms)), (60, 1_000, Some(2_200)));
    let said = told.answers();
    let outages = said.outages.unwrap();
    assert_eq!((outages.count, outages.length_s), (1, None));
    // From 60 to 1000 ms at least, less what the first waited in the queue; to 2200 ms at most.
    assert!((0.85..=0.94).contains(&outages.at_least_s), "{outages:?}");
    assert_eq!(outages.at_most_s, Some(2.14));
    assert!(said.look_at.contains(" to 2.1 s at "), "{}", said.look_at);
}

#[test]
fn what_never_came_back_has_no_time_by_which_it_did() {
    let mut t = opened(Vantage::Sender).sack_permitted();
    for k in 0..20u32 {
        t = t.at(u64::from(30 + 3 * k)).data(1 + k * MSS, MSS);
    }
    let told =
        t.at(60).ack(1 + 10 * MSS).at(400).data(1 + 10 * MSS, MSS).at(1_000).data(1 + 10 * MSS, MSS).ends();
    assert!(told.rows.bursts.iter().all(|b| b.back.is_none()), "{:?}", told.rows.bursts);
}
