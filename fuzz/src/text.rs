//! Scripts and TOML files of the project, changed as texts: other numbers, other words, other lines. Each has a few changes
//! only, so most of them are still read to the end.

use crate::choices::Choices;
use std::path::Path;
use std::sync::OnceLock;

/// The texts of a folder of the project, in the order of their names.
pub fn of_folder(pool: &'static OnceLock<Vec<String>>, folder: &str, ending: &str) -> &'static [String] {
    pool.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut paths: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.retain(|p| p.extension().is_some_and(|e| e == ending));
        paths.sort();
        paths.iter().filter_map(|p| std::fs::read_to_string(p).ok()).collect()
    })
}

/// The text of an input: the bytes behind the first two as they stand, or a text of `pool` that they change.
pub fn of_input(bytes: &[u8], change: fn(&mut Choices<'_>, &[String]) -> String, pool: &[String]) -> String {
    let body = bytes.get(2..).unwrap_or(&[]);
    match bytes.first().is_some_and(|b| b % 2 == 1) {
        true => change(&mut Choices::new(body), pool),
        false => String::from_utf8_lossy(body).into_owned(),
    }
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "00",
    "0x10",
    "1_000",
    "+5",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e308",
    "1e-400",
    "0.0000000001",
    "nan",
    "inf",
    "-inf",
];

/// Values that replace those of a TOML file.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-308",
    "65535",
    "65536",
    "4294967295",
    "0x7fffffffffffffff",
    "9223372036854775807",
    "-9223372036854775808",
    "\"0s\"",
    "\"1ns\"",
    "\"1µs\"",
    "\"-5s\"",
    "\"1e308s\"",
    "\"nan s\"",
    "\"infs\"",
    "\"5s5s\"",
    "\"99999999999999999999s\"",
    "\"1000000000h\"",
    "\"0bps\"",
    "\"1bps\"",
    "\"1e30Gbps\"",
    "\"100Tbps\"",
    "\"0B\"",
    "\"1e18B\"",
    "\"18446744073709551615B\"",
    "\"100%\"",
    "\"101%\"",
    "\"-1%\"",
    "\"nan%\"",
    "\"1/0\"",
    "\"\"",
    "\"\\u0000\"",
    "\"\\u202e<script>\"",
    "[]",
    "[[]]",
    "{}",
    "true",
    "1979-05-27",
];

/// Pieces that are put anywhere into a script.
const TOKENS: &[&str] = &[
    "<...>",
    "...",
    "+0",
    "*",
    ">",
    "<",
    "%{",
    "}%",
    "`",
    "\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "/*",
    "*/",
    "//",
    "...0",
    "+0...+1",
    "0:100(100)",
    "ack",
    "win",
    "sack",
    "nop",
    "mss",
    "ecr",
    "TS val",
    "S",
    "S.",
    "F.",
    "R.",
    "P.",
    ".",
    "E",
    "W",
    "[ce]",
    "[ect0]",
    "assert 1/0",
    "assert 9**9**9",
    "assert 2**1000000",
    "assert 1<<1000000000",
    "write(4, ..., 100000000) = 100000000",
    "write(4, ..., 18446744073709551615) = 1",
    "read(4, ..., 1000) = 0",
    "close(4) = 0",
    "setsockopt(3, SOL_TCP, TCP_MAXSEG, [88], 4) = 0",
    "tcp_rmem",
    "sysctl -q net.ipv4.tcp_rmem=\"1 1 1\"",
    "echo 1 > /proc/sys/net/ipv4/tcp_sack",
    "\0",
    "\u{202e}",
    "é",
];

const TIMES: &[&str] = &[
    "+1e9",
    "+0",
    "+1000000",
    "+0.000001",
    "+99999999999",
    "-1",
    "1e308",
    "+31536000",
    "*",
    "+0~+5",
    "0...1000000",
];

/// A long line, for a parser that recurses.
fn long(c: &mut Choices) -> String {
    let n = c.pick(&[100, 3000, 20_000]);
    match c.below(5) {
        0 => "x".repeat(n),
        1 => "(".repeat(n),
        2 => format!("assert {}1{}", "(".repeat(n / 10), ")".repeat(n / 10)),
        3 => format!("assert {}1", "-".repeat(n)),
        _ => format!("assert {}1", "not ".repeat(n / 10)),
    }
}

