//! What the sender's own kernel says held it, where it was asked (`rexmit record`): it counts the time in which data waited
//! for the receiver's window, and for its own send buffer, and the time in which there was any data (TCP_INFO,
//! tcp_chrono_start in net/ipv4/tcp.c).

use super::{Basis, Stretch, Why};
use crate::answer::certainty::Certainty;
use wire::Time;

/// What the kernel counted all of a time as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Nothing was in flight and nothing waited (`tcpi_busy_time` stood still).
    NothingToSend,
    /// `tcpi_rwnd_limited`.
    ReceiverWindow,
    /// The same, and at both looks the window had no room for a segment: nobody reads.
    ClosedWindow,
    /// `tcpi_sndbuf_limited`: the program waited for room in the buffer, and all in it was in flight.
    SendBuffer,
    /// There was data, and neither of these held it.
    NoWindow,
}

/// One time between two looks at the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    pub start: Time,
    pub end: Time,
    pub holds: Holds,
}

/// Puts the kernel's word into the place of what packets say. `stated`: in order of time, without overlaps.
pub(super) fn settle(stretches: Vec<Stretch>, stated: &[Stated]) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::with_capacity(stretches.len() + 2 * stated.len());
    let mut put = |s: Stretch| {
        if s.start >= s.end {
            return;
        }
        match out.last_mut() {
            Some(last) if (last.why, last.sure, last.basis) == (s.why, s.sure, s.basis) => last.end = s.end,
            _ => out.push(s),
        }
    };
    let mut next = 0;
    for whole in stretches {
        let mut from = whole.start;
        while stated.get(next).is_some_and(|k| k.end <= from) {
            next += 1;
        }
        let within = stated[next..].iter().take_while(|k| k.start < whole.end);
        for k in within {
            put(Stretch { end: k.start.clamp(from, whole.end), start: from, ..whole });
            let (start, end) = (k.start.max(from), k.end.min(whole.end));
            put(Stretch { start, end, ..told(whole, k.holds) });
            from = end;
        }
        put(Stretch { start: from, ..whole });
    }
    out
}

/// A stretch in the kernel's word. It does not know of the path: what made a window too small, or kept it full, stays what
/// packets show.
fn told(s: Stretch, holds: Holds) -> Stretch {
    let known = |why| Stretch { why, sure: Certainty::Known, basis: Basis::Kernel, ..s };
    match (holds, s.why) {
        (_, Why::Handshake | Why::Done) => s,
        (Holds::NothingToSend, Why::NotAsked | Why::NothingToSend) => known(s.why),
        (Holds::NothingToSend, _) => known(Why::NothingToSend),
        // Packets time these, and any window is full behind a hole or a full bottleneck.
        (_, Why::Outage | Why::Timer | Why::Repairing | Why::BottleneckFull) => s,
        (Holds::ReceiverWindow, Why::NothingRead) | (Holds::ClosedWindow, _) => known(Why::NothingRead),
        (Holds::ReceiverWindow, _) => known(Why::SteadyWindow),
        (Holds::SendBuffer, _) => known(Why::Buffer),
        // No window that was full: what held it instead does not show.
        (Holds::NoWindow, Why::SteadyWindow) => {
            Stretch { why: Why::Unknown, sure: Certainty::Open, basis: Basis::Kernel, ..s }
        }
        (Holds::NoWindow, _) => s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Time {
        Time(ms * 1_000_000)
    }

    fn stretch(start: i64, end: i64, why: Why) -> Stretch {
        let (sure, basis) = (Certainty::Likely, Basis::Plateau);
        Stretch { start: at(start), end: at(end), why, sure, basis, bytes: 0 }
    }

    fn settled(of: &[(i64, i64, Why)], stated: &[(i64, i64, Holds)]) -> Vec<(i64, i64, Why, Certainty)> {
        let stretches = of.iter().map(|(a, b, why)| stretch(*a, *b, *why)).collect();
        let stated: Vec<Stated> =
            stated.iter().map(|(a, b, holds)| Stated { start: at(*a), end: at(*b), holds: *holds }).collect();
        let found = settle(stretches, &stated);
        found.iter().map(|s| (s.start.0 / 1_000_000, s.end.0 / 1_000_000, s.why, s.sure)).collect()
    }

    use Certainty::{Known, Likely, Open};

    #[test]
    fn the_kernel_cuts_a_stretch_where_it_was_asked() {
        assert_eq!(
            settled(
                &[(0, 1000, Why::Pacing), (1000, 2000, Why::Outage)],
                &[
                    (250, 500, Holds::SendBuffer),
                    (500, 750, Holds::NoWindow),
                    (900, 1200, Holds::ReceiverWindow)
                ]
            ),
            [
                (0, 250, Why::Pacing, Likely),
                (250, 500, Why::Buffer, Known),
                (500, 900, Why::Pacing, Likely),
                (900, 1000, Why::SteadyWindow, Known),
                (1000, 2000, Why::Outage, Likely),
            ]
        );
    }

    #[test]
    fn who_had_nothing_to_send_waited_for_nobody() {
        assert_eq!(
            settled(&[(0, 500, Why::Timer), (500, 900, Why::Done)], &[(0, 900, Holds::NothingToSend)]),
            [(0, 500, Why::NothingToSend, Known), (500, 900, Why::Done, Likely)]
        );
        assert_eq!(
            settled(&[(0, 500, Why::NotAsked)], &[(100, 500, Holds::NothingToSend)]),
            [(0, 100, Why::NotAsked, Likely), (100, 500, Why::NotAsked, Known)]
        );
    }

    #[test]
    fn a_window_that_the_kernel_never_found_full_held_nothing() {
        assert_eq!(
            settled(&[(0, 500, Why::SteadyWindow)], &[(0, 500, Holds::NoWindow)]),
            [(0, 500, Why::Unknown, Open)]
        );
        assert_eq!(
            settled(&[(0, 500, Why::NothingRead)], &[(0, 500, Holds::ReceiverWindow)]),
            [(0, 500, Why::NothingRead, Known)]
        );
    }
}
