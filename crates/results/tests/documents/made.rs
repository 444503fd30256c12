//! The parts of docs/ that are made from the closed sets: tables of docs/definitions.md, the causes of docs/causes.md, names in
//! docs/json.schema.json.

use analysis::closed_set::ClosedSet;
use analysis::rows::{Cause, IdleCause};
use explain::cause::Cause as AnswerCause;
use explain::findings::Kind;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Each document with its text as it should be.
pub fn generated() -> [(PathBuf, String); 3] {
    let read = |name: &str| {
        let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, text)
    };
    let (definitions, text) = read("definitions.md");
    let text = with_table::<Cause>(&text, "cause", &["means", "linux_counter"], ["", "Linux counts it in"]);
    let text = with_table::<IdleCause>(&text, "reason", &["means", "data_waits"], ["", "data waits"]);
    let (schema, names) = read("json.schema.json");
    let names = with_line(&names, "cause", &format!("{{\"enum\": [{}]}}", listed::<Cause>()));
    let each = "{\"type\": \"integer\", \"minimum\": 0}";
    let counts = format!(
        "{{\"type\": \"object\", \"required\": [{}], \"propertyNames\": {{\"$ref\": \"#/$defs/cause\"}}, \
         \"additionalProperties\": {each}}}",
        listed::<Cause>()
    );
    let names = with_line(&names, "by_cause", &counts);
    let names = with_line(&names, "idle_cause", &format!("{{\"enum\": [{}]}}", listed::<IdleCause>()));
    let names = with_line(&names, "finding_kind", &format!("{{\"enum\": [{}]}}", listed::<Kind>()));
    let names = with_line(&names, "answer_cause", &format!("{{\"enum\": [{}]}}", listed::<AnswerCause>()));
    let (causes, head) = read("causes.md");
    [(definitions, text), (schema, names), (causes, with_causes(&head))]
}

/// The document with a section for each cause behind its introduction.
fn with_causes(text: &str) -> String {
    let mut made = text.split("\n## ").next().unwrap_or_default().to_owned();
    for cause in AnswerCause::ALL {
        let about = cause.about();
        write!(
            made,
            "\n## {}\n{} *Recognised by:* {} *Helps:* {}\n",
            about.name, about.means, about.recognised, about.helps
        )
        .expect("memory takes it");
    }
    made
}

/// `"recovery", "timeout", ...`
fn listed<T: ClosedSet>() -> String {
    T::ALL.iter().map(|value| format!("\"{}\"", value.name())).collect::<Vec<_>>().join(", ")
}

/// The schema with another definition on the line of this key.
fn with_line(schema: &str, key: &str, definition: &str) -> String {
    let begins = format!("    \"{key}\": ");
    let lines = schema.lines().map(|line| match line.starts_with(&begins) {
        true => format!("{begins}{definition},\n"),
        false => format!("{line}\n"),
    });
    let text: String = lines.collect();
    assert_eq!(
        text.matches(&format!("\n{begins}")).count(),
        1,
        "docs/json.schema.json has one line {begins}"
    );
    text
}

/// The document with other rows in the table whose first column has this head.
fn with_table<T: ClosedSet>(text: &str, head: &str, columns: &[&str; 2], heads: [&str; 2]) -> String {
    let cell = |text: &str| if text.is_empty() { " ".to_owned() } else { format!(" {text} ") };
    let mut table = format!("| {head} |{}|{}|\n|---|---|---|\n", cell(heads[0]), cell(heads[1]));
    let begins = table.clone();
    for value in T::ALL {
        let properties = value.properties();
        let of =
            |column: &str| properties.iter().find(|(name, _)| *name == column).map_or("", |(_, text)| *text);
        let [first, second] = columns.map(|column| cell(of(column)));
        writeln!(table, "| `{}` |{first}|{second}|", value.name()).expect("memory takes it");
    }
    let (before, rest) = text
        .split_once(&begins)
        .unwrap_or_else(|| panic!("docs/definitions.md has no table that begins with {begins}"));
    let rows: usize = rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    let after = &rest[rows..];
    format!("{before}{table}{after}")
}
