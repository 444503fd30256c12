//! A table of a file once it is checked: every value of the kind that the table of keys says, defaults filled in.

use crate::Plain;
use crate::keys::{Table, Variant};
use crate::problem::{Origin, Problems};
use crate::units::Amount;
use instant::Span;

#[derive(Clone, Debug)]
pub enum Value {
    Text(String),
    Flag(bool),
    Whole(u64),
    Number(f64),
    Time(Span),
    Rate(u64),
    Amount(Amount),
    /// One of the words that the table of keys lists.
    Word(&'static str),
    List(Vec<Item>),
    Table(Values),
    /// What the file holds that the key names.
    File(String),
    /// What a class of the user's own is made with.
    Plain(Vec<(String, Plain)>),
    /// Something was wrong with it, which has been said.
    Bad,
}

#[derive(Clone, Debug)]
pub struct Item {
    pub value: Value,
    pub origin: Origin,
    /// As the file has it.
    pub shown: String,
    pub path: String,
}

#[derive(Clone, Debug)]
pub struct Values {
    pub table: &'static Table,
    pub variant: Option<&'static Variant>,
    pub items: Vec<(&'static str, Item)>,
    pub origin: Origin,
    pub path: String,
}

impl Item {
    /// Says what is wrong with this value.
    pub fn refuse(&self, problems: &mut Problems, says: impl Into<String>) {
        problems.add(&self.origin, &self.path, Some(&self.shown), says);
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What the file holds that it names.
    pub fn contents(&self) -> Option<&str> {
        match &self.value {
            Value::File(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Item] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub fn span(&self) -> Option<Span> {
        match self.value {
            Value::Time(span) => Some(span),
            _ => None,
        }
    }

    pub fn whole(&self) -> Option<u64> {
        match self.value {
            Value::Whole(n) => Some(n),
            _ => None,
        }
    }

    pub fn table(&self) -> Option<&Values> {
        match &self.value {
            Value::Table(values) => Some(values),
            _ => None,
        }
    }
}

/// Each getter returns `None` where the key is absent or its value was refused.
impl Values {
    pub fn item(&self, key: &str) -> Option<&Item> {
        self.items.iter().find(|(name, _)| *name == key).map(|(_, item)| item)
    }

    /// Whether the file itself says it.
    pub fn says(&self, key: &str) -> bool {
        self.item(key).is_some_and(|i| i.origin != Origin::Default)
    }

    /// Of values that do not go together the one to blame: said from outside, or else where this table is, and not in
    /// what it inherits. The first of those that are alike.
    pub fn said_last(&self, keys: &[&str]) -> Option<&Item> {
        let rank = |item: &Item| match (&item.origin, &self.origin) {
            (Origin::Override { .. }, _) => 2,
            (Origin::File { file, .. }, Origin::File { file: here, .. }) => u8::from(file == here),
            _ => 0,
        };
        keys.iter()
            .rev()
            .filter(|key| self.says(key))
            .filter_map(|key| self.item(key))
            .max_by_key(|i| rank(i))
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.item(key)?.text()
    }

    pub fn name(&self) -> String {
        self.text("name").unwrap_or_default().to_owned()
    }

    pub fn flag(&self, key: &str) -> bool {
        matches!(self.item(key), Some(Item { value: Value::Flag(true), .. }))
    }

    pub fn whole(&self, key: &str) -> Option<u64> {
        self.item(key)?.whole()
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        match self.item(key)?.value {
            Value::Number(x) => Some(x),
            _ => None,
        }
    }

    pub fn span(&self, key: &str) -> Option<Span> {
        self.item(key)?.span()
    }

    pub fn rate(&self, key: &str) -> Option<u64> {
        match self.item(key)?.value {
            Value::Rate(bps) => Some(bps),
            _ => None,
        }
    }

    pub fn amount(&self, key: &str) -> Option<Amount> {
        match self.item(key)?.value {
            Value::Amount(amount) => Some(amount),
            _ => None,
        }
    }

    pub fn bytes(&self, key: &str) -> Option<u64> {
        match self.amount(key)? {
            Amount::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub fn word(&self, key: &str) -> Option<&'static str> {
        match self.item(key)?.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    pub fn list(&self, key: &str) -> &[Item] {
        self.item(key).map_or(&[], Item::list)
    }

    pub fn texts(&self, key: &str) -> Vec<String> {
        self.list(key).iter().filter_map(Item::text).map(str::to_owned).collect()
    }

    pub fn table(&self, key: &str) -> Option<&Values> {
        self.item(key)?.table()
    }

    pub fn tables<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Values> {
        self.list(key).iter().filter_map(Item::table)
    }

    /// The value at a path below this table: `queue.packets`, `channel.fade.loss`.
    pub fn find(&self, path: &str) -> Option<&Item> {
        self.below(&join(&self.path, path))
    }

    fn below(&self, full: &str) -> Option<&Item> {
        fn at<'a>(item: &'a Item, full: &str) -> Option<&'a Item> {
            match &item.value {
                _ if item.path == full => Some(item),
                Value::Table(v) => v.below(full),
                Value::List(list) => list.iter().find_map(|item| at(item, full)),
                _ => None,
            }
        }
        self.items.iter().find_map(|(_, item)| at(item, full))
    }

    pub fn variant_name(&self) -> &'static str {
        self.variant.map_or("", |v| v.name)
    }

    /// Says what is wrong with the whole table.
    pub fn refuse(&self, problems: &mut Problems, says: impl Into<String>) {
        problems.add(&self.origin, &self.path, None, says);
    }

    /// Says that a key is missing here.
    pub fn missing(&self, problems: &mut Problems, key: &str, why: &str) {
        problems.add(&self.origin, &join(&self.path, key), None, format!("is missing: {why}"));
    }
}

pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
