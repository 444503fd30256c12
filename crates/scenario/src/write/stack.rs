//! Stacks as TOML.

mod oneway;

use params::quoted;
use params::units::{show_bytes, show_span};
use params::{Lines, Param};
use tcp::stack::*;

/// `prefix` stands before the sections' names: nothing in a stack file, `stack.` in a scenario.
pub(super) fn stack(s: &Stack, prefix: &str, out: &mut Lines) {
    out.text("name", &s.name);
    out.text("about", &s.about);
    out.sources(known_from(s, ""));
    if let Some(kernel) = &s.kernel {
        out.text("kernel", kernel);
    }
    out.flag("wire", matches!(s.kind, Kind::Wire(_)));
    match &s.kind {
        Kind::Wire(wire) => sections(s, wire, prefix, out),
        Kind::OneWay(agent) => {
            out.head(&format!("[{prefix}oneway]"));
            oneway::one_way(agent, out);
            out.sources(known_from(s, "oneway"));
        }
    }
}

fn known_from<'a>(s: &'a Stack, part: &str) -> &'a [String] {
    s.sources.iter().find(|(of, _)| *of == part).map_or(&[], |(_, said)| said)
}

fn sections(s: &Stack, w: &Wire, prefix: &str, out: &mut Lines) {
    let mut section = |name: &str, write: &dyn Fn(&mut Lines)| {
        out.head(&format!("[{prefix}{name}]"));
        write(out);
        if let Some((_, rule)) = w.own.all().find(|(of, _)| *of == name) {
            rule.write(out);
        }
        if s.assumed.contains(&name) {
            out.flag("assumed", true);
        }
        out.sources(known_from(s, name));
    };
    section("options", &|out| options(&w.options, out));
    section("detect", &|out| detect(&w.detect, out));
    section("recovery", &|out| recovery(&w.recovery, out));
    section("congestion", &|out| congestion(&w.congestion, out));
    section("rto", &|out| rto(&w.rto, out));
    section("undo", &|out| undo(&w.undo, out));
    section("send", &|out| send(&w.send, out));
    section("receive", &|out| receive(&w.receive, out));
}

fn options(o: &Options, out: &mut Lines) {
    out.text("mss", show_bytes(o.mss_bytes.into()));
    out.flag("window_scale", o.window_scale);
    match o.window_shift {
        None => out.text("window_shift", "fitting"),
        Some(n) => out.whole("window_shift", n.into()),
    }
    out.flag("sack", o.sack);
    out.flag("timestamps", o.timestamps);
    out.flag("announces_mss", o.announces_mss);
    out.span("timestamp_tick", o.timestamp_tick);
    o.ecn.write("ecn", out);
}

fn detect(d: &Detect, out: &mut Lines) {
    let rule = match d.rule {
        DetectRule::DupAcks => "dup-acks",
        DetectRule::Rfc6675 => "rfc6675",
        DetectRule::LinuxSack => "linux-sack",
        DetectRule::LinuxFack => "linux-fack",
        DetectRule::Xnu1699 => "xnu-1699",
        DetectRule::Rack => "rack",
        DetectRule::FackRack => "fack-rack",
        DetectRule::FackOrder => "fack-order",
        DetectRule::Own => "python",
    };
    out.text("rule", rule);
    out.whole("dupthresh", d.dupthresh.into());
    out.flag("limited_transmit", d.limited_transmit);
    out.flag("tail_loss_probe", d.tail_loss_probe);
    out.span("max_ack_delay", d.max_ack_delay);
    out.span("timer_slack", d.timer_slack);
    d.probe.write("probe", out);
    out.flag("early_retransmit", d.early_retransmit);
}

fn recovery(r: &Recovery, out: &mut Lines) {
    let rule = match r.rule {
        RecoveryRule::None => "none",
        RecoveryRule::Reno => "reno",
        RecoveryRule::NewReno { .. } => "newreno",
        RecoveryRule::Pipe => "pipe",
        RecoveryRule::Prr { .. } => "prr",
        RecoveryRule::RateHalving => "rate-halving",
        RecoveryRule::Ns320 { .. } => "ns3.20",
        RecoveryRule::Own => "python",
    };
    out.text("rule", rule);
    match r.rule {
        RecoveryRule::NewReno { impatient } => out.flag("impatient", impatient),
        RecoveryRule::Prr { of } => of.write("of", out),
        RecoveryRule::Ns320 { variant } => out.text(
            "variant",
            match variant {
                Ns320::Tahoe => "tahoe",
                Ns320::Reno => "reno",
                Ns320::NewReno => "newreno",
            },
        ),
        _ => {}
    }
    let after = match r.after_timeout {
        AfterTimeout::GoBackN => "go-back-n",
        AfterTimeout::MarkLost => "mark-lost",
        AfterTimeout::RepairsOnly => "repairs-only",
        AfterTimeout::FastRecovery => "fast-recovery",
    };
    out.text("after_timeout", after);
    r.pipe.write("pipe", out);
    out.flag("rescue", r.rescue);
    out.flag("keeps_sacks", r.keeps_sacks);
    r.restarts_timer.write("restarts_timer", out);
    out.flag("timeout_reduces_again", r.timeout_reduces_again);
    r.bound.write("bound", out);
}

