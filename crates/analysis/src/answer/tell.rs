//! The sentences.

mod verdict;

use super::Wait;
use super::costs::{Costs, Group, unanswered};
use super::outages::Outages;
use super::path::Path;
use super::words::{bytes, copies, count, grouped, period, rate, seconds, times};
use crate::rows::{FlowRow, Limit};

/// Costs below this share of the duration stay unsaid, unless many of the losses are theirs.
const WORTH_SAYING: f64 = 0.01;
/// A share of the losses that has to be accounted for.
const MANY: f64 = 0.05;
/// A screen holds no more.
const SENTENCES: usize = 6;

/// A share of the packets out of order that is worth a word.
const REORDERED: f64 = 0.01;

/// What sets off repairs of what was not lost, where no timer did.
const OVERTAKEN: &str = "nothing had been lost, packets overtook each other or came twice";

/// "88 ACKs were".
fn acks(n: u64) -> String {
    format!("{} {}", count(n, "ACK"), if n == 1 { "was" } else { "were" })
}

/// What is known when it comes to words.
pub(super) struct Told<'a> {
    pub flow: &'a FlowRow,
    pub outages: Option<&'a Outages>,
    pub costs: &'a Costs,
    pub path: &'a Path,
    pub capture_start: wire::Time,
}

impl Told<'_> {
    /// What cost time, the worst first.
    pub fn sentences(&self) -> Vec<String> {
        let (flow, c) = (self.flow, self.costs);
        let d = seconds(c.duration_s);
        let mut said: Vec<(f64, String)> = Vec::new();
        let dear = |cost: f64| cost >= WORTH_SAYING * c.duration_s && cost > 0.0;
        let groups = [&c.outages, &c.tails, &c.overshoot, &c.losses, &c.intermittent];
        let all: u64 = groups.iter().map(|g| g.lost).sum();
        let several = groups.iter().filter(|g| g.lost > 0).count() > 1;
        let due = |g: &Group| g.n > 0 && (dear(g.cost_s) || g.lost as f64 >= MANY * all.max(1) as f64);
        // "cost 4.1 s of 20.3 s (46 copies lost)"
        let price = |g: &Group, always: bool| {
            let lost = match several || always {
                true => format!(" ({} lost)", copies(g.lost)),
                false => String::new(),
            };
            match dear(g.cost_s) {
                true => format!("cost {} of {d}{lost}", seconds(g.cost_s)),
                false => format!("cost hardly any time{lost}"),
            }
        };
        if due(&c.outages) || c.outages.n > 0 && self.outages.is_some_and(|o| o.count > 1) {
            let g = &c.outages;
            let n = self.outages.map_or(g.n, |o| u64::from(o.count));
            let within = match n {
                n if n <= g.n || c.overshoot.n > 0 => String::new(),
                _ => format!(" in {}", count(g.n, "episode")),
            };
            let always = !dear(g.cost_s);
            said.push((
                g.cost_s,
                format!("{}{within} {}; {}", count(n, "outage"), price(g, always), ending(g, n)),
            ));
        }
        if due(&c.tails) {
            let g = &c.tails;
            let what = match g.n {
                1 => "the tail of what was sent got lost, which".into(),
                n => format!("{} lost tails", grouped(n)),
            };
            said.push((
                g.cost_s,
                format!("{what} {}: nothing behind it could be SACKed, so {}", price(g, true), by_timer(g)),
            ));
        }
        if due(&c.overshoot) {
            let g = &c.overshoot;
            let what = format!("slow start overran the bottleneck's queue: {} lost", copies(g.lost));
            said.push((
                g.cost_s,
                match dear(g.cost_s) {
                    true => format!("{what}, which cost {} of {d}", seconds(g.cost_s)),
                    false => format!("{what}, at hardly any cost"),
                },
            ));
        }
        if due(&c.losses) {
            let g = &c.losses;
            let (what, price) = (count(g.n, "loss episode"), price(g, true));
            said.push((
                g.cost_s,
                match dear(g.cost_s) {
                    true => format!("{what} {price}; {}", ending(g, g.n)),
                    false => format!("{what} {price}"),
                },
            ));
        }
        if c.unheard.n > 0 && dear(c.unheard.cost_s) {
            let g = &c.unheard;
            let what = match g.lost_acks {
                0 => format!("ACKs were lost or late {}, which", times(g.n)),
                n => format!("{} lost on the way back in {}, which", acks(n), count(g.n, "episode")),
            };
            said.push((
                g.cost_s,
                format!(
                    "{what} cost {} of {d}: the timer resent {} that had arrived",
                    seconds(g.cost_s),
                    count(g.needless, "segment")
                ),
            ));
        }
        if c.overtaken.n > 0 && dear(c.overtaken.cost_s) {
            let g = &c.overtaken;
            said.push((
                g.cost_s,
                format!("{} cost {} of {d}: {}", count(g.n, "needless repair"), seconds(g.cost_s), OVERTAKEN),
            ));
        }
        if due(&c.intermittent) {
            let g = &c.intermittent;
            let what = count(g.n, "intermittent repair");
            let (lost, timeouts) = (count(g.lost, "lost segment"), count(g.timeouts, "timeout"));
            let took = seconds(g.cost_s);
            said.push((
                g.cost_s,
                format!("{what} cost {took} of {d}: {timeouts} for {lost}, one segment a timeout"),
            ));
        }
        if c.needless.n > 0 && dear(c.needless.cost_s) {
            let g = &c.needless;
            let what = count(g.n, "needless repair");
            said.push((g.cost_s, format!("{what} cost {} of {d}: nothing had been lost", seconds(g.cost_s))));
        }
        if dear(c.stale_backoff_s) {
            let s = seconds(c.stale_backoff_s);
            said.push((
                c.stale_backoff_s,
                format!("{s} of waiting were a back-off that had outlived its segment"),
            ));
        }
        let gaps = [
            (c.application, "the application had nothing to send for"),
            (c.zero_window, "the receiver had closed its window for"),
            (c.receive_window, "the receiver's window was full for"),
            (c.peer, "the sender had nothing to send until the receiver's own data came, for"),
            (c.nagle, "small segments waited for the ACK of the one before (Nagle's algorithm) for"),
        ];
        for (g, what) in gaps.into_iter().filter(|(g, _)| g.n > 0 && dear(g.total_s)) {
            let (total, longest) = (seconds(g.total_s), seconds(g.longest_s));
            let tail = if g.n > 1 { format!(", the longest {longest}") } else { String::new() };
            said.push((g.total_s, format!("{what} {total} of {d}, in {}{tail}", count(g.n, "gap"))));
        }
        if unanswered(flow) {
            let n = times(u64::from(flow.syn_retransmissions) + 1);
            said.push((c.handshake_s, format!("its SYN was sent {n} in {d} and never answered")));
        } else if dear(c.handshake_s) {
            let n = times(u64::from(flow.handshake_resent));
            said.push((
                c.handshake_s,
                format!("the handshake was resent {n}, which cost {} of {d}", seconds(c.handshake_s)),
            ));
        }
        said.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut said: Vec<String> = said.into_iter().map(|s| s.1).collect();
        // What costs no gap stands behind whatever does.
        said.extend(ceiling(c));
        said.extend(self.queue());
        if c.slight() && c.kept_small(flow, self.path) {
            let lossy = c.losses.n + c.outages.n;
            let n = match (lossy, c.overtaken.n) {
                (0, n) => format!("{} ({OVERTAKEN})", count(n, "needless repair")),
                (n, 0) => count(n, "loss episode"),
                (n, o) => format!("{} and {}", count(n, "loss episode"), count(o, "needless repair")),
            };
            said.push(format!(
                "{n} kept the window small: each cuts it, and no queue stood at the bottleneck between them, so the path was not full"
            ));
        }
        if said.is_empty() && c.cut_off.is_none() {
            said.push(self.nothing(&d));
        }
        said.extend(self.reordered());
        if let Some(reset) = self.reset() {
            // A transfer that did not come to its end is worse than one that took its time.
            said.insert(if c.cut_off.is_some() { 0 } else { said.len().min(SENTENCES - 1) }, reset);
        }
        said.truncate(SENTENCES);
        said
    }

    /// Packets that others overtook on their way, where many were: no losses, though they may look like it.
    fn reordered(&self) -> Option<String> {
        let (late, all) = (self.flow.limits.reordered, self.flow.packets);
        (late as f64 >= REORDERED * all as f64 && late > 0).then(|| {
            format!("{} of {} came out of order, overtaken on the way", grouped(late), count(all, "packet"))
        })
    }

    /// Who reset the connection, and whether that cut the transfer off.
    fn reset(&self) -> Option<String> {
        let reset = self.flow.reset?;
        let when = period((reset.time - self.capture_start).as_secs());
        let then = match self.costs.cut_off {
            Some((_, under_way)) => {
                format!("with {} not acknowledged: the transfer was cut off", bytes(under_way))
            }
            None => "and no FIN says whether what had been sent was all".into(),
        };
        Some(format!("the {} reset the connection at {when}, {then}", reset.by()))
    }

    /// A queue that a person would notice.
    fn queue(&self) -> Option<String> {
        let rtt = self.path.rtt.filter(|_| self.path.bloated)?;
        Some(format!(
            "a queue of {} on average stood at the bottleneck (RTT {} to {}): bufferbloat",
            seconds(rtt.mean - rtt.min),
            seconds(rtt.min),
            seconds(rtt.max)
        ))
    }

    fn nothing(&self, d: &str) -> String {
        let (flow, c) = (self.flow, self.costs);
        match flow.retransmitted_segments {
            // What was lost at the very end had no time to cost any.
            0 if flow.bursts > 0 => format!(
                "{} lost in {}, and nothing was resent before the end",
                copies(flow.lost_copies.or(flow.lost_segments).unwrap_or_default()),
                count(u64::from(flow.bursts), "burst")
            ),
            0 if c.duration_s <= 0.0 => "nothing was lost".into(),
            0 => format!(
                "nothing was lost and nothing held it up: {} in {d}, {}",
                bytes(flow.delivered_bytes()),
                rate(flow.delivered_bytes() as f64 * 8.0 / c.duration_s)
            ),
            n => format!("{} resent in {d}, at hardly any cost", count(n, "segment")),
        }
    }
}

