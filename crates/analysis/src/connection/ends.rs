//! How a connection opens, what its hosts agree on, and how it ends.

use super::*;

impl Side {
    /// What its SYN offers.
    pub(super) fn offer(&mut self, syn: &Segment) {
        self.isn = Some(syn.seq);
        self.has_offered = !syn.options_cut;
        self.mss = syn.mss.or(self.mss);
        self.window_scale = syn.window_scale.or(self.window_scale);
        self.sack_permitted |= syn.sack_permitted;
        self.timestamps |= syn.timestamps.is_some();
    }
}

impl Connection {
    pub(super) fn on_syn<S: Sink>(&mut self, packet: &Packet, side: usize, capture: &mut Capture<'_, S>) {
        let s = &mut self.sides[side];
        let repeated = s.isn.is_some();
        s.offer(&packet.seg);
        s.syn_time = Some(packet.time);
        s.first_syn.get_or_insert(packet.time);
        let view = self.view(packet, side, true);
        self.streams[side].on_syn(packet, &mut capture.ctx(view, &mut self.waits, (&self.tuple, side)));
        if !repeated && let (1, Some(syn)) = (side, self.sides[0].syn_time) {
            self.place.sample(1, packet.time - syn);
            self.streams[0].rtt_hint(packet.time - syn);
        }
        self.agree();
    }

    /// What both SYNs allow.
    pub(super) fn agree(&mut self) {
        let [a, b] = &self.sides;
        // Options that the snap length cut off a SYN may have been offered or not.
        let seen_both = a.has_offered && b.has_offered;
        let seen = [a, b].into_iter().filter(|s| s.has_offered);
        // What one host does not offer is not agreed on, whatever the other one offers.
        let sack_refused = seen.clone().any(|s| !s.sack_permitted);
        let scale_refused = seen.clone().any(|s| s.window_scale.is_none());
        let sack = (a.sack_permitted || b.sack_permitted) && !sack_refused;
        // Agreed on, they are in every packet (RFC 7323 §3.2): any tells that, whether a SYN was seen or not.
        let timestamps = if seen_both { a.timestamps && b.timestamps } else { a.timestamps || b.timestamps };
        if let (Some(x), Some(y)) = (a.window_scale, b.window_scale) {
            self.scales = [x.min(14), y.min(14)];
        } else if let (false, Some(y)) = (a.has_offered, b.window_scale) {
            // Offered in the answer only if it was offered to it (RFC 7323 §1.3).
            self.scales[1] = y.min(14);
        }
        let known = [seen_both || scale_refused, seen_both || scale_refused || b.window_scale.is_some()];
        let mss = [a.mss, b.mss].into_iter().flatten().min();
        for (side, stream) in self.streams.iter_mut().enumerate() {
            stream.know_window(known[1 - side]);
            stream.agreed.sack_permitted = sack || stream.agreed.sack_seen;
            stream.agreed.sack_known = seen_both || sack_refused;
            stream.agreed.timestamps = timestamps;
            if let Some(mss) = mss {
                // The MSS option does not count options (RFC 6691): timestamps take 12 bytes of each segment.
                stream.agreed.mss = u32::from(mss).saturating_sub(if timestamps { 12 } else { 0 }).max(1);
            } else if timestamps {
                stream.agreed.mss = USUAL_MSS - 12;
            }
        }
    }

    /// A host that has reset a connection knows nothing of it any more. One that goes on acknowledging never did:
    /// somebody else's reset, or one out of place that was ignored (RFC 5961 §3.2).
    pub(super) fn note_reset(&mut self, packet: &Packet, side: usize) {
        if packet.seg.flags.has(Flags::RST) {
            if !self.reset {
                self.reset_time = packet.time;
            }
            self.reset = true;
            self.reset_by = side as u8;
            self.since_reset = 0;
        } else if self.reset && side == usize::from(self.reset_by) {
            self.since_reset += 1;
            self.reset = self.since_reset < SURVIVED;
        }
    }

    pub(super) fn closed(&self) -> Closed {
        match (self.reset, self.fin_of(0).is_some(), self.fin_of(1).is_some()) {
            (true, ..) => Closed::Reset,
            (_, true, true) => Closed::Fin,
            (_, false, false) => Closed::Open,
            _ => Closed::HalfFin,
        }
    }
}
