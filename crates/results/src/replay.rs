//! A transfer out of a capture, replayed through stacks: which connection, whether it can be, and the answer as JSON.

mod ranking;

pub use ranking::{Like, infer, rank};

use crate::json::write::{By, Put, members, object};
use crate::run;
use crate::spool::Shelf;
use analysis::rows::{FlowRow, Vantage};
use capture::{Options, Patience, Progress};
use replay::{Count, Difference, Kind, Replay, Transfer};
use std::collections::HashMap;
use std::path::PathBuf;
use tcp::stack;
use wire::{Endpoint, Packet, Span, Time};

/// What is to be replayed.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub paths: Vec<PathBuf>,
    pub options: Options,
    /// Where it was captured, if the user says so.
    pub at: Option<Vantage>,
}

/// One connection of a capture, ready to be replayed.
pub struct Loaded {
    capture: String,
    flow: FlowRow,
    transfer: Transfer,
}

impl Loaded {
    fn put_head(&self, out: &mut Vec<u8>) {
        members!(out, "",
            "capture": self.capture,
            "sender": self.flow.sender,
            "receiver": self.flow.receiver,
            "mid_stream": self.transfer.assumed().map(|assumed| By(move |out: &mut Vec<u8>| {
                object!(out, "assumed": assumed);
            })),
        );
    }
}

