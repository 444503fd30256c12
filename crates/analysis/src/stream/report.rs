//! The end of a stream: what is open is closed, and its own row is written.

use super::*;
use crate::assumptions::MAX_RTO;
use crate::idle_cause::Gap;
use wire::{Endpoint, Flags};

/// What the connection knows and the stream does not.
pub struct Ending {
    pub sender: Endpoint,
    pub receiver: Endpoint,
    pub closed: Closed,
    pub reset: Option<Reset>,
    pub fin: Option<Time>,
    pub handshake: Option<Span>,
    pub syns_resent: u32,
    pub window_scale: Option<u8>,
    pub ecn: Ecn,
    /// What was agreed on is known, if from SYNs before the part that was asked for.
    pub opening_known: bool,
    pub start: Time,
    pub observed_until: Time,
}

impl Stream {
    /// Ends the stream: what is open becomes certain, and its own row has all that is counted.
    pub fn finish<S: Sink>(&mut self, ending: &Ending, ctx: &mut Context<'_, S>) -> FlowRow {
        self.settle_probe(ctx.view.peer_packets);
        if let Some((from, to, gap)) = self.awaited_at_the_end(ending.observed_until, ctx.view.established)
            && self.account.gap_row(from, to, &gap, self.id, ctx)
        {
            self.last_time = self.last_time.max(to);
        }
        let now = self.last_time;
        if let Some(since) = self.window.zero_since {
            self.window.zero_time += now - since;
        }
        let conditions = self.conditions(&ctx.view);
        self.limits.unfilled_gaps += self.ledger.finish(&conditions);
        self.tell_certain(ctx);
        self.account.finish(now, self.una, ctx);
        self.account.note_too_large(self.ledger.too_large());
        self.account.put_last_stretch(self.last.sent, ctx);
        self.row(ending, ctx.view.at)
    }

    /// The rest of its row, and its rounds, where all is wanted of a stream that has ended.
    pub fn complete(&self, row: &mut FlowRow, sink: &mut impl Sink) {
        self.account.complete(row);
        self.account.put_rounds(self.id, sink);
    }

    /// What the stream still waits for when it is seen no more, and until when; `None` where nothing is owed.
    pub fn waits_at_end(&self, observed_until: Time, established: Option<Time>) -> Option<(Wait, Time)> {
        let (_, until, gap) = self.awaited_at_the_end(observed_until, established)?;
        let wait = match () {
            () if gap.handshake => Wait::Handshake,
            () if gap.zero_window => Wait::Closed,
            () => Wait::Timer,
        };
        Some((wait, until))
    }

    /// Its sender has more to send.
    pub fn goes_on(&self) -> bool {
        self.fin_end.is_none() && flow_state!(self).goes_on(self.window.edge)
    }

    /// From when to when its sender waited for the other host until the observation ended, and what for: an answer to its SYN,
    /// room in a closed window, the ACK of its data. A sender that waits for an answer asks again by its timer; once that
    /// is overdue it has given up.
    fn awaited_at_the_end(
        &self,
        observed_until: Time,
        established: Option<Time>,
    ) -> Option<(Time, Time, Gap)> {
        let gap = Gap { unended: true, flight: self.flight(), ..Gap::default() };
        if established.is_none() {
            let (syn, last) = self.syn_time.zip(self.last_syn).filter(|_| self.syn_retransmissions > 0)?;
            // The timer doubles (RFC 6298 §5.5): its next wait is no longer than twice all those before.
            let given_up = last + (last - syn) * 2;
            let until = observed_until.min(given_up).max(self.last_time);
            return Some((syn, until, Gap { handshake: true, ..gap }));
        }
        self.last.seen?;
        if self.window.is_closed_to_data() && self.fin_end.is_none() {
            return Some((self.last.sent, observed_until, Gap { zero_window: true, ..gap }));
        }
        let fin = u64::from(self.fin_end == Some(self.next));
        let unheard = self.una + fin < self.next && self.account.acks() > 0 && self.limits.acks_missing == 0;
        let given_up = self.last.sent + MAX_RTO;
        unheard.then(|| (self.last.sent, observed_until.min(given_up), gap))
    }

