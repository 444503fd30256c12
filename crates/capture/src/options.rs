//! What of a capture is read: the selection, and how it is written by a user.

use crate::error::Error;
use reach::Reach;
use std::net::IpAddr;
use wire::{Endpoint, Host, Packet, Span};

/// What to give out. The default is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// One connection, both directions, its ends in either order.
    pub flow: Option<(Endpoint, Endpoint)>,
    /// Connections of this host.
    pub host: Option<Host>,
    /// Connections of this port.
    pub port: Option<u16>,
    /// From this long after the capture's first packet.
    pub from: Option<Span>,
    /// Until this long after the capture's first packet.
    pub to: Option<Span>,
    /// Verify the TCP checksum of segments that were captured whole. Off by default: over payload that is
    /// otherwise never looked at it takes longer than all the rest of reading.
    pub verify_checksums: bool,
    /// Which files may be opened.
    pub reach: Reach,
}

impl Options {
    /// True if segments are picked by their ends.
    pub(crate) fn picks(&self) -> bool {
        self.flow.is_some() || self.host.is_some() || self.port.is_some()
    }

    pub(crate) fn picked(&self, p: &Packet) -> bool {
        let (src, dst) = (p.tuple.src, p.tuple.dst);
        self.flow.is_none_or(|(a, b)| (src == a && dst == b) || (src == b && dst == a))
            && self.host.is_none_or(|h| src.host == h || dst.host == h)
            && self.port.is_none_or(|n| src.port == n || dst.port == n)
    }
}

fn wrong(option: &str, text: &str, why: &str, form: &str) -> Error {
    Error::Selection(format!("{option} {text:?}: {why}: write it as {form}"))
}

fn endpoint(text: &str) -> Option<Endpoint> {
    let (host, port) = text.trim().rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let ip: IpAddr = bare.unwrap_or(host).parse().ok()?;
    Some(Endpoint { host: ip.into(), port: port.parse().ok()? })
}

/// `10.0.0.1:40000-10.0.0.2:80`, `[2001:db8::1]:40000-[2001:db8::2]:80`.
pub fn parse_flow(text: &str) -> Result<(Endpoint, Endpoint), Error> {
    const FORM: &str = "10.0.0.1:40000-10.0.0.2:80, IPv6 addresses in brackets";
    let Some((a, b)) = text.split_once('-') else {
        return Err(wrong("--flow", text, "has no - between its two ends", FORM));
    };
    match (endpoint(a), endpoint(b)) {
        (Some(a), Some(b)) => Ok((a, b)),
        (None, _) => Err(wrong("--flow", text, &format!("{a:?} is no address and port"), FORM)),
        (_, None) => Err(wrong("--flow", text, &format!("{b:?} is no address and port"), FORM)),
    }
}

/// An address, with or without brackets.
pub fn parse_host(text: &str) -> Result<Host, Error> {
    let bare = text.trim().strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(text.trim());
    let no_address =
        |_| wrong("--host", text, "is no IP address", "10.0.0.1 or 2001:db8::1 (names are not looked up)");
    bare.parse::<IpAddr>().map(Host::from).map_err(no_address)
}

pub fn parse_port(text: &str) -> Result<u16, Error> {
    text.trim().parse().map_err(|_| wrong("--port", text, "is no port", "a number from 0 to 65535"))
}

/// Seconds, or a number with `ns`, `us`, `ms`, `s`, `m` or `h`; `option` is named in the error.
pub fn parse_span(option: &str, text: &str) -> Result<Span, Error> {
    const FORM: &str = "seconds since the first packet, as in 12.5, 300ms or 2m";
    let t = text.trim();
    let digits = t.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &t[digits.len()..] {
        "" | "s" => 1.0,
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(wrong(option, text, &format!("{unit:?} is no unit of time"), FORM)),
    };
    match digits.trim().parse::<f64>() {
        Ok(n) if n.is_finite() && n >= 0.0 => Ok(Span::from_secs_f64(n * scale)),
        Ok(_) => Err(wrong(option, text, "is no time after the first packet", FORM)),
        Err(_) => Err(wrong(option, text, "is no number", FORM)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_two_ends() {
        let (a, b) = parse_flow("10.0.0.1:40000-10.0.0.2:80").unwrap();
        assert_eq!((a.to_string(), b.to_string()), ("10.0.0.1:40000".into(), "10.0.0.2:80".into()));
        let (a, b) = parse_flow("[2001:db8::1]:1-[::1]:2").unwrap();
        assert_eq!((a.to_string(), b.to_string()), ("[2001:db8::1]:1".into(), "[::1]:2".into()));
    }

    #[test]
    fn what_can_not_be_meant_is_told_with_the_mend() {
        let said = |e: Error| e.to_string();
        assert_eq!(
            said(parse_flow("10.0.0.1:80").unwrap_err()),
            "--flow \"10.0.0.1:80\": has no - between its two ends: write it as 10.0.0.1:40000-10.0.0.2:80, \
             IPv6 addresses in brackets"
        );
        assert!(said(parse_flow("a:1-10.0.0.1:2").unwrap_err()).contains("\"a:1\" is no address and port"));
        assert!(
            said(parse_flow("10.0.0.1:2-10.0.0.1:70000").unwrap_err()).contains("is no address and port")
        );
        assert!(said(parse_host("example.org").unwrap_err()).contains("names are not looked up"));
        assert!(said(parse_port("http").unwrap_err()).contains("is no port"));
        assert!(said(parse_span("--from", "-1").unwrap_err()).starts_with("--from \"-1\""));
        assert!(said(parse_span("--to", "3 days").unwrap_err()).contains("\"days\" is no unit of time"));
    }

    #[test]
    fn times_are_seconds_unless_they_say_otherwise() {
        let ns = |t: &str| parse_span("--from", t).unwrap().0;
        assert_eq!(
            [ns("1.5"), ns("1.5s"), ns("200ms"), ns("2m")],
            [1_500_000_000, 1_500_000_000, 200_000_000, 120_000_000_000]
        );
    }
}
