//! Explicit congestion notification: what marks, echoes and reductions say (RFC 3168).

mod story;

use analysis::rows::{EcnKind, Vantage};
use story::{MSS, Story};
use wire::Flags;

/// A handshake with these flags beside SYN, and beside its answer's.
fn agreed(at: Vantage, answer: Flags) -> Story {
    let asks = Flags::ECE.with(Flags::CWR);
    let t = Story::from(at).sack_permitted().at(0).syn().flagged(asks);
    t.at(20).syn_ack().flagged(answer).at(20).ack_of_syn()
}

/// Ten segments; the third is marked, the ACKs of it and the next say so, and the sender says that it slowed down.
fn marked(mut t: Story) -> Story {
    for k in 0..10 {
        let now = 30 + 20 * u64::from(k);
        t = t.at(now).data(1 + k * MSS, MSS);
        t = if k == 2 { t.marked() } else { t };
        t = if k == 4 { t.flagged(Flags::CWR) } else { t };
        t = t.at(now + 1).ack(1 + (k + 1) * MSS);
        t = if k == 2 || k == 3 { t.flagged(Flags::ECE) } else { t };
    }
    t
}

#[test]
fn a_mark_is_echoed_and_reduces_the_window_without_a_loss() {
    let told = marked(agreed(Vantage::Receiver, Flags::ECE)).ends();
    let ecn = told.flow.ecn;
    assert_eq!(ecn.agreed, Some(EcnKind::Classic));
    assert_eq!((ecn.marked_packets, ecn.echoes), (Some(1), Some(2)));
    assert_eq!((ecn.reductions, ecn.reductions_by_marks), (Some(1), Some(1)));
    // Where data leaves nothing has marked it yet.
    let ecn = marked(agreed(Vantage::Sender, Flags::ECE)).ends().flow.ecn;
    assert_eq!((ecn.marked_packets, ecn.echoes), (None, Some(2)));
}

#[test]
fn the_bits_of_accurate_ecn_are_no_echoes() {
    // RFC 9768 §3.1.1: a SYN-ACK with CWR; what follows counts marks in these bits.
    let ecn = marked(agreed(Vantage::Receiver, Flags::CWR)).ends().flow.ecn;
    assert_eq!((ecn.agreed, ecn.marked_packets), (Some(EcnKind::Accurate), Some(1)));
    assert_eq!((ecn.echoes, ecn.reductions, ecn.reductions_by_marks), (None, None, None));
    // Nor where it was refused, or the handshake was not seen.
    let ecn = marked(agreed(Vantage::Receiver, Flags(0))).ends().flow.ecn;
    assert_eq!((ecn.agreed, ecn.echoes), (Some(EcnKind::Off), None));
    let ecn = marked(story::mid_stream()).ends().flow.ecn;
    assert_eq!((ecn.agreed, ecn.echoes), (None, None));
}

#[test]
fn a_sender_that_slows_down_for_a_loss_says_so_and_it_is_none_of_a_mark() {
    let mut t = agreed(Vantage::Sender, Flags::ECE).at(30);
    for k in 0..6 {
        t = t.data(1 + k * MSS, MSS);
    }
    t = t.at(50).sack(1, &[(1 + MSS, 1 + 6 * MSS)]).flagged(Flags::ECE).at(51).data(1, MSS);
    t = t.data(1 + 6 * MSS, MSS).flagged(Flags::CWR).at(71).ack(1 + 7 * MSS);
    let ecn = t.ends().flow.ecn;
    assert_eq!((ecn.reductions, ecn.reductions_by_marks), (Some(1), Some(0)));
}
