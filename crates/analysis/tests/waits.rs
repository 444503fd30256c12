//! What a sender waited for, each as a timeline: what passed when, and which cause each idle gap got.

mod story;

use analysis::rows::{Cause, IdleCause, Vantage, Wait, WaitRow};
use story::{
    All, MSS, Story, Told, causes, mid_stream, never_answered, opened, opened_by_the_third_syn,
    small_pieces_behind_delayed_acks,
};
use wire::Span;

// Handshakes that were not seen

/// Three segments in flight at 100 ms, acknowledged at 300 ms, when the next leave.
fn waits_for_an_ack(t: Story) -> Story {
    let t = t.at(0).data(1, MSS).at(20).ack(1 + MSS);
    let t = t.at(100).data(1 + MSS, MSS).data(1 + 2 * MSS, MSS).data(1 + 3 * MSS, MSS);
    t.at(300).ack(1 + 3 * MSS).data(1 + 4 * MSS, MSS)
}

#[test]
fn without_its_scale_no_wait_is_put_down_to_a_window() {
    // 1500 may be 192 kB.
    let told = waits_for_an_ack(mid_stream().window(1_500)).ends();
    assert_eq!(causes(&told.rows)[1], (IdleCause::AckClock, 200));
    assert_eq!((told.flow.window_max_bytes, told.flow.window_min_bytes), (None, None));
    assert!(told.rows.packets.iter().all(|p| p.window_bytes.is_none()));
    assert!(told.flow.limits.mid_stream);
}

#[test]
fn what_was_negotiated_before_the_part_that_is_asked_for_holds_in_it() {
    let opening = Story::from(Vantage::Sender).sack_permitted().handshake(20);
    let told = waits_for_an_ack(mid_stream().window(1_500)).ends_after(&opening);
    // Neither SYN offers a scale: 1500 bytes it is.
    assert_eq!(causes(&told.rows)[1], (IdleCause::ReceiveWindow, 200));
    assert_eq!(told.flow.window_max_bytes, Some(1_500));
    assert_eq!((told.flow.sack_permitted, told.flow.timestamps), (Some(true), Some(false)));
    assert!(!told.flow.limits.mid_stream);
    assert_eq!(told.flow.bytes, u64::from(5 * MSS), "from the first byte that was asked for");
}

#[test]
fn a_repair_on_sack_is_one_whether_the_handshake_was_seen_or_not() {
    let mut t = mid_stream().at(0);
    for k in 0..10 {
        t = t.data(1 + k * MSS, MSS);
    }
    assert_eq!(t.clone().at(20).ack(1 + MSS).ends().flow.sack_permitted, None);
    t = t.at(20).ack(1 + MSS).sack(1 + MSS, &[(1 + 2 * MSS, 1 + 5 * MSS)]);
    t = t.at(21).data(1 + MSS, MSS);
    let told = t.at(41).ack(1 + 10 * MSS).ends();
    assert_eq!(told.flow.sack_permitted, Some(true));
    assert_eq!(told.rows.retransmissions[0].cause, Cause::Recovery);
}

#[test]
fn syns_that_were_lost_cost_what_the_handshake_took_from_the_first_on() {
    let told = opened_by_the_third_syn().ends();
    assert_eq!(told.flow.handshake, Some(wire::Span::from_millis(3_020)));
}

#[test]
fn a_host_that_is_never_answered_waits_in_the_handshake() {
    let told = never_answered();
    assert_eq!(causes(&told.rows), [(IdleCause::Handshake, 15_000)]);
}

// What a sender waited for

/// `n` pieces of `len` bytes over a path of 20 ms, each sent when the ACK of the one before has come, which takes
/// `wait` ms.
fn one_by_one(at: Vantage, n: u32, len: u32, wait: u64) -> Story {
    let mut t = opened(at);
    for k in 0..n {
        let sent = 30 + u64::from(k) * (wait + 20);
        t = t.at(sent).data(1 + k * len, len);
        t = t.at(sent + wait).ack(1 + (k + 1) * len);
        if at == Vantage::Sender {
            t = t.at_us((sent + wait) * 1_000 + 20);
        }
    }
    t
}

#[test]
fn small_pieces_that_wait_for_a_delayed_ack_are_held_back_by_nagle() {
    let told = small_pieces_behind_delayed_acks().ends();
    assert_eq!(causes(&told.rows).len(), 49);
    assert!(causes(&told.rows).iter().all(|c| *c == (IdleCause::Nagle, 210)), "{:?}", causes(&told.rows));
    assert_eq!(told.rows.idle[0].flight_bytes, 100);
}

