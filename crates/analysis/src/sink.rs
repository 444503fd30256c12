//! Where rows go. The analysis keeps none of them: a sink may count, collect, spill or drop.

use crate::rows::*;
use crate::stream::repair::evidence::Observed;

/// Takes result rows. Every method has an empty body, so a sink names only what it wants.
///
/// Rows of one flow come in the order in which they became certain, which is nearly that of time; a flow's own
/// row comes last. Flows end in any order.
pub trait Sink {
    /// Is more wanted of this flow than its counts? What is worked out from what was seen of it (round trips, timers,
    /// what its sender is made of) is not in the row yet, and stays empty if not.
    fn wants_all(&self, _counts: &FlowRow) -> bool {
        true
    }
    fn flow(&mut self, _row: &FlowRow) {}
    fn burst(&mut self, _row: BurstRow) {}
    fn episode(&mut self, _row: EpisodeRow) {}
    fn retransmission(&mut self, _row: RetransmissionRow) {}
    fn probe(&mut self, _row: ProbeRow) {}
    fn idle(&mut self, _row: IdleRow) {}
    /// They come together, right before the flow's own row.
    fn round(&mut self, _row: RoundRow) {}
    fn interval(&mut self, _row: IntervalRow) {}
    fn rtt(&mut self, _row: RttRow) {}
    fn packet(&mut self, _row: PacketRow) {}
    /// What stood around a retransmission, for those who fit the weights of it.
    fn observed(&mut self, _packet: u64, _observed: &Observed) {}
}

/// Which of the rows that cost a row per packet or per ACK are wanted; the others always come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub retransmissions: bool,
    pub intervals: bool,
    pub rtts: bool,
    pub packets: bool,
}

macro_rules! keeps {
    ($($row:ident: $kind:ident in $rows:ident,)*) => {
        /// Keeps every row, for tests and small captures.
        #[derive(Clone, Debug, Default)]
        pub struct Rows {
            pub flows: Vec<FlowRow>,
            $(pub $rows: Vec<$kind>,)*
        }

        impl Sink for Rows {
            fn flow(&mut self, row: &FlowRow) {
                self.flows.push(row.clone());
            }
            $(fn $row(&mut self, row: $kind) {
                self.$rows.push(row);
            })*
        }
    };
}
keeps! {
    burst: BurstRow in bursts,
    episode: EpisodeRow in episodes,
    retransmission: RetransmissionRow in retransmissions,
    probe: ProbeRow in probes,
    idle: IdleRow in idle,
    round: RoundRow in rounds,
    interval: IntervalRow in intervals,
    rtt: RttRow in rtts,
    packet: PacketRow in packets,
}
