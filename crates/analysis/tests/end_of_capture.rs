//! Waits that last to the end of the observation, over connections with parameters drawn from seeds.

mod join_support;
mod story;

use analysis::rows::{Closed, FlowRow, IdleCause, IdleRow, Vantage};
use analysis::{Analyzer, Config, Rows};
use join_support::synthetic::Random;
use join_support::{packets, shared_dir};
use story::{MSS, Story, opened};
use wire::{Endpoint, Flags, Host, Packet, Segment, Span, Time, Tuple};

const SEEDS: std::ops::Range<u64> = 0..60;

fn draw(rng: &mut Random, least: u64, most: u64) -> u64 {
    least + rng.below(most - least)
}

fn analysed(packets: &[Packet], vantage: Vantage) -> Rows {
    let vantage = (vantage != Vantage::Unknown).then_some(vantage);
    let mut analyzer = Analyzer::new(Config { vantage, ..Config::default() }, Rows::default());
    analyzer.push(packets);
    analyzer.finish().1
}

/// The flow with the most bytes, and its gaps.
fn main_flow(rows: &Rows) -> (FlowRow, Vec<IdleRow>) {
    let flow = rows.flows.iter().max_by_key(|f| f.bytes).expect("a flow").clone();
    let idle = rows.idle.iter().filter(|i| i.flow == flow.flow).cloned().collect();
    (flow, idle)
}

/// A packet of other hosts, at that time.
fn elsewhere(ms: u64) -> Packet {
    let end = |host| Endpoint { host: Host::v4([192, 168, 0, host]), port: 7_000 };
    Packet {
        time: Time(ms as i64 * 1_000_000),
        tuple: Tuple { src: end(1), dst: end(2) },
        seg: Segment { flags: Flags::ACK, header_len: 20, ..Segment::default() },
        ..Packet::default()
    }
}

/// How a host probes a closed window.
#[derive(Clone, Copy, Debug)]
enum Probe {
    /// Without data, one below the next byte: Linux.
    Below,
    /// Without data, numbered as the next byte.
    AtNext,
    /// With the next byte.
    OneByte,
}

/// Segments into a window that closes; then probes, with a timer that doubles, answered with a closed window or not at all.
/// The times of the last probe and of its closing, ms, and the number of the next byte.
fn closes(rng: &mut Random, probe: Probe, probes: u32, answered: bool) -> (Story, u64, u64, u32) {
    let (rtt, segments) = (draw(rng, 5, 80), draw(rng, 6, 20) as u32);
    let mut t = opened(Vantage::Sender).window(segments as u16 * MSS as u16);
    let mut now = 100;
    for k in 0..segments {
        now += rtt + 1;
        t = t.at(now).data(1 + k * MSS, MSS);
        now += rtt;
        t = t.window((segments - k - 1) as u16 * MSS as u16).at(now).ack(1 + (k + 1) * MSS);
    }
    let (closed, next) = (now, 1 + segments * MSS);
    let mut wait = draw(rng, 200, 500);
    for _ in 0..probes {
        now += wait;
        wait *= 2;
        t = t.at(now);
        t = match probe {
            Probe::Below => t.bare(next - 1),
            Probe::AtNext => t.bare(next),
            Probe::OneByte => t.data(next, 1),
        };
        if answered {
            t = t.at(now + rtt).ack(next);
        }
    }
    (t, now, closed, next)
}

