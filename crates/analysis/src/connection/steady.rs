//! The short way of a packet through a connection that runs on as it has, seen where its data is sent.
//!
//! In a bulk transfer nearly every packet is either the next data, numbered as expected and right behind the data
//! before it, or an ACK without data. Of all that may be said of a packet little can be said of these, and what can
//! not is not asked. Whatever is the least bit out of the ordinary goes the long way, [`Connection::take`], and
//! what is taken here leaves the same behind as it would there.

use super::seen::COARSE;
use super::*;

/// The evidence of the place is weighed anew at every so many packets.
pub(super) const WEIGHED_AT: u32 = 64;

/// Notes that are looked at on the long way.
const TELLING: Notes = Notes(Notes::ECN.0 | Notes::BAD_CHECKSUM.0);

impl Connection {
    /// May the next packet go the short way? To be asked when one has gone the long way.
    pub(super) fn is_steady(&self, config: &Config) -> bool {
        let (wanted, sides) = (&config.wanted, &self.sides);
        sides[0].packets.min(sides[1].packets) >= FIRST
            && self.established.is_some()
            && !self.reset
            && !self.have_closed()
            && self.tick < COARSE
            && self.turn == Turn::Known
            && (0..2).any(|side| self.is_at_sender(side))
            && (0..2).all(|side| !self.is_at_sender(side) || sides[side].asked.is_none())
            && !wanted.intervals
            && !wanted.packets
    }

    /// Is the data of this side seen where it is sent?
    #[inline(always)]
    pub(super) fn is_at_sender(&self, side: usize) -> bool {
        matches!(self.at[side], Vantage::Sender | Vantage::Both)
    }

    /// Takes the packets at the front that are of this connection and have nothing out of the ordinary about them;
    /// how many. The next one, if it is of this connection, goes the long way.
    #[inline]
    pub fn take_run<S: Sink>(&mut self, packets: &[Packet], capture: &mut Capture<'_, S>) -> usize {
        if !self.steady {
            return 0;
        }
        let packets = &packets[..packets.len().min(self.until_weighed() as usize)];
        let tuple = self.tuple;
        let ordinary = |packet: &&Packet| {
            let Tuple { src, dst } = &packet.tuple;
            match is(src, &tuple.src) {
                true => is(dst, &tuple.dst) && self.take_ordinary::<0, S>(packet, capture),
                false => {
                    is(src, &tuple.dst) && is(dst, &tuple.src) && self.take_ordinary::<1, S>(packet, capture)
                }
            }
        };
        packets.iter().take_while(ordinary).count()
    }

    /// One such packet of this connection, whose way is known; false if it has to go the long way.
    #[inline(always)]
    pub fn take_steady<S: Sink>(
        &mut self,
        packet: &Packet,
        towards: bool,
        capture: &mut Capture<'_, S>,
    ) -> bool {
        if !self.steady || self.until_weighed() == 0 {
            return false;
        }
        match towards {
            true => self.take_ordinary::<0, S>(packet, capture),
            false => self.take_ordinary::<1, S>(packet, capture),
        }
    }

    /// So many packets from here on the evidence of the place is weighed, which is done on the long way.
    #[inline(always)]
    fn until_weighed(&self) -> u32 {
        WEIGHED_AT - 1 - (self.sides[0].packets + self.sides[1].packets) % WEIGHED_AT
    }

    /// Takes the packet if there is nothing out of the ordinary about it; else changes nothing, and false. `SIDE` is
    /// a constant, so that what belongs to it has a fixed place.
    #[inline(always)]
    fn take_ordinary<const SIDE: usize, S: Sink>(
        &mut self,
        packet: &Packet,
        capture: &mut Capture<'_, S>,
    ) -> bool {
        let seg = &packet.seg;
        let ordinary = packet.time >= self.last
            && seg.flags.without(Flags::PSH) == Flags::ACK
            && !seg.options_cut
            && (!packet.notes.has(TELLING) || self.ecn[SIDE].has_shown(packet));
        match seg.payload {
            _ if !ordinary => false,
            0 => self.take_bare_ack(packet, SIDE, capture),
            _ => self.take_next_data(packet, SIDE, capture),
        }
    }

    #[inline(always)]
    fn take_next_data<S: Sink>(
        &mut self,
        packet: &Packet,
        side: usize,
        capture: &mut Capture<'_, S>,
    ) -> bool {
        let (seg, ack_and_window) = (&packet.seg, (packet.seg.ack, packet.seg.window));
        let expected = self.is_at_sender(side)
            && ack_and_window == self.sides[side].last_ack
            && seg.sack.is_empty()
            && self.streams[side].goes_on_with(packet);
        if !expected {
            return false;
        }
        self.last = packet.time;
        self.sides[side].packets += 1;
        self.sides[side].spoke = packet.time;
        self.note_clocks(packet, side, capture);
        let next = self.streams[side].begin_next_data(packet);
        let waited = self.streams[side].waited(packet);
        if waited > crate::rounds::WAIT {
            let peer_goes_on = self.streams[1 - side].goes_on();
            let view = View { peer_goes_on, ..self.view_at_sender(packet, side) };
            self.streams[side].note_release(packet, &view, &mut self.waits, side);
        }
        self.waits.on_bytes(side, seg.payload);
        if waited < close(capture.config) {
            self.streams[side].next_data_at_once(packet);
        } else {
            let view = self.view_at_sender(packet, side);
            let mut ctx = capture.ctx(view, &mut self.waits, (&self.tuple, side));
            self.streams[side].next_data_after_a_pause(&next, &mut ctx);
        }
        self.streams[side].end_next_data(&next, self.sides[1 - side].packets);
        if self.streams[side].may_advance(packet.time) {
            let view = self.view_at_sender(packet, side);
            self.streams[side]
                .advance(packet.time, &mut capture.ctx(view, &mut self.waits, (&self.tuple, side)));
        }
        true
    }

    #[inline(always)]
    fn take_bare_ack<S: Sink>(&mut self, packet: &Packet, side: usize, capture: &mut Capture<'_, S>) -> bool {
        let of = 1 - side;
        if !self.is_at_sender(of) || self.sides[side].may_be_twice(packet) {
            return false;
        }
        let silence = packet.time - self.last;
        self.last = packet.time;
        self.sides[side].packets += 1;
        self.note_clocks(packet, side, capture);
        let s = &mut self.sides[side];
        let repeats = s.repeats(&packet.seg);
        s.remember_bare(packet);
        s.last_ack = (packet.seg.ack, packet.seg.window);
        let view = self.view_at_sender(packet, of);
        let scale = self.scales[side];
        self.streams[of].on_ack(packet, scale, &mut capture.ctx(view, &mut self.waits, (&self.tuple, of)));
        self.on_bare(packet, side, repeats, silence);
        true
    }

    /// What [`Connection::view`] gives there.
    #[inline(always)]
    fn view_at_sender(&self, packet: &Packet, side: usize) -> View {
        View {
            at: self.at[side],
            sender_loop: Span::ZERO,
            answer_loop: Span::ZERO,
            peer_packets: self.sides[1 - side].packets,
            sent: packet.time,
            peer_data_at: self.sides[1 - side].spoke,
            answers: Answers::Unknown,
            peer_goes_on: false,
            established: self.established,
            clock_granularity: Span::ZERO,
            tsval_granularity: Span::ZERO,
        }
    }
}
