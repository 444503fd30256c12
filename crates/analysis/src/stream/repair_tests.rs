//! Stories of senders, told in milliseconds: segments of 1000 bytes, a round trip of 40 ms.

use super::*;

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

#[path = "repair_era_tests.rs"]
mod era;
#[path = "repair_remote_tests.rs"]
mod remote_state;
#[path = "repair_late_acks_tests.rs"]
mod unheard;
