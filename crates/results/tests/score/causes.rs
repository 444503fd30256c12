//! Why each segment was sent again: the truth against what the analysis says.

use super::run::Run;
use analysis::rows::{Cause, Vantage};
use sim::Reason;
use std::collections::{HashMap, HashSet};
use std::fmt;
use wire::Flags;

/// What a packet is, truly or as the analysis says; `None`: no retransmission.
pub type Label = Option<Cause>;

/// How often each truth met each answer.
#[derive(Clone, Default)]
pub struct Matrix([[u64; 8]; 8]);

const LABELS: [Label; 8] = [
    Some(Cause::Recovery),
    Some(Cause::Timeout),
    Some(Cause::LossState),
    Some(Cause::Probe),
    Some(Cause::Persist),
    Some(Cause::Handshake),
    Some(Cause::Unknown),
    None,
];

pub fn name(label: Label) -> &'static str {
    label.map_or("none", Cause::name)
}

impl Matrix {
    pub fn add(&mut self, truth: Label, said: Label) {
        let at = |l| LABELS.iter().position(|x| *x == l).expect("every label is listed");
        self.0[at(truth)][at(said)] += 1;
    }
    pub fn merge(&mut self, other: &Matrix) {
        for (a, b) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *a += b;
        }
    }
    pub fn total(&self) -> u64 {
        self.0.iter().flatten().sum()
    }
    pub fn right(&self) -> u64 {
        (0..8).map(|i| self.0[i][i]).sum()
    }
    pub fn share(&self) -> f64 {
        self.right() as f64 / self.total().max(1) as f64
    }
    /// (truth, said, how often), where it occurred.
    pub fn cells(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        LABELS.iter().enumerate().flat_map(move |(i, t)| {
            LABELS.iter().enumerate().map(move |(j, s)| (name(*t), name(*s), self.0[i][j]))
        })
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12}", "truth \\ said")?;
        LABELS.iter().try_for_each(|l| write!(f, "{:>11}", name(*l)))?;
        for (label, row) in LABELS.iter().zip(&self.0).filter(|(_, row)| row.iter().any(|n| *n > 0)) {
            write!(f, "\n{:>12}", name(*label))?;
            row.iter().try_for_each(|n| write!(f, "{n:>11}"))?;
        }
        write!(f, "\n{} of {} right, {:.2}%", self.right(), self.total(), self.share() * 100.0)
    }
}

/// A packet of which truth and answer differ.
#[derive(Clone, Copy, Debug)]
pub struct Wrong {
    pub number: u64,
    pub truth: Label,
    pub said: Label,
}

/// By copy: the truth about each one that carries data or a SYN. What is sent the first time is `None` inside.
pub fn truths(run: &Run) -> HashMap<u64, Label> {
    let mut begun_by_timer: HashMap<u32, bool> = HashMap::new();
    let mut truths = HashMap::new();
    let mut syns = HashMap::new();
    for s in &run.sent {
        let of = s.facts.connection;
        if s.packet.seg.flags.has(Flags::SYN) {
            let again = syns.insert(of, ()).is_some();
            truths.insert(s.facts.copy, again.then_some(Cause::Handshake));
            continue;
        }
        if s.facts.payload_bytes == 0 {
            continue;
        }
        let by_timer = begun_by_timer.entry(of).or_default();
        let label = match s.facts.reason {
            Reason::Recovery(_) => {
                *by_timer = false;
                Some(Cause::Recovery)
            }
            Reason::Timeout { .. } => {
                *by_timer = true;
                Some(Cause::Timeout)
            }
            // Tahoe's slow start after a fast retransmit: duplicate ACKs set it off, no timer.
            Reason::LossState if !*by_timer => Some(Cause::Recovery),
            Reason::LossState => Some(Cause::LossState),
            Reason::Probe => Some(Cause::Probe),
            Reason::Persist => Some(Cause::Persist),
            Reason::New | Reason::Ack | Reason::Control | Reason::KeepAlive => None,
        };
        truths.insert(s.facts.copy, label);
    }
    truths
}

/// Scores one side. Counted is each packet that is a retransmission by the truth or by the analysis.
pub fn score(run: &Run, at: Vantage, matrix: &mut Matrix) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for (number, truth, said) in judged(run, at) {
        matrix.add(truth, said);
        if truth != said {
            wrong.push(Wrong { number, truth, said });
        }
    }
    wrong
}

/// Number, truth and answer of each packet that is a retransmission by the truth or by the analysis.
pub fn judged(run: &Run, at: Vantage) -> Vec<(u64, Label, Label)> {
    let truths = truths(run);
    let rows = run.analysed(at);
    let said: HashMap<u64, Cause> = rows.retransmissions.iter().map(|r| (r.packet, r.cause)).collect();
    let seen: Vec<(u64, u64, u32)> = match at {
        Vantage::Receiver => run.arrivals.iter().map(|(n, f)| (*n, f.copy, f.connection)).collect(),
        _ => run.sent.iter().map(|s| (s.packet.number, s.facts.copy, s.facts.connection)).collect(),
    };
    let mut judged = Vec::new();
    let mut opened = HashSet::new();
    for (number, copy, of) in seen {
        let Some(&truth) = truths.get(&copy) else { continue };
        // A SYN that came first here is no second one from here.
        if truth == Some(Cause::Handshake) && !opened.contains(&of) {
            opened.insert(of);
            continue;
        }
        opened.insert(of);
        let said = said.get(&number).copied();
        if truth.is_some() || said.is_some() {
            judged.push((number, truth, said));
        }
    }
    judged
}
