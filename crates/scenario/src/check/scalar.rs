//! Single values: is it of the kind that the key wants, and within its range?

use crate::keys::{Kind, Range, Sign};
use crate::tree::{Node, Tree};
use params::problem::{did_you_mean, listed, nearest};
use params::units::{self, Amount, Slip, Unit};
use params::{Plain, Value};
use std::fmt::Display;

/// The value, or what is wrong with it (a sentence without its subject).
pub(super) fn read(node: &Node, kind: &Kind) -> Result<Value, String> {
    match kind {
        Kind::Text | Kind::Reference(_) | Kind::File(_) => text(node, kind),
        Kind::Name => name(node),
        Kind::Class => class(node),
        Kind::Plain => match plain(node)? {
            Plain::Table(entries) => Ok(Value::Plain(entries)),
            _ => Err("is no table: { key = value, ... }".to_owned()),
        },
        Kind::Flag => match node.value {
            Tree::Flag(flag) => Ok(Value::Flag(flag)),
            _ => Err("is neither true nor false".to_owned()),
        },
        Kind::Whole(range) => whole(node, range).map(Value::Whole),
        Kind::Number(range) => number(node, range).map(Value::Number),
        Kind::Probability => probability(node).map(Value::Number),
        Kind::Time(sign) => time(node, *sign),
        Kind::Rate => rate(node),
        Kind::Amount(allowed) => amount(node, allowed),
        Kind::Choice(words) => match words.iter().find(|w| node.text() == Some(w.name)) {
            Some(word) => Ok(Value::Word(word.name)),
            None => {
                let names = words.iter().map(|w| w.name);
                let near = did_you_mean(node.text().unwrap_or_default(), names.clone());
                Err(format!("is none of these{near}{}", listed(names)))
            }
        },
        // The kinds that hold others are read by the caller.
        _ => Err("is of no kind that can stand here".to_owned()),
    }
}

/// What a value of this kind looks like.
pub(super) fn example(kind: &Kind) -> String {
    match kind {
        Kind::Whole(_) => "1".to_owned(),
        Kind::Number(_) | Kind::Probability => "0.5".to_owned(),
        Kind::Time(_) => "\"200ms\"".to_owned(),
        Kind::Rate => "\"5Mbps\"".to_owned(),
        Kind::Amount([Unit::Packets]) => "\"10 packets\"".to_owned(),
        Kind::Amount([Unit::Smss]) => "\"10 SMSS\"".to_owned(),
        Kind::Amount(_) => "\"10kB\"".to_owned(),
        Kind::Flag => "true".to_owned(),
        Kind::Reference(noun) => format!("\"{noun}\""),
        Kind::Tuple(kinds) => {
            let inside: Vec<String> = kinds.iter().map(example).collect();
            format!("[{}]", inside.join(", "))
        }
        _ => "\"...\"".to_owned(),
    }
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'))
}

fn text(node: &Node, kind: &Kind) -> Result<Value, String> {
    let what = match kind {
        Kind::Reference(noun) => format!("is no {noun}'s name"),
        Kind::File(_) => "is no file's name".to_owned(),
        _ => "is no text".to_owned(),
    };
    match node.text() {
        Some("") if !matches!(kind, Kind::Text) => Err("is empty".to_owned()),
        Some(text) => Ok(Value::Text(text.to_owned())),
        None => Err(format!("{what}: write it in quotes")),
    }
}

/// Names become names of files, which may have 255 bytes, extension included.
const MOST_LETTERS: usize = 60;

fn name(node: &Node) -> Result<Value, String> {
    match node.text() {
        Some("") => Err("is empty: a name has at least one letter".to_owned()),
        Some(text) if text.chars().nth(MOST_LETTERS).is_some() => {
            Err(format!("is too long: a name has at most {MOST_LETTERS} letters"))
        }
        Some(text) if is_name(text) => Ok(Value::Text(text.to_owned())),
        Some(_) => Err("is no name: letters, digits and _ - . + only".to_owned()),
        None => Err("is no name: write it in quotes".to_owned()),
    }
}

