//! A loss while the queue is empty is noise, and congestion otherwise.

use super::{AckFacts, LossFacts, Window, WindowRule, part_of_flight};
use params::keys::{key, number_above, number_between};

params::params! {
    /// What a stack file says of it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "gentle", "A loss while the queue is empty is noise, and congestion otherwise." {
        queued: f64 = key("queued", number_above(0.0, 10.0), "How much above the smallest RTT is a queue.").default("0.25");
        noise: f64 = key("noise", number_between(0.0, 1.0), "What noise leaves of the window.").default("0.9");
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Gentle {
    params: Params,
    /// The last RTT sample told of a queue.
    crowded: bool,
    /// Bytes towards the next SMSS.
    counted: u32,
}

impl WindowRule for Gentle {
    type Params = Params;

    fn new(params: &Params) -> Gentle {
        Gentle { params: *params, crowded: false, counted: 0 }
    }

    fn measure(&mut self, _w: &mut Window, a: &AckFacts, _open: bool) {
        if let (Some(rtt), Some(min_rtt)) = (a.rtt, a.min_rtt) {
            self.crowded = rtt.0 as f64 > min_rtt.0 as f64 * (1.0 + self.params.queued);
        }
    }

    fn avoid(&mut self, w: &mut Window, _a: &AckFacts, acked: u32) {
        // RFC 3465 §2.1: one SMSS for each window's worth of acknowledged bytes.
        self.counted = self.counted.saturating_add(acked);
        if self.counted >= w.cwnd {
            self.counted -= w.cwnd;
            w.cwnd = w.cwnd.saturating_add(w.smss);
        }
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        self.counted = 0;
        let left = if self.crowded || l.timeout { 0.5 } else { self.params.noise };
        part_of_flight(l, left, w.smss)
    }
}
