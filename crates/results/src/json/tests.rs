use super::*;
use crate::spool::{Listing, Spool};
use analysis::{Sink, Wanted};
use proptest::prelude::*;
use serde_json::Value;
use wire::{Endpoint, Host, Span, Time};

const ORIGIN: Time = Time(1_700_000_000_000_000_000);

fn at_ms(ms: i64) -> Time {
    ORIGIN + Span::from_millis(ms)
}

fn facts() -> Facts {
    Facts { origin: ORIGIN, connections: 2, ..Facts::default() }
}

fn flow(id: FlowId) -> FlowRow {
    FlowRow {
        flow: id,
        sender: Endpoint { host: Host::v4([10, 8, 0, 2]), port: 41822 },
        receiver: Endpoint { host: Host::v6([0x20; 16]), port: 21 },
        vantage: Vantage::Sender,
        start: at_ms(250),
        end: at_ms(2250),
        bytes: 1_000_000,
        segments: 800,
        by_cause: std::array::from_fn(|i| i as u64 + 1),
        retransmitted_segments: 28,
        lost_copies: Some(4),
        rtt_ack: Summary { n: 3, min: 0.038, mean: 0.041, stddev: 0.0012, max: 0.212 },
        ..FlowRow::default()
    }
}

fn read(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(text)))
}

fn whole(shelf: &Shelf) -> Value {
    let mut text = Vec::new();
    write(&mut text, &facts(), shelf, Beside::default()).unwrap();
    read(&text)
}

#[test]
fn a_flow_tells_who_sent_what_when_and_how_fast() {
    let mut spool = Spool::new(Wanted::default());
    spool.flow(&flow(0));
    let answer = whole(&spool.seal());
    let f = &answer["flows"][0];
    assert_eq!(f["sender"], "10.8.0.2:41822");
    assert_eq!(f["receiver"], "[2020:2020:2020:2020:2020:2020:2020:2020]:21");
    assert_eq!((f["start_s"].as_f64(), f["duration_s"].as_f64()), (Some(0.25), Some(2.0)));
    assert_eq!(f["throughput_bps"], 4_000_000);
    assert_eq!(f["rtt"]["ack"]["max_ms"], 212);
    assert_eq!(f["rtt"]["timestamps"]["max_ms"], Value::Null);
    assert_eq!(f["paper_rto"]["loss_percent"].as_f64(), Some(0.5));
    assert_eq!(f["lost"]["segments"], Value::Null, "what is unknown is null");
    assert_eq!(f["limits"], serde_json::json!({}));
}

#[test]
fn causes_stand_under_their_names() {
    let mut spool = Spool::new(Wanted::default());
    spool.flow(&flow(0));
    let counts = &whole(&spool.seal())["flows"][0]["retransmissions"]["by_cause"];
    for (i, cause) in Cause::ALL.iter().enumerate() {
        assert_eq!(counts[cause.name()], i + 1);
    }
    assert_eq!(counts.as_object().unwrap().len(), Cause::ALL.len());
}

#[test]
fn lists_stand_with_their_flow_whatever_the_order_in_which_rows_came() {
    let mut spool = Spool::new(Wanted::default());
    for (id, ms) in [(2, 900), (0, 300), (2, 950), (0, 400)] {
        spool.burst(BurstRow { flow: id, start: at_ms(ms), last: at_ms(ms + 1), ..BurstRow::default() });
        spool.episode(EpisodeRow {
            flow: id,
            start: at_ms(ms),
            first_repair: at_ms(ms + 9),
            ..Default::default()
        });
        spool.idle(IdleRow { flow: id, start: at_ms(ms), end: at_ms(ms + 70), ..IdleRow::default() });
    }
    for id in [2, 1, 0] {
        spool.flow(&flow(id));
    }
    let answer = whole(&spool.seal());
    let starts = |flow: usize, list: &str| -> Vec<f64> {
        let rows = answer["flows"][flow][list].as_array().unwrap();
        rows.iter().map(|r| r["start_s"].as_f64().unwrap()).collect()
    };
    for list in ["bursts", "episodes", "idle"] {
        assert_eq!(starts(0, list), [0.3, 0.4], "{list}");
        assert_eq!(starts(1, list), [0.0; 0], "{list}");
        assert_eq!(starts(2, list), [0.9, 0.95], "{list}");
    }
    assert_eq!(answer["flows"][2]["idle"][0]["length_s"].as_f64(), Some(0.07));
}

