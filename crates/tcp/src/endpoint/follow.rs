//! What a replay needs of an endpoint: to see what it would send, and to set it to what a capture shows.

use super::Endpoint;
pub use crate::sender::Followed;
use crate::timers::Timer;
use wire::{Span, Time};

/// Timers that can release data.
const OF_DATA: [Timer; 5] = [Timer::Retransmit, Timer::Probe, Timer::Reorder, Timer::Persist, Timer::Pacing];
/// Segments of one paced burst lie so close together in a capture.
const BURST: Span = Span(100_000);

impl Endpoint {
    /// A capture shows that this left at `now`: it is entered as sent, while cwnd, ssthresh and what was decided stay. False
    /// where that cannot be done to the byte: it repeats what is acknowledged, or other segments hold these bytes.
    pub fn follow(&mut self, now: Time, copy: &Followed) -> bool {
        let tsval = if self.stamps { self.clock.value(now) } else { 0 };
        self.burst_goes_on(now);
        if self.sender.pacing.waits(now).is_some() {
            self.sender.pacing.follow(now);
        }
        self.sender.follow(now, copy, tsval, &mut self.timers)
    }

    /// cwnd is so many bytes, what is out at least, and ssthresh as much unless in slow start.
    pub fn assume_window(&mut self, cwnd: u32, slow_start: bool) {
        self.sender.assume_window(cwnd, slow_start);
    }

    /// cwnd allows what is out at least.
    pub fn raise_window(&mut self) {
        self.sender.raise_window();
    }

    /// The application has written all up to this offset by now.
    pub fn write_up_to(&mut self, offset: u64) {
        self.sender.write_up_to(offset);
    }

    /// The packet of the next new segment ends with so many, so that it does not wait for more.
    pub fn end_packet(&mut self, segments: u32) {
        self.sender.end_packet(segments);
    }

    /// When the first timer that can release data is due; [`Time::FAR_FUTURE`] if none runs.
    pub fn data_timer(&self) -> Time {
        OF_DATA.iter().map(|&t| self.timers.at(t)).min().unwrap_or(Time::FAR_FUTURE)
    }

    /// Can the first timer that is due for data, if it fires at `now`, send what begins at `offset`? A retransmission
    /// timeout sends the oldest segment first (RFC 6298 (5.4)), which tells without trying.
    pub fn timer_can_send(&self, offset: u64, now: Time) -> bool {
        let [timeout, others @ ..] = OF_DATA;
        let is_first = others.iter().all(|&t| self.timers.at(t) > self.timers.at(timeout).max(now));
        !is_first || !self.is_established() || offset == self.sender.una()
    }

    /// Until when what left last takes at its pace; `None` where nothing is paced.
    pub fn paced_until(&self) -> Option<Time> {
        self.sender.pacing.is_on().then(|| self.sender.pacing.next())
    }

    /// New data leaves in the place of what is lost, until this is taken back.
    pub fn hold_repairs(&mut self, held: bool) {
        self.sender.hold_repairs(held);
    }

    /// How many bytes wait below TCP before Linux holds more back; of repairs.
    pub fn small_queue(&self, repairs: bool) -> u64 {
        self.sender.small_queue(repairs)
    }

    /// When what waits for its pace may leave; `None` where nothing does.
    pub fn pace(&self) -> Option<Time> {
        self.timers.is_set(Timer::Pacing).then(|| self.timers.at(Timer::Pacing))
    }

    /// A capture shows that what waits for its pace leaves then.
    pub fn pace_until(&mut self, at: Time) {
        self.sender.pacing.follow(at);
        self.timers.set(Timer::Pacing, at);
    }

    /// What leaves next may belong to the burst that left last.
    pub fn burst_goes_on(&mut self, now: Time) {
        self.sender.pacing.burst_goes_on(now, BURST);
    }

    /// That timer fires now, before its time.
    pub fn fire_early(&mut self, now: Time) {
        let first = OF_DATA.into_iter().filter(|&t| self.timers.is_set(t)).min_by_key(|&t| self.timers.at(t));
        if let Some(timer) = first {
            self.timers.set(timer, self.timers.at(timer).min(now));
            if timer == Timer::Pacing {
                self.sender.pacing.follow(now);
            }
            self.wake(now);
        }
    }
}
