//! An ACK passes: what it acknowledges, what it SACKs, and what follows from that.

use super::account::Acked;
use super::ack_sample::AckSample;
use super::ledger::AckSeen;
use super::window::Update;
use super::*;
use crate::assumptions::{ACK_DELAYED_AT_MOST, MIN_RTO_RFC6298};
use wire::{Flags, SackBlocks};

/// No window is larger (RFC 7323 section 2.3).
const LARGEST_WINDOW: u64 = 1 << 30;
/// ACKs that may be under way to a sender at once.
const MOST_ON_THE_WAY: usize = 1 << 16;

impl Stream {
    /// A segment with the ACK bit comes from the receiver. `scale`: its window scale.
    pub fn on_ack<S: Sink>(&mut self, packet: &Packet, scale: u8, ctx: &mut Context<'_, S>) {
        let seg = &packet.seg;
        let Some(unwrap) = self.unwrap else {
            self.acked_before = Some(seg.ack);
            return;
        };
        let ack = unwrap.peek(seg.ack);
        if (!self.window.known || self.window.concluded.is_some()) && !ctx.view.at.is_remote() {
            self.window.fit_scale(self.next - self.una, u64::from(self.last.largest));
        }
        let window = u64::from(seg.window) << (scale + self.window.concluded.unwrap_or(0));
        if seg.flags.has(Flags::SYN) {
            self.repair.on_handshake(packet.time + ctx.view.sender_loop);
        }
        let flight = self.flight();
        let bare = is_bare(packet);
        let again = ack == self.una && bare;
        self.bare_acked |= bare && self.has_data();
        // RFC 5681 §2: nothing new in it, data outstanding, no data of its own, the same window. With SACK the window may
        // move: a block says that data arrived (RFC 6675 §2).
        let repeats = again && (window == self.window.now || !seg.sack.is_empty());
        let duplicate = repeats && self.next > self.una;
        self.at = ctx.view.at;
        self.account.count_ack(duplicate);
        if again && ctx.view.at.is_remote() && window > self.window.now && self.window.now != u64::MAX {
            let ts = seg.timestamps.map(|ts| ts.val);
            self.window.on_update(Update { time: packet.time, ts, edge: ack + window });
        }
        self.take_window(window, packet.time);
        if ack > self.next {
            self.acked_unseen(ack);
        }
        let some = !seg.sack.is_empty() || self.last_blocks[0] != (0, 0);
        // A DSACK is sent once for each arrival (RFC 2883 §4): that it is told again is news.
        let is_news =
            |b: &[(u64, u64); 4]| *b != self.last_blocks || again && b[0].0 < b[0].1 && b[0].1 <= ack;
        let other_blocks = some.then(|| self.blocks(&seg.sack)).filter(is_news);
        // Away from the sender more may be outstanding than was seen.
        let elsewhere = ctx.view.at.is_remote();
        let asks = duplicate || repeats && elsewhere;
        if again && !self.agreed.sack_permitted {
            self.match_answer(packet.time);
            self.account.on_repeated_ack(duplicate, packet.time, &flow_state!(self));
        }
        let unheard = self.repair.has_lost_acks() && seg.payload == 0;
        if ack > self.una || (other_blocks.is_some() && !seg.sack.is_empty()) || asks || unheard {
            // A FIN is owed to nobody.
            let fin = u64::from(self.fin_end == Some(self.next));
            let outstanding = self.next > self.una + fin;
            self.take_news(packet, ack, asks, other_blocks, ctx);
            if outstanding && self.una == self.next {
                ctx.waits.on_emptied(ctx.side, packet.time + ctx.view.sender_loop);
            }
        }
        if again && elsewhere {
            self.account.on_answer(ack, packet.time, &ctx.view);
        }
        let window = self.window.advertised();
        if self.account.ack_in_round(packet.time, flight, window) {
            self.account.next_round(packet.time, ctx.view.sender_loop);
        }
        self.account.put_stretches(ctx);
        if ctx.config.wanted.intervals {
            self.account.ack_in_interval(packet.time, duplicate, window, self.id, ctx);
        }
        if ctx.config.wanted.packets {
            let row = self.packet_row(packet, false);
            ctx.sink.packet(row);
        }
        self.last_time = packet.time;
    }