#[test]
fn nagle_is_told_where_the_data_arrives_too() {
    let told = one_by_one(Vantage::Receiver, 20, 100, 200).ends();
    assert_eq!(causes(&told.rows), [(IdleCause::Nagle, 220); 19]);
}

#[test]
fn an_application_that_writes_at_a_pace_of_its_own_is_not_held_back() {
    let mut t = opened(Vantage::Sender);
    for k in 0..20u32 {
        let sent = 30 + u64::from(k) * 250;
        t = t.at(sent).data(1 + k * 100, 100).at(sent + 210).ack(1 + (k + 1) * 100);
    }
    assert_eq!(causes(&t.ends().rows), [(IdleCause::Application, 250); 19]);
}

/// Two segments, and two more when the ACK of both has come, in a window of `window` bytes.
fn two_by_two(window: u16) -> Story {
    let mut t = Story::from(Vantage::Sender).window(window).handshake(20);
    for k in 0..20u32 {
        let sent = 30_000 + u64::from(k) * 60_020;
        t = t.at_us(sent).data(1 + 2 * k * MSS, MSS).data(1 + (2 * k + 1) * MSS, MSS);
        t = t.at_us(sent + 60_000).window(window).ack(1 + 2 * (k + 1) * MSS);
    }
    t
}

#[test]
fn a_window_that_was_full_until_the_ack_came_is_the_receivers() {
    let told = two_by_two(2_500).ends();
    assert_eq!(causes(&told.rows), [(IdleCause::ReceiveWindow, 60); 19]);
    assert_eq!(told.rows.idle[0].flight_bytes, 2_000);
}

#[test]
fn a_window_that_is_full_because_nothing_comes_through_is_not_the_receivers() {
    // As before, but once an ACK takes three times as long; nothing is lost.
    let stall = |window| {
        let t = two_by_two(window).at(1_250).data(1 + 40 * MSS, MSS).data(1 + 41 * MSS, MSS);
        let t = t.at(1_430).ack(1 + 42 * MSS).at_us(1_430_020).data(1 + 42 * MSS, MSS);
        causes(&t.at(1_490).ack(1 + 43 * MSS).ends().rows).pop()
    };
    assert_eq!(stall(2_500), Some((IdleCause::AckClock, 180)));
    assert_eq!(stall(65_535), Some((IdleCause::AckClock, 180)));
}

#[test]
fn full_segments_that_the_next_ack_releases_wait_for_the_ack_clock() {
    assert_eq!(causes(&two_by_two(65_535).ends().rows), [(IdleCause::AckClock, 60); 19]);
}

#[test]
fn a_window_that_is_too_small_for_a_segment_holds_the_sender_until_it_widens() {
    let t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).window(600).ack(1 + MSS);
    let told = t.at(1_050).window(8_000).ack(1 + MSS).at_us(1_050_050).data(1 + MSS, MSS).ends();
    assert_eq!(causes(&told.rows), [(IdleCause::ReceiveWindow, 1_020)]);
}

/// The gaps of the host that the story is of: requests make a flow of their own.
fn own_causes(told: &Told) -> Vec<(IdleCause, i64)> {
    let mut rows = told.rows.clone();
    rows.idle.retain(|i| i.flow == told.flow.flow);
    causes(&rows)
}

/// A server answers each of `n` requests with ten segments after `takes` ms; the client asks again 1 s after the last
/// ACK of its own.
fn asked_and_answered(at: Vantage, n: u32, takes: u64) -> Story {
    let mut t = opened(at);
    let mut now = 30;
    for k in 0..n {
        // A path of 20 ms lies on the one side of the capture or on the other.
        let (there, back) = if at == Vantage::Receiver { (20, 0) } else { (0, 20) };
        t = t.at(now).request(200);
        now += takes + there;
        for i in 0..10 {
            t = t.at(now).data(1 + (k * 10 + i) * MSS, MSS);
        }
        now += back;
        t = t.at(now + 1).ack(1 + (k + 1) * 10 * MSS);
        now += 1_001;
    }
    t
}

#[test]
fn a_server_that_nobody_asks_is_not_the_one_that_makes_its_client_wait() {
    for at in [Vantage::Sender, Vantage::Receiver] {
        let told = asked_and_answered(at, 8, 5).ends();
        let causes = own_causes(&told);
        assert_eq!(causes.len(), 7, "{at:?}: {causes:?}");
        assert!(causes.iter().all(|c| c.0 == IdleCause::Peer), "{at:?}: {causes:?}");
    }
}

