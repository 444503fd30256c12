//! What a person is told about real transfers: the verdict and the key sentence, as somebody who knows TCP would
//! put them, from the sender's capture alone unless said.

mod join_support;

use analysis::answer::{Answer, Verdict, answer};
use analysis::limited::limited;
use analysis::rows::{FlowRow, Vantage};
use analysis::{Analyzer, Config, Rows, Wanted};
use join_support::{data_dir, packets};

/// The answer for the flow that moved most.
fn told(file: &str) -> (FlowRow, Answer) {
    told_until(file, usize::MAX)
}

/// The same of the first `n` packets.
fn told_until(file: &str, n: usize) -> (FlowRow, Answer) {
    let config = Config { wanted: Wanted::default(), ..Config::default() };
    let mut analyzer = Analyzer::new(config, Rows::default());
    let mut all = packets(&data_dir().join(file));
    all.truncate(n);
    analyzer.push(&all);
    let (_, rows) = analyzer.finish();
    let flow = rows.flows.iter().max_by_key(|f| f.bytes).unwrap().clone();
    let bursts: Vec<_> = rows.bursts.into_iter().filter(|b| b.flow == flow.flow).collect();
    let episodes: Vec<_> = rows.episodes.into_iter().filter(|e| e.flow == flow.flow).collect();
    let idle: Vec<_> = rows.idle.into_iter().filter(|i| i.flow == flow.flow).collect();
    let rounds: Vec<_> = rows.rounds.into_iter().filter(|r| r.flow == flow.flow).collect();
    let limited = limited(&flow, &bursts, &episodes, &idle, &rounds, &[]);
    let a = answer(&flow, &bursts, &episodes, &idle, &limited, all[0].time);
    (flow, a)
}

fn says(a: &Answer, start: &str) {
    assert!(a.sentences().iter().any(|s| s.starts_with(start)), "{start:?} is not in {:#?}", a.sentences());
}

#[test]
fn a_queue_of_seconds_and_outages_every_five_are_both_the_networks() {
    // The link was busy all the while: nothing cost time, and 16% of the copies were lost.
    let (_, a) = told("interruption.snd.pcap.gz");
    assert_eq!(a.verdict, Verdict::Network);
    assert_eq!(
        a.look_at,
        "the network: a queue of 1.6 s stands at the bottleneck (bufferbloat), and everything vanishes for about 198 \
         ms every 5.00 s; the network held it for 100% of the time, mostly with its bottleneck full, at 5.1 Mbps"
    );
    says(&a, "slow start overran the bottleneck's queue: 919 copies lost");
    says(&a, "3 outages cost 170 ms of 15.4 s (363 copies lost)");
    let o = a.outages.unwrap();
    assert_eq!((o.count, o.rtt_flat_before), (3, 0));
}

#[test]
fn one_outage_that_outlasted_the_window_is_told_beside_the_overshoot_of_slow_start() {
    let (_, a) = told("A1_reno_22M_deep_200ms.snd.pcap.gz");
    assert_eq!(a.verdict, Verdict::Network);
    assert_eq!(
        a.look_at,
        "the network: everything vanishes for 183 ms to 549 ms at 1.44 s; the network held it for 92% of the time, \
         mostly with its bottleneck full, at 21.0 Mbps"
    );
    says(
        &a,
        "1 outage cost 506 ms of 4.3 s (134 copies lost); it ended in a timeout because the window (222 kB) was sent \
         out before the link came back",
    );
    says(&a, "slow start overran the bottleneck's queue: 294 copies lost, at hardly any cost");
}

#[test]
fn two_timeouts_in_one_repair_without_sack_are_an_outage_and_no_fault_of_the_stack() {
    let (_, a) = told("H1_reno_22M_shallow_200ms_nosack.snd.pcap.gz");
    assert_eq!(a.verdict, Verdict::Network);
    assert_eq!(
        a.look_at,
        "the network: everything vanishes for up to 247 ms at 1.49 s (an outage, not congestion: RTT was flat before \
         it); the network held it for 56% of the time, mostly with its bottleneck full, at 19.9 Mbps"
    );
    says(&a, "1 outage cost 526 ms of 5.5 s (33 copies lost); its repair took 2 timeouts because the window");
}

