//! Where rows go. The analysis keeps none of them: a sink may count, collect, spill or drop.

use crate::paths::{Paths, Stretch};
use crate::rows::*;
use crate::stream::repair::evidence::Observed;
use wire::{Host, Time};

/// The flows of a connection, by which host sent: the client's data, the server's. A direction that was not seen has none.
pub type Flows = [Option<FlowRow>; 2];

/// Takes result rows. Every method has an empty body, so a sink names only what it wants.
///
/// Rows of one flow come in the order in which they became certain, which is nearly that of time; a flow's own
/// row comes last. Both flows of a connection end together; connections end in any order.
pub trait Sink {
    /// Is more wanted of these flows of one connection than their counts? What is worked out from what was seen of them
    /// (round trips, timers, what their senders are made of) is not in the rows yet, and stays empty if not.
    fn wants_all(&self, _counts: &Flows) -> bool {
        true
    }
    /// The flows of a connection that has ended.
    fn connection(&mut self, flows: &Flows) {
        flows.iter().flatten().for_each(|row| self.flow(row));
    }
    fn flow(&mut self, _row: &FlowRow) {}
    fn burst(&mut self, _row: BurstRow) {}
    fn episode(&mut self, _row: EpisodeRow) {}
    fn retransmission(&mut self, _row: RetransmissionRow) {}
    fn probe(&mut self, _row: ProbeRow) {}
    fn idle(&mut self, _row: IdleRow) {}
    /// They come together, right before the rows of the flows of their connection; only of those of which all is wanted.
    fn round(&mut self, _row: RoundRow) {}
    /// The same of the waits of a connection.
    fn wait(&mut self, _row: WaitRow) {}
    /// A flow from one host to another did this in about a round trip. Times count from the beginning of the capture.
    fn stretch(&mut self, _path: (Host, Host), _stretch: &Stretch) {}
    /// Copies of a flow from one host to another were lost.
    fn lost(&mut self, _path: (Host, Host), _time: Time, _copies: u64) {}
    /// When the capture began whose rows these are; once, at the end.
    fn begun(&mut self, _origin: Time) {}
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
            pub paths: Paths,
            $(pub $rows: Vec<$kind>,)*
        }

        impl Sink for Rows {
            fn flow(&mut self, row: &FlowRow) {
                self.flows.push(row.clone());
            }
            fn stretch(&mut self, path: (Host, Host), stretch: &Stretch) {
                self.paths.add(path, stretch);
            }
            fn lost(&mut self, path: (Host, Host), time: Time, copies: u64) {
                self.paths.lose(path, time, copies);
            }
            fn begun(&mut self, origin: Time) {
                self.paths.begun(origin);
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
    wait: WaitRow in waits,
    interval: IntervalRow in intervals,
    rtt: RttRow in rtts,
    packet: PacketRow in packets,
}