#[test]
fn a_window_that_stays_closed_is_waited_for_to_the_end_and_its_probes_are_counted() {
    for seed in SEEDS {
        for probe in [Probe::Below, Probe::AtNext, Probe::OneByte] {
            for answered in [false, true] {
                let rng = &mut Random(seed);
                let probes = draw(rng, 2, 9) as u32;
                let (t, last, closed, _) = closes(rng, probe, probes, answered);
                let goes_on = draw(rng, 0, 3) * 50_000;
                let mut all = t.packets().to_vec();
                let mut end = all.last().expect("packets").time;
                if goes_on > 0 {
                    all.push(elsewhere(last + 1_000 + goes_on));
                    end = all.last().expect("packets").time;
                }
                let (flow, idle) = main_flow(&analysed(&all, Vantage::Sender));
                let which = format!("seed {seed}, {probe:?}, answered {answered}, goes on {goes_on}");
                assert_eq!(flow.window_probes, u64::from(probes), "{which}");
                let silent = if answered { 0 } else { u64::from(probes) };
                assert_eq!(flow.window_probes_unanswered, silent, "{which}");
                assert_eq!((flow.end, flow.observed_until), (end, end), "{which}");
                assert_eq!(flow.zero_window_time, end - Time(closed as i64 * 1_000_000), "{which}");
                let shut = idle.last().unwrap_or_else(|| panic!("{which}: no gap"));
                assert_eq!((shut.cause, shut.end), (IdleCause::ZeroWindow, end), "{which}");
                assert!(shut.start <= Time(closed as i64 * 1_000_000), "{which}: {shut:?}");
            }
        }
    }
}

#[test]
fn a_host_that_acknowledges_data_or_answers_an_ack_does_not_probe() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let (mut t, mut now, _, next) = closes(rng, Probe::Below, 0, false);
        // It answers ACKs at once, again and again, and acknowledges the other host's data.
        for _ in 0..draw(rng, 2, 30) {
            now += draw(rng, 1, 400);
            t = t.at(now).ack(next).at_us(now * 1_000 + draw(rng, 5, 900)).bare(next);
        }
        for _ in 0..draw(rng, 2, 5) {
            now += draw(rng, 50, 400);
            t = t.at(now).request(100).at(now + draw(rng, 10, 40)).bare(next);
            now += 40;
        }
        let told = t.ends();
        assert_eq!(told.flow.window_probes, 0, "seed {seed}");
    }
}

#[test]
fn data_that_is_never_acknowledged_is_waited_for_as_long_as_a_timer_may_take() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let (rtt, segments) = (draw(rng, 5, 80), draw(rng, 2, 20) as u32);
        let mut t = opened(Vantage::Sender);
        for k in 0..segments {
            t = t.at(100 + u64::from(k) * 2 * rtt).data(1 + k * MSS, MSS);
            t = t.at(100 + u64::from(k) * 2 * rtt + rtt).ack(1 + (k + 1) * MSS);
        }
        let dies = 100 + u64::from(segments) * 2 * rtt;
        t = t.at(dies).data(1 + segments * MSS, MSS);
        let (mut last, mut wait) = (dies, draw(rng, 200, 400));
        for _ in 0..draw(rng, 0, 6) {
            last += wait;
            wait *= 2;
            t = t.at(last).data(1 + segments * MSS, MSS);
        }
        let goes_on = last + draw(rng, 1_000, 300_000);
        let mut all = t.packets().to_vec();
        all.push(elsewhere(goes_on));
        let (flow, idle) = main_flow(&analysed(&all, Vantage::Sender));
        let waited = goes_on.min(last + 120_000);
        let gap = idle.last().expect("a gap");
        assert_eq!(gap.cause, IdleCause::AckClock, "seed {seed}");
        let span = |from: u64, to: u64| (Time(from as i64 * 1_000_000), Time(to as i64 * 1_000_000));
        assert_eq!((gap.start, gap.end), span(last, waited), "seed {seed}");
        assert_eq!((flow.end, flow.observed_until), span(waited, goes_on), "seed {seed}");

        // A reset ends the wait.
        let reset = last + draw(rng, 500, 900);
        let mut all = t.at(reset).stray_reset().packets().to_vec();
        all.push(elsewhere(goes_on));
        let (flow, idle) = main_flow(&analysed(&all, Vantage::Sender));
        assert_eq!(flow.closed, Closed::Reset);
        assert_eq!((flow.end, flow.observed_until), span(reset, reset), "seed {seed}");
        assert_eq!(idle.last().map(|i| (i.start, i.end)), Some(span(last, reset)), "seed {seed}");
    }
}

