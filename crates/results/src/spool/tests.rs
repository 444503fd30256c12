use super::store::{HEADER, MEMORY};
use super::*;
use proptest::prelude::*;
use wire::{Span, Time};

/// What a store gives back, in its order.
fn read(store: &Sealed) -> Vec<(u32, Vec<u8>)> {
    let mut merge = store.read().unwrap();
    let mut all = Vec::new();
    while let Some((flow, record)) = merge.next().unwrap() {
        all.push((flow, record.to_vec()));
    }
    all
}

/// What it should give: by flow, and within a flow as they came.
fn in_order(mut records: Vec<(u32, Vec<u8>)>) -> Vec<(u32, Vec<u8>)> {
    records.sort_by_key(|r| r.0);
    records
}

fn filled(mut store: Store, records: &[(u32, Vec<u8>)]) -> Sealed {
    for (flow, record) in records {
        store.push(*flow, |bytes| bytes.extend(record));
    }
    store.seal()
}

proptest! {
    #[test]
    fn records_come_back_by_flow_and_in_order_however_often_they_were_spilled_and_merged(
        records in prop::collection::vec((0u32..40, prop::collection::vec(any::<u8>(), 0..60)), 0..400),
        memory in 64usize..4096,
        fan in 2usize..5,
    ) {
        let store = filled(Store::with_bounds(memory, fan), &records);
        prop_assert_eq!(store.rows(), records.len() as u64);
        let expected = in_order(records);
        prop_assert_eq!(read(&store), expected.clone());
        prop_assert_eq!(read(&store), expected, "a second reading sees the same");
    }
}

#[test]
fn records_longer_than_a_block_cross_it_whole() {
    let records: Vec<(u32, Vec<u8>)> = (0..40).map(|i| (i % 3, vec![i as u8; 40_000])).collect();
    let store = filled(Store::with_bounds(100_000, 4), &records);
    assert_eq!(read(&store), in_order(records));
}

#[test]
fn a_record_that_its_length_field_cannot_hold_is_left_out_and_counted() {
    let records = [(1, vec![1; 70_000]), (1, vec![2; 3])];
    let store = filled(Store::default(), &records);
    assert_eq!(read(&store), [(1, vec![2; 3])]);
    assert_eq!(store.rows(), 1);
}

#[test]
fn memory_stays_bounded_while_millions_of_rows_come() {
    let mut store = Store::default();
    for i in 0..1_000_000u32 {
        store.push(i % 240, |bytes| bytes.extend([i as u8; 24]));
        assert!(store.in_memory() <= MEMORY + 24 + HEADER + 16, "after {i} records");
    }
    let sealed = store.seal();
    assert_eq!(sealed.rows(), 1_000_000);
    let mut merge = sealed.read().unwrap();
    let (mut n, mut last) = (0, 0);
    while let Some((flow, record)) = merge.next().unwrap() {
        assert!(flow >= last && record.len() == 24);
        (n, last) = (n + 1, flow);
    }
    assert_eq!(n, 1_000_000);
}

/// A spool of so many bursts over so many flows, whose flows end in reverse.
fn spool(flows: u32, bursts: u32) -> Shelf {
    let mut spool = Spool::new(Wanted::default());
    for i in 0..bursts {
        let start = Time(i64::from(i) * 1_000);
        spool.burst(BurstRow { flow: i % flows * 2, start, lost_segments: i, ..BurstRow::default() });
    }
    for flow in (0..flows).rev() {
        spool.flow(&FlowRow { flow: flow * 2, bytes: u64::from(flow), ..FlowRow::default() });
    }
    spool.seal()
}

#[test]
fn a_flows_rows_are_found_beside_it_in_order_of_time() {
    let shelf = spool(300, 120_000);
    let mut bursts: ByFlow<BurstRow> = ByFlow::new(&shelf).unwrap();
    for (i, row) in shelf.rows::<FlowRow>().unwrap().enumerate() {
        let row = row.unwrap();
        assert_eq!((row.flow, row.bytes), (i as u32 * 2, i as u64));
        for k in 0..400 {
            let burst = bursts.next_of(row.flow).unwrap().unwrap();
            assert_eq!(burst.lost_segments, k * 300 + i as u32);
        }
        assert_eq!(bursts.next_of(row.flow).unwrap(), None);
    }
}

#[test]
fn flows_that_are_passed_over_are_skipped() {
    let shelf = spool(10, 100);
    let mut bursts: ByFlow<BurstRow> = ByFlow::new(&shelf).unwrap();
    assert_eq!(bursts.next_of(3).unwrap(), None, "no such flow");
    assert_eq!(bursts.next_of(4).unwrap().unwrap().lost_segments, 2);
    assert_eq!(bursts.next_of(18).unwrap().unwrap().lost_segments, 9);
    assert_eq!(bursts.next_of(20).unwrap(), None);
    assert_eq!(bursts.next_of(22).unwrap(), None);
}

