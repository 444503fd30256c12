use crate::{Grid, Range, Rows, Sack};

/// Causes of the retransmissions that are made here.
const CAUSES: usize = 3;
type Bin = crate::Bin<CAUSES>;
type Level = crate::Level<CAUSES>;

/// Packets of a made-up flow, a column each.
#[derive(Default)]
struct Made {
    time_ns: Vec<i64>,
    data: Vec<u8>,
    seq: Vec<i64>,
    len: Vec<u32>,
    ack: Vec<i64>,
    window: Vec<i64>,
    sack: [(Vec<i64>, Vec<i64>); 4],
    dsack: Vec<u8>,
    cause: Vec<u8>,
    flight: Vec<i64>,
    lost: Vec<u8>,
    needless: Vec<u8>,
}

impl Made {
    fn push(&mut self, at: i64, data: bool) {
        self.time_ns.push(at);
        self.data.push(u8::from(data));
        self.seq.push(0);
        self.len.push(0);
        self.ack.push(-1);
        self.window.push(-1);
        for (start, end) in &mut self.sack {
            start.push(0);
            end.push(0);
        }
        self.dsack.push(0);
        self.cause.push(0);
        self.flight.push(0);
        self.lost.push(0);
        self.needless.push(0);
    }
    fn data(&mut self, at: i64, seq: i64, len: u32, cause: u8, lost: bool) {
        self.push(at, true);
        let last = self.time_ns.len() - 1;
        self.seq[last] = seq;
        self.len[last] = len;
        self.cause[last] = cause;
        self.lost[last] = u8::from(lost);
        self.flight[last] = i64::from(len);
    }
    fn ack(&mut self, at: i64, ack: i64, window: i64, sack: &[(i64, i64)], dsack: bool) {
        self.push(at, false);
        let last = self.time_ns.len() - 1;
        self.ack[last] = ack;
        self.window[last] = window;
        self.dsack[last] = u8::from(dsack);
        for ((start, end), block) in self.sack.iter_mut().zip(sack) {
            (start[last], end[last]) = *block;
        }
    }
    fn rows(&self) -> Rows<'_> {
        Rows {
            time_ns: &self.time_ns,
            data: &self.data,
            seq: &self.seq,
            len: &self.len,
            ack: &self.ack,
            window: &self.window,
            sack: std::array::from_fn(|k| Sack { start: &self.sack[k].0, end: &self.sack[k].1 }),
            dsack: &self.dsack,
            cause: &self.cause,
            flight: &self.flight,
            lost: &self.lost,
            needless: &self.needless,
        }
    }
}

/// Ten seconds of it: data every 3 ms, each 50th packet lost, sent again 40 ms later for one of the causes.
fn flow() -> Made {
    let mut made = Made::default();
    for k in 0..3_000_i64 {
        let at = k * 3_000_000;
        made.data(at, 1 + k * 1000, 1000, 0, k % 50 == 0);
        made.ack(at + 1_000_000, 1 + k * 1000, 65_535, &[(k * 1000 + 2001, k * 1000 + 3001)], k % 7 == 0);
        if k % 50 == 13 {
            made.data(at + 1_500_000, 1 + (k - 13) * 1000, 1000, (k % CAUSES as i64) as u8 + 1, false);
        }
    }
    made
}

fn level(made: &Made, grid: Grid) -> Level {
    let mut level = Level::new(grid);
    level.add(&made.rows()).expect("all columns are there");
    level
}

fn sum(level: &Level) -> Bin {
    level.taken().fold(Bin::default(), |mut all, (_, bin)| {
        all.join(bin);
        all
    })
}

#[test]
fn every_scale_counts_the_same() {
    let made = flow();
    let last = made.time_ns.iter().max().copied().unwrap_or(0);
    let mut at = level(&made, Grid::over(0, last, 4096));
    let whole = sum(&at);
    assert_eq!(whole.packets as usize, made.time_ns.len());
    assert_eq!(whole.bytes, made.len.iter().map(|n| u64::from(*n)).sum::<u64>());
    assert_eq!(whole.lost, 60);
    assert_eq!(whole.again.iter().sum::<u32>(), 60);
    assert_eq!(whole.sack, 3000);
    assert_eq!(whole.dsack, 429);
    assert_eq!(whole.seq, Range { least: 1, most: 3_000_001 });
    while at.grid().bins > 1 {
        at = at.coarser(8);
        assert_eq!(sum(&at), whole);
    }
    assert_eq!(at.taken().count(), 1);
}

