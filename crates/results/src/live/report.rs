//! What the ends and the bridge counted, in the form that a simulated run has.

use super::{Request, rows};
use crate::simulate::report::{Live, Losses, Report};
use live::Plan;
use live::report::{End, Ended, Outcome, Passed, Side, TCP};
use scenario::model::Scenario;
use sim::stats::Way;
use std::io::ErrorKind;
use tcp::endpoint::Failure;

pub fn report(request: &Request, plan: &Plan, outcome: &Outcome) -> Report {
    let (scenario, at) = (&request.scenario, request.at);
    let mut losses = Losses::default();
    outcome.drops.iter().for_each(|d| losses.add(d.link, d.cause));
    let connections = plan.connections.iter().zip(&outcome.ended);
    let connections = connections.map(|(planned, ended)| sim::Outcome {
        flow: planned.flow as u32,
        starts: planned.start,
        ended: closed(ended).then_some(outcome.time),
        failure: failure(ended),
        ways: ways(ended),
    });
    let programs = plan.programs.iter().zip(&outcome.exits);
    let of_programs = programs.flat_map(|(program, exit)| {
        let hosts = [program.client, program.server].map(|node| u32::from(plan.address(node)));
        let own = move |p: &Passed| {
            p.ends.protocol == TCP && hosts.contains(&p.ends.client.0) && hosts.contains(&p.ends.server.0)
        };
        let well = exit.client.as_ref().is_some_and(|c| c.well);
        outcome.passed.iter().enumerate().filter(move |(_, p)| own(p)).map(move |(at, p)| {
            // Its client's side is the side of whoever opens the connection, as the flow has it.
            let ways = [true, false].map(|from_client| passed(outcome, at, p, from_client));
            let ways = if p.ends.client.0 == hosts[0] { ways } else { [ways[1], ways[0]] };
            sim::Outcome {
                flow: program.flow as u32,
                starts: program.start,
                ended: well.then_some(outcome.time),
                failure: None,
                ways,
            }
        })
    });
    let summary = sim::Summary {
        end: match outcome.end {
            End::Done => sim::End::Done,
            End::Duration => sim::End::Duration,
            End::Stopped | End::Overdue | End::Failed(_) => sim::End::Stopped,
        },
        seed: plan.seed,
        time: outcome.time,
        events: outcome.packets,
        connections: connections.chain(of_programs).collect(),
        links: outcome.links.clone(),
        tallies: outcome.tallies.clone(),
        anchors: outcome.anchors.clone(),
    };
    let mut report = Report::new(scenario, at, &summary, losses);
    report.flows.iter_mut().for_each(|f| f.inside = Some([0; 2]));
    report.live = Some(bridge(request, plan, outcome));
    for which in outcome.inside.iter().map(|i| i.which).filter(|which| which.headers.payload > 0) {
        let ends = outcome.passed.get(which.connection as usize).map(|p| &p.ends);
        let Some(at) = ends.and_then(|ends| rows::flow_of(plan, ends)) else { continue };
        let client = scenario.flows.get(at).map(|f| u32::from(plan.address(f.from)));
        if let (Some(flow), Some(client)) = (report.flows.get_mut(at), client) {
            let inside = flow.inside.get_or_insert_default();
            inside[usize::from(which.headers.from != client)] += 1;
        }
    }
    report
}

