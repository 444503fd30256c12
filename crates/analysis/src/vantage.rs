//! Where was it seen? From how long each end takes to answer, and from what only a sending host leaves behind.

use crate::assumptions::MIN_RTO_SEEN;
use crate::rows::Vantage;
use wire::{Notes, Packet, Span, Time};

/// The delay from here to one host and back, learnt from the handshake and from echoed timestamps.
#[derive(Clone, Copy, Debug)]
pub struct Distance {
    min: Span,
    loaded: Span,
    /// The mean over the least of every eight samples: what it takes when the host answers at once, queues on
    /// the way included, which the least of all would leave out.
    typical: Span,
    rounds: u32,
    least: Span,
    in_round: u32,
    /// A timestamp on its way to that host, and when it passed.
    pending: Option<(u32, Time)>,
    last_seen: u32,
}

impl Default for Distance {
    fn default() -> Distance {
        Distance {
            min: Span::MAX,
            loaded: Span::MAX,
            typical: Span::ZERO,
            rounds: 0,
            least: Span::MAX,
            in_round: 0,
            pending: None,
            last_seen: 0,
        }
    }
}

impl Distance {
    pub fn sample(&mut self, s: Span) {
        if s < Span::ZERO {
            return;
        }
        self.min = self.min.min(s);
        self.least = self.least.min(s);
        self.in_round += 1;
        if self.in_round == 8 {
            self.rounds += 1;
            self.typical += (self.least - self.typical) / i64::from(self.rounds);
            self.in_round = 0;
            self.least = Span::MAX;
        }
    }
    /// An answer with data took so long; one that took longer was a timer's.
    pub fn load(&mut self, s: Span) {
        if s >= self.min && s - self.min < MIN_RTO_SEEN {
            self.loaded = self.loaded.min(s);
        }
    }
    /// It cannot have been more than this, whatever the handshake took.
    pub fn bound(&mut self, most: Span) {
        if most < self.min {
            self.sample(most);
        }
        if self.loaded < Span::MAX {
            self.loaded = self.loaded.min(most);
        }
    }
    /// `None` before the first sample.
    pub fn typical(&self) -> Option<Span> {
        if self.rounds > 0 { Some(self.typical) } else { self.min() }
    }
    pub fn min(&self) -> Option<Span> {
        (self.min != Span::MAX).then_some(self.min)
    }
    /// A packet with a new timestamp goes to that host.
    #[inline]
    pub fn towards(&mut self, ts: u32, now: Time) {
        if ts == self.last_seen {
            return;
        }
        self.last_seen = ts;
        // One timestamp at a time; one that nobody echoes is given up after a second.
        if self.pending.is_none_or(|(_, t)| now - t > Span::from_secs(1)) {
            self.pending = Some((ts, now));
        }
    }
    /// The least that an answer with data took: full packets are longer on the way than those of a handshake.
    pub fn loaded(&self) -> Option<Span> {
        if self.loaded < Span::MAX { Some(self.loaded) } else { self.min() }
    }
    /// A packet comes from that host and echoes `echo`.
    #[inline]
    pub fn back(&mut self, echo: u32, now: Time, loaded: bool) -> Option<Span> {
        let (ts, passed) = self.pending?;
        match echo.wrapping_sub(ts) as i32 {
            0 => {
                self.pending = None;
                self.sample(now - passed);
                if loaded {
                    self.load(now - passed);
                }
                Some(now - passed)
            }
            // A later one was echoed: this one never will be.
            1.. => {
                self.pending = None;
                None
            }
            _ => None,
        }
    }
}

/// Evidence about the place of the capture, per side of a connection (0 and 1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub to: [Distance; 2],
    /// Packets from this side whose checksum the host had left to its network card.
    pub partial_checksums: [u32; 2],
    /// Packets of this side whose checksum was looked at.
    pub weighed: [u32; 2],
    /// Packets that the capture itself says this side's host sent, or received.
    pub outbound: [u32; 2],
    pub inbound: [u32; 2],
    /// Something was learnt since it was asked last.
    pub news: bool,
}

