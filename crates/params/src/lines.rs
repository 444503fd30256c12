//! Keys and values as TOML.

use crate::problem::is_unseen;
use crate::units::{show_bytes, show_span};
use instant::{Span, Time};

/// Text that grows key by key: a table on lines of its own, or one within braces.
#[derive(Debug, Default)]
pub struct Lines {
    text: String,
    inline: bool,
}

impl Lines {
    pub fn into_text(self) -> String {
        self.text
    }
    pub fn head(&mut self, head: &str) {
        self.text += &format!("\n{head}\n");
    }
    pub fn raw(&mut self, key: &str, value: impl AsRef<str>) {
        let value = value.as_ref();
        if !self.inline {
            self.text += &format!("{key} = {value}\n");
            return;
        }
        let comma = if self.text.is_empty() { "" } else { ", " };
        self.text += &format!("{comma}{key} = {value}");
    }
    pub fn text(&mut self, key: &str, value: impl AsRef<str>) {
        self.raw(key, quoted(value.as_ref()));
    }
    pub fn flag(&mut self, key: &str, value: bool) {
        self.raw(key, value.to_string());
    }
    pub fn whole(&mut self, key: &str, value: u64) {
        self.raw(key, value.to_string());
    }
    /// The shortest text that reads back as the same number.
    pub fn number(&mut self, key: &str, value: f64) {
        self.raw(key, format!("{value:?}"));
    }
    pub fn span(&mut self, key: &str, value: Span) {
        self.text(key, show_span(value));
    }
    pub fn bytes(&mut self, key: &str, value: u64) {
        self.text(key, show_bytes(value));
    }
    pub fn wholes(&mut self, key: &str, list: &[u64]) {
        self.raw(key, format!("[{}]", list.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")));
    }
    /// Since the start, and how long or how much.
    pub fn times(&mut self, key: &str, list: &[(Time, Span)]) {
        let pair = |(at, by): &(Time, Span)| {
            format!("[{}, {}]", quoted(&show_span(*at - Time::ZERO)), quoted(&show_span(*by)))
        };
        self.raw(key, format!("[{}]", list.iter().map(pair).collect::<Vec<_>>().join(", ")));
    }
    /// A table within braces.
    pub fn table(&mut self, key: &str, write: impl FnOnce(&mut Lines)) {
        let mut inside = Lines { text: String::new(), inline: true };
        write(&mut inside);
        self.raw(key, format!("{{ {} }}", inside.text));
    }
    pub fn sources(&mut self, said: &[String]) {
        if !said.is_empty() {
            self.names("source", said.iter().map(String::as_str));
        }
    }
    pub fn names<'a>(&mut self, key: &str, names: impl Iterator<Item = &'a str>) {
        let names: Vec<String> = names.map(quoted).collect();
        self.raw(key, format!("[{}]", names.join(", ")));
    }
}

/// A TOML basic string.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_unseen(c) => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
