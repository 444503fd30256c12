//! How a stream begins: as if there had been none before it, with a SYN, or in the middle.

use super::*;
use crate::assumptions::MIN_RTO_SEEN;

impl Stream {
    /// Makes it a new stream, where it is and with the room that it has. Field by field: most connections are short,
    /// and a stream that was made elsewhere would be written twice.
    pub fn reset(&mut self, new: FlowId) {
        let Stream { una, next, base, unwrap, arrivals, last_time, .. } = self;
        (*una, *next, *base, *unwrap) = (0, 0, 0, None);
        (*arrivals, *last_time) = (Arrivals::default(), Time::FAR_PAST);
        let Stream { ledger, repair, agreed, dsack_seen, bare_acked, fin_told, at, last, .. } = self;
        ledger.clear();
        *repair = SenderModel::default();
        (*agreed, *dsack_seen, *bare_acked, *fin_told) = (Agreed::default(), false, false, false);
        (*at, *last) = (Vantage::Unknown, LastData::default());
        let Stream { fin_end, acks_in_flight, account, window, newest_delivered, .. } = self;
        (*fin_end, *newest_delivered) = (None, Time::FAR_PAST);
        acks_in_flight.clear();
        account.clear();
        *window = Window::default();
        let Stream { last_blocks, sacked_up_to, heard_up_to, limits, .. } = self;
        (*last_blocks, *sacked_up_to, *heard_up_to) = ([(0, 0); 4], 0, 0);
        *limits = Limits::default();
        self.ack_way = None;
        let Stream { last_repair, sent_up_to, sent_at_most, .. } = self;
        (*last_repair, *sent_up_to, *sent_at_most) = (Time::FAR_PAST, 0, 0);
        self.turn_at_most = Span::MAX;
        let Stream { spacing, id, acked_before, lost_around, syn_retransmissions, syn_time, .. } = self;
        (*spacing, *id, *acked_before, *lost_around) = (Span::MAX, new, None, (0, 0));
        (*syn_retransmissions, *syn_time, self.last_syn, self.syn_answers) = (0, None, None, false);
        (self.heard_news, self.released) = (false, Release::Unknown);
    }

    /// A SYN or SYN-ACK passes; the data after it starts one further.
    pub fn on_syn<S: Sink>(&mut self, packet: &Packet, ctx: &mut Context<'_, S>) {
        self.arrivals.ids.note(packet.ip_id, 1, Some(0));
        if let Some(mss) = packet.seg.mss {
            self.repair.note_syn(u32::from(packet.seg.window), u32::from(mss));
        }
        if self.unwrap.is_none() {
            let mut unwrap = Unwrapper::new(packet.seg.seq);
            self.base = unwrap.offset(packet.seg.seq);
            self.start_at(unwrap, self.base + 1);
            self.syn_time = Some(packet.time);
        } else if self.agreed.mid_stream && self.syn_time.is_none() {
            // Written down after what followed it.
            self.base = self.base.min(self.unwrap.map_or(self.base, |u| u.peek(packet.seg.seq)));
            self.agreed.mid_stream = false;
            self.syn_time = Some(packet.time);
        } else if self.is_another_opening(packet) {
            // Several hosts answer at one address (anycast), each with a number of its own: the last answer before the
            // handshake is over stands, and what comes of the others then is of no connection.
            if ctx.view.established.is_none() && !self.has_data() {
                let mut unwrap = Unwrapper::new(packet.seg.seq);
                self.base = unwrap.offset(packet.seg.seq);
                self.start_at(unwrap, self.base + 1);
            }
        } else if packet.seg.flags.has(Flags::ACK) && !self.syn_answers {
            // Both hosts called at once: each answers the other with its own SYN once more (RFC 9293 §3.5).
        } else if self.last_syn.is_some_and(|t| packet.time - t < MIN_RTO_SEEN) {
            // The answer to a SYN that the network doubled, or a doubled SYN: no timer is as short before the first round trip
            // is known (RFC 6298 §2.1).
            self.limits.duplicated += 1;
        } else {
            self.syn_retransmissions += 1;
            self.account.counts.trouble().needless_unknown += 1;
            if ctx.config.wanted.retransmissions {
                ctx.sink.retransmission(RetransmissionRow {
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
        if packet.seg.flags.has(Flags::ACK) {
            self.syn_answers = true;
            self.arrivals.ids.note_answer(packet.ip_id);
        }
        self.last_syn = Some(packet.time);
        self.last_time = packet.time;
    }

    /// An answer to a SYN that begins elsewhere than the one before.
    fn is_another_opening(&self, packet: &Packet) -> bool {
        let answers = packet.seg.flags.has(Flags::ACK) && self.syn_answers;
        answers && self.unwrap.is_some_and(|u| u.peek(packet.seg.seq) != self.base)
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
        let (config, mut sink, mut waits) = (Config::default(), Rows::default(), Waits::default());
        let mut view = View {
            at: Vantage::Middle,
            sender_loop: Span::from_millis(3),
            answer_loop: Span::from_millis(3),
            peer_packets: 0,
            sent: Time::ZERO,
            peer_data_at: Time::ZERO,
            answers: Answers::Unknown,
            peer_goes_on: false,
            established: None,
            clock_granularity: Span::ZERO,
            tsval_granularity: Span::ZERO,
        };
        for k in 1..400u32 {
            // Data with holes in it, repeated now and then; ACKs that SACK what lies above the first hole.
            let at = if k % 9 == 0 { k - 7 } else { k + k / 5 };
            let timestamps = Some(Timestamps { val: k, ecr: k - 1 });
            let mut seg = Segment { seq: Seq(at * 1000), timestamps, ..Segment::default() };
            (seg.flags, seg.window, seg.payload) = (Flags::ACK, 9000, 1000);
            let mut packet = Packet { time: Time(i64::from(k) * 1_000_000), seg, ..Packet::default() };
            (packet.ip_id, packet.number, view.sent) = (k as u16, u64::from(k), packet.time);
            let (waits, side, tuple) = (&mut waits, 0, &Tuple::default());
            let mut ctx =
                Context { config: &config, sink: &mut sink, view, origin: Time::ZERO, waits, side, tuple };
            stream.on_data(&packet, crate::Fate::Unknown, &mut ctx);
            (packet.seg.payload, packet.seg.ack) = (0, Seq(k / 20 * 20_000));
            packet.seg.sack.push(Seq((at - 1) * 1000), Seq((at + 1) * 1000));
            stream.on_ack(&packet, 2, &mut ctx);
        }
        assert!(stream.account.episodes().count() > 0);
        stream.reset(8);
        new.reset(8);
        stream.account.drop_spares();
        assert_eq!(format!("{stream:?}"), format!("{new:?}"));
    }
}