/// The place of one of the numbers in a line.
fn a_number(c: &mut Choices, line: &str) -> Option<(usize, usize)> {
    let digits = |b: u8| b.is_ascii_digit();
    let bytes = line.as_bytes();
    let starts: Vec<usize> =
        (0..bytes.len()).filter(|&i| digits(bytes[i]) && (i == 0 || !digits(bytes[i - 1]))).collect();
    let start = *starts.get(c.below(starts.len() as u32) as usize)?;
    let length = bytes[start..].iter().take_while(|b| digits(**b)).count();
    Some((start, start + length))
}

/// A place between two characters of a line.
fn a_place(c: &mut Choices, line: &str) -> usize {
    let mut at = c.below(line.len() as u32 + 1) as usize;
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// One of the scripts with some changes.
pub fn script(c: &mut Choices, pool: &[String]) -> String {
    let one = |c: &mut Choices| &pool[c.below(pool.len() as u32) as usize];
    let mut all = lines(one(c));
    for _ in 0..c.pick(&[1, 1, 2, 4, 12]) {
        if all.is_empty() {
            all.push(String::new());
        }
        let at = c.below(all.len() as u32) as usize;
        match c.below(10) {
            0..2 => {
                if let Some((from, to)) = a_number(c, &all[at]) {
                    all[at].replace_range(from..to, c.pick(NUMBERS));
                }
            }
            2 => {
                let (one, other) = (a_place(c, &all[at]), a_place(c, &all[at]));
                all[at].replace_range(one.min(other)..one.max(other), c.pick(TOKENS));
            }
            3 => drop(all.remove(at)),
            4 => {
                let other = c.below(all.len() as u32) as usize;
                all.swap(at, other);
            }
            5 => {
                let again = all[c.below(all.len() as u32) as usize].clone();
                let times = c.pick(&[1, 2, 50]);
                all.splice(at..at, std::iter::repeat_n(again, times));
            }
            6 => {
                let end = all[at].find(|b: char| b.is_whitespace()).unwrap_or(all[at].len());
                all[at].replace_range(..end, c.pick(TIMES));
            }
            7 => {
                let other = lines(one(c));
                let n = (c.below(30) as usize).min(other.len());
                all.splice(at..at, other[..n].iter().cloned());
            }
            8 => {
                let (word, by) = (c.pick(&["ack", "seq", "<", ">", "(", ",", "=", "."]), c.pick(TOKENS));
                all[at] = all[at].replace(word, by);
            }
            _ => {
                let line = if c.in_256(64) { long(c) } else { c.pick(TOKENS).to_owned() };
                all.insert(at, line);
            }
        }
    }
    all.join("\n")
}

/// One of the TOML files with some changes.
pub fn toml(c: &mut Choices, pool: &[String]) -> String {
    let mut all = lines(&pool[c.below(pool.len() as u32) as usize]);
    for _ in 0..c.pick(&[1, 1, 1, 2, 5]) {
        let keys: Vec<usize> = (0..all.len())
            .filter(|&i| all[i].contains('=') && !all[i].trim_start().starts_with('#'))
            .collect();
        let Some(&at) = keys.get(c.below(keys.len() as u32) as usize) else { break };
        match c.below(8) {
            0..4 => put_value(c, &mut all[at]),
            4 => drop(all.remove(at)),
            5 => all.insert(at, all[at].clone()),
            6 => {
                let by = c.pick(&[".x =", "==", " ", "= {a=", ".\"\" ="]);
                all[at] = all[at].replacen('=', by, 1);
            }
            _ => {
                let other = c.below(all.len() as u32) as usize;
                all.swap(at, other);
            }
        }
    }
    all.join("\n")
}

/// Replaces the value of one of the keys in a line.
fn put_value(c: &mut Choices, line: &mut String) {
    let signs: Vec<usize> = line.match_indices('=').map(|(i, _)| i).collect();
    let Some(&at) = signs.get(c.below(signs.len() as u32) as usize) else { return };
    let rest = &line[at + 1..];
    // In an inline table a value ends where the next key begins.
    let inline = line[..at].contains('{');
    let end = match inline {
        true => rest.find([',', '}']).unwrap_or(rest.len()),
        false => rest.len(),
    };
    let value = format!(" {}", c.pick(VALUES));
    line.replace_range(at + 1..at + 1 + end, &value);
}
