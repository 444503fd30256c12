//! One scale: bins, and how packets get into them.

use crate::bin::Bin;
use crate::grid::Grid;

/// The SACK blocks of as many packets: from the first byte to the one behind the last, both 0 for none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sack<'a> {
    pub start: &'a [i64],
    pub end: &'a [i64],
}

/// Packets of one flow as columns, all of one length. Numbers below 0 are unknown, or there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows<'a> {
    pub time_ns: &'a [i64],
    /// 1: travels with the data; 0: comes back.
    pub data: &'a [u8],
    pub seq: &'a [i64],
    pub len: &'a [u32],
    pub ack: &'a [i64],
    /// The window, bytes.
    pub window: &'a [i64],
    pub sack: [Sack<'a>; 4],
    /// 1: the first block says what arrived twice.
    pub dsack: &'a [u8],
    /// 0: sent first; else one of the causes, from 1.
    pub cause: &'a [u8],
    /// Bytes in flight.
    pub flight: &'a [i64],
    pub lost: &'a [u8],
    pub needless: &'a [u8],
}

impl Rows<'_> {
    /// The name of a column that has not as many rows as there are times.
    fn uneven(&self) -> Option<&'static str> {
        let rows = self.time_ns.len();
        let sizes = [
            ("data", self.data.len()),
            ("seq", self.seq.len()),
            ("len", self.len.len()),
            ("ack", self.ack.len()),
            ("window", self.window.len()),
            ("sack", self.sack.iter().map(|s| s.start.len().min(s.end.len())).min().unwrap_or(rows)),
            ("dsack", self.dsack.len()),
            ("cause", self.cause.len()),
            ("flight", self.flight.len()),
            ("lost", self.lost.len()),
            ("needless", self.needless.len()),
        ];
        sizes.into_iter().find(|(_, n)| *n < rows).map(|(name, _)| name)
    }
}

/// Bins of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level<const CAUSES: usize> {
    grid: Grid,
    bins: Vec<Bin<CAUSES>>,
}

impl<const CAUSES: usize> Level<CAUSES> {
    pub fn new(grid: Grid) -> Self {
        Level { grid, bins: vec![Bin::default(); grid.bins as usize] }
    }
    pub fn grid(&self) -> Grid {
        self.grid
    }
    /// Bins in which something happened, with their places, in order of time.
    pub fn taken(&self) -> impl Iterator<Item = (u32, &Bin<CAUSES>)> {
        (0..).zip(&self.bins).filter(|(_, bin)| !bin.is_empty())
    }
    /// Puts packets into their bins. An error names a column that is too short.
    pub fn add(&mut self, rows: &Rows<'_>) -> Result<(), &'static str> {
        if let Some(name) = rows.uneven() {
            return Err(name);
        }
        // Packets come nearly in order of time: as long as they fall into one bin, no place is worked out.
        let (mut from, mut to, mut place) = (1, 0, 0);
        for (i, &at) in rows.time_ns.iter().enumerate() {
            if at < from || at >= to {
                place = self.grid.place(at);
                (from, to) = self.grid.span(place);
            }
            if let Some(bin) = self.bins.get_mut(place as usize) {
                put(bin, rows, i);
            }
        }
        Ok(())
    }
    /// Puts round trips into their bins, microseconds.
    pub fn add_rtts(&mut self, time_ns: &[i64], rtt_us: &[u32]) {
        for (&at, &rtt) in time_ns.iter().zip(rtt_us) {
            if let Some(bin) = self.bins.get_mut(self.grid.place(at) as usize) {
                bin.rtt_us.add(i64::from(rtt), i64::from(rtt));
            }
        }
    }
    /// The same in bins `times` as long.
    pub fn coarser(&self, times: u32) -> Self {
        let mut level = Level::new(self.grid.coarser(times));
        for (bin, finer) in level.bins.iter_mut().zip(self.bins.chunks(times as usize)) {
            for one in finer {
                bin.join(one);
            }
        }
        level
    }
}

/// One packet into its bin.
#[inline]
fn put<const CAUSES: usize>(bin: &mut Bin<CAUSES>, rows: &Rows<'_>, i: usize) {
    bin.packets += 1;
    bin.flight_most = bin.flight_most.max(rows.flight[i]);
    if rows.data[i] != 0 {
        let (first, len) = (rows.seq[i], rows.len[i]);
        let behind = first.saturating_add(i64::from(len));
        bin.bytes += u64::from(len);
        if len > 0 {
            bin.seq.add(first, behind);
        }
        let lost = u32::from(rows.lost[i] != 0);
        bin.lost += lost;
        if lost != 0 {
            bin.lost_seq.add(first, behind);
        }
        bin.needless += u32::from(rows.needless[i] != 0);
        if let Some(again) = usize::from(rows.cause[i]).checked_sub(1).and_then(|k| bin.again.get_mut(k)) {
            *again += 1;
            bin.again_seq.add(first, behind);
        }
        return;
    }
    let (ack, window) = (rows.ack[i], rows.window[i]);
    if ack >= 0 {
        bin.ack_most = bin.ack_most.max(ack);
        if window >= 0 {
            bin.edge_most = bin.edge_most.max(ack.saturating_add(window));
        }
    }
    let dsack = rows.dsack[i] != 0;
    bin.dsack += u32::from(dsack);
    let mut any = false;
    for (k, block) in rows.sack.iter().enumerate() {
        let (start, end) = (block.start[i], block.end[i]);
        if end <= start {
            break;
        }
        any = true;
        if !(dsack && k == 0) {
            bin.sack_seq.add(start, end);
        }
    }
    bin.sack += u32::from(any);
}
