//! A stack from its checked values.

mod oneway;

use crate::keys::STACK;
use instant::Span;
use params::problem::Problems;
use params::units::Amount;
use params::{Item, Param, Value, Values};
use tcp::own::{OwnRule, OwnRules};
use tcp::stack::*;

/// What the largest window of a connection can be: 65535 scaled by 14 (RFC 7323 §2.3).
const MAX_WINDOW: u64 = 65_535 << 14;

pub(super) fn stack(v: &Values, p: &mut Problems) -> Option<Stack> {
    let wire = v.flag("wire");
    refuse_other_sections(v, wire, p);
    let kind = if wire {
        Kind::Wire(Box::new(wire_stack(v, p)?))
    } else {
        match v.table("oneway") {
            Some(values) => Kind::OneWay(Box::new(oneway::one_way(values, p)?)),
            None => {
                if v.item("oneway").is_none() {
                    v.missing(p, "oneway", "a stack with wire = false is made of it");
                }
                return None;
            }
        }
    };
    let kernel = v.text("kernel").filter(|name| !name.is_empty()).map(str::to_owned);
    let about = v.text("about").unwrap_or_default().to_owned();
    Some(Stack { name: v.name(), about, sources: sources(v), assumed: assumed(v), kernel, kind })
}

fn assumed(v: &Values) -> Vec<&'static str> {
    let said = |name| v.table(name).is_some_and(|section| section.flag("assumed"));
    WIRE_SECTIONS.into_iter().filter(|name| said(name)).collect()
}

fn sources(v: &Values) -> Vec<(&'static str, Vec<String>)> {
    let sections = STACK.keys.iter().filter_map(|key| Some((key.name, v.table(key.name)?)));
    let all = std::iter::once(("", v)).chain(sections).map(|(part, v)| (part, v.texts("source")));
    all.filter(|(_, said)| !said.is_empty()).collect()
}

const WIRE_SECTIONS: [&str; 8] =
    ["options", "detect", "recovery", "congestion", "rto", "undo", "send", "receive"];

fn refuse_other_sections(v: &Values, wire: bool, p: &mut Problems) {
    let (sections, says) = match wire {
        true => (&["oneway"][..], "is for one-way agents: say wire = false, or leave it out"),
        false => (&WIRE_SECTIONS[..], "is for real endpoints; with wire = false there is only [oneway]"),
    };
    for item in sections.iter().filter_map(|s| v.item(s)) {
        p.add(&item.origin, &item.path, None, says);
    }
}

/// A section that is not given is one without keys: all defaults.
fn section<'a>(v: &'a Values, key: &'static str, scratch: &'a mut Option<Values>) -> Option<&'a Values> {
    match v.item(key) {
        Some(item) => item.table(),
        None => {
            *scratch = Some(defaults(key)?);
            scratch.as_ref()
        }
    }
}

pub(crate) fn defaults(key: &'static str) -> Option<Values> {
    use crate::keys::Kind as K;
    use crate::tree::{Node, Tree};
    use params::problem::Origin;
    let table = STACK.keys.iter().find_map(|k| match k.kind {
        K::Table(table) if k.name == key => Some(table),
        _ => None,
    })?;
    let nothing = Node { value: Tree::Table(Vec::new()), origin: Origin::Default };
    let mut unread = Problems::default();
    let values = crate::check::table(&nothing, table, key, &mut unread);
    unread.is_empty().then_some(values)
}

fn wire_stack(v: &Values, p: &mut Problems) -> Option<Wire> {
    let mut scratch: [Option<Values>; 8] = Default::default();
    let [s0, s1, s2, s3, s4, s5, s6, s7] = &mut scratch;
    let options = options(section(v, "options", s0)?, p);
    let [detected, repaired, controlled] =
        [section(v, "detect", s1)?, section(v, "recovery", s2)?, section(v, "congestion", s3)?];
    let own = OwnRules {
        detect: own(detected),
        recovery: own(repaired),
        congestion: own(controlled),
        ..OwnRules::default()
    };
    let detect = detect(detected);
    let recovery = recovery(repaired);
    let congestion = congestion(controlled, p);
    let rto = rto(section(v, "rto", s4)?, p);
    let undo = undo(section(v, "undo", s5)?, detect.as_ref().map(|d| d.rule), p);
    let send = send(section(v, "send", s6)?);
    let receive = receive(section(v, "receive", s7)?, p);
    Some(Wire {
        options: options?,
        detect: detect?,
        recovery: recovery?,
        congestion: congestion?,
        rto: rto?,
        undo: undo?,
        send: send?,
        receive: receive?,
        own,
    })
}