fn congestion(c: &Congestion, out: &mut Lines) {
    c.rule.write("rule", out);
    match c.initial_window {
        InitialWindow::Segments(n) => out.text("initial_window", format!("{n} SMSS")),
        InitialWindow::Rfc3390 => out.text("initial_window", "rfc3390"),
    }
    match c.initial_ssthresh_bytes {
        None => out.text("initial_ssthresh", "unbounded"),
        Some(bytes) => out.text("initial_ssthresh", show_bytes(bytes.into())),
    }
    match c.slow_start {
        SlowStartKind::Bytes { limit } => {
            out.raw("slow_start", format!("{{ kind = \"bytes\", limit = {limit} }}"))
        }
        SlowStartKind::HyStartPlusPlus { limit } => {
            out.raw("slow_start", format!("{{ kind = \"hystart++\", limit = {limit} }}"))
        }
        SlowStartKind::PerAck => out.raw("slow_start", "{ kind = \"per-ack\" }"),
    }
    out.flag("restart_after_idle", c.restart_after_idle);
    out.flag("grows_only_when_limited", c.grows_only_when_limited);
    c.limited_by.write("limited_by", out);
}

/// The word of a stack file for it.
pub fn timer_rule(rule: RtoKind) -> &'static str {
    match rule {
        RtoKind::Rfc6298 => "rfc6298",
        RtoKind::Linux => "linux",
        RtoKind::LinuxMicroseconds => "linux-microseconds",
        RtoKind::Linux22 => "linux-2.2",
        RtoKind::Linux22Cured => "linux-2.2-cured",
        RtoKind::Ns320 => "ns3.20",
        RtoKind::Bsd => "bsd",
    }
}

fn rto(r: &RtoRule, out: &mut Lines) {
    out.text("rule", timer_rule(r.rule));
    out.span("initial", r.initial);
    out.span("min", r.min);
    out.span("max", r.max);
    out.span("granularity", r.granularity);
    out.span("slop", r.slop);
    out.flag("wheel", r.wheel);
}

fn undo(u: &Undo, out: &mut Lines) {
    out.flag("f_rto", u.f_rto);
    out.flag("eifel", u.eifel);
    out.flag("dsack", u.dsack);
    out.flag("bad_retransmit_window", u.bad_retransmit_window);
    u.rule.write("rule", out);
}

fn send(s: &Send, out: &mut Lines) {
    out.flag("nagle", s.nagle);
    out.text("buffer", s.buffer_bytes.map_or("unlimited".to_owned(), show_bytes));
    match s.max_burst_segments {
        None => out.text("max_burst", "unlimited"),
        Some(n) => out.whole("max_burst", n.into()),
    }
    out.flag("pacing", s.pacing);
    out.flag("offload", s.offload);
    out.text("keepalive_idle", s.keepalive_idle.map_or("off".to_owned(), show_span));
    out.span("keepalive_interval", s.keepalive_interval);
    out.whole("keepalive_probes", s.keepalive_probes.into());
    out.whole("max_retries", s.max_retries.into());
    s.retries.write("retries", out);
    out.flag("thin_linear_timeouts", s.thin_linear_timeouts);
    s.window_probe.write("window_probe", out);
}

fn receive(r: &Receive, out: &mut Lines) {
    let every = |kind: &str, segments: u32, timeout| {
        format!("{{ kind = {kind:?}, segments = {segments}, timeout = {} }}", quoted(&show_span(timeout)))
    };
    let delayed_ack = match r.delayed_ack {
        DelayedAck::Off => "{ kind = \"off\" }".to_owned(),
        DelayedAck::Every { every: segments, timeout } => every("every", segments, timeout),
        DelayedAck::Ns320 { every: segments, timeout } => every("ns3.20", segments, timeout),
        DelayedAck::Quick { quick, min, max, compress, pushed, growing } => {
            let (min, max) = (quoted(&show_span(min)), quoted(&show_span(max)));
            let [compress, pushed] =
                [compress, pushed].map(|time| quoted(&time.map_or("off".to_owned(), show_span)));
            format!(
                "{{ kind = \"quick\", segments = {quick}, min = {min}, max = {max}, compress = {compress}, pushed = {pushed}, growing = {growing} }}"
            )
        }
    };
    out.raw("delayed_ack", delayed_ack);
    out.flag("dsack", r.dsack);
    out.flag("sack_fin", r.sack_fin);
    let bytes = |n: u32| quoted(&show_bytes(n.into()));
    let window = match r.window {
        WindowPolicy::Fixed { buffer_bytes } => {
            format!("{{ kind = \"fixed\", buffer = {} }}", bytes(buffer_bytes))
        }
        WindowPolicy::AutoTuned { initial_bytes, untuned_bytes, max_bytes, ahead } => format!(
            "{{ kind = \"auto-tuned\", initial = {}, untuned = {}, max = {}, ahead = {ahead} }}",
            bytes(initial_bytes),
            bytes(untuned_bytes),
            bytes(max_bytes)
        ),
        WindowPolicy::Linux26(w) => format!(
            "{{ kind = \"linux-2.6\", buffer = {}, max = {}, segment_memory = {}, moderated = {} }}",
            bytes(w.buffer_bytes),
            bytes(w.max_bytes),
            bytes(w.segment_memory_bytes),
            w.moderated
        ),
    };
    out.raw("window", window);
}
