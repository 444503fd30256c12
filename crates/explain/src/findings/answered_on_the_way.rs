//! The handshake took far less than any round trip of the data: something on the way answers SYNs.

use super::{Finding, Kind};
use crate::assumptions::{AT_ONCE, ENOUGH, FAR_SOONER, FEW_SEGMENTS};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::{Role, Vantage};
use analysis::words::seconds;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let flow = facts.conversation.row(side)?;
    let handshake = flow.handshake.filter(|_| flow.handshake_resent == 0)?.as_secs();
    let least = flow.rtt_ack.min;
    let mss = u64::from(flow.mss);
    let bulk = flow.rtt_ack.n >= ENOUGH && mss > 0 && flow.flight_max_bytes >= FEW_SEGMENTS * mss;
    let took = (flow.last_data? - flow.first_data?).as_secs();
    let on_a_link = (FEW_SEGMENTS * mss) as f64 * took / flow.bytes.max(1) as f64;
    let far = least > FAR_SOONER * handshake && least > handshake + AT_ONCE.as_secs() + on_a_link;
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