#[test]
fn where_nothing_is_awaited_a_flow_ends_with_its_last_packet() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let segments = draw(rng, 1, 30) as u32;
        let mut t = opened(Vantage::Sender);
        for k in 0..segments {
            t = t.at(100 + u64::from(k) * 40).data(1 + k * MSS, MSS);
            t = t.at(120 + u64::from(k) * 40).ack(1 + (k + 1) * MSS);
        }
        let over = 120 + u64::from(segments - 1) * 40;
        let closes = seed % 2 == 0;
        if closes {
            t = t.at(over + 5).fin(1 + segments * MSS).at(over + 25).reply_fin().at(over + 26).ack_of_syn();
        }
        let last = t.packets().last().expect("packets").time;
        let goes_on = over + draw(rng, 1_000, 9_000);
        let mut all = t.packets().to_vec();
        all.push(elsewhere(goes_on));
        let (flow, idle) = main_flow(&analysed(&all, Vantage::Sender));
        // The sender's last ACK is no packet of its data.
        let end = if closes { over + 25 } else { over };
        assert_eq!(flow.end, Time(end as i64 * 1_000_000), "seed {seed}");
        let until = if closes { last } else { Time(goes_on as i64 * 1_000_000) };
        assert_eq!(flow.observed_until, until, "seed {seed}");
        assert!(idle.iter().all(|i| i.end <= last), "seed {seed}: {idle:?}");
    }
}

#[test]
fn a_call_in_vain_ends_where_the_next_syn_would_be_overdue() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let (first, calls) = (draw(rng, 500, 3_000), draw(rng, 2, 6) as u32);
        let mut t = Story::from(Vantage::Unknown);
        let at = |n: u32| first * ((1 << n) - 1);
        for n in 0..calls {
            t = t.at(at(n)).syn();
        }
        let last = at(calls - 1);
        let goes_on = last + draw(rng, 100, 100_000);
        let mut all = t.packets().to_vec();
        all.push(elsewhere(goes_on));
        let rows = analysed(&all, Vantage::Unknown);
        let flow = rows.flows.iter().find(|f| f.syn_retransmissions > 0).expect("a flow");
        let until = Time(goes_on.min(3 * last) as i64 * 1_000_000);
        assert!(flow.is_unanswered() && flow.lost() == flow.end - flow.start, "seed {seed}");
        assert_eq!(flow.end, until, "seed {seed}");
        assert_eq!(rows.idle.last().map(|i| (i.cause, i.end)), Some((IdleCause::Handshake, until)));
    }
}

#[test]
fn captures_of_windows_that_never_opened_say_so() {
    let cases = shared_dir("cases");
    if !cases.exists() {
        println!("skipped: {} is not there", cases.display());
        return;
    }
    for (file, probes, from, to) in
        [("window_closed_A.pcap", 10, 248, 204_860), ("elks1114.pcap", 9, 5_010, 209_900)]
    {
        let all = packets(&cases.join(file));
        let begins = all[0].time;
        let (flow, idle) = main_flow(&analysed(&all, Vantage::Unknown));
        assert_eq!((flow.window_probes, flow.window_probes_unanswered), (probes, probes), "{file}");
        let shut = idle.last().expect("a gap");
        assert_eq!(shut.cause, IdleCause::ZeroWindow, "{file}");
        let ms = |t: Time| (t - begins).0 / 1_000_000;
        assert_eq!((ms(shut.start), ms(shut.end), ms(flow.end)), (from, to, to), "{file}");
        assert!(flow.zero_window_time > Span::from_secs(200), "{file}");
    }
    let (flow, _) = main_flow(&analysed(&packets(&cases.join("ack_loop.pcap")), Vantage::Unknown));
    assert!(flow.window_probes <= 1, "ACKs that answer each other are no probes: {}", flow.window_probes);
}
