//! What the bridge logged, as the rows that the simulator's tables have.

use crate::simulate::kept::Kept;
use crate::simulate::rows::{Cause, Drop, Phase, Queue, Reason, State, Which};
use crate::simulate::tables::Names;
use analysis::rows::FlowRow;
use live::Plan;
use live::report::{Ends, Outcome, Polled, Probed, TCP, Viewed};
use scenario::model::Scenario;
use sim::rows::StateRow;
use std::collections::BTreeMap;
use std::sync::Arc;
use time::{Span, Time};
use wire::{Endpoint, Host};

/// TCP_INFINITE_SSTHRESH: it was never lowered.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// TCP's SYN, FIN and RST.
const CONTROL: u8 = 7;

/// Connections are named after the flow of the scenario between the same hosts.
pub fn names(scenario: &Scenario, plan: &Plan, outcome: &Outcome) -> Names {
    let of = |ends: &Ends| -> Arc<str> {
        let exact = |c: &&live::plan::Connection| {
            ends.client == (u32::from(*c.from.ip()), c.from.port())
                && ends.server == (u32::from(*c.to.ip()), c.to.port())
        };
        let hosts = |p: &&live::plan::Program| {
            let (a, b) = (u32::from(plan.address(p.client)), u32::from(plan.address(p.server)));
            [(a, b), (b, a)].contains(&(ends.client.0, ends.server.0))
        };
        let of_program = || plan.programs.iter().find(hosts).map(|p| p.flow);
        let flow = plan.connections.iter().find(exact).map(|c| c.flow).or_else(of_program);
        let flow = flow.and_then(|at| scenario.flows.get(at));
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

/// `origin`: what the tables say the time of the beginning is.
pub fn kept(plan: &Plan, outcome: &Outcome, origin: Time) -> Kept {
    let mut kept = Kept::new(true);
    let at = |t: Time| origin + Span(t.0);
    let places = places(plan, outcome);
    let place = |number: u32| places.get(number as usize).copied().flatten();
    let polled = outcome.polled.iter().filter_map(|p| Some(polled(p, at(p.time), place(p.connection)?)));
    let probed = outcome.probed.iter().filter_map(|p| probed(outcome, p, at(p.time), place(p.connection)?));
    in_order(polled.chain(probed).collect()).iter().for_each(|row| kept.put_state(row));
    let of_own = outcome.viewed.iter().filter_map(|v| Some(viewed(v, at(v.time), place(v.connection)?)));
    of_own.for_each(|row| kept.put_state(&row));
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

/// Of one sender in the order of time, whoever tells it. Who asked as ACKs came in may have an answer from before them
/// and the time after them: that is left out.
fn in_order(mut rows: Vec<State>) -> Vec<State> {
    rows.sort_by_key(|row| row.time);
    let mut furthest = BTreeMap::new();
    rows.retain(|row| {
        let una = furthest.entry((row.connection, row.forward)).or_insert(row.una);
        let is_older = row.una < *una;
        *una = row.una.max(*una);
        !is_older
    });
    rows
}

/// Where each connection of the plan stands among those that passed.
fn places(plan: &Plan, outcome: &Outcome) -> Vec<Option<u32>> {
    let place = |planned: &live::plan::Connection| {
        let client = (u32::from(*planned.from.ip()), planned.from.port());
        outcome.passed.iter().position(|c| c.ends.client == client).map(|at| at as u32)
    };
    plan.connections.iter().map(place).collect()
}

/// rexmit's own TCP tells what a simulated one does.
fn viewed(v: &Viewed, time: Time, connection: u32) -> State {
    let state = sim::rows::State::from(&v.view);
    State::from(&StateRow { time, connection, forward: v.forward, state })
}

/// TCP_INFO in the terms of the simulator's senders; windows are counted in segments there.
fn polled(p: &Polled, time: Time, connection: u32) -> State {
    let i = &p.info;
    let segments = |n: u32| u64::from(n) * u64::from(i.snd_mss);
    let micros = |us: u32| Span::from_micros(i64::from(us));
    // The SYN is 0, as in the simulator: here it counts as acknowledged, and not as sent.
    let una = i.bytes_acked;
    let nxt = (1 + i.bytes_sent.saturating_sub(i.bytes_retrans)).max(una);
    State {
        time,
        connection,
        forward: p.forward,
        smss_bytes: i.snd_mss,
        cwnd_bytes: segments(i.snd_cwnd) as f64,
        ssthresh_bytes: (i.snd_ssthresh < INFINITE_SSTHRESH).then(|| segments(i.snd_ssthresh) as f64),
        flight_bytes: nxt - una,
        pipe_bytes: Some(segments((i.unacked + i.retrans).saturating_sub(i.sacked + i.lost))),
        rtt: None,
        srtt: (i.rtt_us > 0).then(|| micros(i.rtt_us)),
        rttvar: (i.rtt_us > 0).then(|| micros(i.rttvar_us)),
        rto: Some(micros(i.rto_us)),
        backoff: Some(i.backoff.into()),
        dupacks: None,
        phase: phase(i.ca_state),
        una,
        nxt,
        peer_window_bytes: Some(i.snd_wnd.into()),
    }
}

/// What an ACK found. `None` if nobody knows the MSS by which windows are to be multiplied.
fn probed(outcome: &Outcome, p: &Probed, time: Time, connection: u32) -> Option<State> {
    let probe = &p.probe;
    let ended = &outcome.ended.get(p.connection as usize)?.sides[usize::from(!p.forward)];
    let mss = ended.as_ref()?.mss?;
    let segments = |n: u32| u64::from(n) * u64::from(mss);
    Some(State {
        time,
        connection,
        forward: p.forward,
        smss_bytes: mss,
        cwnd_bytes: segments(probe.cwnd) as f64,
        ssthresh_bytes: (probe.ssthresh < INFINITE_SSTHRESH).then(|| segments(probe.ssthresh) as f64),
        flight_bytes: p.nxt - p.una,
        pipe_bytes: None,
        rtt: None,
        srtt: (probe.srtt_us > 0).then(|| Span::from_micros(i64::from(probe.srtt_us))),
        rttvar: None,
        rto: None,
        backoff: None,
        dupacks: None,
        phase: phase(probe.ca_state),
        una: p.una,
        nxt: p.nxt,
        peer_window_bytes: Some(probe.window_bytes.into()),
    })
}

fn phase(ca_state: u8) -> Phase {
    match ca_state {
        3 => Phase::Recovery,
        4 => Phase::Loss,
        _ => Phase::Open,
    }
}

fn which(w: &live::report::Which) -> Which {
    let headers = &w.headers;
    // A datagram counts whole, as in the simulator.
    let payload_bytes = if headers.protocol == TCP { headers.payload } else { headers.len };
    let reason = match (payload_bytes, w.again) {
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
        payload_bytes,
        reason,
        evidence: None,
        backoff: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at_us: i64, forward: bool, una: u64) -> State {
        State {
            time: Time(at_us * 1_000),
            connection: 0,
            forward,
            smss_bytes: 1448,
            cwnd_bytes: 14480.0,
            ssthresh_bytes: None,
            flight_bytes: 0,
            pipe_bytes: None,
            rtt: None,
            srtt: None,
            rttvar: None,
            rto: None,
            backoff: None,
            dupacks: None,
            phase: Phase::Open,
            una,
            nxt: una,
            peer_window_bytes: None,
        }
    }

    #[test]
    fn an_answer_from_before_acks_that_tell_of_themselves_is_left_out() {
        // Asked at 30 us; two ACKs came in, at 20 and 25, and the answer is of the time before them.
        let rows = vec![
            row(30, true, 1),
            row(10, true, 1),
            row(20, true, 1),
            row(25, true, 1449),
            row(28, false, 0),
        ];
        let kept: Vec<_> = in_order(rows).iter().map(|r| (r.time.0 / 1_000, r.forward, r.una)).collect();
        assert_eq!(kept, [(10, true, 1), (20, true, 1), (25, true, 1449), (28, false, 0)]);
    }
}