    fn take_window(&mut self, window: u64, now: Time) {
        let w = &mut self.window;
        if window == w.now {
            return;
        }
        (w.before, w.now, w.changed) = (w.now, window, now);
        w.max = w.max.max(window);
        w.min = w.min.min(window);
        match (window, w.zero_since) {
            (0, None) => {
                w.zero_since = Some(now);
                w.zeros += 1;
            }
            (1.., Some(since)) => {
                w.zero_time += now - since;
                w.zero_since = None;
                w.reopened = now;
            }
            _ => {}
        }
    }

    /// Acknowledged but never seen: the capture missed it.
    fn acked_unseen(&mut self, ack: u64) {
        // One beyond the end may be a FIN that went unseen; far beyond is no ACK of this stream.
        if ack - self.next > 1 << 30 {
            return;
        }
        let missing = ack - self.next;
        match missing {
            1 => (self.fin_end, self.fin_told) = (Some(ack), true),
            _ => self.limits.missing_bytes += missing,
        }
        self.ledger.acked_unseen(self.next, missing, self.last_time);
        if self.ledger.is_empty() {
            self.una = self.una.max(self.next);
        }
        self.next = ack;
    }

    fn take_news<S: Sink>(
        &mut self,
        packet: &Packet,
        ack: u64,
        duplicate: bool,
        other_blocks: Option<[(u64, u64); 4]>,
        ctx: &mut Context<'_, S>,
    ) {
        let seg = &packet.seg;
        let now = packet.time;
        self.account.want_rtts(ctx.config.wanted.rtts);
        let mut event = AckEvent {
            time: now,
            ack,
            duplicate,
            ecr: seg.timestamps.map(|t| t.ecr),
            ts: seg.timestamps.map(|t| t.val),
            newest_delivered: Time::FAR_PAST,
            edge: ack + self.window.now,
            ..AckEvent::default()
        };
        let mut sample = (!ctx.view.at.is_remote()).then(AckSample::default);
        let mut answered = now;
        if ack > self.una {
            answered = self.advance_una(ack, now, &mut event, &mut sample);
        }
        if let Some(blocks) = other_blocks {
            self.take_blocks(&blocks, seg.sack.as_slice().len(), &mut event, &mut sample);
        }
        event.sacked_up_to = self.sacked_up_to;
        event.nothing_outstanding = self.una == self.next || self.ledger.sacked_bytes() == 0;
        self.tell_sender(&event, &sample, &ctx.view);
        if ctx.config.wanted.rtts {
            self.account.rtt_rows(self.id, now, self.base, ctx.sink);
        }
        let gained = event.advanced_new + event.sacked;
        let counts_bytes = gained > 0 && ctx.config.wanted.intervals;
        let acked = Acked {
            time: now,
            answered,
            gained,
            advanced: event.advanced,
            duplicate,
            carried: seg.payload > 0,
            no_bytes: u64::from(counts_bytes && self.fin_is_told()),
            copies: self.ledger.next_ordinal(),
        };
        self.account.on_ack(&acked, &flow_state!(self), ctx);
        if self.may_advance(now) {
            self.advance(now, ctx);
        }
        if other_blocks.is_some() || duplicate {
            self.keep_in_bounds(now, ctx);
        }
        self.ledger.trim();
    }

    /// Its sender hears of it: now, where it is seen from there, or some time after it passed here.
    fn tell_sender(&mut self, event: &AckEvent, sample: &Option<AckSample>, view: &View) {
        let now = event.time;
        if let Some(sample) = sample {
            if event.advanced == 0 {
                self.repair.note_rto(self.account.own_rto());
            }
            if let Some(rtt) = sample.round_trip(now) {
                self.account.on_own_rtt(rtt, self.una, self.next);
            }
            if let Some((newest, rtt)) = sample.rack(now) {
                self.repair.note_rack(newest, rtt);
            }
            return self.repair.on_ack(event, now, self.next);
        }
        self.repair.note_answer(now);
        self.acks_in_flight.push_back(*event);
        // Where the sender's packets are missing nothing shows what it heard: some day it has.
        if self.acks_in_flight.len() > MOST_ON_THE_WAY
            && let Some(old) = self.acks_in_flight.pop_front()
        {
            self.repair.on_ack(&old, old.time + view.sender_loop, self.next);
        }
    }

