//! Senders that are seen to send, each as a timeline: which cause each retransmission gets, and which packets are probes.
//! Times are in milliseconds since the flight in question left; a round trip takes 40 ms, and so the RTO is 240 ms.

mod story;

use analysis::rows::{Cause, Evidence, RetransmissionRow, Trigger, Vantage};
use story::{MSS, Story};

/// With timestamps it fills a segment.
const SIZE: u32 = 988;
/// Segments before the flight in question, and the time at which it leaves.
const BEFORE: u32 = 6;
const BEGIN: u64 = 140;

fn seq(k: u32) -> u32 {
    1 + (BEFORE + k) * SIZE
}

struct Sender {
    story: Story,
    una: u32,
    next: u32,
    blocks: Vec<(u32, u32)>,
    /// When each segment left last, and what the last ACK that moved on echoed.
    left: Vec<u64>,
    echo: u64,
}

impl Sender {
    /// Opens with flights of two and of four segments, and has sent `n` more by time 0.
    fn with_in_flight(n: u32) -> Sender {
        Sender::opens(Story::from(Vantage::Sender).sack_permitted().stamped(), n)
    }
    /// Its SYN offers as many segments as 16 bits hold, as Linux does since 4.20.
    fn recent(n: u32) -> Sender {
        let window = u32::from(u16::MAX) / 1000 * 1000;
        Sender::opens(Story::from(Vantage::Sender).sack_permitted().stamped().offers(window as u16), n)
    }
    fn without_sack(n: u32) -> Sender {
        Sender::opens(Story::from(Vantage::Sender).stamped(), n)
    }
    fn opens(t: Story, n: u32) -> Sender {
        let mut t = t.handshake(40);
        for (flight, at) in [(0..2, 60), (2..6, 100)] {
            t = t.at(at);
            for k in flight.clone() {
                t = t.data(1 + k * SIZE, SIZE);
            }
            t = t.at(at + 40).ack(1 + flight.end * SIZE).echoing(at as u32);
        }
        let mut s = Sender { story: t, una: 0, next: 0, blocks: Vec::new(), left: Vec::new(), echo: 100 };
        (0..n).for_each(|_| s.put_new(0));
        s
    }
    fn step(&mut self, t: u64, by: impl FnOnce(Story) -> Story) {
        let story = std::mem::replace(&mut self.story, Story::from(Vantage::Sender));
        // A clock that shows nothing but tens of milliseconds would be taken for one that ticks as coarsely.
        let us = (BEGIN + t) * 1000 + story.packets().len() as u64 % 50;
        self.story = by(story.at_us(us));
    }
    fn put_new(&mut self, t: u64) {
        let k = self.next;
        self.step(t, |s| s.data(seq(k), SIZE));
        self.next += 1;
        self.left.push(BEGIN + t);
    }
    /// Sends new data; true if that was a probe.
    fn sends_new(&mut self, t: u64) -> bool {
        let probes = |s: &Story| s.clone().ends().flow.probes_new_data;
        let before = probes(&self.story);
        self.put_new(t);
        probes(&self.story) > before
    }
    fn ack(&mut self, t: u64, k: u32) {
        self.echo = self.left[self.una as usize];
        self.una = k;
        self.blocks.retain(|b| b.1 > k);
        self.answer(t, None);
    }
    /// A duplicate ACK that SACKs segment `k`.
    fn sack(&mut self, t: u64, k: u32) {
        let (mut from, mut to) = (k, k + 1);
        self.blocks.retain(|b| {
            let apart = b.1 < from || b.0 > to;
            if !apart {
                (from, to) = (from.min(b.0), to.max(b.1));
            }
            apart
        });
        self.blocks.insert(0, (from, to));
        self.answer(t, None);
    }
    fn duplicate(&mut self, t: u64) {
        self.answer(t, None);
    }
    /// An ACK up to `k` that reports a second arrival of segment `twice`.
    fn dsack(&mut self, t: u64, k: u32, twice: u32) {
        self.echo = BEGIN;
        self.una = k;
        self.answer(t, Some((twice, twice + 1)));
    }
    fn answer(&mut self, t: u64, dsack: Option<(u32, u32)>) {
        let blocks: Vec<_> = dsack
            .into_iter()
            .chain(self.blocks.iter().copied())
            .take(3)
            .map(|(a, b)| (seq(a), seq(b)))
            .collect();
        let (una, echo) = (seq(self.una), self.echo as u32);
        self.step(t, |s| s.sack(una, &blocks).echoing(echo));
    }
    /// Sends segment `k` again.
    fn resends(&mut self, t: u64, k: u32) -> RetransmissionRow {
        self.step(t, |s| s.data(seq(k), SIZE));
        self.left[k as usize] = BEGIN + t;
        let (rows, packet) =
            (self.story.clone().ends().rows.retransmissions, self.story.packets().len() as u64);
        let row = rows.into_iter().rfind(|r| r.packet == packet);
        row.unwrap_or_else(|| panic!("segment {k} at {t} ms is no retransmission"))
    }
    fn cause(&mut self, t: u64, k: u32) -> Cause {
        self.resends(t, k).cause
    }
}

