//! Scripts that are damaged in any way are refused, or fail, in a sentence: nothing panics, nothing runs for ever.

use std::path::PathBuf;

/// xorshift64*: the seed in the message repeats it.
struct Draws(u64);

impl Draws {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below.max(1)
    }
}

fn scripts() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|p| std::fs::read_to_string(p).unwrap()).collect()
}

const PIECES: [&str; 24] = [
    "%{",
    "}%",
    "`",
    "\"",
    "/*",
    "<",
    ">",
    "...",
    "+",
    "~",
    "-1",
    "99999999999999999999",
    "4294967295",
    "0x",
    ".",
    "sack",
    "(",
    ")",
    "{",
    "[",
    "assert",
    " == ",
    "\u{e9}",
    "+1000000",
];

fn damaged(draws: &mut Draws, scripts: &[String]) -> String {
    let text = &scripts[draws.next(scripts.len())];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=draws.next(4) {
        let at = draws.next(lines.len());
        let line = lines[at].clone();
        match draws.next(5) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, line),
            2 => lines.swap(at, 0),
            3 => {
                let cut =
                    (0..=line.len()).filter(|c| line.is_char_boundary(*c)).nth(draws.next(line.len() + 1));
                lines[at] = line[..cut.unwrap_or(0)].to_owned();
            }
            _ => {
                let words: Vec<&str> = line.split(' ').collect();
                let which = draws.next(words.len());
                let piece = PIECES[draws.next(PIECES.len())];
                let changed: Vec<&str> =
                    words.iter().enumerate().map(|(k, w)| if k == which { piece } else { *w }).collect();
                lines[at] = changed.join(" ");
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn no_damage_panics_and_every_answer_names_a_line_of_the_script() {
    let scripts = scripts();
    let stack = scenario::describe::load("linux-6-cubic").unwrap();
    for seed in 1..3000u64 {
        let text = damaged(&mut Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), &scripts);
        let stop = match drill::read(&text) {
            Ok(script) => drill::play(&script, &stack).stop,
            Err(stop) => Some(stop),
        };
        if let Some(stop) = stop {
            let lines = text.lines().count().max(1) as u32;
            let at = stop.at();
            assert!((1..=lines).contains(&at.line), "seed {seed}: line {} of {lines}: {}", at.line, at.says);
            assert!(!at.says.is_empty() && !at.says.contains('\n'), "seed {seed}: {}", at.says);
        }
    }
}

#[test]
fn a_script_of_megabytes_is_refused_before_it_takes_memory() {
    let text = "(".repeat(5_000_000);
    let stop = drill::read(&text).expect_err("refused");
    assert_eq!(stop.at().says, "a script has at most 1048576 bytes, and this one has 5000000");
}

/// An established connection of descriptor 4; five lines.
const ESTABLISHED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
                           +0 listen(3, 1) = 0\n\
                           +0 < S 0:0(0) win 65535 <mss MSS,sackOK,nop,nop,nop,wscale 14>\n\
                           +0 > S. 0:0(0) ack 1 <...>\n\
                           +.1 < . 1:1(0) ack 1 win 65535\n\
                           +0 accept(3, ..., ...) = 4\n";

/// What becomes of lines behind the handshake of a peer with this MSS.
fn refused(mss: u32, lines: &str) -> (u32, String) {
    let text = ESTABLISHED.replace("MSS", &mss.to_string()) + lines;
    match drill::run(&text, "linux-6-cubic").unwrap().stop {
        Some(drill::Stop::Unsupported(at)) => (at.line, at.says),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_script_may_write_so_much_and_no_more() {
    let most = "a script may write at most 67108864 bytes";
    for bytes in [i64::MAX, 67_108_865] {
        let told = refused(1000, &format!("+0 write(4, ..., {bytes}) = 1000\n"));
        assert_eq!(told, (7, format!("a write of {bytes} bytes: {most}")));
    }
    let twice = "+0 write(4, ..., 60000000) = 60000000\n".repeat(2);
    assert_eq!(refused(1000, &twice), (8, format!("a write of 60000000 bytes, 120000000 in all: {most}")));
}

#[test]
fn the_segments_of_a_script_are_bounded() {
    // Segments of one byte, and a window that doubles with each ACK.
    let mut lines = "+0 write(4, ..., 60000000) = 60000000\n".to_owned();
    (0..40u64)
        .for_each(|n| lines += &format!("+.1 < . 1:1(0) ack {} win 65535\n", (10u64 << n).min(60_000_000)));
    let text = ESTABLISHED.replace("MSS", "1") + &lines;
    let stop = drill::run(&text, "linux-6-reno").unwrap().stop;
    let Some(drill::Stop::Unsupported(at)) = &stop else { panic!("{stop:?}") };
    assert!((8..47).contains(&at.line), "{at:?}");
    assert_eq!(at.says, "more than 200000 segments leave: a script may have so many at most");
}

#[test]
fn timers_time_and_sockets_are_bounded_over_the_whole_script() {
    let sysctl = "+0 `sysctl -q net.ipv4.tcp_keepalive_time=1 net.ipv4.tcp_keepalive_intvl=1`\n";
    let keepalive = "+0 setsockopt(4, SOL_SOCKET, SO_KEEPALIVE, [1], 4) = 0\n";
    let (_, says) = refused(1000, &format!("{sysctl}{keepalive}{}", "+1000000 %{ print(1) }%\n".repeat(9)));
    assert!(
        says.starts_with("the script's clock would be at 1000000.1") && says.ends_with("up to 1000000 s"),
        "{says}"
    );
    let sockets = "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = ...\n".repeat(2000);
    assert_eq!(
        refused(1000, &sockets),
        (1029, "a socket beside 1024 open ones: a script may have 1024 open at most".to_owned())
    );
}

#[test]
fn parameters_out_of_all_proportion_are_refused_with_what_is_allowed() {
    for (name, value, range) in [
        ("tcp_min_tso_segs", u32::MAX, "1 to 255"),
        ("tcp_retries2", u32::MAX, "1 to 255"),
        ("tcp_reordering", 70_000, "1 to 65535"),
        ("tcp_keepalive_intvl", u32::MAX, "1 to 1000000"),
        ("tcp_rto_max_ms", 120_001, "1 to 120000"),
    ] {
        let told = refused(1000, &format!("+0 `sysctl -q net.ipv4.{name}={value}`\n"));
        assert_eq!(told, (7, format!("{name} = {value}: from {range} are allowed")));
    }
    let patience = "+0 setsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [9223372036854775807], 4) = 0\n";
    let text = ESTABLISHED.replace("MSS", "1000") + patience;
    let stop = drill::run(&text, "linux-6-cubic").unwrap().stop;
    assert!(matches!(&stop, Some(drill::Stop::Failed(at)) if at.says.contains("EINVAL")), "{stop:?}");
}