    /// Is the FIN among what was acknowledged just now? It takes up a number and is no byte.
    fn fin_is_told(&mut self) -> bool {
        let Some(end) = self.fin_end.filter(|_| !self.fin_told) else { return false };
        self.fin_told = self.una >= end || self.ledger.is_sacked(end - 1);
        self.fin_told
    }

    /// SACK blocks, the first `n` of them, that are not those of the ACK before it.
    #[inline(always)]
    fn take_blocks(
        &mut self,
        whole: &[(u64, u64); 4],
        n: usize,
        event: &mut AckEvent,
        sample: &mut Option<AckSample>,
    ) {
        if !self.agreed.sack_seen && n > 0 {
            self.learn_sack();
        }
        let blocks = &whole[..n];
        let mut of_nothing = false;
        let mut dsack = is_dsack(blocks, event.ack);
        if dsack && self.cannot_have_been_sent(blocks[0]) {
            (dsack, of_nothing) = (false, true);
        }
        if dsack {
            event.dsack = true;
            self.dsack_seen = true;
            self.account.counts.trouble().dsacks += 1;
            self.take_dsack(blocks[0], event.time);
        }
        for (i, &block) in blocks.iter().enumerate().skip(usize::from(dsack)) {
            if block == self.last_blocks[i] {
                continue; // as most, but for the first
            }
            of_nothing |= self.cannot_have_been_sent(block);
            if let Some((left, right)) = self.unheard_of(block) {
                self.take_sack(left, right, event, sample);
            }
        }
        if of_nothing {
            self.ack_way().sack_of_nothing += 1;
        }
        self.last_blocks = *whole;
    }

    /// The counts of what happened to ACKs on their way; most streams need none.
    #[cold]
    pub fn ack_way(&mut self) -> &mut AckWay {
        self.ack_way.get_or_insert_default()
    }

    /// A block of data from before the first byte, or from beyond any window behind the last one.
    #[inline(always)]
    fn cannot_have_been_sent(&self, block: (u64, u64)) -> bool {
        let was_sent = self.base <= block.0 && block.1 <= self.next;
        !was_sent && self.is_of_nothing(block)
    }

    #[cold]
    fn is_of_nothing(&self, (left, right): (u64, u64)) -> bool {
        let window = if self.window.known { self.window.max } else { LARGEST_WINDOW };
        let before = left < self.base && !self.agreed.mid_stream;
        left < right && (before || right > self.next + window)
    }

    /// Blocks are sent only where both hosts agreed on them (RFC 2018 §3), whether that was seen or not.
    #[cold]
    fn learn_sack(&mut self) {
        (self.agreed.sack_seen, self.agreed.sack_permitted) = (true, true);
        self.account.learn_sack(&self.agreed);
    }

    /// SACK blocks as offsets.
    pub(super) fn blocks(&self, sack: &SackBlocks) -> [(u64, u64); 4] {
        let mut out = [(0, 0); 4];
        if let Some(unwrap) = self.unwrap {
            for (slot, (left, right)) in out.iter_mut().zip(sack.as_slice()) {
                *slot = (unwrap.peek(*left), unwrap.peek(*right));
            }
        }
        out
    }

    /// What a block says beyond the blocks of the ACK before it: most repeat one, or grow it at one end.
    fn unheard_of(&self, (left, right): (u64, u64)) -> Option<(u64, u64)> {
        for &(l, r) in &self.last_blocks {
            if l <= left && left < r {
                return (right > r).then_some((r, right));
            }
            if left < l && r == right {
                return Some((left, l));
            }
        }
        Some((left, right))
    }

    /// The receiver got `[left, right)` once more than it needed.
    fn take_dsack(&mut self, (left, right): (u64, u64), now: Time) {
        if left < right {
            self.ledger.take_dsack((left, right), self.una, now);
        }
    }

    /// An ACK that repeats the number of the one before it speaks of a retransmission, where nothing else can: what had
    /// arrived before is answered at once (RFC 9293 §3.10.7.4), whatever the window does and whether more is outstanding.
    fn match_answer(&mut self, now: Time) {
        let soonest = self.account.rtt().soonest();
        self.dsack_seen |= self.ledger.take_duplicate_ack(now, soonest, self.newest_delivered);
    }

