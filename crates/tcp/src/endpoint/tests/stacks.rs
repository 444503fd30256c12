//! Stacks to test with, written out in code; the shipped ones are files.

use crate::congestion::aimd::{self, AimdCount};
use crate::congestion::{bbr, bbr3, cubic_linux};
use crate::stack::*;
use wire::Span;

pub fn ms(v: i64) -> Span {
    Span::from_millis(v)
}

/// RFC 6675 with what the RFCs recommend beside it; 1000-byte segments, timestamps off.
pub fn rfc_sack() -> Wire {
    Wire {
        options: Options {
            mss_bytes: 1000,
            window_scale: true,
            window_shift: None,
            sack: true,
            timestamps: false,
            announces_mss: true,
            timestamp_tick: ms(1),
            ecn: EcnUse::Off,
        },
        detect: Detect::new(DetectRule::Rfc6675, 3, true),
        recovery: Recovery::new(RecoveryRule::Pipe, AfterTimeout::MarkLost),
        congestion: Congestion {
            rule: WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::Bytes }),
            initial_window: InitialWindow::Segments(4),
            initial_ssthresh_bytes: None,
            slow_start: SlowStartKind::Bytes { limit: 2 },
            restart_after_idle: true,
            grows_only_when_limited: true,
            limited_by: LimitedBy::Now,
        },
        rto: RtoRule {
            rule: RtoKind::Rfc6298,
            initial: ms(1000),
            min: ms(200),
            max: Span::from_secs(60),
            granularity: Span::ZERO,
            slop: Span::ZERO,
            wheel: false,
        },
        undo: Undo::default(),
        send: Send {
            nagle: true,
            buffer_bytes: None,
            max_burst_segments: None,
            pacing: false,
            offload: false,
            keepalive_idle: None,
            keepalive_interval: ms(1000),
            keepalive_probes: 3,
            max_retries: 0,
            retries: Default::default(),
            thin_linear_timeouts: false,
            window_probe: WindowProbe::Byte,
        },
        receive: Receive {
            delayed_ack: DelayedAck::Every { every: 2, timeout: ms(40) },
            dsack: true,
            sack_fin: true,
            window: WindowPolicy::Fixed { buffer_bytes: 1 << 20 },
        },
        own: Default::default(),
    }
}

/// No SACK, no timestamps: RFC 6582 over RFC 5681.
pub fn rfc_newreno(impatient: bool) -> Wire {
    let mut s = rfc_sack();
    s.options.sack = false;
    s.detect.rule = DetectRule::DupAcks;
    s.recovery = Recovery::new(RecoveryRule::NewReno { impatient }, AfterTimeout::GoBackN);
    s
}

pub fn rfc_reno() -> Wire {
    let mut s = rfc_newreno(true);
    s.recovery.rule = RecoveryRule::Reno;
    s
}

pub fn rfc_tahoe() -> Wire {
    let mut s = rfc_newreno(true);
    s.recovery.rule = RecoveryRule::None;
    s
}

/// Linux 2.6.32's Reno: FACK, rate halving, timestamps, every undo but one.
pub fn linux() -> Wire {
    let mut s = rfc_sack();
    s.options.mss_bytes = 1460;
    s.options.timestamps = true;
    s.detect.rule = DetectRule::LinuxFack;
    s.recovery = Recovery {
        pipe: PipeUnit::Segments,
        rescue: false,
        restarts_timer: RestartsTimer::Oldest,
        ..Recovery::new(RecoveryRule::RateHalving, AfterTimeout::MarkLost)
    };
    s.rto.rule = RtoKind::Linux;
    s.rto.max = Span::from_secs(120);
    s.undo = Undo { f_rto: true, eifel: true, dsack: true, ..Undo::default() };
    s
}

/// Linux 6 with CUBIC, without HyStart: RACK and probes, PRR, every undo but one; timers without grain or slack.
pub fn linux6() -> Wire {
    let mut s = linux();
    s.detect = Detect { tail_loss_probe: true, ..Detect::new(DetectRule::Rack, 3, true) };
    s.recovery =
        Recovery { rule: RecoveryRule::Prr { of: PrrOf::Cwnd }, timeout_reduces_again: false, ..s.recovery };
    s.congestion.rule = WindowRuleKind::CubicLinux(cubic_linux::Params {
        hystart: false,
        hystart_clock: Default::default(),
        hz: cubic_linux::Hz::Hz1000,
    });
    s.congestion.slow_start = SlowStartKind::Bytes { limit: 0 };
    s.congestion.initial_window = InitialWindow::Segments(10);
    s.rto.rule = RtoKind::LinuxMicroseconds;
    s.undo.rule = UndoRule::Linux;
    s
}

/// Linux 6 with BBR.
pub fn linux6_bbr() -> Wire {
    let mut s = linux6();
    s.congestion.rule = WindowRuleKind::Bbr(bbr::Params {
        min_rtt_window: Span::from_secs(10),
        probe_rtt_time: ms(200),
        hz: cubic_linux::Hz::Hz250,
    });
    s
}

/// What the IETF's draft of BBR says, over RACK-TLP.
pub fn draft_bbr3() -> Wire {
    let mut s = linux6();
    s.congestion.rule = WindowRuleKind::Bbr3(bbr3::Params {
        min_rtt_window: Span::from_secs(10),
        probe_rtt_interval: Span::from_secs(5),
        probe_rtt_time: ms(200),
    });
    s
}

