//! The handshake took far less than any round trip of the data: something on the way answers SYNs.

use super::{Finding, Kind};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::{Role, Vantage};
use analysis::words::seconds;

/// The least round trip of the data is so many times as long as the handshake took.
const TIMES: f64 = 4.0;
/// And longer by so many seconds.
const LONGER: f64 = 0.02;
/// Of so many round trips, with so many segments under way, some are of no delayed ACK (RFC 9293 section 3.8.6.3).
const SAMPLES: u64 = 10;
const FLIGHT: u64 = 4;
/// A slow link takes the time of so many full segments longer for data than for a SYN.
const SEGMENTS: f64 = 4.0;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let flow = facts.conversation.row(side)?;
    let handshake = flow.handshake.filter(|_| flow.handshake_resent == 0)?.as_secs();
    let least = flow.rtt_ack.min;
    let mss = u64::from(flow.mss);
    let bulk = flow.rtt_ack.n >= SAMPLES && mss > 0 && flow.flight_max_bytes >= FLIGHT * mss;
    let took = (flow.last_data? - flow.first_data?).as_secs();
    let on_a_link = SEGMENTS * mss as f64 * took / flow.bytes.max(1) as f64;
    let far = least > TIMES * handshake && least > handshake + LONGER + on_a_link;
    (bulk && far && flow.vantage == Vantage::Sender).then(|| Finding {
        kind: Kind::AnsweredOnTheWay,
        certainty: Certainty::Likely,
        text: format!(
            "The handshake took {}, and no round trip of data from {} less than {}: something on the path answers SYNs itself.",
            seconds(handshake),
            Role::of(side).in_words(),
            seconds(least)
        ),
    })
}
