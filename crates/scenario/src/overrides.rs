//! `link.air.channel.fade.schedule.for=200ms`: one key of a file set from outside, before anything is checked.

use crate::keys::{Key, Kind, Table, Variant};
use crate::tree::{Entry, Node, Tree, parse_value};
use params::join;
use params::problem::{Origin, Problems, did_you_mean, listed};
use std::sync::Arc;

/// Sets `key` to `raw`, which is TOML where it can be and plain text otherwise. Names address the elements of
/// `[[...]]`; a name with dots in it may be quoted, but need not.
pub(crate) fn apply(
    root: &mut Node,
    table: &'static Table,
    key: &str,
    raw: &str,
    label: &str,
    problems: &mut Problems,
) {
    let origin = Origin::Override { label: label.into(), key: key.trim().into(), raw: Arc::from(raw) };
    let value = parse_value(raw, &origin);
    let mut setter = Setter { origin, problems };
    setter.set(root, table, key.trim(), "", value);
}

struct Setter<'a> {
    origin: Origin,
    problems: &'a mut Problems,
}

impl Setter<'_> {
    fn set(&mut self, node: &mut Node, table: &'static Table, rest: &str, path: &str, value: Node) {
        let (word, rest) = first_segment(rest);
        let here = join(path, &word);
        let Tree::Table(entries) = &mut node.value else {
            return self.refuse(path, "is no table, so nothing in it can be set");
        };
        let Some(rest) = rest else {
            if word.is_empty() {
                return self.refuse(path, "names no key to set");
            }
            drop_other_variants(entries, table, &word, &value);
            drop_other_forms(entries, table, &word);
            return put(entries, &word, value, &self.origin);
        };
        let Some(key) = find_key(table, &word) else {
            let names: Vec<&str> = all_keys(table).map(|k| k.name).collect();
            let near = did_you_mean(&word, names.iter().copied());
            return self.refuse(&here, &format!("is no key of {}{near}{}", table.noun, listed(names)));
        };
        match key.kind {
            Kind::Table(inner) => {
                let child = child(entries, &word, Tree::Table(Vec::new()), &self.origin);
                self.set(child, inner, rest, &here, value);
            }
            Kind::Tables(inner) => {
                let child = child(entries, &word, Tree::List(Vec::new()), &self.origin);
                self.element(child, inner, rest, &here, value);
            }
            Kind::Plain => {
                let child = child(entries, &word, Tree::Table(Vec::new()), &self.origin);
                self.set_free(child, rest, &here, value);
            }
            _ => self.refuse(&here, &format!("is one value, so {:?} is no part of it", rest)),
        }
    }

    /// Within a table of which nobody here knows the keys.
    fn set_free(&mut self, node: &mut Node, rest: &str, path: &str, value: Node) {
        let (word, rest) = first_segment(rest);
        let Tree::Table(entries) = &mut node.value else {
            return self.refuse(path, "is no table, so nothing in it can be set");
        };
        match rest {
            None if word.is_empty() => self.refuse(path, "names no key to set"),
            None => put(entries, &word, value, &self.origin),
            Some(rest) => {
                let here = join(path, &word);
                let child = child(entries, &word, Tree::Table(Vec::new()), &self.origin);
                self.set_free(child, rest, &here, value);
            }
        }
    }

    fn element(&mut self, list: &mut Node, table: &'static Table, rest: &str, path: &str, value: Node) {
        let Tree::List(elements) = &mut list.value else {
            return self.refuse(path, "is no list of tables");
        };
        let names: Vec<String> = elements
            .iter()
            .map(|e| e.get("name").and_then(Node::text).unwrap_or_default().to_owned())
            .collect();
        // A name may have dots in it, so the longest that fits is meant.
        let found = names
            .iter()
            .enumerate()
            .filter(|(_, name)| !name.is_empty() && after_name(rest, name).is_some())
            .max_by_key(|(_, name)| name.len());
        if let Some((i, name)) = found {
            let here = join(path, name);
            return match after_name(rest, name) {
                Some(Some(rest)) => self.set(&mut elements[i], table, rest, &here, value),
                _ => self.refuse(&here, &format!("is {}: say which of its keys", table.noun)),
            };
        }
        let (name, _) = first_segment(rest);
        let near = did_you_mean(&name, names.iter().map(String::as_str));
        // A preset's links have names in the answer, and none in the file.
        let preset = match path {
            "link" if names.is_empty() => {
                ": what a preset makes is set with it (chain.delay, dumbbell.bottleneck.delay)"
            }
            _ => "",
        };
        let says = format!("does not exist{near}{}{preset}", listed(names.iter().map(String::as_str)));
        self.refuse(&join(path, &name), &says);
    }

    fn refuse(&mut self, path: &str, says: &str) {
        self.problems.add(&self.origin, path, None, says);
    }
}

