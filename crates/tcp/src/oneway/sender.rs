//! ns-2's one-way sender: acknowledgements and time in, packets out.

use super::core::{Core, LastCut};
use super::newreno::{self, NewReno};
use super::sack::Sack;
use super::vegas::{SendLog, Vegas};
use super::{Ack, Number, Sent, Why, reno, tahoe};
use crate::endpoint::Blocked;
use crate::stack::{OneWay, OneWayVariant};
use wire::{Span, Time};

/// Packets of an application that never ends.
const ENDLESS: Number = 1 << 62;

pub struct Sender {
    core: Core,
    variant: Variant,
}

/// An enum, not a trait object: an acknowledgement costs no indirect call.
#[derive(Clone, Debug)]
enum Variant {
    Tahoe,
    Reno,
    NewReno(NewReno),
    Sack(Box<Sack>),
    Vegas(Box<Vegas>),
}

/// The sender's state, by ns-2's names where a state trace has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// `cwnd_`, packets.
    pub cwnd: f64,
    /// `ssthresh_`, packets.
    pub ssthresh: i64,
    /// `dupacks_`.
    pub dupacks: i64,
    /// Reno's and NewReno's inflation (`dupwnd_`), packets.
    pub inflation: i64,
    /// Sack1's pipe; packets outstanding elsewhere.
    pub pipe: i64,
    /// The last RTT measured, ticks (`t_rtt_`).
    pub rtt_ticks: u32,
    /// Without their fixed-point fractions, as ns-2 prints them.
    pub srtt: Option<Span>,
    pub rttvar: Option<Span>,
    /// With back-off and bounds.
    pub rto: Span,
    /// 1, 2, 4 ... (`t_backoff_`).
    pub backoff: u32,
    /// `t_seqno_`.
    pub next: Number,
    /// `maxseq_`, -1 before any.
    pub highest_sent: Number,
    /// `highest_ack_`, -1 before any.
    pub highest_ack: Number,
    pub phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Open,
    /// After a fast retransmit, until what was outstanding then is acknowledged.
    Recovery,
    /// After a timeout, until what was outstanding then is acknowledged.
    Loss,
}

impl Sender {
    /// A sender with nothing to send yet.
    pub fn new(spec: &OneWay) -> Sender {
        let (variant, log) = match spec.variant {
            OneWayVariant::Tahoe => (Variant::Tahoe, None),
            OneWayVariant::Reno => (Variant::Reno, None),
            OneWayVariant::NewReno => (Variant::NewReno(NewReno::default()), None),
            OneWayVariant::Sack1 => (Variant::Sack(Box::new(Sack::new())), None),
            OneWayVariant::Vegas => {
                (Variant::Vegas(Box::new(Vegas::new())), Some(SendLog::new(spec.window_packets)))
            }
        };
        Sender { core: Core::new(spec, log), variant }
    }

    /// Where `overhead` draws its waits from: uniform in 0 ..< 1. Without, each wait is 0.
    pub fn set_uniform(&mut self, draw: impl FnMut() -> f64 + Send + 'static) {
        self.core.uniform = Some(Box::new(draw));
    }

    /// The application hands over so many packets more; `u64::MAX` never ends. A SYN is not among them.
    pub fn write(&mut self, now: Time, packets: u64) {
        let c = &mut self.core;
        c.end = c.end.saturating_add_unsigned(packets).min(ENDLESS);
        c.done &= packets == 0;
        let burst = c.spec.max_burst_packets;
        self.send_much(now, false, Why::GoBackN, burst);
    }

    /// The same in bytes, rounded up to packets.
    pub fn write_bytes(&mut self, now: Time, bytes: u64) {
        self.write(now, bytes.div_ceil(u64::from(self.core.spec.packet_bytes.max(1))));
    }

    pub fn receive(&mut self, now: Time, ack: &Ack) {
        // Nothing can acknowledge what has not been sent.
        if ack.cumulative > self.core.highest_sent {
            return;
        }
        let c = &mut self.core;
        match &mut self.variant {
            Variant::Tahoe => tahoe::receive(c, now, ack),
            Variant::Reno => reno::receive(c, now, ack),
            Variant::NewReno(r) => newreno::receive(c, r, now, ack),
            Variant::Sack(s) => s.receive(c, now, ack),
            Variant::Vegas(v) => v.receive(c, now, ack),
        }
    }

