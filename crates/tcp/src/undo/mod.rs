//! Was the repair needless? Signs, and the way back.
//!
//! A detector looks at facts and says so; the snapshot that undoes the repair's effect on the window is taken
//! before. Each detector is armed when a repair begins and disarmed by its verdict.

mod dsack;
mod eifel;
mod frto;
mod linux;
mod window;

use crate::congestion::{Congestion, Window};
use crate::stack::{self, UndoRule};
use wire::Time;

pub(crate) use dsack::Dsack;
pub(crate) use eifel::Eifel;
pub(crate) use frto::{Frto, FrtoAck, FrtoStep};
pub(crate) use linux::Linux;
pub(crate) use window::BadRetransmit;

/// The window as it was when the repair began.
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    pub(crate) congestion: Congestion,
    pub(crate) window: Window,
    /// FlightSize then, bytes.
    pub(crate) flight: u32,
}

/// The detectors of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    spec: stack::Undo,
    pub(crate) frto: Frto,
    pub(crate) eifel: Eifel,
    pub(crate) dsack: Dsack,
    pub(crate) bad: BadRetransmit,
    prior: Option<Box<Prior>>,
    linux: Linux,
}

impl Undo {
    /// Eifel needs timestamps, DSACK needs SACK.
    pub(crate) fn new(spec: stack::Undo, sack: bool, timestamps: bool) -> Undo {
        let spec = stack::Undo { eifel: spec.eifel && timestamps, dsack: spec.dsack && sack, ..spec };
        Undo { spec, ..Undo::default() }
    }

    pub(crate) fn spec(&self) -> &stack::Undo {
        &self.spec
    }

    /// Whether what a repair does may be taken back at all.
    pub(crate) fn watches(&self) -> bool {
        self.spec != stack::Undo::default()
    }

    /// A repair begins that the detectors shall watch. A second repair within the first keeps the first's window.
    pub(crate) fn begin(&mut self, prior: impl FnOnce() -> Prior, una: u64) {
        self.prior = Some(Box::new(prior()));
        self.eifel = if self.spec.eifel { Eifel::armed() } else { Eifel::default() };
        self.dsack = if self.spec.dsack { Dsack::armed(una) } else { Dsack::default() };
    }

    /// Signs are read, and repairs taken back, as Linux does.
    #[inline]
    pub(crate) fn is_linux(&self) -> bool {
        self.spec.rule == UndoRule::Linux
    }

    /// The detectors of Linux, where the stack has them.
    #[inline]
    pub(crate) fn linux_mut(&mut self) -> Option<&mut Linux> {
        self.is_linux().then_some(&mut self.linux)
    }

    /// A segment was resent at `now` with this TSval, if timestamps are in use.
    pub(crate) fn resent(&mut self, tsval: u32) {
        self.eifel.resent(tsval);
        self.dsack.resent();
        if let Some(linux) = self.linux_mut() {
            linux.resent(tsval);
        }
    }

    /// F-RTO takes charge of this timeout: the others are quiet (as in Linux; paper `interruption`, Fig. 10, where
    /// a DSACK of the only retransmission takes nothing back).
    pub(crate) fn begin_frto(&mut self) {
        self.frto = Frto::First;
        self.eifel = Eifel::default();
        self.dsack = Dsack::default();
    }

    pub(crate) fn timed_out(&mut self, now: Time, srtt: Option<wire::Span>, first: bool) {
        self.bad = match srtt {
            Some(srtt) if self.spec.bad_retransmit_window && first => BadRetransmit::armed(now + srtt),
            _ => BadRetransmit::default(),
        };
    }

    /// The way back, once.
    pub(crate) fn take(&mut self) -> Option<Box<Prior>> {
        self.disarm();
        self.prior.take()
    }

    pub(crate) fn disarm(&mut self) {
        self.frto = Frto::Off;
        self.eifel = Eifel::default();
        self.dsack = Dsack::default();
        self.bad = BadRetransmit::default();
    }
}
