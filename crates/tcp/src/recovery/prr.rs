//! Proportional rate reduction, RFC 9937: in flight goes down to ssthresh in step with what is delivered.

use super::Facts;
use crate::congestion::Window;
use crate::stack::PrrOf;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    of: PrrOf,
    /// RecoverFS: what was in flight as recovery began, bytes; cwnd then, as Linux has it.
    recover_fs: u32,
    /// Bytes delivered, and sent, since then.
    delivered: u64,
    out: u64,
}

impl Prr {
    pub(super) fn new(of: PrrOf) -> Prr {
        Prr { of, recover_fs: 1, delivered: 0, out: 0 }
    }

    /// RFC 9937 §6.1. `f.flight` is FlightSize without what had been SACKed before the ACK that began recovery;
    /// that ACK is the first of recovery.
    pub(super) fn enter(&mut self, w: &mut Window, f: &Facts) {
        let recover_fs = match self.of {
            PrrOf::Flight => f.flight,
            PrrOf::Cwnd => w.cwnd,
        };
        *self = Prr { of: self.of, recover_fs: recover_fs.max(1), delivered: 0, out: 0 };
        self.on_ack(w, f);
    }

    /// RFC 9937 §6.2.
    pub(super) fn on_ack(&mut self, w: &mut Window, f: &Facts) {
        if f.delivered == 0 {
            return;
        }
        self.delivered += u64::from(f.delivered);
        let safe = f.acked > 0 && !f.more_lost;
        let count = if f.pipe > w.ssthresh {
            // Proportional: by the end of recovery ssthresh bytes are in flight.
            let target = (self.delivered * u64::from(w.ssthresh)).div_ceil(u64::from(self.recover_fs));
            self.whole(target, w).saturating_sub(self.out)
        } else {
            // Never below what is delivered; up to ssthresh in slow start where nothing speaks against it.
            let mut count = self.delivered.saturating_sub(self.out).max(u64::from(f.delivered));
            if safe {
                count += u64::from(w.smss);
            }
            count.min(u64::from(w.ssthresh - f.pipe))
        };
        // The fast retransmit itself is never held back.
        let count = if self.out == 0 { count.max(u64::from(w.smss)) } else { count };
        w.cwnd = f.pipe.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Linux counts in segments, and rounds up to one.
    fn whole(&self, bytes: u64, w: &Window) -> u64 {
        match self.of {
            PrrOf::Flight => bytes,
            PrrOf::Cwnd => bytes.next_multiple_of(u64::from(w.smss.max(1))),
        }
    }

    #[inline]
    pub(super) fn sent(&mut self, bytes: u32) {
        self.out += u64::from(bytes);
    }
}
