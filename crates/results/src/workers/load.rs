//! Packets of a part's connections, on their way to whoever analyses them.

use crate::spool::Spool;
use analysis::{Analyzer, CaptureProgress, Fate};
use wire::{Packet, Time};

/// Packets that go to a part at a time.
pub const LOAD: usize = 512;

/// Packets of a part's connections.
#[derive(Default)]
pub struct Load {
    /// When the capture began.
    pub origin: Time,
    /// SYNs from before what is analysed.
    pub earlier: Vec<Packet>,
    pub packets: Vec<Packet>,
    /// How far the capture had come before each.
    pub before: Vec<CaptureProgress>,
    /// What became of each, where a second capture tells.
    pub fates: Vec<Fate>,
    /// Behind these packets the memory is reviewed; so far the capture has come by then.
    pub review: Option<CaptureProgress>,
    /// The last load of a part: so far the capture had come at its end.
    pub ends: Option<CaptureProgress>,
}

impl Load {
    pub fn new() -> Load {
        Load { packets: Vec::with_capacity(LOAD), before: Vec::with_capacity(LOAD), ..Load::default() }
    }
    pub fn empty(&mut self) {
        self.earlier.clear();
        self.packets.clear();
        self.before.clear();
        self.fates.clear();
        (self.review, self.ends) = (None, None);
    }
    pub fn give_to(&self, analyzer: &mut Analyzer<Spool>) {
        analyzer.note_earlier(&self.earlier);
        self.push_to(analyzer);
        if self.review.is_some() {
            analyzer.review(self.review.as_ref());
        }
        if let Some(course) = &self.ends {
            analyzer.end_part_at(course);
        }
    }
    fn push_to(&self, analyzer: &mut Analyzer<Spool>) {
        if self.fates.is_empty() {
            return analyzer.push_part(self.origin, &self.packets, &self.before);
        }
        for ((packet, before), fate) in self.packets.iter().zip(&self.before).zip(&self.fates) {
            analyzer.push_part_with_fate(self.origin, packet, before, *fate);
        }
    }
}