    fn take_sack(&mut self, left: u64, right: u64, event: &mut AckEvent, sample: &mut Option<AckSample>) {
        let now = event.time;
        let (left, right) = (left.max(self.una), right.min(self.next));
        if left >= right {
            return;
        }
        self.sacked_up_to = self.sacked_up_to.max(right);
        let mut newest: Option<(Time, u64)> = None;
        let mut repaired = Time::FAR_PAST;
        // A segment that was sent again gives no round trip below the least: its first copy may have been acknowledged.
        let least = self.account.rtt().min();
        self.ledger.sack(left, right, now, |seg| {
            event.sacked += seg.len;
            if let Some(sample) = sample
                && (!seg.resent || least.is_some_and(|least| now - seg.last_time >= least))
            {
                sample.sacks(seg.last_time, seg.end, seg.resent);
            }
            if !seg.resent {
                event.note_original(seg.end);
                newest = newest.max(Some((seg.last_time, seg.end)));
            } else {
                repaired = repaired.max(seg.last_time);
            }
        });
        if self.is_round_trip(repaired, now) {
            self.note_delivered(repaired, event);
        }
        if let Some((sent, end)) = newest {
            // Data sent once was SACKed just now: a round trip, by Karn's rule.
            self.note_delivered(sent, event);
            self.account.on_rtt(now - sent, now, end, self.at, self.una, self.next);
        }
    }

    /// What was sent once, at `sent`, or is SACKed, has arrived.
    #[inline(always)]
    fn note_delivered(&mut self, sent: Time, event: &mut AckEvent) {
        event.newest_delivered = event.newest_delivered.max(sent);
        self.newest_delivered = self.newest_delivered.max(sent);
    }

    /// What was sent again at `sent` and is reported now is taken to have arrived, and not the copy before it, if that
    /// is not sooner than any answer is (RFC 8985 §6.2). Times are the sender's only where it is seen from there.
    fn is_round_trip(&self, sent: Time, now: Time) -> bool {
        let rtt = self.account.rtt();
        !self.at.is_remote() && rtt.min().is_some() && now - sent >= rtt.soonest()
    }

    /// Without SACK, where it is seen to send: when the last packet left, if what left before it has been answered by now.
    fn answers(&self) -> Option<Time> {
        let plain = !self.agreed.sack_permitted && !self.at.is_remote();
        (plain && self.last.waited() >= self.account.rtt().longest_answer()).then_some(self.last.sent)
    }

    /// With SACK, where it is seen to send: of data that left once each, and longer apart than its receiver takes to answer
    /// it (RFC 8985 §7.2: a probe waits for two round trips), this ACK is the first to tell. It got through, and the
    /// answers did not.
    fn was_deaf(&self, ack: u64) -> bool {
        if !self.agreed.sack_permitted || self.at.is_remote() {
            return false;
        }
        let once = |offset| self.ledger.find(offset).filter(|s| s.copies == 1 && !s.hole && !s.sacked);
        let Some(head) = self.ledger.find(self.una) else { return false };
        let (Some(second), Some(newest)) = (once(head.end), once(ack.saturating_sub(1))) else {
            return false;
        };
        newest.first_time - second.first_time > self.account.rtt().srtt() * 2
    }

    /// What was sent again, or SACKed before, is acknowledged.
    fn sample_rtt(&self, seg: &super::ledger::Acked, ecr: Option<u32>, now: Time, sample: &mut AckSample) {
        if seg.resent {
            // RFC 8985 §6.2 step 2.
            let before = ecr.is_some_and(|e| e != 0 && (e.wrapping_sub(seg.last_ts) as i32) < 0);
            let arrived = !seg.sacked && !before && self.is_round_trip(seg.last_time, now);
            sample.advances_over_repair(arrived.then_some(seg.last_time), seg.end, seg.echoed(ecr));
        } else if !seg.sacked {
            sample.advances(seg.last_time, seg.end, ecr == Some(seg.last_ts));
        }
    }

    /// From data that left `waited` before its ACK to that ACK is no round trip: there was an ACK before this one, which the
    /// capture has not. A receiver delays an ACK by 500 ms at most (RFC 5681 §4.2, RFC 9293 §3.8.6.3); one that came only
    /// with data of its own, and later, follows on a bare one, and a capture of data alone has none of those. Before a round
    /// trip is known, it is taken to be a second at most (RFC 6298 §2.1).
    #[cold]
    fn lacks_its_ack(&self, waited: Span) -> bool {
        waited > ACK_DELAYED_AT_MOST + self.account.rtt().min().unwrap_or(MIN_RTO_RFC6298)
    }

