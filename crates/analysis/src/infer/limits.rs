//! What held the sender back, round trip by round trip, and the window it never exceeded.

use crate::rows::{Inferred, Limit};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rounds {
    pub total: u32,
    pub application: u32,
    pub receive_window: u32,
    /// Largest flight of any round trip, how many lay within a segment (or 2%) of it, and how many of those
    /// were at the advertised window.
    peak: u64,
    at_peak: u32,
    at_peak_receive: u32,
}

/// Fewer round trips give no answer.
const LEAST_ROUNDS: u32 = 6;
/// So many at one level make a limit.
const LEAST_PLATEAU: u32 = 12;

impl Rounds {
    pub fn add(&mut self, flight_max: u64, mss: u64, application: bool, receive_window: bool) {
        self.total += 1;
        if application {
            self.application += 1;
            return;
        }
        self.receive_window += u32::from(receive_window);
        let grain = mss.max(self.peak / 50);
        if flight_max > self.peak + grain {
            self.peak = flight_max;
            (self.at_peak, self.at_peak_receive) = (0, 0);
        }
        self.peak = self.peak.max(flight_max);
        if flight_max + grain >= self.peak {
            self.at_peak += 1;
            self.at_peak_receive += u32::from(receive_window);
        }
    }

    pub fn limit(&self) -> Inferred<Limit> {
        if self.total < LEAST_ROUNDS {
            return None;
        }
        let sender = self.total - self.application - self.receive_window;
        let (limit, most) = [
            (Limit::ReceiveWindow, self.receive_window),
            (Limit::Application, self.application),
            (Limit::SenderWindow, sender),
        ]
        .into_iter()
        .max_by_key(|(_, n)| *n)?;
        let confidence = certainty(most, self.total, 4.0);
        (confidence >= 0.4).then_some((limit, confidence))
    }

    /// A flight that stays at its largest value for most of the round trips has a ceiling; one that is cut back
    /// by losses touches it only now and then.
    pub fn window_limit(&self) -> Inferred<u64> {
        let confidence = certainty(self.at_peak, self.total - self.application, 8.0);
        (self.at_peak >= LEAST_PLATEAU && confidence >= 0.5).then_some((self.peak, confidence))
    }

    /// Whether the ceiling of [`Rounds::window_limit`] is the advertised window.
    pub fn ceiling_is_advertised(&self) -> bool {
        self.at_peak_receive * 2 > self.at_peak
    }
}

fn certainty(most: u32, of: u32, half_at: f32) -> f32 {
    if of == 0 { 0.0 } else { most as f32 / of as f32 * (of as f32 / (of as f32 + half_at)) }
}
