//! The sentences.

mod found;
mod verdict;

use super::Wait;
use super::certainty::{Claim, Evidence, Grounds};
use super::costs::{Costs, Group, WORTH};
use super::findings::{Finding, Kind};
use super::flow_facts::arriving;
use super::grounds::Sure;
use super::held::{Held, Small};
use super::outages::Outages;
use super::path::Path;
use super::words::{bytes, copies, count, grouped, period, rate, seconds, times};
use crate::limited::LimitedBy;
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
/// Where they did neither, and arrive.
const DISCARDED: &str = "all had come as far as here, damaged (--checksums tells), or was dropped behind";

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
    /// What held it longest, if that is known or likely.
    pub held: Option<&'a Held<'a>>,
    pub small: Option<&'a Small>,
    /// The share of the time of which it cannot be told what held it.
    pub undecided: f64,
    /// Nobody is to blame.
    pub nobodys: bool,
    pub capture_start: wire::Time,
}

impl Told<'_> {
    /// What cost time, the worst first.
    pub fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        found.extend(self.outages());
        found.extend(self.too_large());
        found.extend(self.tails());
        found.extend(self.overshoot());
        found.extend(self.losses());
        found.extend(self.needless());
        found.extend(self.waits());
        found.extend(self.handshake());
        found.extend(self.kept_small());
        found.sort_by(|a, b| b.cost_s.unwrap_or(0.0).total_cmp(&a.cost_s.unwrap_or(0.0)));
        // What costs no gap stands behind whatever does.
        found.extend(self.ceiling());
        found.extend(self.queue());
        found.extend(self.small_window());
        if found.is_empty() {
            found.push(self.nothing());
        }
        found.extend(self.marks());
        found.extend(self.reordered());
        if let Some(reset) = self.reset() {
            // A transfer that was given up is worse than one that took its time; else it may have ended as it was meant to.
            found.insert(if self.given_up() { 0 } else { found.len().min(SENTENCES - 1) }, reset);
        }
        found.truncate(SENTENCES);
        found
    }

    /// Packets came in order, once each, and yet the host behind asked for them again: it has not had them.
    fn discarded(&self) -> bool {
        let l = &self.flow.limits;
        arriving(self.flow) && l.reordered + l.duplicated + l.captured_twice == 0
    }

    /// Why repairs without a timer were needless.
    fn nothing_lost(&self) -> &'static str {
        if self.discarded() { DISCARDED } else { OVERTAKEN }
    }

    fn without_cost(&self, kind: Kind, sure: Sure, text: String) -> Finding {
        Finding { kind, cost_s: None, sure, text }
    }

    /// Packets that others overtook on their way, where many were: no losses, though they may look like it.
    fn reordered(&self) -> Option<Finding> {
        let (late, all) = (self.flow.limits.reordered, self.flow.packets);
        (late as f64 >= REORDERED * all as f64 && late > 0).then(|| {
            let text = format!("{} of {} arrived out of order", grouped(late), count(all, "packet"));
            self.without_cost(Kind::Reordering, self.seen(), text)
        })
    }

    /// Routers marked packets where they would have dropped them, and what the sender made of that (RFC 3168).
    fn marks(&self) -> Option<Finding> {
        let ecn = &self.flow.ecn;
        let some = |n: Option<u32>, noun| n.filter(|n| *n > 0).map(|n| count(n.into(), noun));
        let marked = some(ecn.marked_packets, "data packet")
            .map(|packets| format!("{packets} arrived with a congestion mark (ECN)"));
        let what = match (marked, some(ecn.echoes, "ACK")) {
            (None, None) => return None,
            (Some(marked), None) => marked,
            (None, Some(acks)) => format!("{acks} told of congestion marks (ECN)"),
            (Some(marked), Some(acks)) => format!("{marked}, {acks} told the sender so"),
        };
        let text = match ecn.reductions_by_marks {
            None => what,
            Some(0) => format!("{what}: the window was not reduced for it"),
            Some(n) => {
                format!("{what}: the window was reduced {} for marks, not for losses", times(n.into()))
            }
        };
        Some(self.without_cost(Kind::Marks, self.seen(), text))
    }

    /// The sender was asking in vain when the end came.
    fn given_up(&self) -> bool {
        self.costs.cut_off.is_some() && self.costs.unfinished_timeouts > 0
    }

    /// Who reset the connection, and what was on its way then.
    fn reset(&self) -> Option<Finding> {
        let reset = self.flow.reset?;
        let when = period((reset.time - self.capture_start).as_secs());
        let then = match self.costs.cut_off {
            Some((_, under_way)) if self.given_up() => format!(
                ", with {} not acknowledged after {} in vain: the transfer was cut off",
                bytes(under_way),
                count(self.costs.unfinished_timeouts, "timeout")
            ),
            Some((_, under_way)) => format!(" with {} not acknowledged", bytes(under_way)),
            None => ", and no FIN shows whether all of the data had been sent".into(),
        };
        let text = format!("the {} reset the connection at {when}{then}", reset.by());
        Some(self.without_cost(Kind::Reset, self.seen(), text))
    }

    /// A queue that a person would notice.
    fn queue(&self) -> Option<Finding> {
        let rtt = self.path.rtt.filter(|_| self.path.bloated)?;
        let full = self.path.queue_is_its_own;
        let grounds = Grounds::default().with_if(rtt.n >= 20 && full, Evidence::RoundTrips);
        let (least, most) = (seconds(rtt.min), seconds(rtt.max));
        let text = match full {
            true => format!(
                "a queue of {} on average stood at the bottleneck (RTT {least} to {most}): bufferbloat",
                seconds(rtt.mean - rtt.min)
            ),
            // It went on while this transfer left the bottleneck time to drain.
            false => format!(
                "the RTT was {} on average, {least} to {most}: a queue that others filled, or a path that became longer",
                seconds(rtt.mean)
            ),
        };
        Some(self.without_cost(Kind::Queue, Sure::of(Claim::Queue, self.flow, grounds), text))
    }

    /// What the window that losses left cost against what the path could carry.
    fn kept_small(&self) -> Option<Finding> {
        let small = self.small?;
        let cuts = self.cuts()?;
        let sure = Sure::of(Claim::SmallWindow, self.flow, Grounds::default().with(Evidence::RoundTrips));
        Some(Finding { kind: Kind::SmallWindow, cost_s: Some(small.cost_s), sure, text: small.words(&cuts) })
    }

    /// The same where no rounds tell what the path could carry.
    fn small_window(&self) -> Option<Finding> {
        let c = self.costs;
        // Rounds that show something else at work tell better than the mean round trip.
        let other = self.held.is_some_and(|held| held.limit != LimitedBy::Loss);
        if other || self.small.is_some() || !c.slight() || !c.kept_small(self.flow, self.path) {
            return None;
        }
        let n = self.cuts()?;
        let text = format!(
            "{n} kept the window small: each cuts it, and no queue stood at the bottleneck between them, so the path was not full"
        );
        let sure = Sure::of(Claim::SmallWindow, self.flow, Grounds::default().with(Evidence::RoundTrips));
        Some(self.without_cost(Kind::SmallWindow, sure, text))
    }

    /// What cut the window: "12 loss episodes".
    fn cuts(&self) -> Option<String> {
        let c = self.costs;
        let lossy = c.losses.n + c.outages.n + c.tails.n + c.overshoot.n + c.intermittent.n;
        let needless = c.overtaken.n + c.unheard.n + c.needless.n;
        Some(match (lossy, needless) {
            (0, 0) => return None,
            (0, n) if n == c.overtaken.n => {
                format!("{} ({})", count(n, "needless repair"), self.nothing_lost())
            }
            (0, n) => count(n, "needless repair"),
            (n, 0) => count(n, "loss episode"),
            (n, o) => format!("{} and {}", count(n, "loss episode"), count(o, "needless repair")),
        })
    }

    fn ceiling(&self) -> Option<Finding> {
        let w = self.costs.ceiling.filter(|w| w.reached >= 0.5)?;
        let whose = match w.limit {
            Limit::ReceiveWindow => "the receiver's window",
            _ => "the sender's own window",
        };
        let (size, allows) = (bytes(w.bytes), rate(w.allows_bps));
        let text = format!("{whose} never exceeded {size}, which at this RTT allows {allows} at most");
        let sure = Sure::of(Claim::Ceiling, self.flow, Grounds::default());
        Some(self.without_cost(Kind::Ceiling, sure, text))
    }

    fn nothing(&self) -> Finding {
        let text = self.nothing_words((self.flow.end - self.flow.start).as_secs());
        self.without_cost(Kind::Nothing, Sure::of(Claim::Nothing, self.flow, Grounds::default()), text)
    }

    /// Nothing held it up, nor may anything have: what cannot be told is no part of its time that is worth a look.
    fn unhindered(&self) -> bool {
        let nobodys = self.nobodys || self.held.is_none();
        nobodys && self.undecided < WORTH
    }

    /// In all of its time: the rate is the one that stands above it.
    fn nothing_words(&self, took_s: f64) -> String {
        let flow = self.flow;
        let d = seconds(took_s);
        match flow.retransmitted_segments {
            // What was lost at the very end had no time to cost any.
            0 if flow.bursts > 0 => format!(
                "{} lost in {}, and nothing was resent before the end",
                copies(flow.lost_copies.or(flow.lost_segments).unwrap_or_default()),
                count(u64::from(flow.bursts), "burst")
            ),
            0 if flow.limits.unfilled_gaps > 0 => format!(
                "{} in the data never filled: lost for good, or missing from the capture",
                count(flow.limits.unfilled_gaps, "gap")
            ),
            0 if took_s <= 0.0 => "nothing was lost".into(),
            0 => format!(
                "nothing was lost{}: {} in {d}, {}",
                if self.unhindered() { " and nothing held it up" } else { "" },
                bytes(flow.delivered_bytes()),
                rate(flow.delivered_bytes() as f64 * 8.0 / took_s)
            ),
            n => format!("{} resent in {d}, at hardly any cost", count(n, "segment")),
        }
    }
}

/// How many timers it took: "it took 1 probe and 3 timeouts to repair it".
fn by_timer(g: &Group) -> String {
    let it = if g.n == 1 { "it" } else { "them" };
    match (g.probed, g.timeouts) {
        (p, 0) => format!("it took {} to repair {it}", count(p.max(1), "probe")),
        (0, t) => format!("it took {} to repair {it}", count(t, "timeout")),
        (p, t) => format!("it took {} and {} to repair {it}", count(p, "probe"), count(t, "timeout")),
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

fn receive_window(flow: &FlowRow, c: &Costs) -> u64 {
    c.ceiling.map_or(flow.window_max_bytes.unwrap_or(0), |w| w.bytes)
}
