//! The replay itself: events of the capture in their order, and a sender that is asked at each what it would send.

mod held;
mod timers;
mod twin;

use crate::index::OF_ONE_PACKET;
use crate::tally::{Difference, Entered, Kind, Replay, State};
use crate::transfer::{BURST, Began, Event, Out, Transfer};
use std::cell::Cell;
use std::collections::HashSet;
use tcp::endpoint::{Config, Endpoint, Followed, Sent, Why};
use tcp::stack::Wire;
use twin::Twin;
use wire::{Flags, Segment, Span, Time};

/// Timers of both may be so far apart; and what an ACK releases leaves within as much.
pub(crate) const TOLERANCE: Span = Span::from_millis(5);
/// A sender that would send more at one ACK is not asked further.
const MOST_AT_ONCE: usize = 4096;

/// Where a replay is given up, as it is no better than another, or has seen enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) wrong: u64,
    /// In the capture's time.
    pub(crate) until: Time,
}

impl Limit {
    pub(crate) const NONE: Limit = Limit { wrong: u64::MAX, until: Time::FAR_FUTURE };
}

/// Feeds what came in to a sender of `stack` and compares what it sends with what left; the capture begins so many
/// milliseconds later in the stack's timers. `None` once more sends are wrong than the limit allows.
pub(crate) fn replay_at(transfer: &Transfer, stack: &Wire, phase: u32, limit: Limit) -> Option<Replay> {
    let shifted = transfer.at_phase(phase);
    let mut run = Run::new(&shifted, stack);
    let judged_from = shifted.under_way.as_ref().map_or(0, |began| began.judged_from);
    for at in 0..judged_from {
        run.follow(at);
    }
    if let Some(began) = &shifted.under_way {
        run.take_up(began);
    }
    for at in judged_from..shifted.events.len() {
        if shifted.events[at].time(&shifted.outs) - shifted.shift > limit.until {
            break;
        }
        run.step(at);
        if run.found.wrong() > limit.wrong {
            return None;
        }
    }
    Some(run.found)
}

struct Run<'a> {
    transfer: &'a Transfer,
    end: Twin,
    now: Time,
    /// The first event that is still to come.
    at: usize,
    /// When something last came in.
    heard: Time,
    /// For each recorded send: when the sender would have made it, if it would.
    predicted: Vec<Option<Time>>,
    /// The sender has made it, or was set to having done so.
    entered: Vec<bool>,
    /// For the first send of each segment: the last of its sends that the sender is known to have made, where the search
    /// for one that it has not made begins.
    made: Vec<Cell<usize>>,
    /// The first of `outs` that was not entered.
    next: usize,
    /// All data up to the place of this send among `outs` was written.
    written: usize,
    /// How much the buffer of the sending host holds, acknowledged data apart: more is not written before there is room.
    buffer: Option<u64>,
    /// Sends made besides, by offset and whether again, until they are recorded: each counts once.
    besides: HashSet<(u64, bool)>,
    /// The deadline of a timer that fired and sent what was not recorded.
    refused: Option<Time>,
    /// The send that a timer made at another time than recorded, and how much earlier.
    off: Option<(usize, Span)>,
    /// The send that was recorded a little later than its pace allowed, and when that was.
    paced: Option<(usize, Time)>,
    /// From this event on the application has something to send, if it had nothing from the start.
    asked: Option<usize>,
    /// Until then what the stack would send may wait below TCP, or for the writer.
    held_until: Time,
    /// cwnd is what was out in the first round trip that was captured, and no repair has set it since.
    assumes_window: bool,
    /// Segments that the capture misses, entered so far.
    missing_segments: u64,
    found: Replay,
}

