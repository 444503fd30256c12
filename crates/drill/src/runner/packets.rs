//! Packets: those that the script injects, and those that it expects.

use super::{ISN, PATIENCE, Runner, START};
use crate::Stop;
use crate::ladder;
use crate::script::{Ecn, Event, Packet, TcpOption, When};
use tcp::endpoint::Endpoint;
use wire::{Flags, SackBlocks, Segment, Seq, Span, Timestamps};

impl Runner {
    pub(super) fn inject(&mut self, p: &Packet, line: u32) -> Result<(), Stop> {
        let opens = p.flags.has(Flags::SYN) && !p.flags.has(Flags::ACK);
        if opens && self.end.is_none() {
            self.begin(Endpoint::listen_with(&self.settings.stack, &self.config()));
        } else if opens && self.end.as_ref().is_some_and(|e| e.is_established() || e.is_closed()) {
            return Err(Stop::unsupported(line, "a second connection"));
        }
        let seg = self.as_live(p, line)?;
        self.note(ladder::packet(p, true), "");
        if let Some(shift) = seg.window_scale {
            self.peer_shift = shift.min(14);
        }
        let shift = if p.flags.has(Flags::SYN) { 0 } else { self.peer_shift };
        self.offload.peer_offers(u32::from(seg.window) << shift);
        let Some(end) = &mut self.end else {
            return Err(Stop::failed(
                line,
                "a packet arrives before there is a connection or a socket that listens",
            ));
        };
        match p.ecn {
            Some(Ecn::Ce) => end.receive_marked(self.now, &seg),
            _ => end.receive(self.now, &seg),
        }
        self.offload.acknowledged(end.view().una);
        self.drain(u32::MAX);
        self.resume()
    }

    fn as_live(&self, p: &Packet, line: u32) -> Result<Segment, Stop> {
        let mut seg = Segment {
            seq: Seq(p.seq),
            ack: if p.flags.has(Flags::ACK) { self.live(p.ack) } else { Seq(p.ack) },
            payload: p.payload,
            window: p.window.unwrap_or(0),
            flags: p.flags,
            ..Segment::default()
        };
        for option in p.options.iter().flatten() {
            match option {
                TcpOption::Nop | TcpOption::Eol => {}
                TcpOption::Mss(mss) => seg.mss = Some(*mss),
                TcpOption::WindowScale(shift) => seg.window_scale = Some(*shift),
                TcpOption::SackPermitted => seg.sack_permitted = true,
                TcpOption::Timestamps { val, ecr } => {
                    let ecr = if p.flags.has(Flags::ACK) { self.live_stamp(*ecr, line)? } else { *ecr };
                    seg.timestamps = Some(Timestamps { val: *val, ecr });
                }
                TcpOption::Sack(blocks) => {
                    let mut live = SackBlocks::NONE;
                    blocks.iter().for_each(|(l, r)| live.push(self.live(*l), self.live(*r)));
                    seg.sack = live;
                }
            }
        }
        seg.header_len = wire::tcp::header_len(&seg);
        Ok(seg)
    }

    fn live(&self, script: u32) -> Seq {
        ISN + script.wrapping_sub(self.script_isn.unwrap_or(0))
    }

    /// Only what left can be echoed.
    fn live_stamp(&self, script: u32, line: u32) -> Result<u32, Stop> {
        let known = self.stamps.get(&script).copied();
        known.ok_or_else(|| Stop::failed(line, format!("ecr {script}: no packet with that TS val has left")))
    }

    pub(super) fn as_scripted(&self, seg: &Segment) -> Segment {
        let seq = self.script_isn.unwrap_or(0).wrapping_add((seg.seq - ISN) as u32);
        Segment { seq: Seq(seq), ..*seg }
    }

    // ---- what is to leave ----

    pub(super) fn expect(
        &mut self,
        e: &Event,
        p: &Packet,
        from: Span,
        to: Span,
        tolerance: Span,
    ) -> Result<(), Stop> {
        if self.end.is_none() {
            return Err(Stop::failed(e.line, "a packet is expected before there is a connection"));
        }
        if p.flags.has(Flags::SYN) {
            self.script_isn.get_or_insert(p.seq);
        }
        let any = e.when == When::Any;
        let (seg, at, markable) = self.collect(e, p, to, any)?;
        let differs = self.differs(p, &seg, markable);
        let came = ladder::segment(&seg);
        let shown = ladder::packet(p, false);
        self.ladder.row(at, shown, if differs.is_none() { String::new() } else { came });
        if let Some(says) = differs {
            self.note_untold();
            return Err(Stop::failed(e.line, says));
        }
        if !any && (at < from - tolerance || at > to + tolerance) {
            let wanted = match from == to {
                true => format!("{:.6} s", from.as_secs()),
                false => format!("{:.6} to {:.6} s", from.as_secs(), to.as_secs()),
            };
            let says = format!(
                "the packet left at {:.6} s, not at {wanted} (tolerance {:.6} s)",
                at.as_secs(),
                tolerance.as_secs()
            );
            self.ladder.row(at, "", "at another time");
            self.note_untold();
            return Err(Stop::failed(e.line, says));
        }
        if let (Some(stamps), Some(list)) = (seg.timestamps, &p.options) {
            for option in list {
                if let TcpOption::Timestamps { val, .. } = option {
                    self.stamps.insert(*val, stamps.val);
                }
            }
        }
        Ok(())
    }

