//! How keys are declared: their kinds, ranges, defaults and documentation. The reader, the JSON Schema and the
//! documentation follow what is declared.

use crate::Form;
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

#[derive(Clone, Copy, Debug)]
pub struct Forms {
    pub sets: &'static [&'static [&'static str]],
    /// Keys that may stand beside one form only, each with a key of that form.
    pub beside: &'static [(&'static str, &'static str)],
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

#[derive(Clone, Copy, Debug)]
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
    /// A file, found from the directory of the file that names it, and read as this.
    File(Form),
    /// A class of the user's own, `package.module:Class` or `./file.py:Class`; a file is found from the directory of the file
    /// that names it.
    Class,
    /// A table of keys that the class knows.
    Plain,
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

pub const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, need: Need::Required, doc }
}

pub const fn word(name: &'static str, doc: &'static str) -> Word {
    Word { name, doc }
}

pub const fn variant(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Variant {
    Variant { name, doc, keys, forms: None }
}

pub const fn whole(least: u64, most: u64) -> Kind {
    Kind::Whole(Range { least, most, above: false, below: false })
}

pub const fn number(least: f64, most: f64) -> Kind {
    Kind::Number(Range { least, most, above: false, below: false })
}

pub const fn flag(name: &'static str, doc: &'static str) -> Key {
    key(name, Kind::Flag, doc)
}

/// More than `least`, up to `most`.
pub const fn number_above(least: f64, most: f64) -> Kind {
    Kind::Number(Range { least, most, above: true, below: false })
}

/// More than `least`, less than `most`.
pub const fn number_between(least: f64, most: f64) -> Kind {
    Kind::Number(Range { least, most, above: true, below: true })
}

/// As large as a number gets that is only to be finite.
pub const BIG: f64 = 1e9;
pub const BYTES: Kind = Kind::Amount(&[Unit::Bytes]);
pub const POSITIVE_TIME: Kind = Kind::Time(Sign::Positive);
pub const NOT_NEGATIVE_TIME: Kind = Kind::Time(Sign::NotNegative);

impl Key {
    /// What a file means that does not say it.
    pub const fn default(self, text: &'static str) -> Key {
        Key { need: Need::Default(text), ..self }
    }

    pub const fn absent(self, meaning: &'static str) -> Key {
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
