//! In which part of an analysis on several threads a connection is.

use analysis::{SHARES, part};
use wire::{Endpoint, Host, Tuple};

#[test]
fn no_share_is_in_two_parts() {
    let end = |host: u8, port| Endpoint { host: Host::v4([10, 0, 0, host]), port };
    for parts in 1..64 {
        let mut of = [None; SHARES];
        for port in 0..2000 {
            let tuple = Tuple { src: end(1, port), dst: end(2, 80) };
            let part = part(&tuple, parts);
            assert!(part < parts);
            assert_eq!(*of[analysis::part(&tuple, SHARES)].get_or_insert(part), part);
        }
    }
}

#[test]
fn both_ways_of_a_connection_belong_to_one_part_and_connections_spread_over_all() {
    let end = |host: u8, port| Endpoint { host: Host::v4([10, 0, 0, host]), port };
    for parts in [1, 2, 3, 16] {
        let mut held = vec![0; parts];
        for port in 0..4000 {
            let tuple = Tuple { src: end(1, port), dst: end(2, 80) };
            assert_eq!(part(&tuple, parts), part(&tuple.reversed(), parts));
            held[part(&tuple, parts)] += 1;
        }
        let fair = 4000 / parts;
        assert!(held.iter().all(|n| *n > fair * 3 / 4 && *n < fair * 5 / 4 + 2), "{parts}: {held:?}");
    }
}