#[test]
fn the_first_sack_after_an_outage_starts_recovery_without_a_timeout() {
    // Paper `interruption`, Fig. 9: one retransmission for each ACK that comes back.
    let mut s = Sender::with_in_flight(100);
    s.sack(250, 98);
    let r = s.resends(250, 0);
    assert_eq!((r.cause, r.evidence, r.trigger), (Cause::Recovery, Evidence::Sack, Trigger::Ack));
    s.sack(251, 99);
    assert_eq!(s.cause(251, 1), Cause::Recovery);
}

#[test]
fn a_silence_as_long_as_the_rto_ends_in_a_timeout() {
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 8);
    let r = s.resends(290, 0);
    assert_eq!((r.cause, r.trigger, r.backoff), (Cause::Timeout, Trigger::TimerRto, 0));
    // RFC 6298 §5.5: again, twice as long after
    let r = s.resends(770, 0);
    assert_eq!((r.cause, r.backoff), (Cause::Timeout, 1));
}

#[test]
fn after_a_timeout_slow_start_repeats_what_was_in_flight() {
    let mut s = Sender::without_sack(10);
    assert_eq!(s.cause(260, 0), Cause::Timeout);
    s.ack(300, 1);
    assert_eq!(s.cause(300, 1), Cause::LossState);
    assert_eq!(s.cause(300, 2), Cause::LossState);
    // ... until everything that was in flight then is acknowledged
    s.ack(340, 10);
    s.sends_new(340);
    s.duplicate(380);
    assert_eq!(s.cause(380, 10), Cause::Recovery);
}

#[test]
fn a_spurious_timeout_ends_the_loss_state() {
    // Paper `interruption`, Fig. 10 (b) to (f), and RFC 5682 §3.1: two new segments, then SACK repairs the rest.
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.ack(341, 2);
    s.dsack(341, 2, 0);
    s.sends_new(341);
    s.sends_new(341);
    s.sack(382, 60);
    let r = s.resends(382, 2);
    assert_eq!((r.cause, r.trigger), (Cause::Recovery, Trigger::Ack));
}

#[test]
fn an_ack_that_echoes_an_earlier_repair_does_not_make_a_timeout_spurious() {
    // RFC 3522 §3.2: the clock to compare with is that of the retransmission which began the repair.
    let mut s = Sender::with_in_flight(20);
    s.sack(40, 18);
    assert_eq!(s.cause(42, 0), Cause::Recovery);
    assert_eq!(s.cause(400, 0), Cause::Timeout);
    s.left[0] = BEGIN + 42;
    s.ack(440, 5);
    assert_eq!(s.cause(440, 5), Cause::LossState);
}

#[test]
fn a_duplicate_ack_for_new_data_proves_the_loss() {
    // RFC 5682 §3.1 step 3a
    let mut s = Sender::without_sack(60);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.ack(341, 1);
    s.sends_new(341);
    s.sends_new(341);
    s.duplicate(382);
    assert_eq!(s.cause(382, 1), Cause::LossState);
}

