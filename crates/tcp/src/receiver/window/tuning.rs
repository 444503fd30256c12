//! Dynamic right-sizing: room for twice what was read in a round trip.

use wire::{Span, Time};

/// What one call reads at most, as the live bench's hosts read.
const READ: u64 = 262_144;

/// Dynamic right-sizing (Fisk and Feng 2001, as Linux does it): room for twice what was read in a round trip.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    /// Before reads say more: two segments for each that arrives, up to this (Linux, `rcv_ssthresh`).
    untuned: u64,
    max: u64,
    /// The most that was read in a round trip, ten segments to begin with; where growth is foreseen
    /// (tcp_rcv_space_adjust).
    read_before: Option<u64>,
    /// The MSS that this side announced, where growth is foreseen: room grows by two of them (advmss).
    announced: Option<u32>,
    /// The timestamp that the last round trip came from (rcv_rtt_last_tsecr).
    echo: Option<u32>,
    /// Where growth is foreseen: the room grows up to this as data arrives (window_clamp).
    clamp: u64,
    /// Smoothed round trip as seen from here; zero while unknown.
    rtt: Span,
    /// It came from timestamps; otherwise it is the least time that a whole window took.
    from_hints: bool,
    /// When the present count of bytes read began, and where.
    since: Time,
    mark: u64,
    /// Without timestamps: the round trip ends when `next` reaches this; began at `window_since`.
    window_end: u64,
    window_since: Time,
}

impl Tuning {
    pub(super) fn new(untuned_bytes: u32, max_bytes: u32, announced: Option<u32>, first: u64) -> Tuning {
        Tuning {
            untuned: u64::from(untuned_bytes.min(max_bytes)),
            max: u64::from(max_bytes),
            read_before: announced.map(|mss| 10 * u64::from(mss)),
            announced,
            echo: None,
            clamp: 0,
            rtt: Span::ZERO,
            from_hints: false,
            since: Time::ZERO,
            mark: first,
            window_end: first,
            window_since: Time::FAR_PAST,
        }
    }

    /// Where growth is foreseen the first round trip that counts begins here (tcp_init_buffer_space).
    pub(super) fn established(&mut self, now: Time) {
        if self.read_before.is_some() {
            self.since = now;
        }
    }

    /// A segment of `len` bytes moved `next`, with room for `space` and an edge told before; returns the new space.
    #[inline]
    pub(super) fn on_arrival(
        &mut self,
        now: Time,
        next: u64,
        len: u32,
        mss: u32,
        edge: u64,
        space: u64,
    ) -> u64 {
        let grown = self.grown(len, mss, space, self.untuned.max(self.clamp));
        if grown > space {
            return grown;
        }
        if !self.from_hints && next >= self.window_end {
            self.on_window(now, next, edge);
        }
        space
    }

    /// The room that a segment of `len` bytes makes, up to `most`: no short one makes any (tcp_grow_window).
    #[inline]
    fn grown(&self, len: u32, mss: u32, space: u64, most: u64) -> u64 {
        match space < most && len >= mss / 2 {
            true => (space + 2 * u64::from(self.announced.unwrap_or(mss))).min(most),
            false => space,
        }
    }

    /// A segment of `len` bytes waits behind a hole: it makes room as any other, and what is held so far `beyond` what is
    /// expected needs as much more (tcp_data_queue_ofo, tcp_rcvbuf_grow).
    pub(super) fn on_held(&mut self, len: u32, mss: u32, space: u64, beyond: u64) -> u64 {
        let grown = self.grown(len, mss, space, self.clamp);
        if let Some(read) = self.read_before {
            self.clamp = self.clamp.max((2 * read + beyond).min(self.max));
        }
        grown
    }

    /// All up to `read_to` is read, `bytes` of it now; returns the space that this asks for.
    #[inline]
    pub(super) fn on_read(&mut self, now: Time, read_to: u64, bytes: u64, space: u64) -> u64 {
        if self.rtt == Span::ZERO || now - self.since < self.rtt {
            return space;
        }
        self.since = now;
        if self.read_before.is_none() {
            let wanted = self.wanted(read_to - self.mark).min(self.max);
            self.mark = read_to;
            return wanted.max(space);
        }
        // It is looked at after each call; what is still in the queue then does not count, and is taken off besides
        // (tcp_rcv_space_adjust since 6.16), so that what a hole had held up is not taken for a rate.
        let queued = bytes.saturating_sub(READ);
        let copied = (read_to - queued - self.mark).saturating_sub(queued);
        self.mark = read_to - queued;
        self.clamp = self.clamp.max(self.wanted(copied).min(self.max));
        space
    }

    #[inline]
    pub(super) fn tells_rtt(&mut self, echo: u32) -> bool {
        if self.announced.is_none() {
            return true;
        }
        let new = self.echo != Some(echo);
        self.echo = Some(echo);
        new
    }

    /// The round trip that echoed timestamps gave, smoothed by an eighth; where growth is foreseen a smaller one counts at
    /// once (tcp_rcv_rtt_update since 6.16).
    #[inline]
    pub(super) fn rtt_hint(&mut self, rtt: Span) {
        let least = self.read_before.is_some() && rtt < self.rtt;
        if self.from_hints && !least {
            self.rtt += (rtt - self.rtt) / 8;
        } else {
            self.rtt = rtt;
            self.from_hints = true;
        }
        self.rtt = self.rtt.max(Span(1));
    }

    pub(super) fn rtt(&self) -> Span {
        self.rtt
    }

    /// Room for twice what was `read` in a round trip; and for twice the growth that this is of what was read before.
    fn wanted(&mut self, read: u64) -> u64 {
        let mut wanted = 2 * read;
        if let Some(before) = &mut self.read_before
            && read > *before
        {
            wanted += 2 * (wanted * (read - *before) / (*before).max(1));
            *before = read;
        }
        wanted
    }

    /// A window's worth took at least a round trip: the least of them counts.
    fn on_window(&mut self, now: Time, next: u64, edge: u64) {
        if self.window_since > Time::FAR_PAST {
            let took = (now - self.window_since).max(Span(1));
            self.rtt = if self.rtt == Span::ZERO { took } else { self.rtt.min(took) };
        }
        self.window_since = now;
        self.window_end = edge.max(next + 1);
    }
}
