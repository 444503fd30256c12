//! Retransmission timers that are shorter than the round trip, seen at the sender. A minimum RTO is only recommended
//! (RFC 6298 §2.4), and small stacks have a fixed one: smoltcp's was 100 ms (its issue 406).

mod story;

use analysis::rows::{Cause, Needless, Trigger, Vantage};
use story::random::Random;
use story::{Story, Told};

const SEEDS: u64 = 200;
/// With timestamps it fits a segment, too.
const SIZE: u32 = 900;

/// Twenty flights over a path of `rtt`, each sent again every `rto` until its ACKs come, `rtt` after each copy.
fn sent_again_every(rto: u64, rtt: u64, segments: u32, options: (bool, bool)) -> Told {
    let mut t = Story::from(Vantage::Sender);
    if options.0 {
        t = t.sack_permitted();
    }
    if options.1 {
        t = t.stamped();
    }
    t = t.handshake(rtt);
    let (mut begins, mut id) = (rtt + 50, 1);
    for flight in 0..20 {
        let seq = |k: u32| 1 + (flight * segments + k) * SIZE;
        for copy in 0..=(rtt - 1) / rto {
            for k in 0..segments {
                id += 1;
                t = t.id(id).at_us((begins + copy * rto) * 1000 + u64::from(k) * 20).data(seq(k), SIZE);
            }
        }
        for k in 0..segments {
            t = t.at_us((begins + rtt) * 1000 + u64::from(k) * 20).ack(seq(k + 1)).echoing(begins as u32);
        }
        // What arrives once more is answered at once (RFC 9293 §3.10.7.4), with a DSACK where that is agreed on (RFC 2883).
        for copy in 1..=(rtt - 1) / rto {
            for k in 0..segments {
                t = t.at_us((begins + copy * rto + rtt) * 1000 + u64::from(k) * 20);
                t = match options.0 {
                    true => t.sack(seq(segments), &[(seq(k), seq(k + 1))]),
                    false => t.ack(seq(segments)),
                };
                t = t.echoing((begins + copy * rto) as u32);
            }
        }
        begins += rtt * 2 + 20;
    }
    t.ends()
}

#[test]
fn what_leaves_again_before_any_ack_has_come_was_sent_by_a_timer() {
    for seed in 1..=SEEDS {
        let mut r = Random::new(seed);
        let rtt = r.within(40, 700);
        let rto = r.within(rtt / 4, rtt - 5).max(10);
        let segments = r.within(1, 4) as u32;
        let told = sent_again_every(rto, rtt, segments, (r.one_in(2), r.one_in(2)));
        let repairs = &told.rows.retransmissions;
        assert!(repairs.len() >= 20, "seed {seed}");
        for row in repairs {
            let first = (row.seq_start - 1) % u64::from(segments * SIZE) == 0;
            let of_timer = match first {
                true => row.cause == Cause::Timeout,
                false => matches!(row.cause, Cause::Timeout | Cause::LossState),
            };
            assert!(of_timer, "seed {seed}: RTO {rto} ms, round trip {rtt} ms: {row:?}");
            assert_eq!(row.trigger, Trigger::TimerRto, "seed {seed}: {row:?}");
            assert!(matches!(row.needless, Needless::Yes(_)), "seed {seed}: {row:?}");
        }
    }
}

#[test]
fn what_an_ack_has_asked_for_since_is_no_timers() {
    // RFC 5681 §3.2: the third duplicate ACK sets the repair off, however soon it comes after the first copy.
    for seed in 1..=SEEDS {
        let mut r = Random::new(seed);
        let rtt = r.within(4, 150);
        let mut t = Story::from(Vantage::Sender).handshake(rtt);
        let begins = rtt + 10;
        for k in 0..6 {
            t = t.id(1 + k as u16).at_us(begins * 1000 + u64::from(k) * 20).data(1 + k * SIZE, SIZE);
        }
        for k in 1..6 {
            t = t.at_us((begins + rtt) * 1000 + k * 20).ack(1);
        }
        t = t.id(8).at_us((begins + rtt) * 1000 + 110).data(1, SIZE).at(begins + 2 * rtt).ack(1 + 6 * SIZE);
        let causes: Vec<_> = t.ends().rows.retransmissions.iter().map(|r| r.cause).collect();
        assert_eq!(causes, [Cause::Recovery], "seed {seed}: round trip {rtt} ms");
    }
}
