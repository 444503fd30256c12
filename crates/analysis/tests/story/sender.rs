//! A sender that is seen to send, one call for each packet. Times are in milliseconds since the flight in question left; a
//! round trip takes 40 ms, and so the RTO is 240 ms.
#![allow(dead_code)] // each test file uses its own part

use super::Story;
use analysis::rows::{Cause, RetransmissionRow, Vantage};

/// With timestamps it fills a segment.
const SIZE: u32 = 988;
/// Segments before the flight in question.
const BEFORE: u32 = 6;
/// When the flight in question leaves.
pub const BEGIN: u64 = 140;

fn seq(k: u32) -> u32 {
    1 + (BEFORE + k) * SIZE
}

pub struct Sender {
    pub story: Story,
    una: u32,
    next: u32,
    blocks: Vec<(u32, u32)>,
    /// When each segment left last, and what the last ACK that moved on echoed.
    pub left: Vec<u64>,
    echo: u64,
}

impl Sender {
    /// Opens with flights of two and of four segments, and has sent `n` more by time 0.
    pub fn with_in_flight(n: u32) -> Sender {
        Sender::opens(Story::from(Vantage::Sender).sack_permitted().stamped(), n)
    }
    /// Its SYN offers as many segments as 16 bits hold, as Linux does since 4.20.
    pub fn recent(n: u32) -> Sender {
        let window = u32::from(u16::MAX) / 1000 * 1000;
        Sender::opens(Story::from(Vantage::Sender).sack_permitted().stamped().offers(window as u16), n)
    }
    pub fn without_sack(n: u32) -> Sender {
        Sender::opens(Story::from(Vantage::Sender).stamped(), n)
    }
    pub fn opens(t: Story, n: u32) -> Sender {
        let mut t = t.handshake(40);
        for (flight, at) in [(0..2, 60), (2..6, 100)] {
            t = t.at(at);
            for k in flight.clone() {
                t = t.data(1 + k * SIZE, SIZE);
            }
            t = t.at(at + 40).ack(1 + flight.end * SIZE).echoing(at as u32);
        }
        let mut s = Sender { story: t, una: 0, next: 0, blocks: Vec::new(), left: Vec::new(), echo: 100 };
        (0..n).for_each(|_| s.put_new(0));
        s
    }
    fn step(&mut self, t: u64, by: impl FnOnce(Story) -> Story) {
        let story = std::mem::replace(&mut self.story, Story::from(Vantage::Sender));
        // A clock that shows nothing but tens of milliseconds would be taken for one that ticks as coarsely.
        let us = (BEGIN + t) * 1000 + story.packets().len() as u64 % 50;
        self.story = by(story.at_us(us));
    }
    pub fn put_new(&mut self, t: u64) {
        let k = self.next;
        self.step(t, |s| s.data(seq(k), SIZE));
        self.next += 1;
        self.left.push(BEGIN + t);
    }
    /// Sends new data; true if that was a probe.
    pub fn sends_new(&mut self, t: u64) -> bool {
        let probes = |s: &Story| s.clone().ends().flow.probes_new_data;
        let before = probes(&self.story);
        self.put_new(t);
        probes(&self.story) > before
    }
    pub fn ack(&mut self, t: u64, k: u32) {
        self.echo = self.left[self.una as usize];
        self.una = k;
        self.blocks.retain(|b| b.1 > k);
        self.answer(t, None);
    }
    /// A duplicate ACK that SACKs segment `k`.
    pub fn sack(&mut self, t: u64, k: u32) {
        let (mut from, mut to) = (k, k + 1);
        self.blocks.retain(|b| {
            let apart = b.1 < from || b.0 > to;
            if !apart {
                (from, to) = (from.min(b.0), to.max(b.1));
            }
            apart
        });
        self.blocks.insert(0, (from, to));
        self.answer(t, None);
    }
    pub fn duplicate(&mut self, t: u64) {
        self.answer(t, None);
    }
    /// An ACK up to `k` that reports a second arrival of segment `twice`.
    pub fn dsack(&mut self, t: u64, k: u32, twice: u32) {
        self.echo = BEGIN;
        self.una = k;
        self.answer(t, Some((twice, twice + 1)));
    }
    fn answer(&mut self, t: u64, dsack: Option<(u32, u32)>) {
        let blocks: Vec<_> = dsack
            .into_iter()
            .chain(self.blocks.iter().copied())
            .take(3)
            .map(|(a, b)| (seq(a), seq(b)))
            .collect();
        let (una, echo) = (seq(self.una), self.echo as u32);
        self.step(t, |s| s.sack(una, &blocks).echoing(echo));
    }
    /// Sends segment `k` again.
    pub fn resends(&mut self, t: u64, k: u32) -> RetransmissionRow {
        self.step(t, |s| s.data(seq(k), SIZE));
        self.left[k as usize] = BEGIN + t;
        let (rows, packet) =
            (self.story.clone().ends().rows.retransmissions, self.story.packets().len() as u64);
        let row = rows.into_iter().rfind(|r| r.packet == packet);
        row.unwrap_or_else(|| panic!("segment {k} at {t} ms is no retransmission"))
    }
    pub fn cause(&mut self, t: u64, k: u32) -> Cause {
        self.resends(t, k).cause
    }
    /// Its data is seen where it arrives: of a copy that was lost on its way only `lose` knows.
    pub fn arriving(n: u32) -> Sender {
        let mut s = Sender::opens(Story::from(Vantage::Receiver).stamped(), 0);
        s.lose(0);
        (1..n).for_each(|_| s.put_new(0));
        s
    }
    pub fn lose(&mut self, t: u64) {
        self.next += 1;
        self.left.push(BEGIN + t);
    }
}
