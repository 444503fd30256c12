//! What a sender is made of: what the analysis infers against the stack that it was, and the states that it went through.

use super::run::Run;
use super::{Draw, WIRE};
use analysis::rows::{FlowRow, Growth, RecoveryStyle, Vantage};
use scenario::model::Transport;
use sim::rows::{Phase, StateRow};
use tcp::stack::{Kind, RecoveryRule, Wire};

/// How many runs are asked: ten of each stack.
pub const RUNS: u64 = 180;

/// One figure of one run; `None` said: cannot tell.
#[derive(Clone, Debug)]
pub struct Answer {
    pub seed: u64,
    pub stack: &'static str,
    pub what: &'static str,
    pub truth: String,
    pub said: Option<String>,
    pub right: bool,
}

/// One transfer over one link that loses little; half of the receivers have a small fixed window.
fn text(d: &mut Draw, stack: &str) -> String {
    let rate = d.scale(2e6, 20e6);
    let rtt_s = d.scale(0.02, 0.12);
    let bdp = rate * rtt_s / 8.0;
    let packets = (bdp / 1500.0 * d.scale(0.6, 1.5)).max(8.0) as u64;
    let window = match d.chance(0.4) {
        true => (bdp * d.scale(0.3, 0.9)).max(12_000.0) as u64,
        false => 4_000_000,
    };
    let loss = if d.chance(0.5) { d.scale(2e-5, 2e-3) } else { 0.0 };
    let receiver = d.of(&["linux-2.6", "linux-2.6", "windows-7", "rfc-sack", "rfc-reno"]);
    format!(
        "name = \"sender\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[stack]]\nname = \"far\"\n\
         based_on = \"{receiver}\"\n[stack.receive]\nwindow = {{ kind = \"fixed\", buffer = \"{window}B\" }}\n\
         [[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"{}bps\"\ndelay = \"{}us\"\n\
         queue = {{ kind = \"droptail\", packets = {packets} }}\n[[link.channel]]\nname = \"c\"\n\
         direction = \"forward\"\nkind = \"random\"\nloss = {loss:.6}\n[[flow]]\nname = \"f\"\nfrom = \"a\"\n\
         to = \"b\"\nstack = \"{stack}\"\nreceiver = \"far\"\nworkload = {{ kind = \"file\", size = \"{}B\" }}\n\
         [record]\ncapture = [\"a\", \"b\"]\nstate = true\npackets = true\n",
        rate as u64,
        (rtt_s * 5e5) as u64,
        (rate * 1.5) as u64,
    )
}

pub fn answers(seed: u64) -> Vec<Answer> {
    let mut d = Draw::new(seed, "sender");
    let stack = WIRE[(seed % WIRE.len() as u64) as usize];
    let run = Run::of(&text(&mut d, stack), seed, 1);
    let rows = run.analysed(Vantage::Sender);
    let Some(flow) = rows.flows.iter().max_by_key(|f| f.bytes) else { return Vec::new() };
    let states: Vec<&StateRow> = run.states.iter().filter(|s| s.forward).collect();
    let Some(wire) = wire(&run) else { return Vec::new() };
    let mut out = vec![
        initial_window(flow, &states),
        recovery(flow, wire),
        f_rto(flow, wire),
        tail_loss_probes(flow, wire),
    ];
    out.extend(growth(flow, wire, &states));
    out.extend(decrease(flow, &states));
    for a in &mut out {
        (a.seed, a.stack) = (seed, stack);
    }
    out
}

fn wire(run: &Run) -> Option<&Wire> {
    let Transport::Tcp { stack, .. } = run.scenario.flows[0].transport else { return None };
    match &run.scenario.stacks[stack].kind {
        Kind::Wire(wire) => Some(wire),
        Kind::OneWay(_) => None,
    }
}

fn answer(what: &'static str, truth: impl ToString, said: Option<String>, right: bool) -> Answer {
    Answer { seed: 0, stack: "", what, truth: truth.to_string(), said, right }
}

