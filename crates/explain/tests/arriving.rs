//! Conversations packet by packet, with what programs, ACKs and timers of the far host leave in what arrives.

mod explained;
#[path = "../../analysis/tests/story/mod.rs"]
mod story;

use analysis::rows::{Role, Vantage};
use explain::answer::Answer;
use explain::cause::Cause;
use explain::certainty::Certainty;
use explain::findings::Kind;
use explained::answer;
use story::{MSS, Story, Told, opened};

fn seconds(said: &Answer, cause: Cause) -> f64 {
    said.causes.iter().filter(|s| s.cause == cause).map(|s| s.time.as_secs()).sum()
}

fn owners(said: &Answer) -> Vec<(Cause, Option<Role>, f64)> {
    said.causes.iter().map(|s| (s.cause, s.by, s.time.as_secs())).collect()
}

/// The host whose data the flow is, and the other.
fn roles(told: &Told) -> [Role; 2] {
    let side = (told.flow.flow % 2) as usize;
    [Role::of(side), Role::of(1 - side)]
}

/// RFC 896: the second small piece waits for the ACK of the first, which this host holds for 46 ms. It answers both.
#[test]
fn pieces_that_come_a_round_trip_behind_a_held_ack_waited_for_it() {
    let mut t = opened(Vantage::Receiver);
    let mut now = 30;
    for k in 0..40u32 {
        t = t.at(now).data(1 + 30 * k, 10).at(now + 46).ack(11 + 30 * k);
        t = t.at(now + 66).data(11 + 30 * k, 20).at_us((now + 66) * 1_000 + 60).request(10);
        now += 86;
    }
    let told = t.ends();
    let (said, [_, receiver]) = (answer(&told), roles(&told));
    assert_eq!((said.cause, said.by), (Cause::DelayedAck, Some(receiver)), "{:?}", owners(&said));
    assert_ne!(said.certainty, Certainty::Known);
    assert!((seconds(&said, Cause::DelayedAck) - 40.0 * 0.046).abs() < 0.2, "{:?}", owners(&said));
}

/// Twenty segments come as a link spaces them, and this host answers each as it comes.
#[test]
fn a_program_that_answers_each_part_of_a_message_is_not_idle_while_the_rest_comes() {
    let mut t = opened(Vantage::Receiver);
    let (mut now, mut next) = (30_000, 1);
    for _ in 0..30 {
        for _ in 0..20 {
            t = t.at_us(now).amid_data(next, MSS).at_us(now + 60).request(50);
            (now, next) = (now + 2_400, next + MSS);
        }
        now += 20_000;
    }
    let told = t.ends();
    let (said, [_, receiver]) = (answer(&told), roles(&told));
    let idle = said.causes.iter().find(|s| (s.cause, s.by) == (Cause::SenderIdle, Some(receiver)));
    assert!(idle.is_none_or(|s| s.share < 0.05), "{:?}", owners(&said));
}

/// RFC 9293 section 3.10.7.4: an ACK bears SND.NXT. What it numbers and has not come was lost, whatever the program does.
#[test]
fn an_ack_that_is_numbered_beyond_the_data_that_came_tells_of_a_loss() {
    let lost = |tells: bool| {
        let mut t = opened(Vantage::Receiver);
        let mut now = 30;
        for k in 0..8u32 {
            t = t.at(now).data(1 + 500 * k, 500).at(now + 1).request(200);
            now += 21;
        }
        // The answer to the last request is lost; the request is sent again, and what answers it has no data.
        let end = 1 + 500 * 8;
        t = t.at(now + 250).bare(if tells { end + 500 } else { end });
        t = t.at(now + 4_000).data(end, 500).at(now + 4_001).ack(end + 500);
        answer(&t.ends())
    };
    let (told, untold) = (lost(true), lost(false));
    assert!(seconds(&told, Cause::SenderIdle) < 0.5, "{:?}", owners(&told));
    assert!(matches!(told.cause, Cause::LossRandom | Cause::Outage), "{:?}", owners(&told));
    assert_eq!(untold.cause, Cause::SenderIdle, "{:?}", owners(&untold));
}

/// RFC 9293 section 3.9.1.2: a program's last segment has PSH. Where every segment has it none was cut for want of room.
#[test]
fn messages_of_one_size_are_messages_wherever_they_are_seen() {
    for at in [Vantage::Sender, Vantage::Receiver] {
        let mut t = opened(at);
        let back = if at == Vantage::Sender { 20 } else { 0 };
        for k in 0..25u32 {
            let now = 30 + 150 * u64::from(k);
            t = t.at(now).data(1 + 700 * k, 700).at(now + back).ack(1 + 700 * (k + 1));
        }
        let told = t.ends();
        let (said, [sender, _]) = (answer(&told), roles(&told));
        assert_eq!((said.cause, said.by), (Cause::SenderIdle, Some(sender)), "{at:?}: {:?}", owners(&said));
    }
}

/// RFC 6298 section 5: the timer of a FIN starts when it is sent, not when the last data was.
#[test]
fn the_timer_of_a_fin_starts_with_the_fin() {
    // An answer, so that none is waited for.
    let t = opened(Vantage::Sender).at(29).request(100).at(30).data(1, 200).at(50).ack(201);
    let t = t.at(12_000).fin(201).at(12_250).fin(201).at(12_270).ack(202).reply_fin();
    let told = t.ends();
    let said = answer(&told);
    assert_ne!(said.cause, Cause::Timer, "{:?}", owners(&said));
    assert!(said.owed.as_secs() < 1.0, "{:?}", owners(&said));
}

fn upload_that_is_cut_off(close: impl FnOnce(Story, u32) -> Story) -> Answer {
    let mut t = opened(Vantage::Sender);
    let (mut sent, mut acked) = (1, 1);
    for k in 0..100u64 {
        for _ in 0..4 {
            t = t.at_us(30_000 + 20_000 * k).amid_data(sent, MSS);
            sent += MSS;
        }
        if k < 99 {
            acked += 4 * MSS;
            t = t.at(49 + 20 * k).ack(acked);
        }
    }
    answer(&close(t.at(2_040), acked).ends())
}

/// RFC 9293 section 3.6.1: whoever has closed its connection answers what comes then with a reset. That is how a program ends
/// that measures for some seconds; where it had not closed, something went wrong.
#[test]
fn a_program_that_closes_a_transfer_that_goes_on_did_not_hold_it_up() {
    let closed = upload_that_is_cut_off(|t, acked| t.reply_fin_before(acked).at(2_042).refused());
    assert_ne!(closed.cause, Cause::Reset, "{:?}", owners(&closed));
    let told = closed.findings.iter().find(|f| f.kind == Kind::ClosedEarly).expect("a sentence");
    assert!(told.text.contains("closed the connection while data still came: 4.0 kB"), "{}", told.text);
    let cut = upload_that_is_cut_off(|t, _| t.refused());
    assert_eq!(cut.cause, Cause::Reset, "{:?}", owners(&cut));
    assert!(cut.findings.iter().all(|f| f.kind != Kind::ClosedEarly));
}