    /// Packets that leave until there is as much payload as the script expects in one, put together; and when the last did.
    fn collect(&mut self, e: &Event, p: &Packet, to: Span, any: bool) -> Result<(Segment, Span, bool), Stop> {
        let mut whole: Option<Segment> = None;
        loop {
            let Some(left) = self.next_left(to, any)? else {
                let before = self.clock();
                let came = whole.map_or("nothing".to_owned(), |w| ladder::segment(&w));
                self.ladder.row(before, ladder::packet(p, false), came);
                let says = match whole {
                    None => "no packet left".to_owned(),
                    Some(w) => format!("{} bytes left, not {}", w.payload, p.payload),
                };
                return Err(Stop::failed(e.line, says));
            };
            let at = left.at - START;
            self.now = self.now.max(left.at);
            let seg = self.as_scripted(&left.seg);
            let so_far = match whole {
                None => seg,
                Some(w) => {
                    let follows = seg.seq == w.seq + w.payload && seg.ack == w.ack && seg.window == w.window;
                    if !follows {
                        self.ladder.row(at, ladder::packet(p, false), ladder::segment(&w));
                        self.ladder.row(at, "", ladder::segment(&seg));
                        self.note_untold();
                        let says = format!("{} bytes left in order, not {}", w.payload, p.payload);
                        return Err(Stop::failed(e.line, says));
                    }
                    Segment { seq: w.seq, payload: w.payload + seg.payload, ..seg }
                }
            };
            if so_far.payload >= p.payload {
                return Ok((so_far, at, left.markable));
            }
            whole = Some(so_far);
        }
    }

    /// What left longest ago, or leaves next while the script has patience.
    fn next_left(&mut self, to: Span, any: bool) -> Result<Option<crate::offload::Left>, Stop> {
        let patience = START + to + PATIENCE;
        loop {
            if let Some(left) = self.queue.pop_front() {
                return Ok(Some(left));
            }
            match self.next_wake() {
                Some(wake) if any || wake <= patience => self.wake(wake)?,
                _ => return Ok(None),
            }
        }
    }

    /// What is not as it should be.
    fn differs(&self, p: &Packet, seg: &Segment, markable: bool) -> Option<String> {
        let mut all = Vec::new();
        let mut hold = |what: &str, wanted: String, came: String| {
            if wanted != came {
                all.push(format!("{what} {came}, not {wanted}"));
            }
        };
        let range = |seq: u32, payload: u32| format!("{seq}:{}({payload})", seq.wrapping_add(payload));
        hold("flags", ladder::flags(p.flags), ladder::flags(seg.flags));
        hold("bytes", range(p.seq, p.payload), range(seg.seq.0, seg.payload));
        let ack = if seg.flags.has(Flags::ACK) { seg.ack.0 } else { 0 };
        hold("ack", p.ack.to_string(), ack.to_string());
        if let Some(window) = p.window {
            hold("window", window.to_string(), seg.window.to_string());
        }
        if let Some(list) = &p.options {
            hold("options", options(list.clone()), options(ladder::options(seg)));
        }
        if let Some(ecn) = p.ecn {
            let came = if markable { Ecn::Ect0 } else { Ecn::NotEct };
            let wanted = if ecn == Ecn::Ect01 && markable { came } else { ecn };
            hold("ECN", ladder::ecn(wanted).to_owned(), ladder::ecn(came).to_owned());
        }
        (!all.is_empty()).then(|| format!("another packet left: {}", all.join("; ")))
    }
}

/// In one order and without padding. A timestamp's value is whatever the clock said.
fn options(mut list: Vec<TcpOption>) -> String {
    list.retain(|o| !matches!(o, TcpOption::Nop | TcpOption::Eol));
    let rank = |o: &TcpOption| match o {
        TcpOption::Mss(_) => 0,
        TcpOption::SackPermitted => 1,
        TcpOption::Timestamps { .. } => 2,
        TcpOption::WindowScale(_) => 3,
        _ => 4,
    };
    list.sort_by_key(rank);
    let shown: Vec<String> = list
        .iter()
        .map(|o| match o {
            TcpOption::Timestamps { ecr, .. } => format!("TS ecr {ecr}"),
            other => ladder::option(other),
        })
        .collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}
