//! How a stream begins: as if there had been none before it, with a SYN, or in the middle.

use super::*;

impl Stream {
    /// Makes it a new stream, where it is and with the room that it has. Field by field: most connections are short,
    /// and a stream that was made elsewhere would be written twice.
    pub fn reset(&mut self, new: FlowId) {
        let Stream { una, next, base, unwrap, next_ordinal, board, ledger, infer, spare_infer, .. } = self;
        (*una, *next, *base, *unwrap, *next_ordinal) = (0, 0, 0, None, 0);
        board.clear();
        *ledger = None;
        if let Some(infer) = infer.take() {
            *spare_infer = Some(infer);
        }
        if let Some(rounds) = self.rounds.take() {
            self.spare_rounds = Some(rounds);
        }
        let Stream { ids, last_acked, last_time, repair, settling, mss, .. } = self;
        (*ids, *last_acked, *last_time, *mss) = (Ids::default(), None, Time::FAR_PAST, 0);
        repair.clear();
        settling.clear();
        let Stream { sack_permitted, timestamps, sack_known, sack_seen, dsack_seen, last_pushed, .. } = self;
        (*sack_permitted, *timestamps, *sack_known) = (false, false, false);
        (*sack_seen, *dsack_seen, *last_pushed) = (false, false, true);
        let Stream { fin_told, ttl, at, last_payload, fin_end, last_sent, last_data, tick, .. } = self;
        (*fin_told, *ttl, *at, *last_payload, *fin_end) = (false, 0, Vantage::Unknown, 0, None);
        (*last_sent, *last_data, *tick) = (Time::FAR_PAST, None, Tick::default());
        let Stream { flight_max, on_the_way, limits, counts, window, ack, newest_delivered, .. } = self;
        (*flight_max, *newest_delivered) = (0, Time::FAR_PAST);
        on_the_way.clear();
        *limits = Limits::default();
        *counts = Counts::default();
        *window = Window::default();
        *ack = LastAck::default();
        (self.acks, self.duplicate_acks) = (0, 0);
        let Stream { samples, rtt, timers, delivery, last_sack, last_blocks, episodes, id, .. } = self;
        samples.clear();
        rtt.clear();
        *timers = Timers::default();
        delivery.clear();
        (*last_sack, *last_blocks) = (wire::SackBlocks::NONE, [(0, 0); 4]);
        episodes.clear();
        *id = new;
        let Stream { acked_before, last_repair, sent_up_to, turn_at_most, spacing, idle, interval, .. } =
            self;
        *spacing = Span::MAX;
        (*acked_before, *last_repair, *sent_up_to, *turn_at_most) = (None, Time::FAR_PAST, 0, Span::MAX);
        (*idle, *interval) = (IdleTotals::default(), IntervalRow::default());
        let Stream { lost_around, first_data, syn_retransmissions, syn_time, last_syn, syn_answers, .. } =
            self;
        (*lost_around, *first_data, *syn_retransmissions) = ((0, 0), None, 0);
        (*syn_time, *last_syn, *syn_answers) = (None, None, false);
    }

    /// A SYN or SYN-ACK passes; the data after it starts one further.
    pub fn on_syn<S: Sink>(&mut self, packet: &Packet, around: &mut Surroundings<'_, S>) {
        self.ids.note(packet.ip_id, 1, Some(0));
        if let Some(mss) = packet.seg.mss {
            self.repair.note_syn(u32::from(packet.seg.window), u32::from(mss));
        }
        if self.unwrap.is_none() {
            let mut unwrap = Unwrapper::new(packet.seg.seq);
            self.base = unwrap.offset(packet.seg.seq);
            self.start_at(unwrap, self.base + 1);
            self.syn_time = Some(packet.time);
        } else if self.limits.mid_stream && self.syn_time.is_none() {
            // Written down after what followed it.
            self.base = self.base.min(self.unwrap.map_or(self.base, |u| u.peek(packet.seg.seq)));
            self.limits.mid_stream = false;
            self.syn_time = Some(packet.time);
        } else if packet.seg.flags.has(Flags::ACK) && !self.syn_answers {
            // Both hosts called at once: each answers the other with its own SYN once more (RFC 9293 §3.5).
        } else {
            self.syn_retransmissions += 1;
            self.counts.needless_unknown += 1;
            if around.config.wanted.retransmissions {
                around.sink.retransmission(RetransmissionRow {
                    flow: self.id,
                    packet: packet.number,
                    time: packet.time,
                    seq_end: 1,
                    segments: 1,
                    cause: Cause::Handshake,
                    trigger: Trigger::TimerRto,
                    backoff: self.syn_retransmissions - 1,
                    copy: self.syn_retransmissions + 1,
                    since_previous: self.last_syn.map(|t| packet.time - t),
                    ..RetransmissionRow::default()
                });
            }
        }
        self.syn_answers |= packet.seg.flags.has(Flags::ACK);
        self.last_syn = Some(packet.time);
        self.last_time = packet.time;
    }

    pub(super) fn start_at(&mut self, unwrap: Unwrapper, first: u64) {
        self.unwrap = Some(unwrap);
        self.una = first;
        self.next = first;
        self.repair.start(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Rows;
    use wire::{Segment, Timestamps};

    #[test]
    fn a_stream_made_new_again_has_nothing_of_the_one_before() {
        let [mut stream, mut new] = [Stream::default(), Stream::default()];
        stream.reset(3);
        let (config, mut sink) = (Config::default(), Rows::default());
        let mut view = View {
            at: Vantage::Middle,
            turn: Span::from_millis(3),
            heard: 0,
            sent: Time::ZERO,
            spoken: Time::ZERO,
            established: None,
            tick: Span::ZERO,
        };
        for k in 1..400u32 {
            // Data with holes in it, repeated now and then; ACKs that SACK what lies above the first hole.
            let at = if k % 9 == 0 { k - 7 } else { k + k / 5 };
            let timestamps = Some(Timestamps { val: k, ecr: k - 1 });
            let mut seg = Segment { seq: Seq(at * 1000), timestamps, ..Segment::default() };
            (seg.flags, seg.window, seg.payload) = (Flags::ACK, 9000, 1000);
            let mut packet = Packet { time: Time(i64::from(k) * 1_000_000), seg, ..Packet::default() };
            (packet.ip_id, packet.number, view.sent) = (k as u16, u64::from(k), packet.time);
            let mut around = Surroundings { config: &config, sink: &mut sink, view, origin: Time::ZERO };
            stream.on_data(&packet, crate::Fate::Unknown, &mut around);
            (packet.seg.payload, packet.seg.ack) = (0, Seq(k / 20 * 20_000));
            packet.seg.sack.push(Seq((at - 1) * 1000), Seq((at + 1) * 1000));
            stream.on_ack(&packet, 2, &mut around);
        }
        assert!(stream.episodes.count() > 0 && stream.infer.is_some());
        stream.reset(8);
        new.reset(8);
        stream.spare_infer = None;
        stream.spare_rounds = None;
        assert_eq!(format!("{stream:?}"), format!("{new:?}"));
    }
}
