//! docs/scenario.md from the table of keys.

use crate::keys::{Forms, Key, Kind, Need, Range, SCENARIO, STACK, Sign, Table, Variant, Word};
use params::units::Unit;
use std::fmt::{Display, Write};

/// What stands before the tables, written by hand.
const INTRODUCTION: &str = include_str!("docs/introduction.md");

/// The whole page.
pub fn scenario_page() -> String {
    let mut page = Page { text: INTRODUCTION.to_owned(), done: Vec::new() };
    page.text += "\n## Scenario\n";
    page.all(&SCENARIO, "");
    page.text += "\n## Stacks\n\nA stack file, or `[[stack]]` in a scenario (then its sections are `[stack.rto]` and so on).\n";
    page.all(&STACK, "");
    // The tables of stacks hang below `[[stack]]` of a scenario as well; they are told once, by themselves.
    page.text
}

struct Page {
    text: String,
    done: Vec<*const Table>,
}

impl Page {
    /// A table, then those that stand in it.
    fn all(&mut self, table: &'static Table, path: &str) {
        if self.done.contains(&(table as *const Table)) {
            return;
        }
        self.done.push(table);
        self.heading(table, path);
        self.keys(table);
        for key in crate::overrides::all_keys(table) {
            let inner = match key.kind {
                Kind::Table(inner) => inner,
                // Stacks have a chapter of their own.
                Kind::Tables(inner) if !std::ptr::eq(inner, &raw const STACK) => inner,
                _ => continue,
            };
            let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
            self.all(inner, &path);
        }
    }

    fn heading(&mut self, table: &Table, path: &str) {
        if !path.is_empty() {
            let _ = write!(self.text, "\n### `{path}`\n");
        }
        let _ = write!(self.text, "\n{}\n", table.doc);
        if let Some(forms) = &table.forms {
            let _ = write!(self.text, "\n{}\n", form_sentence(forms));
        }
    }

    fn keys(&mut self, table: &'static Table) {
        if let Some(variants) = &table.variants {
            let default = variants.default.map_or("required".to_owned(), |d| format!("`\"{d}\"`"));
            let names: Vec<String> = variants.names().map(|n| format!("`\"{n}\"`")).collect();
            self.text += HEAD;
            let (tag, doc) = (variants.tag, variants.doc);
            let _ = writeln!(self.text, "| `{tag}` | {} | {default} | {doc} |", names.join(", "));
            table.keys.iter().for_each(|key| self.row(key));
            variants.list.iter().for_each(|variant| self.variant(variants.tag, variant));
        } else {
            self.text += HEAD;
            table.keys.iter().for_each(|key| self.row(key));
        }
    }

    fn variant(&mut self, tag: &str, variant: &Variant) {
        let _ = write!(self.text, "\n**`{tag} = \"{}\"`**: {}", variant.name, variant.doc);
        if let Some(forms) = &variant.forms {
            let _ = write!(self.text, " {}", form_sentence(forms));
        }
        self.text += "\n";
        if !variant.keys.is_empty() {
            self.text += HEAD;
            variant.keys.iter().for_each(|key| self.row(key));
        }
    }

    fn row(&mut self, key: &Key) {
        let (default, doc) = (default(key), meaning(key));
        let _ = writeln!(self.text, "| `{}` | {} | {default} | {doc} |", key.name, what(&key.kind));
    }
}

/// What holds where the key is not said.
pub(crate) fn default(key: &Key) -> String {
    match key.need {
        Need::Required => "required".to_owned(),
        Need::Optional(meaning) => meaning.to_owned(),
        Need::Default("") => "empty".to_owned(),
        Need::Default(text) => match key.kind {
            Kind::Flag | Kind::Whole(_) | Kind::Number(_) | Kind::Probability | Kind::FlagOrNames(_) => {
                format!("`{text}`")
            }
            _ => format!("`\"{text}\"`"),
        },
    }
}

/// What the key is for, and what its words mean.
pub(crate) fn meaning(key: &Key) -> String {
    match words_of(&key.kind) {
        Some(words) => format!("{} {words}", key.doc),
        None => key.doc.to_owned(),
    }
}

const HEAD: &str = "\n| key | value | default | meaning |\n|---|---|---|---|\n";

pub(crate) fn form_sentence(forms: &Forms) -> String {
    let ways: Vec<String> = forms
        .sets
        .iter()
        .map(|set| set.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(" and "))
        .collect();
    let least = if forms.required { "One of" } else { "At most one of" };
    format!("{least}: {}.", ways.join("; "))
}

/// The kind of a value, and its units.
pub(crate) fn what(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Name => "name".to_owned(),
        Kind::File(_) => "file".to_owned(),
        Kind::Class => "class".to_owned(),
        Kind::Plain => "table of any keys".to_owned(),
        Kind::Reference(noun) => (*noun).to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Whole(range) => format!("whole number{}", span(range, u64::MAX / 2)),
        Kind::Number(range) => format!("number{}", span(range, 1e9)),
        Kind::Probability => "probability: 0 to 1, or \"2%\"".to_owned(),
        Kind::Time(Sign::Positive) => "time above 0".to_owned(),
        Kind::Time(Sign::NotNegative) => "time".to_owned(),
        Kind::Time(Sign::Any) => "time, may be negative".to_owned(),
        Kind::Rate => "rate".to_owned(),
        Kind::Amount(units) => units.iter().map(|u| unit(*u)).collect::<Vec<_>>().join(" or "),
        Kind::Choice(words) => {
            words.iter().map(|w| format!("`\"{}\"`", w.name)).collect::<Vec<_>>().join(", ")
        }
        Kind::Or(words, other) => {
            let words: Vec<String> = words.iter().map(|w| format!("`\"{}\"`", w.name)).collect();
            format!("{}, or {}", words.join(", "), what(other))
        }
        Kind::List { of, .. } => format!("list of {}", what(of)),
        Kind::Tuple(kinds) => format!("[{}]", kinds.iter().map(what).collect::<Vec<_>>().join(", ")),
        Kind::FlagOrNames(noun) => format!("true, or list of {noun}s"),
        Kind::Table(_) => "table".to_owned(),
        Kind::Tables(_) => "tables".to_owned(),
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "size",
        Unit::Packets => "packets",
        Unit::Smss => "SMSS",
        Unit::Time => "time",
    }
}

/// The bounds that mean something: very large ones only keep arithmetic safe.
fn span<T: Display + PartialOrd>(range: &Range<T>, endless: T) -> String {
    let low = if range.above { "above" } else { "from" };
    let high = if range.below { "below" } else { "to" };
    match range.most >= endless {
        true => format!(", {low} {}", range.least),
        false => format!(", {low} {} {high} {}", range.least, range.most),
    }
}

fn words_of(kind: &Kind) -> Option<String> {
    let words: &[Word] = match kind {
        Kind::Choice(words) | Kind::Or(words, _) => words,
        _ => return None,
    };
    let said: Vec<String> = words.iter().map(|w| format!("`{}`: {}", w.name, w.doc)).collect();
    Some(format!("{}.", said.join("; ")))
}
