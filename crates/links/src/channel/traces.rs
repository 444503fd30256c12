//! Trace files: outages as "begin length" in seconds, and opportunities to send in milliseconds (mahimahi).
//!
//! What is no trace may be any file at all, a private one among them, so nothing of it is quoted: a message names the
//! line and what should stand there.

use instant::{Span, Time};
use params::units;

/// A line, counted from 1, and what is wrong with it.
type Wrong = (usize, String);

/// Begin and length in seconds on each line; `#` begins a comment.
pub(crate) fn outages(text: &str) -> Result<Vec<(Time, Span)>, Wrong> {
    let mut list: Vec<(Time, Span)> = Vec::new();
    for (line, content) in lines(text) {
        let words: Vec<&str> = content.split([' ', '\t', ',']).filter(|w| !w.is_empty()).collect();
        let [begin, length] = words[..] else {
            let says = "does not have two words: a beginning and a length in seconds".to_owned();
            return Err((line, says));
        };
        let (begin, length) = (seconds(begin, line, "beginning")?, seconds(length, line, "length")?);
        if begin.0 < 0 || length.0 <= 0 {
            return Err((line, "has an outage without length, or before zero".to_owned()));
        }
        let begin = Time(begin.0);
        if list.last().is_some_and(|(before, lasted)| *before + *lasted > begin) {
            return Err((line, "begins before the outage before it has ended".to_owned()));
        }
        list.push((begin, length));
    }
    if list.is_empty() { Err((1, "and all others are empty".to_owned())) } else { Ok(list) }
}

/// Milliseconds, ascending, one a line.
pub(crate) fn opportunities(text: &str) -> Result<Vec<u64>, Wrong> {
    let mut list: Vec<u64> = Vec::new();
    for (line, content) in lines(text) {
        let Some(ms) = content.parse().ok().filter(|ms| *ms <= 1 << 40) else {
            return Err((line, "is no whole number of milliseconds".to_owned()));
        };
        if list.last().is_some_and(|before| *before > ms) {
            return Err((line, format!("goes back in time, to {ms} ms")));
        }
        list.push(ms);
    }
    check_opportunities(&list).map_err(|says| (1, says))?;
    Ok(list)
}

/// The trace repeats after its last time, so that must not be zero.
pub(crate) fn check_opportunities(list: &[u64]) -> Result<(), String> {
    if list.is_sorted() && list.last().is_some_and(|last| *last > 0) {
        Ok(())
    } else if list.is_sorted() {
        Err("has no time above 0 ms, after which it could repeat".to_owned())
    } else {
        Err("goes back in time: milliseconds ascend".to_owned())
    }
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let content = |line: &'_ str| line.split('#').next().unwrap_or("").len();
    text.lines()
        .enumerate()
        .map(move |(i, line)| (i + 1, line[..content(line)].trim()))
        .filter(|(_, line)| !line.is_empty())
}

fn seconds(word: &str, line: usize, what: &str) -> Result<Span, Wrong> {
    units::span(&format!("{word}s")).map_err(|_| (line, format!("has a {what} that is no number of seconds")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_are_read_in_seconds() {
        let text = "# begin length\n3.1 0.2\n\n8.1, 0.5 # longer\n";
        assert_eq!(
            outages(text),
            Ok(vec![(Time(3_100_000_000), Span(200_000_000)), (Time(8_100_000_000), Span(500_000_000))])
        );
    }

    #[test]
    fn what_is_no_trace_is_told_with_its_line() {
        assert_eq!(
            outages("3 0.2\n1 1\n"),
            Err((2, "begins before the outage before it has ended".to_owned()))
        );
        assert_eq!(
            outages("3\n"),
            Err((1, "does not have two words: a beginning and a length in seconds".to_owned()))
        );
        assert_eq!(outages("a b\n"), Err((1, "has a beginning that is no number of seconds".to_owned())));
        assert_eq!(outages("# nothing\n"), Err((1, "and all others are empty".to_owned())));
        assert_eq!(opportunities("1\n2\nx\n"), Err((3, "is no whole number of milliseconds".to_owned())));
        assert_eq!(opportunities("5\n2\n"), Err((2, "goes back in time, to 2 ms".to_owned())));
        assert_eq!(
            opportunities("0\n0\n"),
            Err((1, "has no time above 0 ms, after which it could repeat".to_owned()))
        );
        assert_eq!(opportunities("0\n0\n7\n"), Ok(vec![0, 0, 7]));
    }
}
