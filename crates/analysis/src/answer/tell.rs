//! The sentences.

use super::costs::{Costs, Group, unanswered};
use super::outages::Outages;
use super::path::{Path, arriving};
use super::words::{bytes, copies, count, grouped, percent, period, rate, seconds, times};
use super::{Verdict, Wait};
use crate::rows::{FlowRow, Limit, RecoveryStyle};

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

    /// "the network: everything vanishes, both ways, for about 200 ms every 2.50 s (…)".
    pub fn look_at(&self, verdict: Verdict) -> String {
        let (flow, c) = (self.flow, self.costs);
        let why = match verdict {
            Verdict::Network => self.network(),
            Verdict::SendingStack => self.stack(),
            Verdict::Receiver if c.peer.total_s > c.windows_s() => format!(
                "for {} of the time nothing had been asked, and the sender waited for data from it",
                percent(c.peer.total_s / c.duration_s)
            ),
            Verdict::Receiver => match c.zero_window.n {
                0 => {
                    format!("its window of {} is what holds the sender back", bytes(receive_window(flow, c)))
                }
                n => format!("it closed its window {}: the program there reads too slowly", times(n)),
            },
            Verdict::SendingApplication if c.nagle.total_s > c.application.total_s => format!(
                "for {} of the time its small pieces were held back until the ACK of the one before (Nagle's \
                 algorithm): larger writes or TCP_NODELAY mend that",
                percent(c.share_of(verdict))
            ),
            Verdict::SendingApplication => {
                format!(
                    "for {} of the time it had given the stack nothing to send",
                    percent(c.share_of(verdict))
                )
            }
            Verdict::Nothing => return self.innocent(),
            Verdict::CannotTell => return "cannot tell: too little is seen".into(),
        };
        format!("{}: {why}", verdict.words())
    }

    /// Nobody is to blame; what limited it then, if it shows.
    fn innocent(&self) -> String {
        let c = self.costs;
        let cost = c.total();
        let lost = match cost >= WORTH_SAYING * c.duration_s && cost > 0.0 {
            true => format!(
                "nothing in particular: only {} of {} were lost in all",
                seconds(cost),
                seconds(c.duration_s)
            ),
            false => "nothing: no time was lost that shows here".into(),
        };
        let lost = match c.cut_off {
            Some((reset, _)) => format!("{lost}; the {} reset it before all was acknowledged", reset.by()),
            None => lost,
        };
        match self.path.queue_s.filter(|_| c.duration_s > 0.0 && c.unsent_s() + c.peer.total_s <= 0.0) {
            Some(q) => format!(
                "{lost}; a queue of {} stood at the bottleneck, so the path was full at {}",
                seconds(q),
                rate(self.flow.delivered_bytes() as f64 * 8.0 / c.duration_s)
            ),
            None => lost,
        }
    }

    fn network(&self) -> String {
        let (flow, c) = (self.flow, self.costs);
        let vanished = self.outages.filter(|_| c.outages.n > 0).map(|o| self.vanishing(o));
        let bloat = self.path.rtt.filter(|_| self.path.bloated).map(|r| {
            format!("a queue of {} stands at the bottleneck (bufferbloat)", seconds(r.mean - r.min))
        });
        let by_loss = [
            (c.outages.cost_s, vanished.clone()),
            (c.tails.cost_s, (c.tails.n > 0).then(|| self.tail())),
            (
                c.handshake_s,
                (c.handshake_s > 0.0).then(|| match unanswered(flow) {
                    true => {
                        "nothing answers: the other host is down, something drops what is sent to that port, \
                             or the path is dead"
                            .into()
                    }
                    false => "the first packets of the connection were lost".into(),
                }),
            ),
            (c.losses.cost_s, (c.losses.n > 0).then(|| self.losing())),
            (c.overshoot.cost_s, (c.overshoot.n > 0).then(|| self.losing())),
            (c.unheard.cost_s, (c.unheard.n > 0).then(|| self.unheard())),
            (c.overtaken.cost_s, (c.overtaken.n > 0).then(|| self.overtaking())),
        ];
        let worst =
            by_loss.into_iter().filter(|p| p.1.is_some()).reduce(|m, p| if p.0 > m.0 { p } else { m });
        match (worst, bloat) {
            // A queue that hides what the losses cost comes first.
            (Some((cost, why)), Some(bloat)) if cost < 0.03 * c.duration_s => {
                format!("{bloat}, and {}", vanished.or(why).unwrap_or_default())
            }
            (Some((_, Some(why))), Some(bloat)) => format!("{why}; {bloat}"),
            (Some((_, Some(why))), None) => why,
            (_, Some(bloat)) => bloat,
            _ => self.losing(),
        }
    }

    fn unheard(&self) -> String {
        match self.costs.unheard.lost_acks {
            0 => "ACKs are lost or late on the way back, and what they told of is sent again".into(),
            n => {
                format!("ACKs are lost on the way back ({}), and what they told of is sent again", grouped(n))
            }
        }
    }

    fn overtaking(&self) -> String {
        let g = &self.costs.overtaken;
        format!("packets overtake each other or come twice: {} that needed none", count(g.n, "repair"))
    }

    fn tail(&self) -> String {
        let g = &self.costs.tails;
        let tails = if g.n == 1 {
            "the tail of what was sent was".into()
        } else {
            format!("{} tails were", grouped(g.n))
        };
        match g.timeouts {
            0 | 1 => format!("{tails} lost ({})", copies(g.lost)),
            n => format!(
                "{tails} lost, and so were repairs of it ({} in all, {})",
                copies(g.lost),
                count(n, "timeout")
            ),
        }
    }

    fn vanishing(&self, o: &Outages) -> String {
        let ways = match o.both_ways {
            _ if arriving(self.flow) => "nothing arrives",
            Some(true) => "everything vanishes, both ways,",
            Some(false) => "data vanishes, ACKs do not,",
            None => "everything vanishes",
        };
        if let (Some(from), 1) = (o.dead_from_s, o.count) {
            return format!("nothing comes through any more from {} on, to the end", period(from));
        }
        let long = match (o.length_s, o.at_most_s) {
            (Some(s), _) if o.at_least_s > 2.0 * s => {
                format!(" for about {}, the longest {} or more,", seconds(s), seconds(o.at_least_s))
            }
            (Some(s), _) => format!(" for about {}", seconds(s)),
            (None, Some(most)) if o.at_least_s < 0.02 => format!(" for up to {}", seconds(most)),
            (None, Some(most)) => format!(" for {} to {}", seconds(o.at_least_s), seconds(most)),
            (None, None) if o.at_least_s < 0.02 => String::new(),
            (None, None) => format!(" for {} or more", seconds(o.at_least_s)),
        };
        let often = match (o.period_s, o.count) {
            (Some(p), _) => format!(" every {}", period(p)),
            (None, 1) => format!(" once, at {}", period(o.first_s)),
            // Two show no beat: whatever their distance, there is but one.
            (None, 2) => " twice".into(),
            (None, n) => format!(" {}, not in a beat", times(u64::from(n))),
        };
        let flat = match (o.rtt_flat_before, o.count) {
            (0, _) => String::new(),
            (f, n) if f == n && n > 1 => " (an outage, not congestion: RTT was flat before each)".into(),
            (f, n) if f == n => " (an outage, not congestion: RTT was flat before it)".into(),
            (f, n) => format!(" (an outage, not congestion: RTT was flat before {f} of {n})"),
        };
        let dead = match o.dead_from_s {
            Some(from) => format!("; from {} on nothing comes through any more", period(from)),
            None => String::new(),
        };
        format!("{ways}{long}{often}{flat}{dead}")
    }

    /// Losses without outages: a queue that overflows, or whatever the queue.
    fn losing(&self) -> String {
        let what = if self.flow.lost_copies.is_some() { "copies" } else { "segments" };
        let share = match self.path.loss_share {
            Some(s) => format!("{} of the {what} are lost", percent(s)),
            None => format!("{what} are lost"),
        };
        let full = self.path.overflow == Some(true)
            || self.path.overflow.is_some() && self.costs.overshoot.lost > self.costs.losses.lost;
        let runs = match self.flow.mean_burst {
            m if m < 1.5 => "mostly one at a time".into(),
            m => format!("about {m:.0} in a row"),
        };
        match (self.path.overflow, self.path.rtt) {
            (_, Some(r)) if full => format!(
                "{share} where a queue overflows (RTT {} to {}): congestion",
                seconds(r.min),
                seconds(r.max)
            ),
            (Some(false), _) => format!("{share}, {runs}, with no queue built up before: not congestion"),
            _ => format!("{share}, {runs}"),
        }
    }

    fn stack(&self) -> String {
        let (flow, c) = (self.flow, self.costs);
        let one_at_a_time = match flow.sack_permitted {
            Some(true) => "it repairs one segment a timeout instead of all that SACK shows to be missing",
            Some(false) => "it repairs one segment a timeout, and SACK was not agreed on",
            None => "it repairs one segment a timeout",
        };
        let parts = [
            (c.intermittent.cost_s, one_at_a_time),
            (c.stale_backoff_s, "its timer keeps backing off after progress, as Linux 2.2 did"),
            (c.needless.cost_s, "it resends what had arrived"),
        ];
        let (cost, worst) = parts.into_iter().fold((0.0, ""), |m, p| if p.0 > m.0 { p } else { m });
        match c.ceiling {
            _ if cost > 0.0 => worst.into(),
            Some(w) => format!("its window stays at {} (send buffer or congestion window)", bytes(w.bytes)),
            None => format!("{} resent needlessly", count(flow.needless, "segment")),
        }
    }

    /// Figures behind the verdict.
    pub fn evidence(&self, verdict: Verdict) -> Vec<String> {
        let (flow, c) = (self.flow, self.costs);
        let mut e = Vec::new();
        if c.share_of(verdict) >= WORTH_SAYING {
            e.push(format!("{} of the duration", percent(c.share_of(verdict))));
        }
        if let (Some(lost), Some(share)) = (flow.lost_copies.filter(|l| *l > 0), self.path.loss_share) {
            e.push(format!(
                "{} of {} copies lost ({}) in {}, the largest {}",
                grouped(lost),
                grouped(flow.segments),
                percent(share),
                count(u64::from(flow.bursts), "burst"),
                flow.largest_burst
            ));
        }
        if let Some(o) = self.outages.filter(|_| verdict == Verdict::Network) {
            if let (Some(p), Some(j)) = (o.period_s, o.jitter_s) {
                let missed = match o.beats_missed {
                    0 => String::new(),
                    n => format!(", {n} unseen"),
                };
                e.push(format!(
                    "{} outages on a beat of {}, within {}{missed}",
                    o.count,
                    period(p),
                    seconds(j)
                ));
            }
            if o.rtt_flat_before > 0 && o.count > 1 {
                let all = count(u64::from(o.count), "outage");
                e.push(format!("RTT near its minimum before {} of {all}", o.rtt_flat_before));
            }
        }
        if let Some(r) = self.path.rtt {
            e.push(match r.n {
                1 => format!("RTT {} (of the handshake)", seconds(r.mean)),
                _ => format!("RTT {} ({} to {})", seconds(r.mean), seconds(r.min), seconds(r.max)),
            });
        }
        if flow.timeouts > 0 {
            let deepest = match flow.max_backoff {
                0 => String::new(),
                b => format!(", back-off up to {b}"),
            };
            e.push(format!("{}{deepest}", count(flow.timeouts, "timeout")));
        }
        if flow.zero_windows > 0 {
            e.push(format!("zero window advertised {}", times(flow.zero_windows)));
        }
        if let Some(w) = c.ceiling {
            e.push(format!("reached {} of what {} allow", percent(w.reached), bytes(w.bytes)));
        }
        if flow.needless * 20 > flow.retransmitted_segments {
            let (n, all) = (grouped(flow.needless), grouped(flow.retransmitted_segments));
            e.push(format!("{n} of {all} resent segments were needless"));
        }
        if let Some((RecoveryStyle::OnePerTimeout, _)) = flow.inference.recovery {
            e.push("its repairs follow the pattern of one segment a timeout".into());
        }
        e
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