/// The class of a section whose rule is of one's own.
fn own(v: &Values) -> Option<Box<OwnRule>> {
    if v.variant_name() == "python" { OwnRule::read(v).map(Box::new) } else { None }
}

fn options(v: &Values, p: &mut Problems) -> Option<Options> {
    Some(Options {
        mss_bytes: size(v.item("mss")?, u64::from(u16::MAX), p)? as u16,
        window_scale: v.flag("window_scale"),
        window_shift: v.whole("window_shift").map(|n| n as u8),
        sack: v.flag("sack"),
        timestamps: v.flag("timestamps"),
        announces_mss: v.flag("announces_mss"),
        timestamp_tick: v.span("timestamp_tick")?,
        ecn: Param::read(v, "ecn")?,
    })
}

fn detect(v: &Values) -> Option<Detect> {
    let rule = match v.variant?.name {
        "dup-acks" => DetectRule::DupAcks,
        "rfc6675" => DetectRule::Rfc6675,
        "linux-sack" => DetectRule::LinuxSack,
        "linux-fack" => DetectRule::LinuxFack,
        "xnu-1699" => DetectRule::Xnu1699,
        "rack" => DetectRule::Rack,
        "fack-rack" => DetectRule::FackRack,
        "fack-order" => DetectRule::FackOrder,
        "python" => DetectRule::Own,
        _ => return None,
    };
    Some(Detect {
        rule,
        dupthresh: v.whole("dupthresh")? as u32,
        remembered: None,
        limited_transmit: v.flag("limited_transmit"),
        tail_loss_probe: v.flag("tail_loss_probe"),
        max_ack_delay: v.span("max_ack_delay")?,
        timer_slack: v.span("timer_slack")?,
        probe: Param::read(v, "probe")?,
        early_retransmit: v.flag("early_retransmit"),
    })
}

fn recovery(v: &Values) -> Option<Recovery> {
    let rule = match v.variant?.name {
        "none" => RecoveryRule::None,
        "reno" => RecoveryRule::Reno,
        "newreno" => RecoveryRule::NewReno { impatient: v.flag("impatient") },
        "pipe" => RecoveryRule::Pipe,
        "prr" => RecoveryRule::Prr { of: Param::read(v, "of")? },
        "rate-halving" => RecoveryRule::RateHalving,
        "ns3.20" => RecoveryRule::Ns320 { variant: ns320(v.word("variant")?)? },
        "python" => RecoveryRule::Own,
        _ => return None,
    };
    let after_timeout = match v.word("after_timeout")? {
        "go-back-n" => AfterTimeout::GoBackN,
        "mark-lost" => AfterTimeout::MarkLost,
        "repairs-only" => AfterTimeout::RepairsOnly,
        "fast-recovery" => AfterTimeout::FastRecovery,
        _ => return None,
    };
    Some(Recovery {
        rule,
        after_timeout,
        pipe: Param::read(v, "pipe")?,
        rescue: v.flag("rescue"),
        keeps_sacks: v.flag("keeps_sacks"),
        restarts_timer: Param::read(v, "restarts_timer")?,
        timeout_reduces_again: v.flag("timeout_reduces_again"),
        bound: Param::read(v, "bound")?,
    })
}

fn ns320(word: &str) -> Option<Ns320> {
    match word {
        "tahoe" => Some(Ns320::Tahoe),
        "reno" => Some(Ns320::Reno),
        "newreno" => Some(Ns320::NewReno),
        _ => None,
    }
}

