use super::*;

fn ms(n: i64) -> Time {
    Time(n * 1_000_000)
}

fn repair(at: i64, seen: Cause, kernel: Option<Cause>, retransmits: u32) -> Repair {
    Repair { time: ms(at), segments: 1, episode: Some(0), seen, kernel, retransmits }
}

fn counts<const N: usize>(of: [(Cause, u64); N]) -> ByCause {
    let mut counts = ByCause::default();
    for (cause, n) in of {
        counts[cause as usize] = n;
    }
    counts
}

/// busy, receiver's window, send buffer in ms, every 250 ms.
fn looks(of: &[(u64, u64, u64)]) -> Vec<Look> {
    let mut sum = Look::default();
    let mut all = vec![sum];
    for (busy, receiver, buffer) in of {
        sum = Look {
            time: sum.time + Span::from_millis(250),
            busy_us: sum.busy_us + busy * 1000,
            receiver_us: sum.receiver_us + receiver * 1000,
            buffer_us: sum.buffer_us + buffer * 1000,
            closed: false,
        };
        all.push(sum);
    }
    all
}

#[test]
fn the_kernel_says_what_set_a_repair_off() {
    let word = OfFlow::new(vec![repair(500, Cause::Timeout, Some(Cause::Probe), 0)], false, &[]);
    let mut differ = Vec::new();
    let mut burst =
        BurstRow { trigger: Trigger::TimerRto, first_repair: Some(ms(500)), ..BurstRow::default() };
    word.burst(&mut burst, &mut differ);
    assert_eq!((burst.trigger, burst.told), (Trigger::TimerProbe, true));
    let [told] = differ.as_slice() else { panic!("{differ:?}") };
    assert_eq!((told.what, &*told.capture, &*told.kernel), ("trigger", "timer-rto", "timer-probe"));
    // Of another it said nothing.
    let mut other = BurstRow { first_repair: Some(ms(501)), ..BurstRow::default() };
    word.burst(&mut other, &mut differ);
    assert!(!other.told && differ.len() == 1);
}

#[test]
fn its_timeouts_count_where_it_told_of_every_repair() {
    let repairs = || {
        vec![
            repair(500, Cause::Timeout, Some(Cause::Timeout), 1),
            repair(900, Cause::Recovery, Some(Cause::Timeout), 2),
            repair(901, Cause::Recovery, Some(Cause::LossState), 2),
        ]
    };
    let episode = || EpisodeRow {
        kind: EpisodeKind::TimerRto,
        timeouts: 1,
        first_repair: ms(500),
        ..EpisodeRow::default()
    };
    let (mut told, mut differ) = (episode(), Vec::new());
    let word = OfFlow::new(repairs(), false, &[]);
    word.episode(&mut told, &mut differ);
    assert_eq!((told.told, told.timeouts, told.max_backoff), (true, 2, 1));
    assert_eq!((differ[0].what, &*differ[0].capture, &*differ[0].kernel), ("timeouts", "1", "2"));
    let mut flow = FlowRow {
        timeouts: 1,
        by_cause: counts([(Cause::Recovery, 2), (Cause::Timeout, 1)]),
        ..FlowRow::default()
    };
    word.flow(&mut flow);
    assert_eq!((flow.timeouts, flow.by_cause), (2, counts([(Cause::Timeout, 2), (Cause::LossState, 1)])));
    // One that the capture does not show may have been a timeout.
    let mut untold = episode();
    OfFlow::new(repairs(), true, &[]).episode(&mut untold, &mut differ);
    assert_eq!((untold.told, untold.timeouts), (false, 1));
}

#[test]
fn a_silence_is_the_timers_whose_repair_ended_it_and_the_programs_where_nothing_waited() {
    let word = OfFlow::new(
        vec![repair(400, Cause::Recovery, Some(Cause::Timeout), 2)],
        false,
        &looks(&[(250, 0, 0), (250, 0, 0), (0, 0, 0), (0, 0, 0)]),
    );
    let gap = |start, end, cause| IdleRow { start: ms(start), end: ms(end), cause, ..IdleRow::default() };
    let mut differ = Vec::new();
    let mut timer = gap(100, 400, IdleCause::AckClock);
    word.idle(&mut timer, &mut differ);
    assert_eq!((timer.cause, timer.told), (IdleCause::TimeoutBackoff, true));
    let mut pause = gap(480, 980, IdleCause::Unknown);
    word.idle(&mut pause, &mut differ);
    assert_eq!((pause.cause, pause.told), (IdleCause::Application, true));
    let mut busy = gap(0, 90, IdleCause::AckClock);
    word.idle(&mut busy, &mut differ);
    assert!(!busy.told && differ.len() == 2, "{differ:?}");
}

#[test]
fn what_held_all_of_a_time_between_two_looks_is_stated() {
    let word = OfFlow::new(
        Vec::new(),
        false,
        &looks(&[(250, 0, 240), (248, 0, 250), (250, 120, 0), (250, 250, 0), (0, 0, 0), (250, 0, 0)]),
    );
    let all: Vec<_> = word.stated.iter().map(|s| (s.start, s.end, s.holds)).collect();
    assert_eq!(
        all,
        [
            (ms(0), ms(500), Holds::SendBuffer),
            (ms(750), ms(1000), Holds::ReceiverWindow),
            (ms(1000), ms(1250), Holds::NothingToSend),
            (ms(1250), ms(1500), Holds::NoWindow),
        ]
    );
    let counted = word.counted().unwrap();
    assert_eq!(counted.buffer, Span::from_millis(490));
    assert_eq!(counted.receiver, Span::from_millis(370));
}
