//! A report as JSON (docs/json.md, `simulation`).

use super::{At, FlowReport, LinkReport, Live, Report};
use crate::json::write::{By, members, object};
use instant::{Span, Time};
use links::spec::{Anchor, Outage, Schedule};
use sim::stats::Way;

/// Outages of a list that the JSON has, at most.
const MOST_LISTED: usize = 1000;

impl Report {
    pub fn json(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let out = &mut text;
        out.push(b'{');
        members!(out, "",
            self.{ name, seed },
            "at": self.at.map(At::name),
            "end": self.end_word(),
            "failure": self.failure(),
            "time_s": self.time - Time::ZERO,
            "duration_s": self.duration,
            "events": self.events,
            "flows": self.flows.iter().map(|f| By(move |out: &mut Vec<u8>| put_flow(f, out))).collect::<Vec<_>>(),
            "links": self.links.iter().map(|l| By(move |out: &mut Vec<u8>| put_link(l, out))).collect::<Vec<_>>(),
        );
        if !self.assumed.is_empty() {
            let each = self.assumed.iter().map(|(name, sections)| {
                By(move |out: &mut Vec<u8>| object!(out, "stack": name, "sections": sections))
            });
            members!(out, ",", "assumed": each.collect::<Vec<_>>());
        }
        if !self.own_rules.is_empty() {
            let each = self.own_rules.iter().map(|(stack, section, class)| {
                By(move |out: &mut Vec<u8>| object!(out, "stack": stack, "section": section, "class": class))
            });
            members!(out, ",", "own_rules": each.collect::<Vec<_>>());
        }
        if let Some(live) = &self.live {
            members!(out, ",", "bridge": By(move |out: &mut Vec<u8>| put_live(live, out)));
        }
        out.push(b'}');
        text
    }
}

/// In the place of a report: why there is no run.
pub fn no_run(name: &str, seed: u64, why: &str) -> Vec<u8> {
    let mut text = Vec::new();
    let (out, none) = (&mut text, Vec::<bool>::new());
    object!(out,
        "name": name,
        "seed": seed,
        "at": None::<bool>,
        "end": "failed",
        "failure": why,
        "time_s": Span::ZERO,
        "duration_s": None::<bool>,
        "events": 0_u64,
        "flows": none,
        "links": none,
    );
    text
}

/// Payload handed to the receiving application over the time from the first data packet to the last delivery, or to
/// `until`.
fn goodput_bps(way: &Way, until: Option<Time>) -> Option<f64> {
    let took = (until.or(way.last_delivered)? - way.first_sent?).as_secs();
    (took > 0.0).then(|| way.delivered_bytes as f64 * 8.0 / took)
}

fn put_flow(f: &FlowReport, out: &mut Vec<u8>) {
    let stacks = f.stacks.as_ref();
    object!(out,
        "flow": f.name,
        f.{ from, to },
        "stack": stacks.map(|s| s.0.as_str()),
        "receiver": stacks.map(|s| s.1.as_str()),
        f.{ connections, ended },
        "failed": f.failures.iter().map(|(_, n)| n).sum::<u64>(),
        "forward": By(|out: &mut Vec<u8>| put_way(&f.ways[0], f.until, f.inside.map(|i| i[0]), out)),
        "back": By(|out: &mut Vec<u8>| put_way(&f.ways[1], f.until, f.inside.map(|i| i[1]), out)),
    );
}

fn put_way(way: &Way, until: Option<Time>, inside: Option<u64>, out: &mut Vec<u8>) {
    let since_start = |t: Option<Time>| t.map(|t| t - Time::ZERO);
    object!(out,
        "delivered_bytes": way.delivered_bytes,
        "goodput_bps": goodput_bps(way, until),
        way.{
            data_packets, data_bytes, resent_packets, resent_bytes, timeouts, ack_packets, arrived_packets,
        },
        "inside_packets": inside,
        "first_sent_s": since_start(way.first_sent),
        "last_delivered_s": since_start(way.last_delivered),
    );
}