#[test]
fn the_time_that_a_server_takes_to_answer_is_its_own() {
    for at in [Vantage::Sender, Vantage::Receiver] {
        let told = asked_and_answered(at, 4, 400).ends();
        let causes = own_causes(&told);
        let pair = [IdleCause::Peer, IdleCause::Application];
        let named: Vec<IdleCause> = causes.iter().map(|c| c.0).collect();
        assert_eq!(named, [&[IdleCause::Application][..], &pair, &pair, &pair].concat(), "{at:?}");
        assert!(causes[1..].iter().all(|c| c.0 == IdleCause::Peer || c.1 == 400), "{at:?}: {causes:?}");
    }
}

#[test]
fn a_conversation_that_is_captured_twice_waits_for_the_same() {
    for at in [Vantage::Sender, Vantage::Receiver] {
        for later in [1, 15, 60] {
            let once = asked_and_answered(at, 8, 300).numbered();
            let twice = once.clone().doubled(later).ends_with_all();
            assert!(twice.flows[0].limits.captured_twice > 0, "{at:?}, {later} ms");
            // The last wait ends with the capture, which the copies make longer.
            let waits = |all: &All| -> Vec<_> {
                let owed = |w: &&WaitRow| w.time > Span::ZERO && w.waits_for != Wait::Nothing;
                let rows = all.rows.waits.iter().filter(owed);
                let mut waits: Vec<_> = rows.map(|w| (w.host, w.waits_for, w.time)).collect();
                waits.pop();
                waits
            };
            assert_eq!(waits(&twice), waits(&once.ends_with_all()), "{at:?}, {later} ms");
        }
    }
}

#[test]
fn a_request_that_brings_the_ack_of_the_last_answer_asks_all_the_same() {
    let t = opened(Vantage::Sender).at(30).data(1, 300).at(230).request(200).at_us(230_100).data(301, 300);
    assert_eq!(own_causes(&t.at(260).ack(601).ends()), [(IdleCause::Peer, 200)]);
}

#[test]
fn a_window_that_stays_closed_holds_the_data_behind_it_to_the_end() {
    let shut = |probed: bool| {
        let t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).window(0).ack(1 + MSS);
        // RFC 9293 §3.8.6.1: the sender asks again and again whether it has been opened.
        match probed {
            true => t.at(250).bare(MSS).at(270).ack(1 + MSS).at(650).bare(MSS).at(670).ack(1 + MSS).ends(),
            false => t.at(670).ack(1 + MSS).ends(),
        }
    };
    let told = shut(true);
    assert_eq!(own_causes(&told), [(IdleCause::ZeroWindow, 640)]);
    assert_eq!(told.flow.zero_window_time, Span::from_millis(620));
    assert_eq!(own_causes(&shut(false)), [], "nothing more may be to be sent");
}

#[test]
fn what_follows_a_pause_of_the_application_tells_no_round_trip() {
    // The receiver's timestamps come back with the next data, which is set off by an ACK while data waits, and by the
    // application later.
    let mut t = Story::from(Vantage::Receiver)
        .stamped()
        .handshake(20)
        .at(30)
        .amid_data(1, MSS)
        .echoing(20)
        .ack(1 + MSS);
    for k in 1..10 {
        let (begins, now) = (1 + k * MSS, 30 + 20 * k);
        t = t.at(now.into()).amid_data(begins, MSS).echoing(now - 20).ack(begins + MSS);
    }
    t = t.at(230).data(1 + 10 * MSS, MSS).echoing(210).ack(1 + 11 * MSS);
    t = t.at(5_230).data(1 + 11 * MSS, 300).echoing(230).ack(301 + 11 * MSS);
    let rtt = t.at(9_000).bare(300 + 11 * MSS).echoing(5_230).ends().flow.rtt_timestamps;
    assert!(rtt.n >= 5 && rtt.max < 0.03, "{rtt:?}");
}

