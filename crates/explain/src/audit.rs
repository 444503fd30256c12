//! Laws that no answer may break, whatever the rows say. `rexmit analyze --audit` holds every answer against them.

use crate::answer::{Answer, Share};
use crate::cause::Cause;
use crate::conversation::Rows;
use wire::Span;

/// Rounding of a rate, and the edges of the bins that it was read from.
const ROUNDING: f64 = 0.9;

/// What is wrong with an answer, a sentence each; nothing of one that keeps the laws.
pub fn violations(rows: &Rows<'_>, a: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    let mut law = |holds: bool, broken: String| {
        if !holds {
            found.push(broken);
        }
    };
    let sum = a.causes.iter().fold(Span::ZERO, |sum, s| sum + s.time);
    law(sum == a.owed, format!("the causes have {sum:?} of {:?} in which something was owed", a.owed));
    let whole = rows.waits.iter().fold(Span::ZERO, |sum, w| sum + w.length());
    law(a.owed <= whole, format!("{:?} were owed in a connection of {whole:?}", a.owed));
    for s in &a.causes {
        let name = s.cause.name();
        law(s.time > Span::ZERO && s.time <= a.owed, format!("{name} has {:?} of {:?}", s.time, a.owed));
        law((0.0..=1.0 + 1e-9).contains(&s.share), format!("{name} has a share of {}", s.share));
        law(s.first <= s.last, format!("{name} ends before it begins"));
        law(
            !says_none(&s.words.text),
            format!("{name} speaks of what was counted 0 times: {}", s.words.text),
        );
    }
    law(!a.text.is_empty(), format!("{} says nothing", a.cause.name()));
    law(leads(a), format!("{} is the answer, and another cause has more time", a.cause.name()));
    for (side, path) in a.paths.iter().enumerate() {
        let Some(flow) = rows.flows[side].flow else { continue };
        let took = (flow.end - flow.start).as_secs();
        let carried = flow.delivered_bytes() as f64 * 8.0 / took.max(1e-9);
        if let Some(capacity) = path.capacity_bps.filter(|_| !path.at_least && took > 0.0) {
            let enough = capacity >= ROUNDING * carried;
            law(enough, format!("a path that carried {carried:.0} bps is said to carry {capacity:.0} bps"));
        }
        law((0.0..=1.0).contains(&path.own_share), format!("its share of the path is {}", path.own_share));
    }
    found
}

/// A count of nothing, asserted.
fn says_none(text: &str) -> bool {
    [" 0 packets", " 0 segments", " 0 times", " 0 messages", " 0% of"].iter().any(|none| text.contains(none))
        || text.starts_with("0 ")
}

/// The answer is the cause with the most time, but for a reset and for nothing, which have none of their own.
fn leads(a: &Answer) -> bool {
    let most = a.causes.first().map(|s: &Share| (s.cause, s.by));
    matches!(a.cause, Cause::Nothing | Cause::Reset | Cause::CannotTell) || most == Some((a.cause, a.by))
}
