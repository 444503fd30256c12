//! Who owns each moment. The rows of `waits` say what the next byte waited for; what the path and the losses were like at
//! the time says why. docs/definitions.md has the order of precedence.

mod ledger;
mod never_answered;
mod windows;

pub use ledger::{Entry, Ledger};

use crate::assumptions::{NEAR, NEGLIGIBLE, PLATEAU_ROUNDS, SMALL_MESSAGE_SEGMENTS};
use crate::cause::Cause;
use crate::certainty::Certainty;
use crate::conversation::Conversation;
use crate::losses::{Trouble, Troubles, late_timer};
use crate::paths::{How, Path};
use analysis::rows::Role;
use analysis::rows::{Closed, FlowRow, IdleRow, Vantage, Wait};
use analysis::waits::Stretch;
use std::cell::OnceCell;
use wire::{Span, Time};

/// What ownership is decided from.
pub struct Facts<'a> {
    pub conversation: &'a Conversation<'a>,
    pub paths: [&'a Path<'a>; 2],
    /// The queues of all flows of a host at which a capture was taken, where one holds them all.
    pub of_hosts: [&'a [Path<'a>]; 2],
    pub troubles: [&'a Troubles; 2],
    once: Once,
}

/// Facts of the whole connection that every row of waits asks for: each is worked out once, when it is first asked for.
#[derive(Default)]
struct Once {
    plateaus: [OnceCell<Option<f64>>; 2],
    never_answered: OnceCell<bool>,
    meets_queues_of_others: OnceCell<bool>,
}

impl<'a> Facts<'a> {
    pub fn new(
        conversation: &'a Conversation<'a>,
        paths: [&'a Path<'a>; 2],
        of_hosts: [&'a [Path<'a>]; 2],
        troubles: [&'a Troubles; 2],
    ) -> Facts<'a> {
        Facts { conversation, paths, of_hosts, troubles, once: Once::default() }
    }

    /// The flight of this side from which on it is at a limit: see [`windows`].
    fn plateau(&self, side: usize) -> Option<f64> {
        *self.once.plateaus[side].get_or_init(|| windows::plateau_of(self, side))
    }

    /// See [`never_answered`].
    pub fn is_never_answered(&self) -> bool {
        *self.once.never_answered.get_or_init(|| never_answered::is(self.conversation))
    }

    /// Messages of one segment make no queue; yet the mean of many round trips has the wait of one in it. Its length follows from
    /// what it was before: jitter of links and hosts is now this and now that.
    pub fn meets_queues_of_others(&self) -> bool {
        *self.once.meets_queues_of_others.get_or_init(|| self.met_queues_of_others())
    }

    fn met_queues_of_others(&self) -> bool {
        let c = self.conversation;
        let turns: u64 = c.waits.iter().map(|w| u64::from(w.turns[0].max(w.turns[1]))).sum();
        let small = (0..2).all(|side| c.bytes(side) <= turns * c.mss(side));
        let queued = (0..2).find_map(|side| self.paths[side].queued(c.start, c.end));
        let many = turns >= PLATEAU_ROUNDS as u64;
        many && small
            && queued.is_some_and(|queued| queued >= c.least_queue())
            && (0..2).any(|side| self.paths[side].waits_follow_one_another(c.start, c.end))
    }
}

/// Of the waits as each of two captures shows them, do those of the far one have clearly more in them that is owed? What was lost
/// before it reached one host is waited for at the other.
pub fn shows_more(near: &[Stretch], far: &[Stretch]) -> bool {
    let idle = |s: &Stretch| s.both(Wait::Nothing);
    let owed = |all: &[Stretch]| all.iter().fold(Span::ZERO, |sum, s| sum + s.length() - idle(s));
    owed(far) > owed(near).scale(1.0 + NEAR)
}

/// What a repair is waited for as.
const REPAIRED: [Wait; 6] = [Wait::Ack, Wait::Path, Wait::Unknown, Wait::Pace, Wait::Window, Wait::Small];

/// The owner of every moment in which something is owed.
pub fn owners(facts: &Facts<'_>) -> Ledger {
    let mut ledger = Ledger::default();
    for row in facts.conversation.waits {
        Row::of(facts, row).give(&mut ledger);
    }
    ledger
}

/// A part of a conversation, and who owns most of its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    pub start: Time,
    pub end: Time,
    /// [`Cause::Nothing`] where nothing is owed.
    pub cause: Cause,
    pub by: Option<Role>,
    pub certainty: Certainty,
}