#[test]
fn only_the_rows_that_are_wanted_are_kept() {
    let mut spool = Spool::new(Wanted { rtts: true, ..Wanted::default() });
    spool.packet(PacketRow::default());
    spool.rtt(RttRow { flow: 0, time: Time(1), seq: 2, rtt: Span(3), kind: RttKind::Ack });
    let shelf = spool.seal();
    assert_eq!((shelf.len(Table::Packets), shelf.len(Table::Rtt)), (0, 1));
    assert!(shelf.holds(Table::Rtt) && shelf.holds(Table::Flows) && !shelf.holds(Table::Packets));
}

#[test]
fn where_the_json_is_all_that_is_wanted_a_million_quiet_flows_stay_in_a_corner_of_memory() {
    let mut spool = Spool::listing(Wanted::default(), Listing { most: Some(100), only: true });
    let mut most = 0;
    for id in 0..1_000_000 {
        // The later the better: each of the first ones is put in its place and goes again.
        let flow = id * 2;
        spool.idle(IdleRow { flow, ..IdleRow::default() });
        spool.flow(&FlowRow { flow, bytes: u64::from(id), ..FlowRow::default() });
        most = most.max(spool.stores.iter().map(Store::in_memory).sum());
    }
    assert!(most <= 4 * MEMORY, "{most}");
    assert!(spool.stores.iter().all(|s| !s.has_spilled()));
    let shelf = spool.seal();
    assert_eq!(shelf.sums.flows, 1_000_000);
    assert_eq!(shelf.listed().unwrap(), (999_900..1_000_000).map(|id| id * 2).collect::<Vec<_>>());
    let mut idle: ByFlow<IdleRow> = ByFlow::new(&shelf).unwrap();
    assert_eq!(idle.next_of(1_999_998).unwrap().unwrap().flow, 1_999_998);
    assert!(shelf.is_narrowed() && !Table::ALL.iter().any(|t| shelf.holds(*t)));
}

#[test]
fn the_rows_of_a_long_flow_that_is_left_out_make_room_before_anything_is_written_to_disk() {
    let mut store = Store::with_bounds(10_000, 4);
    for i in 0..10_000u32 {
        // Every hundredth record is of the flow that stays.
        let flow = if i % 100 == 0 { 2 } else { 1 };
        store.push_among(flow, |f| f == 2, |bytes| bytes.extend(i.to_le_bytes()));
    }
    assert!(!store.has_spilled());
    let kept = read(&store.seal());
    let of_2: Vec<u32> = kept
        .iter()
        .filter(|(flow, _)| *flow == 2)
        .map(|(_, b)| u32::from_le_bytes(b.as_slice().try_into().unwrap()))
        .collect();
    assert_eq!(of_2, (0..10_000).step_by(100).collect::<Vec<u32>>());
}

#[test]
fn a_row_in_which_everything_is_known_comes_back_the_same() {
    let row = PacketRow {
        flow: 7,
        packet: u64::MAX,
        time: Time(i64::MIN),
        ack: Some(1),
        sack: [Some((1, 2)), None, Some((u64::MAX, 4)), None],
        cause: Some(Cause::LossState),
        class: PacketClass::ZeroWindowProbe,
        ..PacketRow::default()
    };
    let mut bytes = Vec::new();
    append(&mut bytes, &row);
    assert_eq!(decode::<PacketRow>(&bytes).unwrap(), row);
    assert!(decode::<PacketRow>(&bytes[..bytes.len() - 1]).is_err());
}

/// A store whose files take no byte, as on a full disk.
#[test]
fn when_the_disk_takes_no_more_what_was_kept_is_there_and_the_rest_is_counted() {
    let mut spool = Spool::new(Wanted::default());
    spool.stores[Table::Bursts as usize].refuse_disk();
    for flow in 0..200_000 {
        spool.burst(BurstRow { flow, ..BurstRow::default() });
    }
    let shelf = spool.seal();
    let kept = shelf.rows::<BurstRow>().unwrap().map(Result::unwrap).count() as u64;
    assert!(kept > 10_000 && kept < 200_000);
    assert_eq!(kept, shelf.len(Table::Bursts));
    let said = shelf.losses();
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with(&format!("table bursts: {} rows after the first {kept} ", 200_000 - kept)));
    assert!(said[0].contains("(no space left on device);") && said[0].contains("set TMPDIR"), "{}", said[0]);
}
