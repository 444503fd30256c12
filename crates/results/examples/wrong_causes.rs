//! Each retransmission whose cause the analysis gets wrong at one side, with what stands around it.
//!
//!     cargo run --release -p rexmit-results --example wrong_causes FAMILY FROM TO [only: TRUTH/SAID] [around, 0]
//!         [sender] [today]
//!
//! Seeds FROM to TO - 1 of a family (everyday, harsh, disorder). `sender`: from where the data leaves, in place of where
//! it arrives. `today`: today's stacks, in place of the others. A table by stack and by error ends it.

#[path = "../tests/score/mod.rs"]
mod score;

use analysis::rows::Vantage;
use score::WIRE;
use score::causes::{self, Matrix, name};
use score::paths::{Family, stack_of};
use score::random::TODAY;
use std::collections::BTreeMap;

fn main() {
    let (named, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|w| w == "sender" || w == "today");
    let is_named = |word: &str| named.iter().any(|w| w == word);
    let stacks = if is_named("today") { TODAY } else { WIRE };
    let at = if is_named("sender") { Vantage::Sender } else { Vantage::Receiver };
    let word = |i: usize| words.get(i).map(String::as_str).unwrap_or_default();
    let family = Family::ALL.into_iter().find(|f| f.name() == word(0)).expect("a family's name");
    let number = |i: usize| word(i).parse::<u64>().expect("a number");
    let (from, to) = (number(1), number(2));
    let (only, around) = (word(3), word(4).parse().unwrap_or(0usize));
    let mut all = Matrix::default();
    let mut by = BTreeMap::<(String, String), (u64, u64)>::new();
    for seed in from..to {
        let text = family.text_of(seed, stacks);
        let run = family.run_of(seed, stacks);
        let mut runs = BTreeMap::<String, u64>::new();
        for w in causes::score(&run, at, &mut all) {
            let error = format!("{}/{}", name(w.truth), name(w.said));
            *runs.entry(error.clone()).or_default() += 1;
            if only.is_empty() || only == error {
                println!("{} {seed} {} packet {} {error}", family.name(), stack_of(&text), w.number);
                show(&run, at, w.number, around);
            }
        }
        for (error, n) in runs {
            let (packets, in_runs) = by.entry((error, stack_of(&text).to_owned())).or_default();
            *packets += n;
            *in_runs += 1;
        }
    }
    let mut by: Vec<_> = by.into_iter().collect();
    by.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    for ((error, stack), (n, runs)) in by {
        println!("{n:5} in {runs:3} runs  {error:24} {stack}");
    }
    println!(
        "{} {from}..{to}: {} of {} ({:.2}%)\n{all}",
        family.name(),
        all.right(),
        all.total(),
        all.share() * 100.0
    );
}

/// The packets of its connection before and behind it, as captured there.
fn show(run: &score::run::Run, at: Vantage, number: u64, around: usize) {
    if around == 0 {
        return;
    }
    let truths = causes::truths(run);
    let (copies, capture): (BTreeMap<u64, u64>, _) = match at {
        Vantage::Sender => {
            (run.sent.iter().map(|s| (s.packet.number, s.facts.copy)).collect(), &run.captures[0])
        }
        _ => (run.arrivals.iter().map(|(n, f)| (*n, f.copy)).collect(), &run.captures[1]),
    };
    let Some(at) = capture.iter().position(|p| p.number == number) else { return };
    let port = |p: &wire::Packet| (p.tuple.src.port, p.tuple.dst.port);
    let (a, b) = port(&capture[at]);
    let same = |p: &&wire::Packet| port(p) == (a, b) || port(p) == (b, a);
    let before: Vec<_> = capture[..at].iter().rev().filter(same).take(around).collect();
    let behind = capture[at..].iter().filter(same).take(around / 2);
    for p in before.into_iter().rev().chain(behind) {
        let truth = copies.get(&p.number).and_then(|c| truths.get(c)).copied().flatten();
        let here = if p.number == number { '*' } else { ' ' };
        let (ts, ecr) = p.seg.timestamps.map_or((0, 0), |t| (t.val, t.ecr));
        println!(
            "   {here}{:6} {:10.4} {} {:?} seq {} len {} ack {} sack {:?} id {} ts {ts} ecr {ecr} {}",
            p.number,
            p.time.as_secs(),
            if port(p) == (a, b) { ">" } else { "<" },
            p.seg.flags,
            p.seg.seq.0,
            p.seg.payload,
            p.seg.ack.0,
            p.seg.sack.as_slice().iter().map(|(l, r)| (l.0, r.0)).collect::<Vec<_>>(),
            p.ip_id,
            truth.map_or("", |c| c.name()),
        );
    }
}
