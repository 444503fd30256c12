//! The end of a stream: what is open is closed, and its own row is written.

use super::account::Gap;
use super::*;
use wire::{Endpoint, Flags};

/// What the connection knows and the stream does not.
pub struct Ending {
    pub sender: Endpoint,
    pub receiver: Endpoint,
    pub closed: Closed,
    pub reset: Option<Reset>,
    pub handshake: Option<Span>,
    pub syns_resent: u32,
    pub window_scale: Option<u8>,
    pub ecn: Ecn,
    /// What was agreed on is known, if from SYNs before the part that was asked for.
    pub opening_known: bool,
    pub start: Time,
}

impl Stream {
    /// Ends the stream and writes its rows; its own comes last.
    pub fn finish<S: Sink>(&mut self, ending: &Ending, around: &mut Surroundings<'_, S>) {
        let now = self.last_time;
        if let (Some(syn), None, 1..) = (self.syn_time, around.view.established, self.syn_retransmissions) {
            let unanswered = Gap { handshake: true, ..Gap::default() };
            self.account.gap_row(syn, now, &unanswered, self.id, around);
        }
        if let Some(since) = self.window.zero_since {
            self.window.zero_time += now - since;
        }
        if self.window.is_closed_to_data() && self.fin_end.is_none() {
            let shut = Gap { zero_window: true, flight: self.flight(), ..Gap::default() };
            self.account.gap_row(self.last.sent, now, &shut, self.id, around);
        }
        let conditions = self.conditions(&around.view);
        self.limits.unfilled_gaps += self.ledger.finish(&conditions);
        self.tell_certain(around);
        self.account.finish(now, self.una, around);
        self.account.note_too_large(self.ledger.too_large());
        let mut row = self.row(ending, around.view.at);
        if around.sink.wants_all(&row) {
            self.account.complete(&mut row);
            self.account.put_rounds(self.id, self.last.sent, around.sink);
        }
        around.sink.flow(&row);
    }

    /// What is known of the stream as a whole, but for what its counts say.
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
            last_data: self.last.seen.filter(|_| any_data),
            bytes,
            acked_bytes: (self.una - self.base).saturating_sub(1).min(bytes),
            mss: agreed.mss,
            sack_permitted: (agreed.sack_permitted || agreed.sack_known).then_some(agreed.sack_permitted),
            timestamps: (agreed.timestamps || self.limits.options_cut == 0).then_some(agreed.timestamps),
            window_scale: ending.window_scale,
            ecn: ending.ecn,
            closed: ending.closed,
            reset: ending.reset.filter(|_| any_data && self.fin_end.is_none()),
            syn_retransmissions: self.syn_retransmissions,
            handshake: ending.handshake,
            handshake_resent: ending.syns_resent,
            zero_windows: self.window.zeros,
            zero_window_time: self.window.zero_time,
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
        row.window_bytes = self.window.told();
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
