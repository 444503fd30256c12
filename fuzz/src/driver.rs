//! The driver: makes inputs from a seed and calls a target with one after the other.

use crate::limits;
use crate::mutation::mutate;
use crate::targets::{self, Target};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
fuzz TARGET [--seed N] [--seconds S | --executions N] [--from N]
    executes inputs that follow from the seed; the first that panics or exceeds a limit
    ends it, and is kept in target/fuzzed
fuzz TARGET FILE ...
    executes these inputs
fuzz show TARGET FILE
    writes the capture, the script or the TOML file of an input to standard output
fuzz list
    names the targets
";

/// xorshift64* (Vigna 2016).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }
}

/// Which inputs to execute, and for how long.
struct Plan {
    seed: u64,
    from: u64,
    executions: Option<u64>,
    seconds: Option<u64>,
}

pub fn main(arguments: &[String]) -> ExitCode {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["list"] => targets::ALL.iter().for_each(|t| println!("{:10} {}", t.name, t.about)),
        ["show", target, file] => {
            let Some(target) = Target::named(target) else { return refuse(&format!("{target}: no target")) };
            let written =
                std::fs::read(file).and_then(|bytes| std::io::stdout().write_all(&target.shown(&bytes)));
            if let Err(e) = written {
                return refuse(&format!("{file}: {e}"));
            }
        }
        [target, rest @ ..] if Target::named(target).is_some() => {
            let Some(target) = Target::named(target) else { return refuse(HELP) };
            return match rest.first().is_some_and(|word| !word.starts_with("--")) {
                true => files(target, rest),
                false => match plan(rest) {
                    Some(plan) => by_seed(target, &plan),
                    None => refuse(HELP),
                },
            };
        }
        _ => return refuse(HELP),
    }
    ExitCode::SUCCESS
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("{}", why.trim_end());
    ExitCode::from(2)
}

fn plan(words: &[&str]) -> Option<Plan> {
    let mut plan = Plan { seed: 1, from: 0, executions: None, seconds: None };
    for pair in words.chunks(2) {
        let [key, value] = pair else { return None };
        let value = value.parse().ok()?;
        match *key {
            "--seed" => plan.seed = value,
            "--from" => plan.from = value,
            "--executions" => plan.executions = Some(value),
            "--seconds" => plan.seconds = Some(value),
            _ => return None,
        }
    }
    if plan.executions.is_none() && plan.seconds.is_none() {
        plan.seconds = Some(10);
    }
    Some(plan)
}

fn files(target: &Target, paths: &[&str]) -> ExitCode {
    for path in paths {
        match std::fs::read(path) {
            Ok(bytes) => target.check(&bytes),
            Err(e) => return refuse(&format!("{path}: {e}")),
        }
        println!("{path}: answered");
    }
    ExitCode::SUCCESS
}

/// The input with this number: half of them are random decisions, the others two members of the corpus joined, or one
/// mutated.
fn input(seeds: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random::new(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    let mut one = || seeds[random.below(seeds.len() as u32) as usize].clone();
    let (mut bytes, other) = (one(), one());
    match random.below(8) {
        0..4 => {
            let length = 16 << random.below(10);
            let length = 16 + random.below(length);
            bytes = (0..length).map(|_| random.below(256) as u8).collect();
            bytes[0] |= 1;
        }
        4 => {
            let (cut, from) = (random.below(bytes.len() as u32 + 1), random.below(other.len() as u32 + 1));
            bytes.truncate(cut as usize);
            bytes.extend(&other[from as usize..]);
        }
        _ => {
            let times = [1, 2, 4, 16, 64][random.below(5) as usize];
            mutate(&mut bytes, times, &mut |n| random.below(n));
        }
    }
    bytes
}

/// The folder of inputs that failed.
fn kept(target: &Target) -> PathBuf {
    let of_cargo = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let base = of_cargo.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"));
    base.join("fuzzed").join(target.name)
}

#[allow(clippy::disallowed_methods)] // the clock says when to stop
fn by_seed(target: &Target, plan: &Plan) -> ExitCode {
    let seeds = (target.seeds)();
    let folder = kept(target);
    if let Err(e) = std::fs::create_dir_all(&folder) {
        return refuse(&format!("{}: {e}", folder.display()));
    }
    let began = std::time::Instant::now();
    let mut done = 0;
    loop {
        let over = plan.executions.is_some_and(|most| done >= most)
            || plan.seconds.is_some_and(|most| began.elapsed().as_secs() >= most);
        if over {
            break;
        }
        let number = plan.from + done;
        let bytes = input(&seeds, plan.seed, number);
        let file = folder.join(format!("seed-{}-input-{number}", plan.seed));
        limits::begin(file.clone(), &bytes);
        if catch_unwind(AssertUnwindSafe(|| target.check(&bytes))).is_err() {
            if let Err(e) = std::fs::write(&file, &bytes) {
                eprintln!("{}: {e}", file.display());
            }
            eprintln!("{}: input {number} of seed {} panics: {}", target.name, plan.seed, file.display());
            eprintln!("repeat: cargo run -p rexmit-fuzz --bin fuzz -- {} {}", target.name, file.display());
            return ExitCode::FAILURE;
        }
        done += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{}: {done} executions in {seconds:.0} s from seed {}, 0 faults", target.name, plan.seed);
    ExitCode::SUCCESS
}