/// Who owns each row of waits, in order of time; neighbours with the same owner are one.
pub fn moments(facts: &Facts<'_>) -> Vec<Moment> {
    let mut all: Vec<Moment> = Vec::new();
    for row in facts.conversation.waits {
        let mut ledger = Ledger::default();
        Row::of(facts, row).give(&mut ledger);
        let (cause, by, certainty) = match ledger.owners().first() {
            Some((cause, by, owned)) => (*cause, *by, owned.certainty()),
            None => (Cause::Nothing, None, Certainty::Known),
        };
        let new = Moment { start: row.start, end: row.end, cause, by, certainty };
        match all.last_mut() {
            Some(last) if Moment { start: new.start, end: new.end, ..*last } == new => last.end = new.end,
            _ => all.push(new),
        }
    }
    all
}

/// A row of waits of which what nobody owns yet is left.
struct Row<'a> {
    facts: &'a Facts<'a>,
    row: &'a Stretch,
    left: [[Span; Wait::ALL.len()]; 2],
}

impl<'a> Row<'a> {
    fn of(facts: &'a Facts<'a>, row: &'a Stretch) -> Row<'a> {
        Row { facts, row, left: row.waited }
    }

    /// All that is left of a wait, or at most so much of it.
    fn take(&mut self, side: usize, wait: Wait, most: Span) -> Span {
        let left = &mut self.left[side][wait as usize];
        let taken = (*left).min(most).max(Span::ZERO);
        *left -= taken;
        taken
    }

    fn give(mut self, ledger: &mut Ledger) {
        let known = Certainty::Known;
        for side in 0..2 {
            let time = self.take(side, Wait::Handshake, Span::MAX);
            self.put(ledger, Cause::Handshake, None, time, known);
            let nothing = self.take(side, Wait::Nothing, Span::MAX);
            self.never_answered(nothing, ledger);
        }
        for side in 0..2 {
            if self.left[side] == [Span::ZERO; Wait::ALL.len()] {
                continue;
            }
            self.closed(side, ledger);
            self.full_path(side, ledger);
            self.repairs(side, ledger);
            self.windows(side, ledger);
            self.turns(side, ledger);
            self.programs(side, ledger);
        }
    }

    #[inline(always)]
    fn put(&self, ledger: &mut Ledger, cause: Cause, by: Option<Role>, time: Span, sure: Certainty) {
        if time <= Span::ZERO {
            return;
        }
        ledger.add(&Entry { cause, by, time, certainty: sure, first: self.row.start, last: self.row.end });
    }

    /// An answer that never came is owed all the same.
    fn never_answered(&self, nothing: Span, ledger: &mut Ledger) {
        let last = self.facts.conversation.row(0).and_then(|f| f.last_data);
        if nothing > Span::ZERO && last.is_some_and(|t| self.row.start >= t) && self.facts.is_never_answered()
        {
            self.put(ledger, Cause::SenderIdle, Some(Role::Server), nothing, Certainty::Likely);
        }
    }

    /// A closed receive window: its program does not read, or its TCP does not answer.
    fn closed(&mut self, side: usize, ledger: &mut Ledger) {
        let time = self.take(side, Wait::Closed, Span::MAX);
        let c = self.facts.conversation;
        let less = |f: &FlowRow| f.window_min_bytes.is_some_and(|least| least < c.mss(side));
        let shut = c.row(side).is_some_and(|f| f.zero_windows > 0 || f.window_probes > 0 || less(f));
        let sure = if shut { c.as_seen(side) } else { Certainty::Likely };
        self.put(ledger, Cause::ReceiverNotReading, Some(Role::of(1 - side)), time, sure);
        // A window that unread data keeps small lets data through as fast as the program reads, however busy the path is.
        let waits = self.row.of(side, Wait::Window) * 2 > self.row.length();
        if waits && let (Cause::ReceiverNotReading, sure) = windows::receive(self.facts, side, self.row) {
            let time = self.take(side, Wait::Window, Span::MAX);
            self.put(ledger, Cause::ReceiverNotReading, Some(Role::of(1 - side)), time, sure);
        }
    }

    /// Data of this direction was under way through a busy bottleneck.
    fn full_path(&mut self, side: usize, ledger: &mut Ledger) {
        let (path, row) = (self.facts.paths[side], self.row);
        let bytes = path.own(row.start, row.end);
        let Some(mut busy) = path.busy(row.start, row.end, bytes) else { return };
        if !self.is_bulk(side) {
            return; // a queue that messages wait in is one of theirs
        }
        // Flows that this capture does not show may take a part of it. Where round trips do not show that packets waited, a
        // sender may have spaced them so.
        let spaced = path.capacity.is_some_and(|c| c.how == How::Spacing);
        let sure = if spaced { Certainty::Open } else { Certainty::Likely };
        let cause = self.full_cause(side);
        let others = if cause == Cause::SharedBottleneck { self.others(side) } else { 1.0 };
        // Even spacing alone does not outweigh a full window, a held segment, a message or a timer.
        let bare = |wait: &Wait| matches!(wait, Wait::Ack | Wait::Pace | Wait::Unknown);
        let all = [Wait::Ack, Wait::Window, Wait::Small, Wait::Pace, Wait::Path, Wait::Unknown, Wait::Timer];
        for wait in all.into_iter().filter(|wait| !spaced || bare(wait)) {
            let time = self.take(side, wait, busy);
            busy -= time;
            // A shared link is busy with packets of its own for a part of that time.
            let others = time.scale(others);
            self.put(ledger, cause, None, others, sure);
            self.put(ledger, Cause::Bottleneck, None, time - others, sure);
        }
    }

    fn full_cause(&self, side: usize) -> Cause {
        let (path, row) = (self.facts.paths[side], self.row);
        match () {
            () if path.policer.is_some() => Cause::Policer,
            () if path.is_shared(row.start, row.end, path.own(row.start, row.end))
                || self.crowded(side).is_some() =>
            {
                Cause::SharedBottleneck
            }
            () => Cause::Bottleneck,
        }
    }

    /// The full queue that holds all flows of a host, where others have a good part of it.
    fn crowded(&self, side: usize) -> Option<&'a Path<'a>> {
        let (path, row) = (self.facts.paths[side], self.row);
        let own = path.own(row.start, row.end);
        self.facts.of_hosts[side].iter().find(|all| all.is_full_of_others(row.start, row.end, own))
    }

    /// The share of a full path that other conversations have.
    fn others(&self, side: usize) -> f64 {
        let (path, row) = (self.facts.paths[side], self.row);
        let of = |all: &Path<'_>| all.others(row.start, row.end, path.own(row.start, row.end));
        self.crowded(side).map_or_else(|| of(path), of)
    }

    /// More than a message that needs no window.
    fn is_bulk(&self, side: usize) -> bool {
        let messages = u64::from(self.row.turns[side].max(1));
        let mss = self.facts.conversation.mss(side);
        self.row.bytes[side] > SMALL_MESSAGE_SEGMENTS * mss * messages
            || self.message(side) > SMALL_MESSAGE_SEGMENTS * mss
    }

    /// Bytes of the message under way: rows without a turn go on with the one before.
    fn message(&self, side: usize) -> u64 {
        let waits = self.facts.conversation.waits;
        let begins = |w: &Stretch| w.turns[side] > 0 || w.of(side, Wait::Program) > Span::ZERO;
        let at = waits.partition_point(|w| w.start < self.row.start).min(waits.len() - 1);
        let from = (0..=at).rev().find(|i| begins(&waits[*i])).unwrap_or(0);
        let until = (at + 1..waits.len()).find(|i| begins(&waits[*i])).unwrap_or(waits.len());
        waits[from..until].iter().map(|w| w.bytes[side] / u64::from(w.turns[side].max(1))).sum()
    }

    /// The repair of losses, and the wait for it.
    fn repairs(&mut self, side: usize, ledger: &mut Ledger) {
        let (start, end) = (self.row.start, self.row.end);
        let timer = self.take(side, Wait::Timer, Span::MAX);
        if timer > Span::ZERO {
            self.timed_out(side, timer, ledger);
        }
        // A program does not answer what has not reached it.
        let has_not = |t: &&Trouble| t.lost > 0 || t.cause == Cause::PacketsHeld;
        for t in self.facts.troubles[1 - side].near(start, end).filter(has_not) {
            self.charge(side, Wait::Program, t, self.missing_until(t), ledger);
        }
        for t in self.facts.troubles[side].near(start, end) {
            for wait in REPAIRED {
                self.charge(side, wait, t, t.end, ledger);
            }
            // A program may write while data is missing: what is missing is owed all the same.
            self.charge(side, Wait::Program, t, t.end.min(t.repaired), ledger);
        }
    }

    /// A trouble owns its part of a wait: from the moment at which its sender noticed it to `until`.
    fn charge(&mut self, side: usize, wait: Wait, t: &Trouble, until: Time, ledger: &mut Ledger) {
        if self.left[side][wait as usize] == Span::ZERO {
            return;
        }
        let (start, end) = (self.row.start, self.row.end);
        let part = (until.min(end) - t.noticed.max(start)).as_secs().max(0.0);
        let share = self.row.of(side, wait).scale(part / (end - start).as_secs().max(1e-9));
        let time = self.take(side, wait, share);
        self.put(ledger, t.cause, self.by_of(t), time, t.certainty);
    }

    /// Until when the other host waits for what is missing: a round trip after the last repair it has that.
    fn missing_until(&self, t: &Trouble) -> Time {
        t.end.min(t.repaired + self.facts.conversation.base_rtt.unwrap_or(Span::ZERO))
    }

    /// What a timer ended belongs to the trouble that it ended.
    fn timed_out(&self, side: usize, mut timer: Span, ledger: &mut Ledger) {
        let (start, end) = (self.row.start, self.row.end);
        if !self.facts.conversation.seen_leaving(side) {
            // What was lost, and what was sent before, left when its program had written it; or it answers what was lost.
            let [own, others] = [side, 1 - side].map(|of| self.facts.troubles[of].near(start, end));
            let others = others.filter(|t| t.lost > 0).map(|t| (t, self.missing_until(t)));
            let all = own.map(|t| (t, t.end)).chain(others);
            let waited = all.map(|(t, until)| until.min(end) - t.noticed.min(t.start).max(start));
            let before = waited.max().map_or(Span::ZERO, |w| timer - w.max(Span::ZERO));
            timer -= before.max(Span::ZERO);
            self.put(ledger, Cause::SenderIdle, Some(Role::of(side)), before, Certainty::Likely);
        }
        match self.waited_for(side) {
            Some(t) if matches!(t.cause, Cause::Timer | Cause::SenderStalled) => {
                // Some wait there would have been: what was lost owns it. The timer may start anew with each packet.
                let due = t.silent + t.due;
                let lost = (due.min(end) - t.noticed.max(start)).max(Span::ZERO).min(timer);
                self.put(ledger, Cause::LossRandom, None, lost, Certainty::Likely);
                self.put(ledger, t.cause, self.by_of(t), timer - lost, t.certainty);
            }
            Some(t) => self.put(ledger, t.cause, self.by_of(t), timer, t.certainty),
            None if timer > Span::ZERO => self.unanswered(side, timer, ledger),
            None => {}
        }
    }

    /// The trouble that a timer of this host ends: one of its own data, or, where none of that was lost, of what it answers or
    /// what answers it.
    fn waited_for(&self, side: usize) -> Option<&'a Trouble> {
        let near = |side: usize| {
            let all = self.facts.troubles[side].near(self.row.start, self.row.end);
            all.max_by_key(|t| t.timeouts)
        };
        let own = near(side);
        let goes_on = |t: &&Trouble| own.is_some() || self.missing_until(t) >= self.row.end;
        let answer = || near(1 - side).filter(|t| t.lost > 0).filter(goes_on);
        own.filter(|t| t.lost > 0).or_else(answer).or(own)
    }

