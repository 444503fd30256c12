//! The receiver: a window that is full though the program there reads, or because it does not.

use super::facts::{Facts, MOSTLY, RoundFacts};
use super::network;
use super::{Basis, Claim, Told, Why};
use crate::answer::certainty::Certainty;
use crate::rows::IdleCause;

/// Away from the sender the window counts as full from this share on that was under way.
const NEARLY: f64 = 0.85;
/// An answer that takes this share of a round trip longer than the quickest is a late one.
const LATE: f64 = 0.15;
/// A window below this share of the largest so far has shrunk: what fills it is not read.
const SHRUNK: f64 = 0.7;

pub(super) fn claims(facts: &Facts, claims: &mut Vec<Claim>) {
    for i in facts.idle.iter().filter(|i| i.cause == IdleCause::ReceiveWindow) {
        let meets = |r: &&RoundFacts| r.row.start <= i.start && i.start <= r.row.end;
        let shrunk = facts.rounds.iter().find(meets).is_some_and(has_shrunk);
        let why = if shrunk { Why::NothingRead } else { Why::SteadyWindow };
        claims.push(Claim {
            start: i.start,
            end: i.end,
            why,
            sure: Certainty::Likely,
            basis: Basis::WindowFullGap,
        });
    }
}

fn has_shrunk(r: &RoundFacts) -> bool {
    let now =
        r.row.window_min_bytes.zip(r.row.window_max_bytes).map(|(least, most)| (least + most) as f64 / 2.0);
    now.zip(r.window_so_far).is_some_and(|(now, most)| now < SHRUNK * most as f64)
}

pub(super) fn round(facts: &Facts, r: &RoundFacts) -> Told {
    // Where data arrives, what its host had not acknowledged yet is seen too.
    let fills = |bytes: f64| r.row.window_max_bytes.is_some_and(|w| bytes + facts.mss >= NEARLY * w as f64);
    let held_here = facts.afar() && fills(r.row.flight_bytes as f64);
    let full = match facts.afar() {
        true => held_here || fills(r.flight) || r.share(r.row.waited.window) > MOSTLY,
        false => r.share(r.row.waited.window) > MOSTLY,
    };
    // Linux answers at once only what the program has read, or where the window can move (__tcp_ack_snd_check): with a full
    // window, and nothing in a queue, the program is what the sender waits for.
    let late = r.queued.zip(facts.rtt).map_or(0.0, |(late, rtt)| late / rtt);
    let unread = has_shrunk(r) || held_here || late >= LATE && network::idles(facts, r);
    let why = if unread { Why::NothingRead } else { Why::SteadyWindow };
    let sure = if facts.afar() || late >= LATE { Certainty::Likely } else { Certainty::Known };
    full.then_some((why, sure, Basis::WindowFull))
}
