//! What held a transfer longest, as its verdict says it: both rest on the same seconds.

use super::certainty::Certainty;
use super::costs::{Costs, WORTH};
use super::path::Path;
use super::where_to_look::Verdict;
use super::words::{bytes, percent, rate, seconds};
use crate::limited::{How, Limited, LimitedBy, Part, Why};
use crate::rows::FlowRow;

/// The largest limit of a transfer that is known or likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held<'a> {
    pub limited: &'a Limited,
    pub limit: LimitedBy,
    /// What of it held longest.
    pub why: Why,
    /// Of the time of the transfer.
    pub share: f64,
    pub sure: Certainty,
}

impl<'a> Held<'a> {
    pub fn of(limited: &'a Limited) -> Option<Held<'a>> {
        let (limit, share) = limited.largest()?;
        let part = limited.longest(limit)?;
        let held = Held { limited, limit, why: part.why, share, sure: limited.certainty_of(limit) };
        (limit != LimitedBy::Open && held.sure != Certainty::Open).then_some(held)
    }

    /// Whose it is.
    pub fn verdict(&self, costs: &Costs, path: &Path) -> Verdict {
        match self.why {
            Why::NothingToSend | Why::Nagle => Verdict::SendingApplication,
            Why::NotAsked | Why::NothingRead | Why::SteadyWindow => Verdict::Receiver,
            Why::Buffer | Why::Pacing => Verdict::SendingStack,
            Why::Outage | Why::TooLarge => Verdict::Network,
            // A path that carries what it can is nobody's fault, but for what else went wrong there.
            Why::BottleneckFull if costs.at_network(path) => Verdict::Network,
            Why::BottleneckFull => Verdict::Nothing,
            Why::Handshake if costs.handshake_s > 0.0 => Verdict::Network,
            Why::Handshake | Why::SlowStart | Why::Growing | Why::Done => Verdict::Nothing,
            // Whatever its repairs cost beside: the losses cut the window.
            Why::SmallWindow => Verdict::Network,
            // The network lost it; who made it long is a question of how it was repaired.
            Why::Timer | Why::Repairing | Why::SlowStartAgain => {
                match costs.share_of(Verdict::SendingStack) > costs.share_of(Verdict::Network) {
                    true => Verdict::SendingStack,
                    false => Verdict::Network,
                }
            }
            Why::LateAck | Why::Unknown => Verdict::CannotTell,
        }
    }

    /// "for 92% of the time".
    pub fn time(&self) -> String {
        format!("for {} of the time", percent(self.share))
    }

    /// Was it this and nothing else of the same limit, to the percent?
    fn alone(&self) -> bool {
        let own = self.part(self.why).map_or(0.0, |p| p.time.as_secs());
        percent(own / self.limited.transfer().as_secs().max(1e-9)) == percent(self.share)
    }

    fn part(&self, why: Why) -> Option<&'a Part> {
        self.limited.parts.iter().find(|p| p.why == why)
    }

    /// What it did, as the end of a sentence: "its bottleneck was full for 94% of the time, at 9.4 Mbps".
    pub fn words(&self, flow: &FlowRow) -> String {
        let time = self.time();
        let at = self.part(self.why).filter(|p| p.time.as_secs() > 0.0);
        let at = at.map_or(0.0, |p| p.bytes as f64 * 8.0 / p.time.as_secs());
        match self.why {
            Why::NothingToSend => format!("{time} it had given the stack nothing to send"),
            Why::Nagle => format!("{time} its small pieces were held back (Nagle's algorithm)"),
            Why::NotAsked => format!("{time} nothing had been asked, and the sender waited for data from it"),
            Why::NothingRead => format!("{time} the program there did not read what had come"),
            Why::SteadyWindow => match flow.window_max_bytes {
                Some(window) => format!("its window of {} was full {time}{}", bytes(window), self.could()),
                None => format!("its window was full {time}{}", self.could()),
            },
            Why::Buffer => format!("its own window or send buffer was full {time}{}", self.could()),
            Why::Pacing => format!("it sends at a pace of {} {time}{}", rate(at), self.could()),
            Why::TooLarge => format!("packets that vanished for their size held it {time}"),
            Why::Outage if self.alone() => format!("the path was dark {time}"),
            Why::Outage => format!("the network held it {time}, mostly dark"),
            Why::BottleneckFull if self.alone() => format!("the bottleneck was full {time}, at {}", rate(at)),
            Why::BottleneckFull => {
                format!("the network held it {time}, mostly with its bottleneck full, at {}", rate(at))
            }
            Why::Timer => format!("losses held it {time}, mostly waiting for a timer"),
            Why::Repairing => format!("losses held it {time}, mostly in repairs"),
            Why::SlowStartAgain => format!("losses held it {time}, mostly in slow start after a timeout"),
            Why::SmallWindow if self.alone() => {
                format!("losses kept the window small {time}{}", self.could())
            }
            Why::SmallWindow => format!("losses held it {time}, mostly by a small window{}", self.could()),
            Why::Handshake => format!("the handshake was {} of its time", percent(self.share)),
            Why::SlowStart => format!(
                "the first slow start was {} of its time: it was over before its window had grown",
                percent(self.share)
            ),
            Why::Growing => format!("the window was still growing {time}"),
            Why::Done | Why::LateAck | Why::Unknown => time,
        }
    }

    /// ": 3.3 Mbps of the 47 Mbps that the path could carry", where more could be had.
    fn could(&self) -> String {
        match self.unused() {
            Some(could) => {
                let reached = rate(self.limited.path.reached_bps);
                format!(": {reached} of the {} that the path could carry", rate(could))
            }
            None => String::new(),
        }
    }

    /// What the path could carry, where that shows and is clearly more than was carried.
    fn unused(&self) -> Option<f64> {
        let path = &self.limited.path;
        path.could_bps.filter(|could| path.how != Some(How::Reached) && *could > 1.1 * path.reached_bps)
    }
}

/// The seconds in which losses kept the window small, and what of them the path could have saved: all bytes of that time
/// at the rate that it can carry.
pub(super) struct Small {
    pub time_s: f64,
    pub cost_s: f64,
    pub reached_bps: f64,
    pub could_bps: f64,
    pub how: How,
}

impl Small {
    pub fn of(limited: &Limited) -> Option<Small> {
        let path = &limited.path;
        let (could_bps, how) = path.could_bps.zip(path.how)?;
        let small = limited.parts.iter().filter(|p| matches!(p.why, Why::SmallWindow | Why::SlowStartAgain));
        let (time_s, bytes) = small.fold((0.0, 0), |(t, b), p| (t + p.time.as_secs(), b + p.bytes));
        let cost_s = time_s - bytes as f64 * 8.0 / could_bps.max(1.0);
        let worth = WORTH * limited.transfer().as_secs();
        (time_s > 0.0 && cost_s >= worth).then(|| Small {
            time_s,
            cost_s,
            reached_bps: bytes as f64 * 8.0 / time_s,
            could_bps,
            how,
        })
    }
    /// `cuts`: what cut the window, "12 loss episodes".
    pub fn words(&self, cuts: &str) -> String {
        let least = if self.how == How::Reached { "at least " } else { "" };
        format!(
            "{cuts} kept the window small for {}, which cost {}: {} of the {least}{} that the path could carry",
            seconds(self.time_s),
            seconds(self.cost_s),
            rate(self.reached_bps),
            rate(self.could_bps)
        )
    }
}
