//! What a host does with the network: sends frames, sets timers, tells the recorder.

use crate::frame::{Body, Frame, Reason};
use crate::recorder::Recorder;
use crate::release::Release;
use crate::rows::{AppEvent, AppRow, Block, BlockedRow, State};
use instant::Time;
use links::{Class, Ecn, Facts, LinkId};
use net::{Net, NodeId, TimerId};

/// Who of a connection is called when a timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    Client,
    Server,
    Application,
}

impl Alarm {
    const EACH: u32 = 3;

    pub fn id(self, connection: u32) -> TimerId {
        TimerId(connection * Alarm::EACH + self as u32)
    }
    /// How many ids so many connections take.
    pub fn ids(connections: u32) -> u32 {
        connections * Alarm::EACH
    }
    /// The connection and the alarm that a timer stands for.
    pub fn of(id: TimerId) -> (u32, Alarm) {
        let alarm = match id.0 % Alarm::EACH {
            0 => Alarm::Client,
            1 => Alarm::Server,
            _ => Alarm::Application,
        };
        (id.0 / Alarm::EACH, alarm)
    }
}

/// Where a connection's two ends are, and its number.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub connection: u32,
    pub client: NodeId,
    pub server: NodeId,
    /// The first links from the client to the server, and back.
    pub out: [Option<LinkId>; 2],
}

/// A packet as a host hands it over, but for its body.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    pub forward: bool,
    pub reason: Reason,
    pub release: Release,
    pub class: Class,
    pub length_bytes: u32,
    pub ecn: Ecn,
}

/// What connections share while one of them handles an event.
pub struct Shared<'a, R> {
    pub now: Time,
    pub net: &'a mut Net<Frame>,
    pub recorder: &'a mut R,
    pub copies: &'a mut u64,
}

impl<'a, R> Shared<'a, R> {
    #[inline(always)]
    pub fn host(self, ends: &'a Ends) -> Host<'a, R> {
        let Shared { now, net, recorder, copies } = self;
        Host { now, ends, net, recorder, copies }
    }
}

/// The network, as one connection sees it while it handles an event.
pub struct Host<'a, R> {
    pub now: Time,
    pub ends: &'a Ends,
    pub net: &'a mut Net<Frame>,
    pub recorder: &'a mut R,
    pub copies: &'a mut u64,
}

impl<R: Recorder> Host<'_, R> {
    /// `ip_ids` are the next IPv4 identifications, the client's and the server's.
    pub fn send(&mut self, parcel: Parcel, body: Body, ip_ids: &mut [u16; 2]) {
        self.send_written(parcel.forward, ip_ids, |place| {
            *place = body;
            Some(parcel)
        });
    }

    /// Sends what is written where the packet will lie, without a copy. False if nothing was.
    #[inline(always)]
    pub fn send_written(
        &mut self,
        forward: bool,
        ip_ids: &mut [u16; 2],
        write: impl FnOnce(&mut Body) -> Option<Parcel>,
    ) -> bool {
        let (way, connection) = (usize::from(!forward), self.ends.connection);
        let (from, to) = self.towards(forward);
        let (now, copies) = (self.now, &mut *self.copies);
        self.net.send_written(now, self.ends.out[way], (from, to), self.recorder, |frame, recorder| {
            let Parcel { reason, release, class, length_bytes, ecn, .. } = write(&mut frame.body)?;
            frame.copy = *copies;
            frame.connection = connection;
            frame.forward = forward;
            frame.reason = reason;
            if R::IS_ON {
                frame.release = release;
            }
            frame.ip_id = recorder.ip_id(now, from, ip_ids[way]);
            ip_ids[way] = ip_ids[way].wrapping_add(1);
            *copies += 1;
            let facts = Facts { len: length_bytes, flow: connection * 2 + way as u32, class, ecn };
            recorder.sent(now, from, &facts, frame);
            Some(facts)
        })
    }
    #[inline(always)]
    pub fn alarm(&mut self, alarm: Alarm, at: Option<Time>) {
        debug_assert!(at.is_none_or(|at| at >= self.now), "a timer in the past: {at:?} at {}", self.now);
        self.net.set_timer(alarm.id(self.ends.connection), at);
    }
    /// The state is asked for only where it is recorded.
    #[inline]
    pub fn record(&mut self, forward: bool, state: impl FnOnce() -> State) {
        if self.recorder.wants_state(self.ends.connection) {
            self.recorder.state(self.now, self.ends.connection, forward, state());
        }
    }
    /// What blocked a sender before this event; asked for only where it is recorded.
    #[inline(always)]
    pub fn blocked_by(&self, forward: bool) -> Block {
        self.recorder.blocked_by(self.ends.connection, forward)
    }
    #[inline(always)]
    pub fn wants_releases(&self) -> bool {
        R::IS_ON && self.recorder.wants_releases()
    }
    #[inline(always)]
    pub fn blocked(&mut self, row: impl FnOnce() -> BlockedRow) {
        if self.wants_releases() {
            self.recorder.blocked(&row());
        }
    }
    /// What a program does.
    #[inline(always)]
    pub fn application(&mut self, client: bool, event: AppEvent, bytes: u64, left_bytes: u64) {
        if R::IS_ON {
            let (time, connection) = (self.now, self.ends.connection);
            self.recorder.application(&AppRow { time, connection, client, event, bytes, left_bytes });
        }
    }
    fn towards(&self, forward: bool) -> (NodeId, NodeId) {
        if forward { (self.ends.client, self.ends.server) } else { (self.ends.server, self.ends.client) }
    }
}