#[test]
fn the_last_segment_again_after_two_round_trips_is_a_probe() {
    // RFC 8985 §7.2: PTO = 2 SRTT
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    let r = s.resends(130, 9);
    assert_eq!((r.cause, r.trigger), (Cause::Probe, Trigger::TimerProbe));
    // A second one without progress is none: then the timer fires, on the first segment.
    assert_eq!(s.cause(400, 5), Cause::Timeout);
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
    s.sack(40, 8);
    let r = s.resends(50, 0);
    assert_eq!((r.cause, r.evidence, r.trigger), (Cause::Recovery, Evidence::Time, Trigger::Ack));
}

#[test]
fn a_repair_sent_again_while_old_duplicates_trickle_in_is_a_timeout() {
    // Nothing sent after the lost repair has arrived, so no ACK can have told of its loss (RFC 8985 §5).
    let mut s = Sender::without_sack(40);
    for t in [40, 41, 42] {
        s.duplicate(t);
    }
    assert_eq!(s.cause(42, 0), Cause::Recovery);
    for t in (50..290).step_by(3) {
        s.duplicate(t);
    }
    assert_eq!(s.cause(290, 0), Cause::Timeout);
}

#[test]
fn a_repair_lost_again_after_the_timeout_is_found_by_acks() {
    // RFC 8985 §6.2: RACK, on data sent after that repair
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.ack(341, 1);
    assert_eq!(s.cause(341, 1), Cause::LossState);
    assert_eq!(s.cause(341, 2), Cause::LossState);
    s.sack(383, 2);
    assert_eq!(s.cause(384, 1), Cause::Recovery);
}

#[test]
fn one_sack_of_new_data_that_tests_a_timeout_shows_that_it_was_needed() {
    // RFC 5682 §2.1 step 3a: no DSACK reports the timer's copy, and one SACK alone reports no loss (RFC 6675 §5).
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.left[0] = BEGIN;
    s.ack(341, 2);
    s.put_new(341);
    s.put_new(341);
    s.sack(382, 60);
    assert_eq!(s.cause(382, 2), Cause::LossState);
}

// ---- tail-loss probes (RFC 8985 §7)

#[test]
fn a_sender_that_paces_sends_at_its_own_pace_and_does_not_probe() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    // In silence, and sooner than a probe: no window held these back.
    assert!(!s.sends_new(90));
    s.ack(100, 7);
    assert!(!s.sends_new(145));
}

#[test]
fn no_second_probe_leaves_before_the_first_is_acknowledged() {
    // RFC 8985 §7.3: TLP.end_seq; an ACK of what left before the probe does not end that.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert!(s.sends_new(135));
    s.ack(160, 7);
    assert!(!s.sends_new(260));
    s.ack(300, 13);
    s.sends_new(300);
    s.sends_new(301);
    assert!(s.sends_new(470));
}

#[test]
fn a_timeout_without_a_probe_before_it_does_not_outweigh_probes() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert_eq!(s.cause(400, 5), Cause::Timeout);
    s.ack(440, 11);
    s.sends_new(440);
    s.sends_new(441);
    assert!(s.sends_new(540));
}

#[test]
fn a_single_segment_again_is_a_timeout_of_senders_that_have_not_shown_that_they_probe() {
    assert_eq!(Sender::with_in_flight(1).cause(245, 0), Cause::Timeout);
    assert_eq!(Sender::recent(1).cause(245, 0), Cause::Probe);
}

#[test]
fn the_first_probe_of_a_sender_is_likely_and_later_ones_are_known() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert!(s.sends_new(135));
    s.ack(180, 12);
    s.sends_new(180);
    s.sends_new(181);
    assert!(s.sends_new(280));
    let known: Vec<_> = s.story.ends().rows.probes.iter().map(|p| p.known).collect();
    assert_eq!(known, [false, true]);
}

#[test]
fn the_rto_of_a_segment_that_left_long_ago_makes_no_probe_due() {
    // Linux after a timeout that was undone: the last new segment of several left 11 ms after the others.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert_eq!(s.cause(300, 5), Cause::Timeout);
    s.ack(1300, 7);
    s.sends_new(1300);
    assert!(!s.sends_new(1311));
    // Else the probe leaves by then: 245 ms after the head did, 40 ms of silence.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.ack(205, 6);
    s.sends_new(205);
    assert!(s.sends_new(245));
}

