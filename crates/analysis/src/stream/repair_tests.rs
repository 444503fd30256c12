//! Stories of senders, told in milliseconds: segments of 1000 bytes, a round trip of 40 ms.

use super::*;
use crate::rows::Evidence;

const SRTT_MS: i64 = 40;

struct Sender {
    model: SenderModel,
    next: u64,
    una: u64,
    sack: bool,
    /// Seen from the sender's side.
    near: bool,
    /// Of the next repair: the copy before it was not seen; packets missing right before it.
    unseen: bool,
    missing: Option<u32>,
    timestamps: bool,
    /// What it sent after the next repair came before that.
    overtaken: bool,
    untold: bool,
    /// What RACK waits for left then, last.
    last_before: Option<i64>,
    timing: PathTiming,
}

fn ms(t: i64) -> Time {
    Time(t * 1_000_000)
}

fn timing() -> PathTiming {
    PathTiming {
        tolerance: Span::from_millis(4),
        srtt: Span::from_millis(SRTT_MS),
        least: Span::from_millis(SRTT_MS),
        rto: Span::from_millis(SRTT_MS + 200),
        judged_from: JudgedFrom::AtSender(AtSender { grain: Span::ZERO }),
    }
}

impl Sender {
    /// Has sent `n` segments by time 0.
    fn with_in_flight(n: u64) -> Sender {
        let mut model = SenderModel::default();
        model.start(0);
        for k in 0..n {
            model.on_new_data(ms(0), k, true, ms(0), &timing());
        }
        let next = n * 1000;
        Sender {
            model,
            next,
            una: 0,
            sack: true,
            near: true,
            unseen: false,
            missing: None,
            timestamps: true,
            overtaken: false,
            untold: false,
            last_before: None,
            timing: timing(),
        }
    }
    fn without_sack(mut self) -> Sender {
        self.sack = false;
        self
    }
    /// Seen from where its data arrives.
    fn seen_remotely(mut self) -> Sender {
        self.near = false;
        self
    }
    fn sends_new(&mut self, t: i64) -> bool {
        self.sends_new_behind(t, t)
    }
    /// While the first segment that is not acknowledged left at `head`.
    fn sends_new_behind(&mut self, t: i64, head: i64) -> bool {
        let probe = self.model.on_new_data(ms(t), self.next - self.una, self.sack, ms(head), &timing());
        self.next += 1000;
        probe
    }
    fn ack(&mut self, t: i64, segment: u64) {
        let ack = segment * 1000;
        let news =
            AckEvent { ack, advanced: ack - self.una, advanced_new: ack - self.una, ..AckEvent::default() };
        self.una = ack;
        self.deliver(t, news);
    }
    /// An ACK that moves over data sent only once, up to `segment`.
    fn ack_of_originals(&mut self, t: i64, segment: u64) {
        let ack = segment * 1000;
        let news =
            AckEvent { ack, advanced: ack - self.una, original_end: self.una + 1000, ..AckEvent::default() };
        self.una = ack;
        self.deliver(t, news);
    }
    /// A duplicate ACK that SACKs one segment more; it had been sent at `sent`.
    fn sack(&mut self, t: i64, end: u64, sent: i64) {
        let news = AckEvent {
            ack: self.una,
            sacked: 1000,
            duplicate: true,
            original_end: end * 1000,
            newest_delivered: ms(sent),
            ..AckEvent::default()
        };
        self.deliver(t, news);
    }
    /// The same of a sender that times what is SACKed (RFC 8985 §6.2).
    fn sack_timed(&mut self, t: i64, end: u64, sent: i64) {
        self.model.note_rack((ms(sent), end * 1000), ms(t) - ms(sent));
        self.sack(t, end, sent);
    }
    fn duplicate(&mut self, t: i64) {
        self.deliver(t, AckEvent { ack: self.una, duplicate: true, ..AckEvent::default() });
    }
    fn deliver(&mut self, t: i64, news: AckEvent) {
        self.model.on_ack(&AckEvent { time: ms(t), ..news }, ms(t), self.next);
    }
    /// Sends a segment again that was sent at `previous`.
    fn resends(&mut self, t: i64, segment: u64, previous: i64, again: bool) -> Verdict {
        let attempt = RetransmittedSegment {
            now: ms(t),
            head: segment * 1000 <= self.una,
            tail: segment * 1000 + 1000 >= self.next,
            start: segment * 1000,
            end: segment * 1000 + 1000,
            acknowledged: segment * 1000 + 1000 <= self.una,
            previous: ms(previous),
            previous_was_resend: again,
            untold: self.untold,
            sacked_above: self.sack,
            sack_permitted: self.sack,
            unseen: self.unseen,
            missing: self.missing,
            duplicates_in_flight: 0,
            acks_seen: true,
            next: self.next,
            ts: if self.timestamps { t as u32 } else { 0 },
            one_segment: true,
            seen: ms(t),
            overtaken: self.overtaken,
            last_before: self.last_before.map_or(Time::FAR_PAST, ms),
            reordering: Span::from_millis(SRTT_MS / 4),
        };
        let timing = self.timing;
        self.model.explain(
            &attempt,
            &PathTiming {
                judged_from: if self.near { timing.judged_from } else { JudgedFrom::Remote(Remote) },
                ..timing
            },
        )
    }
}