/// cwnd before the first data left.
fn initial_window(flow: &FlowRow, states: &[&StateRow]) -> Answer {
    let truth = states.first().map_or(0, |s| (s.state.cwnd_bytes / f64::from(s.state.smss_bytes)) as u32);
    let said = flow.inference.initial_window_segments.map(|x| x.0);
    answer("initial window", truth, said.map(|n| n.to_string()), said == Some(truth))
}

/// ssthresh at the beginning of each fast recovery over the window before it; the median, where there is one.
fn decrease(flow: &FlowRow, states: &[&StateRow]) -> Option<Answer> {
    let begins = |w: &&[&StateRow]| w[0].state.phase == Phase::Open && w[1].state.phase == Phase::Recovery;
    let mut ratios: Vec<f64> = states
        .windows(2)
        .filter(begins)
        .filter_map(|w| {
            Some(w[1].state.ssthresh_bytes? / w[0].state.cwnd_bytes.min(w[0].state.peer_window_bytes as f64))
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let said = flow.inference.decrease_factor.map(|x| x.0);
    if ratios.is_empty() {
        return None;
    }
    let truth = ratios[ratios.len() / 2];
    let right = said.is_some_and(|s| (s - truth).abs() < 0.1);
    Some(answer("decrease factor", format!("{truth:.2}"), said.map(|s| format!("{s:.2}")), right))
}

/// The share of the time in which the peer's window was the smaller one.
fn held_by_peer(states: &[&StateRow]) -> f64 {
    let (mut held, mut all) = (0.0, 0.0);
    for w in states.windows(2) {
        let s = &w[0].state;
        let t = (w[1].time - w[0].time).as_secs();
        all += t;
        if s.cwnd_bytes >= s.peer_window_bytes as f64 - f64::from(s.smss_bytes) {
            held += t;
        }
    }
    held / f64::max(all, 1e-9)
}

/// Of the rules whose law is known by name.
fn growth(flow: &FlowRow, wire: &Wire, states: &[&StateRow]) -> Option<Answer> {
    let truth = match wire.congestion.rule.name() {
        "cubic" | "cubic-linux-2.6" | "cubic-linux-6" => "Cubic",
        "aimd" | "westwood+" => "Linear",
        "compound" => "Compound",
        "vegas" => "Flat",
        _ => return None,
    };
    let said = flow.inference.growth.map(|x| x.0);
    let right = match said {
        // Held by the receiver's window, or by a send buffer, no growth shows.
        Some(Growth::Flat) => {
            truth == "Flat" || wire.send.buffer_bytes.is_some() || held_by_peer(states) > 0.3
        }
        Some(Growth::Linear) => truth == "Linear" || truth == "Compound",
        Some(Growth::Cubic) => truth == "Cubic",
        None => false,
    };
    Some(answer("growth", truth, said.map(|g| format!("{g:?}")), right))
}

fn recovery(flow: &FlowRow, wire: &Wire) -> Answer {
    use RecoveryRule as R;
    let sack = flow.sack_permitted == Some(true);
    let truth = match wire.recovery.rule {
        R::None | R::Ns320 { variant: tcp::stack::Ns320::Tahoe } => RecoveryStyle::GoBackN,
        R::Pipe | R::Prr { .. } | R::RateHalving if sack => RecoveryStyle::Sack,
        _ => RecoveryStyle::NewReno,
    };
    let said = flow.inference.recovery.map(|x| x.0);
    answer("recovery style", format!("{truth:?}"), said.map(|r| format!("{r:?}")), said == Some(truth))
}

fn f_rto(flow: &FlowRow, wire: &Wire) -> Answer {
    let said = flow.inference.f_rto.map(|x| x.0);
    answer("F-RTO", wire.undo.f_rto, said.map(|b| b.to_string()), said == Some(wire.undo.f_rto))
}

fn tail_loss_probes(flow: &FlowRow, wire: &Wire) -> Answer {
    let (said, truth) = (flow.inference.tail_loss_probes.map(|x| x.0), wire.detect.tail_loss_probe);
    answer("tail-loss probes", truth, said.map(|b| b.to_string()), said == Some(truth))
}
