//! What is known about the capture as a whole: the `capture` of the answer.

use crate::json::write::{By, Put, members, object};
use crate::replay::Like;
use crate::sums::Sums;
use analysis::join::Clock;
use analysis::rows::FlowId;
use capture::{FileInfo, Info, Interface, LinkType};
use chrono::{DateTime, SecondsFormat};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wire::{Span, Time};

/// What one pass found out besides rows.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The sender's capture, where there are two.
    pub info: Info,
    pub pair: Option<Pair>,
    /// The first packet's time: what relative times count from.
    pub origin: Time,
    pub connections: u64,
    pub interrupted: bool,
    /// TCP packets that came once the memory was used up: counted, and no more.
    pub not_analysed: u64,
    /// The captures were given the wrong way round: what was called the receiver's is the sender's here.
    pub swapped: bool,
    /// What limits the answer besides the captures' own warnings.
    pub warnings: Vec<String>,
    /// Of a live run: why its captures end before it did, if they do, and when.
    pub cut: Option<String>,
    /// Of a simulated run: what its hosts and links counted, as JSON.
    pub simulation: Option<Vec<u8>>,
    /// The flow whose sender was found to be like a stack, where that was asked for.
    pub like: Option<(FlowId, Like)>,
    /// No flow has an answer: a live run whose bridge kept no time.
    pub withheld: bool,
    /// What failed in rexmit besides the analysis of connections, as far as it is known: answers, comparisons.
    pub failures: Failures,
}

/// Counted while answers are written, too.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<AtomicU64>);

impl Failures {
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Facts {
    /// The stack that the sender of `flow` is like.
    pub fn like_of(&self, flow: FlowId) -> Option<&Like> {
        self.like.as_ref().filter(|(of, _)| *of == flow).map(|(_, like)| like)
    }
}

/// What comparing two captures told besides the fate of each packet. Pairs: at the sender, at the receiver.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    pub receiver: Info,
    pub clock: Option<Clock>,
    /// Packets in both.
    pub matched: u64,
    /// Packets that left from a side and did not arrive at the other, or not whole: a super-packet counts once.
    pub lost: [u64; 2],
    /// Packets that a side's capture lacks.
    pub not_captured: [u64; 2],
    /// Packets from before the other capture began, or after it ended.
    pub outside: [u64; 2],
}

