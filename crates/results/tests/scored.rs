//! The analysis, scored against the truth of simulated runs: what it says of causes, bursts, episodes, costs and
//! senders. docs/validation.md says what counts. `SEED=n` runs one seed of each family and shows its packets.

mod score;

use analysis::rows::Vantage;
use score::causes::{self, Matrix, Wrong};
use score::paths::{Family, stack_of};
use score::run::Run;
use score::{cost, losses, senders};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Scenarios of each family.
const SEEDS: u64 = 200;

fn seeds() -> std::ops::Range<u64> {
    match std::env::var("SEED").ok().and_then(|s| s.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..SEEDS,
    }
}

/// The matrix of one family and side, and the seeds that were worst.
fn matrix(family: Family, at: Vantage) -> (Matrix, String) {
    let mut all = Matrix::default();
    let mut by_stack: BTreeMap<String, Matrix> = BTreeMap::new();
    let mut worst: Vec<(usize, u64, Wrong)> = Vec::new();
    for seed in seeds() {
        let run = family.run(seed);
        let mut one = Matrix::default();
        let wrong = causes::score(&run, at, &mut one);
        by_stack.entry(stack_of(&family.text(seed)).to_owned()).or_default().merge(&one);
        all.merge(&one);
        worst.extend(wrong.first().map(|w| (wrong.len(), seed, *w)));
        if std::env::var("SEED").is_ok() {
            show(&run, at, &wrong);
        }
    }
    worst.sort_by_key(|w| std::cmp::Reverse(w.0));
    let mut text = format!("{}, {at:?}'s side\n{all}\n", family.name());
    for (stack, m) in by_stack.iter().filter(|(_, m)| m.right() < m.total()) {
        text += &format!("{stack:>30}: {} of {}\n", m.right(), m.total());
    }
    for (n, seed, first) in worst.iter().take(8) {
        text += &format!("SEED={seed}: {n} wrong, the first is packet {first:?}\n");
    }
    println!("{text}");
    (all, text)
}

/// The packets of one side with what they are and what was said of them.
fn show(run: &Run, at: Vantage, wrong: &[Wrong]) {
    let wrong: HashMap<u64, &Wrong> = wrong.iter().map(|w| (w.number, w)).collect();
    let lost: HashSet<u64> = run.sent.iter().filter(|s| !s.arrived).map(|s| s.packet.number).collect();
    let side = usize::from(at == Vantage::Receiver);
    for p in &run.captures[side] {
        let fate = if side == 0 && lost.contains(&p.number) { "lost" } else { "" };
        let wrong = wrong.get(&p.number).map(|w| format!("truth {:?}, said {:?}", w.truth, w.said));
        println!(
            "{} {:.6} {} {:?} {fate} {}",
            p.number,
            p.time.as_secs(),
            p.tuple.src,
            p.seg,
            wrong.unwrap_or_default()
        );
    }
}

#[test]
fn causes_at_the_senders_side() {
    for family in Family::ALL {
        let (m, text) = matrix(family, Vantage::Sender);
        assert!(m.share() >= 0.995, "{text}");
    }
}

#[test]
fn causes_at_the_receivers_side() {
    // The bar is 97%. What is asserted is more, to keep it from getting worse; docs/validation.md says what other seeds give.
    for (family, bar) in [(Family::Everyday, 0.979), (Family::Harsh, 0.972), (Family::Disorder, 0.978)] {
        let (m, text) = matrix(family, Vantage::Receiver);
        assert!(m.share() >= bar, "{text}");
    }
}

#[test]
fn bursts_and_episodes_with_both_captures() {
    let (mut wrong, mut episodes, mut counts) = (Vec::new(), 0u64, 0u64);
    for family in Family::ALL {
        for seed in seeds() {
            let run = family.run(seed);
            let said = losses::said(&run.analysed(Vantage::Both));
            for (end, truth) in losses::truth(&run) {
                let said = said.get(&end).cloned().unwrap_or_default();
                if !truth.agrees_with(&said) {
                    wrong.push(format!("{} SEED={seed} {end}", family.name()));
                }
                episodes += truth.episodes.len() as u64;
                counts +=
                    truth.episodes.iter().zip(&said.episodes).filter(|(t, s)| t.3 == s.3).count() as u64;
            }
        }
    }
    println!("{episodes} episodes, the lost copies of {counts} equal");
    assert!(wrong.is_empty(), "bursts or episodes differ: {wrong:?}");
    // A repair that was lost and never needed is no burst's repair by definition, but a timer's may count as one.
    assert!(counts as f64 >= episodes as f64 * 0.999, "lost copies of {} episodes differ", episodes - counts);
}

#[test]
fn what_an_outage_costs() {
    let pairs: Vec<_> = (0..cost::PAIRS).map(cost::pair).collect();
    let mut errors: Vec<f64> = pairs.iter().filter_map(cost::Pair::error).collect();
    errors.sort_by(f64::total_cmp);
    println!("{} of {} costs known, median error {:.3}", errors.len(), pairs.len(), errors[errors.len() / 2]);
    assert!(errors.len() * 10 >= pairs.len() * 9, "{pairs:#?}");
    assert!(errors[errors.len() / 2] <= 0.2, "{pairs:#?}");
}

#[test]
fn what_senders_are_made_of() {
    let answers: Vec<_> =
        (0..senders::RUNS).flat_map(senders::answers).filter(|a| a.said.is_some()).collect();
    let mut by: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for a in &answers {
        let (right, all) = by.entry(a.what).or_default();
        *right += u64::from(a.right);
        *all += 1;
    }
    let wrong: Vec<_> = answers.iter().filter(|a| !a.right).collect();
    by.iter().for_each(|(what, (right, all))| println!("{what}: {right} of {all} right"));
    assert!(wrong.len() * 10 <= answers.len(), "{wrong:#?}");
    // Of what is answered often enough for a share.
    for (what, (right, all)) in by.into_iter().filter(|(_, (_, all))| *all >= 20) {
        assert!(right * 10 >= all * 9, "{what}: {right} of {all}: {wrong:#?}");
    }
}
