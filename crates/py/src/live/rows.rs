//! What the bridge logged, as the rows that the simulator's tables have.

use crate::simulate::kept::Kept;
use crate::simulate::rows::{Cause, Drop, Queue, Reason, Which};
use crate::simulate::tables::Names;
use analysis::rows::FlowRow;
use live::Plan;
use live::report::{Ends, Outcome};
use scenario::model::Scenario;
use std::sync::Arc;
use time::{Span, Time};
use wire::{Endpoint, Host};

/// TCP's SYN, FIN and RST.
const CONTROL: u8 = 7;

/// Connections are named after the flow of the scenario between the same hosts.
pub fn names(scenario: &Scenario, plan: &Plan, outcome: &Outcome) -> Names {
    let of = |ends: &Ends| -> Arc<str> {
        let exact = |c: &&live::plan::Connection| {
            ends.client == (u32::from(*c.from.ip()), c.from.port())
                && ends.server == (u32::from(*c.to.ip()), c.to.port())
        };
        let hosts = |c: &&live::plan::Connection| {
            let (a, b) = (u32::from(*c.from.ip()), u32::from(*c.to.ip()));
            [(a, b), (b, a)].contains(&(ends.client.0, ends.server.0))
        };
        let found = plan.connections.iter().find(exact).or_else(|| plan.connections.iter().find(hosts));
        let flow = found.and_then(|c| scenario.flows.get(c.flow));
        Arc::from(flow.map_or("", |f| f.name.as_str()))
    };
    Names::new(scenario).with_connections(outcome.passed.iter().map(|p| of(&p.ends)).collect())
}

/// A flow of the analysis is one direction of a connection.
pub fn learn(names: &mut Names, outcome: &Outcome, row: &FlowRow) {
    let end = |(address, port): (u32, u16)| Endpoint { host: Host::v4(address.to_be_bytes()), port };
    for (k, passed) in (0..).zip(&outcome.passed) {
        let (client, server) = (end(passed.ends.client), end(passed.ends.server));
        if (row.sender, row.receiver) == (client, server) {
            names.set(k, true, row.flow);
        } else if (row.sender, row.receiver) == (server, client) {
            names.set(k, false, row.flow);
        }
    }
}

pub fn kept(outcome: &Outcome) -> Kept {
    let mut kept = Kept::new(true);
    let at = |t: Time| outcome.origin + Span(t.0);
    for drop in &outcome.drops {
        let (cause, channel) = Cause::of(drop.cause);
        let packet = which(&drop.which);
        kept.put_drop(&Drop { time: at(drop.time), link: drop.link.0, cause, channel, packet });
    }
    for q in &outcome.queued {
        kept.put_queue(&Queue {
            time: at(q.time),
            link: q.link.0,
            enqueued: q.waited.is_none(),
            packets: q.packets,
            bytes: q.bytes,
            waited: q.waited,
            packet: which(&q.which),
        });
    }
    kept
}

fn which(w: &live::report::Which) -> Which {
    let headers = &w.headers;
    let reason = match (headers.payload, w.again) {
        (0, _) if headers.flags & CONTROL != 0 => Some(Reason::Control),
        (0, _) => Some(Reason::Ack),
        (_, false) => Some(Reason::New),
        // Why a kernel sends something again it keeps to itself.
        (_, true) => None,
    };
    Which {
        connection: w.connection,
        forward: w.from_client,
        copy: w.copy,
        offset: w.offset,
        payload_bytes: headers.payload,
        reason,
        evidence: None,
        backoff: None,
    }
}
