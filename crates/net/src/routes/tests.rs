use super::*;
use crate::topology::Duplex;
use instant::Span;
use links::queue::droptail;
use links::random::Stream;
use links::spec::{Limit, LinkSpec, QueueSpec};

fn topology(nodes: u32, pairs: &[(u32, u32)]) -> Topology {
    let spec = LinkSpec {
        rate_bps: None,
        delay: Span::ZERO,
        framing_bytes: 0,
        queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(1) }),
        channels: vec![],
        arq: None,
    };
    let link = |(a, b): &(u32, u32)| Duplex {
        name: format!("{a}-{b}"),
        between: (NodeId(*a), NodeId(*b)),
        forward: spec.clone(),
        back: spec.clone(),
    };
    Topology { nodes, links: pairs.iter().map(link).collect() }
}

fn routed(topology: Topology) -> (Routes, Topology) {
    (Routes::new(&topology), topology)
}

/// The nodes on the way, the first left out.
fn way((routes, topology): &mut (Routes, Topology), from: u32, to: u32) -> Option<Vec<u32>> {
    let end = |link: LinkId| {
        let (a, b) = topology.links[link.pair()].between;
        if link.is_forward() { b } else { a }
    };
    let (mut here, mut nodes) = (NodeId(from), vec![]);
    while here.0 != to {
        assert!(nodes.len() < 100, "goes round in a circle");
        here = routes.next_hop(here, NodeId(to)).map(end)?;
        nodes.push(here.0);
    }
    Some(nodes)
}

#[test]
fn the_fewest_hops_and_of_equals_the_first_link() {
    // A square 0-1-3, 0-2-3 with a tail 3-4: over 2, as its link is listed first.
    let mut routes = routed(topology(5, &[(0, 2), (0, 1), (1, 3), (2, 3), (3, 4)]));
    assert_eq!(way(&mut routes, 0, 4), Some(vec![2, 3, 4]));
    assert_eq!(way(&mut routes, 4, 0), Some(vec![3, 1, 0]), "at node 3 the link to 1 is listed first");
    // Of two parallel links the first.
    let mut routes = routed(topology(2, &[(0, 1), (0, 1)]));
    assert_eq!(routes.0.next_hop(NodeId(1), NodeId(0)), Some(LinkId::back(0)));
}

#[test]
fn leaves_of_one_node_reach_each_other_and_islands_do_not() {
    let mut routes = routed(topology(6, &[(0, 1), (2, 0), (0, 3), (4, 5)]));
    assert_eq!(way(&mut routes, 1, 2), Some(vec![0, 2]));
    assert_eq!(way(&mut routes, 4, 5), Some(vec![5]));
    assert_eq!(routes.0.next_hop(NodeId(1), NodeId(4)), None);
    assert_eq!(routes.0.next_hop(NodeId(4), NodeId(1)), None);
    assert_eq!(routes.0.next_hop(NodeId(0), NodeId(9)), None);
}

/// Against distances by Floyd and Warshall, over random graphs.
#[test]
fn every_way_is_as_short_as_can_be() {
    for seed in 0..200 {
        let mut stream = Stream::new(seed, "routes", "test");
        let n = 2 + stream.below(9) as u32;
        let pair = |stream: &mut Stream| (stream.below(n as u64) as u32, stream.below(n as u64) as u32);
        let pairs: Vec<(u32, u32)> =
            (0..stream.below(14)).map(|_| pair(&mut stream)).filter(|(a, b)| a != b).collect();
        let mut hops = vec![vec![1000usize; n as usize]; n as usize];
        (0..n as usize).for_each(|k| hops[k][k] = 0);
        pairs
            .iter()
            .for_each(|(a, b)| (hops[*a as usize][*b as usize], hops[*b as usize][*a as usize]) = (1, 1));
        for k in 0..n as usize {
            for a in 0..n as usize {
                for b in 0..n as usize {
                    hops[a][b] = hops[a][b].min(hops[a][k] + hops[k][b]);
                }
            }
        }
        let mut routes = routed(topology(n, &pairs));
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let expected = Some(hops[a as usize][b as usize]).filter(|h| *h < 1000);
            assert_eq!(way(&mut routes, a, b).map(|w| w.len()), expected, "seed {seed}, {a} to {b}");
        }
    }
}