/// Module or file, and the class in it.
fn class(node: &Node) -> Result<Value, String> {
    let Some(text) = node.text() else { return Err("is no class: write it in quotes".to_owned()) };
    let is_name = |name: &str| {
        let mut chars = name.chars();
        chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && chars.all(|c| c.is_alphanumeric() || c == '_')
    };
    let is_module = |name: &str| name.split('.').all(is_name);
    match text.rsplit_once(':') {
        Some((from, name)) if is_module(name) && (from.ends_with(".py") || is_module(from)) => {
            Ok(Value::Text(text.to_owned()))
        }
        _ => Err("names no class: write \"package.module:Class\" or \"./file.py:Class\"".to_owned()),
    }
}

/// Whatever TOML has, but dates.
fn plain(node: &Node) -> Result<Plain, String> {
    Ok(match &node.value {
        Tree::Text(text) => Plain::Text(text.clone()),
        Tree::Integer(n) => {
            Plain::Whole(i64::try_from(*n).map_err(|_| "holds a number beyond 64 bits".to_owned())?)
        }
        Tree::Float(x) => Plain::Number(*x),
        Tree::Flag(flag) => Plain::Flag(*flag),
        Tree::Date(_) => return Err("holds a date: write it in quotes".to_owned()),
        Tree::List(items) => Plain::List(items.iter().map(plain).collect::<Result<_, _>>()?),
        Tree::Table(entries) => Plain::Table(
            entries.iter().map(|e| Ok((e.key.clone(), plain(&e.node)?))).collect::<Result<_, String>>()?,
        ),
    })
}

fn whole(node: &Node, range: &Range<u64>) -> Result<u64, String> {
    let n = match node.value {
        Tree::Integer(n) => n,
        Tree::Float(x) if x.fract() == 0.0 && x.abs() < 1e15 => x as i128,
        Tree::Text(_) => return Err("is text; a whole number stands without quotes and unit".to_owned()),
        _ => return Err("is no whole number".to_owned()),
    };
    match u64::try_from(n) {
        Ok(n) if n >= range.least && n <= range.most => Ok(n),
        _ => Err(outside(range)),
    }
}

fn number(node: &Node, range: &Range<f64>) -> Result<f64, String> {
    let x = match node.value {
        Tree::Integer(n) => n as f64,
        Tree::Float(x) => x,
        Tree::Text(_) => return Err("is text; a number stands without quotes and unit".to_owned()),
        _ => return Err("is no number".to_owned()),
    };
    let high_enough = if range.above { x > range.least } else { x >= range.least };
    let low_enough = if range.below { x < range.most } else { x <= range.most };
    if high_enough && low_enough { Ok(x) } else { Err(outside(range)) }
}

fn outside<T: Display>(range: &Range<T>) -> String {
    let low = if range.above { "above" } else { "at least" };
    let high = if range.below { "below" } else { "at most" };
    format!("is out of range: {low} {}, {high} {}", range.least, range.most)
}

fn probability(node: &Node) -> Result<f64, String> {
    let p = match &node.value {
        Tree::Integer(n) => *n as f64,
        Tree::Float(x) => *x,
        Tree::Text(text) => units::probability(text)
            .map_err(|_| "is no probability: 0 to 1, or a percentage such as \"2%\"".to_owned())?,
        _ => return Err("is no probability: 0 to 1, or a percentage such as \"2%\"".to_owned()),
    };
    match p {
        p if (0.0..=1.0).contains(&p) => Ok(p),
        p if p > 1.0 && p <= 100.0 && !matches!(node.value, Tree::Text(_)) => {
            Err(format!("is no probability: 0 to 1; did you mean \"{p}%\"?"))
        }
        _ => Err("is no probability: 0 to 1, or \"0%\" to \"100%\"".to_owned()),
    }
}

fn time(node: &Node, sign: Sign) -> Result<Value, String> {
    const WHAT: &str = "time";
    let names = Unit::Time.names();
    let span = quantity(node, WHAT, names, "s", units::span)?;
    match sign {
        Sign::Positive if span.0 <= 0 => Err("is no length of time here: it must be above zero".to_owned()),
        Sign::NotNegative if span.0 < 0 => Err("is negative".to_owned()),
        _ => Ok(Value::Time(span)),
    }
}

