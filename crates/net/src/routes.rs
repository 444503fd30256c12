//! Static routes: fewest hops, ties by the order of links.
//!
//! A node with one link has one way out, and the way to it ends where its link begins: tables are kept for the
//! other nodes only, one for each that packets went to. A dumbbell of 100,000 hosts has a table of four entries.

use crate::topology::{NodeId, Topology};
use path::LinkId;
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Routes {
    places: Vec<Place>,
    /// For each core node, its links outward in the order of links: (link, core node at its far end).
    core: Vec<Vec<(u32, u32)>>,
    /// For each core node as a destination, the link to take at each core node; made when it is first needed.
    tables: Vec<Option<Box<[u32]>>>,
    /// Where each link ends.
    ends: Vec<u32>,
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its own number in the core, or that of the only neighbour.
    core: u32,
    /// For a node with one link: the link out of it and the link into it.
    out: u32,
    down: u32,
}

impl Routes {
    pub fn new(topology: &Topology) -> Routes {
        let neighbours = neighbours(topology);
        let is_leaf = leaves(&neighbours);
        let mut places = vec![Place { core: NONE, out: NONE, down: NONE }; neighbours.len()];
        let mut inner = 0;
        for (place, _) in places.iter_mut().zip(&is_leaf).filter(|(_, leaf)| !**leaf) {
            place.core = inner;
            inner += 1;
        }
        for (node, _) in is_leaf.iter().enumerate().filter(|(_, leaf)| **leaf) {
            let (link, neighbour) = neighbours[node][0];
            places[node] =
                Place { core: places[neighbour as usize].core, out: link, down: LinkId(link).twin().0 };
        }
        let outward = |node: &Vec<(u32, u32)>| -> Vec<(u32, u32)> {
            let to_core = node.iter().filter(|(_, n)| !is_leaf[*n as usize]);
            to_core.map(|(link, n)| (*link, places[*n as usize].core)).collect()
        };
        let core =
            neighbours.iter().zip(&is_leaf).filter(|(_, leaf)| !**leaf).map(|(n, _)| outward(n)).collect();
        let ends = topology.links.iter().flat_map(|l| [l.between.1.0, l.between.0.0]).collect();
        Routes { places, core, tables: vec![None; inner as usize], ends }
    }

    pub fn end_of(&self, link: LinkId) -> NodeId {
        NodeId(self.ends[link.index()])
    }

    /// The link to take at `here` towards `to`, which is another node.
    #[inline]
    pub fn next_hop(&mut self, here: NodeId, to: NodeId) -> Option<LinkId> {
        let (from, goal) = (*self.places.get(here.0 as usize)?, *self.places.get(to.0 as usize)?);
        if from.out != NONE {
            // The only way, if there is one at all from the neighbour.
            let there = self.ends[from.out as usize];
            let reaches = there == to.0 || self.inner_hop(from.core, goal).is_some();
            return reaches.then_some(LinkId(from.out));
        }
        self.inner_hop(from.core, goal)
    }

    #[inline]
    fn inner_hop(&mut self, here: u32, goal: Place) -> Option<LinkId> {
        if here == goal.core {
            return (goal.down != NONE).then_some(LinkId(goal.down));
        }
        let table = match &self.tables[goal.core as usize] {
            Some(table) => table,
            None => self.make_table(goal.core),
        };
        let link = table[here as usize];
        (link != NONE).then_some(LinkId(link))
    }

    /// Breadth first from the destination; then each node takes its first link that leads one hop nearer.
    #[cold]
    fn make_table(&mut self, goal: u32) -> &[u32] {
        let mut hops = vec![NONE; self.core.len()];
        hops[goal as usize] = 0;
        let mut queue = VecDeque::from([goal]);
        while let Some(node) = queue.pop_front() {
            for (_, neighbour) in &self.core[node as usize] {
                if hops[*neighbour as usize] == NONE {
                    hops[*neighbour as usize] = hops[node as usize] + 1;
                    queue.push_back(*neighbour);
                }
            }
        }
        let nearer = |node: usize| {
            let step =
                |(_, n): &&(u32, u32)| hops[*n as usize] != NONE && hops[*n as usize] + 1 == hops[node];
            self.core[node].iter().find(step).map_or(NONE, |(link, _)| *link)
        };
        let table: Box<[u32]> = (0..hops.len()).map(nearer).collect();
        self.tables[goal as usize].insert(table)
    }
}

/// For each node its links outward, in the order of links, and the nodes at their far ends.
fn neighbours(topology: &Topology) -> Vec<Vec<(u32, u32)>> {
    let mut neighbours = vec![Vec::new(); topology.nodes as usize];
    for (pair, link) in topology.links.iter().enumerate() {
        let (a, b) = link.between;
        neighbours[a.0 as usize].push((LinkId::forward(pair).0, b.0));
        neighbours[b.0 as usize].push((LinkId::back(pair).0, a.0));
    }
    neighbours
}

/// Nodes with one link, unless its other end has no other link either.
fn leaves(neighbours: &[Vec<(u32, u32)>]) -> Vec<bool> {
    let single = |node: usize| neighbours[node].len() == 1;
    let leaf = |node: usize| single(node) && !single(neighbours[node][0].1 as usize);
    (0..neighbours.len()).map(leaf).collect()
}
