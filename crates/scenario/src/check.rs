//! A tree held against the table of keys: unknown keys, wrong kinds, missing and impossible values.

mod scalar;

use crate::keys::{Forms, Key, Kind, Need, STACK, Table, Variant, Word};
use crate::tree::{Entry, Node, Tree, parse_value};
use params::problem::{Origin, Problems, did_you_mean, listed};
use params::{Item, Value, Values, join};
use std::collections::HashMap;

/// Reads a table; whatever is wrong is said, and what is right is returned.
pub(crate) fn table(node: &Node, table: &'static Table, path: &str, problems: &mut Problems) -> Values {
    let variant = chosen_variant(node, table, path, problems);
    let mut values =
        Values { table, variant, items: Vec::new(), origin: node.origin.clone(), path: path.to_owned() };
    for entry in node.entries() {
        if is_tag(table, &entry.key) {
            continue;
        }
        match table.keys_with(variant).find(|k| k.name == entry.key) {
            Some(key) => {
                let item = item(&entry.node, &entry.origin, &key.kind, &join(path, key.name), problems);
                values.items.push((key.name, item));
            }
            None => unknown_key(entry, table, variant, path, problems),
        }
    }
    let forms_hold = forms(&values, problems);
    fill_in(&mut values, forms_hold, problems);
    values
}

fn is_tag(table: &Table, key: &str) -> bool {
    table.variants.as_ref().is_some_and(|v| v.tag == key)
}

fn chosen_variant(
    node: &Node,
    table: &'static Table,
    path: &str,
    problems: &mut Problems,
) -> Option<&'static Variant> {
    let variants = table.variants.as_ref()?;
    let key = join(path, variants.tag);
    let Some(entry) = node.entries().iter().find(|e| e.key == variants.tag) else {
        if variants.default.is_none() {
            let names = listed(variants.names());
            problems.add(&node.origin, &key, None, format!("is missing: which {}{names}", variants.noun));
        }
        return table.variant(variants.default?);
    };
    let found = entry.node.text().and_then(|name| table.variant(name));
    if found.is_none() {
        let near = did_you_mean(entry.node.text().unwrap_or_default(), variants.names());
        let says = format!("is no {}{near}{}", variants.noun, listed(variants.names()));
        problems.add(&entry.origin_of_value(), &key, Some(&entry.node.shown()), says);
    }
    found
}

fn unknown_key(
    entry: &Entry,
    table: &'static Table,
    variant: Option<&'static Variant>,
    path: &str,
    problems: &mut Problems,
) {
    let others = table.variants_with(&entry.key);
    // Where the variant itself was refused, its keys cannot be judged.
    if variant.is_none() && !others.is_empty() {
        return;
    }
    let tag = table.variants.as_ref().map(|v| v.tag);
    let names: Vec<&str> = tag.into_iter().chain(table.keys_with(variant).map(|k| k.name)).collect();
    let what = match (variant, &table.variants) {
        (Some(variant), Some(variants)) => format!("{} {:?}", variants.noun, variant.name),
        _ => table.noun.trim_start_matches("a ").trim_start_matches("an ").to_owned(),
    };
    let mut says = format!("is no key of {}", with_article(&what, table));
    if others.is_empty() {
        says += &did_you_mean(&entry.key, names.iter().copied());
    } else {
        says += &format!(", but of {}", others.join(", "));
    }
    says += &listed(names);
    problems.add(&entry.origin, &join(path, &entry.key), None, says);
}

fn with_article(what: &str, table: &Table) -> String {
    match table.noun.split_once(' ') {
        Some((article @ ("a" | "an" | "the"), _)) if table.variants.is_none() => format!("{article} {what}"),
        _ => what.to_owned(),
    }
}

impl Entry {
    /// The line of the value; the key's own where the value stands in an override.
    fn origin_of_value(&self) -> Origin {
        self.node.origin.clone()
    }
}

/// Exactly one of the sets of keys is there, in full. Says what is wrong, and returns whether all is well.
fn forms(values: &Values, problems: &mut Problems) -> bool {
    let of_variant = values.variant.and_then(|v| v.forms.as_ref());
    let all = [values.table.forms.as_ref(), of_variant];
    all.into_iter().flatten().all(|forms| one_form(values, forms, problems))
}

fn one_form(values: &Values, forms: &Forms, problems: &mut Problems) -> bool {
    let begun: Vec<&&[&str]> =
        forms.sets.iter().filter(|set| set.iter().any(|key| values.item(key).is_some())).collect();
    let ways: Vec<String> = forms.sets.iter().map(|set| set.join(" and ")).collect();
    match &begun[..] {
        [] if forms.required => {
            values.refuse(problems, format!("says nothing: give {}", ways.join(", or ")));
            false
        }
        [] => true,
        [set] => match set.iter().find(|key| values.item(key).is_none()) {
            None => true,
            Some(absent) => {
                let given = set.iter().find(|key| values.item(key).is_some()).unwrap_or(absent);
                problems.add(
                    &values.origin,
                    &join(&values.path, absent),
                    None,
                    format!("is missing: it goes with {given}"),
                );
                false
            }
        },
        [first, second, ..] => {
            let one = first.iter().find(|key| values.item(key).is_some()).unwrap_or(&"");
            let other = second.iter().find(|key| values.item(key).is_some()).unwrap_or(&"");
            if let Some(item) = values.item(other) {
                let says = format!("does not go with {one}: give {}", ways.join(", or "));
                item.refuse(problems, says);
            }
            false
        }
    }
}