fn rate(node: &Node) -> Result<Value, String> {
    let names: Vec<&str> = units::RATE.iter().map(|(name, _)| *name).collect();
    match quantity(node, "rate", &names, "Mbps", units::rate)? {
        0 => Err("is no rate: it must be above zero".to_owned()),
        bps => Ok(Value::Rate(bps)),
    }
}

fn amount(node: &Node, allowed: &[Unit]) -> Result<Value, String> {
    let names: Vec<&str> = allowed.iter().flat_map(|u| u.names()).copied().collect();
    let what = match allowed {
        [Unit::Bytes] => "size",
        _ => "amount",
    };
    let read = |text: &str| units::amount(text, allowed);
    let usual = names.first().copied().unwrap_or_default();
    let amount = quantity(node, what, &names, usual, read)?;
    let zero = match amount {
        Amount::Bytes(n) => n == 0,
        Amount::Packets(x) | Amount::Smss(x) => x == 0.0,
        Amount::Time(span) => span.0 == 0,
    };
    if zero { Err(format!("is no {what}: it must be above zero")) } else { Ok(Value::Amount(amount)) }
}

/// A number with one of these units, or a sentence that names them.
fn quantity<T>(
    node: &Node,
    what: &str,
    names: &[&str],
    usual: &str,
    read: impl Fn(&str) -> Result<T, Slip>,
) -> Result<T, String> {
    let article = if what == "amount" { "an" } else { "a" };
    let text = match &node.value {
        Tree::Text(text) => text.as_str(),
        Tree::Integer(_) | Tree::Float(_) => {
            let glue = if usual.len() > 4 || usual == "SMSS" { " " } else { "" };
            return Err(format!(
                "has no unit: {article} {what} is \"{}{glue}{usual}\" or the like{}",
                node.shown(),
                listed(names.iter().copied())
            ));
        }
        _ => {
            return Err(format!(
                "is no {what}: write \"1{usual}\" or the like{}",
                listed(names.iter().copied())
            ));
        }
    };
    read(text).map_err(|slip| match slip {
        Slip::NoNumber => format!("is no {what}: a number and a unit{}", listed(names.iter().copied())),
        Slip::NoUnit => format!("has no unit{}", listed(names.iter().copied())),
        Slip::WrongUnit => {
            let unit = text.trim_start_matches(|c: char| !c.is_alphabetic());
            let near = match unit_near(unit, names) {
                Some(near) => format!("; did you mean {near:?}?"),
                None => String::new(),
            };
            format!("is no {what}: its unit is wrong{near}{}", listed(names.iter().copied()))
        }
        Slip::Negative => "is negative".to_owned(),
        Slip::TooLarge => format!("is too large for {article} {what}"),
    })
}

/// The same letters in another case, or a longer name of the same unit.
fn unit_near<'a>(unit: &str, names: &[&'a str]) -> Option<&'a str> {
    const LONG: &[(&str, &str)] = &[
        ("sec", "s"),
        ("secs", "s"),
        ("second", "s"),
        ("seconds", "s"),
        ("msec", "ms"),
        ("milliseconds", "ms"),
        ("usec", "us"),
        ("minutes", "min"),
        ("m", "min"),
        ("hours", "h"),
        ("Mb/s", "Mbps"),
        ("Mbit/s", "Mbps"),
        ("Mbit", "Mbps"),
        ("Mb", "Mbps"),
        ("kbit/s", "kbps"),
        ("Gbit/s", "Gbps"),
        ("Gb/s", "Gbps"),
        ("segments", "SMSS"),
        ("mss", "SMSS"),
    ];
    let long = LONG.iter().find(|(long, _)| long.eq_ignore_ascii_case(unit)).map(|(_, short)| *short);
    let known = long.and_then(|short| names.iter().copied().find(|n| *n == short));
    let letters = |name: &&&str| name.eq_ignore_ascii_case(unit);
    let begun = |name: &&&str| unit.len() >= 2 && name.starts_with(unit);
    known
        .or_else(|| names.iter().find(letters).copied())
        .or_else(|| names.iter().find(begun).copied())
        .or_else(|| if unit.len() >= 4 { nearest(unit, names.iter().copied()) } else { None })
}
