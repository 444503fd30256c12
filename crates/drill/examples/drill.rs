//! `cargo run -p rexmit-drill --example drill -- STACK SCRIPT…`: what became of each.

use drill::Stop;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let stack = arguments.next().unwrap_or_default();
    for path in arguments {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        match drill::run(&text, &stack) {
            Ok(outcome) => {
                let (word, at) = match &outcome.stop {
                    None => ("pass", None),
                    Some(stop) => (
                        match stop {
                            Stop::Malformed(_) => "malformed",
                            Stop::Unsupported(_) => "unsupported",
                            Stop::Failed(_) => "fail",
                        },
                        Some(stop.at()),
                    ),
                };
                let place = at.map_or(String::new(), |at| format!(" line {}: {}", at.line, at.says));
                println!("{word:11} {path}{place}");
                if std::env::var_os("LADDER").is_some() {
                    outcome.ladder.iter().for_each(|line| println!("    {line}"));
                }
            }
            Err(errors) => println!("{errors}"),
        }
    }
}