/// OS X 10.7.
pub fn osx() -> Wire {
    let mut s = rfc_sack();
    s.options.mss_bytes = 1460;
    s.options.timestamps = true;
    s.detect = Detect::new(DetectRule::Xnu1699, 2, false);
    s.recovery = Recovery {
        rescue: false,
        keeps_sacks: false,
        restarts_timer: RestartsTimer::First,
        ..Recovery::new(RecoveryRule::Pipe, AfterTimeout::GoBackN)
    };
    s.rto.rule = RtoKind::Bsd;
    s.rto.granularity = ms(1);
    s.rto.min = ms(30);
    s.rto.slop = ms(200);
    s.undo = Undo { bad_retransmit_window: true, ..Undo::default() };
    s
}

pub fn ns320(variant: Ns320) -> Wire {
    let mut s = rfc_newreno(false);
    s.detect.limited_transmit = false;
    s.recovery = Recovery::new(RecoveryRule::Ns320 { variant }, AfterTimeout::GoBackN);
    s.congestion.rule = WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::PerAck });
    s.rto.rule = RtoKind::Ns320;
    s.rto.min = ms(200);
    s
}

/// One of each, for tests that any stack must pass.
pub fn all() -> Vec<(&'static str, Wire)> {
    let mut prr = rfc_sack();
    prr.recovery.rule = RecoveryRule::Prr { of: PrrOf::Flight };
    prr.options.timestamps = true;
    prr.undo = Undo { f_rto: true, eifel: true, dsack: true, ..Undo::default() };
    let mut prr_no_sack = prr.clone();
    prr_no_sack.options.sack = false;
    let mut linux_sack = linux();
    linux_sack.detect.rule = DetectRule::LinuxSack;
    linux_sack.congestion.rule = WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::Segments });
    let mut linux_no_sack = linux();
    linux_no_sack.options.sack = false;
    let mut sack_back = rfc_sack();
    sack_back.recovery.after_timeout = AfterTimeout::GoBackN;
    sack_back.undo.f_rto = true;
    let mut repairs_only = rfc_sack();
    repairs_only.recovery.after_timeout = AfterTimeout::RepairsOnly;
    let mut fast_after_timeout = rfc_reno();
    fast_after_timeout.recovery.after_timeout = AfterTimeout::FastRecovery;
    let mut sack_fast = rfc_sack();
    sack_fast.recovery.after_timeout = AfterTimeout::FastRecovery;
    let mut newreno_on_sack = rfc_newreno(true);
    newreno_on_sack.options.sack = true;
    newreno_on_sack.detect.rule = DetectRule::Rfc6675;
    newreno_on_sack.recovery.after_timeout = AfterTimeout::MarkLost;
    let mut pipe_without_sack = rfc_sack();
    pipe_without_sack.options.sack = false;
    let mut linux6_no_sack = linux6();
    linux6_no_sack.options.sack = false;
    let mut bbr_no_sack = linux6_bbr();
    bbr_no_sack.options.sack = false;
    let mut bbr_on_rfc = rfc_sack();
    bbr_on_rfc.congestion.rule = linux6_bbr().congestion.rule;
    let mut bbr3_no_sack = draft_bbr3();
    bbr3_no_sack.options.sack = false;
    let mut paced = linux6();
    paced.send.pacing = true;
    let mut rack_only = rfc_sack();
    rack_only.detect.rule = DetectRule::Rack;
    let mut bursts = linux();
    bursts.send.max_burst_segments = Some(3);
    bursts.send.buffer_bytes = Some(64 << 10);
    vec![
        ("ns-3.20 tahoe", ns320(Ns320::Tahoe)),
        ("ns-3.20 reno", ns320(Ns320::Reno)),
        ("ns-3.20 newreno", ns320(Ns320::NewReno)),
        ("tahoe", rfc_tahoe()),
        ("reno", rfc_reno()),
        ("newreno impatient", rfc_newreno(true)),
        ("newreno slow-but-steady", rfc_newreno(false)),
        ("sack", rfc_sack()),
        ("sack, go-back-N, F-RTO", sack_back),
        ("prr, every undo", prr),
        ("prr without SACK", prr_no_sack),
        ("linux", linux()),
        ("linux, FACK off", linux_sack),
        ("linux without SACK", linux_no_sack),
        ("linux, bursts of 3, 64 KiB", bursts),
        ("os x 10.7", osx()),
        ("linux 6", linux6()),
        ("linux 6 without SACK", linux6_no_sack),
        ("linux 6 with BBR", linux6_bbr()),
        ("linux 6 with BBR, without SACK", bbr_no_sack),
        ("sack with BBR", bbr_on_rfc),
        ("linux 6, paced", paced),
        ("draft BBR 3", draft_bbr3()),
        ("draft BBR 3, without SACK", bbr3_no_sack),
        ("rack without probes, pipe", rack_only),
        ("sack, repairs only after timeout", repairs_only),
        ("reno, fast after timeout", fast_after_timeout),
        ("sack, fast after timeout", sack_fast),
        ("newreno on SACK", newreno_on_sack),
        ("pipe without SACK", pipe_without_sack),
    ]
}
