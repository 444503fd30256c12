//! Data passes: new, sent again, or out of its order.

use super::board::{Ordinal, Sent};
use super::episode::RepairSeen;
use super::idle::{Gap, threshold};
use super::ledger::Resend;
use super::repair::{Attempt, Verdict};
use super::*;
use crate::Fate;
use wire::Flags;

/// A data packet, placed in its stream.
#[derive(Clone, Copy)]
struct Piece<'a> {
    packet: &'a Packet,
    start: u64,
    end: u64,
    fate: Fate,
    ts: u32,
}

/// Neither a timer nor a gap is shorter than this.
const SHORTEST_WAIT: Span = Span::from_millis(2);

/// How often a timer that starts at `rto` and doubles has fired within `waited`, not counting the last time.
fn expiries_in(waited: Span, rto: Span) -> u32 {
    let ratio = waited.as_secs() / rto.as_secs().max(1e-3);
    ((ratio + 1.3).log2().floor().max(1.0) as u32) - 1
}

impl Stream {
    /// A packet with payload or FIN passes.
    pub fn on_data<S: Sink>(&mut self, packet: &Packet, fate: Fate, around: &mut Surroundings<'_, S>) {
        let seg = &packet.seg;
        let mut start = self.place(seg.seq);
        if seg.flags.has(Flags::SYN) {
            start += 1; // data on a SYN (RFC 7413) follows it
        }
        let end = start + u64::from(seg.payload) + u64::from(seg.flags.has(Flags::FIN));
        let piece = Piece { packet, start, end, fate, ts: seg.timestamps.map_or(0, |t| t.val) };
        self.last_time = packet.time;
        self.hear_acks(packet, around);
        if self.is_probe_of_the_window(&piece) || self.is_keep_alive(&piece) {
            return;
        }
        if start < self.next && self.is_captured_twice(&piece) {
            return;
        }
        self.count(packet);
        self.ids.note(packet.ip_id, self.segments(seg.payload));
        if self.ids.skipped > 0 {
            // A timer's own attempts that were lost are missing too, but were no data of their own.
            let attempts = expiries_in(around.view.sent - self.last_sent, self.pace(&around.view).rto);
            self.ids.accounted_for(u64::from(attempts.min(self.ids.owed.saturating_sub(1))));
        }
        self.unseen_tail(&piece, around);
        let class =
            if start >= self.next { self.new_data(&piece, around) } else { self.old_data(&piece, around) };
        self.note_interval(&piece, class.0 == PacketClass::Ordinary, around);
        self.note_packet(&piece, class, around);
        self.last_data = Some(packet.time);
        self.last_sent = around.view.sent;
        self.last_pushed = seg.flags.has(Flags::PSH.with(Flags::FIN));
        self.last_payload = seg.payload;
        self.flight_max = self.flight_max.max(self.flight());
        if self.ledger.is_some() {
            self.advance(packet.time, around);
        }
    }

    fn place(&mut self, seq: Seq) -> u64 {
        match &mut self.unwrap {
            Some(u) => u.offset(seq),
            None => {
                // Begun before the capture: the first byte seen is byte 1.
                let mut unwrap = Unwrapper::new(seq);
                let at = unwrap.offset(seq);
                self.base = at - 1;
                self.limits.mid_stream = true;
                self.start_at(unwrap, at);
                at
            }
        }
    }

    fn count(&mut self, packet: &Packet) {
        let seg = &packet.seg;
        if seg.payload == 0 {
            return; // a bare FIN is no data
        }
        self.counts.packets += 1;
        self.counts.bytes += u64::from(seg.payload);
        if self.first_data.is_none() {
            self.first_data = Some(packet.time);
        }
        self.limits.largest_payload = self.limits.largest_payload.max(seg.payload);
        self.counts.segments += u64::from(self.segments(seg.payload));
        self.limits.super_packets += u64::from(seg.payload > self.mss);
    }

