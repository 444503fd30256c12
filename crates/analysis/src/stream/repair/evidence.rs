//! Away from the sender: how well does another cause fit a retransmission that was judged? What stood around it, each
//! observation in a few steps, weighs for each cause by the fitted tables of [`super::likelihoods`].

use super::likelihoods::{MARGIN, TABLES};
use super::{PathTiming, RetransmittedSegment, SenderModel, State};
use crate::assumptions::MIN_RTO;
use crate::rows::Cause;
use wire::Span;

/// The causes that get a weight. The last one, `Unknown`, stands here for data that is sent for the first time.
pub const TOLD_APART: [Cause; 4] = [Cause::Recovery, Cause::Timeout, Cause::LossState, Cause::Unknown];

/// The observations, each a table.
pub const NAMES: [&str; 12] = [
    "judged",
    "copy",
    "silence of the first",
    "silence of others",
    "since progress the first",
    "since progress others",
    "rounds of silence",
    "timer",
    "order",
    "asks",
    "SACK",
    "missing",
];

/// Weights for the causes of [`TOLD_APART`] by step of an observation.
pub type Table = &'static [[f32; 4]];

/// Which step of each table holds; `None` where an observation says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed(pub [Option<u8>; NAMES.len()]);

/// Parts of the shortest timer, and of what is compared with a timer or a round trip.
const SILENCES: [f64; 7] = [0.15, 0.3, 0.5, 0.75, 0.85, 0.975, 1.3];
const TIMERS: [f64; 7] = [0.1, 0.3, 0.5, 0.7, 0.85, 1.0, 1.5];
const ROUNDS: [f64; 7] = [0.1, 0.3, 0.6, 0.9, 1.2, 2.0, 4.0];

fn step(waited: Span, unit: Span, edges: &[f64]) -> u8 {
    let parts = waited.as_secs() / unit.as_secs().max(1e-3);
    edges.iter().filter(|edge| parts >= **edge).count() as u8
}

/// Packs the flags into a number; the first flag is the most significant bit.
fn bits<const N: usize>(flags: [bool; N]) -> u8 {
    flags.iter().fold(0, |sum, flag| sum << 1 | u8::from(*flag))
}

impl Observed {
    /// How things stand before the sender's model takes it in.
    pub(super) fn before(sender: &SenderModel, a: &RetransmittedSegment, timing: &PathTiming) -> Observed {
        let silent = sender.silent(a.now);
        let silence = step(silent, MIN_RTO, &SILENCES);
        let progress = step(a.now - sender.last_progress, MIN_RTO, &SILENCES);
        let [first, others] = [a.head, !a.head].map(|of| move |step: u8| of.then_some(step));
        let behind = match a.start {
            start if start == sender.trace.end => 0,
            start if start < sender.trace.end => 1,
            _ => 2,
        };
        let asked = sender.asked_for[0] == a.start;
        let newer = sender.newest_delivered > a.previous;
        Observed([
            None,
            Some(bits([a.head, a.previous_was_resend, a.acknowledged])),
            first(silence),
            others(silence),
            first(progress),
            others(progress),
            Some(step(silent, timing.srtt, &ROUNDS)),
            first(step(a.now - sender.timer.start, timing.rto, &TIMERS)),
            Some(behind * 2 + u8::from(a.start < sender.trace.high)),
            Some(sender.duplicates.min(3) as u8 * 2 + u8::from(asked)),
            Some(bits([a.sack_permitted, a.sacked_above, newer])),
            Some(u8::from(a.unseen) * 4 + a.missing.map_or(0, |n| 1 + n.min(2) as u8)),
        ])
    }

    /// What was judged, and what the sender was doing before.
    pub(super) fn with_judged(mut self, cause: Cause, before: State) -> Observed {
        let doing = match before {
            State::Open => 0,
            State::Recovery { .. } => 1,
            State::Loss { .. } => 2,
        };
        self.0[0] = match cause {
            Cause::Recovery => Some(doing),
            Cause::Timeout => Some(3 + doing),
            Cause::LossState => Some(if doing == 2 { 6 } else { 7 }),
            _ => None,
        };
        self
    }

    /// The best-fitting other cause, if it fits better than the judged one, or less than `MARGIN` worse.
    pub(super) fn other(&self, judged: Cause) -> Option<Cause> {
        let at = TOLD_APART[..3].iter().position(|c| *c == judged)?;
        let weights = self.weights();
        let rivals = (0..TOLD_APART.len()).filter(|i| *i != at);
        let best = rivals.max_by(|i, j| weights[*i].total_cmp(&weights[*j]))?;
        (weights[at] - weights[best] < MARGIN).then_some(TOLD_APART[best])
    }

    fn weights(&self) -> [f32; 4] {
        let mut sums = [0.0; 4];
        for (table, step) in TABLES.iter().zip(self.0) {
            let Some(weights) = step.and_then(|s| table.get(usize::from(s))) else { continue };
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += weight;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_observation_has_its_table_of_at_most_eight_steps() {
        assert_eq!(TABLES.len(), NAMES.len());
        assert!(TABLES.iter().all(|t| (1..=8).contains(&t.len())));
    }

    #[test]
    fn what_fits_no_cause_better_than_another_names_the_other() {
        // Nothing was observed: nothing speaks for what was judged.
        assert!(Observed::default().other(Cause::Recovery).is_some());
        // No tables tell of probes.
        assert_eq!(Observed::default().other(Cause::Probe), None);
        // A repair among duplicate ACKs for it, behind data that was SACKed, while fast recovery goes on.
        let mut asked =
            Observed::default().with_judged(Cause::Recovery, State::Recovery { recover: 1, first_ts: 0 });
        (asked.0[2], asked.0[9], asked.0[10]) = (Some(0), Some(7), Some(7));
        assert_eq!(asked.other(Cause::Recovery), None);
        assert_eq!(asked.other(Cause::LossState), Some(Cause::Recovery), "had it been judged so");
    }

    #[test]
    fn a_step_is_how_many_edges_have_been_reached() {
        let ms = Span::from_millis;
        assert_eq!(step(ms(0), MIN_RTO, &SILENCES), 0);
        assert_eq!(step(ms(160), MIN_RTO, &SILENCES), 4);
        assert_eq!(step(ms(2000), MIN_RTO, &SILENCES), 7);
        assert_eq!(bits([true, false, true]), 5);
    }
}
