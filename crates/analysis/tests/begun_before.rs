//! A real transfer, asked for from a second on: what is said of the rest is what is said of it in the whole.

use analysis::rows::{Cause, FlowRow, Limit};
use analysis::{Analyzer, Config, Rows, Wanted};
use capture::Options;
use std::path::PathBuf;
use wire::Span;

/// `syns`: those from before are read; without them it is as if the capture had begun there.
fn analysed(from: Option<Span>, syns: bool) -> (FlowRow, Rows) {
    let path = "../../tests/data/A1_reno_22M_deep_200ms.snd.pcap.gz";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut reader = capture::open(&[path], &Options { from, ..Options::default() }).unwrap();
    let wanted = Wanted { retransmissions: true, ..Wanted::default() };
    let mut analyzer = Analyzer::new(Config { wanted, ..Config::default() }, Rows::default());
    let mut batch = Vec::new();
    while reader.read_batch(&mut batch, 128) {
        let earlier = reader.take_earlier();
        if syns {
            analyzer.note_earlier(&earlier);
        }
        analyzer.push(&batch);
    }
    let (_, rows) = analyzer.finish();
    let flow = rows.flows.iter().max_by_key(|f| f.bytes).unwrap().clone();
    (flow, rows)
}

#[test]
fn causes_are_those_of_the_whole_whether_the_handshake_is_read_or_not() {
    let from = Span::from_secs(1);
    let (whole, all) = analysed(None, true);
    let begins = whole.start + from;
    let later = |rows: &Rows| -> Vec<(i64, Cause)> {
        let of_it = rows.retransmissions.iter().filter(|r| r.time >= begins);
        of_it.map(|r| (r.time.0, r.cause)).collect()
    };
    assert!(later(&all).len() > 100);
    for syns in [true, false] {
        let (part, rows) = analysed(Some(from), syns);
        assert_eq!(later(&rows), later(&all), "SYNs read: {syns}");
        assert_eq!((part.sack_permitted, part.timestamps), (Some(true), Some(true)));
        assert_eq!(part.window_max_bytes.is_some(), syns);
        assert_eq!(part.limits.mid_stream, !syns);
        assert!(rows.episodes.iter().all(|e| syns || e.limit != Limit::ReceiveWindow));
    }
}