    /// ACKs that the sender had heard when it sent this packet: those up to the timestamp that it echoes, or
    /// those that have had the time.
    fn hear_acks<S: Sink>(&mut self, packet: &Packet, around: &Surroundings<'_, S>) {
        let by = around.view.sent - around.view.turn.scale(0.95);
        let echo = packet.seg.timestamps.map(|t| t.ecr);
        while let Some(ack) = self.on_the_way.front() {
            let heard = match (ack.ts, echo) {
                (Some(ts), Some(echo)) => (ts.wrapping_sub(echo) as i32) <= 0,
                _ => ack.time <= by,
            };
            if !heard {
                return;
            }
            if let Some(news) = self.on_the_way.pop_front() {
                self.repair.on_ack(&news, news.time + around.view.turn, self.next);
            }
        }
    }

    /// One byte or none from below the window's edge, while the window is shut (RFC 9293 §3.8.6.1).
    fn is_probe_of_the_window(&mut self, p: &Piece) -> bool {
        let probe = self.window.now == 0 && p.packet.seg.payload <= 1 && p.end <= self.next + 1;
        let repeats = p.start < self.next || self.una < self.next;
        if !probe || p.packet.seg.flags.has(Flags::FIN) || (!repeats && p.packet.seg.payload == 0) {
            return false;
        }
        self.counts.window_probes += 1;
        true
    }

    /// A byte that is long acknowledged, sent to hear whether the other end is alive (RFC 9293 §3.8.4).
    fn is_keep_alive(&mut self, p: &Piece) -> bool {
        let one_below = p.start + 1 == self.next && p.end <= self.next && self.una == self.next;
        if !one_below
            || p.packet.seg.payload > 1
            || p.packet.seg.flags.has(Flags::FIN)
            || self.last_payload <= 1
        {
            return false;
        }
        self.counts.keep_alives += 1;
        true
    }

    /// A bare ACK from one below what is acknowledged is a keep-alive too.
    pub fn on_bare_ack_from_sender(&mut self, packet: &Packet) {
        let Some(unwrap) = self.unwrap else { return };
        if packet.seg.flags.has(Flags::RST.with(Flags::SYN).with(Flags::FIN)) {
            return;
        }
        self.ids.note(packet.ip_id, 1);
        if unwrap.peek(packet.seg.seq) + 1 == self.una && self.una == self.next && self.first_data.is_some() {
            match self.window.now {
                0 => self.counts.window_probes += 1,
                _ => self.counts.keep_alives += 1,
            }
        }
    }

    /// The same packet once more: captured on two interfaces, or doubled on the way. A retransmission is a new
    /// packet, with an IP identification of its own where the host counts them.
    fn is_captured_twice(&mut self, p: &Piece) -> bool {
        let Some(seg) = self.board.find(p.start).and_then(|i| self.board.get(i)) else { return false };
        if seg.copies == 0 || seg.checksum != p.packet.checksum {
            return false;
        }
        let soon = p.packet.time - seg.last_time;
        let same_packet = match (seg.ip_id, p.packet.ip_id) {
            (0, 0) => seg.last_ts == p.ts && soon < self.rtt.min().unwrap_or(Span::from_millis(1)) / 2,
            (a, b) => a == b && soon < Span::from_secs(2),
        };
        if !same_packet {
            return false;
        }
        match soon < Span::from_millis(1) {
            true => self.limits.captured_twice += 1,
            false => self.limits.duplicated += 1,
        }
        true
    }