    /// Timers that are due fire.
    pub fn wake(&mut self, now: Time) {
        if self.core.timer.take_if(|due| *due <= now).is_some() {
            self.on_timeout(now);
        }
        if self.core.dither.take_if(|due| *due <= now).is_some() {
            let burst = if self.is_vegas() { None } else { self.core.spec.max_burst_packets };
            self.send_much(now, true, Why::GoBackN, burst);
        }
    }

    /// The next packet to leave; call until `None` after every other call.
    pub fn transmit(&mut self, _now: Time) -> Option<Sent> {
        self.core.out.pop_front()
    }

    /// The timer runs on while nothing is outstanding, as ns-2's does: its firing closes the window of an idle sender.
    pub fn next_wakeup(&self) -> Option<Time> {
        match (self.core.timer, self.core.dither) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The retransmission timer fires with the next [`Sender::wake`].
    pub fn times_out(&self, now: Time) -> bool {
        self.core.timer.is_some_and(|due| due <= now)
    }
    /// What keeps more from leaving.
    pub fn blocked(&self) -> Blocked {
        let c = &self.core;
        match () {
            () if self.unsent() == 0 => Blocked::Application,
            () if c.dither.is_some() => Blocked::Pacing,
            () if c.window() >= c.window_limit => Blocked::ReceiveWindow,
            () => Blocked::Cwnd,
        }
    }
    /// Packets that were handed over and have never left.
    pub fn unsent(&self) -> u64 {
        (self.core.end - self.core.highest_sent - 1).max(0) as u64
    }

    /// All that was handed over has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.core.done
    }

    pub fn view(&self) -> View {
        let c = &self.core;
        View {
            cwnd: c.cwnd,
            ssthresh: c.ssthresh,
            dupacks: c.dupacks,
            inflation: c.inflation,
            pipe: self.pipe(),
            rtt_ticks: c.rto.rtt_ticks(),
            srtt: c.rto.srtt(),
            rttvar: c.rto.rttvar(),
            rto: c.rto.rto(),
            backoff: c.rto.backoff(),
            next: c.next,
            highest_sent: c.highest_sent,
            highest_ack: c.highest_ack,
            phase: self.phase(),
        }
    }

    fn pipe(&self) -> i64 {
        match &self.variant {
            Variant::Sack(s) if s.is_recovering() => s.pipe(),
            _ => self.core.highest_sent - self.core.highest_ack,
        }
    }

    fn phase(&self) -> Phase {
        let c = &self.core;
        let repairing = c.highest_ack < c.recover;
        match (&self.variant, c.last_cut) {
            (Variant::Sack(s), _) if s.is_recovering() => Phase::Recovery,
            (_, LastCut::Timeout) if repairing => Phase::Loss,
            (Variant::Sack(_), _) => Phase::Open,
            (_, LastCut::DupAcks) if repairing => Phase::Recovery,
            _ => Phase::Open,
        }
    }

    fn is_vegas(&self) -> bool {
        matches!(self.variant, Variant::Vegas(_))
    }

    fn on_timeout(&mut self, now: Time) {
        let c = &mut self.core;
        let why = match &mut self.variant {
            Variant::Tahoe => Some(c.on_timeout(now)),
            Variant::Reno | Variant::NewReno(_) => Some(reno::on_timeout(c, now)),
            Variant::Sack(s) => Some(s.on_timeout(c, now)),
            Variant::Vegas(v) => v.on_timeout(c, now),
        };
        let Some(why) = why else { return };
        let burst = if self.is_vegas() { None } else { self.core.spec.max_burst_packets };
        self.send_much(now, false, why, burst);
    }

    fn send_much(&mut self, now: Time, forced: bool, why: Why, burst: Option<u32>) {
        match &mut self.variant {
            Variant::Sack(s) => s.send_much(&mut self.core, now, forced, why),
            _ => self.core.send_much(now, forced, why, burst),
        }
    }
}
