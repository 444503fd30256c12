use super::*;

const MSS: u32 = 100;

/// `n` segments of 100 bytes from offset 1 on, sent a nanosecond apart.
fn board(n: u64) -> Board {
    let mut b = Board::new(1);
    (0..n).for_each(|i| b.push(MSS, false, false, Time(i as i64)));
    b
}

/// Offsets of segment `k`.
fn at(k: u64) -> u64 {
    1 + k * u64::from(MSS)
}

fn sack(b: &mut Board, left: u64, right: u64) -> Sacked {
    let mut news = Sacked::default();
    b.sack(at(left), at(right), 0, &mut news);
    b.check();
    news
}

#[test]
fn pipe_is_what_is_out_less_sacked_and_lost_plus_resent() {
    let mut b = board(10);
    assert_eq!((b.out(), b.pipe()), (1000, 1000));
    sack(&mut b, 3, 6);
    assert_eq!(b.pipe(), 700);
    assert!(b.mark_lost_below(at(3)) && !b.mark_lost_below(at(3)));
    assert_eq!((b.pipe(), b.pipe_segments()), (400, 4));
    let first = b.next_lost().unwrap();
    b.sent_again(first, true, Time(50));
    assert_eq!((b.offset(first), b.pipe()), (at(0), 500));
    assert_eq!(b.next_lost(), Some(1));
    b.advance(at(6));
    b.check();
    assert_eq!((b.pipe(), b.lost.bytes, b.sacked.bytes), (400, 0, 0));
}

#[test]
fn a_block_is_news_once() {
    let mut b = board(10);
    assert_eq!(sack(&mut b, 2, 4).bytes, 200);
    assert_eq!(sack(&mut b, 2, 4).bytes, 0);
    let news = sack(&mut b, 1, 6);
    assert_eq!((news.bytes, news.lowest, news.highest), (300, at(1), at(6)));
}

#[test]
fn a_part_of_a_segment_counts_when_the_rest_comes() {
    let mut b = board(10);
    let mut news = Sacked::default();
    b.sack(at(2), at(2) + 50, 0, &mut news);
    assert_eq!(news.bytes, 0);
    b.sack(at(2) + 50, at(3), 0, &mut news);
    assert_eq!(news.bytes, 100);
    b.check();
}

#[test]
fn a_cumulative_ack_may_end_inside_a_segment() {
    let mut b = board(3);
    b.mark_lost_below(at(3));
    let acked = b.advance(at(1) + 30);
    b.check();
    assert_eq!((acked.bytes, acked.segments, b.out(), b.segments()), (130, 2, 170, 2));
    assert_eq!((b.offset(0), b.find(at(1) + 40), b.find(at(2))), (at(1) + 30, 0, 1));
}

#[test]
fn segments_are_found_whatever_their_sizes() {
    let mut b = Board::new(1);
    let sizes = [100, 100, 7, 100, 1, 1, 50, 100];
    for (i, size) in sizes.into_iter().enumerate() {
        b.push(size, i == 7, false, Time(0));
    }
    let mut offset = 1;
    for (i, size) in sizes.into_iter().enumerate() {
        for within in [0, u64::from(size) / 2, u64::from(size) - 1] {
            assert_eq!(b.find(offset + within), i);
        }
        offset += u64::from(size);
    }
    assert_eq!(b.find(offset), 7, "the FIN");
    assert_eq!(b.out(), 460);
}

#[test]
fn offsets_beyond_4_gib_are_kept() {
    let mut b = Board::new((1 << 40) + u64::from(u32::MAX) - 150);
    let una = b.una();
    (0..5).for_each(|_| b.push(MSS, false, false, Time(0)));
    assert_eq!((b.offset(4), b.find(una + 250)), (una + 400, 2));
    let mut news = Sacked::default();
    b.sack(una + 300, una + 500, 0, &mut news);
    assert_eq!(news.bytes, 200);
    b.advance(una + 300);
    b.check();
}

#[test]
fn a_timeout_marks_all_but_the_sacked_and_the_later_sent() {
    let mut b = board(10);
    sack(&mut b, 4, 5);
    b.mark_lost_below(at(2));
    let head = b.next_lost().unwrap();
    b.sent_again(head, true, Time(1));
    b.forget_losses();
    b.sent_again(0, true, Time(2));
    b.mark_all_lost(at(8));
    b.check();
    assert_eq!((b.lost.segments, b.pipe_segments()), (7, 3), "two that came later and the repair");
    assert_eq!(b.next_lost(), Some(1));
}

#[test]
fn holes_and_the_last_segment_are_found_for_next_seg() {
    // RFC 6675 §4, NextSeg (3) and (4)
    let mut b = board(8);
    sack(&mut b, 2, 3);
    sack(&mut b, 5, 6);
    assert_eq!(b.next_hole(), Some(0));
    b.sent_again(0, true, Time(0));
    b.sent_again(1, true, Time(0));
    assert_eq!(b.next_hole(), Some(3));
    b.sent_again(3, true, Time(0));
    b.sent_again(4, true, Time(0));
    assert_eq!(b.next_hole(), None, "6 and 7 lie above the highest SACKed byte");
    assert_eq!(b.last_unsacked(), Some(7));
}

#[test]
fn originals_and_repairs_are_told_apart() {
    let mut b = board(4);
    b.sent_again(0, true, Time(9));
    assert!(!b.advance(at(1)).original);
    assert!(b.advance(at(2)).original);
    let mut news = Sacked::default();
    b.sack(at(3), at(4), at(3), &mut news);
    assert!(!news.original_below);
    let mut b = board(4);
    b.sack(at(2), at(3), at(3), &mut news);
    assert!(news.original_below);
    b.advance(at(2));
    assert!(!b.advance(at(3)).original, "it was SACKed before");
}

#[test]
fn what_leaves_again_leaves_in_the_packets_of_the_queue() {
    let mut b = board(8);
    b.begin_packet(0);
    b.begin_packet(5);
    b.mark_lost_below(at(8));
    b.sent_again(1, true, Time(50));
    assert_eq!(b.repairs_of_packet(1, 9), 3, "2, 3 and 4");
    // tcp_retransmit_skb: where cwnd has less room the rest is a packet of its own from then on.
    assert_eq!(b.repairs_of_packet(1, 1), 1);
    assert_eq!(b.repairs_of_packet(1, 9), 1);
    b.sent_again(5, true, Time(60));
    sack(&mut b, 6, 7);
    assert_eq!(b.repairs_of_packet(5, 9), 0, "what was SACKed is cut out");
}
