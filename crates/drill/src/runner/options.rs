//! Options of a socket: what the kernel makes of them (net/ipv4/tcp.c, do_tcp_setsockopt).

use super::Runner;
use super::calls::{Returned, errno, number};
use crate::script::{Call, Expr};
use crate::{Stop, words};
use std::ops::RangeInclusive;
use tcp::endpoint::Endpoint;
use wire::Span;

/// MAX_TCP_KEEPIDLE and MAX_TCP_KEEPINTVL, s; MAX_TCP_KEEPCNT.
const KEEPALIVE_S: RangeInclusive<i64> = 1..=32_767;
const KEEPALIVE_PROBES: RangeInclusive<i64> = 1..=127;
/// TCP_RTO_MAX_MIN_SEC to TCP_RTO_MAX_SEC; TCP_TIMEOUT_MIN, two ticks of a millisecond, to TCP_RTO_MIN.
const RTO_MAX_MS: RangeInclusive<i64> = 1_000..=120_000;
const RTO_MIN_US: RangeInclusive<i64> = 2_000..=200_000;

impl Runner {
    pub(super) fn setsockopt(&mut self, call: &Call, line: u32) -> Result<Returned, Stop> {
        let name = option_name(call);
        let value = || match call.arguments.get(3) {
            Some(Expr::List(list)) => list.first().map_or(Ok(0), |v| number(v, line)),
            _ => Err(Stop::unsupported(line, format!("setsockopt {name} as it is given"))),
        };
        let held = |within: RangeInclusive<i64>| value().map(|v| within.contains(&v).then_some(v));
        match name {
            // Memory is not modelled, nor what the IP header says but for ECN. TCP_THIN_DUPACK does nothing since 4.13.
            "SO_REUSEADDR" | "SO_REUSEPORT" | "SO_SNDBUF" | "SO_SNDBUFFORCE" | "IP_MTU_DISCOVER"
            | "IP_TOS" | "IPV6_TCLASS" | "IP_RECVERR" | "TCP_THIN_DUPACK" => {}
            "TCP_NODELAY" => {
                let nagle = value()? == 0;
                self.nagle = Some(nagle);
                if let Some(end) = &mut self.end {
                    end.set_nagle(nagle);
                }
            }
            "TCP_USER_TIMEOUT" if self.end.is_some() => {
                // An int, of which the kernel refuses what is below 0.
                let Some(timeout) = held(0..=i64::from(i32::MAX))? else { return Ok(Err("EINVAL")) };
                let timeout = (timeout > 0).then(|| Span::from_millis(timeout));
                if let Some(end) = &mut self.end {
                    end.set_user_timeout(timeout);
                }
            }
            "SO_KEEPALIVE" => {
                self.settings.keepalive = value()? != 0;
                self.settings_changed();
            }
            "TCP_KEEPIDLE" | "TCP_KEEPINTVL" => {
                let Some(seconds) = held(KEEPALIVE_S)? else { return Ok(Err("EINVAL")) };
                match name {
                    "TCP_KEEPIDLE" => self.settings.keepalive_idle = Span::from_secs(seconds),
                    _ => self.settings.stack.send.keepalive_interval = Span::from_secs(seconds),
                }
                self.settings_changed();
            }
            "TCP_KEEPCNT" => {
                let Some(probes) = held(KEEPALIVE_PROBES)? else { return Ok(Err("EINVAL")) };
                self.settings.stack.send.keepalive_probes = probes as u32;
                self.settings_changed();
            }
            "TCP_THIN_LINEAR_TIMEOUTS" => {
                let Some(on) = held(0..=1)? else { return Ok(Err("EINVAL")) };
                self.settings.stack.send.thin_linear_timeouts = on > 0;
                self.settings_changed();
            }
            "TCP_RTO_MAX_MS" | "TCP_RTO_MIN_US" => {
                let is_max = name == "TCP_RTO_MAX_MS";
                let within = if is_max { RTO_MAX_MS } else { RTO_MIN_US };
                let Some(bound) = held(within)? else { return Ok(Err("EINVAL")) };
                match is_max {
                    true => self.settings.stack.rto.max = Span::from_millis(bound),
                    false => self.settings.stack.rto.min = Span::from_micros(bound),
                }
                let rto = self.settings.stack.rto;
                if let Some(end) = &mut self.end {
                    end.set_rto_bounds((!is_max).then_some(rto.min), is_max.then_some(rto.max));
                }
            }
            "TCP_MAXSEG" if self.end.is_none() => {
                self.settings.stack.options.mss_bytes = value()?.clamp(88, 32_767) as u16;
            }
            "TCP_CONGESTION" if self.end.is_none() => {
                let Some(Expr::Text(control)) = call.arguments.get(3) else {
                    return Err(Stop::unsupported(line, "setsockopt TCP_CONGESTION as it is given"));
                };
                self.settings.congestion_control(control, line)?;
            }
            _ => return Err(Stop::unsupported(line, format!("setsockopt {name}"))),
        }
        Ok(Ok(0))
    }

    /// What a kernel looks up as it needs it holds from now on; the rest is for connections that begin.
    pub(super) fn settings_changed(&mut self) {
        let keepalive = self.settings.keepalive();
        let send = &mut self.settings.stack.send;
        send.keepalive_idle = keepalive.idle;
        if let Some(end) = &mut self.end {
            end.set_keepalive(self.now, keepalive);
            end.set_thin_linear_timeouts(send.thin_linear_timeouts);
        }
    }

    pub(super) fn getsockopt(&mut self, call: &Call, line: u32) -> Result<i64, Stop> {
        let name = option_name(call);
        if name != "SO_ERROR" {
            return Err(Stop::unsupported(line, format!("getsockopt {name}")));
        }
        let came =
            self.end.as_ref().and_then(Endpoint::failed).map_or(0, |f| words::number(errno(f)).unwrap_or(0));
        match call.arguments.get(3) {
            Some(Expr::List(list)) if list.len() == 1 => {
                let wanted = number(&list[0], line)?;
                if wanted == came {
                    return Ok(0);
                }
                Err(Stop::failed(line, format!("SO_ERROR is {came}, not {wanted}")))
            }
            _ => Err(Stop::unsupported(line, "getsockopt SO_ERROR as it is given")),
        }
    }
}

fn option_name(call: &Call) -> &str {
    match call.arguments.get(2) {
        Some(Expr::Word(w)) => w,
        _ => "of a number",
    }
}