#[test]
fn a_probe_leaves_when_the_rto_is_due_sooner() {
    // RFC 8985 §7.2: 2 SRTT and 200 ms for an ACK that is delayed, but no later than the RTO.
    assert_eq!(Sender::recent(1).cause(235, 0), Cause::Probe);
}

// ---- when a timer sent it, and when an ACK did

/// The fast retransmission at 52 ms is lost; new data goes on at each ACK, and is SACKed, up to `until`.
fn passed_over(until: u64) -> Sender {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 1);
    for (t, k) in [(50, 2), (51, 3), (52, 4)] {
        s.sack(t, k);
    }
    assert_eq!(s.cause(52, 1), Cause::Recovery);
    for (k, t) in (5..).zip((60..=until).step_by(10)) {
        s.sack(t, k);
        s.put_new(t);
    }
    s
}

#[test]
fn a_timer_may_fire_right_behind_an_ack_that_could_have_told_long_before() {
    // Every ACK since 100 ms told that it was lost (RFC 8985 §6.2); it left when the timer was due, at the last of them.
    assert_eq!(passed_over(290).cause(290, 1), Cause::Timeout);
}

#[test]
fn the_ack_that_tells_of_a_lost_repair_sets_the_next_off() {
    assert_eq!(passed_over(110).cause(110, 1), Cause::Recovery);
}

#[test]
fn a_sender_that_paces_repairs_at_its_own_pace_long_after_the_sack_that_told() {
    // One packet every 80 ms, none of them right behind an ACK; a timer would wait 240 ms, not 130.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    (1..=4).for_each(|k| s.put_new(40 + 80 * k));
    s.ack(370, 9);
    s.sack(420, 11);
    assert_eq!(s.cause(500, 9), Cause::Recovery);
}

#[test]
fn with_a_probe_pending_the_timer_runs_from_when_the_head_left() {
    // The ACK at 200 ms comes while Linux's probe timer runs: what is left of the first RTO is waited for, no new one.
    let mut s = Sender::recent(10);
    s.ack(200, 5);
    assert_eq!(s.cause(245, 5), Cause::Timeout);
}

#[test]
fn what_left_with_the_lost_repair_and_arrived_tells_of_its_loss() {
    // RFC 8985 §6.2: of two that left at one moment the later in the stream is the newer.
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 2);
    assert_eq!(s.cause(40, 0), Cause::Recovery);
    s.sends_new(40);
    s.sack(240, 10);
    assert_eq!(s.cause(240, 0), Cause::Recovery);
}

#[test]
fn a_repair_lost_again_leaves_when_what_left_later_told_of_it_and_the_pace_allows() {
    // RFC 8985 §6.2: new data left behind the first repair. The timer would wait 240 ms, not 120.
    let after = |delivered: u32, timed: bool| {
        let mut s = Sender::with_in_flight(10);
        s.sack(40, 2);
        assert_eq!(s.cause(40, 0), Cause::Recovery);
        if timed {
            // Not the first segment, and behind no ACK: no timer of old sent this.
            assert_eq!(s.cause(60, 1), Cause::Recovery);
        }
        s.sends_new(80);
        s.sack(140, delivered);
        s.cause(160, 0)
    };
    assert_eq!(after(10, true), Cause::Recovery);
    // Told by nothing, or of a sender that has shown no timer but one.
    assert_eq!(after(9, true), Cause::Timeout);
    assert_eq!(after(10, false), Cause::Timeout);
}

#[test]
fn the_reordering_timer_may_fire_when_the_rto_would_be_due() {
    // RFC 8985 §6.2: what left at 0 with the segment SACKed is lost after RACK.rtt and a quarter of the least round trip.
    let mut s = Sender::recent(10);
    s.sack(235, 1);
    assert_eq!(s.cause(247, 0), Cause::Recovery);
}

