//! What a replay needs of an endpoint: to see what it would send, and to set it to what a capture shows.

use super::Endpoint;
pub use crate::sender::Followed;
use crate::timers::Timer;
use wire::Time;

/// Timers that can release data.
const OF_DATA: [Timer; 4] = [Timer::Retransmit, Timer::Probe, Timer::Reorder, Timer::Persist];

impl Endpoint {
    /// A capture shows that this left at `now`: it is entered as sent, while cwnd, ssthresh and what was decided stay. False
    /// where that cannot be done to the byte: it repeats what is acknowledged, or other segments hold these bytes.
    pub fn follow(&mut self, now: Time, copy: &Followed) -> bool {
        let tsval = if self.stamps { self.clock.value(now) } else { 0 };
        self.sender.follow(now, copy, tsval, &mut self.timers)
    }

    /// The application has written all up to this offset by now.
    pub fn write_up_to(&mut self, offset: u64) {
        self.sender.write_up_to(offset);
    }

    /// The next new segment is the last of its packet, so that it does not wait for more.
    pub fn end_packet(&mut self) {
        self.sender.end_packet();
    }

    /// When the first timer that can release data is due; [`Time::FAR_FUTURE`] if none runs.
    pub fn data_timer(&self) -> Time {
        OF_DATA.iter().map(|&t| self.timers.at(t)).min().unwrap_or(Time::FAR_FUTURE)
    }

    /// That timer fires now, before its time.
    pub fn fire_early(&mut self, now: Time) {
        let first = OF_DATA.into_iter().filter(|&t| self.timers.is_set(t)).min_by_key(|&t| self.timers.at(t));
        if let Some(timer) = first {
            self.timers.set(timer, self.timers.at(timer).min(now));
            self.wake(now);
        }
    }
}
