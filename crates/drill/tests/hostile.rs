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

/// It took all memory: a buffer of a few hundred bytes for each piece of it.
#[test]
fn a_write_of_any_size_ends_in_bounded_memory() {
    let stack = scenario::describe::load("linux-6-cubic").unwrap();
    let script = |writes: &str| {
        let opened = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
            +0 < S 0:0(0) win 65535 <mss 1000>\n+0 > S. 0:0(0) ack 1 <mss 1460>\n+.05 < . 1:1(0) ack 1 win 300\n\
            +0 accept(3, ..., ...) = 4\n";
        drill::read(&format!("{opened}{writes}")).unwrap_or_else(|stop| panic!("{stop:?}"))
    };
    for writes in
        ["+0 write(4, ..., 9223372036854775807) = 500\n", &"+0 write(4, ..., 9000000) = 9000000\n".repeat(8)]
    {
        let stop = drill::play(&script(writes), &stack).stop.expect("refused");
        assert_eq!(stop.at().says, "writes of more than 67108864 bytes in a script");
    }
}
