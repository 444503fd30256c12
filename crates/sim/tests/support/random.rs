//! Random scenarios: paths of one to three links with everything that a path can do, and transfers over them.

use links::random::Stream;
use std::fmt::Write;

/// Stacks of real endpoints, and one-way agents.
pub const WIRE: &[&str] = &[
    "rfc-tahoe",
    "rfc-reno",
    "rfc-newreno",
    "rfc-sack",
    "rfc-reno-fast-after-timeout",
    "linux-2.2",
    "linux-2.2-cured",
    "linux-2.4",
    "linux-2.6-reno",
    "linux-2.6-cubic",
    "linux-2.6-westwood",
    "windows-7",
    "windows-7-compound",
    "osx-10.7",
    "osx-10.9",
    "ns3.20-tahoe",
    "ns3.20-reno",
    "ns3.20-newreno",
];
/// Those of today, apart: what is drawn from the former stays as it is, and figures of the two are told apart.
pub const TODAY: &[&str] = &["linux-6-cubic", "linux-6-reno", "linux-6-bbr", "draft-bbr3", "rfc9406-cubic"];
/// Linux between 2.6 and 6.
pub const BETWEEN: &[&str] = &["linux-3.10-cubic", "linux-4.9-cubic"];
/// Those of which something is assumed.
pub const ASSUMED: &[&str] = &["windows-11", "macos-14", "freebsd-14"];
pub const ONE_WAY: &[&str] =
    &["ns2-tahoe", "ns2-newreno", "ns2-sack", "ns2.35-reno", "ns2.35-sack", "ns2.35-vegas"];

/// What a scenario may hold.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub stacks: &'static [&'static str],
    pub least_bytes: u64,
    pub most_bytes: u64,
    /// Packets may overtake each other or come twice.
    pub disorder: bool,
}

/// Draws of one scenario.
#[derive(Clone)]
pub struct Draw(Stream);

#[allow(dead_code)] // each test file uses its own part
impl Draw {
    pub fn new(seed: u64, purpose: &str) -> Draw {
        Draw(Stream::new(seed, "random scenario", purpose))
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }
    pub fn chance(&mut self, p: f64) -> bool {
        self.0.chance(p)
    }
    /// Between `low` and `high`, evenly over the orders of magnitude.
    pub fn scale(&mut self, low: f64, high: f64) -> f64 {
        low * libm::pow(high / low, self.0.uniform())
    }
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The TOML text of scenario number `seed`.
pub fn text(seed: u64, choice: Choice) -> String {
    let mut d = Draw::new(seed, "text");
    let hops = 1 + d.below(3) as usize;
    let mut out = format!("name = \"random-{seed}\"\nseed = {seed}\n");
    for n in 0..=hops {
        let _ = writeln!(out, "[[node]]\nname = \"n{n}\"");
    }
    for n in 0..hops {
        link(&mut out, &mut d, n, choice);
    }
    let stack = d.of(choice.stacks);
    let one_way = ONE_WAY.contains(&stack);
    let receiver = if one_way { stack } else { d.of(choice.stacks) };
    for flow in 0..1 + d.below(3) {
        let bytes = d.scale(choice.least_bytes as f64, choice.most_bytes as f64) as u64;
        let _ = writeln!(
            out,
            "[[flow]]\nname = \"f{flow}\"\nfrom = \"n0\"\nto = \"n{hops}\"\nstart = \"{}ms\"\nstack = \"{stack}\"\n\
             receiver = \"{receiver}\"\nworkload = {{ kind = \"file\", size = \"{bytes}B\" }}",
            d.below(3000)
        );
    }
    out + "[record]\ncapture = [\"n0\", \"n"
        + &hops.to_string()
        + "\"]\nstate = true\nqueues = true\ndrops = true\nretransmissions = true\npackets = true\n\
           applications = true\nblocked = true\nheld = true\n"
}

fn link(out: &mut String, d: &mut Draw, n: usize, choice: Choice) {
    let rate = d.scale(0.3e6, 50e6) as u64;
    let delay = d.scale(50.0, 60_000.0) as u64;
    let queue = match d.below(8) {
        0 => "{ kind = \"codel\" }".to_owned(),
        1 => "{ kind = \"fq-codel\" }".to_owned(),
        2 => "{ kind = \"red\" }".to_owned(),
        _ => format!("{{ kind = \"droptail\", packets = {} }}", d.scale(3.0, 300.0) as u64),
    };
    let _ = writeln!(
        out,
        "[[link]]\nname = \"l{n}\"\nbetween = [\"n{n}\", \"n{}\"]\nrate = \"{rate}bps\"\ndelay = \"{delay}us\"\n\
         queue = {queue}",
        n + 1
    );
    for c in 0..d.below(3) {
        let kind = channel(d, choice);
        let at = d.of(&["ingress", "wire", "egress"]);
        let direction = d.of(&["both", "forward", "back"]);
        let _ = writeln!(
            out,
            "[[link.channel]]\nname = \"c{n}{c}\"\nat = \"{at}\"\ndirection = \"{direction}\"\n{kind}"
        );
    }
}

fn channel(d: &mut Draw, choice: Choice) -> String {
    match d.below(if choice.disorder { 9 } else { 6 }) {
        0 => {
            let every = d.scale(300.0, 6000.0);
            let length = every * d.scale(0.01, 0.3);
            let hold = d.chance(0.2);
            format!(
                "kind = \"outage\"\nhold = {hold}\nschedule = {{ every = \"{}us\", for = \"{}ms\", phase = \"{}ms\" }}",
                // No round figure: doubled time-outs would meet the outage again and again.
                every as u64 * 1000 + 17_389,
                (length as u64).max(1),
                d.below(every as u64)
            )
        }
        // Down for a tenth of the time at most: some stacks give up after five timeouts in a row.
        1 => {
            let up = d.scale(300.0, 6000.0);
            let down = up * d.scale(0.01, 0.1);
            format!(
                "kind = \"outage\"\nschedule = {{ up = \"{}ms\", down = \"{}ms\" }}",
                up as u64,
                down as u64 + 1
            )
        }
        // A chain over packets stands still while a sender backs off: long bursts are given in time, so that
        // transfers end.
        2 => {
            let loss = d.scale(0.001, 0.08);
            let burst = match d.chance(0.5) {
                true => format!("{:.2} packets", 1.0 + d.scale(0.05, 0.9)),
                false => format!("{}us", d.scale(500.0, 200_000.0) as u64),
            };
            format!("kind = \"gilbert-elliott\"\nmean_loss = {loss:.4}\nmean_burst = \"{burst}\"")
        }
        3 => format!("kind = \"random\"\nloss = {:.5}", d.scale(0.0005, 0.08)),
        4 => format!("kind = \"bit-error\"\nrate = {:.9}", d.scale(1e-8, 3e-6)),
        5 => {
            let packets: Vec<u64> = (0..1 + d.below(12)).map(|_| d.below(200)).collect();
            let mut packets = packets;
            packets.sort_unstable();
            packets.dedup();
            format!("kind = \"list\"\npackets = {packets:?}")
        }
        6 => format!(
            "kind = \"reorder\"\nprobability = {:.3}\nby = \"{}us\"",
            d.scale(0.001, 0.1),
            d.below(30_000)
        ),
        7 => format!("kind = \"duplicate\"\nprobability = {:.3}", d.scale(0.001, 0.1)),
        _ => format!("kind = \"jitter\"\nmean = \"{}us\"\nreorders = {}", 1 + d.below(5000), d.chance(0.5)),
    }
}
