//! Proportional rate reduction, RFC 9937: in flight goes down to ssthresh in step with what is delivered.

use super::Facts;
use crate::congestion::Window;
use crate::stack::{PrrOf, ReductionBound};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    of: PrrOf,
    bound: ReductionBound,
    /// RecoverFS: what was in flight as recovery began, bytes; cwnd then, as Linux has it.
    recover_fs: u32,
    /// Bytes delivered, and sent, since then.
    delivered: u64,
    out: u64,
}

impl Prr {
    pub(super) fn new(of: PrrOf, bound: ReductionBound) -> Prr {
        Prr { of, bound, recover_fs: 1, delivered: 0, out: 0 }
    }

    /// RFC 9937 §6.1. `f.flight` is FlightSize without what had been SACKed before the ACK that began recovery;
    /// that ACK is the first of recovery.
    pub(super) fn enter(&mut self, w: &mut Window, f: &Facts) {
        let recover_fs = match self.of {
            PrrOf::Flight => f.flight,
            PrrOf::Cwnd => w.cwnd,
        };
        *self = Prr { recover_fs: recover_fs.max(1), ..Prr::new(self.of, self.bound) };
        self.on_ack(w, f);
    }

    /// RFC 9937 §6.2.
    pub(super) fn on_ack(&mut self, w: &mut Window, f: &Facts) {
        if f.delivered == 0 {
            return;
        }
        self.delivered += u64::from(f.delivered);
        let count = if f.pipe > w.ssthresh {
            // Proportional: by the end of recovery ssthresh bytes are in flight.
            let target = (self.delivered * u64::from(w.ssthresh)).div_ceil(u64::from(self.recover_fs));
            self.whole(target, w).saturating_sub(self.out)
        } else {
            self.bounded(f, w.smss).min(u64::from(w.ssthresh - f.pipe))
        };
        // The fast retransmit itself is never held back.
        let count = if self.out == 0 { count.max(u64::from(w.smss)) } else { count };
        w.cwnd = f.pipe.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Never below what is delivered; up to ssthresh in slow start where nothing speaks against it.
    fn bounded(&self, f: &Facts, smss: u32) -> u64 {
        let slow_start = match self.bound {
            ReductionBound::SafeAck => f.acked > 0 && !f.more_lost,
            ReductionBound::Repairs if f.repair_acked && !f.repair_lost => true,
            ReductionBound::Repairs => return f.delivered.into(),
            ReductionBound::SlowStart => true,
        };
        let delivered = self.delivered.saturating_sub(self.out).max(u64::from(f.delivered));
        delivered + if slow_start { u64::from(smss) } else { 0 }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Below ssthresh, an ACK that delivers one segment after a repair of eight: segments that may leave.
    fn leave(bound: ReductionBound, facts: Facts) -> u32 {
        const SMSS: u32 = 1000;
        let mut w = Window { cwnd: 20 * SMSS, ssthresh: 14 * SMSS, smss: SMSS };
        let mut prr = Prr::new(PrrOf::Cwnd, bound);
        prr.enter(
            &mut w,
            &Facts { delivered: 8 * SMSS, pipe: 4 * SMSS, more_lost: true, ..Facts::default() },
        );
        prr.sent(2 * SMSS);
        let pipe = 5 * SMSS;
        prr.on_ack(&mut w, &Facts { delivered: SMSS, pipe, ..facts });
        (w.cwnd - pipe) / SMSS
    }

    #[test]
    fn each_bound_sends_what_its_source_says() {
        let sacks = Facts { more_lost: true, ..Facts::default() };
        let repair = Facts { acked: 1000, repair_acked: true, ..Facts::default() };
        let lost_again = Facts { repair_lost: true, more_lost: true, ..repair };
        // RFC 9937 §6.2: DeliveredData since entry less what was sent, 9 - 2, and one more if the ACK is safe.
        assert_eq!([sacks, repair, lost_again].map(|f| leave(ReductionBound::SafeAck, f)), [7, 8, 7]);
        // Linux 4.9, tcp_cwnd_reduction: min(delta, newly delivered) unless a repair is acknowledged and none is lost.
        assert_eq!([sacks, repair, lost_again].map(|f| leave(ReductionBound::Repairs, f)), [1, 8, 1]);
        // RFC 6937 §3.1, PRR-SSRB.
        assert_eq!([sacks, repair, lost_again].map(|f| leave(ReductionBound::SlowStart, f)), [8, 8, 8]);
    }
}