#[test]
fn limits_name_only_what_limits() {
    let limits = Limits { mid_stream: true, reordered: 3, ..Limits::default() };
    let mut out = Vec::new();
    write::Put::put(&limits, &mut out);
    assert_eq!(out, br#"{"mid_stream":true,"reordered":3}"#);
}

#[test]
fn totals_add_up_over_flows() {
    let mut spool = Spool::new(Wanted::default());
    spool.flow(&flow(0));
    spool.flow(&FlowRow { lost_copies: None, vantage: Vantage::Receiver, bytes: 10, ..flow(1) });
    let answer = whole(&spool.seal());
    let totals = &answer["totals"];
    assert_eq!((&totals["flows"], &totals["connections"]), (&Value::from(2), &Value::from(2)));
    assert_eq!(totals["retransmissions"]["total"], 56);
    assert_eq!(totals["retransmissions"]["by_cause"]["loss-state"], 2 * (Cause::LossState as u64 + 1));
    assert_eq!(
        (&totals["lost"]["copies"], &totals["lost"]["unknown_flows"]),
        (&Value::from(4), &Value::from(1))
    );
    assert_eq!(answer["capture"]["vantage"], "sender", "where nine tenths of the bytes were seen");
}

#[test]
fn the_overview_has_the_worst_flows_first_and_their_heaviest_rows_in_order_of_time() {
    let mut spool = Spool::new(Wanted::default());
    for i in 0..1000u32 {
        let start = at_ms(i64::from(i));
        spool.burst(BurstRow { flow: 4, start, lost_segments: i % 500, ..BurstRow::default() });
    }
    for id in 0..10 {
        let cost = (id == 4).then_some(Span::from_millis(2100));
        spool.flow(&FlowRow { cost, bytes: u64::from(id), bursts: 1000, ..flow(id) });
    }
    let shelf = spool.seal();
    let page = read(&overview::write(&facts(), &shelf, Beside::default(), 3).unwrap());
    let ids: Vec<u64> =
        page["flows"].as_array().unwrap().iter().map(|f| f["flow"].as_u64().unwrap()).collect();
    assert_eq!(ids, [4, 9, 8]);
    let bursts = page["flows"][0]["bursts"].as_array().unwrap();
    assert_eq!(bursts.len(), 200);
    assert!(bursts.iter().all(|b| b["lost_segments"].as_u64().unwrap() >= 400));
    assert!(bursts.is_sorted_by_key(|b| b["start_s"].as_f64().unwrap()));
    assert_eq!(page["totals"], whole(&shelf)["totals"]);
    assert_eq!(
        read(&overview::write(&facts(), &shelf, Beside::default(), 100).unwrap())["flows"]
            .as_array()
            .unwrap()
            .len(),
        10
    );
}

/// What a spool with this listing tells of flows that end in this order, each (flow, bytes, cost in ms), both flows of a
/// connection together; every third one has a burst, and all have idle gaps that come while other flows go on. All have
/// rounds and waits.
fn told(listing: Listing, flows: &[(u32, u64, i64)]) -> String {
    let mut spool = Spool::listing(Wanted::default(), listing);
    for (i, &(id, ..)) in flows.iter().enumerate() {
        for &(later, ..) in &flows[i..flows.len().min(i + 3)] {
            let start = at_ms(i64::from(later) + i as i64);
            spool.idle(IdleRow { flow: later, start, end: start + Span(9), ..IdleRow::default() });
        }
        if id % 3 == 0 {
            spool.burst(BurstRow { flow: id, lost_segments: id, start: at_ms(1), ..BurstRow::default() });
            spool.episode(EpisodeRow { flow: id, start: at_ms(1), ..EpisodeRow::default() });
        }
        if flows.get(i + 1).is_some_and(|next| next.0 / 2 == id / 2) {
            continue;
        }
        let mut ended = [None, None];
        for &(id, bytes, cost) in flows.iter().filter(|f| f.0 / 2 == id / 2) {
            let cost = (cost > 0).then_some(Span::from_millis(cost));
            ended[id as usize % 2] = Some(FlowRow { bytes, cost, segments: 2, ..flow(id) });
        }
        if spool.wants_all(&ended) {
            for row in ended.iter().flatten() {
                let (start, end) = (at_ms(250), at_ms(250 + i64::from(row.flow % 7) + 1));
                spool.round(RoundRow { flow: row.flow, start, end, ..RoundRow::default() });
                let host = Role::of(row.flow as usize % 2);
                let time = end - start;
                spool.wait(WaitRow {
                    flow: row.flow,
                    start,
                    end,
                    host,
                    time,
                    waits_for: Wait::Ack,
                    ..WaitRow::default()
                });
            }
        }
        spool.connection(&ended);
    }
    let mut text = Vec::new();
    write(&mut text, &facts(), &spool.seal(), Beside::default()).unwrap();
    String::from_utf8(text).unwrap()
}

proptest! {
    #[test]
    fn what_is_kept_for_the_json_alone_tells_the_same_as_what_is_kept_whole(
        flows in prop::collection::btree_map(0u32..5_000, (0u64..50, 0i64..3), 1..300),
        seed in any::<u64>(),
        most in 1usize..320,
    ) {
        let mut flows: Vec<_> = flows.into_iter().map(|(id, (bytes, cost))| (id, bytes, cost)).collect();
        flows.sort_by_key(|f| (u64::from(f.0 / 2) + 1).wrapping_mul(seed | 1)); // connections end in any order
        let narrow = told(Listing { most: Some(most), only: true }, &flows);
        let whole = told(Listing { most: Some(most), only: false }, &flows);
        prop_assert_eq!(&narrow, &whole);
        let answer = read(narrow.as_bytes());
        let listed = flows.len().min(most);
        prop_assert_eq!(answer["flows"].as_array().unwrap().len(), listed);
        prop_assert_eq!(&answer["flows_listed"], listed);
        prop_assert_eq!(&answer["flows_left_out"], flows.len() - listed);
        prop_assert_eq!(&answer["totals"], &read(told(Listing::default(), &flows).as_bytes())["totals"]);
    }
}

#[test]
fn the_flows_that_are_listed_are_those_that_cost_most_in_order_of_their_ids() {
    let flows: Vec<(u32, u64, i64)> = (0..100).rev().map(|id| (id, 100, i64::from(id % 10))).collect();
    let answer = read(told(Listing { most: Some(12), only: true }, &flows).as_bytes());
    let ids: Vec<u64> =
        answer["flows"].as_array().unwrap().iter().map(|f| f["flow"].as_u64().unwrap()).collect();
    // All that cost 9 ms, and of those that cost 8 ms the two earliest.
    assert_eq!(ids, [8, 9, 18, 19, 29, 39, 49, 59, 69, 79, 89, 99]);
    assert_eq!(answer["totals"]["flows"], 100);
}

#[test]
fn a_writer_that_fails_ends_the_writing_with_its_reason() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut spool = Spool::new(Wanted::default());
    spool.flow(&flow(0));
    let failed = write(Full, &facts(), &spool.seal(), Beside::default()).unwrap_err();
    assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
}
