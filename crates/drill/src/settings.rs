//! A kernel's parameters and a script's options, as parameters of the stack.

use crate::command::Setting;
use crate::script::{self, Script};
use crate::{Stop, command};
use tcp::endpoint::KeepAlive;
use tcp::stack::{DelayedAck, EcnUse, Kind, Stack, WindowPolicy, Wire};
use wire::Span;

/// What the script runs with.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) stack: Wire,
    /// The stack's name without its congestion control, and that.
    family: String,
    control: String,
    pub(crate) min_tso_segments: u32,
    pub(crate) tolerance: Span,
    pub(crate) tolerance_percent: f64,
    pub(crate) path_mtu: u16,
    /// SO_KEEPALIVE, and when it would begin (tcp_keepalive_time).
    pub(crate) keepalive: bool,
    pub(crate) keepalive_idle: Span,
}

/// Set without effect on what leaves: memory and queues that are not modelled, Fast Open (which a script's options would
/// name), how often a handshake is tried, and pacing's ratios where nothing is paced.
const WITHOUT_EFFECT: [&str; 22] = [
    "tcp_wmem",
    "wmem_max",
    "rmem_max",
    "tcp_mem",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_fack",
    "tcp_tso_win_divisor",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
    "tcp_notsent_lowat",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_syncookies",
    "tcp_ecn_option",
    "tcp_no_metrics_save",
    "tcp_limit_output_bytes",
    "tcp_moderate_rcvbuf",
    "tcp_autocorking",
    "tcp_low_latency",
    "tcp_abc",
    "default_qdisc",
];

/// Parameters of which a kernel takes any number, or a far larger one than any script needs: least and most here.
const RANGES: [(&str, u32, u32); 9] = [
    ("tcp_comp_sack_delay_ns", 0, 1_000_000_000),
    ("tcp_reordering", 1, 65_535),
    ("tcp_retries2", 1, 255),
    ("tcp_keepalive_time", 1, 1_000_000),
    ("tcp_keepalive_intvl", 1, 1_000_000),
    ("tcp_keepalive_probes", 0, 255),
    ("tcp_rto_min_us", 1, 120_000_000),
    ("tcp_rto_max_ms", 1, 120_000),
    ("tcp_min_tso_segs", 1, 255),
];

impl Settings {
    pub(crate) fn new(script: &Script, stack: &Stack, wire: &Wire) -> Result<Settings, Stop> {
        let control = stack.kernel.clone().unwrap_or_default();
        let family = stack.name.strip_suffix(control.as_str()).unwrap_or(&stack.name).to_owned();
        let mut settings = Settings {
            stack: wire.clone(),
            family,
            control,
            min_tso_segments: 2,
            tolerance: Span::from_millis(4),
            tolerance_percent: 12.5,
            path_mtu: 1500,
            keepalive: wire.send.keepalive_idle.is_some(),
            keepalive_idle: wire.send.keepalive_idle.unwrap_or(Span::from_secs(7200)),
        };
        // Scripts are written for a clock of 1000 Hz (CONFIG_HZ_1000 in the kernel's selftests).
        settings.stack.rto.granularity = settings.stack.rto.granularity.min(Span::from_millis(1));
        // A script's writes are meant to fit.
        settings.stack.send.buffer_bytes = None;
        for option in &script.options {
            settings.option(option)?;
        }
        if let Some(first) = &script.first {
            settings.command(first)?;
        }
        Ok(settings)
    }

    pub(crate) fn command(&mut self, text: &script::Command) -> Result<(), Stop> {
        command::settings(text)?.iter().try_for_each(|s| self.set(s))
    }

    pub(crate) fn keepalive(&self) -> KeepAlive {
        KeepAlive {
            idle: self.keepalive.then_some(self.keepalive_idle),
            interval: self.stack.send.keepalive_interval,
            probes: self.stack.send.keepalive_probes,
        }
    }

    /// One of packetdrill's own options.
    fn option(&mut self, o: &script::Setting) -> Result<(), Stop> {
        let value = o.value.as_deref().unwrap_or_default();
        let number = || {
            let says = format!("--{}={value}: a number from 0 to below 1000000000 is allowed", o.name);
            let parsed: Option<f64> = value.parse().ok().filter(|n| (0.0..1e9).contains(n));
            parsed.ok_or_else(|| Stop::malformed(o.line, says))
        };
        match o.name.as_str() {
            "tolerance_usecs" => self.tolerance = Span::from_micros(number()? as i64),
            "tolerance_percent" => self.tolerance_percent = number()?,
            "mtu" => self.path_mtu = number()?.clamp(68.0, 65_535.0) as u16,
            "ip_version" if value == "ipv4" => {}
            "mss" | "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "tcp_ts_ecr_scaled"
            | "send_omit_free" => {}
            _ => return Err(Stop::unsupported(o.line, format!("the option --{}", o.name))),
        }
        Ok(())
    }

