//! The events of a script, one after the other, on one endpoint under the script's clock.

mod blocked;
mod bounds;
mod calls;
mod options;
mod packets;

use crate::code::Variables;
use crate::ladder::{self, Ladder};
use crate::offload::{Left, Offload, Step};
use crate::script::*;
use crate::settings::Settings;
use crate::sockets::Sockets;
use crate::{Outcome, Stop, info};
use blocked::Blocked;
use bounds::Bounds;
use std::collections::{HashMap, VecDeque};
use tcp::endpoint::{Config, Endpoint};
use tcp::stack::{Stack, Wire};
use wire::{Seq, Span, Time};

/// When a script begins: a quarter of a millisecond into a tick of the clock, as packetdrill does it
/// (JIFFY_OFFSET_USECS), so that a millisecond of the script never lies at a tick's edge.
const START: Time = Time(1_000_000_250_000);
/// How much longer than the script says a packet is waited for (sniff_outbound_live_packet).
const PATIENCE: Span = Span::from_secs(2);
/// The endpoint's initial sequence number: large, so that what is wrong with it shows.
const ISN: Seq = Seq(0xffff_f000);

pub(crate) fn play(script: &Script, stack: &Stack, wire: &Wire) -> Outcome {
    let settings = match Settings::new(script, stack, wire) {
        Ok(settings) => settings,
        Err(stop) => return Outcome { stop: Some(stop), ladder: Vec::new() },
    };
    let mut runner = Runner::new(settings);
    let stop = runner.run(script).err();
    Outcome { stop, ladder: runner.ladder.lines() }
}

struct Runner {
    settings: Settings,
    sockets: Sockets,
    end: Option<Endpoint>,
    nagle: Option<bool>,
    offload: Offload,
    /// What left and nobody expected yet.
    queue: VecDeque<Left>,
    now: Time,
    bounds: Bounds,
    /// When the event before was, as the script says; was it an injected packet?
    before: Option<(Span, bool)>,
    blocked: Option<Blocked>,
    accepted: bool,
    /// The initial sequence number that the script gives this side, and the peer's.
    script_isn: Option<u32>,
    peer_shift: u8,
    /// Timestamps as the script says them, and as they were.
    stamps: HashMap<u32, u32>,
    variables: Variables,
    ladder: Ladder,
}

impl Runner {
    fn new(settings: Settings) -> Runner {
        Runner {
            offload: Offload::new(settings.min_tso_segments),
            settings,
            sockets: Sockets::default(),
            end: None,
            nagle: None,
            queue: VecDeque::new(),
            now: START,
            bounds: Bounds::default(),
            before: None,
            blocked: None,
            accepted: false,
            script_isn: None,
            peer_shift: 0,
            stamps: HashMap::new(),
            variables: Variables::default(),
            ladder: Ladder::default(),
        }
    }

    fn run(&mut self, script: &Script) -> Result<(), Stop> {
        for event in &script.events {
            self.event(event)?;
        }
        match &self.blocked {
            Some(b) => Err(Stop::failed(b.line, format!("{} still blocks as the script ends", b.name))),
            None => Ok(()),
        }
    }

    fn clock(&self) -> Span {
        self.now - START
    }

    fn event(&mut self, e: &Event) -> Result<(), Stop> {
        self.bounds.at_line(e.line);
        let injects = matches!(e.what, Action::Inject(_));
        // Packets that are injected in a row are counted from each other, whatever happened between.
        let base = match self.before {
            Some((at, true)) if injects => at,
            _ => self.clock(),
        };
        let (from, to) = match e.when {
            When::Any => (base, base),
            When::Absolute { from, to } => (from, to),
            When::Relative { from, to } => (base + from, base + to),
        };
        self.bounds.time(to)?;
        if let Action::Expect(packet) = &e.what {
            let tolerance = self.tolerance(from);
            self.expect(e, packet, from, to, tolerance)?;
        } else {
            self.wait_until(e, from)?;
            match &e.what {
                Action::Inject(packet) => self.inject(packet, e.line)?,
                Action::Call(call) => self.call(call, e, base)?,
                Action::Command(command) => {
                    self.settings.command(command)?;
                    self.settings_changed();
                }
                Action::Code(code) => self.code(code, e.line)?,
                Action::Expect(_) => {}
            }
        }
        self.before = Some((from, injects));
        self.bounds.sent()
    }