/// Once another variant is chosen, the keys of the former one mean nothing, unless both have the same key (a queue's
/// limit, but not the `beta` of two window rules); those that overrides set stay, and are judged.
pub(crate) fn drop_other_variants(entries: &mut Vec<Entry>, table: &'static Table, word: &str, value: &Node) {
    let Some(variants) = table.variants.as_ref().filter(|v| v.tag == word) else { return };
    let Some(chosen) = value.text().and_then(|name| table.variant(name)) else { return };
    let former = entries.iter().find(|e| e.key == variants.tag).and_then(|e| e.node.text());
    let former = former.or(variants.default).and_then(|name| table.variant(name));
    let of = |variant: &'static Variant, key: &str| variant.keys.iter().find(|k| k.name == key);
    let same = |key: &str| match (former.and_then(|f| of(f, key)), of(chosen, key)) {
        (Some(old), Some(new)) => old.doc == new.doc && old.need == new.need,
        (None, Some(_)) => true,
        (_, None) => false,
    };
    entries.retain(|entry| {
        table.variants_with(&entry.key).is_empty()
            || same(&entry.key)
            || matches!(entry.origin, Origin::Override { .. })
    });
}

/// Where a table is said in one of several forms (a schedule by `every` and `for`, or by a file), a key of another form
/// than the one before replaces it: later overrides win over the file and over earlier ones.
fn drop_other_forms(entries: &mut Vec<Entry>, table: &'static Table, word: &str) {
    let variant = table.variants.as_ref().and_then(|v| {
        let chosen = entries.iter().find(|e| e.key == v.tag).and_then(|e| e.node.text());
        chosen.or(v.default).and_then(|name| table.variant(name))
    });
    let forms = [table.forms.as_ref(), variant.and_then(|v| v.forms.as_ref())];
    for forms in forms.into_iter().flatten() {
        let Some(own) = forms.sets.iter().find(|set| set.contains(&word)) else { continue };
        let other = |key: &str| {
            let beside = forms.beside.iter().find(|(k, _)| *k == key).map(|(_, of)| *of);
            let key = beside.unwrap_or(key);
            !own.contains(&key) && forms.sets.iter().any(|set| set.contains(&key))
        };
        entries.retain(|entry| !other(&entry.key));
    }
}

fn put(entries: &mut Vec<Entry>, key: &str, node: Node, origin: &Origin) {
    let entry = Entry { key: key.to_owned(), origin: origin.clone(), node };
    match entries.iter_mut().find(|e| e.key == key) {
        Some(old) => *old = entry,
        None => entries.push(entry),
    }
}

fn child<'a>(entries: &'a mut Vec<Entry>, key: &str, empty: Tree, origin: &Origin) -> &'a mut Node {
    let at = match entries.iter().position(|e| e.key == key) {
        Some(at) => at,
        None => {
            put(entries, key, Node { value: empty, origin: origin.clone() }, origin);
            entries.len() - 1
        }
    };
    &mut entries[at].node
}

pub(crate) fn all_keys(table: &'static Table) -> impl Iterator<Item = &'static Key> {
    let variants = table.variants.as_ref().map_or(&[][..], |v| v.list);
    table.keys.iter().chain(variants.iter().flat_map(|v| v.keys))
}

fn find_key(table: &'static Table, name: &str) -> Option<&'static Key> {
    all_keys(table).find(|k| k.name == name)
}

/// The first word of a path, quotes taken off, and what follows its dot.
fn first_segment(path: &str) -> (String, Option<&str>) {
    if let Some(inside) = path.strip_prefix('"')
        && let Some((word, rest)) = inside.split_once('"')
    {
        return (word.to_owned(), rest.strip_prefix('.'));
    }
    match path.split_once('.') {
        Some((word, rest)) => (word.to_owned(), Some(rest)),
        None => (path.to_owned(), None),
    }
}

/// What follows `name` in a path that begins with it: `Some(None)` where nothing does.
fn after_name<'a>(path: &'a str, name: &str) -> Option<Option<&'a str>> {
    let quoted = path.strip_prefix('"').and_then(|p| p.strip_prefix(name)).and_then(|p| p.strip_prefix('"'));
    let rest = quoted.or_else(|| path.strip_prefix(name))?;
    match rest.strip_prefix('.') {
        Some(rest) => Some(Some(rest)),
        None if rest.is_empty() => Some(None),
        None => None,
    }
}
