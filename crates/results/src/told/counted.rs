//! What a kernel counts of what held its sender (TCP_INFO), from one look at the socket to the next.

use wire::{Span, Time};

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

/// A look at the socket: microseconds since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    pub time: Time,
    /// `tcpi_busy_time`: something was in flight, or waited to be sent.
    pub busy_us: u64,
    /// Of it `tcpi_rwnd_limited` and `tcpi_sndbuf_limited`.
    pub receiver_us: u64,
    pub buffer_us: u64,
    /// The receiver's window had no room for a segment.
    pub closed: bool,
}

/// The sums between the first look and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    pub time: Span,
    pub busy: Span,
    pub receiver: Span,
    pub buffer: Span,
}

impl Counted {
    pub fn of(looks: &[Look]) -> Option<Counted> {
        let (first, last) = looks.first().zip(looks.last())?;
        // It counts in ticks of its clock, which may be more than the time by one.
        let since = |of: fn(&Look) -> u64| us(of(last).saturating_sub(of(first))).min(last.time - first.time);
        (last.time > first.time).then(|| Counted {
            time: last.time - first.time,
            busy: since(|l| l.busy_us),
            receiver: since(|l| l.receiver_us),
            buffer: since(|l| l.buffer_us),
        })
    }
}

fn us(n: u64) -> Span {
    Span::from_micros(i64::try_from(n).unwrap_or(i64::MAX / 1000))
}

/// It counts in ticks of its clock, 10 ms at most.
const TICKS: Span = Span::from_millis(20);
/// From this share on all of the time is meant.
const ALL: f64 = 0.9;
/// Looks further apart say too little of when.
const FAR: Span = Span::from_millis(1000);

/// What held the sender in the times between looks, where one thing held it all along.
pub fn stated(looks: &[Look]) -> Vec<Stated> {
    let mut found: Vec<Stated> = Vec::new();
    for pair in looks.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let took = b.time - a.time;
        if took <= TICKS || took > FAR {
            continue;
        }
        let since = |of: fn(&Look) -> u64| us(of(&b).saturating_sub(of(&a)));
        let [busy, receiver, buffer] =
            [since(|l| l.busy_us), since(|l| l.receiver_us), since(|l| l.buffer_us)];
        let all = |part: Span| part.as_secs() >= ALL * took.as_secs();
        let holds = match () {
            () if busy <= TICKS / 2 => Holds::NothingToSend,
            () if all(receiver) && a.closed && b.closed => Holds::ClosedWindow,
            () if all(receiver) => Holds::ReceiverWindow,
            () if all(buffer) => Holds::SendBuffer,
            () if all(busy) && receiver <= TICKS / 2 => Holds::NoWindow,
            () => continue,
        };
        match found.last_mut() {
            Some(last) if last.holds == holds && last.end == a.time => last.end = b.time,
            _ => found.push(Stated { start: a.time, end: b.time, holds }),
        }
    }
    found
}
