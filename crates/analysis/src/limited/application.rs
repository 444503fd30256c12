//! The applications: nothing to send at one end, nothing read at the other.

use super::facts::{Facts, MOSTLY, RoundFacts};
use super::sender;
use super::{Basis, Claim, Told, Why};
use crate::answer::certainty::Certainty;
use crate::rows::IdleCause;

pub(super) fn claims(facts: &Facts, claims: &mut Vec<Claim>) {
    for i in facts.idle {
        let (why, basis) = match i.cause {
            IdleCause::ZeroWindow => (Why::NothingRead, Basis::WindowClosed),
            IdleCause::Application => (Why::NothingToSend, Basis::Silence),
            IdleCause::Peer => (Why::NotAsked, Basis::Silence),
            IdleCause::Nagle => (Why::Nagle, Basis::Silence),
            IdleCause::Unknown | IdleCause::Timeout if !facts.told_by_timer(i) && facts.had_room(i) => {
                (Why::NothingToSend, Basis::RoomLeft)
            }
            _ => continue,
        };
        claims.push(Claim { start: i.start, end: i.end, why, sure: facts.sure_of_gap(i), basis });
    }
    let over = Claim {
        start: facts.done,
        end: facts.end,
        why: Why::Done,
        sure: Certainty::Known,
        basis: Basis::Over,
    };
    claims.push(over);
}

pub(super) fn round(facts: &Facts, r: &RoundFacts) -> Told {
    // Where data is seen as it arrives PSH alone tells, and a sender with a small buffer sets it too.
    let sure = if facts.afar() { Certainty::Likely } else { Certainty::Known };
    // Who waited for the other host's data whenever a gap was long enough to see for what, waits so in between, too.
    let (why, sure) = match facts.answers() {
        true => (Why::NotAsked, Certainty::Likely),
        false => (Why::NothingToSend, sure),
    };
    (r.share(r.row.waited.application) > MOSTLY).then_some((why, sure, Basis::Pushed))
}

/// Data that no ACK set off, though the window had room, and that was not paced: the program gave it so.
pub(super) fn unhurried(facts: &Facts, r: &RoundFacts) -> Told {
    // From afar waits that nothing explains may be a bottleneck's or a pacer's spacing as well.
    let shown = !facts.afar() || facts.was_faster(r) || facts.pushes;
    let own = sender::paces(facts, r) || sender::may_be_held(facts, r);
    let told = !r.after_loss && sender::not_by_acks(facts, r) && shown && !own;
    told.then_some((Why::NothingToSend, Certainty::Likely, Basis::Unhurried))
}