#[test]
fn the_first_sack_after_an_outage_sets_off_recovery_without_a_timeout() {
    // Paper `interruption`, Fig. 9: one retransmission for each ACK that comes back.
    let mut s = Sender::with_in_flight(100);
    s.sack(250, 99, 205);
    let v = s.resends(250, 0, 0, false);
    assert_eq!((v.cause, v.evidence, v.trigger), (Cause::Recovery, Evidence::Sack, Trigger::Ack));
    s.sack(251, 100, 206);
    assert_eq!(s.resends(251, 1, 0, false).cause, Cause::Recovery);
}

#[test]
fn a_silence_of_a_timer_s_length_ends_in_a_timeout() {
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 9, 0);
    let v = s.resends(290, 0, 0, false);
    assert_eq!((v.cause, v.trigger, v.backoff), (Cause::Timeout, Trigger::TimerRto, 0));
    // RFC 6298 §5.5: again, twice as long after
    let v = s.resends(770, 0, 290, true);
    assert_eq!((v.cause, v.backoff), (Cause::Timeout, 1));
}

#[test]
fn after_a_real_timeout_what_is_sent_again_is_slow_start() {
    let mut s = Sender::with_in_flight(10).without_sack();
    assert_eq!(s.resends(260, 0, 0, false).cause, Cause::Timeout);
    s.ack(300, 1);
    assert_eq!(s.resends(300, 1, 0, false).cause, Cause::LossState);
    assert_eq!(s.resends(300, 2, 0, false).cause, Cause::LossState);
    // ... until everything that was in flight then is acknowledged
    s.ack(340, 10);
    s.sends_new(340);
    s.duplicate(380);
    assert_eq!(s.resends(380, 10, 340, false).cause, Cause::Recovery);
}

#[test]
fn a_timeout_that_proves_needless_leaves_the_loss_state() {
    // Paper `interruption`, Fig. 10 (b) to (f), and RFC 5682 §3.1: two new segments, then SACK repairs the rest.
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack_of_originals(341, 2);
    s.deliver(341, AckEvent { ack: 2000, dsack: true, ..AckEvent::default() });
    s.sends_new(341);
    s.sends_new(341);
    s.sack(382, 61, 341);
    let v = s.resends(382, 2, 0, false);
    assert_eq!((v.cause, v.trigger), (Cause::Recovery, Trigger::Ack));
}

#[test]
fn new_data_that_tests_a_timeout_and_meets_a_duplicate_ack_shows_that_it_was_needed() {
    // RFC 5682 §2.1 step 3a: no DSACK spoke of the timer's copy, and one SACK alone tells no loss (RFC 6675 §5).
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack_of_originals(341, 2);
    s.sends_new(341);
    s.sends_new(341);
    s.sack(382, 61, 341);
    assert_eq!(s.resends(382, 2, 0, false).cause, Cause::LossState);
}

#[test]
fn three_duplicate_acks_in_slow_start_are_answered_where_its_repairs_did_not_arrive() {
    // Away from the sender the second segment's repair is not seen; slow start had passed it. RFC 6582 §4.2.
    let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack(340, 1);
    assert_eq!(s.resends(341, 2, 0, false).cause, Cause::LossState);
    assert_eq!(s.resends(342, 3, 0, false).cause, Cause::LossState);
    (380..383).for_each(|t| s.duplicate(t));
    assert_eq!(s.resends(384, 1, 0, false).cause, Cause::Recovery);
}

#[test]
fn a_timer_that_doubles_has_fired_before() {
    // RFC 6298 §5.5: after 240 ms, and 480 ms later. A second alone is the floor of §2.4.
    let s = Sender::with_in_flight(10);
    assert_eq!(s.model.attempts_by(ms(260), ms(0), &timing()), 0);
    assert_eq!(s.model.attempts_by(ms(800), ms(0), &timing()), 1);
    assert_eq!(s.model.attempts_by(ms(1000), ms(0), &timing()), 0);
}