#[test]
fn a_paced_repair_leaves_when_the_pace_allows_and_the_timer_at_any_time() {
    // A packet every 40 ms, behind no ACK. The head left at 0, and what left at 80 ms tells of its loss.
    for (at, cause) in [(240, Cause::Recovery), (255, Cause::Timeout)] {
        let mut s = Sender::recent(1);
        for k in 1..=5 {
            s.sends_new(40 * k);
        }
        s.sack(225, 2);
        assert_eq!(s.cause(at, 0), cause, "at {at} ms");
    }
}

#[test]
fn before_the_rto_no_timer_repeats_what_was_told_of() {
    let mut s = Sender::recent(1);
    s.sends_new(20);
    s.sends_new(20);
    s.sack(150, 2);
    assert_eq!(s.cause(200, 0), Cause::Recovery);
}

#[test]
fn every_timeout_is_seen_where_the_timer_runs() {
    // 958 ms are two waits of a timer of 240 ms, and some; but no copy between was lost on its way here.
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 8);
    assert_eq!(s.cause(42, 0), Cause::Recovery);
    assert_eq!(s.cause(1000, 0), Cause::Timeout);
    s.sack(1010, 4);
    // RFC 5682 §2.1: the first timeout within a recovery leaves it to slow start.
    assert_eq!(s.cause(1010, 1), Cause::LossState);
}

#[test]
fn without_sack_a_repair_is_repeated_for_three_duplicate_acks_or_by_the_timer() {
    // RFC 6582 §3.2: a duplicate ACK that comes at the same moment has asked for nothing.
    let mut s = Sender::without_sack(20);
    (40..43).for_each(|t| s.duplicate(t));
    assert_eq!(s.cause(42, 0), Cause::Recovery);
    (89..101).for_each(|t| s.duplicate(t));
    assert_eq!(s.cause(100, 0), Cause::Timeout);
}

#[test]
fn in_slow_start_only_duplicate_acks_ask_for_the_first_segment_again() {
    // ns-3.20 goes on counting those from before the timeout: one more is the third.
    let mut s = Sender::without_sack(20);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.duplicate(345);
    assert_eq!(s.cause(345, 0), Cause::Recovery);
}

// ---- before and since RFC 6928

#[test]
fn a_sender_since_rfc_6928_believes_a_dsack_at_once() {
    // Linux 3.10 and later: RFC 5682 §3.1 without the second ACK, and RFC 3708.
    let after = |s: &mut Sender| {
        assert_eq!(s.cause(300, 0), Cause::Timeout);
        s.dsack(340, 2, 0);
        s.sends_new(340);
        s.sack(380, 10);
        s.cause(380, 2)
    };
    let bare = || Story::from(Vantage::Sender).sack_permitted();
    assert_eq!(after(&mut Sender::opens(bare(), 10)), Cause::LossState);
    assert_eq!(after(&mut Sender::opens(bare().offers(65_000), 10)), Cause::Recovery);
}

#[test]
fn a_sender_since_rfc_6928_knows_on_the_same_ack_what_else_was_lost() {
    // The timer's second copy is acknowledged, and with it data sent once; more of that is SACKed.
    for (recent, cause) in [(false, Cause::LossState), (true, Cause::Recovery)] {
        let mut s = if recent { Sender::recent(10) } else { Sender::with_in_flight(10) };
        s.sack(40, 8);
        assert_eq!(s.cause(300, 0), Cause::Timeout);
        assert_eq!(s.cause(800, 0), Cause::Timeout);
        s.ack(840, 2);
        assert_eq!(s.cause(840, 2), cause, "recent: {recent}");
    }
}

#[test]
fn an_ack_of_slow_start_does_not_make_the_next_timeout_spurious() {
    // RFC 3522 §3.2, and Linux's retrans_stamp: the clock to compare with is that of the retransmission which began the
    // repair, though the cumulative ACK has moved since.
    let mut s = Sender::recent(20);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.ack(340, 1);
    assert_eq!(s.cause(340, 1), Cause::LossState);
    assert_eq!(s.cause(700, 1), Cause::Timeout);
    s.left[1] = BEGIN + 340;
    s.ack(740, 5);
    assert_eq!(s.cause(740, 5), Cause::LossState);
}

