//! What a scenario names is read within a reach only, wherever it names it.

use reach::{Folders, Reach};
use scenario::{Errors, Override, load_as};
use std::fs;
use std::path::{Path, PathBuf};

const SCENARIO: &str = r#"
name = "x"
duration = "5s"
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
name = "up"
from = "a"
to = "b"
stack = "STACK"
workload = { kind = "file", size = "10kB" }
[[link]]
name = "air"
between = ["a", "b"]
rate = "5Mbps"
delay = "10ms"
[[link.channel]]
name = "o"
kind = "outage"
direction = "both"
schedule = { SCHEDULE }
"#;
const PLAIN: &str = r#"every = "5s", for = "200ms""#;

/// `in` may be read; beside it `out` holds a trace, a stack and a file that is neither.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let top = std::env::temp_dir().join(format!("rexmit-reach-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&top);
        for folder in ["in", "out"] {
            fs::create_dir_all(top.join(folder)).unwrap();
            fs::write(top.join(folder).join("trace.txt"), "0.5 0.25\n").unwrap();
            fs::write(top.join(folder).join("st.toml"), "name = \"st\"\nbased_on = \"rfc-sack\"\n").unwrap();
        }
        fs::write(top.join("out/secret.toml"), "root:x:0:0\n").unwrap();
        Place(fs::canonicalize(top).unwrap())
    }
    fn put(&self, name: &str, text: &str) {
        fs::write(self.0.join("in").join(name), text).unwrap();
    }
    /// An absolute name outside.
    fn out(&self, name: &str) -> String {
        self.0.join("out").join(name).display().to_string()
    }
    fn load(&self, stack: &str, schedule: &str, set: &[(&str, &str)]) -> Result<(), Errors> {
        self.put("s.toml", &SCENARIO.replace("STACK", stack).replace("SCHEDULE", schedule));
        self.load_file(set)
    }
    fn load_file(&self, set: &[(&str, &str)]) -> Result<(), Errors> {
        let path = self.0.join("in/s.toml");
        let set: Vec<Override> = set
            .iter()
            .map(|(key, value)| Override { key: (*key).into(), value: (*value).into(), label: "--set " })
            .collect();
        load_as(&path, "s.toml", &set, &Reach::Below(Folders::new([self.0.join("in")]).unwrap())).map(|_| ())
    }
    fn is_refused(&self, found: Result<(), Errors>) {
        let said = found.expect_err("a file outside was read").to_string();
        assert!(said.contains("it is outside the folders that may be read: "), "{said}");
        assert!(!said.contains("root:x"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_inside_are_read() {
    let p = Place::new("inside");
    p.load("./st.toml", "file = \"trace.txt\"", &[]).unwrap();
    p.load("./st.toml", &format!("file = '{}'", p.0.join("in/trace.txt").display()), &[]).unwrap();
}

#[test]
fn a_trace_outside_is_refused_however_the_file_is_written() {
    let p = Place::new("trace");
    let out = p.out("trace.txt");
    for schedule in [
        format!("file = '{out}'"),
        // TOML 1.1: a comma at the end of an inline table, and line breaks in it.
        format!("file = '{out}',"),
        format!("\n  file = '{out}',\n"),
        format!("\"file\" = '{out}'"),
        "file = \"../out/trace.txt\"".to_owned(),
        "file = \"\\u002e./out/trace.txt\"".to_owned(),
    ] {
        p.is_refused(p.load("rfc-sack", &schedule, &[]));
    }
    // A byte order mark before it.
    let text = SCENARIO.replace("STACK", "rfc-sack").replace("SCHEDULE", &format!("file = '{out}'"));
    p.put("s.toml", &format!("\u{feff}{text}"));
    p.is_refused(p.load_file(&[]));
}

#[test]
fn a_rate_trace_outside_is_refused() {
    let p = Place::new("rates");
    fs::write(p.0.join("out/rates.txt"), "1\n2\n3\n").unwrap();
    let channel = "[[link.channel]]\nname = \"r\"\nkind = \"rate-trace\"\ndirection = \"forward\"\n";
    let text = SCENARIO.replace("STACK", "rfc-sack").replace("SCHEDULE", PLAIN);
    p.put("s.toml", &format!("{text}{channel}file = '{}'\n", p.out("rates.txt")));
    p.is_refused(p.load_file(&[]));
}

#[test]
fn an_override_names_no_file_outside() {
    let p = Place::new("set");
    let (trace, stack) = (p.out("trace.txt"), p.out("st.toml"));
    let file = |key| (key, trace.as_str());
    for set in [
        file("link.air.channel.o.schedule.file"),
        file("link.air.channel.o.schedule.\"file\""),
        ("link.air.channel.o.schedule", &format!("{{ file = '{trace}', }}")),
        ("flow.up.stack", &stack),
        ("flow.up.receiver", &stack),
        ("flow.up.stack", "../out/st.toml"),
        ("stack.rfc-sack.based_on", &stack),
    ] {
        p.is_refused(p.load("rfc-sack", PLAIN, &[set]));
    }
}

#[test]
fn a_stack_is_based_on_no_file_outside() {
    let p = Place::new("based");
    for base in [p.out("st.toml"), p.out("secret.toml"), "../out/st.toml".into(), p.out("none.toml")] {
        p.put("mine.toml", &format!("name = \"mine\"\nbased_on = '{base}'\n"));
        p.put("over.toml", "name = \"over\"\nbased_on = \"./mine.toml\"\n");
        p.is_refused(p.load("./over.toml", PLAIN, &[]));
    }
    let text = SCENARIO.replace("STACK", "own").replace("SCHEDULE", PLAIN);
    let own = format!("[[stack]]\nname = \"own\"\nbased_on = '{}'\n", p.out("st.toml"));
    p.put("s.toml", &(text + &own));
    p.is_refused(p.load_file(&[]));
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_no_file_outside() {
    let p = Place::new("link");
    let link = |name: &str, to: &Path| std::os::unix::fs::symlink(to, p.0.join("in").join(name)).unwrap();
    link("trace", Path::new("../out/trace.txt"));
    link("stack.toml", &p.0.join("out/st.toml"));
    link("away", &p.0.join("out"));
    for schedule in ["file = \"trace\"", "file = \"away/trace.txt\"", "file = \"/proc/self/root/etc/passwd\""]
    {
        p.is_refused(p.load("rfc-sack", schedule, &[]));
    }
    p.is_refused(p.load("./stack.toml", PLAIN, &[]));
    // The scenario itself.
    let outside = p.0.join("out/s.toml");
    fs::rename(p.0.join("in/s.toml"), &outside).unwrap();
    link("s.toml", &outside);
    p.is_refused(p.load_file(&[]));
}