#[test]
fn a_coarser_level_is_the_one_that_packets_would_have_made() {
    let made = flow();
    let grid = Grid { start_ns: -5, bin_ns: 1_234_567, bins: 8_000 };
    assert_eq!(level(&made, grid).coarser(8), level(&made, grid.coarser(8)));
}

#[test]
fn a_bin_has_what_its_packets_have() {
    let mut made = Made::default();
    made.data(0, 1, 100, 0, true);
    made.data(9, 101, 100, 0, false);
    made.data(10, 1, 100, 2, false);
    made.ack(19, 201, 50, &[], false);
    made.ack(20, 201, -1, &[(1, 101), (401, 501)], true);
    let level = level(&made, Grid { start_ns: 0, bin_ns: 10, bins: 3 });
    let bins: Vec<(u32, Bin)> = level.taken().map(|(k, bin)| (k, *bin)).collect();
    let [(0, first), (1, second), (2, third)] = bins[..] else { panic!("three bins: {bins:?}") };
    assert_eq!((first.packets, first.bytes, first.lost), (2, 200, 1));
    assert_eq!((first.seq.ends(), first.lost_seq.ends()), (Some((1, 201)), Some((1, 101))));
    assert_eq!((first.again_seq.ends(), first.ack_most), (None, i64::MIN));
    assert_eq!((second.again, second.again_seq.ends()), ([0, 1, 0], Some((1, 101))));
    assert_eq!((second.ack_most, second.edge_most, second.sack), (201, 251, 0));
    // The first block of a DSACK is what arrived twice (RFC 2883 §4), not what is held beyond the ACK.
    assert_eq!((third.sack, third.dsack, third.sack_seq.ends()), (1, 1, Some((401, 501))));
    assert_eq!(third.edge_most, i64::MIN);
}

#[test]
fn packets_out_of_order_and_outside_find_a_bin() {
    let mut made = Made::default();
    for at in [25, 5, 15, -100, 1_000, i64::MAX, i64::MIN] {
        made.data(at, 1, 1, 0, false);
    }
    let level = level(&made, Grid { start_ns: 0, bin_ns: 10, bins: 3 });
    let counts: Vec<(u32, u32)> = level.taken().map(|(k, bin)| (k, bin.packets)).collect();
    assert_eq!(counts, [(0, 3), (1, 1), (2, 3)]);
}

#[test]
fn a_grid_holds_both_ends_in_no_more_bins_than_asked() {
    for (start, end, most) in
        [(0, 0, 4), (0, 3, 4), (0, 4, 4), (-7, 1_000_003, 1000), (i64::MIN, i64::MAX, 65_536)]
    {
        let grid = Grid::over(start, end, most);
        assert!((1..=most).contains(&grid.bins), "{grid:?}");
        assert_eq!(grid.place(start), 0);
        assert_eq!(grid.place(end), grid.bins - 1, "{grid:?}");
        assert!(grid.span(grid.place(end)).1 >= end);
    }
}

#[test]
fn round_trips_lie_beside_the_packets() {
    let mut level = Level::new(Grid { start_ns: 0, bin_ns: 10, bins: 2 });
    level.add_rtts(&[1, 2, 11], &[30, 20, 50]);
    let found: Vec<_> = level.taken().map(|(k, bin)| (k, bin.rtt_us.ends())).collect();
    assert_eq!(found, [(0, Some((20, 30))), (1, Some((50, 50)))]);
}

#[test]
fn a_column_that_is_too_short_is_named() {
    let made = flow();
    let rows = Rows { flight: &made.flight[1..], ..made.rows() };
    assert_eq!(Level::new(Grid::over(0, 1, 1)).add(&rows), Err("flight"));
}
