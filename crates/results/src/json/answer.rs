//! The answer about a connection, the same for both of its flows: the words of `explain` about its rows.

use super::lists::put_sure;
use super::write::{By, Put, members, object};
use crate::connections::{Connection, Connections, Direction};
use crate::facts::Facts;
use crate::spool::Shelf;
use crate::told::Told;
use analysis::rows::*;
use explain::answer::{Answer, PathWords, Share};
use explain::conversation::Rows;
use explain::findings::Finding;
use explain::outages::{Dark, Outages};
use std::io;
use wire::{Span, Time};

/// Where there is no answer.
const NONE: &[u8] = br#","path":null,"outages":null,"answer":null"#;

/// What is written of the connection that was asked for last, for each of its flows.
struct Written {
    connection: Connection,
    /// `,"path":…,"outages":…` of the client's flow and of the server's.
    of_flow: [Vec<u8>; 2],
    /// `,"answer":…`, and the fault if there is none.
    answer: Vec<u8>,
}

/// Writes the answers of flow after flow, in order of their ids.
pub struct Answers<'a> {
    facts: &'a Facts,
    connections: Connections<'a>,
    written: Option<Written>,
}

impl<'a> Answers<'a> {
    pub fn of(shelf: &'a Shelf, facts: &'a Facts, told: Option<&'a Told>) -> io::Result<Answers<'a>> {
        Ok(Answers { facts, connections: Connections::of(shelf, facts.origin, told)?, written: None })
    }

    /// Reads what is to be said of a flow; gives its rows where they were all read. Flows come in order of their ids.
    pub fn read(&mut self, flow: &FlowRow) -> io::Result<Option<&Direction>> {
        if self.facts.withheld || flow.fault.is_some() {
            self.written = None;
            return Ok(None);
        }
        let connection = flow.flow / 2;
        if self.written.as_ref().is_none_or(|w| w.connection.number != connection) {
            self.written = Some(self.write(connection)?);
        }
        Ok(self.written.as_ref().and_then(|w| w.connection.all_of(flow.flow)))
    }

    /// Writes `,"path":…,"outages":…,"answer":…` of the flow that was read last.
    pub fn put(&self, out: &mut Vec<u8>, flow: &FlowRow) {
        let Some(written) = &self.written else { return out.extend_from_slice(NONE) };
        out.extend_from_slice(&written.of_flow[(flow.flow % 2) as usize]);
        out.extend_from_slice(&written.answer);
    }

    fn write(&mut self, number: u32) -> io::Result<Written> {
        let connection = self.connections.read(number)?;
        let (mut of_flow, mut answer_text): ([Vec<u8>; 2], _) = (Default::default(), Vec::new());
        match connection.answer(self.facts) {
            Ok(answer) => {
                let each = of_flow.iter_mut().zip(answer.paths.iter().zip(&answer.outages));
                for (out, (path, outages)) in each {
                    members!(out, ",", "path": By(|out: &mut Vec<u8>| put_path(out, path)), "outages": outages);
                }
                answer_text.extend_from_slice(b",\"answer\":");
                put_answer(&mut answer_text, &connection.rows(), number, &answer);
            }
            Err(why) => {
                answer_text.extend_from_slice(NONE);
                super::flow::put_fault(&mut answer_text, &why);
            }
        }
        Ok(Written { connection, of_flow, answer: answer_text })
    }
}

fn put_answer(out: &mut Vec<u8>, rows: &Rows<'_>, connection: u32, a: &Answer) {
    let origin = rows.origin;
    let [client, server] = rows.flows.map(|f| f.flow);
    let ends = client.map(|f| (f.sender, f.receiver)).or(server.map(|f| (f.receiver, f.sender)));
    let starts = [client, server].into_iter().flatten().map(|f| f.start);
    let start = starts.chain(rows.waits.first().map(|w| w.start)).min();
    let ends_of = [client, server].into_iter().flatten().map(|f| f.end);
    let end = ends_of.chain(rows.waits.last().map(|w| w.end)).max();
    let first = a.causes.iter().find(|s| s.cause == a.cause && s.by == a.by);
    let turns = |side: usize| rows.waits.iter().map(|w| u64::from(w.turns[side])).sum::<u64>();
    object!(out,
        "cause": a.cause.name(),
        "by": a.by.map(Role::name),
        "certainty": a.certainty.name(),
        "text": a.text,
        "seconds": first.map_or(Span::ZERO, |s| s.time),
        "share": first.map_or(0.0, |s| s.share),
        "owed_s": a.owed,
        "connection": connection,
        "client": ends.map(|e| e.0),
        "server": ends.map(|e| e.1),
        "client_bytes": client.map_or(0, |f| f.bytes),
        "server_bytes": server.map_or(0, |f| f.bytes),
        "client_messages": turns(0),
        "server_messages": turns(1),
        "start_s": start.map(|t| t - origin),
        "took_s": start.zip(end).map(|(start, end)| end - start),
        "base_rtt_s": a.paths[0].base_rtt,
        "causes": a.causes.iter().map(|s| share(s, origin)).collect::<Vec<_>>(),
        "findings": a.findings.iter().map(finding).collect::<Vec<_>>(),
        "limits": a.limits,
    );
}

fn share(s: &Share, origin: Time) -> impl Put + '_ {
    By(move |out: &mut Vec<u8>| {
        object!(out,
            "cause": s.cause.name(),
            "by": s.by.map(Role::name),
            "seconds": s.time,
            "share": s.share,
            "certainty": s.certainty.name(),
            "first_s": s.first - origin,
            "last_s": s.last - origin,
            "text": s.words.text,
            "grounds": s.words.grounds,
            "helps": s.words.helps,
            "does_not_help": s.words.does_not_help,
        );
    })
}

