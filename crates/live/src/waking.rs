//! When the bridge asks to be woken, and how long before the moment.
//!
//! A thread that sleeps comes back when the machine gets to it: after 20 us as a rule, after hundreds where the core
//! has to leave a halt or the kernel cannot be interrupted just then. So a real-time bridge asks to be woken early,
//! by as much as all but a few wake-ups need here and now, and spins through the rest. A thread that spins has its
//! core already; what is left then are interrupts and what a hypervisor takes.

use instant::{Span, Time};
use net::{NodeId, Topology};

/// Of the wake-ups, one in so many may come later than they were asked for earlier.
const ONE_IN: i64 = 2_000;
/// What the lead loses at each wake-up that comes in time; a late one adds `ONE_IN` times that.
const STEP: Span = Span::from_nanos(100);
/// Without real-time priority the lead stays at that: who spins then only loses the core for longer.
const FIRST_LEAD: Span = Span::from_micros(60);
const LEADS: (Span, Span) = (Span::from_micros(20), Span::from_micros(500));

/// The bridge's core is others' for a quarter of the time at least: their work is what the bridge is there for. Who
/// leaves them less than a twentieth, the kernel takes it from, 50 ms at a time (its "fair server", since 6.12).
const REST_SHARE: i64 = 4;
/// What is worth a sleep.
const REST: Span = Span::from_micros(30);
/// A rest is taken where so many times as much is left until something is due.
const MARGIN: i64 = 4;
/// Who owes that much does not spin for longer than a usual wake-up takes.
const MUCH_OWED: Span = Span::from_millis(1);
/// Who owes that much rests, whatever is due.
const TOO_MUCH_OWED: Span = Span::from_millis(5);
/// Older debts are forgiven, and so is what was rested ahead.
const COUNTED: Span = Span::from_millis(10);

/// How the bridge wakes: what it has learned about this machine, and what rest it owes.
#[derive(Clone, Debug)]
pub struct Waking {
    real_time: bool,
    lead: Span,
    /// Below zero where more was slept than had to be.
    owed: Span,
    /// Until when time is accounted for.
    counted: Time,
}

impl Waking {
    pub fn new(real_time: bool) -> Waking {
        Waking { real_time, lead: FIRST_LEAD, owed: Span::ZERO, counted: Time::ZERO }
    }

    /// For when to ask, to be awake at `due`; not after `now` if there is no time to sleep.
    pub fn ask(&mut self, now: Time, due: Time) -> Time {
        self.owed = (self.owed + (now - self.counted) / (REST_SHARE - 1)).min(COUNTED);
        self.counted = now;
        let lead = if self.owed < MUCH_OWED { self.lead } else { self.lead.min(LEADS.0) };
        let early = due + -lead;
        let rest = if self.owed < TOO_MUCH_OWED { ((due - now) / MARGIN).min(self.owed) } else { REST };
        if self.real_time && rest >= REST { early.max(now + rest) } else { early }
    }

    /// It is awake again, by what it asked for unless something `came` before.
    pub fn slept(&mut self, asked: Time, woke: Time, came: bool) {
        self.owed = (self.owed - (woke - self.counted)).max(-COUNTED);
        self.counted = woke;
        if self.real_time && !came {
            let change = if woke - asked > self.lead { STEP * ONE_IN } else { -STEP };
            self.lead = (self.lead + change).max(LEADS.0).min(LEADS.1);
        }
    }
}

/// The least time that a packet takes from one host to another, whatever the queues: links' delays only.
pub fn least_transit(topology: &Topology, hosts: &[NodeId]) -> Span {
    let from = |from: &NodeId| {
        let delays = delays_from(topology, *from);
        hosts.iter().filter(|to| *to != from).filter_map(|to| delays[to.0 as usize]).min()
    };
    hosts.iter().filter_map(from).min().unwrap_or(Span::ZERO)
}

/// By node: the sum of the delays on the fastest way there.
fn delays_from(topology: &Topology, from: NodeId) -> Vec<Option<Span>> {
    let mut delays = vec![None; topology.nodes as usize];
    delays[from.0 as usize] = Some(Span::ZERO);
    // A way has fewer links than there are nodes.
    for _ in 1..topology.nodes {
        for link in &topology.links {
            let (a, b) = (link.between.0.0 as usize, link.between.1.0 as usize);
            for (near, far, delay) in [(a, b, link.forward.delay), (b, a, link.back.delay)] {
                if let Some(so_far) = delays[near] {
                    let sum = so_far + delay;
                    delays[far] = Some(delays[far].map_or(sum, |known: Span| known.min(sum)));
                }
            }
        }
    }
    delays
}

#[cfg(test)]
mod tests {
    use super::*;
    use links::queue::droptail;
    use links::spec::{Limit, LinkSpec, QueueSpec};
    use net::Duplex;

    const MS: Span = Span::from_millis(1);

    #[test]
    fn the_lead_follows_what_wake_ups_need_and_stays_in_its_bounds() {
        let lead_after = |late: Span, real_time| {
            let mut waking = Waking::new(real_time);
            for k in 0..3_000 {
                let asked = Time::ZERO + MS * k;
                waking.slept(asked, asked + late, false);
            }
            waking.lead
        };
        assert_eq!(lead_after(Span::from_micros(5), true), LEADS.0);
        assert_eq!(lead_after(MS, true), LEADS.1);
        let some = lead_after(Span::from_micros(70), true);
        assert!(Span::from_micros(69) < some && some <= LEADS.1, "{some}");
        assert_eq!(lead_after(MS, false), FIRST_LEAD);
    }

    #[test]
    fn a_quarter_of_the_time_is_others_however_much_there_is_to_do() {
        for (gap, work) in [(20, 15), (100, 15), (100, 90), (1_000, 30)] {
            let mut waking = Waking::new(true);
            let (mut now, mut due, mut slept) = (Time::ZERO, Time::ZERO, Span::ZERO);
            while now < Time::ZERO + MS * 1_000 {
                due = (due + Span::from_micros(gap)).max(now);
                let ask = waking.ask(now, due);
                if ask > now {
                    waking.slept(ask, ask, false);
                    slept += ask - now;
                }
                now = due.max(ask) + Span::from_micros(work);
            }
            assert!(slept.0 * 100 > now.0 * 24, "{slept} of {now}, {work} us of work every {gap}");
        }
    }

    #[test]
    fn a_rest_leaves_time_before_what_is_due() {
        let mut waking = Waking::new(true);
        let now = Time::ZERO + MS;
        let due = now + Span::from_micros(160);
        let ask = waking.ask(now, due);
        assert!(due - ask >= Span::from_micros(160) * 3 / 4 - FIRST_LEAD, "{}", due - ask);
        assert!(ask > now);
    }

    #[test]
    fn the_fastest_way_between_two_hosts_counts() {
        let spec = |ms: i64| LinkSpec {
            rate_bps: None,
            delay: MS * ms,
            framing_bytes: 0,
            queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(1) }),
            channels: Vec::new(),
            arq: None,
        };
        let link =
            |a: usize, b: usize, there: i64, back: i64| Duplex::new("", (a, b), &spec(there), &spec(back));
        let links = vec![link(0, 2, 1, 4), link(2, 1, 5, 3), link(0, 1, 9, 9)];
        let topology = Topology { nodes: 3, links };
        assert_eq!(least_transit(&topology, &[NodeId(0), NodeId(1)]), MS * 6);
        assert_eq!(least_transit(&topology, &[NodeId(0)]), Span::ZERO);
    }
}
