//! Where to look, and on what evidence.

use super::super::Verdict;
use super::super::costs::unanswered;
use super::super::outages::Outages;
use super::super::path::arriving;
use super::super::words::{bytes, copies, count, grouped, percent, period, rate, seconds, times};
use super::{Told, WORTH_SAYING, receive_window};
use crate::rows::RecoveryStyle;

impl Told<'_> {
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