    fn new_data<S: Sink>(
        &mut self,
        p: &Piece,
        around: &mut Surroundings<'_, S>,
    ) -> (PacketClass, Option<Cause>) {
        if p.start > self.next {
            self.reveal_hole(p);
        }
        let flight = self.flight();
        let close = SHORTEST_WAIT.min(around.config.idle.unwrap_or(SHORTEST_WAIT));
        if around.view.sent - self.last_sent < close {
            self.repair.on_more_data(around.view.sent, flight);
        } else {
            self.data_after_a_pause(p, flight, around);
        }
        let ordinal = self.copy(p, around.view.heard);
        let mut seg = Sent::new(p.start, p.end, p.packet.time, p.ts, ordinal);
        seg.ip_id = p.packet.ip_id;
        seg.checksum = p.packet.checksum;
        self.fin_seen |= p.packet.seg.flags.has(Flags::FIN);
        self.board.push(seg);
        self.next = p.end;
        let flight = self.flight();
        self.infer().on_new_data(p.packet.time, p.end, p.packet.seg.payload, flight);
        (PacketClass::Ordinary, None)
    }

    /// New data after the sender has waited: for an ACK, the application, or a timer.
    fn data_after_a_pause<S: Sink>(&mut self, p: &Piece, flight: u64, around: &mut Surroundings<'_, S>) {
        let pace = self.pace(&around.view);
        let by_ack = around.view.sent - self.repair.last_news() <= pace.tolerance;
        let waited = p.packet.time - self.last_data.unwrap_or(p.packet.time);
        let may_probe = self.sack_permitted && self.limit() != Limit::Application;
        let probe = self.repair.on_new_data(around.view.sent, flight, may_probe, &pace);
        self.note_gap(None, probe, by_ack, around);
        if probe {
            self.counts.probes_new += 1;
            self.episodes.on_probe();
            self.infer().on_probe(p.packet.time);
            around.sink.probe(self.probe_row(p, true, waited));
        }
    }

    /// Another copy in the order of transmission; in the ledger, if one is kept.
    fn copy(&mut self, p: &Piece, heard: u32) -> Ordinal {
        if p.fate != Fate::Unknown {
            self.keep_ledger();
        }
        let ordinal = self.next_ordinal;
        self.next_ordinal += 1;
        if let Some(ledger) = &mut self.ledger {
            let len = (p.end - p.start) as u32;
            ledger.push(p.packet.time, p.start, len, heard, p.ts);
            if p.fate != Fate::Unknown
                && let Some(copy) = ledger.copy_mut(ordinal)
            {
                copy.known = Some(p.fate == Fate::Lost);
            }
        }
        ordinal
    }

    /// Data from beyond a gap: what lies between was sent before it and has not been seen.
    fn reveal_hole(&mut self, p: &Piece) {
        self.keep_ledger();
        let ordinal = self.next_ordinal;
        self.next_ordinal += 1;
        if let Some(ledger) = &mut self.ledger {
            ledger.push(p.packet.time, self.next, (p.start - self.next) as u32, 0, p.ts);
            if let Some(copy) = ledger.copy_mut(ordinal) {
                copy.unseen = true;
            }
        }
        let mut hole = Sent::hole(self.next, p.start, p.packet.time, p.ts, ordinal);
        hole.ip_id = p.packet.ip_id;
        self.board.push(hole);
        self.next = p.start;
    }

