//! The IP identification of hosts that count their packets in it: how many of them are missing here.

use wire::Span;

/// Counts one host's packets of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct IpIdCounter {
    /// The identification that the next packet should have.
    next: u16,
    /// Packets that came with the number expected, and others.
    regular: u32,
    irregular: u32,
    /// Packets that came a little later in the row than expected, and others that fit no row.
    ahead: u32,
    wild: u32,
    /// Packets missing just before this one, and all that are missing and not accounted for by holes.
    pub skipped: u32,
    owed: u32,
    /// So many of those were data, and no repairs that were lost.
    data: u32,
    /// The host counts other packets in the same row.
    shared: bool,
    /// It numbered its answer to a SYN, which Linux does not.
    one_row: bool,
    /// Packets missing that cannot have been of this connection.
    elsewhere: u32,
    /// How long holes stay open until their repair comes, smoothed.
    open_for: Span,
    begun: bool,
    /// Numbers between two that came, which have not come: of whatever the host sent.
    gaps: u32,
    /// Which of the 64 numbers before `next` have come, the newest in the lowest bit.
    came: u64,
    /// That of the highest data.
    highest: u16,
}

/// A step over more packets than this is no loss but another way of numbering.
const MOST_SKIPPED: u16 = 4000;

/// A sender gives up after 15 timeouts or so (RFC 9293 §3.8.3).
const MOST_ATTEMPTS: u16 = 16;

/// As many packets tell how a host counts; what was long ago counts for less.
const OFTEN: u32 = 4096;

impl IpIdCounter {
    /// Is this the number that comes next, of a host whose numbers have been followed so far?
    #[inline(always)]
    pub fn expect(&self, id: u16) -> bool {
        (id == self.next) & self.begun & (self.regular + self.irregular < OFTEN)
    }
    /// Takes in a packet of one segment with the number expected.
    #[inline(always)]
    pub fn take_expected(&mut self, id: u16) {
        self.skipped = 0;
        self.regular += 1;
        self.next = id.wrapping_add(1);
        self.came = self.came << 1 | 1;
    }

