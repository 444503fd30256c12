use super::*;
use instant::Span;

const MS: i64 = 1_000_000;

/// For each time (ms) and number of unread bytes: the bytes that the program reads, and the time of its next read.
fn read(reader: Reader, at_ms: &[(i64, u64)]) -> Vec<(u64, Option<i64>)> {
    let mut reading = Reading::new(reader, Time(100 * MS));
    let read = |&(ms, there): &(i64, u64)| {
        let now = Time((100 + ms) * MS);
        let bytes = reading.most(now).min(there);
        reading.has_read(now, bytes);
        (bytes, reading.next().map(|t| (t.0 / MS) - 100))
    };
    at_ms.iter().map(read).collect()
}

#[test]
fn a_reader_with_a_rate_reads_a_piece_and_works_on_it() {
    let reader = Reader::Rate(rate::Params { rate_bps: 80_000, piece_bytes: 1000 });
    // 10 kB a second: a piece takes 100 ms.
    let seen = read(reader, &[(0, 5000), (50, 5000), (100, 400), (139, 9000), (140, 9000)]);
    assert_eq!(
        seen,
        [(1000, Some(100)), (0, Some(100)), (400, Some(140)), (0, Some(140)), (1000, Some(240))]
    );
}

#[test]
fn a_reader_that_pauses_reads_all_data_at_regular_times() {
    let reader = Reader::Pauses(pauses::Params { every: Span::from_millis(200) });
    let seen = read(reader, &[(10, 5), (150, 9), (200, 9), (201, 4), (400, 6), (950, 1), (1000, 1)]);
    let next = |at| (0, Some(at));
    assert_eq!(seen, [next(200), next(200), (9, None), next(400), (6, None), next(1000), (1, None)]);
}

#[test]
fn a_reader_stops_for_a_while_or_for_good() {
    let stops = |length| Reader::Stops(stops::Params { after: Span::from_millis(100), length });
    let times = [(0, 7), (100, 7), (5000, 8)];
    assert_eq!(read(stops(None), &times), [(7, None), (0, None), (0, None)]);
    let while_ = read(stops(Some(Span::from_secs(4))), &times);
    assert_eq!(while_, [(7, None), (0, Some(4100)), (8, None)]);
}
