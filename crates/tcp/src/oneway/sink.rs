//! ns-2's sink: acknowledges each packet, or every second after a short wait, with SACK blocks where Sack1 sends.

use super::arrived::Arrived;
use super::{Ack, Data, Number, Run, SackBlocks};
use crate::stack::{OneWay, OneWayVariant};
use wire::{Span, Time};

#[derive(Clone, Debug)]
pub struct Sink {
    arrived: Arrived,
    history: History,
    ack_bytes: u32,
    /// 0 without SACK.
    sack_blocks: usize,
    dsack: bool,
    /// Acknowledged is every so-manieth packet in order.
    every: u32,
    delay: Span,
    gaps_at_once: bool,
    syn_at_once: bool,
    /// Packet 0 stands for the SYN.
    syn: bool,
    delayed: Option<Delayed>,
    /// The timestamp to echo, and what was acknowledged when it was last looked at.
    echo: Time,
    acknowledged: Number,
}

/// In order, and not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Delayed {
    packets: u32,
    latest: Number,
    /// The latest had arrived before.
    again: bool,
    due: Time,
}

/// Bytes of a SACK block in an acknowledgement.
const BLOCK_BYTES: u32 = 8;

impl Sink {
    pub fn new(spec: &OneWay) -> Sink {
        let sack = spec.variant == OneWayVariant::Sack1;
        Sink {
            arrived: Arrived::default(),
            history: History::default(),
            ack_bytes: spec.ack_bytes,
            sack_blocks: if sack { (spec.sack_blocks as usize).min(SackBlocks::MOST) } else { 0 },
            dsack: spec.dsack,
            every: spec.delayed_ack.max(1),
            delay: spec.delayed_ack_timeout,
            gaps_at_once: spec.delayed_ack_gaps_at_once,
            syn_at_once: spec.delayed_ack_syn_at_once,
            syn: spec.sends_syn(),
            delayed: None,
            echo: Time::ZERO,
            acknowledged: 0,
        }
    }

    /// A packet arrives; the acknowledgement that leaves, if one does.
    pub fn receive(&mut self, now: Time, data: &Data) -> Option<Ack> {
        self.look_at_timestamp(data);
        let again = self.arrived.add(data.number);
        if self.may_delay(data.number) {
            self.delay(now, data.number, again);
            return None;
        }
        self.delayed = None;
        Some(self.ack(data.number, again))
    }

    /// When a delayed acknowledgement leaves at the latest.
    pub fn next_wakeup(&self) -> Option<Time> {
        self.delayed.map(|d| d.due)
    }

    /// The delayed acknowledgement, if it is due.
    pub fn wake(&mut self, now: Time) -> Option<Ack> {
        let delayed = self.delayed.take_if(|d| d.due <= now)?;
        Some(self.ack(delayed.latest, delayed.again))
    }

    /// The highest number up to which everything has arrived, -1 before packet 0.
    pub fn cumulative(&self) -> Number {
        self.arrived.cumulative()
    }

    /// RFC 7323: only a packet that the last acknowledgement asked for, or an older one, sets it.
    fn look_at_timestamp(&mut self, data: &Data) {
        if data.sent >= self.echo && data.number <= self.acknowledged + 1 {
            self.echo = data.sent;
        }
    }

    fn may_delay(&self, number: Number) -> bool {
        let waiting = self.delayed.map_or(0, |d| d.packets);
        waiting + 1 < self.every
            && number == self.arrived.cumulative()
            && !(self.gaps_at_once && number < self.arrived.highest())
            && !(self.syn_at_once && number == 0)
    }

    fn delay(&mut self, now: Time, latest: Number, again: bool) {
        let (waiting, due) = self.delayed.map_or((0, now + self.delay), |d| (d.packets, d.due));
        self.delayed = Some(Delayed { packets: waiting + 1, latest, again, due });
    }

    fn ack(&mut self, answers: Number, again: bool) -> Ack {
        let cumulative = self.arrived.cumulative();
        let sack = self.blocks(answers, again);
        self.acknowledged = cumulative;
        let bytes = self.ack_bytes + sack.as_slice().len() as u32 * BLOCK_BYTES;
        let syn = self.syn && cumulative == 0 && self.arrived.highest() == 0;
        Ack { cumulative, sack, echo: self.echo, bytes, syn }
    }

    /// The packet's own run first, then the runs told last, but for those that it covers.
    fn blocks(&mut self, answers: Number, again: bool) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if self.sack_blocks == 0 {
            return blocks;
        }
        let (cumulative, highest) = (self.arrived.cumulative(), self.arrived.highest());
        if cumulative >= highest && !self.history.is_empty() {
            self.history.clear();
            return blocks;
        }
        if cumulative >= highest && !again {
            return blocks;
        }
        if self.dsack && again {
            blocks.push(Run { left: answers, right: answers + 1 });
        }
        // A report of a duplicate may take the only place.
        if blocks.as_slice().len() >= self.sack_blocks {
            return blocks;
        }
        let latest = self.arrived.run_of(answers);
        let beyond = answers > cumulative;
        if beyond {
            blocks.push(latest);
        }
        self.history.tell(&mut blocks, self.sack_blocks, latest, highest);
        if beyond {
            self.history.push(latest, self.sack_blocks);
        }
        blocks
    }
}

/// The runs told before, the latest first: as many as an acknowledgement has blocks.
#[derive(Clone, Debug, Default)]
struct History {
    runs: [Run; SackBlocks::MOST],
    len: usize,
}

impl History {
    fn is_empty(&self) -> bool {
        self.len == 0
    }
    fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds what there is room for; runs that `latest` covers are forgotten.
    fn tell(&mut self, blocks: &mut SackBlocks, most: usize, latest: Run, highest: Number) {
        let mut at = 0;
        while blocks.as_slice().len() < most && at < self.len && self.runs[at].right <= highest + 1 {
            let run = self.runs[at];
            if latest.left <= run.left && latest.right >= run.right {
                self.runs.copy_within(at + 1..self.len, at);
                self.len -= 1;
            } else {
                blocks.push(run);
                at += 1;
            }
        }
    }

    fn push(&mut self, run: Run, most: usize) {
        self.len = (self.len + 1).min(most);
        self.runs.copy_within(0..self.len - 1, 1);
        self.runs[0] = run;
    }
}
