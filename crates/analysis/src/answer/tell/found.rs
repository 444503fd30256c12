//! One finding for each thing that cost time.

use super::super::certainty::{Claim, Evidence, Grounds};
use super::super::costs::{Gaps, Group, unanswered};
use super::super::findings::{Finding, Kind};
use super::super::grounds::Sure;
use super::super::words::{copies, count, grouped, seconds, times};
use super::{MANY, Told, WORTH_SAYING, acks, by_timer, ending};
use crate::rows::TooLarge;

impl Told<'_> {
    pub(super) fn dear(&self, cost_s: f64) -> bool {
        cost_s >= WORTH_SAYING * self.costs.duration_s && cost_s > 0.0
    }
    fn took(&self) -> String {
        seconds(self.costs.duration_s)
    }
    fn lossy(&self) -> [&Group; 6] {
        let c = self.costs;
        [&c.outages, &c.too_large, &c.tails, &c.overshoot, &c.losses, &c.intermittent]
    }
    /// It cost time, or many of the losses are its own.
    fn due(&self, g: &Group) -> bool {
        let all: u64 = self.lossy().iter().map(|g| g.lost).sum();
        g.n > 0 && (self.dear(g.cost_s) || g.lost as f64 >= MANY * all.max(1) as f64)
    }
    /// "cost 4.1 s of 20.3 s (46 copies lost)".
    fn price(&self, g: &Group, always: bool) -> String {
        let several = self.lossy().iter().filter(|g| g.lost > 0).count() > 1;
        let lost = match several || always {
            true => format!(" ({} lost)", copies(g.lost)),
            false => String::new(),
        };
        match self.dear(g.cost_s) {
            true => format!("cost {} of {}{lost}", seconds(g.cost_s), self.took()),
            false => format!("cost hardly any time{lost}"),
        }
    }
    fn found(&self, kind: Kind, g: &Group, claim: Claim, text: String) -> Finding {
        // What all of its episodes are is a claim of its own.
        let of_all = Sure::of(claim, self.flow, Grounds::default());
        let sure = g.sure.map_or(of_all, |s| s.and(of_all));
        Finding { kind, cost_s: Some(g.cost_s), sure, text }
    }

    pub(super) fn outages(&self) -> Option<Finding> {
        let g = &self.costs.outages;
        let several = self.outages.is_some_and(|o| o.count > 1);
        if !(self.due(g) || g.n > 0 && several) {
            return None;
        }
        let n = self.outages.map_or(g.n, |o| u64::from(o.count));
        let within = match n {
            n if n <= g.n || self.costs.overshoot.n > 0 => String::new(),
            _ => format!(" in {}", count(g.n, "episode")),
        };
        let price = self.price(g, !self.dear(g.cost_s));
        let text = format!("{}{within} {price}; {}", count(n, "outage"), ending(g, n));
        Some(self.found(Kind::Outages, g, Claim::Repair, text))
    }

    /// What vanished for its size, and what came through.
    pub(super) fn sizes(&self, t: &TooLarge) -> String {
        let (from, to) = (grouped(t.lost_from_bytes.into()), grouped(t.through_to_bytes.into()));
        format!("packets with {from} bytes of data or more vanish, smaller ones (up to {to}) come through")
    }

    pub(super) fn too_large(&self) -> Option<Finding> {
        let (g, t) = (&self.costs.too_large, self.flow.too_large?);
        let price = self.price(g, true);
        let end = match t.until {
            Some(_) => "until the sender sent smaller ones",
            None => "to the end",
        };
        let text = format!("{}: that {price} and lasted {end}", self.sizes(&t));
        let grounds = Grounds::default().with(Evidence::SizesApart);
        let sure = Sure::of(Claim::TooLarge, self.flow, grounds);
        Some(Finding { kind: Kind::TooLarge, cost_s: Some(g.cost_s), sure, text })
    }

    pub(super) fn tails(&self) -> Option<Finding> {
        let g = &self.costs.tails;
        let what = match g.n {
            1 => "the tail of the data was lost, which".into(),
            n => format!("{} lost tails", grouped(n)),
        };
        let price = self.price(g, true);
        let text = format!("{what} {price}: nothing behind it could be SACKed, so {}", by_timer(g));
        self.due(g).then(|| self.found(Kind::LostTails, g, Claim::Repair, text))
    }

    pub(super) fn overshoot(&self) -> Option<Finding> {
        let g = &self.costs.overshoot;
        let what = format!("slow start overran the bottleneck's queue: {} lost", copies(g.lost));
        let text = match self.dear(g.cost_s) {
            true => format!("{what}, which cost {} of {}", seconds(g.cost_s), self.took()),
            false => format!("{what}, at hardly any cost"),
        };
        self.due(g).then(|| self.found(Kind::Overshoot, g, Claim::Overshoot, text))
    }

    pub(super) fn losses(&self) -> Option<Finding> {
        let g = &self.costs.losses;
        let (what, price) = (count(g.n, "loss episode"), self.price(g, true));
        let text = match self.dear(g.cost_s) {
            true => format!("{what} {price}; {}", ending(g, g.n)),
            false => format!("{what} {price}"),
        };
        self.due(g).then(|| self.found(Kind::Losses, g, Claim::Repair, text))
    }

    /// Repairs of what was not lost, and timers that waited too long.
    pub(super) fn needless(&self) -> Vec<Finding> {
        let (c, d) = (self.costs, self.took());
        let mut found = Vec::new();
        let mut add = |kind, g: &Group, text| found.push(self.found(kind, g, Claim::Repair, text));
        let dear = |g: &Group| g.n > 0 && self.dear(g.cost_s);
        if dear(&c.unheard) {
            let g = &c.unheard;
            let what = match g.lost_acks {
                0 => format!("ACKs were lost or late {}, which", times(g.n)),
                n => format!("{} lost on the way back in {}, which", acks(n), count(g.n, "episode")),
            };
            let needless = count(g.needless, "segment");
            let took = seconds(g.cost_s);
            let text = format!("{what} cost {took} of {d}: the timer resent {needless} that had arrived");
            add(Kind::LostAcks, g, text);
        }
        if dear(&c.overtaken) {
            let g = &c.overtaken;
            let what = count(g.n, "needless repair");
            add(
                Kind::Overtaken,
                g,
                format!("{what} cost {} of {d}: {}", seconds(g.cost_s), self.nothing_lost()),
            );
        }
        if self.due(&c.intermittent) {
            let g = &c.intermittent;
            let what = count(g.n, "intermittent repair");
            let (lost, timeouts) = (count(g.lost, "lost segment"), count(g.timeouts, "timeout"));
            let took = seconds(g.cost_s);
            let text = format!("{what} cost {took} of {d}: {timeouts} for {lost}, one segment a timeout");
            add(Kind::OnePerTimeout, g, text);
        }
        if dear(&c.needless) {
            let g = &c.needless;
            let what = count(g.n, "needless repair");
            let text = format!("{what} cost {} of {d}: nothing had been lost", seconds(g.cost_s));
            add(Kind::NeedlessRepairs, g, text);
        }
        if self.dear(c.stale_backoff_s) {
            let s = seconds(c.stale_backoff_s);
            found.push(Finding {
                kind: Kind::StaleBackoff,
                cost_s: Some(c.stale_backoff_s),
                sure: Sure::of(Claim::Timeouts, self.flow, Grounds::default().with(Evidence::BackedOff)),
                text: format!("{s} of waiting came from a back-off that was kept after its segment had been acknowledged"),
            });
        }
        found
    }

    /// What the sender waited for.
    pub(super) fn waits(&self) -> Vec<Finding> {
        let (c, d) = (self.costs, self.took());
        let gaps: [(Kind, Gaps, &str); 5] = [
            (Kind::Application, c.application, "the application had nothing to send for"),
            (Kind::ClosedWindow, c.zero_window, "the receiver had closed its window for"),
            (Kind::FullWindow, c.receive_window, "the receiver's window was full for"),
            (Kind::Peer, c.peer, "the sender waited for data from the other host for"),
            (
                Kind::Nagle,
                c.nagle,
                "small segments waited for the ACK of the one before (Nagle's algorithm) for",
            ),
        ];
        let told = |(kind, g, what): (Kind, Gaps, &str)| {
            let (total, longest) = (seconds(g.total_s), seconds(g.longest_s));
            let tail = if g.n > 1 { format!(", the longest {longest}") } else { String::new() };
            let text = format!("{what} {total} of {d}, in {}{tail}", count(g.n, "gap"));
            Finding { kind, cost_s: Some(g.total_s), sure: g.sure.unwrap_or_default(), text }
        };
        gaps.into_iter().filter(|(_, g, _)| g.n > 0 && self.dear(g.total_s)).map(told).collect()
    }

    pub(super) fn handshake(&self) -> Option<Finding> {
        let (flow, c, d) = (self.flow, self.costs, self.took());
        let text = if unanswered(flow) {
            let n = times(u64::from(flow.syn_retransmissions) + 1);
            format!("its SYN was sent {n} in {d} and never answered")
        } else if self.dear(c.handshake_s) {
            let n = times(u64::from(flow.handshake_resent));
            format!("the handshake was resent {n}, which cost {} of {d}", seconds(c.handshake_s))
        } else {
            return None;
        };
        Some(Finding { kind: Kind::Handshake, cost_s: Some(c.handshake_s), sure: self.seen(), text })
    }

    /// As the packets themselves say.
    pub(super) fn seen(&self) -> Sure {
        Sure::of(Claim::Seen, self.flow, Grounds::default())
    }
}
