//! What was expected beside what came, a line each.

use crate::script::{Ecn, Packet, TcpOption};
use wire::{Flags, Segment, Span};

/// Times, what the script says, what happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ladder {
    rows: Vec<(Span, String, String)>,
}

impl Ladder {
    pub(crate) fn row(&mut self, at: Span, expected: impl Into<String>, came: impl Into<String>) {
        self.rows.push((at, expected.into(), came.into()));
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let wide = self.rows.iter().map(|(_, e, _)| e.chars().count()).max().unwrap_or(0).clamp(8, 64);
        let head = format!("{:>10}  {:wide$}  {}", "s", "expected", "came");
        let rows = self
            .rows
            .iter()
            .map(|(at, e, c)| format!("{:>10.6}  {e:wide$}  {c}", at.as_secs()).trim_end().to_owned());
        std::iter::once(head).chain(rows).collect()
    }
}

/// As the script's language writes flags.
pub(crate) fn flags(flags: Flags) -> String {
    let letters = [
        (Flags::FIN, 'F'),
        (Flags::SYN, 'S'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
        (Flags::ACK, '.'),
    ];
    let text: String = letters.iter().filter(|(f, _)| flags.has(*f)).map(|(_, c)| c).collect();
    if text.is_empty() { "-".to_owned() } else { text }
}

pub(crate) fn packet(p: &Packet, inbound: bool) -> String {
    let mut text = if inbound { "< " } else { "> " }.to_owned();
    if let Some(ecn) = p.ecn {
        text += &format!("[{}] ", self::ecn(ecn));
    }
    text += &numbers(p.flags, p.seq, p.payload, p.ack);
    if let Some(window) = p.window {
        text += &format!(" win {window}");
    }
    match &p.options {
        None => text += " <...>",
        Some(list) if list.is_empty() => {}
        Some(list) => text += &format!(" <{}>", list.iter().map(option).collect::<Vec<_>>().join(",")),
    }
    text
}

fn numbers(f: Flags, seq: u32, payload: u32, ack: u32) -> String {
    let ack = if f.has(Flags::ACK) { format!(" ack {ack}") } else { String::new() };
    format!("{} {seq}:{}({payload}){ack}", flags(f), seq.wrapping_add(payload))
}

pub(crate) fn ecn(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "noecn",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
        Ecn::Ect01 => "ect01",
    }
}

pub(crate) fn option(o: &TcpOption) -> String {
    match o {
        TcpOption::Nop => "nop".to_owned(),
        TcpOption::Eol => "eol".to_owned(),
        TcpOption::Mss(n) => format!("mss {n}"),
        TcpOption::WindowScale(n) => format!("wscale {n}"),
        TcpOption::SackPermitted => "sackOK".to_owned(),
        TcpOption::Timestamps { val, ecr } => format!("TS val {val} ecr {ecr}"),
        TcpOption::Sack(blocks) => {
            let all: Vec<String> = blocks.iter().map(|(l, r)| format!("{l}:{r}")).collect();
            format!("sack {}", all.join(" "))
        }
    }
}

/// A segment whose numbers are the script's.
pub(crate) fn segment(seg: &Segment) -> String {
    let p = Packet {
        ecn: None,
        flags: seg.flags,
        seq: seg.seq.0,
        payload: seg.payload,
        ack: seg.ack.0,
        window: Some(seg.window),
        options: Some(options(seg)),
    };
    packet(&p, false)
}

/// Its options without padding.
pub(crate) fn options(seg: &Segment) -> Vec<TcpOption> {
    let mut all = Vec::new();
    all.extend(seg.mss.map(TcpOption::Mss));
    if seg.sack_permitted {
        all.push(TcpOption::SackPermitted);
    }
    all.extend(seg.timestamps.map(|t| TcpOption::Timestamps { val: t.val, ecr: t.ecr }));
    all.extend(seg.window_scale.map(TcpOption::WindowScale));
    if !seg.sack.is_empty() {
        all.push(TcpOption::Sack(seg.sack.as_slice().iter().map(|(l, r)| (l.0, r.0)).collect()));
    }
    all
}