/// A time as RFC 3339 has it, in UTC.
fn rfc3339(t: Time) -> String {
    DateTime::from_timestamp_nanos(t.0).to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// A link type's name, or its number where it has none that is known.
fn link(link: LinkType) -> String {
    link.name().map_or_else(|| link.to_string(), str::to_owned)
}

fn span(info: &Info) -> Option<Span> {
    Some(info.last? - info.first?)
}

/// The one value that all have, or `mixed`.
fn common(mut all: impl Iterator<Item = String>) -> Option<String> {
    let first = all.next()?;
    Some(if all.all(|x| x == first) { first } else { "mixed".into() })
}

impl Facts {
    pub fn put(&self, out: &mut Vec<u8>, sums: &Sums, losses: &[String]) {
        let info = &self.info;
        let pair = self.pair.as_ref();
        let second = pair.map_or(&[] as &[String], |p| &p.receiver.warnings);
        // Why a run's captures are damaged the run itself says; a page has room for the first few.
        let warnings = match self.simulation {
            Some(_) => [&self.warnings, losses, &info.warnings, second].concat(),
            None => [&info.warnings, second, &self.warnings, losses].concat(),
        };
        out.push(b'{');
        put_info(info, out);
        members!(out, ",",
            "vantage": sums.vantage(),
            "offloads": {
                "seen": sums.super_packets > 0 || info.zero_ip_length > 0 || info.jumbo > 0,
                "super_packets": sums.super_packets,
                "largest_payload": sums.largest_payload.0,
                info.{ zero_ip_length, jumbo },
                "partial_checksums": sums.partial_checksums,
            },
            "missing_bytes": sums.missing_bytes,
            "pair": pair.map(|p| By(|out: &mut Vec<u8>| put_pair(p, self.origin, out))),
            "interrupted": self.interrupted,
            "not_analysed_packets": self.not_analysed,
            "warnings": warnings,
        );
        out.push(b'}');
    }
}

/// When `offset_s` holds, since `origin`. Clocks that do not drift have the same offset all the time.
fn instant(clock: &Clock, origin: Time) -> Span {
    if clock.drift_ppm == 0.0 { Span::ZERO } else { clock.at - origin }
}

fn put_pair(p: &Pair, origin: Time, out: &mut Vec<u8>) {
    object!(out,
        "receiver": By(|out: &mut Vec<u8>| {
            out.push(b'{');
            put_info(&p.receiver, out);
            out.push(b'}');
        }),
        "clock": p.clock.map(|c| By(move |out: &mut Vec<u8>| object!(out,
            "offset_s": c.offset,
            "at_s": instant(&c, origin),
            c.{ drift_ppm, drift_error_ppm },
            "residual_s": c.residual,
            "wander_s": c.wander,
            "rtt_floor_s": c.rtt_floor,
        ))),
        "matched_packets": p.matched,
        "sender": { "lost": p.lost[0], "not_captured": p.not_captured[0], "outside": p.outside[0] },
        "receiver_side": { "lost": p.lost[1], "not_captured": p.not_captured[1], "outside": p.outside[1] },
    );
}

fn put_info(info: &Info, out: &mut Vec<u8>) {
    let o = &info.others;
    members!(out, "",
        info.{ packets, tcp_packets },
        "selected_packets": info.selected,
        "outside_packets": info.outside,
        info.{ bytes, captured_bytes },
        "start": info.first.map(rfc3339),
        "span_s": span(info),
        "format": common(info.files.iter().map(|f| f.format.to_string())),
        "link_types": info.links().into_iter().map(link).collect::<Vec<_>>(),
        "snaplen": info.snap(),
        "drops": info.dropped(),
        "out_of_order": info.backwards,
        info.{ options_cut, reassembled },
        "checksums": {
            "verified": info.checksums_verified,
            "bad": info.checksums_verified.map(|_| info.checksums_bad),
        },
        "others": {
            o.{ arp, udp, icmp, other_ip, non_ip, encrypted, fragments, truncated },
        },
        "tunnels": By(|out: &mut Vec<u8>| {
            let seen = info.tunnels_seen().map(|(t, n)| By(move |out: &mut Vec<u8>| {
                object!(out, "kind": t.name(), "packets": n);
            }));
            seen.collect::<Vec<_>>().put(out);
        }),
        "unsupported": By(|out: &mut Vec<u8>| {
            let all = info.unsupported.iter().map(|u| By(move |out: &mut Vec<u8>| {
                object!(out, "link_type": link(u.link), "packets": u.packets);
            }));
            all.collect::<Vec<_>>().put(out);
        }),
        "malformed": {
            "count": info.malformed.count,
            "first": info.malformed.first.as_ref().map(|(file, packet, byte, what)| {
                By(move |out: &mut Vec<u8>| {
                    object!(out, "file": file, "packet": packet, "byte": byte, "what": what);
                })
            }),
        },
        "damage": info.damage.as_ref().map(ToString::to_string),
        "files": By(|out: &mut Vec<u8>| info.files.iter().map(file).collect::<Vec<_>>().put(out)),
    );
}

fn file(f: &FileInfo) -> impl Put + '_ {
    By(move |out: &mut Vec<u8>| {
        object!(out,
            "name": f.name,
            "format": f.format.to_string(),
            "compression": f.compression.map(|c| c.to_string()),
            "packets": f.packets,
            "start": f.first.map(rfc3339),
            "span_s": f.first.zip(f.last).map(|(first, last)| last - first),
            "sections": f.sections,
            "interfaces": f.interfaces.iter().map(interface).collect::<Vec<_>>(),
            "damage": f.damage.as_ref().map(ToString::to_string),
        );
    })
}

fn interface(i: &Interface) -> impl Put + '_ {
    By(move |out: &mut Vec<u8>| {
        object!(out,
            "name": i.name,
            "link_type": link(i.link),
            "snaplen": i.snap,
            "resolution": i.resolution.to_string(),
            "drops": i.dropped,
        );
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_with_as_many_digits_as_they_need() {
        assert_eq!(rfc3339(Time(0)), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(Time(1_500_000_000)), "1970-01-01T00:00:01.500Z");
        assert_eq!(rfc3339(Time(1_700_000_000_123_456_789)), "2023-11-14T22:13:20.123456789Z");
        assert_eq!(rfc3339(Time(-1)), "1969-12-31T23:59:59.999999999Z");
    }

    #[test]
    fn captures_of_several_formats_are_mixed() {
        let of = |names: &[&str]| common(names.iter().map(ToString::to_string));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["pcap", "pcap"]).as_deref(), Some("pcap"));
        assert_eq!(of(&["pcap", "pcapng"]).as_deref(), Some("mixed"));
    }
}
