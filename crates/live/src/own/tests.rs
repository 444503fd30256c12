//! Two of rexmit's own ends, over packets that are lost, held up and damaged: byte for byte, with every stack.

use super::Own;
use crate::content::Content;
use links::random::Stream;
use std::collections::BTreeMap;
use tcp::endpoint::Endpoint;
use tcp::stack::{Kind, Wire};
use wire::{Host, Seq, Span, Time, Tuple};

const UP: u64 = 300_000;
const DOWN: u64 = 200_000;

fn stacks() -> Vec<(String, Wire)> {
    let listed = scenario::describe::stacks().expect("the built-in stacks");
    let load = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../stacks")
            .join(format!("{name}.toml"));
        match scenario::load_stack(&path).expect("a stack").kind {
            Kind::Wire(wire) => (name.to_owned(), *wire),
            Kind::OneWay(_) => panic!("{name} is no real endpoint"),
        }
    };
    listed.iter().filter(|s| s.wire).map(|s| load(&s.name)).collect()
}

fn tuple() -> Tuple {
    let end = |last, port| wire::Endpoint { host: Host::v4([10, 0, 0, last]), port };
    Tuple { src: end(1, 1024), dst: end(2, 5001) }
}

/// What is on its way, by arrival; and the path's chances.
struct Path {
    flying: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    draws: Stream,
    sent: u64,
}

impl Path {
    fn send(&mut self, now: Time, to: usize, packet: &[u8]) {
        self.sent += 1;
        let mut bytes = packet.to_vec();
        match self.draws.next_u64() % 100 {
            0..3 => return,
            3 => {
                let at = self.draws.next_u64() as usize % bytes.len();
                bytes[at] ^= 0x10;
            }
            _ => {}
        }
        let late = if self.draws.next_u64().is_multiple_of(50) { 7_000_000 } else { 0 };
        self.flying.insert((now + Span(10_000_000 + late), self.sent), (to, bytes));
    }
}

fn transfer(stack: &Wire, seed: u64) -> Result<(), String> {
    let isn = |n: u32| Seq(u32::MAX - 50_000 * n);
    let (up, down) = (Content::Pattern(1), Content::Pattern(2));
    let mut ends = [
        Own::new(Endpoint::connect(stack, isn(1), Time::ZERO), tuple(), up),
        Own::new(Endpoint::listen(stack, isn(2)), tuple().reversed(), down),
    ];
    let mut path = Path { flying: BTreeMap::new(), draws: Stream::new(seed, "own", "path"), sent: 0 };
    let (mut left, mut got) = ([UP, DOWN], [0_u64; 2]);
    let (mut now, mut out) = (Time::ZERO, Vec::new());
    let mut wrong = None;
    for _ in 0..2_000_000 {
        for k in [0, 1] {
            let expected = if k == 0 { down } else { up };
            ends[k].read(now, |bytes| {
                wrong = wrong.or(expected.differs(got[k], bytes));
                got[k] += bytes.len() as u64;
            });
            if left[k] > 0 {
                left[k] -= ends[k].endpoint().write(left[k]);
                if left[k] == 0 && ends[k].endpoint().is_established() {
                    ends[k].endpoint().close();
                }
            } else if got == [DOWN, UP] {
                ends[k].endpoint().close();
            }
            while ends[k].transmit(now, &mut out).is_some() {
                path.send(now, 1 - k, &out);
            }
        }
        if let Some(at) = wrong {
            return Err(format!("byte {at} is wrong"));
        }
        if got == [DOWN, UP] && ends.iter_mut().all(|e| e.endpoint().is_closed()) {
            return Ok(());
        }
        let arrival = path.flying.first_key_value().map(|(key, _)| key.0);
        let wake = ends.iter().filter_map(Own::next_wakeup).min();
        let Some(next) = arrival.into_iter().chain(wake).min() else {
            return Err(format!("nothing will happen any more: {got:?} at {now}"));
        };
        now = now.max(next);
        if arrival == Some(next) {
            let (_, (to, bytes)) = path.flying.pop_first().expect("it was there");
            ends[to].receive(now, &bytes);
        } else {
            ends.iter_mut().for_each(|e| e.endpoint().wake(now));
        }
    }
    Err(format!("no end: {got:?} at {now}"))
}

#[test]
fn every_stack_carries_every_byte_both_ways_over_a_path_that_loses_damages_and_holds_up() {
    for (name, stack) in stacks() {
        for seed in 1..4 {
            let done = transfer(&stack, seed);
            assert!(done.is_ok(), "{name}, seed {seed}: {}", done.unwrap_err());
        }
    }
}

/// RFC 3168 §6.1: data leaves capable, a mark is echoed, and the sender says that it has reduced.
#[test]
fn a_mark_on_the_way_is_echoed_and_answered() {
    let mut stack = stacks().into_iter().find(|(name, _)| name == "rfc-sack").expect("rfc-sack").1;
    stack.options.ecn = tcp::stack::EcnUse::On;
    let content = Content::Pattern(1);
    let mut ends = [
        Own::new(Endpoint::connect(&stack, Seq(1), Time::ZERO), tuple(), content),
        Own::new(Endpoint::listen(&stack, Seq(2)), tuple().reversed(), content),
    ];
    let (mut now, mut out, mut marked) = (Time::ZERO, Vec::new(), 0);
    let (mut echoed, mut reduced) = (false, false);
    ends[0].endpoint().write(UP);
    for _ in 0..200 {
        for k in [0, 1] {
            ends[k].read(now, |_| {});
            while ends[k].transmit(now, &mut out).is_some() {
                let ip = wire::ip::parse(&out).expect("a packet");
                let flags = out[ip.payload_at + 13];
                let has_payload = ip.payload_len > Some(u32::from(out[ip.payload_at + 12] >> 4) * 4);
                assert_eq!(ip.ecn, if has_payload { 2 } else { 0 }, "ECT(0) on data alone");
                // Behind the handshake, the first packet with data is marked.
                if has_payload && marked == 0 {
                    marked += 1;
                    out[1] |= 3;
                }
                echoed |= k == 1 && marked > 0 && flags & 0x40 != 0;
                reduced |= k == 0 && has_payload && flags & 0x80 != 0;
                ends[1 - k].receive(now, &out);
            }
            now += Span(5_000_000);
        }
    }
    assert_eq!((marked, echoed, reduced), (1, true, true));
}