/// Defaults, and what is missing without one.
fn fill_in(values: &mut Values, forms_hold: bool, problems: &mut Problems) {
    for key in values.table.keys_with(values.variant) {
        if values.item(key.name).is_some() {
            continue;
        }
        match key.need {
            Need::Optional(_) => {}
            Need::Required if !forms_hold => {}
            Need::Required => values.missing(problems, key.name, &first_sentence(key)),
            Need::Default(text) => {
                let path = join(&values.path, key.name);
                values.items.push((key.name, default(key, text, &path)));
            }
        }
    }
}

fn first_sentence(key: &Key) -> String {
    let text = key.doc.split_once(". ").map_or(key.doc, |(first, _)| first).trim_end_matches('.');
    let mut chars = text.chars();
    let lower: String = chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
    lower + &words(&key.kind)
}

/// The list of what is allowed, where it is short.
fn words(kind: &Kind) -> String {
    match kind {
        Kind::Choice(words) => listed(words.iter().map(|w| w.name)),
        _ => String::new(),
    }
}

fn default(key: &Key, text: &str, path: &str) -> Item {
    // Text is text even where it reads like a number; all else is TOML where it can be.
    let node = match key.kind {
        Kind::Text | Kind::Choice(_) => Node { value: Tree::Text(text.to_owned()), origin: Origin::Default },
        _ => parse_value(text, &Origin::Default),
    };
    let mut wrong = Problems::default();
    let item = item(&node, &Origin::Default, &key.kind, path, &mut wrong);
    debug_assert!(wrong.is_empty(), "the default of {path} is refused");
    item
}

/// Reads one value.
fn item(node: &Node, key_origin: &Origin, kind: &Kind, path: &str, problems: &mut Problems) -> Item {
    // The key's line is what a reader looks for; an array's value may begin further down.
    let origin = match (&node.origin, key_origin) {
        (Origin::Override { .. }, _) => node.origin.clone(),
        (_, origin) => origin.clone(),
    };
    let node = Node { value: as_wanted(node, kind), origin: origin.clone() };
    let value = match kind {
        Kind::Table(table) => table_value(&node, table, path, problems),
        Kind::Tables(table) => tables_value(&node, table, path, problems),
        Kind::List { of, least } => list_value(&node, of, *least, path, problems),
        Kind::Tuple(kinds) => tuple_value(&node, kinds, path, problems),
        Kind::FlagOrNames(noun) => flag_or_names(&node, noun, path, problems),
        Kind::Or(words, other) => word_or(&node, words, other, path, problems),
        _ => scalar::read(&node, kind).unwrap_or_else(|says| {
            problems.add(&origin, path, Some(&node.shown()), says);
            Value::Bad
        }),
    };
    Item { value, origin, shown: node.shown(), path: path.to_owned() }
}

fn word_or(node: &Node, words: &[Word], other: &Kind, path: &str, problems: &mut Problems) -> Value {
    if let Some(word) = words.iter().find(|w| node.text() == Some(w.name)) {
        return Value::Word(word.name);
    }
    scalar::read(node, other).unwrap_or_else(|says| {
        let names: Vec<&str> = words.iter().map(|w| w.name).collect();
        let says = match node.text() {
            Some(text) if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') => {
                let near = did_you_mean(text, names.iter().copied());
                format!("is none of these{near} ({}, or {})", names.join(", "), scalar::example(other))
            }
            _ => format!("{says}; or {}", names.join(", ")),
        };
        problems.add(&node.origin, path, Some(&node.shown()), says);
        Value::Bad
    })
}

/// An override is text: `flow.x.name=7` names something "7".
fn as_wanted(node: &Node, kind: &Kind) -> Tree {
    let textual = matches!(kind, Kind::Text | Kind::Name | Kind::Class | Kind::File(_) | Kind::Reference(_));
    match (&node.origin, &node.value) {
        (Origin::Override { raw, .. }, Tree::Integer(_) | Tree::Float(_) | Tree::Flag(_) | Tree::Date(_))
            if textual =>
        {
            Tree::Text(raw.trim().to_owned())
        }
        _ => node.value.clone(),
    }
}

fn table_value(node: &Node, table: &'static Table, path: &str, problems: &mut Problems) -> Value {
    match &node.value {
        Tree::Table(_) => Value::Table(self::table(node, table, path, problems)),
        _ => {
            let says = format!("is not {}, which is a table: {}", table.noun, example(table));
            problems.add(&node.origin, path, Some(&node.shown()), says);
            Value::Bad
        }
    }
}

