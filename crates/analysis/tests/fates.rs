//! Which copies arrived, each as a timeline.

mod story;

use analysis::rows::{Needless, Proof, Vantage};
use story::{MSS, Story, opened};

/// Where the flight begins.
const BASE: u32 = 1 + MSS;

fn at(k: u32) -> u32 {
    BASE + k * MSS
}

#[test]
fn without_sack_a_needless_repair_that_nothing_answers_was_lost() {
    let mut t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).ack(BASE).at(60);
    for k in 0..12 {
        t = t.data(at(k), MSS);
    }
    // 0 and 2 were lost, and all that the others set off. The timer begins slow start.
    t = t.at(400).data(at(0), MSS).at(420).ack(at(2)).at_us(420_020);
    for k in 2..8 {
        t = t.data(at(k), MSS);
    }
    // 2 fills the hole. 3 to 7 had arrived: each copy is answered at once (RFC 9293 §3.10.7.4), whatever the window does
    // meanwhile, and those of 6 and 7 are not. Later ACKs speak of later data.
    t = t.at(441).ack(at(12)).at_us(441_100).ack(at(12)).at_us(441_200).window(60_000).ack(at(12));
    t = t.at_us(441_300).ack(at(12)).at(442).data(at(12), MSS).data(at(13), MSS).data(at(14), MSS);
    t = t.at(462).ack(at(13)).at_us(462_100).ack(at(13));
    let told = t.at(463).data(at(13), MSS).at(484).ack(at(15)).at(900).ends();
    let lost: Vec<_> = told.rows.retransmissions.iter().map(|r| r.lost).collect();
    let (came, gone) = (Some(false), Some(true));
    assert_eq!(lost, [came, came, came, came, came, gone, gone, came]);
    assert_eq!(told.flow.lost_copies, Some(5), "0, 2, two copies and 13");
}

#[test]
fn what_comes_behind_a_silence_answers_what_left_last_before_it() {
    let mut t = opened(Vantage::Sender).stamped().at(30).data(1, MSS).at(50).ack(BASE).echoing(30).at(60);
    t = t.data(at(0), MSS).data(at(1), MSS).data(at(2), MSS);
    // 0 was lost. This receiver answers what it has already: 1, sent again.
    t = t.at(400).data(at(0), MSS).at(401).data(at(1), MSS);
    t = t.at(420).ack(at(3)).echoing(400).at(421).ack(at(3)).echoing(400).at(422);
    for k in 3..9 {
        t = t.data(at(k), MSS);
    }
    // The ACKs of all six were lost. This one echoes an original (RFC 7323 §4.3), and nothing but the timer's copy can
    // have set it off.
    let told = t.at(800).data(at(3), MSS).at(820).ack(at(9)).echoing(422).ends();
    let lost: Vec<_> = told.rows.retransmissions.iter().map(|r| (r.lost, r.needless)).collect();
    let needless = |by| (Some(false), Needless::Yes(by));
    assert_eq!(lost, [(Some(false), Needless::No), needless(Proof::Dsack), needless(Proof::Timestamps)]);
    assert_eq!(told.flow.lost_copies, Some(1));
}

/// Flights of two segments over a path of 40 ms, whose ACKs take 40.0 to 40.4 ms. The last two segments leave at 1 s; the second
/// is sent again at `again_us`, and acknowledged by SACK `answered_us` after that.
fn probed(again_us: u64, answered_us: u64) -> Option<u64> {
    let mut t = Story::from(Vantage::Sender).sack_permitted().handshake(40);
    for k in 0..10 {
        let sent = 50_000 + 60_000 * u64::from(k);
        t = t.at_us(sent).data(1 + 2 * k * MSS, MSS).data(1 + (2 * k + 1) * MSS, MSS);
        t = t.at_us(sent + 40_000 + 100 * u64::from(k % 5)).ack(1 + 2 * (k + 1) * MSS);
    }
    let (first, second, end) = (1 + 20 * MSS, 1 + 21 * MSS, 1 + 22 * MSS);
    t = t.at(1_000).data(first, MSS).data(second, MSS);
    t = t.at_us(again_us).data(second, MSS).at_us(again_us + answered_us).sack(first, &[(second, end)]);
    t = t.at(1_500).data(first, MSS).at(1_541).ack(end);
    t.at(3_000).ends().flow.lost_copies
}

#[test]
fn an_answer_may_come_a_little_sooner_than_any_before() {
    // RFC 8985 section 7.3: a probe for a tail that was lost. Its answer takes 39.95 ms, and the first copy would be 170 ms old.
    assert_eq!(probed(1_130_000, 39_950), Some(2));
    assert_eq!(probed(1_130_000, 30_000), Some(1), "far sooner: it answers the first copy");
    assert_eq!(probed(1_001_000, 39_950), Some(1), "the first copy is 41 ms old, as others were");
}
