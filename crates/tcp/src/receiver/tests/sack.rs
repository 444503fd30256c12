//! What ACKs report: the examples of RFC 2018 and RFC 2883 as they stand there.

use super::*;

#[test]
fn rfc_2018_section_7_case_1_the_first_four_of_eight_arrive() {
    let mut s = plain(5000);
    s.reports((5000, 5500), 5500, &[]).reports((5500, 6000), 6000, &[]);
    s.reports((6000, 6500), 6500, &[]).reports((6500, 7000), 7000, &[]);
}

#[test]
fn rfc_2018_section_7_case_2_the_first_of_eight_is_lost() {
    let mut s = plain(5000);
    for end in (6000..=9000).step_by(500) {
        s.reports((end - 500, end), 5000, &[(5500, end)]);
    }
}

#[test]
fn rfc_2018_section_7_case_3_every_second_of_eight_is_lost() {
    let mut s = plain(5000);
    s.reports((5000, 5500), 5500, &[]);
    s.reports((6000, 6500), 5500, &[(6000, 6500)]);
    s.reports((7000, 7500), 5500, &[(7000, 7500), (6000, 6500)]);
    s.reports((8000, 8500), 5500, &[(8000, 8500), (7000, 7500), (6000, 6500)]);
    // The fourth comes late, then the second.
    s.reports((6500, 7000), 5500, &[(6000, 7500), (8000, 8500)]);
    s.reports((5500, 6000), 7500, &[(8000, 8500)]);
}

#[test]
fn rfc_2883_section_4_example_1_a_duplicate_segment() {
    let mut s = plain(3000);
    s.reports((3000, 3500), 3500, &[]).reports((3500, 4000), 4000, &[]);
    s.reports((3000, 3500), 4000, &[(3000, 3500)]);
}

#[test]
fn rfc_2883_section_4_example_2_an_out_of_order_segment_and_a_duplicate() {
    let mut s = plain(3000);
    s.reports((3000, 3500), 3500, &[]).reports((3500, 4000), 4000, &[]);
    s.reports((4500, 5000), 4000, &[(4500, 5000)]);
    s.reports((3000, 3500), 4000, &[(3000, 3500), (4500, 5000)]);
}

#[test]
fn rfc_2883_section_4_example_3_a_duplicate_of_an_out_of_order_segment() {
    let mut s = plain(3500);
    s.reports((3500, 4000), 4000, &[]);
    s.reports((4500, 5000), 4000, &[(4500, 5000)]);
    s.reports((5000, 5500), 4000, &[(4500, 5500)]);
    s.reports((5000, 5500), 4000, &[(5000, 5500), (4500, 5500)]);
}

#[test]
fn rfc_2883_section_4_example_4_one_half_of_a_segment_is_a_duplicate() {
    let mut s = plain(500);
    s.reports((500, 1000), 1000, &[]);
    s.reports((2000, 2500), 1000, &[(2000, 2500)]);
    s.reports((1000, 1500), 1500, &[(2000, 2500)]);
    s.reports((1000, 2000), 2500, &[(1000, 1500)]);
}

#[test]
fn rfc_2883_section_4_example_5_of_two_duplicate_parts_the_first_is_reported() {
    let mut s = plain(500);
    s.reports((500, 1000), 1000, &[]);
    s.reports((3000, 3500), 1000, &[(3000, 3500)]);
    s.reports((1000, 1500), 1500, &[(3000, 3500)]);
    s.reports((2000, 2500), 1500, &[(2000, 2500), (3000, 3500)]);
    s.reports((1000, 2500), 2500, &[(1000, 1500), (3000, 3500)]);
}

#[test]
fn rfc_2883_section_4_example_6_two_duplicate_parts_above_the_ack() {
    let mut s = plain(500);
    s.reports((500, 1000), 1000, &[]);
    s.reports((3500, 4000), 1000, &[(3500, 4000)]);
    s.reports((1500, 2000), 1000, &[(1500, 2000), (3500, 4000)]);
    s.reports((2500, 3000), 1000, &[(2500, 3000), (1500, 2000), (3500, 4000)]);
    s.reports((1500, 3000), 1000, &[(1500, 2000), (1500, 3000), (3500, 4000)]);
}