/// How many timers it took: "a probe and 3 timeouts had to repair it".
fn by_timer(g: &Group) -> String {
    let it = if g.n == 1 { "it" } else { "them" };
    match (g.probed, g.timeouts) {
        (p, 0) if p <= 1 => format!("a probe had to repair {it}"),
        (p, 0) => format!("{p} probes had to repair {it}"),
        (0, t) => format!("{} had to repair {it}", count(t, "timeout")),
        (p, t) => format!("{} and {} had to repair {it}", count(p, "probe"), count(t, "timeout")),
    }
}

/// How the `n` episodes or outages of a group ended, and why if they have a reason in common.
fn ending(g: &Group, n: u64) -> String {
    if g.for_good {
        let last = if n == 1 { "it" } else { "the last" };
        return format!("{last} lasts to the end: {} in vain", count(g.timeouts, "timeout"));
    }
    let timed_out = g.timed_out;
    let because = g.common_wait().map_or(String::new(), |w| match w {
        Wait::WindowSentOut { bytes: b, advertised } => {
            let whose = if advertised { "the receiver's window" } else { "the window" };
            format!(" because {whose} ({}) was sent out before the link came back", bytes(b))
        }
        Wait::Tail => " because nothing was left behind the losses to be SACKed".into(),
        Wait::FewInFlight => " because too little was in flight for duplicate ACKs".into(),
        Wait::NothingArrived => " because nothing from beyond the hole arrived".into(),
    });
    match timed_out {
        0 if n == 1 => "it was repaired on an ACK or a probe, without a timeout".into(),
        0 => "all were repaired on ACKs or probes, without a timeout".into(),
        1 if n == 1 && g.timeouts > 1 => format!("its repair took {}{because}", count(g.timeouts, "timeout")),
        1 if n == 1 => format!("it ended in a timeout{because}"),
        t if t == n => format!("each ended in a timeout{because}"),
        1 => format!("1 of the {n} ended in a timeout{because}"),
        t => format!("{t} of the {n} ended in timeouts{because}"),
    }
}

fn ceiling(c: &Costs) -> Option<String> {
    let w = c.ceiling.filter(|w| w.reached >= 0.5)?;
    let whose = match w.limit {
        Limit::ReceiveWindow => "the receiver's window",
        _ => "the sender's own window",
    };
    let (size, allows) = (bytes(w.bytes), rate(w.allows_bps));
    Some(format!("{whose} never exceeded {size}, which at this RTT allows {allows} at most"))
}

fn receive_window(flow: &FlowRow, c: &Costs) -> u64 {
    c.ceiling.map_or(flow.window_max_bytes.unwrap_or(0), |w| w.bytes)
}
