//! What an answer rests on, as data: one finding a sentence.

use super::certainty::{Certainty, Evidence};
use super::grounds::Sure;
use crate::closed_sets;

closed_sets! {
    /// What was found.
    #[derive(Default)]
    "finding" Kind {
        Outages = "outages", "outages";
        LostTails = "lost-tails", "lost tails";
        TooLarge = "too-large", "packets too large for the path";
        Overshoot = "overshoot", "slow start beyond the queue";
        Losses = "losses", "losses";
        LostAcks = "lost-acks", "lost ACKs";
        Overtaken = "overtaken", "packets overtaken";
        OnePerTimeout = "one-per-timeout", "one repair a timeout";
        NeedlessRepairs = "needless-repairs", "needless repairs";
        StaleBackoff = "stale-backoff", "a back-off that lasted";
        Application = "application", "the application";
        ClosedWindow = "closed-window", "a closed window";
        FullWindow = "full-window", "a full window";
        Peer = "peer", "the other host";
        Nagle = "nagle", "Nagle's algorithm";
        Handshake = "handshake", "the handshake";
        Ceiling = "ceiling", "a window that is never exceeded";
        Queue = "queue", "a standing queue";
        SmallWindow = "small-window", "a window kept small";
        Reset = "reset", "a reset";
        Reordering = "reordering", "reordering";
        Marks = "marks", "congestion marks";
        #[default]
        Nothing = "nothing", "nothing";
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    /// Seconds that it cost; `None` where it costs no time of its own.
    pub cost_s: Option<f64>,
    pub sure: Sure,
    pub text: String,
}

/// Evidence that a sentence is worth: at most so many facts.
const REASONS: usize = 3;

impl Finding {
    pub fn certainty(&self) -> Certainty {
        self.sure.certainty
    }
    /// What it rests on, in words.
    pub fn because(&self) -> String {
        because(self.sure)
    }
}

/// Where the capture was taken: said only where nothing else is.
const PLACE: [Evidence; 3] = [Evidence::SeenLeaving, Evidence::BothCaptures, Evidence::SeenArriving];

/// What leaves room for another explanation.
const DOUBTS: [Evidence; 12] = [
    Evidence::TimerMisfits,
    Evidence::ProbesSeen,
    Evidence::CaptureLacks,
    Evidence::SuperPackets,
    Evidence::NoHandshake,
    Evidence::PlaceUnknown,
    Evidence::Disorder,
    Evidence::RepairsLost,
    Evidence::AcksUnheard,
    Evidence::AcksLostSingly,
    Evidence::InRepair,
    Evidence::Unfinished,
];

/// A probe waits less than a timer (RFC 8985 §7.2): no probe, and no timer.
const NEITHER: &str = "too soon for a retransmission timer or a tail-loss probe";

/// What the first says, the second says better, or the opposite: a finding may rest on several rows.
const UNSAID: [(Evidence, Evidence); 10] = [
    (Evidence::NoTimerSoSoon, Evidence::AllTooSoon),
    (Evidence::NoProbeSoSoon, Evidence::AllTooSoon),
    (Evidence::AllTooSoon, Evidence::TimerSilence),
    (Evidence::NoTimerSoSoon, Evidence::TimerSilence),
    (Evidence::NoProbeSoSoon, Evidence::TimerSilence),
    (Evidence::TimerSilence, Evidence::LongSilence),
    (Evidence::NoTimerSoSoon, Evidence::NoProbeSoSoon),
    (Evidence::TimerFits, Evidence::TimerMisfits),
    (Evidence::InFlight, Evidence::NothingInFlight),
    (Evidence::NothingInFlight, Evidence::InFlight),
];

/// The evidence in words: what speaks for it, and, where it is not known, what leaves a doubt.
pub fn because(sure: Sure) -> String {
    let g = sure.grounds;
    // What packets show beside it may speak for something else.
    if g.has(Evidence::KernelTold) && sure.certainty == Certainty::Known {
        return Evidence::KernelTold.in_words().into();
    }
    // That SACK was agreed on speaks for nothing by itself; a single segment is said of each row.
    // The kernel told of repairs; of what is less than known, such as what took the packets, it knows nothing.
    let silent = |e: &Evidence| matches!(e, Evidence::Lone | Evidence::SackAgreed | Evidence::KernelTold);
    let said = |e: &Evidence| !silent(e) && !UNSAID.iter().any(|(less, more)| less == e && g.has(*more));
    // Some repairs were too soon for a timer, and others were not.
    let mixed = g.has(Evidence::TimerSilence) && g.has(Evidence::NoTimerSoSoon);
    let doubt = |e: &Evidence| {
        DOUBTS.contains(e) || mixed && matches!(e, Evidence::TimerSilence | Evidence::LongSilence)
    };
    let words = |e: Evidence| match e {
        Evidence::NoProbeSoSoon if g.has(Evidence::NoTimerSoSoon) => NEITHER,
        e => e.in_words(),
    };
    let told = g.iter().filter(said).filter(|e| !PLACE.contains(e));
    let pro: Vec<&str> = told.clone().filter(|e| !doubt(e)).map(words).take(REASONS).collect();
    let known = sure.certainty == Certainty::Known;
    let contra: Vec<&str> = told.filter(|e| doubt(e) && !known).map(words).take(REASONS - 1).collect();
    let place = g.iter().find(|e| PLACE.contains(e) && !known).map(Evidence::in_words);
    match (pro.is_empty(), contra.is_empty()) {
        (true, true) => place.unwrap_or_default().into(),
        (true, false) => contra.join(", and "),
        (false, true) => pro.into_iter().chain(place).collect::<Vec<_>>().join(", "),
        (false, false) => format!("{}; but {}", pro.join(", "), contra.join(", and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::certainty::Grounds;
    use super::*;

    fn said(certainty: Certainty, of: &[Evidence]) -> String {
        let grounds = of.iter().fold(Grounds::default(), |g, e| g.with(*e));
        because(Sure { certainty, grounds })
    }

    #[test]
    fn evidence_of_several_rows_does_not_contradict_itself() {
        use Evidence::*;
        let soon = [SeenLeaving, NoTimerSoSoon, AllTooSoon, NoProbeSoSoon, SackAgreed];
        assert_eq!(said(Certainty::Known, &soon), "repaired before a retransmission timer could fire");
        let neither = [SeenLeaving, NoTimerSoSoon, NoProbeSoSoon];
        assert_eq!(said(Certainty::Known, &neither), NEITHER);
        let mixed = [SeenLeaving, NoTimerSoSoon, NoProbeSoSoon, TimerSilence, RoundTripLater];
        assert_eq!(
            said(Certainty::Likely, &mixed),
            "the repair came a round trip after the loss; but a silence as long as a retransmission timeout"
        );
        assert_eq!(said(Certainty::Likely, &[SeenArriving]), "seen where the data arrives");
        assert_eq!(
            said(Certainty::Likely, &[SeenArriving, TimerSilence, Disorder]),
            "a silence as long as a retransmission timeout; but packets were reordered"
        );
    }
}