    /// The cumulative ACK moves: everything below it has arrived. Returns when that was answered: now, as a rule.
    #[inline(always)]
    fn advance_una(
        &mut self,
        ack: u64,
        now: Time,
        event: &mut AckEvent,
        sample: &mut Option<AckSample>,
    ) -> Time {
        let head = self.una;
        let ecr = event.ecr;
        let mut newest = None;
        let mut resent = false;
        let mut last_repair = Time::FAR_PAST;
        let mut last_ts = None;
        let (newest_delivered, answers) = (self.newest_delivered, self.answers());
        let deaf = self.repair.in_loss_state() && self.was_deaf(ack);
        let by = AckSeen { time: now, head, echo: ecr, newest_delivered, answers, deaf };
        loop {
            while let Some(plain) = self.ledger.pop_plain(ack) {
                if !plain.sacked {
                    event.advanced_new += u64::from(plain.len);
                    event.note_original(plain.end);
                    if let Some(sample) = sample {
                        sample.advances(plain.time, plain.end, ecr == Some(plain.ts));
                    }
                    newest = Some((plain.time, plain.end));
                    last_ts = Some((plain.ts, plain.time));
                }
            }
            let wait = || self.account.rtt().longest_answer();
            let Some(seg) = self.ledger.pop_acked(ack, &by, wait) else { break };
            if let Some(sample) = sample {
                self.sample_rtt(&seg, ecr, now, sample);
            }
            last_repair = last_repair.max(seg.last_time);
            if !seg.sacked {
                event.advanced_new += seg.len;
                resent |= seg.resent;
                if !seg.resent {
                    event.note_original(seg.end);
                } else if ecr
                    .map_or_else(|| self.is_round_trip(seg.last_time, now), |e| e == seg.last_ts && e != 0)
                {
                    event.newest_delivered = event.newest_delivered.max(seg.last_time);
                }
                last_ts = Some((seg.last_ts, seg.last_time));
            }
            if seg.unseen {
                self.limits.missing_bytes += seg.len; // acknowledged, and never seen
            }
        }
        let last_sent = newest.map_or(last_repair, |(sent, _)| last_repair.max(sent));
        let lacking = !self.bare_acked && last_sent > Time::FAR_PAST && self.lacks_its_ack(now - last_sent);
        if lacking {
            self.limits.acks_missing += 1;
            *sample = sample.map(|_| AckSample::default());
        }
        if let (Some((ts, sent)), Some(echo)) = (last_ts, ecr)
            && !lacking
            && ts == echo
            && echo != 0
            && self.at != Vantage::Receiver
        {
            // At the receiver's side this would be its own time to answer: there the sender's echoes count.
            self.account.on_echo(now - sent, ack);
        }
        if resent && !self.agreed.sack_permitted {
            // Without SACK an ACK that a retransmission set off also covers what had arrived before it: it
            // does not tell that the original did.
            event.original_end = 0;
        }
        if let Some((sent, end)) = newest {
            self.note_delivered(sent, event);
            if !resent && !lacking {
                // Karn's rule: what a retransmission set off tells no round trip, not even of other data.
                self.account.on_rtt(now - sent, now, end, self.at, self.una, self.next);
            }
        }
        event.advanced = ack - head;
        self.una = ack;
        self.next = self.next.max(ack);
        match lacking {
            true => last_sent + self.account.rtt().min().unwrap_or(Span::ZERO),
            false => now,
        }
    }
}

/// No data, and no flag that would take a number.
fn is_bare(packet: &Packet) -> bool {
    packet.seg.payload == 0 && !packet.seg.flags.has(Flags::SYN.with(Flags::FIN).with(Flags::RST))
}

/// The first block repeats data below the cumulative ACK, or inside the second block (RFC 2883 §4).
pub(super) fn is_dsack(blocks: &[(u64, u64)], ack: u64) -> bool {
    match blocks {
        [(left, right), ..] if left < right && *right <= ack => true,
        [(l1, r1), (l2, r2), ..] => l1 < r1 && l2 <= l1 && r1 <= r2,
        _ => false,
    }
}
