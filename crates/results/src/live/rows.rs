//! What the bridge logged, as the rows that the simulator's tables have.

use crate::simulate::kept::Kept;
use crate::simulate::rows::{Cause, Drop, Phase, Queue, QueueEvent, State, Which, why};
use crate::simulate::tables::Names;
use analysis::rows::FlowRow;
use instant::{Span, Time};
use live::Plan;
use live::report::{Ends, Outcome, Polled, Probed, TCP, Viewed};
use scenario::model::Scenario;
use sim::rows::StateRow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use wire::{Endpoint, Host};

/// TCP_INFINITE_SSTHRESH: it was never lowered.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// TCP's SYN, FIN and RST.
const CONTROL: u8 = 7;

/// Connections are named after the flow of the scenario between the same hosts.
pub fn names(scenario: &Scenario, plan: &Plan, outcome: &Outcome) -> Names {
    let of = |ends: &Ends| -> Arc<str> {
        let flow = flow_of(plan, ends).and_then(|at| scenario.flows.get(at));
        Arc::from(flow.map_or("", |f| f.name.as_str()))
    };
    Names::new(scenario).with_connections(outcome.passed.iter().map(|p| of(&p.ends)).collect())
}

/// The scenario's flow that a connection belongs to.
pub fn flow_of(plan: &Plan, ends: &Ends) -> Option<usize> {
    let exact = |c: &&live::plan::Connection| {
        ends.client == (u32::from(*c.from.ip()), c.from.port())
            && ends.server == (u32::from(*c.to.ip()), c.to.port())
    };
    let hosts = |p: &&live::plan::Program| {
        let (a, b) = (u32::from(plan.address(p.client)), u32::from(plan.address(p.server)));
        [(a, b), (b, a)].contains(&(ends.client.0, ends.server.0))
    };
    let of_program = || plan.programs.iter().find(hosts).map(|p| p.flow);
    plan.connections.iter().find(exact).map(|c| c.flow).or_else(of_program)
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
    let polled = fresh(&outcome.polled, &outcome.probed);
    let polled = polled.filter_map(|p| Some(polled_row(p, at(p.time), place(p.connection)?)));
    let probed = outcome.probed.iter().filter_map(|p| Some(probed_row(p, at(p.time), place(p.connection)?)));
    changes(polled.chain(probed).collect()).iter().for_each(|row| kept.put_state(row));
    let of_own = outcome.viewed.iter().filter_map(|v| Some(viewed(v, at(v.time), place(v.connection)?)));
    of_own.for_each(|row| kept.put_state(&row));
    let reasons = Reasons::new(outcome, &places);
    for drop in &outcome.drops {
        let (cause, channel) = Cause::of(drop.cause);
        let packet = reasons.which(&drop.which);
        kept.put_drop(&Drop { time: at(drop.time), link: drop.link.0, cause, channel, packet });
    }
    for q in &outcome.queued {
        kept.put_queue(&Queue {
            time: at(q.time),
            link: q.link.0,
            event: if q.waited.is_none() { QueueEvent::Enqueued } else { QueueEvent::Dequeued },
            packets: q.packets,
            bytes: q.bytes,
            waited: q.waited,
            until: q.until.map(at),
            packet: reasons.which(&q.which),
        });
    }
    kept
}

/// What was asked for while nothing was told by itself: what happens meanwhile may be in the answer or not.
fn fresh<'a>(polled: &'a [Polled], probed: &[Probed]) -> impl Iterator<Item = &'a Polled> {
    let mut told: BTreeMap<(u32, bool), Vec<Time>> = BTreeMap::new();
    for p in probed {
        told.entry((p.connection, p.forward)).or_default().push(p.time);
    }
    polled.iter().filter(move |p| {
        told.get(&(p.connection, p.forward)).is_none_or(|times| {
            let next = times.partition_point(|time| *time < p.asked);
            times.get(next).is_none_or(|time| *time > p.time)
        })
    })
}