/// Reads the capture twice: for the connection with the most data and where it was captured, then for its packets.
pub fn load(
    request: &Request,
    patience: Option<Patience>,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<Loaded, String> {
    let mut seen = run::Request {
        paths: request.paths.clone(),
        options: request.options.clone(),
        ..run::Request::default()
    };
    seen.config.vantage = request.at;
    let findings = run::analyze(&seen, patience, go_on)?;
    load_of(&findings.shelf, &request.paths, &request.options)
}

/// The same of a capture that was analysed: its packets are read once more.
fn load_of(shelf: &Shelf, paths: &[PathBuf], options: &Options) -> Result<Loaded, String> {
    let capture = paths.iter().map(|p| capture::shown(p)).collect::<Vec<_>>().join(", ");
    let mut largest: Option<FlowRow> = None;
    let mut connections: HashMap<(Endpoint, Endpoint), u32> = HashMap::new();
    for row in shelf.rows::<FlowRow>().map_err(|e| e.to_string())? {
        let row = row.map_err(|e| e.to_string())?;
        *connections.entry((row.sender, row.receiver)).or_default() += 1;
        if largest.as_ref().is_none_or(|l| row.bytes > l.bytes) {
            largest = Some(row);
        }
    }
    let Some(flow) = largest.filter(|f| f.bytes > 0) else {
        return Err(format!("{capture}: no connection in it sent data: there is nothing to replay"));
    };
    let place = format!("{capture}: {} to {}", flow.sender, flow.receiver);
    seen_by_its_sender(flow.vantage).map_err(|why| format!("{place} {why}"))?;
    let options = Options { flow: Some((flow.sender, flow.receiver)), ..options.clone() };
    // Connections before or after this one may have used the same ports.
    let alone = connections.get(&(flow.sender, flow.receiver)) == Some(&1);
    let of_it = |p: &Packet| alone || (flow.start..=flow.end).contains(&p.time);
    let packets = packets(paths, &options, of_it)?;
    let transfer =
        Transfer::new(&packets, flow.sender).map_err(|unknown| format!("{place} {}", unknown.says()))?;
    Ok(Loaded { capture, flow, transfer })
}

/// When an ACK reached the sender, and what it sent then, is known at its host only.
fn seen_by_its_sender(vantage: Vantage) -> Result<(), String> {
    let place = match vantage {
        Vantage::Sender | Vantage::Both => return Ok(()),
        Vantage::Receiver => "was captured at its receiver",
        Vantage::Middle => "was captured between its hosts",
        Vantage::Unknown => "does not tell where it was captured",
    };
    Err(format!(
        "{place}: when each ACK reached the sender is not in it, so it cannot be replayed; capture at the sender (if this is one, say --at sender)"
    ))
}

fn packets(
    paths: &[PathBuf],
    options: &Options,
    of_it: impl Fn(&Packet) -> bool,
) -> Result<Vec<Packet>, String> {
    let mut reader = capture::open(paths, options).map_err(|e| e.to_string())?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while reader.read_batch(&mut batch, run::BATCH) {
        all.extend(batch.iter().filter(|p| of_it(p)));
    }
    Ok(all)
}

/// What a real endpoint is made of; a one-way agent hears no segments.
fn endpoint(stack: &stack::Stack) -> Result<&stack::Wire, String> {
    match &stack.kind {
        stack::Kind::Wire(wire) => Ok(wire),
        stack::Kind::OneWay(_) => Err(format!(
            "{} is a one-way agent, which hears no segments: name a real endpoint (rexmit stacks)",
            stack.name
        )),
    }
}

/// The answer about one stack; `most` differences are listed.
pub fn write(loaded: &Loaded, stack: &stack::Stack, most: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let found = replay::replay(&loaded.transfer, endpoint(stack)?);
    out.push(b'{');
    loaded.put_head(out);
    out.push(b',');
    put_found(stack, &found, loaded.flow.start, most, out);
    out.push(b'}');
    Ok(())
}

/// What a replay through a stack found, as members.
fn put_found(stack: &stack::Stack, found: &Replay, start: Time, most: usize, out: &mut Vec<u8>) {
    let told = |d: &Difference| {
        let d = *d;
        By(move |out: &mut Vec<u8>| put_difference(&d, start, out))
    };
    let listed: Vec<_> = found.differences.iter().take(most).map(told).collect();
    members!(out, "",
        "stack": stack.name,
        "assumed": stack.assumed,
        "sends": found.all.sends,
        "right": found.all.right,
        "by_state": {
            "open": counted(found.open),
            "recovery": counted(found.recovery),
            "loss": counted(found.loss),
            "retransmissions": counted(found.retransmissions),
        },
        "null_right": found.all.null_right,
        found.{ application, packet_ends, overtaken, held_back, paced },
        "remembered_dupthresh": found.remembered,
        "send_buffer_bytes": found.buffer,
        "differences": By(|out: &mut Vec<u8>| put_kinds(found, out)),
        "apart_s": { "median": quantile(found, 0.5), "p99": quantile(found, 0.99) },
        "first_difference": found.differences.first().map(told),
        "listed": listed,
        "unusable": {
            "sends": found.unusable.sends(),
            "other_bounds": found.unusable.other_bounds,
            "acknowledged": found.unusable.acknowledged,
            "missing": found.unusable.missing,
        },
        "entered": found.entered.map(|e| By(move |out: &mut Vec<u8>| {
            object!(out, "not_judged": e.not_judged, "cwnd": e.cwnd, "slow_start": e.slow_start);
        })),
    );
}

fn put_kinds(found: &Replay, out: &mut Vec<u8>) {
    let of = |kind: Kind| found.differences.iter().filter(|d| d.kind == kind).count();
    object!(out,
        "not_made": of(Kind::NotMade),
        "made_besides": of(Kind::MadeBesides),
        "timer_off": of(Kind::TimerOff),
    );
}

fn counted(c: Count) -> impl Put {
    By(move |out: &mut Vec<u8>| object!(out, "sends": c.sends, "right": c.right, "null_right": c.null_right))
}

fn put_difference(d: &Difference, start: Time, out: &mut Vec<u8>) {
    object!(out,
        "kind": d.kind.name(),
        "at": d.at - start,
        d.{ packet, offset, payload, again },
        "state": d.state.name(),
        d.{ pipe, cwnd, ssthresh },
        "off_s": d.off,
    );
}

fn quantile(found: &Replay, q: f64) -> Option<Span> {
    let last = found.apart.len().checked_sub(1)?;
    found.apart.get((last as f64 * q) as usize).copied()
}
