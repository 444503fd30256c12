//! Vegas (Brakmo and Peterson 1995) as ns-2.35 has it: windows by the difference between expected and actual rate,
//! and a clock finer than the ticks that finds overdue packets at duplicate acknowledgements.
//!
//! The rule is not `congestion::vegas`: its whole-packet `delta`, the slow start that skips every other RTT, the
//! timed-out retransmission at the first two acknowledgements after one, and its way to read RTTs belong together.
//! Times are seconds since the first packet was sent, as fractions: they are only averaged and compared.

use super::core::{Core, LastCut};
use super::window::CutTo;
use super::{Ack, Number, Why};
use wire::{Span, Time};

/// When each packet was sent and how often; `window_packets` places, which numbers share.
#[derive(Clone, Debug)]
pub(super) struct SendLog {
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    sent_s: f64,
    times: u32,
}

const NEVER: Entry = Entry { sent_s: -1.0, times: 0 };

impl SendLog {
    pub(super) fn new(window_packets: u32) -> SendLog {
        SendLog { entries: vec![NEVER; window_packets.max(1) as usize] }
    }

    /// Packet 0 starts the log anew.
    pub(super) fn record(&mut self, number: Number, since_first: Span) {
        if number == 0 {
            self.entries.fill(NEVER);
        }
        let entry = self.at_mut(number);
        entry.sent_s = since_first.as_secs();
        entry.times += 1;
    }

    fn at(&self, number: Number) -> Entry {
        self.entries[self.place(number)]
    }
    fn at_mut(&mut self, number: Number) -> &mut Entry {
        let place = self.place(number);
        &mut self.entries[place]
    }
    fn place(&self, number: Number) -> usize {
        number.rem_euclid(self.entries.len() as i64) as usize
    }