    /// verify_time: a part of what passed since the event before, and so much at least.
    fn tolerance(&self, at: Span) -> Span {
        let since = self.before.map_or(Span::ZERO, |(before, _)| at - before);
        self.settings.tolerance.max(since.scale(self.settings.tolerance_percent / 100.0))
    }

    fn wait_until(&mut self, e: &Event, at: Span) -> Result<(), Stop> {
        self.advance(START + at)?;
        let late = self.clock() - at;
        if late > self.tolerance(at) {
            let says = format!("{:.6} s is over: it is {:.6} s", at.as_secs(), self.clock().as_secs());
            return Err(Stop::failed(e.line, says));
        }
        Ok(())
    }

    // ---- time ----

    /// Timers fire on the way.
    fn advance(&mut self, to: Time) -> Result<(), Stop> {
        while let Some(wake) = self.next_wake().filter(|t| *t <= to) {
            self.wake(wake)?;
        }
        self.now = self.now.max(to);
        Ok(())
    }

    fn next_wake(&self) -> Option<Time> {
        self.end.as_ref().and_then(Endpoint::next_wakeup)
    }

    fn wake(&mut self, at: Time) -> Result<(), Stop> {
        self.bounds.wake()?;
        self.now = self.now.max(at);
        if let Some(end) = &mut self.end {
            end.wake(self.now);
        }
        self.drain(u32::MAX);
        self.bounds.sent()?;
        self.resume()
    }

    /// What the endpoint sends now, as packets; at most so many segments, and no more than a script may have.
    fn drain(&mut self, most: u32) {
        let Some(end) = &mut self.end else { return };
        for _ in 0..most {
            let Some(sent) = end.transmit(self.now) else { break };
            if !self.bounds.may_send() {
                break;
            }
            let markable = end.is_markable(sent.seg.payload, sent.why);
            self.queue.extend(self.offload.left(self.now, &sent, &end.view(), markable));
        }
        self.queue.extend(self.offload.flush());
    }

    // ---- the application ----

    fn write(&mut self, bytes: u64) -> Result<u64, Stop> {
        self.bounds.write(bytes)?;
        let (mut left, mut waiting) = (bytes, 0);
        while left > 0 {
            let Some(end) = &mut self.end else { break };
            let view = end.view();
            let (piece, step) = self.offload.write(left, &view);
            left -= piece;
            waiting += piece;
            let Some(step) = step else { continue };
            end.write(waiting);
            waiting = 0;
            let most = match step {
                Step::PushAll => u32::MAX,
                Step::PushOne => self.offload.most_new(&view),
            };
            self.drain(most);
            self.bounds.sent()?;
        }
        Ok(bytes - left)
    }

    fn code(&mut self, code: &str, line: u32) -> Result<(), Stop> {
        let Runner { variables, end, .. } = self;
        let known = |name: &str| end.as_ref().and_then(|e| info::field(e, name));
        variables.run(code, line, &known)
    }

    /// What both sides' settings make of a new connection.
    fn config(&self) -> Config {
        Config { isn: ISN, path_mtu: Some(self.settings.path_mtu), receive: None }
    }

    fn begin(&mut self, mut end: Endpoint) {
        if let Some(nagle) = self.nagle {
            end.set_nagle(nagle);
        }
        self.offload = Offload::new(self.settings.min_tso_segments);
        self.end = Some(end);
    }

    fn note(&mut self, expected: String, came: impl Into<String>) {
        self.ladder.row(self.clock(), expected, came);
    }

    fn note_untold(&mut self) {
        while let Some(left) = self.queue.pop_front() {
            let shown = ladder::segment(&self.as_scripted(&left.seg));
            self.ladder.row(left.at - START, "", shown);
        }
    }
}
