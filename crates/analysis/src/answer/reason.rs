//! Why the repair of an episode had to wait for a timer.

use crate::rows::{BurstRow, EpisodeKind, EpisodeRow, Limit};
use wire::Span;

/// Payload of a full segment on Ethernet; a row carries no MSS, and only its order of magnitude matters here.
const SEGMENT: u64 = 1460;

/// Why a repair had to wait for a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// All the sender might send was sent, and lost, before the link came back.
    WindowSentOut { bytes: u64, advertised: bool },
    /// The end of what the application had: nothing behind it could be SACKed.
    Tail,
    /// Too little was in flight for three duplicate ACKs.
    FewInFlight,
    /// Nothing from beyond the hole arrived, for a reason that does not show.
    NothingArrived,
}

/// Whether the run is too long or too wide for anything but a link that was away.
pub(super) fn link_was_away(b: &BurstRow) -> bool {
    b.lost_copies.unwrap_or(b.lost_segments) >= 8 || b.last - b.start >= Span::from_millis(20)
}

/// Why the repair of `e` had to wait, if it did. `away`: one of its bursts was such a run.
pub(super) fn wait(e: &EpisodeRow, away: bool) -> Option<Wait> {
    if !matches!(e.kind, EpisodeKind::TimerRto | EpisodeKind::TimerProbe | EpisodeKind::Intermittent) {
        return None;
    }
    if e.limit == Limit::Application {
        return Some(Wait::Tail);
    }
    let held = matches!(e.limit, Limit::SenderWindow | Limit::ReceiveWindow);
    if away && held && e.flight_bytes > 0 {
        let advertised = e.limit == Limit::ReceiveWindow;
        return Some(Wait::WindowSentOut { bytes: e.flight_bytes, advertised });
    }
    if e.flight_bytes <= 4 * SEGMENT {
        return Some(Wait::FewInFlight);
    }
    Some(Wait::NothingArrived)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(kind: EpisodeKind) -> EpisodeRow {
        EpisodeRow {
            kind,
            timeouts: 1,
            flight_bytes: 55_488,
            limit: Limit::SenderWindow,
            ..EpisodeRow::default()
        }
    }

    #[test]
    fn windows_7_sent_its_window_out_before_the_link_came_back() {
        // Paper `interruption`, Figs. 6 and 7.
        let e = episode(EpisodeKind::TimerRto);
        assert_eq!(wait(&e, true), Some(Wait::WindowSentOut { bytes: 55_488, advertised: false }));
        let e = EpisodeRow { limit: Limit::ReceiveWindow, ..e };
        assert_eq!(wait(&e, true), Some(Wait::WindowSentOut { bytes: 55_488, advertised: true }));
    }

    #[test]
    fn the_tail_of_a_transfer_has_nothing_behind_it() {
        let e =
            EpisodeRow { limit: Limit::Application, flight_bytes: 1448, ..episode(EpisodeKind::TimerProbe) };
        assert_eq!(wait(&e, true), Some(Wait::Tail));
    }

    #[test]
    fn data_sent_into_a_hole_that_stayed_open_did_not_arrive() {
        let e = EpisodeRow { limit: Limit::Unknown, ..episode(EpisodeKind::TimerRto) };
        assert_eq!(wait(&e, true), Some(Wait::NothingArrived));
        let e = EpisodeRow { flight_bytes: 2896, ..episode(EpisodeKind::TimerRto) };
        assert_eq!(wait(&e, false), Some(Wait::FewInFlight));
    }

    #[test]
    fn a_repair_on_an_ack_did_not_wait() {
        let e = EpisodeRow { timeouts: 0, ..episode(EpisodeKind::Ack) };
        assert_eq!(wait(&e, true), None);
    }
}