#[test]
fn two_new_segments_test_a_timeout_and_more_are_a_window_restored() {
    // RFC 5682 §3.1 step 2b: at most two. The DSACK comes on the ACK that moves: the timer's copy was not needed.
    for (new, cause) in [(2, Cause::LossState), (3, Cause::Recovery)] {
        let mut s = Sender::with_in_flight(60);
        assert_eq!(s.cause(300, 0), Cause::Timeout);
        s.dsack(340, 1, 0);
        (0..new).for_each(|_| s.put_new(340));
        s.sack(381, 60);
        assert_eq!(s.cause(381, 1), cause, "{new} new segments");
    }
}

#[test]
fn an_initial_window_tells_how_old_a_sender_is() {
    // RFC 3390 §1: four segments of 1000 bytes; RFC 6928 §2: ten. Only who is recent probes for a single segment.
    for (segments, cause) in [(4, Cause::Timeout), (10, Cause::Probe)] {
        let mut t = Story::from(Vantage::Sender).sack_permitted().handshake(40).at(60);
        for k in 0..segments {
            t = t.data(1 + k * MSS, MSS);
        }
        t = t.at(100).ack(1 + segments * MSS).at_us(140_010).data(1 + segments * MSS, MSS);
        let told = t.at_us(385_020).data(1 + segments * MSS, MSS).ends();
        assert_eq!(told.rows.retransmissions[0].cause, cause, "{segments} segments");
    }
}

#[test]
fn a_syn_ack_that_comes_again_starts_no_timer() {
    let mut t = Story::from(Vantage::Sender).handshake(40).at_us(50_010);
    for k in 0..4 {
        t = t.data(1 + k * MSS, MSS);
    }
    let told = t.at_us(250_020).syn_ack().at_us(295_030).data(1, MSS).ends();
    // The first row is that of the SYN-ACK.
    let repairs: Vec<_> = told.rows.retransmissions.iter().map(|r| r.cause).collect();
    assert_eq!(repairs, [Cause::Handshake, Cause::Timeout]);
}

#[test]
fn in_silence_only_a_timer_repeats_what_nothing_reported_lost() {
    // The RTO is not known well: one long round trip was all that was measured.
    let mut t = Story::from(Vantage::Sender).handshake(600).at_us(610_010);
    for k in 0..4 {
        t = t.data(1 + k * MSS, MSS);
    }
    let told = t.at_us(1_010_020).data(1, MSS).ends();
    assert_eq!(told.rows.retransmissions[0].cause, Cause::Timeout);
}

// ---- seen where data arrives: a copy that was lost on its way is not seen

impl Sender {
    fn arriving(n: u32) -> Sender {
        let mut s = Sender::opens(Story::from(Vantage::Receiver).stamped(), 0);
        s.lose(0);
        (1..n).for_each(|_| s.put_new(0));
        s
    }
    fn lose(&mut self, t: u64) {
        self.next += 1;
        self.left.push(BEGIN + t);
    }
}

#[test]
fn a_partial_ack_asks_for_a_repair_as_late_as_a_full_queue_makes_it() {
    // RFC 6582 §3.2 step 5. The queue holds up both repairs, for longer than the shortest timer waits.
    let mut s = Sender::arriving(5);
    s.lose(0);
    (0..4).for_each(|_| s.put_new(0));
    (0..8).for_each(|_| s.duplicate(0));
    assert_eq!(s.cause(180, 0), Cause::Recovery);
    s.ack(180, 5);
    assert_eq!(s.cause(360, 5), Cause::Recovery);
}

#[test]
fn a_repair_that_was_overtaken_is_no_timers() {
    // RFC 6582 §3.2: partial ACKs ask upwards.
    let mut s = Sender::arriving(20);
    (0..3).for_each(|_| s.duplicate(0));
    assert_eq!(s.cause(80, 0), Cause::Recovery);
    s.ack(81, 12);
    assert_eq!(s.cause(121, 5), Cause::Recovery);
    assert_eq!(s.cause(140, 7), Cause::Recovery);
    assert_eq!(s.cause(150, 6), Cause::Timeout);
}
