use super::*;

const SMSS: u32 = 1000;

fn runs(of: &[(u64, u64)]) -> Runs {
    let mut r = Runs::default();
    for &(l, right) in of {
        r.insert(l * u64::from(SMSS), right * u64::from(SMSS));
    }
    r
}

fn facts(runs: &Runs, dupacks: u32, sacked_segments: u32) -> Facts<'_> {
    Facts {
        runs,
        una: 0,
        nxt: 100 * u64::from(SMSS),
        smss: SMSS,
        dupthresh: 3,
        dupacks,
        sacked_segments,
        sack: true,
    }
}

/// In segments.
fn lost_below(rule: DetectRule, of: &[(u64, u64)]) -> u64 {
    let r = runs(of);
    frontier(rule, &facts(&r, 0, 0)) / u64::from(SMSS)
}

#[test]
fn is_lost_by_bytes_needs_more_than_two_segments_above() {
    // RFC 6675 §4, IsLost: "more than (DupThresh - 1) * SMSS bytes".
    assert_eq!(lost_below(DetectRule::Rfc6675, &[(1, 3)]), 0, "exactly 2 SMSS are not enough");
    assert_eq!(lost_below(DetectRule::Rfc6675, &[(1, 4)]), 1);
    let mut r = Runs::default();
    r.insert(1000, 3001);
    assert_eq!(frontier(DetectRule::Rfc6675, &facts(&r, 0, 0)), 1000, "one byte more is");
}

#[test]
fn is_lost_by_runs_needs_three_discontiguous_ones_above() {
    let mut r = Runs::default();
    for left in [1000, 1200, 1400] {
        r.insert(left, left + 100);
    }
    assert_eq!(frontier(DetectRule::Rfc6675, &facts(&r, 0, 0)), 1000, "what is below the third from the top");
    r.insert(3000, 3100);
    assert_eq!(frontier(DetectRule::Rfc6675, &facts(&r, 0, 0)), 1200);
}

#[test]
fn linux_counts_segments_and_fack_counts_the_holes_too() {
    assert_eq!(lost_below(DetectRule::LinuxSack, &[(1, 3)]), 0);
    assert_eq!(lost_below(DetectRule::LinuxSack, &[(1, 4)]), 1);
    assert_eq!(lost_below(DetectRule::LinuxSack, &[(1, 2), (3, 4), (5, 6), (7, 8)]), 3);
    // One SACKed segment behind 88 lost ones: the holes count (paper `interruption`, Fig. 9).
    assert_eq!(lost_below(DetectRule::LinuxFack, &[(88, 89)]), 86);
    assert_eq!(lost_below(DetectRule::LinuxFack, &[(2, 3)]), 0);
    assert_eq!(lost_below(DetectRule::LinuxFack, &[(3, 4)]), 1);
    assert_eq!(lost_below(DetectRule::Rfc6675, &[(88, 89)]), 0);
}

#[test]
fn what_starts_recovery() {
    use DetectRule::*;
    let none = Runs::default();
    let three = runs(&[(1, 4)]);
    let far = runs(&[(88, 89)]);
    for (rule, runs, dupacks, sacked, starts) in [
        (DupAcks, &none, 2, 0, false),
        (DupAcks, &none, 3, 0, true),
        (DupAcks, &three, 1, 3, false),
        (Rfc6675, &none, 3, 0, true),
        (Rfc6675, &three, 1, 3, true),
        (Rfc6675, &far, 1, 1, false),
        (LinuxSack, &far, 1, 1, false),
        (LinuxSack, &three, 1, 3, true),
        (LinuxFack, &far, 1, 1, true),
        (Xnu1699, &far, 2, 1, false),
    ] {
        let f = facts(runs, dupacks, sacked);
        assert_eq!(starts_recovery(rule, &f, frontier(rule, &f)), starts, "{rule:?} {dupacks} {sacked}");
    }
}
