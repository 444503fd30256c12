//! Small conversations, packet by packet, and what they waited for.

mod explained;
#[path = "../../analysis/tests/join_support/mod.rs"]
mod join_support;
#[path = "../../analysis/tests/story/mod.rs"]
mod story;

use analysis::rows::{Role, Vantage};
use analysis::{Analyzer, Config, Rows, Wanted};
use explain::answer::Answer;
use explain::cause::Cause;
use explain::certainty::Certainty;
use explained::{answer, answer_of};
use join_support::{data_dir, packets};
use story::{
    MSS, never_answered, opened, opened_by_the_third_syn, repairs_lost_in_an_outage,
    small_pieces_behind_delayed_acks,
};

/// The answer for the connection that moved most of a capture in tests/data.
fn of_file(file: &str) -> Answer {
    let config = Config { wanted: Wanted::default(), ..Config::default() };
    let mut analyzer = Analyzer::new(config, Rows::default());
    analyzer.push(&packets(&data_dir().join(file)));
    let (_, rows) = analyzer.finish();
    let flow = rows.flows.iter().max_by_key(|f| f.bytes).expect("a flow").flow;
    answer_of(&rows, flow / 2)
}

fn owners(answer: &Answer) -> Vec<(Cause, Option<Role>)> {
    answer.causes.iter().map(|s| (s.cause, s.by)).collect()
}

#[test]
fn syns_that_were_lost_own_what_the_handshake_took_from_the_first_on() {
    let said = answer(&opened_by_the_third_syn().ends());
    assert_eq!((said.cause, said.certainty), (Cause::Handshake, Certainty::Known));
    assert!(said.text.contains("2 SYNs or SYN-ACKs had to be sent again"), "{}", said.text);
}

#[test]
fn a_host_that_is_never_answered_waits_in_the_handshake() {
    let said = answer(&never_answered());
    assert_eq!((said.cause, said.certainty), (Cause::Handshake, Certainty::Known));
    assert!(said.text.starts_with("The connection was never opened"), "{}", said.text);
    assert!(said.limits.iter().all(|l| !l.contains("one direction")), "{:?}", said.limits);
}

#[test]
fn small_pieces_that_wait_for_a_delayed_ack_are_held_back_by_nagle() {
    let said = answer(&small_pieces_behind_delayed_acks().ends());
    assert_eq!(said.cause, Cause::DelayedAck, "{:?}", owners(&said));
    assert!(said.text.contains("Nagle"), "{}", said.text);
}

#[test]
fn a_server_that_takes_long_to_answer_owns_the_time() {
    for at in [Vantage::Sender, Vantage::Receiver] {
        let mut t = opened(at);
        let (there, back) = if at == Vantage::Receiver { (20, 0) } else { (0, 20) };
        let mut now = 30;
        for k in 0..8 {
            t = t.at(now).request(200);
            now += 400 + there;
            t = t.at(now).data(1 + k * MSS, MSS);
            now += back;
            t = t.at(now).ack(1 + (k + 1) * MSS);
            now += 1;
        }
        let told = t.ends();
        let said = answer(&told);
        let server = Role::of((told.flow.flow % 2) as usize);
        assert_eq!((said.cause, said.by), (Cause::SenderIdle, Some(server)), "{at:?}: {:?}", owners(&said));
    }
}

#[test]
fn a_window_that_stays_closed_owns_the_time_to_the_end() {
    let t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).window(0).ack(1 + MSS);
    // RFC 9293 section 3.8.6.1: the sender asks again and again whether it has been opened.
    let t = t.at(250).bare(MSS).at(270).ack(1 + MSS).at(650).bare(MSS).at(670).ack(1 + MSS);
    let said = answer(&t.ends());
    assert_eq!(said.cause, Cause::ReceiverNotReading, "{:?}", owners(&said));
}

#[test]
fn a_reset_that_cuts_data_off_is_the_answer_and_one_behind_the_last_ack_is_not() {
    let mut t = opened(Vantage::Sender);
    for k in 0..20 {
        t = t.at(30 + u64::from(k)).data(1 + k * MSS, MSS);
    }
    let cut = answer(&t.clone().at(60).ack(1 + 10 * MSS).at(90).refused().ends());
    assert_eq!((cut.cause, cut.certainty), (Cause::Reset, Certainty::Known), "{:?}", owners(&cut));
    let done = answer(&t.at(60).ack(1 + 20 * MSS).at(90).refused().ends());
    assert_ne!(done.cause, Cause::Reset, "{:?}", owners(&done));
}

#[test]
fn the_seconds_of_all_owners_add_up_in_captures_of_real_transfers() {
    for file in [
        "interruption.snd.pcap.gz",
        "tsoblk.rcv.pcap.gz",
        "F1_cubic_22M_GE.snd.pcap.gz",
        "tsoloss.snd.pcap.gz",
    ] {
        let said = of_file(file);
        let sum = said.causes.iter().fold(wire::Span::ZERO, |sum, s| sum + s.time);
        assert_eq!(sum, said.owed, "{file}");
        assert!(!said.causes.is_empty() && !said.text.is_empty(), "{file}");
    }
}

#[test]
fn outages_of_real_transfers_are_found_beside_the_cause() {
    // The link was busy all the while: three outages of 200 ms every five seconds, behind a queue of 1.6 s.
    let said = of_file("interruption.snd.pcap.gz");
    let found = said.outages.iter().flatten().next().expect("outages");
    assert_eq!((found.count, found.rtt_flat_before), (3, 0));
}

#[test]
fn an_outage_lasts_as_long_as_its_repairs_are_lost_in_it() {
    let said = answer(&repairs_lost_in_an_outage().ends());
    assert_eq!(said.cause, Cause::Outage, "{:?}", owners(&said));
    let outages = said.outages.iter().flatten().next().expect("one outage");
    assert_eq!((outages.count, outages.length_s), (1, None));
    // From 60 to 1000 ms at least, less what the first waited in the queue; to 2200 ms at most.
    assert!((0.85..=0.94).contains(&outages.at_least_s), "{outages:?}");
    assert_eq!(outages.at_most_s, Some(2.14));
}