#[test]
fn an_ack_that_echoes_an_earlier_repair_does_not_excuse_the_timeout() {
    // RFC 3522 §3.2: the clock to compare with is that of the retransmission which began the repair.
    let mut s = Sender::with_in_flight(20);
    s.sack(40, 19, 0);
    assert_eq!(s.resends(42, 0, 0, false).cause, Cause::Recovery);
    assert_eq!(s.resends(400, 0, 42, true).cause, Cause::Timeout);
    s.una = 5000;
    s.deliver(440, AckEvent { ack: 5000, advanced: 5000, ecr: Some(45), ..AckEvent::default() });
    assert_eq!(s.resends(440, 5, 0, false).cause, Cause::LossState);
}

#[test]
fn a_duplicate_ack_for_new_data_proves_the_loss() {
    // RFC 5682 §3.1 step 3a
    let mut s = Sender::with_in_flight(60).without_sack();
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack(341, 1);
    s.sends_new(341);
    s.sends_new(341);
    s.duplicate(382);
    assert_eq!(s.resends(382, 1, 0, false).cause, Cause::LossState);
}

#[test]
fn the_last_segment_again_after_two_round_trips_is_a_probe() {
    // RFC 8985 §7.2: PTO = 2 SRTT
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    let v = s.resends(130, 9, 0, false);
    assert_eq!((v.cause, v.trigger), (Cause::Probe, Trigger::TimerProbe));
    // A second one without progress is none: then the timer fires, on the first segment.
    assert_eq!(s.resends(400, 5, 0, false).cause, Cause::Timeout);
}

#[test]
fn new_data_after_two_silent_round_trips_is_a_probe_and_behind_an_ack_it_is_not() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    assert!(!s.sends_new(41));
    assert!(s.sends_new(135));
    s.ack(180, 6);
    assert!(!s.sends_new(180));
}

#[test]
fn a_repair_a_few_milliseconds_after_the_sack_is_the_reordering_timer_s() {
    // RFC 8985 §6.2: the timer of RACK, a quarter of a round trip
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 9, 0);
    let v = s.resends(50, 0, 0, false);
    assert_eq!((v.cause, v.evidence, v.trigger), (Cause::Recovery, Evidence::Time, Trigger::Ack));
}

#[test]
fn a_repair_sent_again_while_old_duplicates_trickle_in_is_a_timeout() {
    // Nothing sent after the lost repair has arrived, so no ACK can have told of its loss (RFC 8985 §5).
    let mut s = Sender::with_in_flight(40).without_sack();
    for t in [40, 41, 42] {
        s.duplicate(t);
    }
    assert_eq!(s.resends(42, 0, 0, false).cause, Cause::Recovery);
    for t in (50..290).step_by(3) {
        s.duplicate(t);
    }
    assert_eq!(s.resends(290, 0, 42, true).cause, Cause::Timeout);
}

#[test]
fn a_repair_lost_again_after_the_timeout_is_found_by_acks() {
    // RFC 8985 §6.2: RACK, on data sent after that repair
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack(341, 1);
    assert_eq!(s.resends(341, 1, 0, false).cause, Cause::LossState);
    assert_eq!(s.resends(341, 2, 0, false).cause, Cause::LossState);
    s.sack(383, 3, 341);
    assert_eq!(s.resends(384, 1, 341, true).cause, Cause::Recovery);
}

#[test]
fn acks_lost_on_their_way_are_told_by_the_next_that_is_heard() {
    // The timer repeats the first segment, so the ACKs of all ten were lost. The next is no duplicate to the sender,
    // and what follows it is slow start (RFC 5681 §3.1).
    let mut s = Sender::with_in_flight(20).without_sack().seen_remotely();
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.model.on_lost_ack(&AckEvent { ack: 10_000, advanced_new: 10_000, ..AckEvent::default() });
    assert!(s.model.has_lost_acks());
    s.deliver(340, AckEvent { ack: 10_000, duplicate: true, ..AckEvent::default() });
    assert_eq!((s.model.una(), s.model.has_lost_acks()), (10_000, false));
    assert_eq!(s.resends(340, 10, 0, false).cause, Cause::LossState);
}

#[path = "repair_clock_tests.rs"]
mod clocks;
#[path = "repair_era_tests.rs"]
mod era;
#[path = "repair_probe_tests.rs"]
mod probes;
#[path = "repair_remote_tests.rs"]
mod remote_state;
#[path = "repair_timer_tests.rs"]
mod timers;
#[path = "repair_late_acks_tests.rs"]
mod unheard;
