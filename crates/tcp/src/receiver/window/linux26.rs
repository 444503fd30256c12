//! The receive window of Linux 2.6.32: the buffer counts the memory of what is held, a quarter of it is overhead
//! (tcp_adv_win_scale 2), and the window climbs by two segments for each that arrives up to what the buffer and the
//! application's reading allow (net/ipv4/tcp_input.c: tcp_grow_window, tcp_rcv_space_adjust, tcp_rcv_rtt_update).

use crate::stack::Linux26Window;
use wire::{Span, Time};

/// Its clock for round trips: CONFIG_HZ 250.
const JIFFY_NS: i64 = 4_000_000;
/// Segments of the first window (tcp_select_initial_window).
const INITIAL_SEGMENTS: u64 = 4;
/// Shorter segments do not open the window (tcp_event_data_recv).
const LEAST_LEN: u32 = 128;
/// What a full segment needs besides payload when the buffer is sized: MAX_TCP_HEADER, 16, `sizeof(struct sk_buff)`
/// of a 64-bit kernel, then steps of 128 until three quarters of it hold the payload.
const SEGMENT_OVERHEAD: u64 = 160 + 16 + 232;
const SEGMENT_STEP: u64 = 128;

#[derive(Clone, Debug)]
pub(super) struct Linux26 {
    spec: Linux26Window,
    mss: u64,
    /// Memory, bytes: what all that is held may take (sk_rcvbuf).
    buffer: u64,
    /// The window is neither beyond what reading asks for (window_clamp) nor beyond how far it has climbed
    /// (rcv_ssthresh), bytes.
    clamp: u64,
    climbed: u64,
    /// Payload that is held: in order and not read, and behind a hole, bytes.
    unread: u64,
    waiting: u64,
    /// Twice the most that was read in a round trip (rcvq_space.space).
    asked: u64,
    /// When and where the present count of bytes read began.
    since: Option<Time>,
    mark: u64,
    /// Jiffies times 8; 0 before a sample.
    rtt8: i64,
    /// The window's worth of data that is timed: from when, and up to where.
    window_since: Option<Time>,
    window_end: u64,
}

fn payload_share(memory: u64) -> u64 {
    memory - memory / 4
}

fn jiffies(t: Time) -> i64 {
    t.0.div_euclid(JIFFY_NS)
}

impl Linux26 {
    pub(super) fn new(spec: Linux26Window, mss: u32, first: u64) -> Linux26 {
        let mut made = Linux26 {
            spec,
            mss: u64::from(mss),
            buffer: u64::from(spec.buffer_bytes),
            clamp: 0,
            climbed: 0,
            unread: 0,
            waiting: 0,
            asked: 0,
            since: None,
            mark: first,
            rtt8: 0,
            window_since: None,
            window_end: first,
        };
        made.set_mss(mss);
        made
    }

    /// Before any data.
    pub(super) fn set_mss(&mut self, mss: u32) {
        self.mss = u64::from(mss.max(1));
        self.clamp = payload_share(self.buffer);
        self.climbed = (INITIAL_SEGMENTS * self.mss).min(self.clamp);
        self.asked = self.climbed;
    }

    /// The most that can be held, bytes.
    pub(super) fn space(&self) -> u64 {
        payload_share(self.buffer)
    }

    /// How much more is welcome, bytes (__tcp_select_window).
    pub(super) fn open(&self) -> u64 {
        let free = self.free();
        let full = self.clamp.min(self.space());
        if free < full / 2 && free < self.mss { 0 } else { free.min(self.climbed) }
    }

    /// tcp_space: payload for which there is memory.
    fn free(&self) -> u64 {
        let segments = (self.unread + self.waiting).div_ceil(self.mss);
        payload_share(self.buffer.saturating_sub(segments * u64::from(self.spec.segment_memory_bytes)))
    }

    /// So much waits behind a hole.
    pub(super) fn holds(&mut self, waiting: u64) {
        self.waiting = waiting;
    }

    /// A segment of `len` bytes moved `next`; `unread` bytes in order are held with it; the sender may go to `edge`.
    pub(super) fn on_arrival(
        &mut self,
        now: Time,
        next: u64,
        len: u32,
        unread: u64,
        waiting: u64,
        edge: u64,
    ) {
        self.unread = unread;
        self.waiting = waiting;
        self.time_window(now, next, edge);
        self.since.get_or_insert(now);
        if len >= LEAST_LEN && self.climbed < self.clamp && self.climbed < self.free() {
            self.climbed = (self.climbed + self.step(u64::from(len))).min(self.clamp);
        }
    }

    /// tcp_grow_window: two segments, where the memory of this one is not too much more than its payload for a window
    /// of this size.
    fn step(&self, len: u64) -> u64 {
        let mut memory = payload_share(self.spec.segment_memory_bytes.into());
        if memory <= len {
            return 2 * self.mss;
        }
        let mut window = payload_share(self.spec.max_bytes.into()) / 2;
        memory /= 2;
        while self.climbed <= window && memory > len {
            window /= 2;
            memory /= 2;
        }
        if self.climbed <= window { 2 * self.mss } else { 0 }
    }

    /// The application read: once a round trip, room for twice that.
    pub(super) fn on_read(&mut self, now: Time, bytes: u64, read_to: u64) {
        self.unread = self.unread.saturating_sub(bytes);
        let Some(since) = self.since else { return };
        if self.rtt8 == 0 || jiffies(now) - jiffies(since) < self.rtt8 >> 3 {
            return;
        }
        let asked = 2 * (read_to - self.mark);
        self.since = Some(now);
        self.mark = read_to;
        if asked <= self.asked {
            return;
        }
        self.asked = asked;
        let memory = (asked / self.mss).max(1) * self.memory_of_a_segment();
        let memory = memory.min(self.spec.max_bytes.into());
        if self.spec.moderated && memory > self.buffer {
            self.buffer = memory;
            self.clamp = asked;
        }
    }