/// Rows in the order of time; of each sender those that differ from the one before.
fn changes(mut rows: Vec<State>) -> Vec<State> {
    rows.sort_by_key(|row| row.time);
    let mut last: BTreeMap<(u32, bool), State> = BTreeMap::new();
    rows.retain(|row| {
        let before = last.insert((row.connection, row.forward), *row);
        before.is_none_or(|old| State { time: row.time, ..old } != *row)
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
fn polled_row(p: &Polled, time: Time, connection: u32) -> State {
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

/// The same in the kernel's own words.
fn probed_row(p: &Probed, time: Time, connection: u32) -> State {
    let probe = &p.probe;
    let segments = |n: u32| u64::from(n) * u64::from(probe.mss);
    let micros = |us: u32| Span::from_micros(i64::from(us));
    State {
        time,
        connection,
        forward: p.forward,
        smss_bytes: probe.mss,
        cwnd_bytes: segments(probe.cwnd) as f64,
        ssthresh_bytes: (probe.ssthresh < INFINITE_SSTHRESH).then(|| segments(probe.ssthresh) as f64),
        flight_bytes: p.nxt - p.una,
        pipe_bytes: Some(segments(probe.pipe)),
        rtt: None,
        srtt: (probe.srtt_us > 0).then(|| micros(probe.srtt_us)),
        rttvar: (probe.srtt_us > 0).then(|| micros(probe.rttvar_us)),
        rto: Some(micros(probe.rto_us)),
        backoff: Some(probe.backoff.into()),
        dupacks: None,
        phase: phase(probe.ca_state),
        una: p.una,
        nxt: p.nxt,
        peer_window_bytes: Some(probe.window_bytes.into()),
    }
}

fn phase(ca_state: u8) -> Phase {
    match ca_state {
        3 => Phase::Recovery,
        4 => Phase::Loss,
        _ => Phase::Open,
    }
}

/// A packet: its connection as it passed, whether from its client, IPv4 identification and sequence number.
type Label = (u32, bool, u16, u32);

/// Why rexmit's own TCP sent what its headers do not explain, and when. Identifications come round again.
#[derive(Default)]
struct Reasons(HashMap<Label, Vec<(Time, sim::Reason)>>);

impl Reasons {
    /// `places`: where the connections of the plan stand among those that passed.
    fn new(outcome: &Outcome, places: &[Option<u32>]) -> Reasons {
        let mut all = Reasons::default();
        for e in &outcome.explained {
            if let Some(Some(place)) = places.get(e.connection as usize) {
                let key = (*place, e.forward, e.left.ip_id, e.left.seq);
                all.0.entry(key).or_default().push((e.time, e.left.why.into()));
            }
        }
        all
    }

    fn of(&self, w: &live::report::Which) -> Option<sim::Reason> {
        let key = (w.connection, w.from_client, w.headers.ip_id, w.headers.seq);
        let nearest = self.0.get(&key)?.iter().min_by_key(|(left, _)| (w.came - *left).0.abs());
        nearest.map(|(_, reason)| *reason)
    }

    fn which(&self, w: &live::report::Which) -> Which {
        let headers = &w.headers;
        // A datagram counts whole, as in the simulator.
        let payload_bytes = if headers.protocol == TCP { headers.payload } else { headers.len };
        let by_headers = match (payload_bytes, w.again) {
            (0, _) if headers.flags & CONTROL != 0 => Some(sim::Reason::Control),
            (0, _) => Some(sim::Reason::Ack),
            (_, false) => Some(sim::Reason::New),
            // Why a kernel sends something again it keeps to itself.
            (_, true) => None,
        };
        let (reason, evidence, backoff) = match self.of(w).or(by_headers).map(why) {
            Some((reason, evidence, backoff)) => (Some(reason), evidence, backoff),
            None => (None, None, None),
        };
        Which {
            connection: w.connection,
            forward: w.from_client,
            copy: w.copy,
            offset: w.offset,
            payload_bytes,
            reason,
            evidence,
            backoff,
            release: None,
        }
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
    fn an_answer_is_left_out_if_something_happened_while_it_was_asked_for() {
        let (connection, forward) = (0, true);
        let info = live::report::Info::default();
        let polled = |from, to| Polled { asked: Time(from), time: Time(to), connection, forward, info };
        let probe = live::report::Probe::default();
        let probed = |at| Probed { time: Time(at), connection, forward, una: 1, nxt: 1, probe };
        let polled = [polled(10, 20), polled(30, 40), polled(50, 60)];
        let times = |probed: &[Probed]| fresh(&polled, probed).map(|p| p.time.0).collect::<Vec<_>>();
        assert_eq!(times(&[probed(5), probed(35), probed(60), probed(99)]), [20]);
        assert_eq!(times(&[Probed { forward: false, ..probed(35) }]), [20, 40, 60]);
    }

    #[test]
    fn a_row_that_says_what_the_one_before_said_is_left_out() {
        let rows = vec![row(30, true, 1), row(10, true, 1), row(40, true, 1449), row(25, false, 1)];
        let kept: Vec<_> = changes(rows).iter().map(|r| (r.time.0 / 1_000, r.forward, r.una)).collect();
        assert_eq!(kept, [(10, true, 1), (25, false, 1), (40, true, 1449)]);
    }
}
