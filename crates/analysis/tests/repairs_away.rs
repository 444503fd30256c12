//! Why something was sent again, seen where it arrives, each as a timeline.

mod story;

use analysis::rows::{Cause, Vantage};
use story::{MSS, Story, Told, opened};

fn seq(k: u32) -> u32 {
    1 + k * MSS
}

fn causes(told: &Told) -> Vec<Cause> {
    told.rows.retransmissions.iter().map(|r| r.cause).collect()
}

/// Segments `of` arrive at `when`, number `k` with identification `k`, and are acknowledged one by one.
fn arrive(mut t: Story, of: std::ops::Range<u32>, when: u64) -> Story {
    for k in of {
        t = t.id(k as u16).at(when).data(seq(k), MSS).ack(seq(k + 1));
    }
    t
}

#[test]
fn a_timer_that_waits_for_a_second_is_no_linux_that_looks_whether_it_was_needless() {
    // RFC 6298 §2.4 and RFC 5682. Ten segments make the initial window (RFC 6928); then a link goes down for both
    // directions: of ten more segments every second is lost, and what was SACKed is first heard after the timeout.
    let after = |wait: u64| {
        let mut t = arrive(opened(Vantage::Receiver).sack_permitted(), 0..10, 25);
        for k in [11, 13, 15, 17, 19] {
            t = t.id(k as u16).at(46).data(seq(k), MSS).sack(seq(10), &[(seq(k), seq(k + 1))]);
        }
        let blocks = [(seq(19), seq(20)), (seq(17), seq(18)), (seq(15), seq(16))];
        t = t.id(20).at(46 + wait).data(seq(10), MSS).sack(seq(12), &blocks);
        t = t.id(21).at(66 + wait).data(seq(12), MSS).sack(seq(14), &blocks);
        causes(&t.id(22).at(66 + wait).data(seq(14), MSS).sack(seq(16), &blocks[..2]).ends())
    };
    assert_eq!(after(1000), [Cause::Timeout, Cause::LossState, Cause::LossState]);
    assert_eq!(after(220), [Cause::Timeout, Cause::Recovery, Cause::Recovery], "a Linux");
    assert_eq!(
        after(660),
        [Cause::Timeout, Cause::Recovery, Cause::Recovery],
        "a Linux, whose first copy was lost"
    );
}
