//! One flow on which rexmit fails takes no other flow's answer with it, on however many threads, and is told itself.

mod busy;

use analysis::Config;
use analysis::fault::{Trip, TripAt};
use busy::{Folder, busy};
use results::json;
use results::run::{self, Request};
use serde_json::Value;

/// The port of the second of the connections of `busy`.
const PORT: u16 = 40_007;

/// The answer, whether anything failed, and each flow's text but for its number.
fn told(request: &Request, trip: Option<TripAt>) -> (Value, bool) {
    let config = Config { trip: trip.map(|at| Trip { port: PORT, at }), ..request.config.clone() };
    let found = run::analyze(&Request { config, ..request.clone() }, None, &mut |_| true).expect("an answer");
    let mut out = Vec::new();
    json::write(&mut out, &found.facts, &found.shelf, json::Beside::default()).expect("memory takes it");
    (serde_json::from_slice(&out).expect("JSON"), found.has_failed())
}

fn is_its(flow: &Value) -> bool {
    let port = format!(":{PORT}");
    ["sender", "receiver"].iter().any(|end| flow[end].as_str().expect("text").ends_with(&port))
}

/// The flows of all other connections, without the numbers that a connection more or less moves.
fn others(answer: &Value) -> Vec<Value> {
    let flows = answer["flows"].as_array().expect("a list");
    let without = |flow: &Value| {
        let mut flow = flow.clone();
        flow.as_object_mut().expect("an object").remove("flow");
        flow["answer"].as_object_mut().expect("an answer").remove("connection");
        flow
    };
    flows.iter().filter(|flow| !is_its(flow)).map(without).collect()
}

fn faults(answer: &Value) -> Vec<&str> {
    let flows = answer["flows"].as_array().expect("a list");
    flows.iter().filter(|flow| is_its(flow)).filter_map(|flow| flow["fault"].as_str()).collect()
}

fn holds(request: &Request, at: TripAt, place: &str) {
    let (whole, nothing_failed) = told(&Request { threads: 1, ..request.clone() }, None);
    assert!(!nothing_failed && faults(&whole).is_empty() && !others(&whole).is_empty());
    let (one, failed) = told(&Request { threads: 1, ..request.clone() }, Some(at));
    assert!(failed, "{at:?}");
    let said = faults(&one);
    assert!(!said.is_empty(), "{at:?}: the flow is told");
    let (begins, why) = (format!("failed at crates/analysis/src/{place}"), "(a test had it fail)");
    assert!(said.iter().all(|said| said.contains(&begins) && said.contains(why)), "{at:?}: {said:?}");
    assert_eq!(others(&one), others(&whole), "{at:?}: the others are told in full");
    for threads in [2, 3, 4, 16] {
        assert_eq!(
            told(&Request { threads, ..request.clone() }, Some(at)).0,
            one,
            "{at:?}, {threads} threads"
        );
    }
}

#[test]
fn a_flow_that_fails_is_told_and_the_others_are_answered() {
    let folder = Folder::new();
    // Three connections, and so many that they are looked up ahead.
    for (seed, packets, pairs) in [(1, 12_000, 3), (5, 24_000, 60)] {
        let request =
            Request { paths: vec![folder.file("busy", &busy(seed, packets, pairs))], ..Request::default() };
        for (at, place) in [
            (TripAt::Grows, "analyzer.rs:"),
            (TripAt::Resends, "stream/resend.rs:"),
            (TripAt::Ends, "analyzer.rs:"),
        ] {
            holds(&request, at, place);
        }
    }
}

#[test]
fn of_two_captures_a_connection_that_cannot_be_compared_is_told() {
    let folder = Folder::new();
    let sent = busy(5, 10_000, 20);
    let mut arrived = sent[..24].to_vec();
    for (_, record) in sent[24..].chunks(68).enumerate().filter(|(n, _)| n % 7 != 3) {
        let nanoseconds = u32::from_le_bytes(record[4..8].try_into().expect("four bytes"));
        arrived.extend(
            [&record[..4], &(nanoseconds + 5_000).min(999_999_999).to_le_bytes(), &record[8..]].concat(),
        );
    }
    let pair = Request {
        paths: vec![folder.file("sent", &sent)],
        receiver: vec![folder.file("arrived", &arrived)],
        ..Request::default()
    };
    holds(&pair, TripAt::Resends, "stream/resend.rs:");
    holds(&pair, TripAt::Ends, "analyzer.rs:");
    // The others are compared with the rest of the other capture.
    let (one, failed) = told(&pair, Some(TripAt::Misses));
    assert!(failed && one["capture"]["pair"]["matched_packets"].as_u64().expect("a number") > 1_000);
    let said = faults(&one);
    assert!(
        !said.is_empty()
            && said.iter().all(|s| s.starts_with("compared with the other capture, rexmit failed at")),
        "{said:?}"
    );
    assert!(others(&one).iter().all(|flow| flow.get("fault").is_none()));
    for threads in [2, 4] {
        assert_eq!(told(&Request { threads, ..pair.clone() }, Some(TripAt::Misses)).0, one);
    }
}
