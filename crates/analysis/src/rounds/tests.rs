use super::*;

const MS: i64 = 1_000_000;

fn ms(t: i64) -> Time {
    Time(t * MS)
}

fn counted(sent: u64, delivered: u64) -> Counted {
    Counted { sent_bytes: sent, resent_bytes: 0, delivered_bytes: delivered }
}

/// An ACK of a segment each millisecond, for so many milliseconds.
fn steady(rounds: &mut Rounds, from: i64, to: i64, rtt: Span) {
    for t in from..to {
        let bytes = 1000 * (t - from + 1) as u64;
        if rounds.on_ack(ms(t), 5000, 60_000, bytes) {
            rounds.turn(ms(t), counted(bytes, bytes), rtt);
        }
    }
}

#[test]
fn a_round_is_the_difference_of_two_states_and_lasts_a_round_trip() {
    let rtt = Span::from_millis(40);
    let mut rounds = Rounds::default();
    rounds.begin(ms(0), counted(0, 0), rtt);
    rounds.on_rtt(Span::from_millis(41));
    rounds.on_rtt(Span::from_millis(43));
    steady(&mut rounds, 1, 100, rtt);
    rounds.finish(ms(99), counted(99_000, 99_000));
    let rows = rounds.done();
    assert_eq!(rows.len(), 3);
    let first = rows[0];
    assert_eq!((first.start, first.end, first.delivered_bytes), (ms(0), ms(40), 40_000));
    assert_eq!((first.rtt_min, first.rtt_mean()), (Some(Span::from_millis(41)), Some(Span::from_millis(42))));
    assert_eq!(
        (first.flight_bytes, first.window_min_bytes, first.window_max_bytes),
        (5000, Some(60_000), Some(60_000))
    );
    assert_eq!(rows.iter().map(|r| r.delivered_bytes).sum::<u64>(), 99_000);
    assert!(rows.windows(2).all(|w| w[0].end == w[1].start), "nothing lies between them");
}

#[test]
fn however_long_a_flow_its_rounds_are_bounded_and_nothing_of_it_is_lost() {
    let mut rounds = Rounds::default();
    rounds.begin(ms(0), counted(0, 0), Span::ZERO);
    steady(&mut rounds, 1, 600_000, Span::ZERO);
    rounds.finish(ms(599_999), counted(599_999_000, 599_999_000));
    let rows = rounds.done();
    assert!((MOST / 2..MOST).contains(&rows.len()), "{}", rows.len());
    assert_eq!(rows.iter().map(|r| r.delivered_bytes).sum::<u64>(), 599_999_000);
    assert!(rows[..FINE].iter().all(|r| r.length() == SHORTEST), "slow start keeps its rounds");
    assert!(rows.windows(2).all(|w| w[0].end == w[1].start));
}

#[test]
fn a_pause_parts_two_rounds_and_belongs_to_neither() {
    let mut rounds = Rounds::default();
    rounds.begin(ms(0), counted(0, 0), Span::from_millis(20));
    rounds.on_ack(ms(5), 1000, u64::MAX, 1000);
    assert!(!rounds.on_wait(ms(5), ms(50), Release::Pace, None), "45 ms are none");
    assert!(rounds.on_wait(ms(60), ms(200), Release::Write, None));
    rounds.pause(ms(60), ms(200), counted(1000, 1000), Span::from_millis(20));
    rounds.on_ack(ms(205), 1000, u64::MAX, 2000);
    rounds.finish(ms(205), counted(2000, 2000));
    let rows = rounds.done();
    assert_eq!(
        rows.iter().map(|r| (r.start, r.end)).collect::<Vec<_>>(),
        [(ms(0), ms(60)), (ms(200), ms(205))]
    );
    assert_eq!(rows[0].window_max_bytes, None);
    assert_eq!(rows[0].waited.other, Span::from_millis(45));
}

#[test]
fn a_train_tells_the_rate_at_which_its_acks_came() {
    let mut rounds = Rounds::default();
    rounds.begin(ms(0), counted(0, 0), Span::from_millis(80));
    // Ten segments a millisecond apart, then silence for the rest of the round trip.
    for t in 1..=10 {
        rounds.on_ack(ms(t), 0, u64::MAX, 1000 * t as u64);
    }
    rounds.on_ack(ms(75), 0, u64::MAX, 11_000);
    rounds.finish(ms(75), counted(0, 11_000));
    let rows = rounds.done();
    // It began with the ACK at which the flow was first looked at.
    assert_eq!((rows[0].train_bytes, rows[0].train), (10_000, Span::from_millis(10)));
    assert_eq!(rows[0].train_rate(), Some(1e6));
}

#[test]
fn rounds_stay_as_long_as_they_are_to_be_however_often_the_sender_paused() {
    let rtt = Span::from_millis(20);
    let mut rounds = Rounds::default();
    rounds.begin(ms(0), counted(0, 0), rtt);
    // Merged 40 times: each time twice as many round trips go into a round.
    let pauses = 40 * ((MOST - FINE) / 2) as i64;
    for n in 1..=pauses {
        let at = 1000 * n;
        let bytes = 1000 * n as u64;
        rounds.on_ack(ms(at - 500), 1000, u64::MAX, bytes);
        rounds.pause(ms(at - 500), ms(at), counted(bytes, bytes), rtt);
    }
    let begun = 1000 * pauses;
    let all = begun as u64;
    assert!(!(1..100).any(|t| rounds.on_ack(ms(begun + 20 * t), 1000, u64::MAX, all)), "no round is over");
    rounds.finish(ms(begun + 2000), counted(all, all));
    assert!(rounds.done().len() < MOST);
}

#[test]
fn a_train_ends_where_an_ack_tells_of_what_came_before() {
    let mut rounds = Rounds::default();
    rounds.begin(ms(0), counted(0, 0), Span::from_millis(800));
    // Ten segments, one a millisecond; then an ACK of a hundred that had come before.
    steady(&mut rounds, 1, 11, Span::ZERO);
    rounds.break_train(ms(12), 110_000);
    rounds.on_ack(ms(12), 5000, 60_000, 110_000);
    rounds.finish(ms(13), counted(110_000, 110_000));
    assert_eq!((rounds.done()[0].train_bytes, rounds.done()[0].train), (10_000, Span::from_millis(10)));
    // The time before that ACK, in which no ACK came, is a silence all the same.
    rounds.begin(ms(0), counted(0, 0), Span::from_millis(800));
    rounds.break_train(ms(500), 9000);
    rounds.finish(ms(501), counted(9000, 9000));
    assert_eq!(rounds.done()[0].quiet, Span::from_millis(500));
}
