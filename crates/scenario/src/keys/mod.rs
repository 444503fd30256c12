//! The table of keys: what may stand in a file, once. The reader, the JSON Schema and the documentation follow it.

mod channel;
mod link;
mod oneway;
mod scenario;
mod stack;

pub use channel::CHANNEL;
pub use link::{LINK, QUEUE};
pub use scenario::SCENARIO;
pub use stack::STACK;

use crate::units::Unit;

/// A table of a file: `[record]`, `[[link]]`, `queue = { ... }`.
#[derive(Debug)]
pub struct Table {
    /// What it is called in a sentence: "a link", "a queue".
    pub noun: &'static str,
    pub doc: &'static str,
    pub keys: &'static [Key],
    /// Sets of keys of which one is given in full, and none with another.
    pub forms: Option<Forms>,
    /// Further keys, by the value of one key.
    pub variants: Option<Variants>,
}

#[derive(Debug)]
pub struct Forms {
    pub sets: &'static [&'static [&'static str]],
    /// Whether one has to be given.
    pub required: bool,
}

#[derive(Debug)]
pub struct Variants {
    pub tag: &'static str,
    /// What the tag chooses, in a sentence: "queue".
    pub noun: &'static str,
    pub doc: &'static str,
    pub default: Option<&'static str>,
    pub list: &'static [Variant],
}

#[derive(Debug)]
pub struct Variant {
    pub name: &'static str,
    pub doc: &'static str,
    pub keys: &'static [Key],
    pub forms: Option<Forms>,
}

#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub need: Need,
    pub doc: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// Absence has a meaning of its own; a few words for the documentation.
    Optional(&'static str),
    /// As a file would have it, without quotes.
    Default(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text,
    /// Letters, digits, `_`, `-`, `.` and `+`, so that override paths can say it.
    Name,
    /// A file, found from the directory of the file that names it.
    File,
    /// The name of something else: "node", "stack".
    Reference(&'static str),
    Flag,
    Whole(Range<u64>),
    Number(Range<f64>),
    /// 0 to 1, or a percentage.
    Probability,
    Time(Sign),
    Rate,
    Amount(&'static [Unit]),
    Choice(&'static [Word]),
    /// A word, or else what follows.
    Or(&'static [Word], &'static Kind),
    List {
        of: &'static Kind,
        least: usize,
    },
    Tuple(&'static [Kind]),
    /// true for all, or a list of names of such things.
    FlagOrNames(&'static str),
    Table(&'static Table),
    /// `[[name]]`: each has a `name` of its own.
    Tables(&'static Table),
}

#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub name: &'static str,
    pub doc: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<T> {
    pub least: T,
    pub most: T,
    /// `least` itself is outside.
    pub above: bool,
    /// `most` itself is outside.
    pub below: bool,
}

/// Which times are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Positive,
    NotNegative,
    Any,
}

pub(crate) const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, need: Need::Required, doc }
}

pub(crate) const fn word(name: &'static str, doc: &'static str) -> Word {
    Word { name, doc }
}

pub(crate) const fn variant(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Variant {
    Variant { name, doc, keys, forms: None }
}

pub(crate) const fn whole(least: u64, most: u64) -> Kind {
    Kind::Whole(Range { least, most, above: false, below: false })
}

pub(crate) const fn number(least: f64, most: f64) -> Kind {
    Kind::Number(Range { least, most, above: false, below: false })
}

/// More than `least`, up to `most`.
pub(crate) const fn number_above(least: f64, most: f64) -> Kind {
    Kind::Number(Range { least, most, above: true, below: false })
}

impl Key {
    /// What a file means that does not say it.
    pub(crate) const fn default(self, text: &'static str) -> Key {
        Key { need: Need::Default(text), ..self }
    }

    pub(crate) const fn absent(self, meaning: &'static str) -> Key {
        Key { need: Need::Optional(meaning), ..self }
    }
}

impl Table {
    pub fn variant(&self, name: &str) -> Option<&'static Variant> {
        self.variants.as_ref()?.list.iter().find(|v| v.name == name)
    }

    /// The tag, the keys of all variants and the keys of this one.
    pub fn keys_with(&self, variant: Option<&'static Variant>) -> impl Iterator<Item = &Key> {
        self.keys.iter().chain(variant.map_or(&[][..], |v| v.keys))
    }

    /// Whether the key is one of some other variant.
    pub fn variants_with(&self, key: &str) -> Vec<&'static str> {
        let list = self.variants.as_ref().map_or(&[][..], |v| v.list);
        list.iter().filter(|v| v.keys.iter().any(|k| k.name == key)).map(|v| v.name).collect()
    }
}

impl Variants {
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.list.iter().map(|v| v.name)
    }
}
