//! The sentences.

use super::costs::{Costs, Group};
use super::outages::Outages;
use super::words::{bytes, count, percent, period, rate, seconds};
use super::{Verdict, Wait};
use crate::rows::{FlowRow, Limit, RecoveryStyle};

/// Costs below this share of the duration stay unsaid.
const WORTH_SAYING: f64 = 0.01;

/// What cost time, the worst first.
pub fn sentences(flow: &FlowRow, outages: Option<&Outages>, c: &Costs) -> Vec<String> {
    let d = seconds(c.duration_s);
    let mut said: Vec<(f64, String)> = Vec::new();
    let mut say = |cost: f64, sentence: String| {
        if cost >= WORTH_SAYING * c.duration_s {
            said.push((cost, sentence));
        }
    };
    if c.outages.n > 0 {
        let n = outages.map_or(c.outages.n, |o| u64::from(o.count));
        let within = match n {
            n if n == c.outages.n => String::new(),
            _ => format!(" in {}", count(c.outages.n, "episode")),
        };
        let (what, cost) = (count(n, "outage"), seconds(c.outages.cost_s));
        say(c.outages.cost_s, format!("{what}{within} cost {cost} of {d}; {}", ending(&c.outages)));
    }
    if c.losses.n > 0 {
        let g = &c.losses;
        let lost = format!("{} lost", count(g.lost, "copy").replace("copys", "copies"));
        let tail = ending(g);
        let what = count(g.n, "loss episode");
        say(g.cost_s, format!("{what} cost {} of {d} ({lost}); {tail}", seconds(g.cost_s)));
    }
    if c.intermittent.n > 0 {
        let g = &c.intermittent;
        let what = count(g.n, "intermittent repair");
        let took = seconds(g.cost_s);
        let lost = count(g.lost, "lost segment");
        let timeouts = count(g.timeouts, "timeout");
        say(g.cost_s, format!("{what} cost {took} of {d}: {timeouts} for {lost}, one segment a timeout"));
    }
    if c.needless.n > 0 {
        let g = &c.needless;
        let what = count(g.n, "needless repair");
        say(g.cost_s, format!("{what} cost {} of {d}: nothing had been lost", seconds(g.cost_s)));
    }
    if c.stale_backoff_s > 0.0 {
        let s = seconds(c.stale_backoff_s);
        say(c.stale_backoff_s, format!("{s} of waiting were a back-off that had outlived its segment"));
    }
    let gaps = [
        (c.application, "the application had nothing to send for"),
        (c.zero_window, "the receiver had closed its window for"),
        (c.receive_window, "the receiver's window was full for"),
    ];
    for (g, what) in gaps.into_iter().filter(|(g, _)| g.n > 0) {
        let (total, longest) = (seconds(g.total_s), seconds(g.longest_s));
        let tail = if g.n > 1 { format!(", the longest {longest}") } else { String::new() };
        say(g.total_s, format!("{what} {total} of {d}, in {}{tail}", count(g.n, "gap")));
    }
    if c.handshake_s > 0.0 {
        let n = match flow.syn_retransmissions {
            1 => "once".into(),
            2 => "twice".into(),
            n => format!("{n} times"),
        };
        say(
            c.handshake_s,
            format!("the handshake was resent {n}, which cost {} of {d}", seconds(c.handshake_s)),
        );
    }
    if let Some(sentence) = ceiling(c) {
        // It costs no gap: it stands behind whatever does.
        said.push((0.0, sentence));
    }
    said.sort_by(|a, b| b.0.total_cmp(&a.0));
    if said.is_empty() {
        let speed =
            if c.duration_s > 0.0 { rate(flow.bytes as f64 * 8.0 / c.duration_s) } else { String::new() };
        said.push((
            0.0,
            match flow.retransmitted_segments {
                0 if speed.is_empty() => "nothing was lost".into(),
                0 => {
                    format!("nothing was lost and nothing held it up: {} in {d}, {speed}", bytes(flow.bytes))
                }
                n => format!("{} resent in {d}, at hardly any cost", count(n, "segment")),
            },
        ));
    }
    said.into_iter().map(|s| s.1).collect()
}

