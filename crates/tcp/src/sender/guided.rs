//! Senders that are guided by more than a window: by a rule that models the path, or by a pace.

use super::Sender;
use super::ack::AckIn;
use crate::congestion::Driving;
use crate::endpoint::Why;
use crate::packet;
use crate::sampler::rate::{Before, Lost, Progress};
use crate::timers::{Timer, Timers};
use wire::Time;

impl Sender {
    /// The connection stands.
    pub(crate) fn begin(&mut self, now: Time, seed: u32) {
        self.seed = seed;
        if self.congestion.drives() {
            self.board.keep_rates(now);
            self.with_driver(now, false, &[], |s, d| s.congestion.begin(&mut s.window, d));
        }
    }

    #[inline(never)]
    pub(super) fn on_guided_ack(&mut self, a: &AckIn, timers: &mut Timers) {
        let before = Before {
            delivered: self.board.rates().map_or(0, |r| r.delivered()),
            lost: self.board.losses,
            in_flight: self.segments_in_flight(),
            una: self.una(),
        };
        let limited = self.occupied().saturating_add(self.window.smss) > self.window.cwnd;
        self.take_ack(a, timers);
        let (lost, smss, min_rtt) = (self.board.losses, self.window.smss, self.sampler.min_rtt());
        let advanced = self.una() - before.una;
        match self.board.rates_mut() {
            Some(rates) => {
                let sample = rates.sample(a.now, &before, lost, advanced, smss, min_rtt);
                let lost = rates.take_lost();
                self.with_driver(a.now, limited, &lost, |s, d| s.congestion.drive(&mut s.window, &sample, d));
                if let Some(rates) = self.board.rates_mut() {
                    rates.told(lost);
                }
            }
            None => {
                if let Some(rate) = self.rate_of_window() {
                    self.pacing.set_rate(rate);
                }
            }
        }
    }

    /// Data leaves after nothing was out.
    #[inline(never)]
    pub(super) fn restart(&mut self, now: Time) {
        if self.congestion.drives() {
            self.with_driver(now, false, &[], |s, d| s.congestion.restart(&mut s.window, d));
        }
    }

    fn with_driver(
        &mut self,
        now: Time,
        limited: bool,
        lost: &[Lost],
        act: impl FnOnce(&mut Sender, &mut Driving<'_>),
    ) {
        let mut pacing = self.pacing;
        let mut driving = Driving {
            now,
            in_flight: self.segments_in_flight(),
            phase: self.phase,
            so_far: self.progress(),
            srtt: self.rto.srtt(),
            min_rtt: self.sampler.min_rtt(),
            pacing: &mut pacing,
            limited,
            has_sack: self.sack,
            lost,
            seed: self.seed,
            limit_to_application: false,
        };
        act(self, &mut driving);
        let limit = driving.limit_to_application;
        self.pacing = pacing;
        if limit {
            self.limit_to_application();
        }
    }

    pub(super) fn progress(&self) -> Progress {
        self.board.rates().map_or_else(Progress::default, |r| r.progress(self.board.losses))
    }

    fn limit_to_application(&mut self) {
        let in_flight = self.segments_in_flight();
        if let Some(rates) = self.board.rates_mut() {
            rates.limit_to_application(in_flight);
        }
    }

    /// As the application writes: had it less than a segment waiting, with cwnd not full and all repairs made? Rates are
    /// its own until what is in flight is delivered then (tcp_rate_check_app_limited).
    #[inline(never)]
    pub(super) fn look_for_silence(&mut self) {
        let idle = self.written.saturating_sub(self.nxt) < u64::from(self.window.smss)
            && self.pipe() < self.window.cwnd
            && self.board.lost.segments <= self.board.repaired.segments;
        if idle {
            self.limit_to_application();
        }
    }

    #[cfg(test)]
    pub(crate) fn model3(&self) -> Option<crate::congestion::bbr3::Told> {
        self.congestion.model3()
    }
    #[cfg(test)]
    pub(crate) fn model(&self) -> Option<crate::congestion::bbr::Told> {
        self.congestion.model()
    }

    // ---- pacing ----

    /// Of a window rule that has no rate of its own.
    pub(super) fn rate_of_window(&self) -> Option<u64> {
        let out = self.board.segments().saturating_mul(self.window.smss);
        packet::rate_of_window(self.window.cwnd, self.window.ssthresh, out, self.rto.srtt())
    }

    /// Is it time for the next segment? If not, its time is in the table.
    #[inline(never)]
    pub(super) fn is_time(&self, now: Time, timers: &mut Timers) -> bool {
        let waits = self.pacing.waits(now);
        if let Some(until) = waits {
            timers.set(Timer::Pacing, until);
        }
        waits.is_none()
    }

    /// The newest segment leaves. Is it the last of a packet of several, of a rule that says how much leaves at a time?
    #[inline(never)]
    pub(super) fn pace_new(&mut self, now: Time, payload: u32) -> bool {
        let packet = self.packet_to_be_paced();
        if self.pace(now, payload, packet) {
            self.board.begin_packet_with_newest();
            return false;
        }
        let room = u64::from(self.window.cwnd.saturating_sub(self.occupied()))
            .min(self.edge.saturating_sub(self.nxt));
        self.rules.offload
            && packet.is_none()
            && (self.pacing.is_burst_full() || room < u64::from(self.window.smss))
    }

    /// Entry `at` has left again: the first of a packet of the queue, or one of its others. The timer's own retransmission
    /// is cut off its packet (tcp_retransmit_timer), and so is a probe (tcp_send_loss_probe).
    #[inline(never)]
    pub(super) fn pace_again(&mut self, at: usize, why: Why, now: Time, payload: u32) {
        let room = match why {
            Why::Recovery { .. } | Why::LossState => {
                self.window.cwnd.saturating_sub(self.pipe()) / self.window.smss
            }
            _ => {
                self.board.begin_packet(at);
                self.board.begin_packet(at + 1);
                0
            }
        };
        let packet = 1 + self.board.repairs_of_packet(at, room);
        self.pace(now, payload, Some(packet));
    }

    fn pace(&mut self, now: Time, payload: u32, packet: Option<u32>) -> bool {
        let (smss, cwnd) = (self.window.smss, self.cwnd_segments());
        self.pacing.sent(now, payload, smss, cwnd, self.sampler.min_rtt(), packet)
    }
}
