//! Values of which nobody here knows the keys: what a file hands on to a class of the user's own.

use crate::lines::quoted;

#[derive(Clone, Debug, PartialEq)]
pub enum Plain {
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
    List(Vec<Plain>),
    Table(Vec<(String, Plain)>),
}

impl Plain {
    /// As TOML, on one line.
    pub fn toml(&self) -> String {
        match self {
            Plain::Text(text) => quoted(text),
            Plain::Whole(n) => n.to_string(),
            // TOML knows inf and nan by these names.
            Plain::Number(x) if x.is_nan() => "nan".to_owned(),
            Plain::Number(x) => format!("{x:?}"),
            Plain::Flag(flag) => flag.to_string(),
            Plain::List(items) => {
                format!("[{}]", items.iter().map(Plain::toml).collect::<Vec<_>>().join(", "))
            }
            Plain::Table(entries) => table(entries),
        }
    }
}

/// A table within braces.
pub fn table(entries: &[(String, Plain)]) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let pair = |(key, value): &(String, Plain)| format!("{} = {}", key_of(key), value.toml());
    format!("{{ {} }}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
}

fn key_of(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_reads_as_toml_has_it() {
        let inner =
            Plain::Table(vec![("a b".to_owned(), Plain::List(vec![Plain::Whole(-1), Plain::Number(0.5)]))]);
        let all = [("beta".to_owned(), inner), ("count".to_owned(), Plain::Text("acks".to_owned()))];
        assert_eq!(table(&all), r#"{ beta = { "a b" = [-1, 0.5] }, count = "acks" }"#);
        assert_eq!(Plain::Number(f64::INFINITY).toml(), "inf");
    }
}