#[test]
fn a_duplicate_is_reported_once() {
    // RFC 2883 §4: each duplicate contiguous sequence in at most one D-SACK block.
    let mut s = plain(1);
    s.reports((1, 501), 501, &[]).reports((1, 501), 501, &[(1, 501)]);
    assert_eq!(s.blocks(), []);
    s.reports((501, 1001), 1001, &[]);
}

#[test]
fn a_whole_range_again_stands_twice() {
    // The second block tells the sender that the first is a duplicate (RFC 2883 §5).
    let mut s = plain(1);
    s.reports((1001, 1501), 1, &[(1001, 1501)]);
    s.reports((1001, 1501), 1, &[(1001, 1501), (1001, 1501)]);
}

#[test]
fn a_segment_that_reaches_into_a_range_reports_the_overlap_although_the_ack_passes_it() {
    let mut s = plain(1);
    s.reports((501, 1001), 1, &[(501, 1001)]);
    s.reports((1, 701), 1001, &[(501, 701)]);
}

#[test]
fn blocks_that_fell_off_the_list_come_back_most_recent_first() {
    let mut s = plain(1);
    for k in 1..=6 {
        s.data(1000 * k, 1000 * k + 500);
    }
    assert_eq!(s.blocks(), [(6000, 6500), (5000, 5500), (4000, 4500), (3000, 3500)]);
    // Two recent ones grow into one: there is room for one more.
    s.reports((5500, 6000), 1, &[(5000, 6500), (4000, 4500), (3000, 3500), (2000, 2500)]);
}

#[test]
fn with_timestamps_three_blocks_have_room_and_a_duplicate_takes_one() {
    let mut s = plain(1);
    for k in 1..=4 {
        s.data(1000 * k, 1000 * k + 500);
    }
    let mut out = [(0, 0); 4];
    assert_eq!(s.receiver.blocks(&mut out, 3), 3);
    assert_eq!(out[..3], [(4000, 4500), (3000, 3500), (2000, 2500)]);
    s.data(2000, 2500);
    assert_eq!(s.receiver.blocks(&mut out, 3), 3);
    assert_eq!(out[..3], [(2000, 2500), (2000, 2500), (4000, 4500)]);
    assert_eq!(s.receiver.blocks(&mut out, 0), 0);
}

#[test]
fn without_sack_nothing_is_reported_and_without_dsack_no_duplicate() {
    let spec = Receive { delayed_ack: DelayedAck::Off, dsack: false, sack_fin: true, window: fixed(65_536) };
    for (sack, expected) in [(false, 0), (true, 1)] {
        let mut r = Receiver::new(&spec, 500, 1, sack);
        r.on_data(Time::ZERO, 1, 500, false);
        r.on_data(Time::ZERO, 1, 500, false);
        let mut out = [(0, 0); 4];
        assert_eq!(r.blocks(&mut out, 4), 0);
        r.on_data(Time::ZERO, 1001, 500, false);
        assert_eq!(r.blocks(&mut out, 4), expected);
    }
}

#[test]
fn paper_interruption_fig_9_the_block_grows_behind_the_hole_of_88_segments() {
    let mut s = Story::new(DelayedAck::Off, fixed(1 << 20), 1448, 1_967_433);
    let beyond = 1_967_433 + 88 * 1448;
    for k in 0..10 {
        let end = beyond + (k + 1) * 1448;
        s.reports((end - 1448, end), 1_967_433, &[(beyond, end)]);
    }
    s.reports((1_967_433, 1_967_433 + 1448), 1_967_433 + 1448, &[(beyond, beyond + 10 * 1448)]);
}

#[test]
fn paper_interruption_fig_10_c_the_last_segment_again_is_a_dsack() {
    let mut s = Story::new(DelayedAck::Off, fixed(1 << 20), 1448, 10_058_857);
    s.reports((10_058_857, 10_060_305), 10_060_305, &[]);
    s.reports((10_058_857, 10_060_305), 10_060_305, &[(10_058_857, 10_060_305)]);
}