    fn by_of(&self, t: &Trouble) -> Option<Role> {
        match t.cause {
            Cause::ReceiverStack => Some(Role::of(1 - t.side)),
            Cause::SenderStalled | Cause::Timer => Some(Role::of(t.side)),
            _ => None,
        }
    }

    /// No episode tells of the loss that a timer repaired. What comes no more has died on its way; what comes late was lost, and
    /// a timer that takes far longer than it is due owns the rest.
    fn unanswered(&self, side: usize, time: Span, ledger: &mut Ledger) {
        let c = self.facts.conversation;
        let comes = c.row(side).and_then(|f| f.last_data).is_some_and(|last| last >= self.row.end);
        if c.closed() == Closed::Open && c.seen_leaving(side) || !comes {
            return self.put(ledger, Cause::PathDied, None, time, Certainty::Open);
        }
        self.lost_unseen(side, time, if comes { Certainty::Likely } else { Certainty::Open }, ledger);
    }

    /// Time in which something that was lost, and does not show, was repaired.
    fn lost_unseen(&self, side: usize, time: Span, sure: Certainty, ledger: &mut Ledger) {
        let due = late_timer::due(self.facts.conversation);
        let late = if late_timer::is_late(time, due) { time - due } else { Span::ZERO };
        self.put(ledger, Cause::LossRandom, None, time - late, sure);
        self.put(ledger, Cause::Timer, Some(Role::of(side)), late, sure);
    }

