//! Causes of retransmissions. Each cause has a file of its own and a line in the list.

mod handshake;
mod loss_state;
mod persist;
mod probe;
mod recovery;
mod timeout;
mod unknown;

use crate::closed_set::{Hue, Marker};
use crate::closed_sets;
use crate::members;

// The causes, in the order of tables and legends. The stream's judges decide which one it is (`stream/repair`).
members! {
    /// Why a segment was sent again.
    #[derive(Default)]
    "cause" Cause of About {
        Recovery(recovery),
        Timeout(timeout),
        LossState(loss_state),
        Probe(probe),
        Persist(persist),
        Handshake(handshake),
        #[default]
        Unknown(unknown),
    }
}

/// A count of segments for each cause, in the order of [`Cause::ALL`].
pub type ByCause = [u64; Cause::ALL.len()];

/// A cause as its file describes it.
pub struct About {
    /// As it stands in JSON and tables.
    pub name: &'static str,
    /// As it stands in a sentence or a legend.
    pub in_words: &'static str,
    /// For docs/definitions.md, in Markdown.
    pub means: &'static str,
    /// Linux's counter of these retransmissions (`nstat`).
    pub linux_counter: Option<&'static str>,
    pub group: Group,
    pub colour: Hue,
    pub marker: Marker,
}

closed_sets! {
    /// Groups of causes: the sender inferred the loss from ACKs (RACK's reordering timer included), or its RTO or probe timer
    /// expired.
    "cause_group" Group {
        Ack = "ack", "an ACK";
        Timer = "timer", "a timer";
        Unknown = "unknown", "unknown";
    }
}

impl About {
    fn properties(&self) -> Vec<(&'static str, &'static str)> {
        let mut all = vec![
            ("means", self.means),
            ("group", self.group.name()),
            ("colour", self.colour.name()),
            ("marker", self.marker.name()),
        ];
        all.extend(self.linux_counter.map(|counter| ("linux_counter", counter)));
        all
    }
}

impl Cause {
    pub fn group(self) -> Group {
        self.about().group
    }
}
