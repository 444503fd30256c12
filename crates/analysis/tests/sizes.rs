//! What vanishes for its size: a path whose MTU is smaller than the sender knows (RFC 2923 §2.1, RFC 8899).

mod story;

use analysis::rows::Vantage;
use story::{MSS, Story, opened};

/// Six full segments vanish and the short one behind them is SACKed; so do the repair that this sets off, and the timer's.
fn hole(repairs: &[u64]) -> Story {
    let mut t = opened(Vantage::Sender).sack_permitted().at(30);
    for k in 0..6 {
        t = t.amid_data(1 + k * MSS, MSS);
    }
    let tail = 1 + 6 * MSS;
    t = t.data(tail, 420).at(50).sack(1, &[(tail, tail + 420)]).at(51).data(1, MSS);
    repairs.iter().fold(t, |t, at| t.at(*at).data(1, MSS))
}

const IN_VAIN: [u64; 4] = [260, 700, 1_540, 3_200];

#[test]
fn a_path_that_takes_small_packets_only_is_not_dark() {
    let told = hole(&IN_VAIN).ends();
    let sizes = told.flow.too_large.expect("it shows");
    assert_eq!((sizes.lost_from_bytes, sizes.through_to_bytes), (MSS, 420));
}

#[test]
fn a_full_segment_that_comes_through_shows_that_size_was_not_why() {
    let told = hole(&IN_VAIN).at(3_220).sack(1 + MSS, &[(1 + 6 * MSS, 421 + 6 * MSS)]);
    let told = told.at(3_221).data(1 + MSS, 5 * MSS).at(3_241).ack(421 + 6 * MSS).ends();
    assert_eq!(told.flow.too_large, None);
}

#[test]
fn a_sender_that_tries_smaller_packets_ends_it() {
    // RFC 4821 §7.7: packetization-layer path MTU discovery; Linux's `tcp_mtu_probing` sends segments of 1024 bytes where full ones have 1448.
    let mut t = hole(&IN_VAIN[..3]).at(3_200);
    let end = 421 + 6 * MSS;
    for (k, at) in (1..=6 * MSS).step_by(600).enumerate() {
        let len = 600.min(1 + 6 * MSS - at);
        let now = 3_200 + 21 * k as u64;
        t = t.at(now).data(at, len).at(now + 20);
        t = match at + len == 1 + 6 * MSS {
            true => t.ack(end),
            false => t.sack(at + len, &[(1 + 6 * MSS, end)]),
        };
    }
    let told = t.ends();
    let sizes = told.flow.too_large.expect("it shows");
    assert_eq!((sizes.lost_from_bytes, sizes.through_to_bytes), (MSS, 600));
    assert_eq!(sizes.until.map(|t| t.0 / 1_000_000), Some(3_200));
}
