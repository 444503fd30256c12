//! A capture is analysed, and every output is made of what was found.

use super::{is_a_sentence, is_json, read_json};
use crate::choices::Choices;
use crate::{capture as built, scratch};
use analysis::Wanted;
use analysis::rows::Vantage;
use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use capture::Options;
use results::json::{self, Beside};
use results::run::{Findings, Request, analyze};
use results::spool::{Listing, Table};
use results::{annotate, connections, tables};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use wire::Span;

/// Bytes at the start of an input that choose what is asked; the capture, or the decisions that build it, follow.
pub const HEAD: usize = 8;

/// The capture of an input.
pub fn capture_of(bytes: &[u8]) -> Vec<u8> {
    let (is_built, body) = (bytes.first().is_some_and(|b| b & 1 == 1), bytes.get(HEAD..).unwrap_or(&[]));
    if is_built { built::build(&mut Choices::new(body)) } else { body.to_vec() }
}

/// The question that the head of an input asks.
pub fn request(head: &[u8], paths: Vec<PathBuf>) -> Request {
    let head = head.get(1..HEAD.min(head.len())).unwrap_or(&[]);
    let mut c = Choices::new(head);
    let mut request = Request { paths, threads: 1, ..Request::default() };
    let all = c.in_256(128);
    request.config.wanted = Wanted { retransmissions: all, intervals: all, rtts: all, packets: all };
    request.options = Options { verify_checksums: c.in_256(40), ..Options::default() };
    if c.in_256(24) {
        request.config.vantage = Some(c.pick(&[Vantage::Sender, Vantage::Receiver, Vantage::Middle]));
    }
    if c.in_256(20) {
        let seconds = |s: f64| Some(Span::from_secs_f64(s));
        let (from, to) = c.pick(&[(0.0, 1.0), (0.1, 0.2), (0.0, 0.0), (1e9, 2e9), (5.0, 1.0)]);
        (request.options.from, request.options.to) = (seconds(from), seconds(to));
    }
    if c.in_256(16) {
        request.config.interval = Span::from_secs_f64(c.pick(&[1e-9, 1e-3, 0.1, 1e9]));
    }
    if c.in_256(40) {
        request.listing = Listing { most: Some(c.pick(&[0, 1, 10_000])), only: c.in_256(128) };
    }
    request
}

pub fn run(bytes: &[u8]) {
    let path = scratch::file("a.pcap", &capture_of(bytes));
    let mut request = request(bytes, vec![path.clone()]);
    let found = analyze(&request, None, &mut |_| true);
    let one = told(found, |found| everything(found, &path));
    // Few inputs are analysed on several threads, as starting these takes longer than most analyses.
    if bytes.get(1).is_some_and(|b| b % 16 == 0) {
        for threads in [2, 4] {
            request.threads = threads;
            let several = told(analyze(&request, None, &mut |_| true), answer);
            assert!(one == several, "another answer on {threads} threads");
        }
        traffic(bytes, &path);
    }
}

/// The answer, or the sentence that says why there is none.
pub fn told(found: Result<Findings, String>, answer: impl FnOnce(&Findings) -> Vec<u8>) -> Vec<u8> {
    match found {
        Ok(found) => answer(&found),
        Err(why) => {
            is_a_sentence(&why);
            why.into_bytes()
        }
    }
}

pub fn answer(found: &Findings) -> Vec<u8> {
    let mut text = Vec::new();
    json::write(&mut text, &found.facts, &found.shelf, Beside::default()).expect("rows can be read back");
    // A panic in the analysis of a flow is caught and told: here it is what is looked for.
    assert!(!found.has_failed(), "a flow was given up: {}", String::from_utf8_lossy(&text));
    text
}

/// The flows of an answer.
#[derive(Deserialize)]
struct Answer {
    flows: Vec<Flow>,
}
#[derive(Deserialize)]
struct Flow {
    flow: u32,
}

/// Makes every output of what was found; returns the JSON.
pub fn everything(found: &Findings, path: &Path) -> Vec<u8> {
    let text = answer(found);
    let whole: Answer = read_json(&text);
    let page = json::overview::write(&found.facts, &found.shelf, Beside::default(), 5);
    is_json(&page.expect("rows can be read back"));
    for flow in whole.flows.iter().take(3) {
        let of = json::overview::flows(&found.facts, &found.shelf, Beside::default(), &[flow.flow]);
        of.expect("rows can be read back").values().for_each(|text| is_json(text));
    }
    for table in Table::ALL.into_iter().filter(|t| found.shelf.holds(*t)) {
        let stream = tables::stream(&found.shelf, table).expect("a table has a stream");
        let batches = RecordBatchStreamReader::try_new(stream).expect("a stream can be read");
        let columns = batches.schema().fields().len();
        let rows: usize = batches.map(|batch| batch.expect("a batch").num_rows()).sum();
        assert!(columns > 0 && rows as u64 == found.shelf.len(table), "{}", table.name());
    }
    if found.shelf.holds(Table::Retransmissions) && found.shelf.holds(Table::Packets) {
        let owners = connections::owners(&found.facts, &found.shelf, None).expect("rows can be read back");
        let comments = annotate::comments(&found.shelf, &owners).expect("rows can be read back");
        let out = scratch::folder().join("annotated.pcapng");
        if let Err(e) = capture::annotate(&[path.to_path_buf()], &out, "", comments, |_| true) {
            is_a_sentence(&e.to_string());
        }
    }
    text
}

fn traffic(bytes: &[u8], path: &Path) {
    let width = [1.0, 0.1, 1e-3, 1e6][usize::from(bytes.get(2).copied().unwrap_or(0) % 4)];
    let width = Span::from_secs_f64(width);
    match capture::traffic(&[path.to_path_buf()], width, None, |_| true) {
        Ok(found) => is_json(&results::traffic::Counted { found, width }.json()),
        Err(e) => is_a_sentence(&e.to_string()),
    }
}
