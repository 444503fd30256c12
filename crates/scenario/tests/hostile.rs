//! A scenario may come from somebody else, and name any file there is: nothing of a file that is not of the expected
//! form is quoted, nothing is read without bound, and each is refused in one sentence.

use scenario::file::{self, Form};
use scenario::{parse, parse_stack};
use std::path::Path;

/// Not to be seen in any message.
const SECRETS: [&str; 6] = ["hunter2", "$6$salt", "root", "AKIA", "PASSWORD", "4111"];

/// Files that are no scenario, no stack and no trace; each holds a secret in its first line.
const PRIVATE: [&str; 7] = [
    "root:$6$salt$hunter2:19000:0:99999:7:::\n",
    "PASSWORD = \"hunter2\"\n",
    "PASSWORD=hunter2\n",
    "[default]\nAKIA = \"hunter2\"\n",
    "4111111111111111 hunter2\n",
    "hunter2\n",
    "{\"root\": \"hunter2\"}\n",
];

fn scenario_with(link: &str, stack: &str) -> String {
    format!(
        "name = \"x\"\nduration = \"1s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
         between = [\"a\", \"b\"]\n{link}\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = {stack}\n\
         workload = {{ kind = \"endless\" }}\n"
    )
}

#[test]
fn nothing_is_quoted_of_a_file_that_is_of_another_kind() {
    let outages = "[[link.channel]]\nname = \"c\"\nkind = \"outage\"\nschedule = { file = \"private\" }";
    let rates = "[[link.channel]]\nname = \"c\"\nkind = \"rate-trace\"\nfile = \"private\"";
    for private in PRIVATE {
        let read = |_: &Path, _| Ok(private.to_owned());
        let refused = |text: &str| parse(text, "x.toml", Path::new(""), &[], &read).expect_err("refused");
        let answers = [
            refused(private),
            parse_stack(private, "x.toml", Path::new(""), &read).expect_err("refused"),
            refused(&scenario_with(outages, "\"rfc-sack\"")),
            refused(&scenario_with(rates, "\"rfc-sack\"")),
            refused(&scenario_with("", "\"private.toml\"")),
        ];
        for said in answers.map(|errors| errors.to_string()) {
            assert_eq!(said.lines().count(), 1, "one sentence of {private:?}: {said}");
            assert!(!SECRETS.iter().any(|secret| said.contains(secret)), "{private:?} is quoted: {said}");
        }
    }
}

#[test]
fn a_file_that_is_no_toml_is_told_nothing_else() {
    let none = |_: &Path, _| Err("there is no such file".to_owned());
    let answer =
        parse_stack("name = \"x\n", "s.toml", Path::new(""), &none).expect_err("refused").to_string();
    assert_eq!(answer, "s.toml:1: this is no TOML: invalid basic string, expected `\"`");
    // The same by the door that the command uses.
    let path = std::env::temp_dir().join(format!("rexmit-hostile-{}.toml", std::process::id()));
    std::fs::write(&path, "name = \"x\n").unwrap();
    let answer = scenario::describe::stack(path.to_str().unwrap()).expect_err("refused").to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(answer.ends_with(":1: this is no TOML: invalid basic string, expected `\"`"), "{answer}");
    assert_eq!(answer.lines().count(), 1, "{answer}");
}

#[test]
fn a_file_with_a_mistake_in_each_line_is_told_of_some() {
    let keys: String = (0..50_000).map(|k| format!("k{k} = 1\n")).collect();
    let none = |_: &Path, _| Err("there is no such file".to_owned());
    let text = keys + &scenario_with("", "\"rfc-sack\"");
    // The keys of `scenario_with` come last, behind no header, so they are the table's.
    let errors = parse(&text, "x.toml", Path::new(""), &[], &none).expect_err("refused").to_string();
    assert_eq!(errors.lines().count(), 101);
    assert_eq!(errors.lines().last(), Some("… and 49900 more mistakes"));
}

#[test]
fn a_key_of_megabytes_is_refused_in_a_line() {
    let text = format!("name = \"x\"\n{} = 1\n", "k".repeat(4_000_000));
    let none = |_: &Path, _| Err("there is no such file".to_owned());
    let errors = parse(&text, "x.toml", Path::new(""), &[], &none).expect_err("refused").to_string();
    assert!(errors.lines().all(|line| line.chars().count() < 600), "{} bytes", errors.len());
}

#[test]
fn nesting_is_bounded() {
    let none = |_: &Path, _| Err("there is no such file".to_owned());
    let deep = [
        format!("name = {}", "[".repeat(100_000)),
        format!("name = {}{}", "[".repeat(60), "]".repeat(60)),
        format!("name = {}", "{a=".repeat(100_000)),
        format!("{}b = 1", "name.".repeat(100_000)),
        format!("[{}b]", "name.".repeat(100_000)),
    ];
    for text in deep {
        let errors = parse(&text, "x.toml", Path::new(""), &[], &none).expect_err("refused").to_string();
        assert!(errors.lines().all(|line| line.len() < 400), "{errors}");
    }
}

#[test]
fn a_row_of_stacks_based_on_one_another_is_bounded() {
    let row = |n: usize| {
        let own = (0..n).map(|i| format!("[[stack]]\nname = \"s{i}\"\nbased_on = \"s{}\"\n", i + 1));
        let last = format!("[[stack]]\nname = \"s{n}\"\nbased_on = \"rfc-sack\"\n");
        let text = scenario_with("", "\"s0\"") + &own.collect::<String>() + &last;
        parse(&text, "x.toml", Path::new(""), &[], &|path: &Path, form| {
            file::read(path, form, &reach::Reach::Anywhere)
        })
    };
    assert!(row(30).is_ok());
    let said = row(5_000).expect_err("refused").to_string();
    assert!(said.contains("no more than 32 stacks may be based on one another"), "{said}");
    // A file that names another, and that one the next, for ever.
    let read = |_: &Path, _| Ok("name = \"s\"\nbased_on = \"a/b.toml\"\n".to_owned());
    let said = parse_stack("name = \"s\"\nbased_on = \"a.toml\"\n", "x.toml", Path::new(""), &read);
    let said = said.expect_err("refused").to_string();
    assert!(said.contains("based_on = \"a/b.toml\" is too far down"), "{said}");
}

#[test]
fn names_are_plain_and_short() {
    let none = |_: &Path, _| Err("there is no such file".to_owned());
    let named = |name: &str| {
        let text = scenario_with("", "\"rfc-sack\"").replace("name = \"f\"", &format!("name = \"{name}\""));
        parse(&text, "x.toml", Path::new(""), &[], &none).map_err(|e| e.to_string())
    };
    assert!(named(&"n".repeat(60)).is_ok());
    let long = named(&"n".repeat(300)).expect_err("refused");
    assert!(long.ends_with("is too long: a name has at most 60 letters"), "{long}");
    for name in ["../f", "a/b", "a\\nb", "a\\u001bb", "a\\u202Eb", "<b>", "a b", "\\u0000"] {
        let said = named(name).expect_err("refused");
        assert!(said.ends_with("is no name: letters, digits and _ - . + only"), "{said}");
        assert!(!said.contains(char::is_control) && !said.contains('\u{202e}'), "{said:?}");
    }
}

/// Numbers at their limits: each is used or refused, none panics (the tests run with overflow checks).
#[test]
fn numbers_at_limits_are_used_or_refused() {
    let none = |_: &Path, _| Err("there is no such file".to_owned());
    let lines = [
        "rate = \"1e308Mbps\"",
        "rate = \"99999999999999999999Gbps\"",
        "rate = \"1e-300bps\"",
        "rate = \"-0Mbps\"",
        "rate = \"NaNMbps\"",
        "rate = nan",
        "delay = \"1e18s\"",
        "delay = \"9223372036s\"",
        "delay = \"-0s\"",
        "queue = { kind = \"droptail\", packets = 9223372036854775808 }",
        "queue = { kind = \"droptail\", packets = -0 }",
        "queue = { kind = \"red\", packets = 100, limit = 1e308 }",
    ];
    for line in lines {
        let text = scenario_with(line, "\"rfc-sack\"");
        if let Err(errors) = parse(&text, "x.toml", Path::new(""), &[], &none) {
            assert_eq!(errors.to_string().lines().count(), 1, "{errors}");
        }
    }
    let flows = ["count = 9223372036854775808", "start = \"1e18s\"", "count = -0"];
    for line in flows {
        let text = scenario_with("", "\"rfc-sack\"") + line;
        if let Err(errors) = parse(&text, "x.toml", Path::new(""), &[], &none) {
            assert_eq!(errors.to_string().lines().count(), 1, "{errors}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting_for_its_writer() {
    let path = std::env::temp_dir().join(format!("rexmit-pipe-{}", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    // Would wait for ever.
    let said = file::read(&path, Form::Rates, &reach::Reach::Anywhere);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(said, Err("it is a pipe (FIFO), not a regular file".to_owned()));
}