    /// Forgets `after + 1 ..= upto`, up to the log's last place: what wraps round is kept.
    fn forget(&mut self, after: Number, upto: Number) {
        let (from, to) = (self.place(after + 1), self.place(upto));
        let most = (upto - after) as usize;
        for entry in self.entries.iter_mut().take(to + 1).skip(from).take(most) {
            *entry = NEVER;
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Vegas {
    /// cwnd after the last cut, without the inflation of duplicate acknowledgements.
    cwnd_after_cut: f64,
    /// When cwnd was last cut.
    cut_s: f64,
    /// Acknowledgements that still look for an overdue packet.
    worried: i64,
    /// Added to cwnd at each acknowledgement of this RTT.
    increment: f64,
    /// Slow start grows every other RTT.
    grows: bool,
    /// The first packet of this RTT, and when it began.
    round: Number,
    round_s: f64,
    rtts: Rtts,
}

/// Fine-grained RTTs, seconds.
#[derive(Clone, Debug)]
struct Rtts {
    seen: bool,
    /// The lowest (`v_baseRTT_`).
    base: f64,
    /// The mean, times 8, and the deviation, times 4.
    mean8: f64,
    deviation4: f64,
    /// A packet is overdue after this.
    timeout: f64,
    /// Of this RTT.
    sum: f64,
    count: u32,
}

impl Vegas {
    /// cwnd after a timeout.
    const RESTART_WINDOW: f64 = 2.0;

    pub(super) fn new() -> Vegas {
        Vegas {
            cwnd_after_cut: 0.0,
            cut_s: 0.0,
            worried: 0,
            increment: 0.0,
            grows: true,
            round: 0,
            round_s: 0.0,
            rtts: Rtts {
                seen: false,
                base: 1e9,
                mean8: 0.0,
                deviation4: 0.0,
                timeout: 1000.0,
                sum: 0.0,
                count: 0,
            },
        }
    }

    pub(super) fn receive(&mut self, c: &mut Core, now: Time, ack: &Ack) {
        let now_s = (now - c.first_sent).as_secs();
        self.rtts.first(now_s);
        if ack.cumulative > c.last_ack {
            self.advance(c, now, now_s, ack);
        } else if ack.cumulative == c.last_ack {
            self.duplicate(c, now, now_s, ack);
        }
        if c.dupacks == 0 || c.dupacks >= c.dupthresh {
            c.send_much(now, false, Why::GoBackN, c.spec.max_burst_packets);
        }
    }

    fn advance(&mut self, c: &mut Core, now: Time, now_s: f64, ack: &Ack) {
        c.grow_from_syn();
        if c.dupacks > c.dupthresh && c.cwnd > self.cwnd_after_cut {
            c.cwnd = self.cwnd_after_cut;
            c.ssthresh = 2;
        }
        let before = c.last_ack;
        c.advance(now, ack.cumulative, ack.echo);
        if ack.cumulative >= self.round {
            self.end_round(c, now_s);
        }
        self.grow(c);
        self.measure(c, now_s, before, ack.cumulative);
        if self.worried > 0 {
            self.look_for_overdue(c, now, now_s, ack);
        }
    }

    /// Once an RTT: what cwnd does in the next.
    fn end_round(&mut self, c: &mut Core, now_s: f64) {
        let rtt = match self.rtts.count {
            0 => now_s - self.round_s,
            n => self.rtts.sum / f64::from(n),
        };
        (self.rtts.sum, self.rtts.count) = (0.0, 0);
        if rtt > 0.0 {
            self.decide(c, rtt);
        }
        self.round = c.next;
        self.round_s = now_s;
    }

    fn decide(&mut self, c: &mut Core, rtt: f64) {
        let sent = c.next - self.round;
        if rtt < self.rtts.base || sent <= 1 {
            self.rtts.base = rtt;
        }
        let actual = sent as f64 / rtt;
        let expected = (c.next - c.last_ack) as f64 / self.rtts.base;
        // Packets that wait in queues, rounded to whole ones.
        let delta = ((expected - actual) * self.rtts.base + 0.5).trunc();
        if c.cwnd < c.ssthresh as f64 {
            self.decide_in_slow_start(c, delta);
        } else {
            self.decide_in_avoidance(c, delta);
        }
    }

    fn decide_in_slow_start(&mut self, c: &mut Core, delta: f64) {
        self.grows = !self.grows;
        self.increment = 0.0;
        if !self.grows {
            return;
        }
        if delta > c.spec.vegas_gamma {
            c.ssthresh = 2;
            c.cwnd = (c.cwnd - c.cwnd / 8.0).max(2.0);
        } else {
            self.increment = 1.0;
        }
    }

    fn decide_in_avoidance(&mut self, c: &mut Core, delta: f64) {
        self.increment = 0.0;
        if delta > c.spec.vegas_beta {
            c.cwnd = (c.cwnd - 1.0).max(2.0);
        } else if delta < c.spec.vegas_alpha {
            self.increment = 1.0 / c.cwnd;
        }
    }

    /// At each acknowledgement, unless slow start has ended in this RTT or the window is not being used.
    fn grow(&mut self, c: &mut Core) {
        if self.increment == 1.0 && c.cwnd >= c.ssthresh as f64 {
            self.increment = 0.0;
        }
        let unused = c.cwnd - (c.next - c.last_ack) as f64;
        if self.increment > 0.0 && unused <= 2.0 {
            c.cwnd += self.increment;
        }
        c.bound_cwnd();
    }

    /// The RTT of the packet acknowledged, if it was sent once. Packet 0 at time 0 has none.
    fn measure(&mut self, c: &mut Core, now_s: f64, before: Number, cumulative: Number) {
        let Some(log) = &mut c.log else { return };
        let entry = log.at(cumulative);
        log.forget(before, cumulative);
        if entry.sent_s != 0.0 && entry.times == 1 {
            self.rtts.sample(now_s - entry.sent_s);
        }
    }

    fn look_for_overdue(&mut self, c: &mut Core, now: Time, now_s: f64, ack: &Ack) {
        self.worried -= 1;
        match self.overdue(c, now_s, ack.cumulative + 1) {
            Some(number) => {
                c.dupacks = c.dupthresh;
                c.output(now, number, Why::Overdue);
            }
            None => self.worried = 0,
        }
    }

    fn overdue(&self, c: &Core, now_s: f64, number: Number) -> Option<Number> {
        let sent_s = c.log.as_ref()?.at(number).sent_s;
        (now_s - sent_s >= self.rtts.timeout).then_some(number)
    }

    fn duplicate(&mut self, c: &mut Core, now: Time, now_s: f64, ack: &Ack) {
        c.dupacks += 1;
        let overdue = self.overdue(c, now_s, ack.cumulative + 1);
        if overdue.is_none() && c.dupacks != c.dupthresh {
            if c.dupacks > c.dupthresh {
                c.cwnd += 1.0;
            }
            return;
        }
        // `bugFix_`: no fast retransmit of what a timeout will send again.
        if !c.spec.bug_fix || c.highest_ack > c.recover || c.last_cut != LastCut::Timeout {
            self.retransmit(c, now, now_s, overdue);
        }
    }

    fn retransmit(&mut self, c: &mut Core, now: Time, now_s: f64, overdue: Option<Number>) {
        let Some(entry) = c.log.as_ref().map(|log| log.at(c.last_ack + 1)) else { return };
        c.last_cut = LastCut::DupAcks;
        c.recover = c.highest_sent;
        self.worried = (c.next - c.last_ack).min(2);
        self.rtts.back_off(entry.times > 1);
        // Once for each window: not if cwnd was cut after the packet had been sent.
        if self.cut_s < entry.sent_s {
            self.cut(c, entry.times > 1);
            self.cut_s = now_s;
        }
        // A fast retransmit backs the coarse timer off, too.
        c.rto.on_timeout();
        c.restart_timer(now);
        match overdue {
            Some(number) => c.output(now, number, Why::Overdue),
            None => c.output(now, c.last_ack + 1, Why::FastRetransmit),
        }
        if entry.times == 1 {
            c.dupacks = c.dupthresh;
        }
    }

    /// By a quarter, or by half for a packet that was lost again; inflated by the duplicates.
    fn cut(&mut self, c: &mut Core, again: bool) {
        let window = c.window();
        let cut = match window {
            ..=3 => 2,
            w if again => w / 2,
            w => w - w / 4,
        };
        self.cwnd_after_cut = cut as f64;
        c.cwnd = self.cwnd_after_cut + c.dupacks as f64;
    }

    /// The coarse timer. True if the caller is to send.
    pub(super) fn on_timeout(&mut self, c: &mut Core, now: Time) -> Option<Why> {
        if c.highest_ack == c.highest_sent && !c.spec.restart_after_idle {
            return None;
        }
        c.dupacks = 0;
        c.recover = c.highest_sent;
        c.last_cut = LastCut::Timeout;
        c.rto.on_timeout();
        c.restart_timer(now);
        c.go_back();
        c.slow_down(CutTo::One);
        c.cwnd = Self::RESTART_WINDOW;
        self.cwnd_after_cut = 0.0;
        self.cut_s = (now - c.first_sent).as_secs();
        Some(Why::Timeout { backoff: c.rto.backoff() })
    }
}

impl Rtts {
    /// At the first acknowledgement, the time since the first packet.
    fn first(&mut self, rtt: f64) {
        if self.seen {
            return;
        }
        self.seen = true;
        self.base = rtt;
        self.mean8 = rtt * 8.0;
        self.deviation4 = rtt;
        self.timeout = (self.mean8 / 4.0 + self.deviation4) / 2.0;
    }

    fn sample(&mut self, rtt: f64) {
        self.sum += rtt;
        self.count += 1;
        if rtt <= 0.0 {
            return;
        }
        self.base = self.base.min(rtt);
        let error = rtt - self.mean8 / 8.0;
        self.mean8 += error;
        self.deviation4 += error.abs() - self.deviation4 / 4.0;
        self.timeout = (self.mean8 / 4.0 + self.deviation4) / 2.0;
        self.timeout += self.timeout / 16.0;
    }

    fn back_off(&mut self, again: bool) {
        if again {
            self.timeout *= 2.0;
        } else {
            self.timeout += self.timeout / 8.0;
        }
    }
}