    pub(crate) fn set(&mut self, s: &Setting) -> Result<(), Stop> {
        if s.name == "tcp_congestion_control" {
            return self.congestion_control(&s.value, s.line);
        }
        if s.name == "tcp_rmem" {
            return self.receive_memory(s);
        }
        if s.name == "qdisc" {
            return match s.value.as_str() {
                "pfifo" | "pfifo_fast" | "noqueue" => Ok(()),
                // It paces what the sender gives a rate (sk_pacing_rate).
                "fq" => {
                    self.stack.send.pacing = true;
                    Ok(())
                }
                kind => Err(Stop::unsupported(s.line, format!("the queue discipline {kind}"))),
            };
        }
        if WITHOUT_EFFECT.contains(&s.name.as_str()) {
            return Ok(());
        }
        let says = || Stop::unsupported(s.line, format!("{} = {}", s.name, s.value));
        let value: u32 = s.value.trim().parse().map_err(|_| says())?;
        if let Some((name, least, most)) = RANGES.iter().find(|(name, ..)| *name == s.name)
            && !(*least..=*most).contains(&value)
        {
            let says = format!("{name} = {value}: from {least} to {most} are allowed");
            return Err(Stop::unsupported(s.line, says));
        }
        let stack = &mut self.stack;
        match (s.name.as_str(), value) {
            ("tcp_timestamps", _) => stack.options.timestamps = value > 0,
            ("tcp_sack", _) => stack.options.sack = value > 0,
            ("tcp_window_scaling", _) => stack.options.window_scale = value > 0,
            ("tcp_dsack", _) => stack.receive.dsack = value > 0,
            ("tcp_comp_sack_delay_ns" | "tcp_comp_sack_nr", 0) => compress_acks(stack, None),
            ("tcp_comp_sack_delay_ns", 1..) => compress_acks(stack, Some(Span(i64::from(value)))),
            ("tcp_comp_sack_nr", 44) => {}
            ("tcp_ecn", 0) => stack.options.ecn = EcnUse::Off,
            ("tcp_ecn", 1) => stack.options.ecn = EcnUse::On,
            ("tcp_ecn", 2) => stack.options.ecn = EcnUse::Passive,
            ("tcp_reordering", 1..) => stack.detect.dupthresh = value,
            ("tcp_slow_start_after_idle", _) => stack.congestion.restart_after_idle = value > 0,
            // 3 and 4 probe; what was between them and 0, early retransmit, is gone since 4.13.
            ("tcp_early_retrans", 0 | 3 | 4) => stack.detect.tail_loss_probe = value > 0,
            // Bit 0 changes nothing since RACK is all there is (6.18).
            ("tcp_recovery", 0 | 1) => {}
            ("tcp_frto", _) => stack.undo.f_rto = value > 0,
            ("tcp_retries2", 1..) => stack.send.max_retries = value,
            ("tcp_keepalive_time", 1..) => self.keepalive_idle = Span::from_secs(i64::from(value)),
            ("tcp_keepalive_intvl", 1..) => {
                stack.send.keepalive_interval = Span::from_secs(i64::from(value));
            }
            ("tcp_keepalive_probes", _) => stack.send.keepalive_probes = value,
            ("tcp_thin_linear_timeouts", 0 | 1) => stack.send.thin_linear_timeouts = value > 0,
            ("tcp_rto_min_us", 1..) => stack.rto.min = Span::from_micros(i64::from(value)),
            ("tcp_rto_max_ms", 1..) => stack.rto.max = Span::from_millis(i64::from(value)),
            ("tcp_min_tso_segs", 1..) => self.min_tso_segments = value,
            ("hystart_detect", 3) | ("hystart", 1) => {}
            _ => return Err(says()),
        }
        Ok(())
    }

    /// The same kernel with another congestion control is another stack of the library.
    pub(crate) fn congestion_control(&mut self, name: &str, line: u32) -> Result<(), Stop> {
        if name == self.control {
            return Ok(());
        }
        let sibling = format!("{}{name}", self.family);
        let known = scenario::built_in_stacks().any(|n| n == sibling);
        let found = if known { scenario::describe::load(&sibling).ok() } else { None };
        let Some(Stack { kind: Kind::Wire(wire), .. }) = found else {
            let says = format!("the congestion control {name}: there is no stack {sibling}");
            return Err(Stop::unsupported(line, says));
        };
        self.stack.congestion = wire.congestion;
        name.clone_into(&mut self.control);
        Ok(())
    }

    /// Least, default, most; half of each holds data until it is known how full packets are (TCP_DEFAULT_SCALING_RATIO).
    fn receive_memory(&mut self, s: &Setting) -> Result<(), Stop> {
        let parts: Vec<u32> = s.value.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let (&[_, usual, most], WindowPolicy::AutoTuned { ahead, .. }) =
            (parts.as_slice(), self.stack.receive.window)
        else {
            return Err(Stop::unsupported(s.line, format!("{} = {}", s.name, s.value)));
        };
        let initial_bytes = (usual / 2).min(65_535);
        let untuned_bytes = (usual / 2).max(initial_bytes);
        let max_bytes = (most / 2).max(untuned_bytes);
        // A shift for all of it, overhead included (tcp_select_initial_window).
        let shift = (most.max(1).ilog2() + 1).saturating_sub(16).min(14);
        self.stack.options.window_shift = self.stack.options.window_shift.map(|_| shift as u8);
        self.stack.receive.window =
            WindowPolicy::AutoTuned { initial_bytes, untuned_bytes, max_bytes, ahead };
        Ok(())
    }
}

fn compress_acks(stack: &mut Wire, most: Option<Span>) {
    if let DelayedAck::Quick { compress, .. } = &mut stack.receive.delayed_ack {
        *compress = most;
    }
}