fn bridge(request: &Request, plan: &Plan, outcome: &Outcome) -> Live {
    let (scenario, q) = (&request.scenario, &outcome.quality);
    let nodes = scenario.nodes.iter().enumerate();
    let late = [0.5, 0.99, 0.999].map(|share| q.lateness.quantile(share));
    let missed = live::bars::missed(late, q.overload, fastest_bps(scenario));
    Live {
        origin: outcome.origin,
        kernel: outcome.kernel.clone(),
        own_hosts: nodes.filter(|(at, _)| plan.is_own(*at)).map(|(_, node)| node.name.clone()).collect(),
        end: match outcome.end {
            End::Overdue => Some("overdue"),
            End::Failed(_) => Some("failed"),
            End::Done | End::Duration | End::Stopped => None,
        },
        failure: match &outcome.end {
            End::Failed(why) => Some(why.clone()),
            End::Overdue => Some("the run has no duration, and was ended after 10 minutes".into()),
            End::Done | End::Duration | End::Stopped => None,
        },
        warnings: outcome.warnings.clone(),
        late,
        latest: q.lateness.max,
        missed: missed.iter().map(|m| (m.figure.name(), m.value, m.bar)).collect(),
        accepted: request.accept_late,
        packets: outcome.packets,
        over_1ms: q.lateness.over_1ms,
        overload: q.overload,
        shifted: q.shifted,
        most_shifted: q.most_shifted,
        retried: q.retried,
        ignored: q.ignored,
        inside: outcome.inside.len() as u64,
        wake_ups: q.wake_ups,
        coalesced_wake_ups: q.coalesced_wake_ups,
        real_time: q.real_time,
        cores_awake: q.awake,
        state_from: outcome.traced.as_ref().map(|traced| if traced.is_ok() { "bpf" } else { "tcp_info" }),
    }
}

/// `None` if a link has no rate.
fn fastest_bps(scenario: &Scenario) -> Option<u64> {
    let both_ways = scenario.links.iter().flat_map(|l| [l.forward.rate_bps, l.back.rate_bps]);
    both_ways.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// What the bridge counted.
fn passed(outcome: &Outcome, at: usize, p: &Passed, from_client: bool) -> Way {
    let w = &p.ways[usize::from(!from_client)];
    let data = |d: &&live::report::Drop| {
        let which = &d.which;
        which.connection as usize == at && which.from_client == from_client && which.headers.payload > 0
    };
    let lost = outcome.drops.iter().filter(data).count() as u64;
    Way {
        data_packets: w.data_packets,
        data_bytes: w.payload_bytes,
        resent_packets: w.resent_packets,
        resent_bytes: w.resent_bytes,
        timeouts: 0,
        ack_packets: w.packets - w.data_packets,
        arrived_packets: w.data_packets.saturating_sub(lost),
        delivered_bytes: w.stream_bytes,
        first_sent: w.first,
        last_delivered: w.last,
    }
}

fn closed(ended: &Ended) -> bool {
    ended.sides.iter().all(|s| s.as_ref().is_some_and(|s| s.closed))
}

fn failure(ended: &Ended) -> Option<Failure> {
    let error = ended.sides.iter().flatten().find_map(|s| s.error)?;
    Some(match error {
        ErrorKind::ConnectionRefused => Failure::Refused,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Failure::Reset,
        ErrorKind::TimedOut => Failure::TimedOut,
        _ => Failure::Aborted,
    })
}

/// What the two ends counted, and when their applications wrote and read.
fn ways(ended: &Ended) -> [Way; 2] {
    let [client, server] = &ended.sides;
    [way(client.as_ref(), server.as_ref()), way(server.as_ref(), client.as_ref())]
}

fn way(sender: Option<&Side>, receiver: Option<&Side>) -> Way {
    let counted = |side: Option<&Side>| side.and_then(|s| s.counts).unwrap_or_default();
    let (sent, came) = (counted(sender), counted(receiver));
    let first_sent = if sent.data_packets > 0 { sender.and_then(|s| s.began) } else { None };
    Way {
        data_packets: sent.data_packets,
        data_bytes: sent.data_bytes,
        resent_packets: sent.resent_packets,
        resent_bytes: sent.resent_bytes,
        timeouts: sent.timeouts,
        ack_packets: sent.ack_packets,
        arrived_packets: came.arrived_packets,
        delivered_bytes: receiver.map_or(0, |r| r.came_bytes),
        first_sent,
        last_delivered: receiver.and_then(|r| r.last),
    }
}
