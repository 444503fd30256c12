//! Static routes: fewest hops, ties by the order of links.
//!
//! A node with one link has one way out, and the way to it ends where its link begins: tables are kept for the
//! other nodes only, one for each that packets went to. A dumbbell of 100,000 hosts has a table of four entries.

use crate::topology::{NodeId, Topology};
use links::LinkId;
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Routes {
    places: Vec<Place>,
    /// For each core node, its links outward in the order of links: (link, core node at its far end).
    core: Vec<Vec<(u32, u32)>>,
    /// For each core node as a destination, the link to take at each core node; made when it is first needed.
    tables: Vec<Option<Box<[u32]>>>,
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its own number in the core, or that of the only neighbour.
    core: u32,
    /// For a node with one link: the link out of it and the link into it.
    out: u32,
    down: u32,
    /// The first core number of its island, a part of the graph with no way to the others.
    island: u32,
}

impl Routes {
    pub fn new(topology: &Topology) -> Routes {
        let neighbours = neighbours(topology);
        let is_leaf = leaves(&neighbours);
        let islands = islands(&neighbours);
        // The core is numbered island by island, so that a table covers its own island only.
        let mut inner: Vec<usize> = (0..neighbours.len()).filter(|node| !is_leaf[*node]).collect();
        inner.sort_by_key(|node| islands[*node]);
        let mut places = vec![Place { core: NONE, out: NONE, down: NONE, island: NONE }; neighbours.len()];
        let mut island = 0;
        for (number, node) in inner.iter().enumerate() {
            if number > 0 && islands[*node] != islands[inner[number - 1]] {
                island = number as u32;
            }
            places[*node] = Place { core: number as u32, island, ..places[*node] };
        }
        for node in (0..neighbours.len()).filter(|node| is_leaf[*node]) {
            let (link, neighbour) = neighbours[node][0];
            places[node] = Place { out: link, down: LinkId(link).twin().0, ..places[neighbour as usize] };
        }
        let outward = |node: &usize| -> Vec<(u32, u32)> {
            let to_core = neighbours[*node].iter().filter(|(_, n)| !is_leaf[*n as usize]);
            to_core.map(|(link, n)| (*link, places[*n as usize].core)).collect()
        };
        let core: Vec<Vec<(u32, u32)>> = inner.iter().map(outward).collect();
        Routes { tables: vec![None; core.len()], places, core }
    }

    /// The link to take at `here` towards `to`, which is another node.
    #[inline]
    pub fn next_hop(&mut self, here: NodeId, to: NodeId) -> Option<LinkId> {
        let (from, goal) = (*self.places.get(here.0 as usize)?, *self.places.get(to.0 as usize)?);
        if from.island != goal.island {
            return None;
        }
        if from.out != NONE {
            return Some(LinkId(from.out));
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
            None => self.make_table(goal),
        };
        let link = table[(here - goal.island) as usize];
        (link != NONE).then_some(LinkId(link))
    }

    /// Breadth first from the destination; then each node takes its first link that leads one hop nearer.
    #[cold]
    fn make_table(&mut self, goal: Place) -> &[u32] {
        let number = |core: u32| (core - goal.island) as usize;
        let mut hops = vec![NONE; number(goal.core) + 1];
        hops[number(goal.core)] = 0;
        let mut queue = VecDeque::from([goal.core]);
        while let Some(node) = queue.pop_front() {
            for (_, neighbour) in &self.core[node as usize] {
                let place = number(*neighbour);
                if place >= hops.len() {
                    hops.resize(place + 1, NONE);
                }
                if hops[place] == NONE {
                    hops[place] = hops[number(node)] + 1;
                    queue.push_back(*neighbour);
                }
            }
        }
        let nearer = |place: usize| {
            let step = |(_, n): &&(u32, u32)| hops[number(*n)] != NONE && hops[number(*n)] + 1 == hops[place];
            self.core[goal.island as usize + place].iter().find(step).map_or(NONE, |(link, _)| *link)
        };
        let table: Box<[u32]> = (0..hops.len()).map(nearer).collect();
        self.tables[goal.core as usize].insert(table)
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

/// For each node the number of the part of the graph in which it is.
fn islands(neighbours: &[Vec<(u32, u32)>]) -> Vec<u32> {
    let mut island = vec![NONE; neighbours.len()];
    let mut stack = Vec::new();
    for first in 0..neighbours.len() {
        if island[first] != NONE {
            continue;
        }
        island[first] = first as u32;
        stack.push(first);
        while let Some(node) = stack.pop() {
            for (_, neighbour) in &neighbours[node] {
                if island[*neighbour as usize] == NONE {
                    island[*neighbour as usize] = first as u32;
                    stack.push(*neighbour as usize);
                }
            }
        }
    }
    island
}

#[cfg(test)]
mod tests;