    /// Takes in a packet of `segments` segments: offloading hosts count each. `hole`: so many were never seen between
    /// it and the data before it; `None` where any number may be missing, since a timer has fired.
    #[inline]
    pub fn note(&mut self, id: u16, segments: u32, hole: Option<u32>) {
        match segments == 1 && self.expect(id) {
            true => self.take_expected(id),
            false => self.take_other(id, segments, hole),
        }
    }
    /// So many numbers are missing right before this one, if they are no more than a timer's attempts.
    pub fn missing_before(&self, id: u16) -> Option<u32> {
        let step = id.wrapping_sub(self.next);
        (self.begun && step <= MOST_ATTEMPTS).then_some(step.into())
    }
    fn take_other(&mut self, id: u16, segments: u32, hole: Option<u32>) {
        if !self.begun {
            self.begun = true;
            self.next = id;
        }
        let step = id.wrapping_sub(self.next);
        self.skipped = 0;
        match step {
            0 => self.regular += 1,
            1..MOST_SKIPPED => {
                self.ahead += 1;
                // The numbers of a handshake may be of another row.
                self.gaps = self.gaps.saturating_add(if self.regular > 1 { u32::from(step) } else { 0 });
                // As many numbers are missing as segments: that is counting, too.
                match hole {
                    Some(n) if n == u32::from(step) => self.regular += 1,
                    Some(_) => self.irregular += 1,
                    None => {}
                }
                self.skipped = if self.shared { 0 } else { u32::from(step) };
                self.owed = self.owed.saturating_add(self.skipped);
            }
            _ if step > u16::MAX - MOST_SKIPPED => {
                // From before the last one: it came late, and is missing no more.
                self.accounted_for(1);
                let was_missing = u32::from(self.is_missing(id));
                self.regular += was_missing;
                self.gaps = self.gaps.saturating_sub(was_missing);
                self.came |= self.bit_of(id);
                return;
            }
            _ => {
                self.wild += 1;
                self.irregular += 1;
                self.owe(0);
            }
        }
        self.next = id.wrapping_add(segments as u16);
        let moved = u32::from(step).saturating_add(segments);
        let new = 1u64.checked_shl(segments).map_or(u64::MAX, |b| b - 1);
        self.came = self.came.checked_shl(moved).unwrap_or(0) | new;
        if self.regular + self.irregular > OFTEN {
            self.regular /= 2;
            self.irregular /= 2;
            self.ahead /= 2;
            self.wild /= 2;
        }
    }
    fn bit_of(&self, id: u16) -> u64 {
        1u64.checked_shl(u32::from(self.next.wrapping_sub(id).wrapping_sub(1))).unwrap_or(0)
    }
    /// This number was given to a packet that was sent before the newest that has come.
    pub fn is_behind(&self, id: u16) -> bool {
        let back = self.next.wrapping_sub(id);
        id != 0 && back != 0 && back < MOST_SKIPPED
    }
    /// What was sent after this one came before it. To be asked of a packet of `segments` that has been taken in.
    pub fn was_overtaken(&self, id: u16, segments: u32) -> bool {
        self.is_behind(id) && u32::from(self.next.wrapping_sub(id)) > segments
    }
    /// The packet of this number has come already.
    pub fn has_come(&self, id: u16) -> bool {
        self.came & self.bit_of(id) != 0
    }
    /// So many of the last 64 numbers were given to packets that left after this one, and have not come.
    pub fn missing_after(&self, id: u16) -> u32 {
        let after = u32::from(self.next.wrapping_sub(id).wrapping_sub(1));
        if !self.is_behind(id) || after == 0 {
            return 0;
        }
        after.min(64) - (self.came & (u64::MAX >> (64 - after.min(64)))).count_ones()
    }
    /// It is one of the last few that have not come.
    fn is_missing(&self, id: u16) -> bool {
        let bit = self.bit_of(id);
        bit != 0 && self.came & bit == 0
    }
    /// The highest data came with this number.
    #[inline]
    pub fn note_highest(&mut self, id: u16) {
        self.highest = id;
    }
    /// Data that ends `segments` below the highest: a number so late was given to no first copy of it, since what lies
    /// above was sent after that.
    pub fn is_of_a_repair(&self, id: u16, segments: u64) -> bool {
        let latest = self.highest.wrapping_sub(u16::try_from(segments).unwrap_or(u16::MAX));
        (id.wrapping_sub(latest) as i16) > 0
    }
    /// All that are missing and not accounted for.
    pub fn owed(&self) -> u32 {
        self.owed
    }
    /// So many of those were data for sure.
    pub fn data(&self) -> u32 {
        self.data
    }
    /// So many are, whatever was counted.
    pub fn owe(&mut self, n: u32) {
        self.owed = n;
        self.data = self.data.min(n);
    }
    /// It is known what `n` of the missing were.
    pub fn accounted_for(&mut self, n: u64) {
        self.owe(self.owed.saturating_sub(u32::try_from(n).unwrap_or(u32::MAX)));
    }
    /// `n` of the missing were data, and it is known which.
    pub fn were_data(&mut self, n: u64) {
        self.data = self.data.saturating_sub(u32::try_from(n).unwrap_or(u32::MAX));
        self.accounted_for(n);
    }
    /// The repair of a hole came `age` after the hole showed. One that took far longer than others do was not
    /// the first: that one is missing, too, and was no data of its own. What is missing right before this one is not
    /// meant: nothing that was sent after it has come, so no ACK can have told that it was lost.
    pub fn filled_after(&mut self, age: Span) {
        if self.open_for > Span::ZERO && age > self.open_for.scale(1.7) {
            if self.owed > self.skipped.max(self.data) {
                self.accounted_for(1);
            }
        } else {
            self.open_for = if self.open_for == Span::ZERO { age } else { (self.open_for * 7 + age) / 8 };
        }
    }
    /// An ACK asked for the lowest hole's repair, and this is it. Repairs go upwards: had any been sent before it, one of
    /// this hole had been the first of them, and nothing that was sent after that has come to tell of its loss.
    pub fn begins_repair(&mut self) {
        self.data = self.data.max(self.skipped.min(self.owed));
    }
    /// Of the packets missing right before this one no more than `n` were repairs.
    pub fn had_repairs_before(&mut self, n: u64) {
        let repairs = u32::try_from(n).unwrap_or(u32::MAX);
        self.data = self.data.max(self.skipped.saturating_sub(repairs).min(self.owed));
    }
    /// Other packets are counted in the same row: what is missing here was never meant to come.
    pub fn are_shared(&mut self) {
        self.shared = true;
        self.skipped = 0;
        self.owe(0);
    }
    /// The packets missing just now were none of this connection's, but for as many ACKs of its own that were lost.
    pub fn spent_elsewhere(&mut self, but: u32) {
        let skipped = self.skipped;
        self.were_no_data();
        self.were_elsewhere(skipped.saturating_sub(but));
    }
    /// Number of missing packets that did not belong to this connection. A few of them may be lost ACKs of its own.
    pub fn were_elsewhere(&mut self, n: u32) {
        self.elsewhere = self.elsewhere.saturating_add(n);
        if self.elsewhere > 4 + self.regular / 32 {
            self.are_shared();
        }
    }
    /// Its answer to a SYN has this number. Linux gives it none, since no connection counts yet (ip_build_and_send_pkt);
    /// who does counts what all connections send in one row.
    pub fn note_answer(&mut self, id: u16) {
        self.one_row |= id != 0;
    }
    /// So many packets are missing just before this one, of a host that has gone on counting before: not from its SYN-ACK to
    /// its first data, which Linux gives unrelated numbers.
    pub fn skipped_while_counting(&self) -> u32 {
        if self.regular > 1 { self.skipped } else { 0 }
    }
    /// Does the host count other packets in the same row?
    pub fn are_of_many_connections(&self) -> bool {
        self.shared
    }
    pub fn are_of_one_row(&self) -> bool {
        self.one_row
    }
    /// The packets missing just now were no data.
    pub fn were_no_data(&mut self) {
        self.accounted_for(self.skipped.into());
        self.skipped = 0;
    }
    /// New data has a number that an older packet took: this host counts otherwise.
    pub fn count_otherwise(&mut self) {
        self.irregular += 1;
    }
    /// Do the numbers ascend, by whatever steps? Then a packet with an earlier number was sent earlier.
    pub fn ascend(&self) -> bool {
        let on = self.regular.saturating_add(self.ahead);
        on > 1 && self.wild.saturating_mul(16) <= on
    }
    /// All that this host sent came: it counts its packets, and no number lacks.
    pub fn none_is_missing(&self) -> bool {
        self.are_counted() && self.gaps == 0 && self.wild == 0
    }
    /// Does this host count its packets, one number each?
    pub fn are_counted(&self) -> bool {
        !self.shared && self.regular > 2 && self.regular > self.irregular * 4
    }
}
