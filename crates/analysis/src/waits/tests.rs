use super::*;

fn ms(n: i64) -> Time {
    Time(n * 1_000_000)
}

fn released(at: i64, side: usize, by: Release) -> Released {
    Released { at: ms(at), loop_delay: Span::ZERO, side, by, instead: None, message: None, aside: false }
}

fn sum(rows: &[Stretch], side: usize, wait: Wait) -> i64 {
    rows.iter().map(|r| r.of(side, wait).0).sum::<i64>() / 1_000_000
}

#[test]
fn a_chatty_client_spends_its_time_on_the_path() {
    // Round trips of 40 ms, an answer in no time, the next request 1 ms later.
    let mut waits = Waits::default();
    waits.begin(ms(0));
    waits.on_established(ms(40));
    for i in 0..100 {
        let at = 40 + i * 41;
        waits.on_released(&released(at + 1, 0, if i == 0 { Release::Write } else { Release::Message }), None);
        // The answer is seen 40 ms later: it had the loop to the server and back to come.
        let answer = Released { loop_delay: Span::from_millis(40), ..released(at + 41, 1, Release::Message) };
        waits.on_released(&answer, None);
    }
    let rows = waits.finish(ms(4140), (0, Wait::Nothing)).collect::<Vec<_>>();
    assert_eq!(sum(&rows, 0, Wait::Handshake), 40);
    assert_eq!(sum(&rows, 0, Wait::Path), 4000);
    assert_eq!(sum(&rows, 0, Wait::Program), 100);
    let all: i64 = rows.iter().map(|r| r.length().0).sum();
    assert_eq!(all, ms(4140).0);
    assert!(rows.windows(2).all(|w| w[0].end == w[1].start), "no gaps");
    assert_eq!(rows.iter().map(|r| r.turns[1]).sum::<u32>(), 100);
}

#[test]
fn the_ack_of_a_request_tells_the_path_from_the_server() {
    let mut waits = Waits::default();
    waits.begin(ms(0));
    waits.on_released(&released(0, 0, Release::Write), None);
    waits.on_emptied(0, ms(40));
    let answer = Released { loop_delay: Span::from_millis(40), ..released(340, 1, Release::Message) };
    waits.on_released(&answer, None);
    let rows = waits.finish(ms(340), (0, Wait::Nothing)).collect::<Vec<_>>();
    assert_eq!((sum(&rows, 0, Wait::Path), sum(&rows, 1, Wait::Program)), (40, 300));
}

#[test]
fn a_program_that_writes_now_and_then_owns_its_pauses() {
    let mut waits = Waits::default();
    waits.begin(ms(0));
    for i in 0..10 {
        waits.on_released(&released(i * 200, 1, Release::Write), None);
        waits.on_emptied(1, ms(i * 200 + 48));
    }
    let rows = waits.finish(ms(2500), (0, Wait::Nothing)).collect::<Vec<_>>();
    assert_eq!(sum(&rows, 1, Wait::Path), 480);
    assert_eq!(sum(&rows, 1, Wait::Program), 9 * 152);
    assert_eq!(sum(&rows, 0, Wait::Nothing), 2500 - 1848);
}

#[test]
fn packets_that_follow_at_once_belong_to_what_released_the_first() {
    let mut waits = Waits::default();
    waits.begin(ms(0));
    waits.on_released(&released(10, 0, Release::Ack), None);
    waits.on_released(&released(60, 0, Release::Ack), Some(ms(20)));
    let rows = waits.finish(ms(60), (0, Wait::Nothing)).collect::<Vec<_>>();
    assert_eq!(sum(&rows, 0, Wait::Ack), 60);
}

#[test]
fn rows_are_bounded_and_keep_every_nanosecond() {
    let mut waits = Waits::default();
    waits.begin(ms(0));
    waits.round_trip = Span::from_millis(10);
    for i in 1..100_000 {
        let by = [Release::Ack, Release::Window, Release::Write, Release::Timer][i as usize % 4];
        waits.on_released(&released(i * 7, i as usize % 2, by), None);
    }
    let rows = waits.finish(ms(800_000), (1, Wait::Closed)).collect::<Vec<_>>();
    assert!(rows.len() <= MOST + 1);
    let total: i64 = rows.iter().flat_map(|r| r.waited.iter().flatten()).map(|s| s.0).sum();
    assert_eq!(total, ms(800_000).0);
    assert!(rows.iter().all(|r| r.waited.iter().flatten().map(|s| s.0).sum::<i64>() == r.length().0));
}