/// How a table would begin, for whom a plain value seemed enough.
fn example(table: &Table) -> String {
    let first = table.variants.as_ref().and_then(|v| Some((v.tag, v.list.first()?.name)));
    match (first, table.keys.first()) {
        (Some((tag, name)), _) => format!("{{ {tag} = {name:?}, ... }}"),
        (None, Some(key)) => format!("{{ {} = ..., ... }}", key.name),
        (None, None) => "{ ... }".to_owned(),
    }
}

fn tables_value(node: &Node, table: &'static Table, path: &str, problems: &mut Problems) -> Value {
    // The name of a link is no part of the heading in the file.
    let last = match path.strip_prefix("link.") {
        Some(_) => "link.channel",
        None => path,
    };
    let Tree::List(elements) = &node.value else {
        let says = match node.value {
            Tree::Table(_) => format!("is one table; write [[{last}]] with double brackets"),
            _ => format!("is no list of tables; write [[{last}]]"),
        };
        problems.add(&node.origin, path, None, says);
        return Value::Bad;
    };
    let mut items: Vec<Item> = Vec::new();
    // Only looked up: its order does not show.
    let mut lines: HashMap<String, Option<u32>> = HashMap::new();
    for (i, element) in elements.iter().enumerate() {
        let label = match element.get("name").and_then(Node::text) {
            Some(name) if scalar::is_name(name) => format!("{path}.{name}"),
            _ => format!("{path}[{}]", i + 1),
        };
        if !matches!(element.value, Tree::Table(_)) {
            problems.add(
                &element.origin,
                &label,
                Some(&element.shown()),
                format!("is not {}: a table", table.noun),
            );
            continue;
        }
        let mut said_later = Problems::default();
        let said = if is_checked_whole(element, table) { &mut said_later } else { &mut *problems };
        let values = self::table(element, table, &label, said);
        if let Some(name) = values.item("name")
            && let Some(text) = name.text()
            && let Some(line) = lines.insert(text.to_owned(), values.origin.line())
        {
            let line = line.map_or(String::new(), |l| format!(" on line {l}"));
            name.refuse(problems, format!("is taken: {} before{line} has this name", table.noun));
        }
        let shown = values.name();
        let origin = element.origin.clone();
        items.push(Item { value: Value::Table(values), origin, shown, path: label });
    }
    Value::List(items)
}

/// A scenario's own stack that is based on another may leave out what it inherits: what is wrong with it is said once
/// both are put together.
fn is_checked_whole(element: &Node, table: &Table) -> bool {
    let says = |key: &str| element.get(key).and_then(Node::text).is_some();
    std::ptr::eq(table, &raw const STACK) && says("name") && says("based_on")
}

fn list_value(node: &Node, of: &Kind, least: usize, path: &str, problems: &mut Problems) -> Value {
    let Tree::List(elements) = &node.value else {
        let says = format!("is no list: write [{}]", scalar::example(of));
        problems.add(&node.origin, path, Some(&node.shown()), says);
        return Value::Bad;
    };
    if elements.len() < least {
        let says = if elements.is_empty() {
            "is empty".to_owned()
        } else {
            format!("is too short: at least {least}")
        };
        problems.add(&node.origin, path, Some(&node.shown()), says);
        return Value::Bad;
    }
    let items = elements
        .iter()
        .enumerate()
        .map(|(i, e)| item(e, &e.origin, of, &format!("{path}[{}]", i + 1), problems));
    Value::List(items.collect())
}

fn tuple_value(node: &Node, kinds: &[Kind], path: &str, problems: &mut Problems) -> Value {
    match &node.value {
        Tree::List(elements) if elements.len() == kinds.len() => {
            let items = elements
                .iter()
                .zip(kinds)
                .enumerate()
                .map(|(i, (e, kind))| item(e, &e.origin, kind, &format!("{path}[{}]", i + 1), problems));
            Value::List(items.collect())
        }
        _ => {
            let inside: Vec<String> = kinds.iter().map(scalar::example).collect();
            let says = format!("is no list of {}: write [{}]", kinds.len(), inside.join(", "));
            problems.add(&node.origin, path, Some(&node.shown()), says);
            Value::Bad
        }
    }
}

fn flag_or_names(node: &Node, noun: &str, path: &str, problems: &mut Problems) -> Value {
    match &node.value {
        Tree::Flag(flag) => Value::Flag(*flag),
        Tree::List(elements) if elements.iter().all(|e| e.text().is_some()) => {
            let items = elements.iter().enumerate().map(|(i, e)| Item {
                value: Value::Text(e.text().unwrap_or_default().to_owned()),
                origin: e.origin.clone(),
                shown: e.shown(),
                path: format!("{path}[{}]", i + 1),
            });
            Value::List(items.collect())
        }
        _ => {
            let says = format!("is no list of {noun}s; true is all of them, false is none");
            problems.add(&node.origin, path, Some(&node.shown()), says);
            Value::Bad
        }
    }
}
