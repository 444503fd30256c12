//! What a user may set about an analysis.

use crate::fault::Trip;
use crate::rows::Vantage;
use crate::sink::Wanted;
use wire::Span;

#[derive(Clone, Debug)]
pub struct Config {
    /// Stated vantage point; `None` infers one for each flow.
    pub vantage: Option<Vantage>,
    /// Idle threshold; `None` is max(2 RTTmin, 50 ms).
    pub idle: Option<Span>,
    /// Length of the throughput intervals.
    pub interval: Span,
    pub wanted: Wanted,
    /// A packet may stand in the capture twice: taken on two interfaces, or behind a mirror port. What a simulated
    /// host sees twice came twice.
    pub may_hold_twice: bool,
    /// For tests of what becomes of a fault.
    #[doc(hidden)]
    pub trip: Option<Trip>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            vantage: None,
            idle: None,
            interval: Span::from_secs(1),
            wanted: Wanted::default(),
            may_hold_twice: true,
            trip: None,
        }
    }
}
