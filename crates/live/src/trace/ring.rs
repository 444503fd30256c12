//! Pages of the kernel's trace ring buffer, as `trace_pipe_raw` gives them (Documentation/trace: events/header_page and
//! events/header_event say how they are laid out).

/// A data record's lengths that stand in the header itself are below this; what is not, is no data.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Of the word that says how much of a page is used.
const MISSED: u32 = 1 << 31;
const LENGTH: u32 = (1 << 30) - 1;
/// Bits of a time that an absolute time stamp has.
const STAMP_BITS: u32 = 59;

/// Where things are in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub page_bytes: usize,
    commit_at: usize,
    data_at: usize,
}

impl Layout {
    /// From `events/header_page`.
    pub fn read(text: &str) -> Option<Layout> {
        let (commit_at, _) = super::format::field(text, "commit")?;
        let (data_at, data_bytes) = super::format::field(text, "data")?;
        Some(Layout { page_bytes: data_at + data_bytes, commit_at, data_at })
    }

    /// Each record of a page with its time; whether some before it were lost.
    pub fn records<'a>(&self, page: &'a [u8], mut each: impl FnMut(i64, &'a [u8])) -> bool {
        let (Some(mut time), Some(used)) = (long(page, 0), word(page, self.commit_at)) else { return false };
        let end = (self.data_at + (used & LENGTH) as usize).min(page.len());
        let data = page.get(self.data_at..end).unwrap_or_default();
        let mut at = 0;
        while let Some(head) = word(data, at) {
            let (kind, delta) = (head & 31, u64::from(head >> 5));
            let next = word(data, at + 4).map(u64::from);
            let (from, to) = match (kind, next) {
                (PADDING, _) if delta == 0 => break,
                (0 | PADDING, Some(length)) => (at + 8, at + 4 + length as usize),
                (TIME_EXTEND, Some(high)) => {
                    time += (high << 27) + delta;
                    at += 8;
                    continue;
                }
                (TIME_STAMP, Some(high)) => {
                    time = time >> STAMP_BITS << STAMP_BITS | ((high << 27) + delta);
                    at += 8;
                    continue;
                }
                (0 | PADDING | TIME_EXTEND | TIME_STAMP, None) => break,
                (words, _) => (at + 4, at + 4 + words as usize * 4),
            };
            time += delta;
            let Some(record) = data.get(from..to) else { break };
            if kind != PADDING {
                each(time as i64, record);
            }
            at = to;
        }
        used & MISSED != 0
    }
}

pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

pub fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    fn page(time: u64, flags: u32, words: &[u32]) -> Vec<u8> {
        let used = words.len() as u32 * 4;
        let mut page = time.to_ne_bytes().to_vec();
        page.extend(u64::from(used | flags).to_ne_bytes());
        words.iter().for_each(|w| page.extend(w.to_ne_bytes()));
        page.resize(4096, 0xee);
        page
    }

    #[test]
    fn records_have_their_times_and_lengths() {
        let layout = Layout::read(HEADER).expect("a layout");
        assert_eq!(layout.page_bytes, 4096);
        let words = [
            2 | 5 << 5,
            11,
            12, // eight bytes, 5 ns later
            TIME_EXTEND | 1 << 5,
            2, // 1 + 2 * 2^27 ns
            7 << 5,
            8,
            21, // length outside of the header: four bytes
            PADDING | 1 << 5,
            8,
            99, // a record that was taken back
            1 | 3 << 5,
            31,
            TIME_STAMP | 9 << 5,
            4, // 9 + 4 * 2^27 ns since the clock's beginning
            1,
            41,
            PADDING,
            0,
            0, // the rest
        ];
        let mut found = Vec::new();
        let page = page(1000, 0, &words);
        assert!(!layout.records(&page, |time, data| found.push((time, data.len(), word(data, 0)))));
        let long_after = 1005 + 1 + (2 << 27) + 7;
        let expected = [(1005, 8, 11), (long_after, 4, 21), (long_after + 4, 4, 31), (9 + (4 << 27), 4, 41)];
        assert_eq!(found, expected.map(|(t, n, w)| (t, n, Some(w))));
    }

    #[test]
    fn what_was_lost_is_told_and_what_is_cut_is_left() {
        let layout = Layout::read(HEADER).expect("a layout");
        let mut found = 0;
        assert!(layout.records(&page(0, MISSED, &[1, 5, 28, 0]), |_, _| found += 1));
        assert_eq!(found, 1);
        for cut in 0..32 {
            layout.records(&page(0, 0, &[0, 8, 1, 1, 5])[..cut], |_, _| {});
        }
    }
}