    /// Data in order, and yet not new: packets that carried it before were lost on their way here. Hosts that
    /// count their packets in the IP identification show that: more are missing than there are holes.
    fn unseen_tail<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) {
        if !matches!(around.view.at, Vantage::Receiver | Vantage::Middle) || p.start < self.next {
            return;
        }
        let pace = self.pace(&around.view);
        let owed = self.ids.owed;
        let lately = around.view.sent - self.last_repair < (pace.srtt * 2).max(self.ids.open_for());
        let believed = self.ids.are_counted() && self.board.is_empty() && (self.ids.skipped > 0 || lately);
        if believed && owed > 0 {
            self.sent_up_to = self.next + u64::from(owed) * u64::from(self.mss);
        } else if !lately && self.ids.skipped == 0 {
            self.ids.owed = 0; // what was missing was no data: ACKs, or repairs lost in vain
        }
        if p.start > self.next {
            self.ids.accounted_for((p.start - self.next).div_ceil(u64::from(self.mss.max(1))));
        }
        if p.start < self.sent_up_to {
            if p.start > self.next {
                self.reveal_hole(p);
            }
            self.ids.accounted_for(u64::from(self.segments(p.packet.seg.payload)));
            let hole = Sent::hole(p.start, p.end, self.last_sent, 0, self.next_ordinal);
            self.keep_ledger();
            let ordinal = self.copy(&Piece { fate: Fate::Unknown, ..*p }, around.view.heard);
            if let Some(copy) = self.ledger.as_mut().and_then(|l| l.copy_mut(ordinal)) {
                copy.unseen = true;
                copy.time = self.last_data.unwrap_or(p.packet.time);
            }
            self.board.push(hole);
            self.next = p.end;
        }
    }

    fn old_data<S: Sink>(
        &mut self,
        p: &Piece,
        around: &mut Surroundings<'_, S>,
    ) -> (PacketClass, Option<Cause>) {
        if self.fills_hole_in_time(p, around) {
            self.limits.reordered += 1;
            self.note_gap(None, false, true, around);
            return (PacketClass::Reordered, None);
        }
        self.keep_ledger();
        let verdict = self.explain(p, around);
        self.note_gap(Some((verdict.cause, verdict.backoff)), false, verdict.trigger == Trigger::Ack, around);
        self.resend(p, verdict, around);
        if p.end > self.next {
            // The rest of it is new.
            let ordinal = self.next_ordinal - 1;
            let mut seg = Sent::new(self.next, p.end, p.packet.time, p.ts, ordinal);
            seg.checksum = p.packet.checksum;
            seg.ip_id = p.packet.ip_id;
            self.board.push(seg);
            self.next = p.end;
        }
        (PacketClass::Retransmission, Some(verdict.cause))
    }

    /// A packet that only came late: sent before the one that revealed the gap.
    fn fills_hole_in_time<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) -> bool {
        let Some(i) = self.board.find(p.start) else { return false };
        let Some(seg) = self.board.get(i) else { return false };
        if !seg.hole || seg.copies > 0 || p.end > seg.end() {
            return false;
        }
        let late = p.packet.time - seg.first_time();
        let step = p.packet.ip_id.wrapping_sub(seg.ip_id) as i16;
        let newer_clock = p.ts != 0 && (p.ts.wrapping_sub(seg.first_ts()) as i32) > 0;
        let round = self.rtt.min().unwrap_or(Span::ZERO) + around.view.turn;
        let counted = p.packet.ip_id != 0 && seg.ip_id != 0 && step.unsigned_abs() < 2000;
        let in_time = match counted {
            true => step < 0,
            false => !newer_clock && late < round.scale(0.7).max(Span::from_millis(3)),
        };
        if !in_time {
            return false;
        }
        let i = self.board.split_at(i, p.start);
        self.board.split_at(i, p.end);
        let (Some(seg), Some(ledger)) = (self.board.get_mut(i), &mut self.ledger) else { return false };
        seg.hole = false;
        seg.copies = 1;
        ledger.settle(seg.first, 0, false);
        self.board.troubled -= 1;
        true
    }

    fn explain<S: Sink>(&mut self, p: &Piece, around: &mut Surroundings<'_, S>) -> Verdict {
        let pace = self.pace(&around.view);
        let at = self.board.find(p.start).and_then(|i| self.board.get(i).map(|s| (i, s)));
        let una = self.repair.una();
        let highest = self.next.max(self.sent_up_to);
        let attempt = Attempt {
            now: around.view.sent,
            head: p.start <= una,
            // A tail that was never seen may have ended in a short segment.
            tail: p.end + (highest - self.next).min(u64::from(self.mss)) >= highest,
            previous: at.map_or(Time::FAR_PAST, |(_, s)| s.last_time),
            previous_was_resend: at.is_some_and(|(_, s)| s.copies_in_all() > 1),
            sacked_above: self.board.sacked_bytes > 0,
            sack_permitted: self.sack_permitted,
            next: highest,
            ts: p.ts,
        };
        let timer_start = self.repair.timer_start();
        let verdict = self.repair.explain(&attempt, &pace);
        if verdict.cause == Cause::Timeout {
            self.counts.timeouts += 1;
            self.counts.max_backoff = self.counts.max_backoff.max(verdict.backoff);
            let observed = around.view.sent - timer_start;
            self.timers.on_timeout(observed, verdict.backoff);
            self.infer().on_timeout(p.packet.time);
        }
        verdict
    }

    /// Takes the copy in: on the board, in the ledger, in its episode.
    fn resend<S: Sink>(&mut self, p: &Piece, verdict: Verdict, around: &mut Surroundings<'_, S>) {
        let seg = &p.packet.seg;
        let segments = self.segments(seg.payload);
        self.counts.resent_packets += 1;
        self.counts.resent_segments += u64::from(segments);
        self.counts.resent_bytes += u64::from(seg.payload);
        let flight = self.flight();
        let limit = self.limit();
        let silence = p.packet.time - self.last_data.unwrap_or(p.packet.time);
        let (next, una) = (self.next, self.una);
        let ordinal = self.copy(p, around.view.heard);
        let mut row = RetransmissionRow {
            flow: self.id,
            packet: p.packet.number,
            time: p.packet.time,
            seq_start: self.relative(p.start),
            seq_end: self.relative(p.end),
            segments,
            cause: verdict.cause,
            evidence: verdict.evidence,
            trigger: verdict.trigger,
            backoff: verdict.backoff,
            copy: 2,
            ..RetransmissionRow::default()
        };
        self.last_repair = around.view.sent;
        let mut previous: Option<(Time, Ordinal, bool)> = None;
        let mut on_board = 0;
        let mut i = self.board.find(p.start.max(self.una)).unwrap_or(usize::MAX);
        if i != usize::MAX {
            i = self.board.split_at(i, p.start.max(self.una));
        }
        while let Some(s) = self.board.get(i) {
            if s.start >= p.end {
                break;
            }
            if s.end() > p.end {
                self.board.split_at(i, p.end);
            }
            let Some(s) = self.board.get_mut(i) else { break };
            if s.hole && s.copies == 0 {
                self.ids.filled_after(p.packet.time - s.first_time());
            }
            let was_trouble = s.hole || s.copies > 1;
            row.copy = row.copy.max(s.copies_in_all() + 1);
            previous.get_or_insert((s.last_time, s.last(), s.copies_in_all() == 1));
            on_board += s.len();
            let last = s.last();
            s.add_copy(ordinal, p.packet.time, p.ts);
            s.ip_id = p.packet.ip_id;
            s.checksum = p.packet.checksum;
            let is_trouble = s.hole || s.copies > 1;
            self.board.troubled += u32::from(is_trouble) - u32::from(was_trouble);
            if let Some(ledger) = &mut self.ledger {
                ledger.repaired(last, ordinal);
            }
            i += 1;
        }
        self.counts.most_copies = self.counts.most_copies.max(row.copy);
        row.since_previous = previous.map(|(t, ..)| p.packet.time - t);
        if on_board < p.end - p.start {
            // Some or all of it was acknowledged before it left: that part was needless beyond doubt.
            if let Some(ledger) = &mut self.ledger {
                ledger.settle(ordinal, (p.end - p.start) - on_board, false);
            }
            if on_board == 0 {
                let seen = matches!(around.view.at, Vantage::Receiver | Vantage::Both);
                row.needless = Needless::Yes(if seen { Proof::Seen } else { Proof::EarlyAck });
                row.lost = match p.fate {
                    Fate::Unknown => None,
                    fate => Some(fate == Fate::Lost),
                };
            }
        }
        let rtt_before = previous.and_then(|(t, ..)| self.rtt.at(t));
        let (previous_time, previous_ordinal, first_time) =
            previous.unwrap_or((p.packet.time, ordinal.saturating_sub(1), false));
        let seen = RepairSeen {
            now: p.packet.time,
            ordinal,
            previous_time,
            previous: previous_ordinal,
            cause: verdict.cause,
            trigger: verdict.trigger,
            backoff: verdict.backoff,
            segments,
            una,
            next,
            start: p.start,
            first_time,
            flight,
            limit,
            silence,
        };
        let rtt_min = self.rtt.min().unwrap_or(Span::ZERO) + around.view.turn;
        let began = !self.episodes.is_open();
        row.episode = Some(self.episodes.on_repair(&seen, &mut self.delivery, rtt_min, self.id));
        let now = p.packet.time;
        let infer = self.infer();
        if began {
            infer.on_episode_start(now);
        }
        infer.on_retransmission(now, verdict.cause, p.start, p.end, segments);
        if verdict.cause == Cause::Probe {
            infer.on_probe(now);
            self.counts.probes_repeat += 1;
            around.sink.probe(self.probe_row(p, false, silence));
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.push_resend(Resend { ordinal, row, silence, rtt_before });
        }
    }

    /// What kept the sender from sending more, as it stands.
    fn limit(&self) -> Limit {
        let in_flight = self.next - self.una;
        if self.window.now != u64::MAX && in_flight + u64::from(self.mss) > self.window.now {
            Limit::ReceiveWindow
        } else if self.last_pushed && self.last_payload < self.mss {
            Limit::Application
        } else {
            Limit::SenderWindow
        }
    }

    fn probe_row(&self, p: &Piece, new_data: bool, after: Span) -> ProbeRow {
        ProbeRow {
            flow: self.id,
            packet: p.packet.number,
            time: p.packet.time,
            new_data,
            after,
            seq_start: self.relative(p.start),
            seq_end: self.relative(p.end),
        }
    }

    /// A gap in the sending ends here, if there was one.
    fn note_gap<S: Sink>(
        &mut self,
        resent: Option<(Cause, u32)>,
        probe: bool,
        by_ack: bool,
        around: &mut Surroundings<'_, S>,
    ) {
        let to = around.view.sent;
        let handshake = self.last_data.is_none();
        let from = match handshake {
            false => self.last_sent,
            true => self.syn_time.unwrap_or(to),
        };
        let limit = threshold(around.config.idle, self.rtt.min().map(|r| r + around.view.turn));
        if to - from <= limit {
            return;
        }
        let gap = Gap {
            resent,
            probe,
            handshake: handshake && around.view.handshake,
            zero_window: self.window.now == 0 || self.window.zero_since.is_some(),
            flight: self.flight(),
            window: self.window.now,
            mss: u64::from(self.mss),
            by_ack,
            pushed: self.last_pushed,
        };
        let cause = gap.cause();
        self.idle.add(from, to);
        around.sink.idle(IdleRow {
            flow: self.id,
            start: from,
            end: to,
            excess: to - from - limit,
            cause,
            flight_bytes: gap.flight,
        });
    }

    fn note_interval<S: Sink>(&mut self, p: &Piece, new: bool, around: &mut Surroundings<'_, S>) {
        if !around.config.wanted.intervals {
            return;
        }
        self.roll_interval(p.packet.time, around);
        let payload = u64::from(p.packet.seg.payload);
        let segments = self.segments(p.packet.seg.payload);
        let flight = self.flight();
        let i = &mut self.interval;
        i.sent_bytes += payload;
        match new {
            true => i.new_bytes += payload,
            false => i.retransmitted_segments = i.retransmitted_segments.saturating_add(segments),
        }
        i.flight_max_bytes = i.flight_max_bytes.max(flight);
    }

    fn note_packet<S: Sink>(
        &mut self,
        p: &Piece,
        class: (PacketClass, Option<Cause>),
        around: &mut Surroundings<'_, S>,
    ) {
        if around.config.wanted.packets {
            let mut row = self.packet_row(p.packet, true);
            row.seq = self.relative(p.start);
            row.class = class.0;
            row.cause = class.1;
            around.sink.packet(row);
        }
    }
}
