//! The answer about the first connection of a story, from its rows.

use crate::story::Told;
use analysis::Rows;
use analysis::rows::{FlowId, FlowRow};
use analysis::waits::Stretch;
use explain::answer::Answer;
use explain::conversation::{FlowRows, Rows as Explained};

/// The connection of the flow that the story is of.
pub fn answer(told: &Told) -> Answer {
    answer_of(&told.rows, told.flow.flow / 2)
}

/// The connection of this number.
pub fn answer_of(rows: &Rows, connection: u32) -> Answer {
    let of = |side: u32| 2 * connection + side;
    let owned = [Owned::of(rows, of(0)), Owned::of(rows, of(1))];
    let waits: Vec<_> = rows.waits.iter().filter(|w| w.flow / 2 == connection).copied().collect();
    let waits = Stretch::gather(&waits);
    let origin = rows.flows.iter().map(|f| f.start).min().unwrap_or_default();
    explain::explain(&Explained { flows: owned.each_ref().map(Owned::rows), waits: &waits, origin })
}

struct Owned {
    flow: Option<FlowRow>,
    rows: Rows,
}

impl Owned {
    fn of(rows: &Rows, flow: FlowId) -> Owned {
        let mut rows = rows.clone();
        rows.bursts.retain(|r| r.flow == flow);
        rows.episodes.retain(|r| r.flow == flow);
        rows.idle.retain(|r| r.flow == flow);
        rows.rounds.retain(|r| r.flow == flow);
        Owned { flow: rows.flows.iter().find(|f| f.flow == flow).cloned(), rows }
    }
    fn rows(&self) -> FlowRows<'_> {
        FlowRows {
            flow: self.flow.as_ref(),
            bursts: &self.rows.bursts,
            episodes: &self.rows.episodes,
            idle: &self.rows.idle,
            rounds: &self.rows.rounds,
            path: &[],
            hosts: [&[], &[]],
        }
    }
}
