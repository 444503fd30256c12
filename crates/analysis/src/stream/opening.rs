//! How a stream begins: with a SYN, or in the middle.

use super::*;

impl Stream {
    /// A SYN or SYN-ACK passes; the data after it starts one further.
    pub fn on_syn<S: Sink>(&mut self, packet: &Packet, around: &mut Surroundings<'_, S>) {
        self.ids.note(packet.ip_id, 1, Some(0));
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
