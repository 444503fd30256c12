//! Why something was sent again, each as a timeline: what passed when, and which cause each repair got.

mod story;

use analysis::rows::{Cause, Vantage};
use story::{MSS, opened};

/// Where the flight of ten begins.
const BASE: u32 = 1 + MSS;

fn at(k: u32) -> u32 {
    BASE + k * MSS
}

#[test]
fn a_sack_of_a_later_repair_tells_that_an_earlier_one_was_lost() {
    // RFC 8985 §6.2: a repair is taken to have arrived if its SACK comes no sooner than a round trip behind it. There
    // are no timestamps to tell.
    let mut t = opened(Vantage::Sender).sack_permitted().at(30).data(1, MSS).at(50).ack(BASE).at(60);
    for k in 0..10 {
        t = t.data(at(k), MSS);
    }
    // Segments 0 and 6 are lost.
    t = t.at(80).sack(BASE, &[(at(1), at(2))]).sack(BASE, &[(at(1), at(3))]).sack(BASE, &[(at(1), at(4))]);
    t = t.at_us(80_020).data(at(0), MSS).at(81).sack(BASE, &[(at(1), at(6))]);
    t = t.at(85).sack(BASE, &[(at(7), at(10)), (at(1), at(6))]).at_us(85_020).data(at(6), MSS);
    // So was the repair of 0. What follows at once is no timer's, though it is sent for the third time.
    t = t.at(106).sack(BASE, &[(at(1), at(10))]).at_us(106_040).data(at(0), MSS).at(126).ack(at(10));
    let told = t.ends();
    let repairs: Vec<_> = told.rows.retransmissions.iter().map(|r| r.cause).collect();
    assert_eq!(repairs, [Cause::Recovery; 3]);
}
