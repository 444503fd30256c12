//! What each loss episode is due to: one file a cause, asked in the order of [`CAUSES`]; the first that holds owns it.

mod acks;
mod died;
pub mod late_timer;
mod needless;
mod outage;
mod queue;
mod random;
mod size;
mod stack;

use crate::assumptions::{AT_ONCE, OFTEN};
use crate::cause::Cause;
use crate::certainty::Certainty;
use crate::conversation::Conversation;
use crate::paths::Path;
use analysis::rows::{BurstRow, Closed, EpisodeRow, FlowRow, IdleRow, Limit};
use std::collections::HashMap;
use wire::{Span, Time};

/// An episode with all that is known around it.
pub struct Episode<'a> {
    pub row: &'a EpisodeRow,
    pub bursts: Vec<&'a BurstRow>,
    pub side: usize,
    pub flow: &'a FlowRow,
    pub conversation: &'a Conversation<'a>,
    pub path: &'a Path<'a>,
    /// Bounds of the time in which nothing of this direction got through: from the last copy that arrived before the loss
    /// to the first behind it, as sent; and whether anything sent later is known to have arrived before the repair.
    pub dark: Option<(Time, Time)>,
}

/// What an episode, or a stretch without one, is due to.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub side: usize,
    pub cause: Cause,
    pub certainty: Certainty,
    /// From the first lost copy to the end of the repair.
    pub start: Time,
    /// From here on the sender repairs, or waits for the timer: before, it sends as if nothing had happened.
    pub noticed: Time,
    /// Nothing has been sent since, until the timer expired.
    pub silent: Time,
    /// The last repair: until then something is missing.
    pub repaired: Time,
    pub end: Time,
    /// Packets lost, segments sent again, timeouts.
    pub lost: u64,
    pub resent: u64,
    pub timeouts: u32,
    /// Outages: from when on nothing came through, and for how long, at least and at most.
    pub dark_start: Time,
    pub dark_least: Span,
    pub dark_most: Option<Span>,
    /// It made the sender reduce its window.
    pub cut: bool,
    /// Where a timer was late: so long RFC 6298 has it wait for the repair of what was lost.
    pub due: Span,
}