    fn memory_of_a_segment(&self) -> u64 {
        let mut memory = self.mss + SEGMENT_OVERHEAD;
        while payload_share(memory) < self.mss {
            memory += SEGMENT_STEP;
        }
        memory
    }

    /// A timestamp came back.
    pub(super) fn rtt_hint(&mut self, rtt: Span) {
        let sample = (rtt.0 / JIFFY_NS).max(1);
        self.rtt8 = if self.rtt8 == 0 { sample << 3 } else { self.rtt8 + sample - (self.rtt8 >> 3) };
    }

    /// A window's worth of data takes a round trip or more. Up to Linux 3.3 the sample is compared with eight times
    /// the estimate: any that is shorter than that replaces it, and a longer one never does.
    fn time_window(&mut self, now: Time, next: u64, edge: u64) {
        if let Some(since) = self.window_since {
            if next < self.window_end {
                return;
            }
            let sample = (jiffies(now) - jiffies(since)).max(1);
            if self.rtt8 == 0 || sample < self.rtt8 {
                self.rtt8 = sample << 3;
            }
        }
        self.window_end = edge.max(next + 1);
        self.window_since = Some(now);
    }

    pub(super) fn rtt(&self) -> Span {
        Span((self.rtt8 >> 3) * JIFFY_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1460;

    fn window(segment_memory_bytes: u32) -> Linux26 {
        let spec =
            Linux26Window { buffer_bytes: 87_380, max_bytes: 4 << 20, segment_memory_bytes, moderated: true };
        Linux26::new(spec, MSS, 1)
    }
    /// `n` full segments, `gap_ms` apart, each read at once; what was open after each.
    fn arrive(w: &mut Linux26, next: &mut u64, from_ms: i64, n: usize, gap_ms: i64) -> Vec<u64> {
        let mut open = Vec::new();
        for k in 0..n as i64 {
            let now = Time((from_ms + k * gap_ms) * 1_000_000);
            *next += u64::from(MSS);
            let edge = *next + w.open();
            w.on_arrival(now, *next, MSS, MSS.into(), 0, edge);
            w.on_read(now, MSS.into(), *next);
            open.push(w.open());
        }
        open
    }

    #[test]
    fn it_climbs_by_two_segments_to_three_quarters_of_the_buffer() {
        let (mut w, mut next) = (window(1900), 1);
        // One round trip is never over.
        w.rtt_hint(Span::from_secs(100));
        let open = arrive(&mut w, &mut next, 0, 25, 2);
        assert_eq!(open[..3], [6 * 1460, 8 * 1460, 10 * 1460]);
        assert_eq!(*open.last().unwrap(), 44 * 1460, "with a segment held there is room for 64,110 bytes");
    }

    #[test]
    fn a_card_with_buffers_of_16_kib_stops_it_at_38_segments() {
        // Paper `interruption`, Fig. 7: 55,488 bytes, 38 segments of 1460 rounded up to 64. With a segment of 16 KiB
        // and a header held, three quarters of the rest are 52,920: more than 36 segments, fewer than 38.
        let (mut w, mut next) = (window(16_384 + 232), 1);
        w.rtt_hint(Span::from_secs(100));
        let open = arrive(&mut w, &mut next, 0, 25, 2);
        assert_eq!(*open.last().unwrap(), 38 * 1460);
    }

    #[test]
    fn what_waits_behind_a_hole_takes_memory() {
        let mut w = window(2000);
        w.climbed = w.clamp;
        w.holds(10 * u64::from(MSS));
        assert_eq!(w.open(), payload_share(87_380 - 20_000));
        w.holds(43 * u64::from(MSS));
        assert_eq!(w.open(), 0, "less than a segment");
    }

    #[test]
    fn reading_makes_room_for_twice_as_much_as_in_a_round_trip() {
        let (mut w, mut next) = (window(1900), 1);
        w.rtt_hint(Span::from_millis(100));
        let open = arrive(&mut w, &mut next, 0, 200, 2);
        // A round trip of 25 jiffies, or the 22 to 26 that a window takes: 45 to 52 segments are read, twice that asked.
        assert!((90..=104).contains(&(open.last().unwrap() / 1460)), "{:?}", open.last());
    }

    #[test]
    fn any_window_that_took_less_than_eight_round_trips_sets_the_round_trip() {
        // tcp_rcv_rtt_update before 3.4: `m < new_sample`, the latter times 8.
        let mut w = window(1900);
        let mut timed = |from_ms: i64, to_ms: i64| {
            w.window_since = Some(Time(from_ms * 1_000_000));
            w.window_end = 1;
            w.time_window(Time(to_ms * 1_000_000), 1, 1000);
            w.rtt8 >> 3
        };
        assert_eq!(timed(0, 8), 2);
        assert_eq!(timed(0, 60), 15, "15 < 16");
        assert_eq!(timed(0, 4), 1);
        assert_eq!(timed(0, 32), 1, "8 is not below 8: it stays for ever");
    }

    #[test]
    fn memory_of_a_buffer_is_counted_in_whole_segments() {
        // tcp_rcv_space_adjust: 1460 + 408 hold 1401; 128 more hold 1497.
        assert_eq!(window(1900).memory_of_a_segment(), 1996);
    }
}
