//! What follows from the packets of a stream: counts, round trips, idle gaps, intervals, rounds, episodes, and the
//! inference about its sender. It is told facts, and knows neither what is outstanding nor why something was sent.

mod certain;
mod counts;
mod delivery;
mod episode;
mod idle;
mod interval;
mod pace;
mod release;
mod rounds;
mod rtt;
mod silence;

use super::facts::{Agreed, FlowState};
use super::repair::{AtSender, JudgedFrom, PathTiming, Remote};
use super::{Context, View};
use crate::infer::Inferrer;
use crate::rounds::Rounds;
use crate::rows::*;
use crate::sink::Sink;
use crate::timers::Timers;
pub use counts::Counts;
use delivery::Delivery;
use episode::Episodes;
pub use episode::RepairSeen;
pub use idle::Ended;
use idle::IdleTotals;
use pace::Pace;
pub use release::Left;
pub use rtt::Rtt;
use rtt::is_round_trip;
use silence::Silences;
use std::mem::offset_of;
use wire::{Packet, Span, Time};

/// Round trips that one ACK told, each with the end of the data it is of.
#[derive(Clone, Debug, Default)]
struct Samples {
    wanted: bool,
    /// Several where its blocks tell of data beside what it acknowledges.
    taken: Vec<(Span, u64, RttKind)>,
}

impl Samples {
    #[inline(always)]
    fn take(&mut self, rtt: Span, end: u64, kind: RttKind) {
        if self.wanted && is_round_trip(rtt) {
            self.keep(rtt, end, kind);
        }
    }
    #[cold]
    fn keep(&mut self, rtt: Span, end: u64, kind: RttKind) {
        self.taken.push((rtt, end, kind));
    }
}

/// What an ACK with news took out of the flight.
#[derive(Clone, Copy, Debug, Default)]
struct LastAck {
    took: u64,
    /// Data came with it.
    carried: bool,
}

/// An ACK with news has been taken in.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub time: Time,
    /// When what it acknowledges was acknowledged, though by an ACK that the capture lacks; else `time`.
    pub answered: Time,
    /// Bytes that it took out of the flight, and those that the cumulative ACK moved on by.
    pub gained: u64,
    pub advanced: u64,
    pub duplicate: bool,
    pub carried: bool,
    /// How many of the newly acknowledged sequence numbers carry no data: a FIN takes one.
    pub no_bytes: u64,
    /// Copies sent so far.
    pub copies: u64,
}

/// Bytes sent and not acknowledged, and the size of a full segment.
#[derive(Clone, Copy)]
struct Outstanding {
    bytes: u64,
    segment: u64,
}

impl Outstanding {
    #[inline(always)]
    fn of(state: &FlowState<'_>) -> Outstanding {
        Outstanding { bytes: state.next - state.una, segment: u64::from(state.agreed.mss) }
    }
    /// Behind the first segment, which is missing.
    fn behind_the_first(&self) -> u64 {
        self.bytes.saturating_sub(self.segment)
    }
}

/// Is the stream seen as its sender sees it?
fn is_at_sender(view: &View) -> bool {
    matches!(view.at, Vantage::Sender | Vantage::Both) && view.sender_loop == Span::ZERO
}

/// Fields in the order of their use: first what data needs, then ACKs; the rest seldom.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Account {
    /// Made at the first data: most streams carry none.
    infer: Option<Box<Inferrer>>,
    flight_max: u64,
    first_data: Option<Time>,
    pub counts: Counts,
    acks: u64,
    duplicate_acks: u64,
    ack: LastAck,
    episodes: Episodes,
    /// What its limits are read from; none before it has sent a few segments.
    rounds: Option<Box<Rounds>>,
    samples: Samples,
    rtt: Rtt,
    timers: Timers,
    delivery: Delivery,
    idle: IdleTotals,
    /// Made where intervals are wanted.
    interval: Option<Box<IntervalRow>>,
    pub silences: Silences,
    pace: Pace,
    /// Without SACK: bytes that duplicate ACKs told of and that no ACK has acknowledged yet.
    by_duplicates: u64,
    /// When the last of them passed.
    pub last_duplicate: Option<Time>,
    /// Those of another stream, that need not be allocated.
    spare_infer: Option<Box<Inferrer>>,
    spare_rounds: Option<Box<Rounds>>,
}

impl Account {
    /// Which bytes of this struct are prefetched: a data packet uses those up to `DATA`, an ACK those in `ACKS`.
    pub const DATA: usize = offset_of!(Account, counts) + offset_of!(Counts, resent_segments);
    pub const ACKS: (usize, usize) =
        (offset_of!(Account, acks), offset_of!(Account, delivery) + Delivery::IN_EPISODES);