#[test]
fn a_program_that_pauses_after_a_repair_had_nothing_to_send() {
    // The write ended with the last segment's PSH; the repair of the first, which came later, has none.
    let mut t = opened(Vantage::Sender).sack_permitted().at(30);
    for k in 0..9 {
        t = t.amid_data(1 + k * MSS, MSS);
    }
    t = t.data(1 + 9 * MSS, MSS).at(50);
    for k in 1..10 {
        t = t.sack(1, &[(1 + MSS, 1 + (k + 1) * MSS)]);
    }
    t = t.at(51).amid_data(1, MSS).at(71).ack(1 + 10 * MSS);
    t = t.at(5_051).data(1 + 10 * MSS, MSS).at(5_071).ack(1 + 11 * MSS);
    assert_eq!(causes(&t.ends().rows), [(IdleCause::Application, 5_000)]);
}

/// Two segments, which fill the window, each 60 ms; `answered`: the program that reads them says so, in 50 bytes.
fn uploaded(at: Vantage, answered: bool) -> Story {
    let mut t = Story::from(at).window(2_500).handshake(20);
    for k in 0..20u32 {
        let sent = 30_000 + u64::from(k) * 60_020;
        t = t.at_us(sent).data(1 + 2 * k * MSS, MSS).data(1 + (2 * k + 1) * MSS, MSS);
        t = t.at_us(if at == Vantage::Sender { sent + 60_000 } else { sent + 50 });
        t = t.ack(1 + 2 * (k + 1) * MSS);
        if answered {
            t = t.request(50);
        }
    }
    t
}

#[test]
fn nobody_waits_for_what_is_answered_before_the_message_is_over() {
    for at in [Vantage::Sender, Vantage::Receiver] {
        let waits = |answered| {
            let all = uploaded(at, answered).ends_with_all();
            let of = |wait| -> i64 {
                let rows = all.rows.waits.iter().filter(|w| w.waits_for == wait);
                rows.map(|w| w.time.0 / 1_000_000).sum()
            };
            (of(Wait::Window), of(Wait::Program) + of(Wait::Path))
        };
        for answered in [false, true] {
            let (window, rest) = waits(answered);
            assert!(window >= 1_050 && rest < 100, "{at:?}, {answered}: {window} and {rest} ms");
        }
    }
}

#[test]
fn nobody_waits_for_a_program_that_writes_while_data_comes() {
    // One segment each 2 ms; each 40 ms the host that reads them writes 36 bytes, as SSH does to widen its window.
    let flows = |writes| {
        let mut t = Story::from(Vantage::Receiver).stamped().handshake(20);
        for k in 0..400u32 {
            // What an ACK lets go leaves together, and a link takes it one after the other.
            let left = 10 + 40 * (k / 20);
            t = t.at(30 + 2 * u64::from(k)).amid_data(1 + k * MSS, MSS).left(left);
            t = t.echoing(left.saturating_sub(20)).ack(1 + (k + 1) * MSS).echoing(left);
            if writes && k % 20 == 19 {
                t = t.at(31 + 2 * u64::from(k)).request(36);
            }
        }
        let rows = t.ends_with_all().rows.waits;
        rows.iter().filter(|w| w.waits_for == Wait::Program).map(|w| w.time).max()
    };
    assert!(flows(true).is_none_or(|longest| longest <= Span::from_millis(20)), "{:?}", flows(true));
}

#[test]
fn a_program_that_stops_in_the_middle_of_its_message_spaces_nothing() {
    // A segment each 20 ms, none with PSH (MSG_MORE); then none for 2 s though all had arrived.
    let mut t = opened(Vantage::Sender);
    for k in 0..40u32 {
        let sent = 30 + 20 * u64::from(k) + if k < 20 { 0 } else { 2_000 };
        t = t.at(sent).amid_data(1 + k * MSS, MSS).at(sent + 20).ack(1 + (k + 1) * MSS);
        t = t.at_us((sent + 20) * 1_000 + 400);
    }
    let rows = t.ends_with_all().rows.waits;
    let longest = rows.iter().max_by_key(|w| w.time).expect("there are some");
    assert_eq!((longest.waits_for, longest.time), (Wait::Program, Span::from_millis(2_000)));
}

#[test]
fn a_timer_does_not_end_the_wait_for_what_came_in_between() {
    // The client's data has no PSH; the server's program answers after 2 s, and then the client's timer sends again.
    let t = opened(Vantage::Sender).at(30).amid_data(1, 100).at(50).ack(101).at(2_050).request(80);
    let rows = t.at(2_070).data(1, 100).at(2_090).ack(101).ends_with_all().rows.waits;
    let longest = rows.iter().max_by_key(|w| w.time).expect("there are some");
    assert_eq!(longest.waits_for, Wait::Program);
}
