//! Scenarios to score: the random ones of the simulator's own tests, and everyday paths.

use super::random::{self, Choice};
use super::run::Run;
use super::{Draw, WIRE};

/// What kind of scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// One to three transfers over one link with one kind of loss.
    Everyday,
    /// One to three links, each with up to two channels in either direction, queues from three packets on.
    Harsh,
    /// The same, and packets overtake each other or come twice.
    Disorder,
}

impl Family {
    pub const ALL: [Family; 3] = [Family::Everyday, Family::Harsh, Family::Disorder];

    pub fn name(self) -> &'static str {
        match self {
            Family::Everyday => "everyday",
            Family::Harsh => "harsh",
            Family::Disorder => "disorder",
        }
    }

    /// The TOML text of scenario number `seed`.
    pub fn text(self, seed: u64) -> String {
        self.text_of(seed, WIRE)
    }

    /// The same between stacks of a list.
    pub fn text_of(self, seed: u64, stacks: &'static [&'static str]) -> String {
        let choice = Choice { stacks, least_bytes: 30_000, most_bytes: 2_000_000, disorder: false };
        match self {
            Family::Everyday => everyday(seed, stacks),
            Family::Harsh => random::text(seed, choice),
            Family::Disorder => random::text(seed, Choice { disorder: true, ..choice }),
        }
    }

    pub fn run(self, seed: u64) -> Run {
        self.run_of(seed, WIRE)
    }

    pub fn run_of(self, seed: u64, stacks: &'static [&'static str]) -> Run {
        let text = self.text_of(seed, stacks);
        let nodes = text.matches("[[node]]").count() as u32;
        Run::of(&text, seed, nodes - 1)
    }
}

/// The stack that sends.
pub fn stack_of(text: &str) -> &str {
    text.split("\nstack = \"").nth(1).and_then(|s| s.split('"').next()).unwrap_or("?")
}

fn everyday(seed: u64, stacks: &[&'static str]) -> String {
    let mut d = Draw::new(seed, "everyday");
    let stack = d.of(stacks);
    let (rate, delay) = (d.scale(1e6, 50e6), d.scale(2000.0, 60_000.0));
    let packets = d.scale(15.0, 300.0) as u64;
    let loss = d.scale(0.001, 0.03);
    let channel = match d.below(4) {
        0 => {
            let every = d.scale(800.0, 5000.0);
            let length = (every * d.scale(0.02, 0.2)) as u64;
            let phase = d.below(every as u64);
            format!(
                "kind = \"outage\"\nschedule = {{ every = \"{}us\", for = \"{length}ms\", phase = \"{phase}ms\" }}",
                every as u64 * 1000 + 17_389
            )
        }
        1 => format!(
            "direction = \"forward\"\nkind = \"gilbert-elliott\"\nmean_loss = {loss:.4}\nmean_burst = \"{}us\"",
            d.scale(500.0, 50_000.0) as u64
        ),
        2 => format!("kind = \"random\"\nloss = {loss:.5}"),
        _ => format!("direction = \"forward\"\nkind = \"random\"\nloss = {loss:.5}"),
    };
    let mut out = format!(
        "name = \"everyday-{seed}\"\nseed = {seed}\n[[node]]\nname = \"n0\"\n[[node]]\nname = \"n1\"\n\
         [[link]]\nname = \"l\"\nbetween = [\"n0\", \"n1\"]\nrate = \"{}bps\"\ndelay = \"{}us\"\n\
         queue = {{ kind = \"droptail\", packets = {packets} }}\n[[link.channel]]\nname = \"c\"\n{channel}\n",
        rate as u64, delay as u64
    );
    let receiver = d.of(stacks);
    for flow in 0..1 + d.below(3) {
        out += &format!(
            "[[flow]]\nname = \"f{flow}\"\nfrom = \"n0\"\nto = \"n1\"\nstart = \"{}ms\"\nstack = \"{stack}\"\n\
             receiver = \"{receiver}\"\nworkload = {{ kind = \"file\", size = \"{}B\" }}\n",
            d.below(3000),
            d.scale(50_000.0, 3e6) as u64
        );
    }
    out + "[record]\ncapture = [\"n0\", \"n1\"]\nretransmissions = true\npackets = true\n"
}
