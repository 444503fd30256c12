//! Where to look, and on what evidence.

use super::super::certainty::Certainty;
use super::super::costs::{Group, WORTH, unanswered};
use super::super::flow_facts::arriving;
use super::super::held::Held;
use super::super::outages::Outages;
use super::super::path::no_queue;
use super::super::where_to_look::Verdict;
use super::super::words::{bytes, copies, count, grouped, percent, period, rate, seconds, times};
use super::{Told, WORTH_SAYING, receive_window};
use crate::limited::{LimitedBy, Why};
use crate::rows::RecoveryStyle;

/// Every path takes packets with so much data (RFC 8200 §5: 1280 bytes).
const LARGE: u32 = 1220;
/// A share of its time that is hardly worth a look.
const LITTLE: f64 = 0.1;
/// A mean over the transfer is one over the time with this limit, from this share of it on.
const ALL_THE_TIME: f64 = 0.9;

impl Told<'_> {
    /// "the network: everything vanishes, both ways, for about 200 ms every 2.50 s (…)".
    pub fn look_at(&self, verdict: Verdict) -> String {
        let why = match (verdict, self.held) {
            (Verdict::CannotTell, _) => return "cannot tell: too little is seen".into(),
            (Verdict::Nothing, _) => return self.innocent(),
            (_, Some(held)) => self.held_up(verdict, held),
            (_, None) => self.at_fault(verdict),
        };
        format!("{}: {why}", verdict.in_words())
    }

    /// What went wrong there, if it cost much, and how long it held the transfer.
    fn held_up(&self, verdict: Verdict, held: &Held) -> String {
        let words = held.words(self.flow);
        match self.tells_fault(verdict, held) {
            true => format!("{}; {words}", self.at_fault(verdict)),
            false => words,
        }
    }

    /// Is what went wrong there told beside the limit?
    pub fn tells_fault(&self, verdict: Verdict, held: &Held) -> bool {
        let dear = self.costs.share_of(verdict) >= WORTH;
        match (verdict, held.why) {
            // What made it somebody's fault, or an outage, has more to say.
            (Verdict::Network, Why::BottleneckFull) => true,
            (Verdict::Network, Why::Outage) if self.outages.is_some() => true,
            (Verdict::Network, Why::TooLarge) => true,
            (Verdict::Network | Verdict::SendingStack, why) => dear || why.limit() == LimitedBy::Loss,
            (Verdict::Receiver, Why::NothingRead) => self.costs.zero_window.n > 0,
            _ => false,
        }
    }

    /// What cost most there.
    fn at_fault(&self, verdict: Verdict) -> String {
        let (flow, c) = (self.flow, self.costs);
        match verdict {
            Verdict::Network => self.network(),
            Verdict::SendingStack => self.stack(),
            Verdict::Receiver if c.peer.total_s > c.windows_s() => format!(
                "for {} of the time the sender waited for data from it",
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
                 algorithm): larger writes or TCP_NODELAY avoid that",
                percent(c.share_of(verdict))
            ),
            Verdict::SendingApplication => {
                format!("it gave TCP nothing to send for {} of the time", percent(c.share_of(verdict)))
            }
            Verdict::Nothing | Verdict::CannotTell => String::new(),
        }
    }

    /// Nobody is to blame; what limited it then, if it shows.
    fn innocent(&self) -> String {
        let c = self.costs;
        let cost = c.total();
        let lost = match cost >= WORTH_SAYING * c.duration_s && cost > 0.0 {
            true => format!(
                "nothing in particular: {}{} of {} were lost in all",
                if cost < LITTLE * c.duration_s { "only " } else { "" },
                seconds(cost),
                seconds(c.duration_s)
            ),
            false => "nothing: this capture shows no lost time".into(),
        };
        let lost = match c.cut_off {
            Some((reset, _)) => {
                format!("{lost}; the {} reset the connection before everything was acknowledged", reset.by())
            }
            None => lost,
        };
        let full = self.held.is_none_or(|held| held.why == Why::BottleneckFull);
        // The mean wait is that of all the time, and so is the rate.
        let full = full && self.held.is_none_or(|held| held.share >= ALL_THE_TIME);
        let queue =
            self.path.queue_s.filter(|_| full && c.duration_s > 0.0 && c.unsent_s() + c.peer.total_s <= 0.0);
        match (queue, self.held) {
            (Some(q), held) => format!(
                "{lost}; a queue of {} stood at the bottleneck, so the path was full at {}{}",
                seconds(q),
                rate(self.flow.delivered_bytes() as f64 * 8.0 / c.duration_s),
                held.map_or(String::new(), |held| format!(" {}", held.time()))
            ),
            (None, Some(held)) => format!("{lost}; {}", held.words(self.flow)),
            (None, None) => lost,
        }
    }

    fn network(&self) -> String {
        let (flow, c) = (self.flow, self.costs);
        let vanished = self.outages.filter(|_| c.outages.n > 0).map(|o| self.vanishing(o));
        let bloat = self.path.rtt.filter(|_| self.path.bloated).map(|r| match self.path.queue_is_its_own {
            true => format!("a queue of {} stands at the bottleneck (bufferbloat)", seconds(r.mean - r.min)),
            false => format!("the RTT is {} where {} would do", seconds(r.mean), seconds(r.min)),
        });
        let handshakes = u64::from(c.handshake_s > 0.0);
        let by_loss = [
            (self.weight_of_outages(), c.outages.cost_s, vanished.clone()),
            (
                self.weight(&c.too_large),
                c.too_large.cost_s,
                flow.too_large.filter(|_| c.too_large.n > 0).map(|t| {
                    format!(
                        "{}: its MTU is smaller than the sender takes it to be, and no ICMP says so",
                        self.sizes(&t)
                    )
                }),
            ),
            (self.weight(&c.tails), c.tails.cost_s, (c.tails.n > 0).then(|| self.tail())),
            (
                (true, c.handshake_s, handshakes),
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
            (self.weight(&c.losses), c.losses.cost_s, (c.losses.n > 0).then(|| self.losing())),
            (self.weight(&c.overshoot), c.overshoot.cost_s, (c.overshoot.n > 0).then(|| self.losing())),
            (self.weight(&c.unheard), c.unheard.cost_s, (c.unheard.n > 0).then(|| self.unheard())),
            (self.weight(&c.overtaken), c.overtaken.cost_s, (c.overtaken.n > 0).then(|| self.overtaking())),
        ];
        let there = by_loss.into_iter().filter(|p| p.2.is_some());
        let worst = there.reduce(|m, p| if p.0 > m.0 { p } else { m }).map(|(_, cost, why)| (cost, why));
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

    /// What stands first of what went wrong: what cost most, then what came most often; a single outage that is a guess
    /// behind all else. Costs that nobody would notice are none: each is what was lost less what seems to have been saved.
    fn weight(&self, g: &Group) -> (bool, f64, u64) {
        (true, if self.dear(g.cost_s) { g.cost_s } else { 0.0 }, g.n)
    }

    fn weight_of_outages(&self) -> (bool, f64, u64) {
        let g = &self.costs.outages;
        let beat = self.outages.is_some_and(|o| o.period_s.is_some());
        let guess = !beat && g.sure.is_some_and(|s| s.certainty == Certainty::Open);
        let (_, cost_s, n) = self.weight(g);
        (!guess, cost_s, n)
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
        let repairs = count(g.n, "repair");
        match self.discarded() {
            true => format!(
                "{repairs} of what had come as far as here, damaged (--checksums tells) or dropped behind"
            ),
            false => format!("packets overtake each other or come twice: {repairs} that needed none"),
        }
    }

    fn tail(&self) -> String {
        let g = &self.costs.tails;
        let tails =
            if g.n == 1 { "the tail of the data was".into() } else { format!("{} tails were", grouped(g.n)) };
        match g.timeouts {
            0 | 1 => format!("{tails} lost ({})", copies(g.lost)),
            n => format!(
                "{tails} lost, and so were some of the repairs ({} in all, {})",
                copies(g.lost),
                count(n, "timeout")
            ),
        }
    }

    /// The handshake passed, and no full segment did: so does a path whose MTU is smaller look, and whose ICMP is lost
    /// (a black hole, RFC 2923 §2.1).
    fn perhaps_too_large(&self) -> String {
        let f = self.flow;
        // Not a single one, then, whatever smaller ones did.
        let size = f.limits.largest_payload.min(f.mss);
        let full = size > LARGE && f.acked_bytes < size.into() && f.handshake.is_some();
        match full && !arriving(f) {
            true => format!(
                "; no packet with {} of data ever did: the path's MTU may be smaller, and its ICMP filtered",
                bytes(size.into())
            ),
            false => String::new(),
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
            return format!(
                "from {} on nothing comes through, to the end{}",
                period(from),
                self.perhaps_too_large()
            );
        }
        // Those of the longest; on a beat one is like another.
        let bounds = match o.at_most_s {
            Some(most) if o.at_least_s < 0.02 => format!("up to {}", seconds(most)),
            Some(most) if seconds(most) == seconds(o.at_least_s) => seconds(most),
            Some(most) => format!("{} to {}", seconds(o.at_least_s), seconds(most)),
            None if o.at_least_s < 0.02 => String::new(),
            None => format!("{} or more", seconds(o.at_least_s)),
        };
        let (long, longest) = match o.length_s {
            Some(s) if o.at_least_s > 2.0 * s => {
                let more = format!(
                    " for about {}, the longest time for {} or more,",
                    seconds(s),
                    seconds(o.at_least_s)
                );
                (more, String::new())
            }
            Some(s) => (format!(" for about {}", seconds(s)), String::new()),
            None if bounds.is_empty() => (String::new(), String::new()),
            None if o.count > 1 && o.period_s.is_none() => {
                (String::new(), format!(", the longest time for {bounds}"))
            }
            None => (format!(" for {bounds}"), String::new()),
        };
        let often = match (o.period_s, o.count) {
            (Some(p), _) => format!(" every {}", period(p)),
            (None, 1) => format!(" at {}", period(o.first_s)),
            // Two show no beat: whatever their distance, there is but one.
            (None, 2) => " twice".into(),
            (None, n) => format!(" {}, at irregular intervals", times(u64::from(n))),
        };
        let flat = match (o.rtt_flat_before, o.count) {
            (0, _) => String::new(),
            (f, n) if f == n && n > 1 => " (an outage, not congestion: RTT was flat before each)".into(),
            (f, n) if f == n => " (an outage, not congestion: RTT was flat before it)".into(),
            (f, n) => format!(" (an outage, not congestion: RTT was flat before {f} of {n})"),
        };
        let dead = match o.dead_from_s {
            Some(from) => format!("; from {} on nothing comes through", period(from)),
            None => String::new(),
        };
        format!("{ways}{long}{often}{longest}{flat}{dead}")
    }

    /// Losses without outages: a queue that overflows, or whatever the queue.
    fn losing(&self) -> String {
        let what = if self.flow.lost_copies.is_some() { "copies" } else { "segments" };
        let share = match self.path.loss_share {
            Some(s) => format!("{} of the {what} are lost", percent(s)),
            None => format!("{what} are lost"),
        };
        // Slow start fills a queue within a round trip, which the longest shows; a policer has none to fill.
        let stood = self.path.rtt.is_some_and(|r| !no_queue(r.max, r));
        let full = self.path.overflow == Some(true)
            || stood && self.path.overflow.is_some() && self.costs.overshoot.lost > self.costs.losses.lost;
        let runs = match self.flow.mean_burst {
            m if m < 1.5 => "mostly one at a time".into(),
            m => format!("about {m:.0} in a row"),
        };
        let (overshoot, later) = (self.costs.overshoot.lost, self.costs.losses.lost);
        let overshot = overshoot > later;
        let share = match overshoot {
            n if n > 0 && !overshot => format!("{share} ({} as slow start overran the queue)", grouped(n)),
            _ => share,
        };
        match (self.path.overflow, self.path.rtt) {
            (_, Some(r)) if full => format!(
                "{share} where a queue overflows (RTT {} to {}): congestion",
                seconds(r.min),
                seconds(r.max)
            ),
            _ if overshot => format!("{share}, most of them as slow start overran the bottleneck's queue"),
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
        match self.held {
            Some(held) => e.push(format!("{} of the time", percent(held.share))),
            None if c.share_of(verdict) >= WORTH_SAYING => {
                e.push(format!("{} of the duration", percent(c.share_of(verdict))));
            }
            None => {}
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
                    1 => ", one of them not seen".into(),
                    n => format!(", {n} of them not seen"),
                };
                e.push(format!(
                    "{} outages, one every {} give or take {}{missed}",
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