fn congestion(v: &Values, p: &mut Problems) -> Option<Congestion> {
    let initial_window = match &v.item("initial_window")?.value {
        Value::Word("rfc3390") => InitialWindow::Rfc3390,
        _ => InitialWindow::Segments(count(v.item("initial_window")?, p)?),
    };
    let initial_ssthresh_bytes = match &v.item("initial_ssthresh")?.value {
        Value::Word(_) => None,
        _ => Some(size(v.item("initial_ssthresh")?, MAX_WINDOW, p)? as u32),
    };
    let slow_start = match v.item("slow_start") {
        None => SlowStartKind::Bytes { limit: 2 },
        Some(item) => match item.table()? {
            s if s.variant_name() == "per-ack" => SlowStartKind::PerAck,
            s if s.variant_name() == "hystart++" => {
                SlowStartKind::HyStartPlusPlus { limit: s.whole("limit")? as u32 }
            }
            s => SlowStartKind::Bytes { limit: s.whole("limit")? as u32 },
        },
    };
    Some(Congestion {
        rule: WindowRuleKind::read(v, p)?,
        initial_window,
        initial_ssthresh_bytes,
        slow_start,
        restart_after_idle: v.flag("restart_after_idle"),
        grows_only_when_limited: v.flag("grows_only_when_limited"),
        limited_by: Param::read(v, "limited_by")?,
    })
}

fn rto(v: &Values, p: &mut Problems) -> Option<RtoRule> {
    let rule = match v.word("rule")? {
        "rfc6298" => RtoKind::Rfc6298,
        "linux" => RtoKind::Linux,
        "linux-microseconds" => RtoKind::LinuxMicroseconds,
        "linux-2.2" => RtoKind::Linux22,
        "linux-2.2-cured" => RtoKind::Linux22Cured,
        "ns3.20" => RtoKind::Ns320,
        "bsd" => RtoKind::Bsd,
        _ => return None,
    };
    let (min, max) = bounds(v, "min", "max", p)?;
    Some(RtoRule {
        rule,
        initial: v.span("initial")?,
        min,
        max,
        granularity: v.span("granularity")?,
        slop: v.span("slop")?,
        wheel: v.flag("wheel"),
    })
}

/// The smaller of two times must not be the larger.
pub(super) fn bounds(v: &Values, low: &str, high: &str, p: &mut Problems) -> Option<(Span, Span)> {
    let (keys, min, max) = ([low, high], v.span(low)?, v.span(high)?);
    if min > max {
        let (low, high) = (v.item(low)?, v.item(high)?);
        let item = v.said_last(&keys)?;
        let (side, other, name) =
            if item.path == low.path { ("above", high, keys[1]) } else { ("below", low, keys[0]) };
        item.refuse(p, format!("crosses the bounds: it is {side} {name} = {}", other.shown));
    }
    Some((min, max))
}

fn undo(v: &Values, detect: Option<DetectRule>, p: &mut Problems) -> Option<Undo> {
    let undo = Undo {
        f_rto: v.flag("f_rto"),
        eifel: v.flag("eifel"),
        dsack: v.flag("dsack"),
        bad_retransmit_window: v.flag("bad_retransmit_window"),
        rule: Param::read(v, "rule")?,
    };
    // Each way back reads what its own kind of detection knows.
    let wrong = match (detect?, undo.rule) {
        (DetectRule::Rack | DetectRule::FackRack | DetectRule::FackOrder, UndoRule::Rfc)
            if undo != Undo::default() =>
        {
            "has no effect with detect.rule = \"rack\" unless undo.rule = \"linux\""
        }
        // A class of one's own may count or go by time: whoever finds it sees to that.
        (DetectRule::Rack | DetectRule::FackRack | DetectRule::FackOrder | DetectRule::Own, _)
        | (_, UndoRule::Rfc) => return Some(undo),
        (_, UndoRule::Linux) => "needs detect.rule = \"rack\", \"fack-rack\" or \"fack-order\"",
    };
    let keys = ["rule", "f_rto", "eifel", "dsack", "bad_retransmit_window"];
    v.said_last(&keys)?.refuse(p, wrong);
    None
}

fn send(v: &Values) -> Option<Send> {
    Some(Send {
        nagle: v.flag("nagle"),
        buffer_bytes: v.bytes("buffer"),
        max_burst_segments: v.whole("max_burst").map(|n| n as u32),
        pacing: v.flag("pacing"),
        offload: v.flag("offload"),
        keepalive_idle: v.span("keepalive_idle"),
        keepalive_interval: v.span("keepalive_interval")?,
        keepalive_probes: v.whole("keepalive_probes")? as u32,
        max_retries: v.whole("max_retries")? as u32,
        retries: Param::read(v, "retries")?,
        thin_linear_timeouts: v.flag("thin_linear_timeouts"),
        window_probe: Param::read(v, "window_probe")?,
    })
}

