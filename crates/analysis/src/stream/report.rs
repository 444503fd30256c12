//! The end of a stream: what is open is closed, and its own row is written.

use super::ledger::Ledger;
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
    /// What was agreed on is known, if from SYNs before the part that was asked for.
    pub opening_known: bool,
    pub start: Time,
}

impl Stream {
    /// Ends the stream and writes its rows; its own comes last.
    pub fn finish<S: Sink>(&mut self, ending: &Ending, around: &mut Surroundings<'_, S>) {
        let now = self.last_time;
        if let (Some(syn), None, 1..) = (self.syn_time, around.view.established, self.syn_retransmissions) {
            self.idle_in_handshake(syn, now, around);
        }
        if let Some(mut ledger) = self.ledger.take() {
            self.settle_rest(&mut ledger, around);
            ledger.finish(self.mss, self.fin_end, |c| self.certain(c, around));
        }
        let count = self.episodes.count();
        if count > 0 {
            let delivered = self.delivery.bytes();
            let mut episodes = std::mem::take(&mut self.episodes);
            episodes.finish(now, self.una, delivered, |row| self.episode_row(row, around));
        }
        if around.config.wanted.intervals {
            self.flush_interval(around.sink);
        }
        let mut row = self.counts_row(ending, around.view.at, count);
        if around.sink.wants_all(&row) {
            self.complete(&mut row);
            self.put_rounds(around.sink);
        }
        around.sink.flow(&row);
    }

    fn settle_rest<S: Sink>(&mut self, ledger: &mut Ledger, around: &Surroundings<'_, S>) {
        let judge = self.judge(&around.view);
        for s in self.settling.drain() {
            s.settle(ledger, &judge);
        }
        // SACKed and never acknowledged: arrived all the same.
        for seg in self.board.drain() {
            self.limits.unfilled_gaps += u64::from(seg.is_unfilled());
            if seg.sacked {
                let reported = seg.sacked_time();
                let (dsacks, last_dsack) = (seg.dsacks(), seg.last_dsack());
                let until = reported;
                let unblocked = Time::FAR_FUTURE;
                let s = Settling { seg, reported, echo: None, dsacks, last_dsack, until, unblocked };
                s.settle(ledger, &judge);
            }
        }
    }

    /// What is worked out at the end.
    fn complete(&self, row: &mut FlowRow) {
        row.mean_burst = self.counts.lost_copies as f64 / f64::from(self.counts.bursts.max(1));
        row.rtt_ack = self.rtt.by_ack();
        row.rtt_timestamps = self.rtt.by_timestamps();
        row.timers = self.timers.report();
        row.inference = self.infer.as_ref().map_or_else(Inference::default, |i| i.report(row.vantage));
    }

    fn counts_row(&self, ending: &Ending, at: Vantage, episodes: u32) -> FlowRow {
        let c = &self.counts;
        let fin = u64::from(self.fin_end.is_some());
        let bytes = (self.next - self.base).saturating_sub(1 + fin);
        let mut row = FlowRow {
            flow: self.id,
            sender: ending.sender,
            receiver: ending.receiver,
            vantage: at,
            start: ending.start,
            end: self.last_time,
            first_data: self.first_data,
            last_data: self.last_data.filter(|_| self.first_data.is_some()),
            bytes,
            acked_bytes: (self.una - self.base).saturating_sub(1).min(bytes),
            packets: c.packets,
            segments: c.segments,
            acks: self.acks,
            duplicate_acks: self.duplicate_acks,
            mss: self.mss,
            sack_permitted: (self.sack_permitted || self.sack_known).then_some(self.sack_permitted),
            timestamps: (self.timestamps || self.limits.options_cut == 0).then_some(self.timestamps),
            window_scale: ending.window_scale,
            closed: ending.closed,
            reset: ending.reset.filter(|_| self.first_data.is_some() && self.fin_end.is_none()),
            syn_retransmissions: self.syn_retransmissions,
            handshake: ending.handshake,
            handshake_resent: ending.syns_resent,
            retransmitted_segments: c.resent_segments + u64::from(self.syn_retransmissions),
            retransmitted_packets: c.resent_packets + u64::from(self.syn_retransmissions),
            retransmitted_bytes: c.resent_bytes,
            by_cause: c.by_cause,
            needless: c.needless,
            needless_unknown: c.needless_unknown,
            most_copies_of_one_segment: c.most_copies.max(u32::from(c.packets > 0)),
            probes_new_data: c.probes_new,
            probes_repeat: c.probes_repeat,
            keep_alives: c.keep_alives,
            window_probes: c.window_probes,
            zero_windows: self.window.zeros,
            zero_window_time: self.window.zero_time,
            lost_copies: (!c.copies_unknown && !matches!(at, Vantage::Receiver | Vantage::Middle))
                .then_some(c.lost_copies),
            lost_segments: Some(c.lost_segments),
            bursts: c.bursts,
            largest_burst: c.largest_burst,
            episodes,
            timeouts: c.timeouts,
            max_backoff: c.max_backoff,
            // An episode comes out negative where the transfer ran faster than before it; together they cannot
            // have gained time.
            cost: c.cost.map(|cost| cost.max(Span::ZERO)),
            idle_total: self.idle.total,
            idle_blocked: self.idle.blocked,
            idle_longest: self.idle.longest,
            idle_gaps: self.idle.gaps,
            flight_max_bytes: self.flight_max,
            window_max_bytes: self.window.known.then_some(self.window.max),
            window_min_bytes: self.window.known.then_some(self.window.min).filter(|w| *w != u64::MAX),
            limits: Limits { mid_stream: self.limits.mid_stream && !ending.opening_known, ..self.limits },
            ..FlowRow::default()
        };
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
        row.window_bytes = self.known_window();
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