    /// What is known of the stream as a whole, but for what its counts say.
    /// When its sender was last told of an arrival.
    fn last_answer(&self) -> Option<Time> {
        Some(self.repair.last_news()).filter(|t| *t > Time::FAR_PAST).max(self.account.last_duplicate)
    }

    fn row(&self, ending: &Ending, at: Vantage) -> FlowRow {
        let fin = u64::from(self.fin_end.is_some());
        let bytes = (self.next - self.base).saturating_sub(1 + fin);
        let any_data = self.has_data();
        let agreed = &self.agreed;
        let mut row = FlowRow {
            flow: self.id,
            sender: ending.sender,
            receiver: ending.receiver,
            vantage: at,
            start: ending.start,
            end: self.last_time,
            observed_until: ending.observed_until,
            last_data: self.last.seen.filter(|_| any_data),
            last_answer: self.last_answer().filter(|_| any_data),
            bytes,
            acked_bytes: (self.una - self.base).saturating_sub(1).min(bytes),
            mss: agreed.mss,
            sack_permitted: (agreed.sack_permitted || agreed.sack_known).then_some(agreed.sack_permitted),
            timestamps: (agreed.timestamps || self.limits.options_cut == 0).then_some(agreed.timestamps),
            window_scale: ending.window_scale,
            ecn: ending.ecn,
            closed: ending.closed,
            fin: ending.fin,
            reset: ending.reset.filter(|_| any_data && self.fin_end.is_none()),
            syn_retransmissions: self.syn_retransmissions,
            handshake: ending.handshake,
            handshake_resent: ending.syns_resent,
            zero_windows: self.window.zeros,
            zero_window_time: self.window.zero_time,
            ack_way: self.ack_way.as_deref().copied().unwrap_or_default(),
            none_missing: self.arrivals.ids.none_is_missing(),
            window_scale_fits: self.window.scale_that_fits().filter(|_| any_data),
            window_max_bytes: self.window.known.then_some(self.window.max),
            window_min_bytes: self.window.known.then_some(self.window.min).filter(|w| *w != u64::MAX),
            limits: Limits {
                mid_stream: agreed.mid_stream && !ending.opening_known,
                largest_payload: self.last.largest,
                ..self.limits
            },
            ..FlowRow::default()
        };
        self.account.put_counts(&mut row);
        row.retransmitted_segments += u64::from(self.syn_retransmissions);
        row.retransmitted_packets += u64::from(self.syn_retransmissions);
        row.by_cause[Cause::Handshake as usize] += u64::from(self.syn_retransmissions);
        row
    }

    /// A packet as a row: relative numbers, scaled window.
    pub(super) fn packet_row(&self, packet: &Packet, data: bool) -> PacketRow {
        let seg = &packet.seg;
        let mut row = PacketRow {
            flow: self.id,
            packet: packet.number,
            time: packet.time,
            data,
            flags: seg.flags.0,
            len: seg.payload,
            ts_val: seg.timestamps.map(|t| t.val),
            ts_ecr: seg.timestamps.map(|t| t.ecr),
            flight_bytes: self.flight(),
            ..PacketRow::default()
        };
        if data {
            return row;
        }
        row.window_bytes = self.window.advertised();
        let Some(unwrap) = self.unwrap else { return row };
        let ack = unwrap.peek(seg.ack);
        if seg.flags.has(Flags::ACK) {
            row.ack = Some(self.relative(ack));
        }
        let blocks = self.blocks(&seg.sack);
        for (slot, (left, right)) in row.sack.iter_mut().zip(&blocks[..seg.sack.as_slice().len()]) {
            *slot = Some((self.relative(*left), self.relative(*right)));
        }
        row.dsack = super::ack::is_dsack(&blocks[..seg.sack.as_slice().len()], ack);
        row
    }
}