fn receive(v: &Values, p: &mut Problems) -> Option<Receive> {
    let delayed_ack = match v.item("delayed_ack") {
        None => DelayedAck::Every { every: 2, timeout: Span::from_millis(200) },
        Some(item) => delayed_ack(item.table()?, p)?,
    };
    let window = match v.item("window") {
        None => WindowPolicy::AutoTuned {
            initial_bytes: 65_535,
            untuned_bytes: 65_535,
            max_bytes: 4 << 20,
            ahead: false,
        },
        Some(item) => window(item.table()?, p)?,
    };
    Some(Receive { delayed_ack, dsack: v.flag("dsack"), sack_fin: v.flag("sack_fin"), window })
}

fn delayed_ack(v: &Values, p: &mut Problems) -> Option<DelayedAck> {
    Some(match v.variant?.name {
        "off" => DelayedAck::Off,
        "every" => DelayedAck::Every { every: v.whole("segments")? as u32, timeout: v.span("timeout")? },
        "ns3.20" => DelayedAck::Ns320 { every: v.whole("segments")? as u32, timeout: v.span("timeout")? },
        "quick" => {
            let (min, max) = bounds(v, "min", "max", p)?;
            let compress = v.span("compress");
            let (pushed, growing) = (v.span("pushed"), v.flag("growing"));
            DelayedAck::Quick { quick: v.whole("segments")? as u32, min, max, compress, pushed, growing }
        }
        _ => return None,
    })
}

fn window(v: &Values, p: &mut Problems) -> Option<WindowPolicy> {
    match v.variant?.name {
        "fixed" => Some(WindowPolicy::Fixed { buffer_bytes: size(v.item("buffer")?, MAX_WINDOW, p)? as u32 }),
        "linux-2.6" => linux26_window(v, p),
        _ => auto_tuned(v, p),
    }
}

fn linux26_window(v: &Values, p: &mut Problems) -> Option<WindowPolicy> {
    let mut bytes = |key| Some(size(v.item(key)?, MAX_WINDOW, p)? as u32);
    let window = Linux26Window {
        buffer_bytes: bytes("buffer")?,
        max_bytes: bytes("max")?,
        segment_memory_bytes: bytes("segment_memory")?,
        moderated: v.flag("moderated"),
    };
    if window.buffer_bytes > window.max_bytes {
        v.said_last(&["max", "buffer"])?.refuse(p, "crosses the bounds: buffer is above max");
    }
    Some(WindowPolicy::Linux26(window))
}

fn auto_tuned(v: &Values, p: &mut Problems) -> Option<WindowPolicy> {
    let initial = size(v.item("initial")?, MAX_WINDOW, p)?;
    let max = size(v.item("max")?, MAX_WINDOW, p)?;
    let untuned = match v.item("untuned") {
        Some(item) => size(item, MAX_WINDOW, p)?,
        None => initial,
    };
    if initial > max {
        v.said_last(&["max", "initial"])?.refuse(p, "crosses the bounds: initial is above max");
    } else if untuned < initial || untuned > max {
        v.item("untuned")?.refuse(p, "lies outside initial and max");
    }
    Some(WindowPolicy::AutoTuned {
        initial_bytes: initial as u32,
        untuned_bytes: untuned as u32,
        max_bytes: max as u32,
        ahead: v.flag("ahead"),
    })
}

/// Bytes, with a bound; refused values count as the bound so that the rest is read too.
pub(super) fn size(item: &Item, most: u64, p: &mut Problems) -> Option<u64> {
    let Value::Amount(Amount::Bytes(bytes)) = item.value else { return None };
    if bytes > most {
        item.refuse(p, format!("is too large: at most {most} bytes"));
    }
    Some(bytes.min(most))
}

/// A whole number of packets or segments.
pub(super) fn count(item: &Item, p: &mut Problems) -> Option<u32> {
    let Value::Amount(Amount::Packets(x) | Amount::Smss(x)) = item.value else { return None };
    if x.fract() != 0.0 || x > 1e9 {
        item.refuse(p, "is no whole number of them up to 1e9");
    }
    Some(x.min(1e9) as u32)
}
