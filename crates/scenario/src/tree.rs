//! A TOML document as a tree in which every value knows its line.

use crate::keys::Table;
use crate::overrides::all_keys;
use params::problem::{Origin, Problems, listed};
use params::quoted;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Tree,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Text(String),
    Integer(i128),
    Float(f64),
    Flag(bool),
    Date(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    /// The key's own line.
    pub origin: Origin,
    pub node: Node,
}

impl Node {
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Tree::Table(entries) => entries,
            _ => &[],
        }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|e| e.key == key).map(|e| &e.node)
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Tree::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a file would have it, short enough for one line.
    pub fn shown(&self) -> String {
        let text = match &self.value {
            Tree::Text(text) => quoted(text),
            Tree::Integer(n) => n.to_string(),
            Tree::Float(x) => format!("{x:?}"),
            Tree::Flag(flag) => flag.to_string(),
            Tree::Date(date) => date.clone(),
            Tree::List(items) => {
                let items: Vec<String> = items.iter().map(Node::shown).collect();
                format!("[{}]", items.join(", "))
            }
            Tree::Table(entries) if entries.is_empty() => "{}".to_owned(),
            Tree::Table(entries) => {
                let items: Vec<String> =
                    entries.iter().map(|e| format!("{} = {}", e.key, e.node.shown())).collect();
                format!("{{ {} }}", items.join(", "))
            }
        };
        shortened(text)
    }
}

fn shortened(text: String) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// Reads a document that is to hold `table`; where it is no TOML, or TOML about something else, says so once.
///
/// No message quotes a file that is not of the expected form, which may be any file at all: the parser's messages do
/// not, and keys and values get into messages only where at least one key is the table's.
pub(crate) fn parse(
    text: &str,
    file: &Arc<str>,
    table: &'static Table,
    problems: &mut Problems,
) -> Option<Node> {
    let lines = Lines::of(text, file);
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let at = error.span().map_or(0, |s| s.start);
            problems.add(&lines.at(at), "", None, format!("this is no TOML: {}", one_line(error.message())));
            return None;
        }
    };
    let is_known = |key: &str| all_keys(table).any(|k| k.name == key);
    if !document.get_ref().is_empty() && !document.get_ref().keys().any(|key| is_known(key.get_ref())) {
        let says = format!(
            "this is not {}: none of its keys is here{}",
            table.noun,
            listed(all_keys(table).map(|k| k.name))
        );
        problems.add(&lines.at(0), "", None, says);
        return None;
    }
    let entries = convert_table(document.get_ref(), &lines, problems);
    Some(Node { value: Tree::Table(entries), origin: lines.at(0) })
}

/// A single value, as an override gives it: TOML where it is TOML, else the text itself.
pub(crate) fn parse_value(raw: &str, origin: &Origin) -> Node {
    let trimmed = raw.trim();
    let text = || Node { value: Tree::Text(trimmed.to_owned()), origin: origin.clone() };
    let Ok(value) = DeValue::parse(trimmed) else { return text() };
    let mut unread = Problems::default();
    let lines = Lines { starts: Vec::new(), make: Make::Fixed(origin.clone()) };
    let node = convert(&value, "", &lines, &mut unread);
    if unread.is_empty() { node } else { text() }
}

/// The parser's messages may run over several lines.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Lines {
    starts: Vec<usize>,
    make: Make,
}

enum Make {
    File(Arc<str>),
    Fixed(Origin),
}

impl Lines {
    fn of(text: &str, file: &Arc<str>) -> Lines {
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Lines { starts: newlines.collect(), make: Make::File(file.clone()) }
    }

    fn at(&self, byte: usize) -> Origin {
        match &self.make {
            Make::Fixed(origin) => origin.clone(),
            Make::File(file) => {
                let before = self.starts.partition_point(|&start| start <= byte);
                Origin::File { file: file.clone(), line: u32::try_from(before + 1).unwrap_or(u32::MAX) }
            }
        }
    }
}

fn convert_table(table: &DeTable<'_>, lines: &Lines, problems: &mut Problems) -> Vec<Entry> {
    table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            origin: lines.at(key.span().start),
            node: convert(value, key.get_ref(), lines, problems),
        })
        .collect()
}

fn convert(value: &Spanned<DeValue<'_>>, key: &str, lines: &Lines, problems: &mut Problems) -> Node {
    let origin = lines.at(value.span().start);
    let tree = match value.get_ref() {
        DeValue::String(text) => Tree::Text(text.to_string()),
        DeValue::Integer(n) => match i128::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Tree::Integer(n),
            Err(_) => {
                problems.add(&origin, key, Some(n.as_str()), "is a number too large for anything here");
                Tree::Integer(0)
            }
        },
        DeValue::Float(x) => Tree::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Tree::Flag(*flag),
        DeValue::Datetime(date) => Tree::Date(date.to_string()),
        DeValue::Array(items) => Tree::List(items.iter().map(|v| convert(v, key, lines, problems)).collect()),
        DeValue::Table(table) => Tree::Table(convert_table(table, lines, problems)),
    };
    Node { value: tree, origin }
}
