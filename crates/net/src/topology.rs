//! Nodes and the links between them, as plain data.

use links::spec::LinkSpec;
use std::fmt;

/// A node, by its place in the topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A timer, numbered by its owner from 0 without large gaps: memory is kept for each number below the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub u32);

/// A link in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Duplex {
    /// Its random streams follow from it.
    pub name: String,
    pub between: (NodeId, NodeId),
    /// From the first to the second.
    pub forward: LinkSpec,
    pub back: LinkSpec,
}

impl Duplex {
    /// Between two nodes, by their places in the topology.
    pub fn new(name: &str, between: (usize, usize), forward: &LinkSpec, back: &LinkSpec) -> Duplex {
        Duplex {
            name: name.to_owned(),
            between: (NodeId(between.0 as u32), NodeId(between.1 as u32)),
            forward: forward.clone(),
            back: back.clone(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    pub nodes: u32,
    /// Pair `n` has the link numbers `LinkId::forward(n)` and `LinkId::back(n)`.
    pub links: Vec<Duplex>,
}

/// Why no net can be built from a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The link names a node that there is not.
    NoSuchNode {
        link: String,
        node: u32,
        nodes: u32,
    },
    /// Both ends are the same node.
    Loop {
        link: String,
        node: u32,
    },
    TooMany,
    /// What the link is made of cannot be.
    Link {
        link: String,
        forward: bool,
        error: links::spec::SpecError,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoSuchNode { link, node, nodes } => {
                write!(f, "link {link} ends at node {node}, but there are {nodes} nodes, counted from 0")
            }
            BuildError::Loop { link, node } => write!(f, "link {link} goes from node {node} to itself"),
            BuildError::TooMany => write!(f, "more than 2^30 nodes or links"),
            BuildError::Link { link, forward, error } => {
                let direction = if *forward { "forward" } else { "back" };
                write!(f, "link {link}, {direction}: {error}")
            }
        }
    }
}

impl std::error::Error for BuildError {}

impl Topology {
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        if self.nodes > 1 << 30 || self.links.len() > 1 << 30 {
            return Err(BuildError::TooMany);
        }
        self.links.iter().try_for_each(|duplex| check_link(duplex, self.nodes))
    }
}

fn check_link(duplex: &Duplex, nodes: u32) -> Result<(), BuildError> {
    let link = || duplex.name.clone();
    let (a, b) = duplex.between;
    if let Some(node) = [a.0, b.0].into_iter().find(|n| *n >= nodes) {
        return Err(BuildError::NoSuchNode { link: link(), node, nodes });
    }
    if a == b {
        return Err(BuildError::Loop { link: link(), node: a.0 });
    }
    for (forward, spec) in [(true, &duplex.forward), (false, &duplex.back)] {
        spec.check().map_err(|error| BuildError::Link { link: link(), forward, error })?;
    }
    Ok(())
}
