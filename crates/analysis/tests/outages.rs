//! How long a link was away, as far as the copies and repairs that it took show.

mod story;

use analysis::rows::Vantage;
use story::{MSS, opened, repairs_lost_in_an_outage};

#[test]
fn an_outage_lasts_as_long_as_its_repairs_are_lost_in_it() {
    let told = repairs_lost_in_an_outage().ends();
    let first = told.rows.bursts[0].clone();
    assert_eq!(first.lost_copies, Some(12));
    let ms = |t: wire::Time| t.0 / 1_000_000;
    assert_eq!((ms(first.start), ms(first.last), first.back.map(ms)), (60, 1_000, Some(2_200)));
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