    /// Data waited for room in a window: the receiver's, or one of the sender's own.
    fn windows(&mut self, side: usize, ledger: &mut Ledger) {
        let time = self.take(side, Wait::Window, Span::MAX);
        if time > Span::ZERO {
            let (cause, sure) = windows::receive(self.facts, side, self.row);
            self.put(ledger, cause, Some(Role::of(1 - side)), time, sure);
        }
        self.small(side, ledger);
        self.unseen_losses(side, ledger);
        let time = self.take(side, Wait::Pace, Span::MAX);
        if time > Span::ZERO {
            let (cause, sure) = windows::paced(self.facts, side, self.row);
            self.put(ledger, cause, cause_by(cause, side), time, sure);
        }
        for wait in [Wait::Ack, Wait::Unknown] {
            let time = self.take(side, wait, Span::MAX);
            if time > Span::ZERO {
                let (cause, sure) = windows::own(self.facts, side, self.row);
                self.put(ledger, cause, cause_by(cause, side), time, sure);
            }
        }
    }

    /// Where data arrives: what was lost at the end of a flight leaves no gap, but a silence in the middle of what its program
    /// wrote. No sender spaces its packets by more than a round trip; its timer waits for longer.
    fn unseen_losses(&mut self, side: usize, ledger: &mut Ledger) {
        let c = self.facts.conversation;
        if c.seen_leaving(side) {
            return;
        }
        let least = c.base_rtt.map_or(NEGLIGIBLE, |rtt| rtt.max(NEGLIGIBLE));
        let within = |i: &&IdleRow| i.start >= self.row.start && i.end <= self.row.end;
        let silences: Vec<Span> = c.flows[side].idle.iter().filter(within).map(|i| i.end - i.start).collect();
        for silence in silences.into_iter().filter(|s| *s > least) {
            let time = self.take(side, Wait::Pace, silence);
            self.lost_unseen(side, time, Certainty::Likely, ledger);
        }
    }