/// How the episodes of a group ended, and why if they have a reason in common.
fn ending(g: &Group) -> String {
    let (n, timed_out) = (g.n, g.timed_out);
    let because = g.common_wait().map_or(String::new(), |w| match w {
        Wait::WindowSentOut { bytes: b, advertised } => {
            let whose = if advertised { "the receiver's window" } else { "the window" };
            format!(" because {whose} ({}) was sent out before the link came back", bytes(b))
        }
        Wait::Tail => " because nothing was left behind the losses to be SACKed".into(),
        Wait::FewInFlight => " because too little was in flight for duplicate ACKs".into(),
        Wait::NothingArrived => " because nothing from beyond the hole arrived".into(),
    });
    match timed_out {
        0 if n == 1 => "it was repaired on an ACK or a probe, without a timeout".into(),
        0 => "all were repaired on ACKs or probes, without a timeout".into(),
        1 if n == 1 && g.timeouts > 1 => format!("its repair took {}{because}", count(g.timeouts, "timeout")),
        1 if n == 1 => format!("it ended in a timeout{because}"),
        t if t == n => format!("each ended in a timeout{because}"),
        1 => format!("1 of the {n} ended in a timeout{because}"),
        t => format!("{t} of the {n} ended in timeouts{because}"),
    }
}

fn ceiling(c: &Costs) -> Option<String> {
    let w = c.ceiling.filter(|w| w.reached >= 0.5)?;
    let whose = match w.limit {
        Limit::ReceiveWindow => "the receiver's window",
        _ => "the sender's own window",
    };
    let (size, allows) = (bytes(w.bytes), rate(w.allows_bps));
    Some(format!("{whose} never exceeded {size}, which at this RTT allows {allows} at most"))
}

/// "the network: everything vanishes, both ways, for about 200 ms every 2.50 s (…)".
pub fn look_at(verdict: Verdict, flow: &FlowRow, outages: Option<&Outages>, c: &Costs) -> String {
    let why = match verdict {
        Verdict::Network => match outages.filter(|_| c.outages.cost_s >= c.losses.cost_s) {
            Some(o) => vanishing(o),
            None if c.handshake_s > c.losses.cost_s => "the first packets of the connection were lost".into(),
            None => losing(flow),
        },
        Verdict::SendingStack => stack(flow, c),
        Verdict::Receiver => match c.zero_window.n {
            0 => format!("its window of {} is what holds the sender back", bytes(receive_window(flow, c))),
            n => format!("it closed its window {}: the program there reads too slowly", times(n)),
        },
        Verdict::SendingApplication => {
            format!("for {} of the time it had given the stack nothing to send", percent(c.share_of(verdict)))
        }
        Verdict::Nothing if c.total() >= WORTH_SAYING * c.duration_s && c.total() > 0.0 => {
            let (lost, d) = (seconds(c.total()), seconds(c.duration_s));
            return format!("nothing in particular: only {lost} of {d} were lost in all");
        }
        Verdict::Nothing => return "nothing: no time was lost that shows here".into(),
        Verdict::CannotTell => return "cannot tell: the capture does not show enough".into(),
    };
    format!("{}: {why}", verdict.words())
}

fn times(n: u64) -> String {
    match n {
        1 => "once".into(),
        2 => "twice".into(),
        n => format!("{n} times"),
    }
}

fn receive_window(flow: &FlowRow, c: &Costs) -> u64 {
    c.ceiling.map_or(flow.window_max_bytes, |w| w.bytes)
}

fn vanishing(o: &Outages) -> String {
    let ways = match o.both_ways {
        Some(true) => "everything vanishes, both ways,",
        Some(false) => "data vanishes, ACKs do not,",
        None => "everything vanishes",
    };
    let long = match o.length_s {
        Some(s) => format!(" for about {}", seconds(s)),
        None if o.at_least_s < 0.001 => String::new(),
        None => format!(" for {} or more", seconds(o.at_least_s)),
    };
    let often = match (o.period_s, o.count) {
        (Some(p), _) => format!(" every {}", period(p)),
        (None, 1) => format!(" once, at {}", period(o.first_s)),
        (None, n) => format!(" {}, not in a beat", times(u64::from(n))),
    };
    let flat = match (o.rtt_flat_before, o.count) {
        (0, _) => String::new(),
        (f, n) if f == n && n > 1 => " (an outage, not congestion: RTT was flat before each)".into(),
        (f, n) if f == n => " (an outage, not congestion: RTT was flat before it)".into(),
        (f, n) => format!(" (an outage, not congestion: RTT was flat before {f} of {n})"),
    };
    format!("{ways}{long}{often}{flat}")
}

