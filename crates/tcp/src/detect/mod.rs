//! Which segments are lost?
//!
//! Two kinds of rules. Those that count hold the scoreboard against DupThresh: pure functions from facts to a
//! frontier below which all that is not SACKed is lost, since whatever condemns a segment condemns all older ones
//! too. Those that go by time ([`by_time`]) judge each copy: lost now, or ask again then. The caller owns marks and timers.

pub(crate) mod by_time;
pub(crate) mod rack;

use crate::own::{OwnDetector, OwnRules};
use crate::sender::runs::Runs;
use crate::stack::{Detect, DetectRule};
use by_time::ByTime;
use rack::{Lost, Rack};

/// Which rule a connection has, once it is known whether it has SACK.
#[derive(Clone, Debug)]
pub(crate) enum Detector {
    ByCount(DetectRule),
    ByTime(ByTime),
    /// Of somebody's own that counts.
    Own(Box<dyn OwnDetector>),
}

impl Detector {
    pub(crate) fn new(spec: &Detect, own: &OwnRules, sack: bool) -> Detector {
        let rack = |rack| Detector::ByTime(ByTime::Rack(rack));
        match spec.rule {
            DetectRule::Own => match own.time_detector() {
                Some(rule) if sack => Detector::ByTime(ByTime::Own(rule)),
                Some(_) => Detector::ByCount(DetectRule::DupAcks),
                None => own.detector().map_or(Detector::ByCount(DetectRule::DupAcks), Detector::Own),
            },
            DetectRule::Rack if sack => rack(Rack::new(spec.remembered.unwrap_or(spec.dupthresh))),
            DetectRule::FackRack if sack => rack(Rack::beside_fack(Lost::ByTime, spec.dupthresh)),
            DetectRule::FackOrder if sack => rack(Rack::beside_fack(Lost::ByOrder, spec.dupthresh)),
            DetectRule::Rack | DetectRule::FackRack | DetectRule::FackOrder => {
                Detector::ByCount(DetectRule::DupAcks)
            }
            rule => Detector::ByCount(rule),
        }
    }

    #[inline]
    pub(crate) fn by_time(&self) -> Option<&ByTime> {
        match self {
            Detector::ByTime(rule) => Some(rule),
            Detector::ByCount(_) | Detector::Own(_) => None,
        }
    }
    #[inline]
    pub(crate) fn by_time_mut(&mut self) -> Option<&mut ByTime> {
        match self {
            Detector::ByTime(rule) => Some(rule),
            Detector::ByCount(_) | Detector::Own(_) => None,
        }
    }

    /// The verdict of a rule that counts; one that goes by time has none.
    #[inline]
    pub(crate) fn judge(&self, f: &Facts) -> Verdict {
        match self {
            Detector::ByCount(rule) => judge(*rule, f),
            Detector::ByTime(_) => Verdict { lost_below: f.una, begins: false },
            Detector::Own(rule) => rule.judge(f),
        }
    }

    /// Duplicates are ACKs with news in their SACK blocks (RFC 6675 §2), where there are such; otherwise those of
    /// RFC 5681 §2.
    #[inline]
    pub(crate) fn counts_news(&self) -> bool {
        match self {
            Detector::ByCount(rule) => !matches!(rule, DetectRule::DupAcks | DetectRule::Xnu1699),
            Detector::ByTime(_) => true,
            Detector::Own(rule) => rule.counts_news(),
        }
    }
}

/// What a rule may look at.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub(crate) runs: &'a Runs,
    pub una: u64,
    /// The offset after the last byte that is out.
    pub nxt: u64,
    pub smss: u32,
    pub dupthresh: u32,
    /// Duplicate ACKs in a row (RFC 5681 §2); with SACK, ACKs with news (RFC 6675 §2).
    pub dupacks: u32,
    /// SACKed segments above SND.UNA.
    pub sacked_segments: u32,
    /// SACK was negotiated.
    pub sack: bool,
}

impl Facts<'_> {
    /// What is SACKed above SND.UNA, from the highest down.
    pub fn sacked(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs.downwards()
    }
}

/// What a rule makes of the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Everything below that is not SACKed is lost; SND.UNA where nothing is.
    pub lost_below: u64,
    /// Enough to begin recovery.
    pub begins: bool,
}

#[inline]
pub(crate) fn judge(rule: DetectRule, f: &Facts) -> Verdict {
    let lost_below = frontier(rule, f);
    Verdict { lost_below, begins: starts_recovery(rule, f, lost_below) }
}

#[inline]
fn frontier(rule: DetectRule, f: &Facts) -> u64 {
    if f.runs.is_empty() {
        return f.una;
    }
    match rule {
        DetectRule::DupAcks
        | DetectRule::Rack
        | DetectRule::FackRack
        | DetectRule::FackOrder
        | DetectRule::Own => f.una,
        DetectRule::Rfc6675 => rfc6675(f),
        DetectRule::LinuxSack => linux_sack(f),
        DetectRule::LinuxFack => linux_fack(f),
        // Every hole below the highest SACKed byte, once recovery has begun.
        DetectRule::Xnu1699 => f.runs.highest().unwrap_or(f.una),
    }
    .max(f.una)
}

#[inline]
fn starts_recovery(rule: DetectRule, f: &Facts, frontier: u64) -> bool {
    let by_count = f.dupacks >= f.dupthresh;
    match rule {
        DetectRule::DupAcks
        | DetectRule::Xnu1699
        | DetectRule::Rack
        | DetectRule::FackRack
        | DetectRule::FackOrder
        | DetectRule::Own => by_count,
        // RFC 6675 §5: DupThresh duplicates, or fewer when IsLost (HighACK + 1).
        DetectRule::Rfc6675 => by_count || frontier > f.una,
        // Linux counts what is SACKed, not the ACKs that said so; without SACK it counts duplicates.
        DetectRule::LinuxSack if f.sack => f.sacked_segments >= f.dupthresh,
        DetectRule::LinuxFack if f.sack => f.sacked_segments >= f.dupthresh || frontier > f.una,
        DetectRule::LinuxSack | DetectRule::LinuxFack => by_count,
    }
}

/// IsLost of RFC 6675 §4: DupThresh discontiguous SACKed runs above, or more than (DupThresh - 1) * SMSS bytes.
fn rfc6675(f: &Facts) -> u64 {
    let enough = u64::from(f.dupthresh.saturating_sub(1)) * u64::from(f.smss);
    let (mut runs, mut bytes) = (0, 0);
    for (left, right) in f.runs.downwards() {
        runs += 1;
        bytes += right - left;
        if runs >= f.dupthresh || bytes > enough {
            return left;
        }
    }
    f.una
}

/// DupThresh SACKed segments above.
fn linux_sack(f: &Facts) -> u64 {
    let smss = u64::from(f.smss.max(1));
    let mut segments = 0;
    for (left, right) in f.runs.downwards() {
        segments += (right - left).div_ceil(smss);
        if segments >= u64::from(f.dupthresh) {
            return left;
        }
    }
    f.una
}

/// Forward acknowledgment (Mathis and Mahdavi 1996): the holes count as well, so that DupThresh segments between
/// a hole and the highest SACKed byte condemn it, SACKed or not.
fn linux_fack(f: &Facts) -> u64 {
    let span = u64::from(f.dupthresh) * u64::from(f.smss);
    f.runs.highest().map_or(f.una, |highest| highest.saturating_sub(span))
}

#[cfg(test)]
mod tests;
