//! What an outage costs: the episode's own figure against the same run without the outage.

use super::run::Run;
use super::{Draw, WIRE};
use analysis::rows::Vantage;
use wire::Time;

/// How many pairs are run.
pub const PAIRS: u64 = 60;

/// One transfer over a path that it keeps full, with one outage and without.
#[derive(Clone, Debug)]
pub struct Pair {
    pub seed: u64,
    pub stack: &'static str,
    /// How much longer the transfer took, seconds.
    pub longer_s: f64,
    /// What the analysis says the outage's episodes cost, seconds; `None` if it does not know.
    pub cost_s: Option<f64>,
}

impl Pair {
    pub fn error(&self) -> Option<f64> {
        self.cost_s.map(|c| (c - self.longer_s).abs() / self.longer_s.abs().max(1e-9))
    }
}

/// The path is full even at half the window: what is lost is time, not speed afterwards.
fn text(d: &mut Draw, stack: &str, outage: Option<(u64, u64)>) -> String {
    let rate = d.scale(3e6, 15e6);
    let rtt_s = d.scale(0.01, 0.08);
    let window = ((rate * rtt_s / 8.0) * d.scale(2.5, 4.0)).max(40_000.0) as u64;
    let (begin, length) = outage.unwrap_or((0, 0));
    let channel = match outage {
        Some(_) => format!(
            "[[link.channel]]\nname = \"gap\"\nkind = \"outage\"\nschedule = {{ intervals = [[\"{begin}ms\", \"{length}ms\"]] }}\n"
        ),
        None => String::new(),
    };
    format!(
        "name = \"cost\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[stack]]\nname = \"far\"\n\
         based_on = \"linux-2.6\"\n[stack.receive]\nwindow = {{ kind = \"fixed\", buffer = \"{window}B\" }}\n\
         [[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"{}bps\"\ndelay = \"{}us\"\n\
         queue = {{ kind = \"droptail\", packets = 1000 }}\n{channel}[[flow]]\nname = \"f\"\nfrom = \"a\"\n\
         to = \"b\"\nstack = \"{stack}\"\nreceiver = \"far\"\nworkload = {{ kind = \"file\", size = \"{}B\" }}\n\
         [record]\ncapture = [\"a\", \"b\"]\nretransmissions = true\npackets = true\n",
        rate as u64,
        (rtt_s * 5e5) as u64,
        (rate * 1.3) as u64,
    )
}

/// When the last of the data was acknowledged to have come.
fn took(run: &Run) -> f64 {
    run.summary.connections[0].ways[0].last_delivered.map_or(0.0, |t| (t - Time::ZERO).as_secs())
}

pub fn pair(seed: u64) -> Pair {
    let mut d = Draw::new(seed, "cost");
    let stack = d.of(WIRE);
    let begin = 4000 + d.below(2000);
    let length = d.scale(50.0, 2000.0) as u64;
    let path = d.clone();
    let with = Run::of(&text(&mut d, stack, Some((begin, length))), seed, 1);
    let without = Run::of(&text(&mut path.clone(), stack, None), seed, 1);
    let rows = with.analysed(Vantage::Sender);
    // Those that the outage began, and those of its repair that came to nothing and began again.
    let from = Time(begin as i64 * 1_000_000 - 1_000_000_000);
    let costs = rows.episodes.iter().filter(|e| e.start >= from).map(|e| e.cost.map(|c| c.as_secs()));
    let costs: Option<Vec<f64>> = costs.collect();
    let cost_s = costs.filter(|c| !c.is_empty()).map(|c| c.iter().sum());
    Pair { seed, stack, longer_s: took(&with) - took(&without), cost_s }
}