#[test]
fn a_tail_that_was_lost_with_its_repairs_is_no_outage() {
    let (flow, a) = told("E2_reno_22M_tail10_x3.snd.pcap.gz");
    assert_eq!((a.verdict, a.outages.is_none()), (Verdict::Network, true));
    assert_eq!(
        a.look_at,
        "the network: the tail of the data was lost, and so were some of the repairs (33 copies in all, 13 \
         timeouts); the network held it for 64% of the time, mostly with its bottleneck full, at 21.0 Mbps"
    );
    says(&a, "the tail of the data was lost, which cost 5.7 s of 9.5 s (33 copies lost)");
    assert_eq!(flow.lost_copies, Some(328));
}

#[test]
fn bursts_that_no_queue_explains_keep_the_window_small() {
    // Gilbert-Elliott: cheap repairs, but the transfer reaches 15.7 of 22 Mbit/s.
    let (_, a) = told("F1_cubic_22M_GE.snd.pcap.gz");
    assert_eq!((a.verdict, a.outages.is_none()), (Verdict::Network, true));
    assert_eq!(
        a.look_at,
        "the network: 0.8% of the copies are lost, about 5 in a row, with no queue built up before: not congestion; \
         losses held it for 55% of the time, mostly by a small window: 15.7 Mbps of the 21.0 Mbps that the path \
         could carry"
    );
    says(&a, "10 loss episodes cost 87 ms of 5.0 s (54 copies lost)");
    says(&a, "10 loss episodes kept the window small");
}

#[test]
fn outages_that_took_hardly_a_copy_show_by_their_beat() {
    let (_, a) = told("tsoblk.snd.pcap.gz");
    assert_eq!(a.verdict, Verdict::Network);
    assert_eq!(
        a.look_at,
        "the network: everything vanishes for up to 608 ms every 2.54 s; the network held it for 91% of the time, \
         mostly with its bottleneck full, at 47.9 Mbps"
    );
    says(&a, "3 outages cost 934 ms of 10.0 s (4 copies lost); each ended in a timeout because the window");
    says(&a, "slow start overran the bottleneck's queue: 403 copies lost, at hardly any cost");
}

#[test]
fn losses_that_a_full_queue_hides_cost_nothing_and_are_nobodys_fault() {
    let (_, a) = told("tsoloss.snd.pcap.gz");
    assert_eq!((a.verdict, a.outages.is_none()), (Verdict::Nothing, true));
    assert_eq!(
        a.look_at,
        "nothing: this capture shows no lost time; the receiver reset the connection before everything was \
         acknowledged; a queue of 48 ms stood at the bottleneck, so the path was full at 47.9 Mbps for 99% of the time"
    );
    // The time of the test was over.
    says(&a, "the receiver reset the connection at 10.0 s with 96 kB not acknowledged");
}

#[test]
fn a_transfer_without_a_loss_is_told_in_one_sentence() {
    // The first packets of a transfer that slow start has not yet led into the queue's end.
    let (flow, a) = told_until("F1_cubic_22M_GE.snd.pcap.gz", 40);
    assert_eq!((flow.retransmitted_segments, flow.vantage), (0, Vantage::Sender));
    assert_eq!(a.verdict, Verdict::Nothing);
    assert_eq!(a.sentences().len(), 1);
    assert!(a.sentences()[0].starts_with("nothing was lost and nothing held it up"), "{:?}", a.sentences());
}

#[test]
fn where_data_arrives_an_outage_is_a_time_without_any_and_costs_it() {
    let (flow, a) = told("tsoblk.rcv.pcap.gz");
    assert_eq!((flow.vantage, a.verdict), (Vantage::Receiver, Verdict::Network));
    assert!(
        a.look_at.starts_with("the network: nothing arrives for up to 345 ms every 2.5"),
        "{}",
        a.look_at
    );
    says(&a, "3 outages cost 923 ms of 10.1 s");
    // What the receiving host takes to answer is no round trip.
    assert!(a.evidence.iter().all(|e| !e.contains("µs to 0.1 ms")), "{:?}", a.evidence);
}