    /// As if new, with the room it has.
    pub fn clear(&mut self) {
        if let Some(infer) = self.infer.take() {
            self.spare_infer = Some(infer);
        }
        if let Some(rounds) = self.rounds.take() {
            self.spare_rounds = Some(rounds);
        }
        let Account { flight_max, first_data, counts, acks, duplicate_acks, ack, episodes, samples, .. } =
            self;
        (*flight_max, *first_data, *acks, *duplicate_acks) = (0, None, 0, 0);
        (self.by_duplicates, self.last_duplicate) = (0, None);
        *counts = Counts::default();
        *ack = LastAck::default();
        episodes.clear();
        samples.wanted = false;
        samples.taken.clear();
        let Account { rtt, timers, delivery, idle, interval, .. } = self;
        rtt.clear();
        *timers = Timers::default();
        delivery.clear();
        (*idle, *interval) = (IdleTotals::default(), None);
        self.silences.clear();
        self.pace = Pace::default();
    }
    #[cfg(test)]
    pub fn drop_spares(&mut self) {
        (self.spare_infer, self.spare_rounds) = (None, None);
    }
    /// A packet follows soon; what lies here is fetched already.
    #[inline]
    pub fn warm_beyond(&self, carries: bool) {
        if !carries {
            self.rtt.warm();
            self.episodes.warm();
        }
        if let Some(infer) = &self.infer {
            infer.warm();
        }
    }

    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }
    pub fn acks(&self) -> u64 {
        self.acks
    }
    pub fn first_data(&self) -> Option<Time> {
        self.first_data
    }
    pub fn episodes(&self) -> &Episodes {
        &self.episodes
    }

    #[inline(always)]
    fn infer(&mut self, agreed: &Agreed) -> &mut Inferrer {
        if self.infer.is_none() {
            self.infer = Some(self.new_infer(agreed));
        }
        self.infer.get_or_insert_default()
    }

    #[cold]
    fn new_infer(&mut self, agreed: &Agreed) -> Box<Inferrer> {
        let mut infer = self.spare_infer.take().unwrap_or_default();
        *infer = Inferrer::new();
        if agreed.mid_stream {
            infer.set_mss(agreed.mss);
            infer.set_sack(agreed.sack_permitted);
        } else {
            infer.on_handshake(agreed.mss, agreed.sack_permitted);
        }
        infer
    }

    /// The least round trip, as the sender has it.
    #[inline(always)]
    pub fn round(&self, view: &View) -> Span {
        self.rtt.min().unwrap_or(Span::ZERO) + view.sender_loop
    }

    /// The round trip as the sender smooths it; from elsewhere what the path takes, smoothed.
    pub fn srtt(&self, view: &View) -> Span {
        self.own_timer(view).map_or(self.rtt.srtt() + view.sender_loop, |(srtt, _)| srtt)
    }
    /// SRTT and RTO as Linux has them, where they are seen as the sender sees them.
    fn own_timer(&self, view: &View) -> Option<(Span, Span)> {
        self.timers.linux().filter(|_| is_at_sender(view))
    }

    /// What is known of time on this path.
    /// `as_linux`: the sender computes its RTO as Linux does; at the receiver the RTO is then computed so, from round
    /// trips with queueing delay in them.
    pub fn timing(&self, view: &View, as_linux: bool) -> PathTiming {
        let round = self.round(view);
        let grain = view.clock_granularity.scale(2.5);
        let judged_from = if is_at_sender(view) {
            JudgedFrom::AtSender(AtSender { grain })
        } else {
            JudgedFrom::Remote(Remote)
        };
        let own = self.timers.linux().filter(|_| as_linux && view.at == Vantage::Receiver);
        let rto = own.map_or(self.rtt.rto() + view.sender_loop, |(_, rto)| rto);
        let elsewhere = || (self.rtt.srtt() + view.sender_loop, rto);
        let (srtt, rto) = self.own_timer(view).unwrap_or_else(elsewhere);
        PathTiming {
            // Two packets that a tick parts may be two ticks apart, and half a tick is lost in rounding.
            tolerance: Span::from_millis(2).max(round / 10).max(grain),
            srtt,
            least: round,
            rto,
            judged_from,
        }
    }

    /// A data packet of so many segments passes; a bare FIN is none.
    #[inline(always)]
    pub fn on_packet(&mut self, packet: &Packet, segments: u32) {
        self.counts.packets += 1;
        self.counts.bytes += u64::from(packet.seg.payload);
        self.counts.segments += u64::from(segments);
        if self.first_data.is_none() {
            self.first_data = Some(packet.time);
        }
    }

    /// Data up to `next` left for the first time.
    #[inline(always)]
    pub fn on_new_data(&mut self, packet: &Packet, next: u64, flight: u64, agreed: &Agreed) {
        self.infer(agreed).on_new_data(packet.time, next, packet.seg.payload, flight);
    }

    #[inline(always)]
    pub fn note_flight(&mut self, flight: u64) {
        self.flight_max = self.flight_max.max(flight);
    }

    /// A tail-loss probe left.
    pub fn on_probe<S: Sink>(&mut self, row: ProbeRow, agreed: &Agreed, ctx: &mut Context<'_, S>) {
        self.infer(agreed).on_probe(row.time);
        match row.new_data {
            true => {
                self.counts.trouble().probes_new += 1;
                self.episodes.on_probe();
            }
            false => self.counts.trouble().probes_repeat += 1,
        }
        ctx.sink.probe(row);
    }

    /// The retransmission timer fired, `waited` after it was started as far as that can be told.
    pub fn on_timeout(&mut self, now: Time, backoff: u32, waited: Option<Span>, agreed: &Agreed) {
        let trouble = self.counts.trouble();
        trouble.timeouts += 1;
        trouble.max_backoff = trouble.max_backoff.max(backoff);
        if let Some(waited) = waited {
            self.timers.on_timeout(waited, backoff);
        }
        self.infer(agreed).on_timeout(now);
    }

    /// Something was sent again: `bytes` of it for what is known to have been sent before.
    pub fn count_resent(&mut self, segments: u32, bytes: u64) {
        self.counts.resent_packets += 1;
        self.counts.resent_segments += u64::from(segments);
        self.counts.resent_bytes += bytes;
    }

    /// A retransmission passes. Returns the number of the loss episode that it belongs to, or begins.
    pub fn on_repair(&mut self, r: &RepairSeen, view: &View, flow: FlowId, agreed: &Agreed) -> u32 {
        let rtt_min = self.round(view);
        if !view.at.is_remote() && self.episodes.ends_before(r, &mut self.delivery) {
            self.infer(agreed).on_episode_end(r.now);
        }
        let began = !self.episodes.is_open();
        let episode = self.episodes.on_repair(r, &mut self.delivery, rtt_min, flow);
        let infer = self.infer(agreed);
        if began {
            infer.on_episode_start(r.now);
        }
        infer.on_retransmission(r.now, r.resent.cause, r.start, r.end, r.resent.segments);
        episode
    }

    /// An ACK passes.
    #[inline(always)]
    pub fn count_ack(&mut self, duplicate: bool) {
        self.acks += 1;
        self.duplicate_acks += u64::from(duplicate);
    }

    /// An ACK that reports something new has been processed; `flow_state` is the state of the stream after it.
    #[inline(always)]
    pub fn on_ack<S: Sink>(&mut self, ack: &Acked, flow_state: &FlowState<'_>, ctx: &mut Context<'_, S>) {
        self.ack = LastAck { took: ack.gained, carried: ack.carried };
        if ack.gained > 0 {
            let rtt_min = self.round(&ctx.view);
            self.delivery.delivered(ack.gained, ack.time, rtt_min);
            if ctx.config.wanted.intervals {
                self.acked_in_interval(ack.time, ack.gained - ack.no_bytes, flow_state.flow, ctx);
            }
        }
        if ack.advanced > 0 {
            self.timers.on_progress(flow_state.una, flow_state.next);
            let mut ended = false;
            if self.episodes.is_open() {
                if !flow_state.agreed.sack_permitted {
                    self.acked_without_sack(ack.gained, ack.time, Outstanding::of(flow_state));
                }
                ended = self.episodes.on_ack(flow_state.una, ack.answered, ack.copies, &mut self.delivery);
            }
            let infer = self.infer(flow_state.agreed);
            infer.on_cumulative_ack(
                ack.time,
                flow_state.una,
                flow_state.flight,
                flow_state.window.advertised(),
            );
            if ended {
                infer.on_episode_end(ack.time);
            }
        } else if ack.duplicate {
            self.infer(flow_state.agreed).on_duplicate_ack();
        }
    }

    /// Without SACK each duplicate ACK tells that a segment has left the network (RFC 5681 section 3.2, step 4), behind one
    /// that has not arrived. After the first one the window may move with what waits in the receiver's buffer.
    pub fn on_repeated_ack(&mut self, duplicate: bool, now: Time, flow_state: &FlowState<'_>) {
        if duplicate {
            self.last_duplicate = Some(now);
        }
        if !duplicate && self.by_duplicates == 0 {
            return;
        }
        let outstanding = Outstanding::of(flow_state);
        let told = (self.by_duplicates + outstanding.segment).min(outstanding.behind_the_first());
        self.by_duplicates = told.max(self.by_duplicates);
    }

    /// While a loss is repaired: one segment arrived now, and the rest had come before, as duplicate ACKs may have told.
    #[cold]
    fn acked_without_sack(&mut self, gained: u64, now: Time, outstanding: Outstanding) {
        let before = self.by_duplicates;
        let told = gained.saturating_sub(outstanding.segment);
        let left = before.saturating_sub(told).min(outstanding.behind_the_first());
        self.by_duplicates = left.max(before.saturating_sub(gained));
        let delivered = self.delivered();
        if let Some(rounds) = self.rounds.as_mut().filter(|_| told > 0) {
            rounds.break_train(now, delivered);
        }
    }

    /// An ACK passes that acknowledges nothing new, in a capture that was not taken at the sender.
    #[inline(always)]
    pub fn on_answer(&mut self, una: u64, now: Time, view: &View) {
        if self.episodes.is_open() {
            self.episodes.on_answer(una, now, self.round(view));
        }
    }

    /// SACK blocks were seen although it was not known that SACK had been negotiated.
    #[cold]
    pub fn learn_sack(&mut self, agreed: &Agreed) {
        self.infer(agreed).set_sack(true);
    }
}
