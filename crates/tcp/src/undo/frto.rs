//! F-RTO, RFC 5682: new data after the first ACK, and the second ACK tells whether the timeout was needless.

/// Where the algorithm stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Frto {
    #[default]
    Off,
    /// Step 2: the timer's retransmission has left, its ACK is awaited.
    First,
    /// Step 3: two new segments have left.
    Second,
}

/// What the algorithm needs of an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrtoAck {
    pub(crate) advanced: bool,
    /// Everything sent before the timeout is acknowledged ("recover").
    pub(crate) reaches_recover: bool,
    /// It acknowledges all of the segment that the timer resent.
    pub(crate) covers_resent: bool,
    /// A duplicate ACK, or with SACK one that reports new blocks.
    pub(crate) duplicate: bool,
    /// Data sent before the timeout and not resent was SACKed.
    pub(crate) sacked_original: bool,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrtoStep {
    Wait,
    /// Up to two new segments may leave.
    SendNew,
    /// Nothing speaks for a needless timeout: repair in slow start. `late` with new data on its way already.
    Conventional {
        late: bool,
    },
    /// Data that was never resent arrived.
    Spurious,
}

impl Frto {
    pub(crate) fn on_ack(&mut self, a: &FrtoAck) -> FrtoStep {
        let (next, step) = match self {
            Frto::Off => (Frto::Off, FrtoStep::Wait),
            Frto::First => Frto::first(a),
            Frto::Second => Frto::second(a),
        };
        *self = next;
        step
    }

    /// RFC 5682 §2.1 step 2. With SACK (§3.1), a duplicate that reports an original is no proof yet.
    fn first(a: &FrtoAck) -> (Frto, FrtoStep) {
        if a.advanced && !a.reaches_recover && a.covers_resent {
            return (Frto::Second, FrtoStep::SendNew);
        }
        if a.advanced || a.duplicate {
            return (Frto::Off, FrtoStep::Conventional { late: false });
        }
        // Data of the other direction, or a window update.
        (Frto::First, FrtoStep::Wait)
    }

    /// Step 3.
    fn second(a: &FrtoAck) -> (Frto, FrtoStep) {
        if a.advanced || a.sacked_original {
            return (Frto::Off, FrtoStep::Spurious);
        }
        if a.duplicate {
            return (Frto::Off, FrtoStep::Conventional { late: true });
        }
        (Frto::Second, FrtoStep::Wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: FrtoAck = FrtoAck {
        advanced: false,
        reaches_recover: false,
        covers_resent: false,
        duplicate: false,
        sacked_original: false,
    };
    const ADVANCE: FrtoAck = FrtoAck { advanced: true, covers_resent: true, ..QUIET };
    const DUPLICATE: FrtoAck = FrtoAck { duplicate: true, ..QUIET };

    #[test]
    fn two_advances_prove_a_needless_timeout() {
        // RFC 5682 §2.1, steps 2b and 3b
        let mut f = Frto::First;
        assert_eq!(f.on_ack(&ADVANCE), FrtoStep::SendNew);
        assert_eq!(f.on_ack(&ADVANCE), FrtoStep::Spurious);
        assert_eq!(f, Frto::Off);
    }

    #[test]
    fn a_duplicate_after_the_new_data_proves_a_loss() {
        // step 3a; paper `interruption`, Fig. 10 (e)
        let mut f = Frto::First;
        f.on_ack(&ADVANCE);
        assert_eq!(f.on_ack(&QUIET), FrtoStep::Wait);
        assert_eq!(f.on_ack(&DUPLICATE), FrtoStep::Conventional { late: true });
    }

    #[test]
    fn a_sack_of_an_original_proves_a_needless_timeout_as_well() {
        // RFC 5682 §3.1, step 3b
        let mut f = Frto::Second;
        assert_eq!(
            f.on_ack(&FrtoAck { duplicate: true, sacked_original: true, ..QUIET }),
            FrtoStep::Spurious
        );
    }

    #[test]
    fn the_first_ack_must_acknowledge_the_retransmission_and_not_everything() {
        // step 2a
        for a in [
            DUPLICATE,
            FrtoAck { reaches_recover: true, ..ADVANCE },
            FrtoAck { covers_resent: false, ..ADVANCE },
        ] {
            let mut f = Frto::First;
            assert_eq!(f.on_ack(&a), FrtoStep::Conventional { late: false });
            assert_eq!(f, Frto::Off);
        }
    }
}
