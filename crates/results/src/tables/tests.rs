use super::*;
use crate::spool::Spool;
use analysis::rows::*;
use analysis::{Sink, Wanted};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType, UInt32Type};
use arrow_array::{Array, ffi_stream::RecordBatchStreamReader};
use wire::{Span, Time};

const EVERYTHING: Wanted = Wanted { retransmissions: true, intervals: true, rtts: true, packets: true };

#[test]
fn batches_hold_every_row_in_order_of_flow() {
    let mut spool = Spool::new(EVERYTHING);
    for i in 0..100_000u32 {
        let rtt = Span::from_micros(i64::from(i));
        spool.rtt(RttRow {
            flow: i % 7,
            time: Time(i64::from(i)),
            seq: u64::from(i),
            rtt,
            kind: RttKind::Ack,
        });
    }
    let shelf = spool.seal();
    let mut seen = Vec::new();
    for batch in reader(&shelf, Table::Rtt).unwrap() {
        let batch = batch.unwrap();
        assert!(batch.num_rows() <= BATCH);
        let flows = batch["flow"].as_primitive::<UInt32Type>();
        let rtts = batch["rtt_s"].as_primitive::<Float64Type>();
        seen.extend(flows.values().iter().zip(rtts.values()).map(|(f, r)| (*f, (r * 1e6).round() as u32)));
    }
    let mut expected: Vec<(u32, u32)> = (0..100_000).map(|i| (i % 7, i)).collect();
    expected.sort_by_key(|(flow, _)| *flow);
    assert_eq!(seen, expected);
}

#[test]
fn what_is_unknown_is_null() {
    let mut spool = Spool::new(EVERYTHING);
    spool.burst(BurstRow { start: Time(5), ..BurstRow::default() });
    let silence = Some(Span::from_millis(1500));
    spool.burst(BurstRow {
        lost_copies: Some(3),
        first_repair: Some(Time(7)),
        silence,
        ..BurstRow::default()
    });
    let batch = reader(&spool.seal(), Table::Bursts).unwrap().next().unwrap().unwrap();
    let copies = batch["lost_copies"].as_primitive::<Int64Type>();
    assert_eq!((copies.is_null(0), copies.value(1)), (true, 3));
    let repair = batch["first_repair"].as_primitive::<TimestampNanosecondType>();
    assert_eq!((repair.is_null(0), repair.value(1)), (true, 7));
    let silence = batch["silence_s"].as_primitive::<Float64Type>();
    assert_eq!((silence.is_null(0), silence.value(1)), (true, 1.5));
}

#[test]
fn each_cause_has_its_own_column_of_retransmitted_segments() {
    let mut spool = Spool::new(EVERYTHING);
    let by_cause: ByCause = std::array::from_fn(|i| i as u64 + 1);
    spool.flow(&FlowRow { by_cause, ..FlowRow::default() });
    let batch = reader(&spool.seal(), Table::Flows).unwrap().next().unwrap().unwrap();
    for (i, cause) in Cause::ALL.iter().enumerate() {
        let column = format!("retransmitted_{}", cause.name().replace('-', "_"));
        assert_eq!(batch[column.as_str()].as_primitive::<Int64Type>().value(0), i as i64 + 1, "{column}");
    }
}

#[test]
fn every_table_keeps_its_schema_through_the_c_interface_empty_or_not() {
    let mut full = Spool::new(EVERYTHING);
    full.flow(&FlowRow::default());
    full.burst(BurstRow::default());
    full.episode(EpisodeRow::default());
    full.retransmission(RetransmissionRow::default());
    full.probe(ProbeRow::default());
    full.idle(IdleRow::default());
    full.interval(IntervalRow::default());
    full.rtt(RttRow { flow: 0, time: Time(1), seq: 2, rtt: Span(3), kind: RttKind::Timestamps });
    full.packet(PacketRow::default());
    full.round(RoundRow::default());
    full.wait(WaitRow::default());
    for (shelf, rows) in [(Spool::new(EVERYTHING).seal(), 0), (full.seal(), 1)] {
        for table in Table::ALL {
            let through = RecordBatchStreamReader::try_new(stream(&shelf, table).unwrap()).unwrap();
            assert_eq!(*through.schema(), schema(table));
            assert_eq!(through.map(|b| b.unwrap().num_rows()).sum::<usize>(), rows, "{}", table.name());
            assert_eq!(shelf.len(table), rows as u64);
        }
    }
}