/// A cause of losses: does it hold of this episode, and how sure is that?
type Ask = fn(&Episode<'_>) -> Option<(Cause, Certainty)>;

const CAUSES: [Ask; 9] = [
    size::ask,
    acks::ask,
    needless::ask,
    stack::ask,
    died::ask,
    outage::ask,
    late_timer::ask,
    queue::ask,
    random::ask,
];

/// All of a direction's, in order of time.
pub fn of(c: &Conversation<'_>, side: usize, path: &Path<'_>) -> Troubles {
    let Some(flow) = c.row(side) else { return Troubles::default() };
    let mut out: Vec<Trouble> = Vec::new();
    let mut by_episode: HashMap<u32, Vec<&BurstRow>> = HashMap::new();
    for burst in c.flows[side].bursts {
        if let Some(number) = burst.episode {
            by_episode.entry(number).or_default().push(burst);
        }
    }
    for row in c.flows[side].episodes {
        let bursts = by_episode.remove(&row.number).unwrap_or_default();
        let episode =
            Episode { row, side, flow, conversation: c, path, dark: outage::dark(row, &bursts), bursts };
        out.push(judge(&episode));
    }
    Troubles::of(out)
}

/// Those of one direction, in order of their beginnings.
#[derive(Clone, Debug, Default)]
pub struct Troubles {
    all: Vec<Trouble>,
    /// The latest end of each and all before it.
    over: Vec<Time>,
}

impl Troubles {
    fn of(mut all: Vec<Trouble>) -> Troubles {
        all.sort_by_key(|t| t.start);
        let mut latest = Time::FAR_PAST;
        let over = all.iter().map(|t| {
            latest = latest.max(t.end);
            latest
        });
        Troubles { over: over.collect(), all }
    }
    pub fn all(&self) -> impl Iterator<Item = &Trouble> {
        self.all.iter()
    }
    /// Those that overlap an interval.
    pub fn near(&self, start: Time, end: Time) -> impl Iterator<Item = &Trouble> {
        let first = self.over.partition_point(|over| *over < start);
        self.all[first..].iter().take_while(move |t| t.start <= end).filter(move |t| t.end >= start)
    }
    /// The last before a time that had cut the window.
    pub fn cut_before(&self, time: Time) -> Option<&Trouble> {
        self.all[..self.all.partition_point(|t| t.start < time)].iter().rev().find(|t| t.cut)
    }
}

fn judge(e: &Episode<'_>) -> Trouble {
    let (cause, certainty) =
        CAUSES.iter().find_map(|ask| ask(e)).unwrap_or((Cause::CannotTell, Certainty::Open));
    let end = e.row.end.unwrap_or(e.conversation.end);
    let (dark_start, dark_least, dark_most) = outage::told(e);
    Trouble {
        side: e.side,
        cause,
        certainty,
        start: e.row.start.min(e.noticed()),
        noticed: e.noticed(),
        silent: e.silence().map_or(e.noticed(), |(from, _)| from.max(e.noticed())),
        repaired: e.row.last_repair.max(e.row.first_repair),
        end,
        lost: u64::from(e.row.lost()),
        resent: u64::from(e.row.retransmissions),
        timeouts: e.row.timeouts,
        dark_start: if cause == Cause::PathDied { died::since(e) } else { dark_start },
        dark_least,
        dark_most,
        cut: e.cuts_the_window(),
        due: if e.lost() > 0 { late_timer::due_in_all(e.conversation, e.row.timeouts) } else { Span::ZERO },
    }
}

impl<'a> Episode<'a> {
    pub fn end(&self) -> Time {
        self.row.end.unwrap_or(self.conversation.end)
    }
    pub fn lost(&self) -> u32 {
        self.row.lost()
    }
    /// All of the message had been sent, and the other host answers messages: its answer would have carried the ACK.
    pub fn is_asked(&self) -> bool {
        self.row.limit == Limit::Application && self.conversation.bytes(1 - self.side) > 0
    }
    /// Where data arrives: the longest time in which none came, between the episode before and the first repair.
    pub fn dark_before(&self) -> Option<&IdleRow> {
        let rows = self.conversation.flows[self.side];
        let before = rows.episodes.iter().filter(|e| e.first_repair < self.row.first_repair);
        let from = before.map(|e| e.end.unwrap_or(e.start)).max().unwrap_or(Time::FAR_PAST);
        let idle = rows
            .idle
            .iter()
            .filter(|i| i.start >= from - AT_ONCE && i.end <= self.row.first_repair + AT_ONCE);
        idle.max_by_key(|i| i.end - i.start)
    }
    /// The longest silence before the repair of something that was lost: its beginning and its end.
    pub fn silence(&self) -> Option<(Time, Time)> {
        let all = self.bursts.iter().filter_map(|b| Some((b.first_repair? - b.silence?, b.first_repair?)));
        all.max_by_key(|(from, to)| *to - *from)
    }
    pub fn silence_before(&self) -> Span {
        self.dark_before().map_or(Span::ZERO, |i| i.end - i.start).max(self.row.silence_before)
    }
    /// Nothing like it happened often: a path that is dark for once makes a few, and one that loses packets makes many.
    pub fn is_single(&self) -> bool {
        let all = self.conversation.flows.iter().flat_map(|f| f.episodes);
        all.filter(|e| e.timeouts > 0).count() < OFTEN
    }
    /// The request arrived, and was acknowledged only when it came again: the answer carried the first ACK, is never seen, and
    /// smaller packets pass.
    pub fn is_answer_too_large(&self) -> bool {
        let c = self.conversation;
        let first = self.row.number == 0 && self.row.limit == Limit::Application;
        first
            && c.bytes(1 - self.side) == 0
            && self.flow.acked_bytes == self.flow.bytes
            && c.closed() == Closed::Open
    }
    pub fn timed_out(&self) -> bool {
        self.row.timeouts > 0
    }
    /// See [`Conversation::as_seen`].
    pub fn as_seen(&self) -> Certainty {
        self.conversation.as_seen(self.side)
    }
    pub fn seen_leaving(&self) -> bool {
        self.conversation.seen_leaving(self.side)
    }
    /// The sender knows from here on: it repairs, or has fallen silent.
    fn noticed(&self) -> Time {
        let silent = self.row.silence.filter(|_| self.timed_out()).unwrap_or(Span::ZERO);
        // What was sent before has arrived by now: from here on the hole alone is missing.
        let missing = self.row.start + self.conversation.base_rtt.unwrap_or(Span::ZERO) / 2;
        let noticed = (self.row.first_repair - silent).min(missing);
        let shown = self.row.silence.is_some_and(|s| s > AT_ONCE);
        let dark = self.dark_before().filter(|_| self.timed_out() && !self.seen_leaving() && !shown);
        dark.map_or(noticed, |i| i.start.min(noticed))
    }
    /// A tail-loss probe that was needless cuts nothing (RFC 8985 section 7.4.2).
    fn cuts_the_window(&self) -> bool {
        self.row.needless < self.row.retransmissions || self.row.probes < self.row.retransmissions
    }
}
