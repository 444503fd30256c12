//! From where a connection is seen, how far away its ends are, and how fine the capture's clock is.

use super::steady::WEIGHED_AT;
use super::*;

/// Clocks of old captures tick a hundred times a second. Fewer packets than these may be multiples of anything.
pub(super) const COARSE: Span = Span::from_millis(1);
const COARSEST: Span = Span::from_millis(20);
const FEW: u32 = 8;
/// The first packets of each side, each of which is asked for clocks and distances; behind them every eighth is.
const SETTLED: u32 = 256;

/// The greatest common divisor (Euclid's), or what is left of it below a coarse tick.
fn common_step(a: Span, b: Span) -> Span {
    let (mut a, mut b) = (a.0, b.0);
    while b >= COARSE.0 {
        (a, b) = (b, a % b);
    }
    Span(if b == 0 { a } else { b })
}

impl Connection {
    /// So long after the packet before it this one passes.
    #[inline(always)]
    pub(super) fn note_step(&mut self, step: Span) {
        if step > Span::ZERO && self.tick >= COARSE {
            self.tick = if self.tick == Span::MAX { step } else { common_step(self.tick, step) };
        }
    }

    /// Notes what the timestamps of a packet tell of clocks and distances.
    #[inline(always)]
    pub(super) fn note_clocks<S: Sink>(
        &mut self,
        packet: &Packet,
        side: usize,
        capture: &mut Capture<'_, S>,
    ) {
        let at_sender = self.is_at_sender(side);
        let s = &mut self.sides[side];
        let early = s.packets <= SETTLED;
        if let Some(ts) = packet.seg.timestamps {
            s.timestamps = true;
            if early || !at_sender {
                s.clock.note(ts.val, packet.time, packet.seg.payload > 0);
            }
        }
        // Distances change little: after a while every eighth packet will do.
        let told_here = self.at.contains(&Vantage::Receiver);
        if early || s.packets & 7 == 0 || told_here {
            let known = self.place.to[side].min();
            if let Some(sample) = self.place.note(packet, side)
                && self.at[side] == Vantage::Receiver
            {
                // From the receiver's side this is the whole way: there, the sender, and back.
                self.streams[side].round_trip(sample, known, packet, capture.config, capture.sink);
            }
        }
    }

    /// The answer to the first data set off the next: only one segment had been sent, by the timer.
    #[cold]
    pub(super) fn learn_turn(&mut self, packet: &Packet, side: usize) {
        self.turn = match (self.turn, side) {
            (Turn::Unknown, 1) => Turn::Since(packet.time),
            (Turn::Since(t), 0) => {
                self.place.sample(0, packet.time - t);
                Turn::Known
            }
            (turn, 1) => turn,
            _ => Turn::Known,
        };
    }

    /// Have the packets of this side a part of the path behind them?
    pub(super) fn is_seen_remotely(&self, side: usize) -> bool {
        self.at[side].is_remote()
    }

    /// How this side's stream is seen as a packet passes; `own`: it is one of this side's.
    pub(super) fn view(&self, packet: &Packet, side: usize, own: bool) -> View {
        let sent = match packet.seg.timestamps {
            Some(ts) if self.is_seen_remotely(side) && own => {
                self.sides[side].clock.unqueued(ts.val, packet.time)
            }
            _ => packet.time,
        };
        self.view_of(side, sent)
    }

    /// The same of a packet that was sent then.
    pub(super) fn view_of(&self, side: usize, sent: Time) -> View {
        let at = self.at[side];
        View {
            at,
            sender_loop: self.place.turn(side, at),
            answer_loop: if at.is_remote() { self.place.answer_loop(side, at) } else { Span::ZERO },
            peer_packets: self.sides[1 - side].packets,
            sent,
            peer_data_at: self.sides[1 - side].spoke,
            answers: Answers::Unknown,
            peer_goes_on: false,
            established: self.established,
            clock_granularity: self.known_tick(),
            tsval_granularity: self.sides[side].clock.tick(),
        }
    }

    /// The tick of the capture's clock, where it is coarse enough to matter and enough packets show it.
    fn known_tick(&self) -> Span {
        let coarse = (COARSE..=COARSEST).contains(&self.tick);
        let enough = || self.sides[0].packets + self.sides[1].packets >= FEW;
        if coarse && enough() { self.tick } else { Span::ZERO }
    }

    /// Two captures have two vantage points for the two directions: what the receiver's side sends is seen as it arrives,
    /// and what became of its copies as little as in one capture.
    pub(super) fn see_arrive(&mut self, side: usize, fate: Fate) -> Fate {
        if fate != Fate::SeenArriving {
            return fate;
        }
        self.arrives[side] = true;
        self.at[side] = Vantage::Receiver;
        Fate::Unknown
    }

    /// Weighs the evidence anew: at every packet while there is little, then now and then.
    pub(super) fn place_again(&mut self, config: &Config) {
        let packets = self.sides[0].packets + self.sides[1].packets;
        if packets > WEIGHED_AT && !packets.is_multiple_of(WEIGHED_AT) {
            return;
        }
        let lost = [self.streams[0].losses_around(), self.streams[1].losses_around()];
        if !self.place.news && lost == self.lost {
            return;
        }
        self.lost = lost;
        self.place.news = false;
        for (side, lost) in lost.into_iter().enumerate() {
            self.at[side] = match config.vantage {
                Some(_) if self.arrives[side] => Vantage::Receiver,
                Some(stated) => stated,
                None => self.place.of_sender(side, lost),
            };
        }
    }
}
