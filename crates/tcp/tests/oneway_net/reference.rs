//! Reads ns-2.35's traces and compares a run with them.

use super::{BS_FH, BS_MH, FH_BS, Line, MH_BS, Net, What};
use flate2::read::GzDecoder;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use wire::time::{Span, Time};

/// Printed with six digits, so half a microsecond may be rounding; the rest is ours.
const EVENT_TOLERANCE_S: f64 = 1.5e-6;
/// Printed with five digits.
const STATE_TOLERANCE_S: f64 = 0.6e-5;

/// A line of a reference file: time, seconds; event or variable; packet or value.
pub type Row = (f64, String, String);

pub fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference").join(name)
}

/// All rows of `in_folder`'s file but the header.
pub fn read(in_folder: &str, name: &str) -> Vec<Row> {
    let path = folder(in_folder).join(name);
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().skip(1).map(row).collect()
}

fn row(line: &str) -> Row {
    let mut columns = line.split(',');
    let mut next = || columns.next().expect("three columns").to_string();
    (next().parse().expect("a time"), next(), next())
}

/// Sends at FH, arrivals at MH, ACKs at FH and drops: all of them, in the same order, at the same time.
pub fn matches_events(net: &Net, want: &[Row]) -> Result<usize, String> {
    let got: Vec<Row> = net.lines.iter().filter_map(|l| event(l).map(|name| named(l, name))).collect();
    same(&got, want, EVENT_TOLERANCE_S)
}

fn event(line: &Line) -> Option<&'static str> {
    Some(match (line.what, line.link) {
        (What::Enqueue, FH_BS) => "send",
        (What::Arrive, BS_MH) => "arrive",
        (What::Arrive, BS_FH) => "ack",
        (What::Drop, FH_BS | BS_MH) => "drop",
        (What::Drop, MH_BS | BS_FH) => "drop_ack",
        _ => return None,
    })
}

/// Every hop, with outages. Drops at the moment that a link goes down come in any order.
pub fn matches_outage(net: &Net, want: &[Row]) -> Result<usize, String> {
    let mut highest = -1;
    let mut got: Vec<Row> =
        net.lines.iter().filter_map(|l| hop(l, &mut highest).map(|name| named(l, name))).collect();
    let mut want: Vec<Row> = want.iter().filter(|r| !r.1.starts_with("link_")).cloned().collect();
    for rows in [&mut got, &mut want] {
        rows.sort_by(|a, b| (micros(a.0), &a.1, &a.2).cmp(&(micros(b.0), &b.1, &b.2)));
    }
    same(&got, &want, EVENT_TOLERANCE_S)
}

/// In ten microseconds, rounded, so that what happens together sorts together.
fn micros(s: f64) -> i64 {
    (s * 1e5).round() as i64
}

fn hop(line: &Line, highest: &mut i64) -> Option<&'static str> {
    Some(match (line.what, line.link) {
        (What::Enqueue, FH_BS) if line.number <= *highest => "data_retransmit_enqueue_FH",
        (What::Enqueue, FH_BS) => {
            *highest = line.number;
            "data_enqueue_FH"
        }
        (What::Start, FH_BS) => "data_tx_start_FH",
        (What::Arrive, FH_BS) => "data_arrive_BS",
        (What::Start, BS_MH) => "data_tx_start_BS",
        (What::Arrive, BS_MH) => "data_arrive_MH",
        (What::Enqueue, MH_BS) => "ack_send_MH",
        (What::Arrive, MH_BS) => "ack_arrive_BS",
        (What::Arrive, BS_FH) => "ack_arrive_FH",
        (What::Drop, FH_BS | BS_MH) => "data_drop",
        (What::Drop, _) => "ack_drop",
        (What::DropUnseen, FH_BS | BS_MH) => "data_drop_linkdown_untraced",
        _ => return None,
    })
}

fn named(line: &Line, name: &str) -> Row {
    (line.at.as_secs(), name.to_string(), line.number.to_string())
}

/// The traced variables wherever they change, to their printed digits. ns-2 traces each assignment; what is left
/// when the event is over is what counts here. `tick`: of the agent, as `rtt_` is printed in seconds.
pub fn matches_state(net: &Net, tick: Span, want: &[Row]) -> Result<usize, String> {
    let mut got = Vec::new();
    for s in &net.states {
        let t = digits(s.at);
        got.push((t, "cwnd_".into(), format!("{:.3}", s.view.cwnd)));
        got.push((t, "ssthresh_".into(), s.view.ssthresh.to_string()));
        got.push((t, "dupacks_".into(), s.view.dupacks.to_string()));
        got.push((t, "backoff_".into(), s.view.backoff.to_string()));
        got.push((t, "rtt_".into(), format!("{:.3}", f64::from(s.view.rtt_ticks) * tick.as_secs())));
    }
    for name in ["cwnd_", "ssthresh_", "dupacks_", "backoff_", "rtt_"] {
        let of = |rows: &[Row]| settled(rows.iter().filter(|r| r.1 == name));
        let (got, want) = (of(&got), of(want));
        if !want.is_empty() {
            same(&got, &want, STATE_TOLERANCE_S)?;
        }
    }
    Ok(want.len())
}

/// As printed with five digits.
fn digits(t: Time) -> f64 {
    (t.as_secs() * 1e5).round() / 1e5
}

/// The last value at each time, where it differs from the one before.
fn settled<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::new();
    for r in rows {
        match out.last_mut() {
            Some(last) if (last.0 - r.0).abs() < STATE_TOLERANCE_S => *last = r.clone(),
            _ => out.push(r.clone()),
        }
    }
    out.dedup_by(|b, a| a.2 == b.2);
    out
}

fn same(got: &[Row], want: &[Row], tolerance_s: f64) -> Result<usize, String> {
    for (at, (g, w)) in got.iter().zip(want).enumerate() {
        if (g.0 - w.0).abs() > tolerance_s || g.1 != w.1 || g.2 != w.2 {
            return Err(format!("row {at}: {g:?}, ns-2.35 has {w:?}"));
        }
    }
    if got.len() != want.len() {
        return Err(format!("{} rows, ns-2.35 has {}{}", got.len(), want.len(), tally(got, want)));
    }
    Ok(want.len())
}

fn tally(got: &[Row], want: &[Row]) -> String {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    got.iter().for_each(|r| counts.entry(&r.1).or_default().0 += 1);
    want.iter().for_each(|r| counts.entry(&r.1).or_default().1 += 1);
    let mut odd: Vec<_> = counts.into_iter().filter(|(_, (g, w))| g != w).collect();
    odd.sort_unstable();
    odd.iter().map(|(name, (g, w))| format!("; {name}: {g} against {w}")).collect()
}