impl<'a> Run<'a> {
    fn new(transfer: &'a Transfer, stack: &Wire) -> Run<'a> {
        let spec = transfer.fitted(stack);
        let start = transfer.events.first().map_or(Time(0), |e| e.time(&transfer.outs));
        let config = Config { isn: transfer.isn, ..Config::default() };
        let end = if transfer.opened {
            Endpoint::connect_with(&spec, &config, start)
        } else {
            Endpoint::listen_with(&spec, &config)
        };
        let sends = transfer.outs.len();
        let mut run = Run {
            transfer,
            end: Twin::new(end),
            now: start,
            at: 0,
            heard: start,
            predicted: vec![None; sends],
            entered: vec![false; sends],
            made: (0..sends).map(Cell::new).collect(),
            next: 0,
            written: 0,
            buffer: transfer.buffer,
            besides: HashSet::new(),
            refused: None,
            off: None,
            paced: None,
            asked: transfer.asked(),
            held_until: Time::FAR_PAST,
            assumes_window: false,
            missing_segments: 0,
            found: Replay::default(),
        };
        if run.asked.is_none() {
            run.write_on();
        }
        run
    }

    /// Before anything is judged: what came is heard, what left is entered.
    fn follow(&mut self, at: usize) {
        let event = self.transfer.events[at];
        self.now = event.time(&self.transfer.outs).max(self.now);
        self.at = at + 1;
        match event {
            Event::Opening(_) => self.open(),
            Event::In(_, seg) => {
                self.answer(&seg);
                self.end.hear(self.now, &seg);
                self.begin_to_write(at);
                // What is owed to the handshake leaves.
                let mut acks = self.end.clone();
                let opened = self.end.is_established() || !seg.flags.has(Flags::SYN);
                if opened && next_data(&mut acks, self.now).is_none() {
                    *self.end = acks;
                }
            }
            Event::Out(k) => {
                let out = self.transfer.outs[k];
                self.write_by_now(k);
                self.set_to(k, &out);
            }
        }
    }

    /// The most that was out is taken for cwnd.
    fn take_up(&mut self, began: &Began) {
        let slow_start = began.slow_start;
        if let Some(flight) = began.flight {
            self.end.assume_window(flight, slow_start);
        }
        self.assumes_window = began.before_the_capture();
        let view = self.end.view();
        let not_judged = self.entered.iter().filter(|&&entered| entered).count() as u64;
        let entered = Entered { not_judged, cwnd: view.cwnd / view.smss, slow_start };
        self.found = Replay { entered: Some(entered), ..Replay::default() };
    }

    fn step(&mut self, at: usize) {
        let event = self.transfer.events[at];
        let time = event.time(&self.transfer.outs).max(self.now);
        self.at = at;
        self.let_timers_fire(time);
        self.now = time;
        self.at = at + 1;
        match event {
            Event::Opening(_) => self.open(),
            Event::In(_, seg) => self.receive(&seg, at),
            Event::Out(k) => {
                self.meet(k);
                if self.next == self.written {
                    self.see_whether_the_application_waited();
                }
            }
        }
    }

    /// A SYN or SYN-ACK left: the sender's own does, its timer's if there is none yet.
    fn open(&mut self) {
        let waits = |s: &Sent| s.why == Why::Handshake;
        let mut trial = self.end.clone();
        let mut sent = trial.transmit(self.now);
        if !sent.as_ref().is_some_and(waits) {
            trial = self.end.clone();
            trial.fire_early(self.now);
            sent = trial.transmit(self.now);
        }
        if sent.as_ref().is_some_and(waits) {
            *self.end = trial;
        }
    }

    /// What answers a SYN leaves when the capture has it, and at the latest before what comes next.
    fn answer(&mut self, seg: &Segment) {
        if self.end.is_established() || seg.flags.has(Flags::SYN) {
            return;
        }
        let mut trial = self.end.clone();
        if trial.transmit(self.now).is_some_and(|sent| sent.why == Why::Handshake) {
            *self.end = trial;
        }
    }

    fn receive(&mut self, seg: &Segment, at: usize) {
        self.answer(seg);
        self.fill_what_is_missing(seg);
        self.heard = self.now;
        self.end.hear(self.now, seg);
        self.refused = None;
        if !self.end.is_established() && seg.flags.has(Flags::SYN) {
            return;
        }
        self.begin_to_write(at);
        let until = self.end_of_window(at);
        self.write_into_room();
        self.write_by(until);
        self.see_whether_new_data_overtook();
        self.drain(self.now, until);
        while self.write_by(until) {
            self.drain(self.now, until);
        }
        self.see_whether_the_application_waited();
    }

    /// The capture misses what the peer acknowledges.
    fn fill_what_is_missing(&mut self, seg: &Segment) {
        let (max, isn) = (self.end.view().max, self.transfer.isn);
        let beyond = i64::from(seg.ack - (isn + max as u32));
        let likely = beyond > 0 && beyond < 1 << 30 && seg.flags.has(Flags::ACK) && self.end.is_established();
        if likely
            && !self.was_predicted_up_to(max + beyond as u64)
            && self.may_miss_up_to(max + beyond as u64)
        {
            self.found.unusable.missing += 1;
            let copy = Followed { offset: max + beyond as u64, payload: 0, fin: false };
            self.end.write_up_to(copy.offset);
            let mut offset = max;
            let smss = u64::from(self.end.view().smss);
            while offset < copy.offset {
                let payload = (copy.offset - offset).min(smss) as u32;
                self.end.follow(self.now, &Followed { offset, payload, fin: false });
                offset += u64::from(payload);
            }
        }
    }

    /// Enters the segments from SND.MAX up to `offset` as missing, unless there are too many. The transfer was checked with
    /// the MSS of its first handshake, and the endpoint may have agreed on a smaller one in another.
    fn may_miss_up_to(&mut self, offset: u64) -> bool {
        let view = self.end.view();
        let segments = offset.saturating_sub(view.max).div_ceil(view.smss.max(1).into());
        let may = self.missing_segments + segments <= self.transfer.most_segments;
        self.missing_segments += if may { segments } else { 0 };
        may
    }

    /// A recorded send that comes later in the file than the ACK of it (clocks of several processors).
    fn was_predicted_up_to(&mut self, offset: u64) -> bool {
        let from = self.next;
        let late = self.transfer.outs[from..].iter().take(64).any(|o| o.end() + u64::from(o.fin) >= offset);
        if late {
            for k in from..self.transfer.outs.len() {
                let out = self.transfer.outs[k];
                if out.offset >= offset {
                    break;
                }
                if !self.entered[k] {
                    self.meet(k);
                }
            }
        }
        late
    }

    /// Sends before this time may have been released by the event at `at`: those before the next packet that comes in, or
    /// before the end of a burst of them.
    fn end_of_window(&self, at: usize) -> Time {
        let transfer = self.transfer;
        let next = transfer.events.get(transfer.index.next_burst(at));
        let next = next.map_or(Time::FAR_FUTURE, |event| event.time(&transfer.outs));
        next.clamp(self.now, self.now + TOLERANCE)
    }

    // ---- the application ----

    fn begin_to_write(&mut self, at: usize) {
        if self.end.is_established() && self.asked.is_some_and(|asked| at >= asked) {
            self.asked = None;
            self.write_on();
        }
    }

    /// It had written everything up to the next break: a segment that was not full, or one that came after silence.
    fn write_on(&mut self) {
        let outs = &self.transfer.outs;
        while let Some(out) = outs.get(self.written) {
            self.end.write_up_to(out.end());
            if out.fin {
                self.end.close();
            }
            self.written += 1;
            if outs.get(self.written).is_some_and(|o| breaks(o) || !self.has_room_for(o)) {
                break;
            }
        }
    }

    fn has_room_for(&self, out: &Out) -> bool {
        self.buffer.is_none_or(|buffer| out.end() <= self.end.view().una + buffer)
    }

    /// An ACK made room in a buffer that was full, and the application goes on to write.
    fn write_into_room(&mut self) {
        let waits = |o: &Out| !breaks(o) && self.has_room_for(o);
        if self.buffer.is_some()
            && self.written > 0
            && self.transfer.outs.get(self.written).is_some_and(waits)
        {
            self.write_on();
        }
    }

    /// What left before `until` was written by now, unless it left after silence, or behind a short segment that is to leave
    /// first. True where something was.
    fn write_by(&mut self, until: Time) -> bool {
        let from = self.written;
        while let Some(out) = self.transfer.outs.get(self.written)
            && out.time <= until
            && !out.after_silence
            && self.has_room_for(out)
            && !(out.after_short && self.short_is_to_leave())
        {
            self.write_on();
        }
        self.written > from
    }

    /// The last of what was written is a short segment that has not left.
    fn short_is_to_leave(&self) -> bool {
        self.transfer.index.last_new(self.written).is_some_and(|k| !self.entered[k])
    }

    /// Data that left after silence: did it wait for cwnd, or for the application? If the sender would send it now, the
    /// application had not written it.
    fn see_whether_the_application_waited(&mut self) {
        while let Some(out) = self.transfer.outs.get(self.written)
            && out.after_silence
        {
            let mut trial = self.end.clone();
            trial.write_up_to(out.end());
            if next_data(&mut trial, self.now).is_some() {
                self.found.application += 1;
                return;
            }
            self.write_on();
        }
    }

    // ---- what the sender would send ----

    /// All that it would send now, as far as it was recorded before `until`.
    fn drain(&mut self, now: Time, until: Time) {
        let mut ahead = self.end.ahead();
        let (mut follows, mut holds, mut left) = (true, false, 0);
        // When each send left that `ahead` made and `self.end` did not make yet.
        let mut made: Vec<Time> = Vec::new();
        let mut moment = self.moment(now);
        for _ in 0..MOST_AT_ONCE {
            let then = self.moment(now);
            if then < moment || then - moment > OF_ONE_PACKET {
                moment = then;
            }
            ahead.burst_goes_on(moment);
            let Some(sent) = next_data(&mut ahead, moment) else {
                if follows {
                    ahead.hold_repairs(false);
                    self.end.do_as(ahead, |end| {
                        catch_up(end, &mut made);
                        end.burst_goes_on(moment);
                        next_data(end, moment);
                        end.hold_repairs(false);
                    });
                }
                return;
            };
            match self.recorded(&sent, until) {
                Some(k) => {
                    let paced = self.paced.filter(|&(of, _)| of == k).map(|(_, due)| due);
                    self.predicted[k] = Some(paced.unwrap_or(now));
                    left += u64::from(sent.seg.payload);
                    if follows {
                        made.push(moment);
                        self.enter(k);
                    }
                }
                None => {
                    catch_up(&mut self.end, &mut made);
                    let again = sent.why.is_retransmission();
                    if follows && self.is_held_back(left, again) {
                        if !again || holds {
                            self.end.hold_repairs(false);
                            return;
                        }
                        // New data goes on, as the writer sends it.
                        holds = true;
                        ahead = self.end.clone();
                        ahead.hold_repairs(true);
                        continue;
                    }
                    if !self.made_besides(&sent) {
                        // The sends behind it were asked for when it was counted. Asking again at each packet would cost as
                        // much as the window holds.
                        return;
                    }
                    follows = false;
                }
            }
        }
        catch_up(&mut self.end, &mut made);
    }

    /// When the next recorded send left, if nothing came in before: the times of copies depend on it.
    fn moment(&self, now: Time) -> Time {
        let index = &self.transfer.index;
        let before_next_in = self.at..index.next_in(self.at);
        match index.event(self.next) {
            Some(event) if before_next_in.contains(&event) => {
                self.transfer.outs[self.next].time.min(now + BURST).max(now)
            }
            _ => now,
        }
    }

    /// The recorded send that this is, if it left before `until`.
    fn recorded(&self, sent: &Sent, until: Time) -> Option<usize> {
        let index = &self.transfer.index;
        let first = index.first((sent.offset, sent.seg.payload, sent.why.is_retransmission()))?;
        let mut k = self.made[first].get();
        while self.entered[k] || self.predicted[k].is_some() {
            self.made[first].set(k);
            k = index.next(k)?;
        }
        (self.transfer.outs[k].time <= until).then_some(k)
    }

    /// Counts a send that was not recorded. False if it was made besides before.
    fn made_besides(&mut self, sent: &Sent) -> bool {
        let again = sent.why.is_retransmission();
        if !self.besides.insert((sent.offset, again)) {
            return false;
        }
        let state = self.end.phase().into();
        self.found.count(state, again, false, false);
        let about = self.difference(Kind::MadeBesides, state, sent.offset, sent.seg.payload, again);
        self.found.differences.push(about);
        true
    }

    fn difference(&self, kind: Kind, state: State, offset: u64, payload: u32, again: bool) -> Difference {
        let view = self.end.view();
        Difference {
            kind,
            at: self.now - self.transfer.shift,
            packet: None,
            offset: offset.saturating_sub(1),
            payload,
            again,
            state,
            pipe: view.pipe / view.smss,
            cwnd: view.cwnd / view.smss,
            ssthresh: (view.ssthresh < u32::MAX).then_some(view.ssthresh),
            off: None,
        }
    }

    fn enter(&mut self, k: usize) {
        self.entered[k] = true;
        while self.entered.get(self.next) == Some(&true) {
            self.next += 1;
        }
    }

    // ---- what was recorded ----

    fn meet(&mut self, k: usize) {
        let out = self.transfer.outs[k];
        if out.after_silence {
            self.write_by_now(k);
        }
        if self.written <= k {
            self.write_by(out.time);
        }
        let state: State = self.end.phase().into();
        self.assumes_window &= state == State::Open;
        if self.predicted[k].is_none() && !self.entered[k] {
            self.look_for(k);
        }
        self.besides.remove(&(out.offset, out.again));
        let bare_fin = out.fin && out.payload == 0;
        let right = self.predicted[k];
        if !self.entered[k] {
            self.set_to(k, &out);
            if self.assumes_window {
                // It shows that cwnd is more.
                self.end.raise_window();
            }
        }
        if bare_fin {
            return;
        }
        let null_right = !out.again;
        self.found.count(state, out.again, right.is_some(), null_right);
        match right {
            Some(at) => self.found.apart.push(out.time - at),
            None => self.not_made(k, state),
        }
    }

    fn not_made(&mut self, k: usize, state: State) {
        let out = self.transfer.outs[k];
        let off = self.off.take().filter(|&(of, _)| of == k).map(|(_, off)| off);
        let kind = if off.is_some() { Kind::TimerOff } else { Kind::NotMade };
        let about = self.difference(kind, state, out.offset, out.payload, out.again);
        self.found.differences.push(Difference { packet: Some(out.packet), off, ..about });
    }

    fn write_by_now(&mut self, k: usize) {
        while self.written <= k {
            self.write_on();
        }
    }

    fn set_to(&mut self, k: usize, out: &Out) {
        let copy = Followed { offset: out.offset, payload: out.payload, fin: out.fin };
        if !self.may_miss_up_to(out.offset) || !self.end.follow(self.now, &copy) {
            if out.end() <= self.end.view().una {
                self.found.unusable.acknowledged += 1;
            } else {
                self.found.unusable.other_bounds += 1;
            }
        }
        self.enter(k);
    }
}

/// The application may not have had it when it wrote what comes before it.
fn breaks(out: &Out) -> bool {
    out.after_silence || out.after_short || (out.fin && out.payload == 0)
}

/// Makes the sends that a copy of the sender made, at the times at which that made them.
fn catch_up(end: &mut Endpoint, made: &mut Vec<Time>) {
    for moment in made.drain(..) {
        end.burst_goes_on(moment);
        next_data(end, moment);
    }
}

/// The next data that an end would send; ACKs of its own leave on the way.
fn next_data(end: &mut Endpoint, now: Time) -> Option<Sent> {
    for _ in 0..MOST_AT_ONCE {
        let sent = end.transmit(now)?;
        match sent.why {
            Why::Ack | Why::Handshake | Why::KeepAlive | Why::Rst => {}
            _ => return Some(sent),
        }
    }
    None
}