    /// A small segment waited for the ACK of the one before it: a round trip is its way, and what is more its receiver held.
    fn small(&mut self, side: usize, ledger: &mut Ledger) {
        let c = self.facts.conversation;
        let sure = if c.seen_leaving(side) { Certainty::Known } else { Certainty::Likely };
        let time = self.take(side, Wait::Small, Span::MAX);
        let turns = i64::from(self.row.turns[side].max(1));
        let trip = c.base_rtt.map_or(Span::ZERO, |rtt| (rtt * turns).min(time));
        self.put(ledger, Cause::RequestResponse, None, trip, Certainty::Likely);
        self.put(ledger, Cause::DelayedAck, Some(Role::of(1 - side)), time - trip, sure);
    }

    /// Messages and their answers under way.
    fn turns(&mut self, side: usize, ledger: &mut Ledger) {
        let time = self.take(side, Wait::Path, Span::MAX);
        if time == Span::ZERO {
            return;
        }
        // Nobody waits for the arrival of what the same program follows up at a time of its own.
        if self.is_one_way(side) && self.is_followed_up(side) {
            let (cause, sure) = self.spaced_by(side);
            return self.put(ledger, cause, Some(Role::of(side)), time, sure);
        }
        let late = self.late_messages(side, time);
        self.put(ledger, Cause::PacketsHeld, None, late, Certainty::Likely);
        let time = time - late;
        let queued = self.queued_of(side, time);
        self.put(ledger, Cause::StandingQueue, None, queued, Certainty::Likely);
        // A queue that was there all the time does not show; but what fills one makes it grow and shrink. Where messages met
        // one again and again, how much of their least round trip is its wait cannot be told.
        let (cause, sure) = match () {
            () if self.facts.conversation.has_steady_trips() && self.row.turns != [0; 2] => {
                (Cause::RequestResponse, Certainty::Known)
            }
            () if self.facts.meets_queues_of_others() => (Cause::CannotTell, Certainty::Open),
            () => (Cause::RequestResponse, Certainty::Likely),
        };
        self.put(ledger, cause, None, time - queued, sure);
    }