/// Losses without outages: a queue that overflows, or scattered ones.
fn losing(flow: &FlowRow) -> String {
    let share =
        loss_share(flow).map_or(String::new(), |p| format!("{} of the copies are lost, ", percent(p)));
    let r = &flow.rtt_ack;
    let queue = r.n > 0 && r.mean > 1.5 * r.min + 0.005;
    let how = match queue {
        true => format!("and a queue builds up (RTT {} to {}): congestion", seconds(r.min), seconds(r.max)),
        false => format!("{:.1} in a row on average, without a queue building up", flow.mean_burst.max(1.0)),
    };
    format!("{share}{how}")
}

fn loss_share(flow: &FlowRow) -> Option<f64> {
    flow.lost_copies.filter(|_| flow.segments > 0).map(|l| l as f64 / flow.segments as f64)
}

fn stack(flow: &FlowRow, c: &Costs) -> String {
    let one_at_a_time = match flow.sack_permitted {
        true => "it repairs one segment a timeout instead of all that SACK shows to be missing",
        false => "it repairs one segment a timeout, and SACK was not agreed on",
    };
    let parts = [
        (c.intermittent.cost_s, one_at_a_time),
        (c.stale_backoff_s, "its timer keeps backing off after progress, as Linux 2.2 did"),
        (c.needless.cost_s, "it resends what had arrived"),
    ];
    let (cost, worst) = parts.into_iter().fold((0.0, ""), |m, p| if p.0 > m.0 { p } else { m });
    match c.ceiling {
        _ if cost > 0.0 => worst.into(),
        Some(w) => format!("its window stays at {} (send buffer or congestion window)", bytes(w.bytes)),
        None => format!("{} resent needlessly", count(flow.needless, "segment")),
    }
}

/// Figures behind the verdict.
pub fn evidence(verdict: Verdict, flow: &FlowRow, outages: Option<&Outages>, c: &Costs) -> Vec<String> {
    let mut e = Vec::new();
    if c.share_of(verdict) > 0.0 {
        e.push(format!("{} of the duration", percent(c.share_of(verdict))));
    }
    if let (Some(lost), Some(share)) = (flow.lost_copies.filter(|l| *l > 0), loss_share(flow)) {
        let bursts = count(u64::from(flow.bursts), "burst");
        e.push(format!(
            "{lost} of {} copies lost ({}), in {bursts}, the largest {}",
            flow.segments,
            percent(share),
            flow.largest_burst
        ));
    }
    if let Some(o) = outages.filter(|_| verdict == Verdict::Network) {
        if let (Some(p), Some(j)) = (o.period_s, o.jitter_s) {
            let missed = match o.beats_missed {
                0 => String::new(),
                n => format!(", {n} unseen"),
            };
            e.push(format!("{} outages on a beat of {}, within {}{missed}", o.count, period(p), seconds(j)));
        }
        if o.rtt_flat_before > 0 {
            e.push(format!(
                "RTT near its minimum before {} of {}",
                o.rtt_flat_before,
                count(u64::from(o.count), "outage")
            ));
        }
    }
    let r = &flow.rtt_ack;
    if r.n > 0 {
        e.push(format!("RTT {} ({} to {})", seconds(r.mean), seconds(r.min), seconds(r.max)));
    }
    if flow.timeouts > 0 {
        let deepest = match flow.max_backoff {
            0 => String::new(),
            b => format!(", back-off up to {b}"),
        };
        e.push(format!("{}{deepest}", count(flow.timeouts, "timeout")));
    }
    if flow.zero_windows > 0 {
        e.push(format!("zero window advertised {}", times(flow.zero_windows)));
    }
    if let Some(w) = c.ceiling {
        e.push(format!("reached {} of what {} allow", percent(w.reached), bytes(w.bytes)));
    }
    if flow.needless > 0 {
        let all = flow.retransmitted_segments;
        e.push(format!("{} of {} resent segments were needless", flow.needless, all));
    }
    if let Some((RecoveryStyle::OnePerTimeout, _)) = flow.inference.recovery {
        e.push("its repairs follow the pattern of one segment a timeout".into());
    }
    e
}