impl Place {
    /// A round trip from here to one host and back.
    pub fn sample(&mut self, side: usize, s: Span) {
        self.to[side].sample(s);
        self.news = true;
    }
    /// What one of the first packets of `side` says of itself.
    pub fn weigh(&mut self, notes: Notes, side: usize) {
        self.weighed[side] += 1;
        self.partial_checksums[side] += u32::from(notes.has(Notes::PARTIAL_CHECKSUM));
        self.outbound[side] += u32::from(notes.has(Notes::OUTBOUND));
        self.inbound[side] += u32::from(notes.has(Notes::INBOUND));
        self.news |= self.partial_checksums[side] > 0 || notes.has(Notes::OUTBOUND.with(Notes::INBOUND));
    }

    /// The vantage for data sent by `side`. `lost`: copies of that data lost before they came here, and after.
    pub fn of_sender(&self, side: usize, lost: (u32, u32)) -> Vantage {
        match (self.by_delays(side), lost) {
            // At an end all losses lie on one side.
            (Vantage::Middle | Vantage::Unknown, (before, after)) if before >= 3 && after * 10 <= before => {
                Vantage::Receiver
            }
            (Vantage::Middle | Vantage::Unknown, (0, 3..)) => Vantage::Sender,
            (at, _) => at,
        }
    }

    fn by_delays(&self, side: usize) -> Vantage {
        let other = 1 - side;
        if self.outbound[side] + self.inbound[other] > self.inbound[side] + self.outbound[other] {
            return Vantage::Sender;
        }
        if self.outbound[other] + self.inbound[side] > 0 {
            return Vantage::Receiver;
        }
        // Between virtual hosts checksums are never finished, so those of both sides tell nothing.
        match (self.leaves_checksums(side), self.leaves_checksums(other)) {
            (true, false) => return Vantage::Sender,
            (false, true) => return Vantage::Receiver,
            _ => {}
        }
        match (self.to[side].typical(), self.to[other].typical()) {
            (Some(near), Some(far)) => {
                let share = near.0 as f64 / (near.0 + far.0).max(1) as f64;
                match share {
                    ..0.15 => Vantage::Sender,
                    0.85.. => Vantage::Receiver,
                    _ => Vantage::Middle,
                }
            }
            _ => Vantage::Unknown,
        }
    }
    /// Does this side leave its checksums to the network card? One in 65,536 looks so by chance.
    fn leaves_checksums(&self, side: usize) -> bool {
        self.partial_checksums[side] >= 2 && self.partial_checksums[side] * 2 >= self.weighed[side]
    }

    /// From an ACK passing here to the packet that `side` sends because of it.
    pub fn turn(&self, side: usize, at: Vantage) -> Span {
        match at {
            Vantage::Sender | Vantage::Both => Span::ZERO,
            _ => self.to[side].loaded().unwrap_or(Span::ZERO),
        }
    }
    /// The same of a message and its answer. Where answers took far longer than a bare packet a program took the time, not
    /// the length of a packet.
    pub fn answer_loop(&self, side: usize, at: Vantage) -> Span {
        let loaded = self.turn(side, at);
        self.to[side].min().map_or(loaded, |min| if loaded > min + min / 2 { min } else { loaded })
    }
    /// Notes what a packet from `side` tells; the delay to that side and back, if it tells that.
    #[inline(always)]
    pub fn note(&mut self, packet: &Packet, side: usize) -> Option<Span> {
        let ts = packet.seg.timestamps?;
        self.to[1 - side].towards(ts.val, packet.time);
        if ts.ecr == 0 {
            return None;
        }
        let sample = self.to[side].back(ts.ecr, packet.time, packet.seg.payload > 0);
        self.news |= sample.is_some();
        sample
    }
}
