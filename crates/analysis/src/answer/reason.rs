//! Why an episode went as it did, in a few words for the last column of the page.

use super::words::{bytes, count, ordinal};
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

impl Wait {
    pub fn words(self) -> String {
        match self {
            Wait::WindowSentOut { bytes: b, advertised: false } => {
                format!("window of {} was sent out before the link came back", bytes(b))
            }
            Wait::WindowSentOut { bytes: b, advertised: true } => {
                format!("the receiver's window of {} was sent out before the link came back", bytes(b))
            }
            Wait::Tail => "tail of the transfer: nothing behind it to be SACKed".into(),
            Wait::FewInFlight => "too little in flight for duplicate ACKs".into(),
            Wait::NothingArrived => "no segment from beyond the hole reached the receiver".into(),
        }
    }
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

/// The stack repaired about one segment a timeout, rather than that two timeouts fell into one repair.
pub(super) fn one_per_timeout(e: &EpisodeRow) -> bool {
    e.kind == EpisodeKind::Intermittent && e.timeouts >= 3 && e.timeouts * 2 >= e.lost_segments
}

/// `None` where there is nothing to explain: an episode repaired on an ACK at once. `bursts`: those of the episode
/// or more; others are passed over.
pub fn reason(e: &EpisodeRow, bursts: &[BurstRow]) -> Option<String> {
    let away = || bursts.iter().any(|b| b.episode == Some(e.number) && b.flow == e.flow && link_was_away(b));
    match e.kind {
        EpisodeKind::Unrepaired => Some("not repaired by the end".into()),
        EpisodeKind::Needless => Some(match e.needless {
            0 => "nothing was lost".into(),
            n => format!("nothing was lost: {} resent needlessly", count(u64::from(n), "segment")),
        }),
        EpisodeKind::Intermittent if one_per_timeout(e) => Some(format!(
            "one segment a timeout: {} for {}",
            count(u64::from(e.timeouts), "timeout"),
            count(u64::from(e.lost_segments), "segment")
        )),
        EpisodeKind::Intermittent => {
            Some(format!("{} with progress between", count(u64::from(e.timeouts), "timeout")))
        }
        EpisodeKind::Ack if e.timeouts > 0 => {
            Some("a retransmission was lost too: the timer repaired it".into())
        }
        EpisodeKind::Ack => None,
        EpisodeKind::TimerRto | EpisodeKind::TimerProbe if e.max_backoff > 0 => {
            Some(format!("{} timeout: back-off {}", ordinal(e.max_backoff + 1), e.max_backoff))
        }
        EpisodeKind::TimerRto | EpisodeKind::TimerProbe => wait(e, away()).map(Wait::words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Trigger;
    use wire::Time;

    fn episode(kind: EpisodeKind) -> EpisodeRow {
        EpisodeRow {
            kind,
            timeouts: 1,
            flight_bytes: 55_488,
            limit: Limit::SenderWindow,
            ..EpisodeRow::default()
        }
    }
    fn burst(copies: u32) -> BurstRow {
        BurstRow {
            lost_copies: Some(copies),
            last: Time(180_000_000),
            trigger: Trigger::TimerRto,
            episode: Some(0),
            ..BurstRow::default()
        }
    }
    fn say(e: EpisodeRow) -> String {
        reason(&e, &[burst(38)]).unwrap_or_default()
    }

    #[test]
    fn windows_7_sent_its_window_out_before_the_link_came_back() {
        // Paper `interruption`, Figs. 6 and 7.
        let e = episode(EpisodeKind::TimerRto);
        assert_eq!(say(e.clone()), "window of 55 kB was sent out before the link came back");
        let e = EpisodeRow { limit: Limit::ReceiveWindow, ..e };
        assert_eq!(say(e), "the receiver's window of 55 kB was sent out before the link came back");
    }

    #[test]
    fn the_tail_of_a_transfer_has_nothing_behind_it() {
        let e =
            EpisodeRow { limit: Limit::Application, flight_bytes: 1448, ..episode(EpisodeKind::TimerProbe) };
        assert_eq!(say(e), "tail of the transfer: nothing behind it to be SACKed");
    }

    #[test]
    fn back_off_intermittence_and_needless_repairs_are_named() {
        let e = EpisodeRow { timeouts: 2, max_backoff: 1, ..episode(EpisodeKind::TimerRto) };
        assert_eq!(say(e), "second timeout: back-off 1");
        let e = EpisodeRow { timeouts: 46, lost_segments: 46, ..episode(EpisodeKind::Intermittent) };
        assert_eq!(say(e), "one segment a timeout: 46 timeouts for 46 segments");
        let e = EpisodeRow { timeouts: 2, lost_segments: 33, ..episode(EpisodeKind::Intermittent) };
        assert_eq!(say(e), "2 timeouts with progress between");
        let e = EpisodeRow { needless: 12, ..episode(EpisodeKind::Needless) };
        assert_eq!(say(e), "nothing was lost: 12 segments resent needlessly");
    }

    #[test]
    fn data_sent_into_a_hole_that_stayed_open_did_not_arrive() {
        let e = EpisodeRow { limit: Limit::Unknown, ..episode(EpisodeKind::TimerRto) };
        assert_eq!(say(e), "no segment from beyond the hole reached the receiver");
        let e = EpisodeRow { flight_bytes: 2896, ..episode(EpisodeKind::TimerRto) };
        let lone = [BurstRow { last: Time(0), ..burst(1) }];
        assert_eq!(reason(&e, &lone).unwrap(), "too little in flight for duplicate ACKs");
    }

    #[test]
    fn a_repair_on_an_ack_needs_no_reason() {
        let e = EpisodeRow { timeouts: 0, ..episode(EpisodeKind::Ack) };
        assert_eq!(reason(&e, &[burst(88)]), None);
    }
}
