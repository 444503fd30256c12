//! DSACK undo (RFC 2883, RFC 3708; Linux): every retransmission was reported as a duplicate, so all were needless.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dsack {
    armed: bool,
    /// SND.UNA as the repair began: reports from below belong to an earlier one.
    from: u64,
    resent: u32,
    reported: u32,
}

impl Dsack {
    pub(super) fn armed(from: u64) -> Dsack {
        Dsack { armed: true, from, resent: 0, reported: 0 }
    }

    pub(super) fn resent(&mut self) {
        if self.armed {
            self.resent = self.resent.saturating_add(1);
        }
    }

    /// The receiver had `[_, right)` twice. Is that the last retransmission to be reported?
    pub(crate) fn on_duplicate(&mut self, right: u64) -> bool {
        if !self.armed || right <= self.from || self.resent == 0 {
            return false;
        }
        self.reported = self.reported.saturating_add(1);
        self.reported >= self.resent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_retransmissions_must_be_reported() {
        let mut d = Dsack::armed(100);
        assert!(!d.on_duplicate(200), "nothing was resent");
        d.resent();
        d.resent();
        assert!(!d.on_duplicate(100), "of an earlier repair");
        assert!(!d.on_duplicate(200));
        assert!(d.on_duplicate(300));
        assert!(!Dsack::default().on_duplicate(300));
    }
}
