//! Which copy arrived? One segment of 1000 bytes, copies at given milliseconds, a round trip of 40 ms.

use super::*;
use crate::stream::ledger::multi_copy::MultiCopies;

struct Case {
    repairs: ResentCopies,
    seg: Entry,
    of: MultiCopy,
    conditions: Conditions,
    known: Option<u32>,
    copies: u64,
}

fn ms(t: i64) -> Time {
    Time(t * 1_000_000)
}

impl Case {
    /// Copies sent at `times`, each with its time as its timestamp; `heard` packets had come back by then.
    fn sent(times: &[(i64, u32)]) -> Case {
        let (mut repairs, mut all) = (ResentCopies::default(), MultiCopies::default());
        let mut seg = Entry::new(0, 1000, ms(times[0].0), times[0].0 as u32 + 1, 0);
        for (ordinal, &(t, heard)) in (1..).zip(&times[1..]) {
            let (time, ts) = (ms(t), t as u32 + 1);
            all.add_copy(&mut seg, ordinal, time);
            seg.sent_again(time, ts);
            repairs.push(ordinal, Copy { time, ts, heard, len: 1000, ..Copy::default() });
        }
        let of = seg.kept().and_then(|at| all.take(at)).expect("it was sent again");
        assert!(of.later.iter().eq(&(1..times.len() as u64).collect::<Vec<_>>()));
        let conditions =
            Conditions { at: Vantage::Sender, forth_and_back: Span::from_millis(40), dsack_seen: true };
        Case { repairs, seg, of, conditions, known: None, copies: times.len() as u64 }
    }
    fn acked(mut self, t: i64) -> Case {
        self.of.reported = ms(t);
        self
    }
    fn echoing(mut self, sent: i64) -> Case {
        self.of.echo = sent as u32 + 1;
        self
    }
    fn dsacked(mut self, t: i64) -> Case {
        self.of.note_dsack(ms(t));
        self
    }
    /// For each copy: lost?
    fn lost(mut self) -> Vec<bool> {
        let first = self.of.settle(&self.seg, self.known, &mut self.repairs, &self.conditions);
        let repaired = (1..self.copies).map(|o| self.repairs.get(o).is_some_and(|r| r.copy.lost > 0));
        std::iter::once(first).chain(repaired).collect()
    }
    fn needless(mut self) -> Vec<Needless> {
        self.of.settle(&self.seg, self.known, &mut self.repairs, &self.conditions);
        (1..self.copies).filter_map(|o| self.repairs.get(o).map(|r| r.resend.needless)).collect()
    }
}

#[test]
fn an_ack_a_round_trip_after_the_repair_says_that_the_original_was_lost() {
    let case = || Case::sent(&[(0, 0), (50, 3)]).acked(91);
    assert_eq!(case().lost(), [true, false]);
    assert_eq!(case().needless(), [Needless::No]);
}

#[test]
fn an_ack_right_after_the_repair_can_only_be_the_original_s() {
    let case = || Case::sent(&[(0, 0), (50, 3)]).acked(55);
    assert_eq!(case().needless(), [Needless::Yes(Proof::EarlyAck)]);
}

#[test]
fn an_ack_a_little_sooner_than_any_round_trip_after_the_repair_is_the_original_s() {
    // RFC 8985 §6.2; without SACK, go-back-N sends again what had arrived, just before the hole below it is closed.
    assert_eq!(Case::sent(&[(0, 0), (50, 3)]).acked(88).lost(), [false, true]);
}

#[test]
fn an_old_timestamp_in_the_ack_names_the_original() {
    // Eifel detection, RFC 3522
    let case = || Case::sent(&[(0, 0), (50, 3)]).acked(95).echoing(0);
    assert!(!case().lost()[0]);
    assert_eq!(case().needless(), [Needless::Yes(Proof::Timestamps)]);
}

#[test]
fn a_dsack_says_that_both_arrived() {
    // RFC 2883 §4; paper `interruption`, Fig. 10 (c): the original had arrived, its ACK was lost
    let case = || Case::sent(&[(0, 0), (300, 3)]).acked(341).dsacked(341);
    assert_eq!(case().lost(), [false, false]);
    assert_eq!(case().needless(), [Needless::Yes(Proof::Dsack)]);
}

#[test]
fn of_four_attempts_in_the_dark_the_last_arrived() {
    let case = || Case::sent(&[(0, 0), (300, 0), (900, 0), (2100, 0)]).acked(2141);
    assert_eq!(case().lost(), [true, true, true, false]);
    assert_eq!(case().needless(), [Needless::No, Needless::No, Needless::No]);
}

#[test]
fn with_a_dsack_besides_two_of_four_attempts_in_the_dark_were_lost() {
    let case = || Case::sent(&[(0, 0), (300, 0), (900, 0), (2100, 0)]).acked(2141).dsacked(2141);
    assert_eq!(case().lost().iter().filter(|l| **l).count(), 2);
}

#[test]
fn what_a_second_capture_knows_stands() {
    let mut case = Case::sent(&[(0, 0), (50, 3)]).acked(95);
    case.known = Some(0);
    case.repairs.get_mut(1).expect("it was sent").copy.know(Some(1000));
    assert_eq!(case.lost(), [false, true]);
}

#[test]
fn where_the_answer_to_the_first_copy_was_lost_that_to_the_second_was_too() {
    // RFC 3522: the echo is the first copy's, and what came is the answer to the last (RFC 5681 §4.2).
    let mut case = Case::sent(&[(0, 0), (1000, 0), (3000, 0)]).acked(3041).echoing(0);
    case.of.answers = Answers::OfLast;
    assert_eq!(case.lost(), [false, false, false]);
}