fn put_live(l: &Live, out: &mut Vec<u8>) {
    object!(out,
        "origin_ns": l.origin.0,
        l.{ kernel, own_hosts },
        "late_p50_s": l.late[0],
        "late_p99_s": l.late[1],
        "late_p999_s": l.late[2],
        "late_max_s": l.latest,
        "missed": l.missed.iter().map(|(figure, value, bar)| By(move |out: &mut Vec<u8>| {
            object!(out, "figure": figure, "value": value, "bar": bar);
        })).collect::<Vec<_>>(),
        l.{ accepted, packets, over_1ms, overload, shifted },
        "most_shifted_s": l.most_shifted,
        l.{ retried, ignored, inside, wake_ups, coalesced_wake_ups, real_time, cores_awake, state_from },
    );
}

fn put_link(l: &LinkReport, out: &mut Vec<u8>) {
    let c = &l.counters;
    object!(out,
        "link": l.name,
        "direction": if l.forward { "forward" } else { "back" },
        l.{ from, to },
        c.{ offered, copies, delivered },
        "lost": c.dropped(),
        c.{ queue_full, aqm, channel, flushed, arq_gave_up },
        "inside": c.inside(),
        "losses": l.losses.iter().map(|(cause, channel, n)| By(move |out: &mut Vec<u8>| {
            object!(out, "cause": cause.name(), "channel": channel.as_deref(), "packets": n);
        })).collect::<Vec<_>>(),
        "channels": l.channels.iter().map(|(name, t)| By(move |out: &mut Vec<u8>| {
            object!(out, "channel": name, "asked": t.seen, "dropped": t.hit, "bursts": t.bursts,
                "longest_burst": t.longest_burst);
        })).collect::<Vec<_>>(),
        "outages": l.outages.iter().map(|(name, outage)| By(move |out: &mut Vec<u8>| {
            put_outage(name, outage, out);
        })).collect::<Vec<_>>(),
        "frames": l.frames.map(|t| By(move |out: &mut Vec<u8>| {
            object!(out, "sent": t.seen, "lost": t.hit, "bursts": t.bursts, "longest_burst": t.longest_burst);
        })),
    );
}

/// What a schedule does not have is null.
fn put_outage(channel: &str, outage: &Outage, out: &mut Vec<u8>) {
    let (mut every, mut length, mut phase, mut up, mut down, mut listed) =
        (None, None, None, None, None, None);
    match &outage.schedule {
        Schedule::Periodic { every: e, length: l, phase: p } => {
            (every, length, phase) = (Some(*e), Some(*l), Some(*p));
        }
        Schedule::Exponential { up_mean, down_mean } => (up, down) = (Some(*up_mean), Some(*down_mean)),
        Schedule::Intervals(all) => {
            let pair = |(at, length): &(Time, Span)| [*at - Time::ZERO, *length];
            listed = Some(all.iter().take(MOST_LISTED).map(pair).map(Vec::from).collect::<Vec<_>>());
        }
    }
    let anchor = match outage.anchor {
        Anchor::Start => "start",
        Anchor::FirstSyn => "first-syn",
    };
    object!(out, "channel": channel, "anchor": anchor, "every_s": every, "for_s": length, "phase_s": phase, "up_mean_s": up,
        "down_mean_s": down, "intervals_s": listed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_is_what_arrived_from_the_first_packet_to_the_last_delivery() {
        let way = Way {
            delivered_bytes: 1_000_000,
            first_sent: Some(Time(500_000_000)),
            last_delivered: Some(Time(2_500_000_000)),
            ..Way::default()
        };
        assert_eq!(goodput_bps(&way, None), Some(4e6));
        assert_eq!(goodput_bps(&Way::default(), None), None);
        // One that stalls and is never done is no faster for it.
        assert_eq!(goodput_bps(&way, Some(Time(100_500_000_000))), Some(8e4));
        let nothing = Way { first_sent: Some(Time(0)), ..Way::default() };
        assert_eq!(goodput_bps(&nothing, Some(Time(1_000_000_000))), Some(0.0));
    }
}
