//! Small captures of other people's transfers (tests/data/cases): which repairs and losses may be found in them, and which
//! not. Their pages and sources: tests/data/README.md.

use analysis::rows::{Cause, FlowRow, IdleCause};
use analysis::{Analyzer, Config, Rows, Wanted};
use capture::Options;
use std::path::PathBuf;
use wire::Span;

fn analysed(name: &str) -> Rows {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cases").join(name);
    let mut reader = capture::open(&[path], &Options::default()).expect(name);
    let wanted = Wanted { retransmissions: true, ..Wanted::default() };
    let mut analyzer = Analyzer::new(Config { wanted, ..Config::default() }, Rows::default());
    let mut batch = Vec::new();
    while reader.read_batch(&mut batch, 128) {
        analyzer.push(&batch);
    }
    analyzer.finish().1
}

/// Both directions together: packets that were sent again, SYNs among them, and segments that were lost.
fn repairs_and_losses(rows: &Rows) -> (u64, u64) {
    let again = |f: &FlowRow| f.retransmitted_packets + u64::from(f.syn_retransmissions);
    let lost = rows.bursts.iter().map(|b| u64::from(b.lost_segments)).sum();
    (rows.flows.iter().map(again).sum(), lost)
}

#[test]
fn a_host_that_counts_all_its_packets_in_one_row_has_lost_none() {
    for name in ["device_with_one_id_row", "shared-ip-id-empty-segment", "real_sf20_trace1_cut"] {
        let rows = analysed(&format!("{name}.pcap.gz"));
        assert_eq!(repairs_and_losses(&rows), (0, 0), "{name}");
        assert!(rows.episodes.is_empty(), "{name}");
    }
}

#[test]
fn one_missing_number_is_one_timeout_and_not_minutes_of_waiting() {
    // RFC 6298 §5.5: with one copy lost the timer has waited once. The application writes every two minutes.
    let rows = analysed("push_with_a_missing_id.pcap.gz");
    let (again, lost) = repairs_and_losses(&rows);
    assert!(again <= 8 && lost <= 8, "{again} sent again, {lost} lost");
    let waits = rows.idle.iter().filter(|i| i.cause == IdleCause::Timeout);
    let waited = waits.fold(Span::ZERO, |sum, i| sum + (i.end - i.start));
    assert!(waited <= Span::from_secs(10), "{waited:?} waiting for a timer");
    let took = rows.episodes.iter().filter_map(|e| e.end.map(|end| end - e.start)).max();
    assert!(took <= Some(Span::from_secs(2)), "{took:?}");
}

#[test]
fn what_passes_again_without_data_that_was_lost_is_no_repair() {
    for name in [
        "fin_again_simultaneous_close",
        "fin_long_after",
        "four_copies_some_late",
        "real_four_copies_cut",
        "acks_with_padding",
    ] {
        let rows = analysed(&format!("{name}.pcap.gz"));
        assert_eq!(repairs_and_losses(&rows), (0, 0), "{name}");
        assert!(rows.episodes.is_empty(), "{name}");
    }
}

#[test]
fn a_timer_of_100_ms_on_a_path_of_130_ms_is_a_timer() {
    let rows = analysed("fixed_rto_below_rtt.pcap.gz");
    let causes = |of| rows.retransmissions.iter().filter(|r| r.cause == of).count();
    assert_eq!((causes(Cause::Timeout), causes(Cause::LossState), rows.retransmissions.len()), (40, 40, 80));
    assert!(rows.retransmissions.iter().all(|r| r.lost == Some(false)));
}
