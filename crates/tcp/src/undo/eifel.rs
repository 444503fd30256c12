//! Eifel detection, RFC 3522: the first acceptable ACK echoes the clock of an original, not of its repair.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Eifel {
    armed: bool,
    /// RetransmitTS: TSval of the first retransmission.
    stamp: Option<u32>,
}

impl Eifel {
    pub(super) fn armed() -> Eifel {
        Eifel { armed: true, stamp: None }
    }

    pub(super) fn resent(&mut self, tsval: u32) {
        if self.armed && self.stamp.is_none() {
            self.stamp = Some(tsval);
        }
    }

    /// The first ACK that advances since (RFC 3522 §3.2 step 4): was the repair needless? Asked once.
    pub(crate) fn on_advance(&mut self, tsecr: Option<u32>) -> bool {
        let Some(stamp) = self.stamp.take() else { return false };
        self.armed = false;
        tsecr.is_some_and(|ecr| (ecr.wrapping_sub(stamp) as i32) < 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_older_than_the_first_retransmission_proves_it_needless() {
        let mut e = Eifel::armed();
        e.resent(1000);
        e.resent(1500);
        assert!(e.on_advance(Some(999)));
        assert!(!e.on_advance(Some(999)), "only the first ACK is asked");
    }

    #[test]
    fn an_echo_of_the_retransmission_or_none_proves_nothing() {
        for echo in [Some(1000), Some(1001), None] {
            let mut e = Eifel::armed();
            e.resent(1000);
            assert!(!e.on_advance(echo));
        }
        let mut wrapped = Eifel::armed();
        wrapped.resent(3);
        assert!(wrapped.on_advance(Some(u32::MAX)), "the clock wraps");
    }
}