fn finding(f: &Finding) -> impl Put + '_ {
    By(move |out: &mut Vec<u8>| {
        object!(out, "kind": f.kind.name(), "certainty": f.certainty.name(), "text": f.text);
    })
}

fn put_path(out: &mut Vec<u8>, path: &PathWords) {
    object!(out,
        "capacity_bps": path.capacity_bps,
        "at_least": path.at_least,
        "known_by": path.known_by.map(|how| how.name()),
        "policer_bps": path.policer_bps,
        "base_rtt_s": path.base_rtt,
        "largest_rtt_s": path.largest_rtt,
        "own_share": path.own_share,
    );
}

impl Put for Outages {
    fn put(&self, out: &mut Vec<u8>) {
        let Outages {
            count,
            length_s,
            at_least_s,
            at_most_s,
            period_s,
            jitter_s,
            beats_missed,
            first_s,
            starts_s,
            rtt_flat_before,
            both_ways,
            dead_from_s,
            each,
        } = self;
        object!(out,
            "count": count,
            "length_s": length_s,
            "at_least_s": at_least_s,
            "at_most_s": at_most_s,
            "period_s": period_s,
            "jitter_s": jitter_s,
            "beats_missed": beats_missed,
            "first_s": first_s,
            "starts_s": starts_s,
            "rtt_flat_before": rtt_flat_before,
            "both_ways": both_ways,
            "dead_from_s": dead_from_s,
            "each": each,
        );
    }
}

impl Put for Dark {
    fn put(&self, out: &mut Vec<u8>) {
        let Dark { begin_earliest_s, begin_latest_s, end_earliest_s, end_latest_s, sure } = self;
        out.push(b'{');
        members!(out, "",
            "begin_earliest_s": begin_earliest_s,
            "begin_latest_s": begin_latest_s,
            "end_earliest_s": end_earliest_s,
            "end_latest_s": end_latest_s,
        );
        put_sure(out, *sure);
        out.push(b'}');
    }
}