    /// The time that small messages took beyond the longest round trip of the connection. Both captures tell that none was lost.
    fn late_messages(&self, side: usize, time: Span) -> Span {
        let c = self.facts.conversation;
        let turns = self.row.turns.map(i64::from);
        let small = (0..2).all(|side| self.row.bytes[side] <= c.mss(side) * turns[side].max(1) as u64);
        let both = c.vantage(side) == Vantage::Both;
        let longest = c.largest_rtt.filter(|_| small && both);
        let late = longest.map(|rtt| time - rtt.scale(1.0 + NEAR) * turns[0].max(turns[1]).max(1));
        late.unwrap_or(Span::ZERO).max(Span::ZERO)
    }

    /// What a queue added to the time of messages under way.
    fn queued_of(&self, side: usize, time: Span) -> Span {
        let Some(base) = self.facts.conversation.base_rtt else { return Span::ZERO };
        if let Some(shared) = self.queued_of_others(time) {
            return shared;
        }
        let queued = self.facts.paths[side].queued(self.row.start, self.row.end).unwrap_or(Span::ZERO);
        if queued < self.facts.conversation.least_queue() {
            return Span::ZERO;
        }
        let of_all = queued.as_secs() / (queued + base).as_secs().max(1e-9);
        time.scale(of_all)
    }

    /// What a queue added that other flows of the host fill, in either direction: this conversation may have met it from its
    /// beginning on, and its own least round trip has it in it.
    fn queued_of_others(&self, time: Span) -> Option<Span> {
        let (start, end) = (self.row.start, self.row.end);
        let queues = (0..2).filter_map(|side| self.crowded(side)?.queued(start, end));
        let queued = queues.reduce(|a, b| a + b)?;
        let trips = i64::from(self.row.turns[0].saturating_add(self.row.turns[1]).max(2)) / 2;
        Some((queued * trips).min(time))
    }

    fn programs(&mut self, side: usize, ledger: &mut Ledger) {
        let time = self.take(side, Wait::Program, Span::MAX);
        let (cause, sure) = self.spaced_by(side);
        self.put(ledger, cause, Some(Role::of(side)), time, sure);
    }

    /// Data of this host alone, in which nobody answers. A message may go on from the row before, and then its own has no bytes.
    fn is_one_way(&self, side: usize) -> bool {
        let [own, others] = [side, 1 - side].map(|of| self.row.bytes[of]);
        let goes_on = own > 0 || self.facts.conversation.bytes(1 - side) == 0;
        self.row.turns == [0; 2] && others == 0 && goes_on
    }

    /// More data of this host is sent after the stretch.
    fn is_followed_up(&self, side: usize) -> bool {
        let last = self.facts.conversation.row(side).and_then(|f| f.last_data);
        last.is_some_and(|t| t > self.row.end)
    }

    /// Far less data than the connection's mean: a pace is even.
    fn is_pause(&self, side: usize) -> bool {
        let c = self.facts.conversation;
        let rate = |bytes: u64, time: Span| bytes as f64 / time.as_secs().max(1e-9);
        rate(self.row.bytes[side], self.row.length()) * 2.0 < rate(c.bytes(side), c.end - c.start)
    }

    /// Who writes messages ends them with a short segment. Full segments alone, one after the other, have more behind them: their
    /// sender spaces them.
    fn spaced_by(&self, side: usize) -> (Cause, Certainty) {
        let c = self.facts.conversation;
        let bytes = self.row.bytes[side];
        let full = bytes > 0 && bytes.is_multiple_of(c.mss(side));
        if self.is_one_way(side) && full && !self.is_pause(side) {
            return (Cause::Pacing, Certainty::Likely);
        }
        // Where more than a segment arrives at a time, a link that spaces them looks like a program that writes them so, and so does
        // Nagle's algorithm, which waits for an ACK that this host holds.
        let much = c.bytes(side) > c.mss(side) * c.turns[side];
        let holds = c.row(side).is_some_and(|f| f.rtt_ack.max >= NEGLIGIBLE.as_secs());
        let spaced = (much || holds) && !c.seen_leaving(side);
        (Cause::SenderIdle, if spaced { Certainty::Likely } else { c.as_seen(side) })
    }
}

fn cause_by(cause: Cause, side: usize) -> Option<Role> {
    match cause {
        Cause::SendWindow | Cause::Pacing | Cause::SenderStalled | Cause::Timer => Some(Role::of(side)),
        Cause::ReceiveWindow => Some(Role::of(1 - side)),
        _ => None,
    }
}
