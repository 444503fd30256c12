//! Packets that have come to a node and wait their turn: behind everything that was due at that moment.

use crate::frame::Frame;
use net::{NodeId, TimerId};
use scenario::model::{Input, Scenario};
use std::collections::VecDeque;

/// A queue for each node that does not handle what comes at once; in time it never holds anything for long.
#[derive(Debug)]
pub struct Inputs {
    nodes: Vec<Option<VecDeque<(Frame, bool)>>>,
    /// The nodes' timers come behind those of connections.
    first_timer: u32,
}

impl Inputs {
    pub fn new(scenario: &Scenario, first_timer: u32) -> Inputs {
        let in_turn = |input| matches!(input, Input::InTurn).then(VecDeque::new);
        let any = scenario.nodes.iter().any(|n| n.input == Input::InTurn);
        let nodes = if any { scenario.nodes.iter().map(|n| in_turn(n.input)).collect() } else { vec![] };
        Inputs { nodes, first_timer }
    }

    /// Does what comes to the node wait?
    #[inline]
    pub fn waits(&self, at: NodeId) -> bool {
        matches!(self.nodes.get(at.0 as usize), Some(Some(_)))
    }

    /// Keeps a packet at a node where it waits. The timer is to be set for now, if it is not already.
    pub fn keep(&mut self, at: NodeId, frame: &Frame, marked: bool) -> Option<TimerId> {
        let queue = self.nodes.get_mut(at.0 as usize)?.as_mut()?;
        queue.push_back((*frame, marked));
        (queue.len() == 1).then_some(TimerId(self.first_timer + at.0))
    }

    /// Is it a timer of a node that fired? Then the packet whose turn it is, and whether another waits.
    pub fn take(&mut self, timer: TimerId) -> Option<((Frame, bool), bool)> {
        let node = timer.0.checked_sub(self.first_timer)?;
        let queue = self.nodes.get_mut(node as usize)?.as_mut()?;
        let frame = queue.pop_front()?;
        Some((frame, !queue.is_empty()))
    }
}
