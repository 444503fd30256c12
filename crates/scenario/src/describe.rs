//! What there is, as data: for `rexmit channels`, `rexmit stacks` and `rexmit stacks NAME`.

use crate::docs;
use crate::file::{self, Form};
use crate::keys::{CHANNEL, Kind, QUEUE, STACK, Table, Variant, Word};
use crate::stacks::{Library, Wanted, built_in};
use params::problem::{Errors, Origin, Problems};
use params::{Item, Value, Values};
use reach::Reach;
use std::path::Path;

/// One kind of channel or queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindPage {
    pub name: &'static str,
    pub about: &'static str,
    /// Which keys exclude each other, as a sentence.
    pub forms: Option<String>,
    pub keys: Vec<KeyPage>,
}

/// One key of a kind; those of a table in it as `schedule.every`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPage {
    pub name: String,
    /// What it takes, units included.
    pub value: String,
    /// What holds where it is not said; `required` where it must be.
    pub default: String,
    pub about: String,
}

/// A built-in stack in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackLine {
    pub name: String,
    pub about: String,
    pub based_on: Option<String>,
    /// It would interoperate with a real one; otherwise it is a one-way agent.
    pub wire: bool,
    pub sources: Vec<String>,
}

/// What a stack is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackPage {
    pub line: StackLine,
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: &'static str,
    /// The question that it answers.
    pub about: &'static str,
    pub entries: Vec<Entry>,
    pub sources: Vec<String>,
    /// Something in it has no source.
    pub assumed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: &'static str,
    pub value: String,
    /// What the key means, or what this value of it does.
    pub about: &'static str,
    /// A file says it: the stack's own or one that it is based on.
    pub said: bool,
}

/// The keys that every channel has, and the kinds of channels.
pub fn channels() -> (Vec<KeyPage>, Vec<KindPage>) {
    (keys(CHANNEL.keys.iter(), ""), kinds(&CHANNEL))
}

/// The kinds of queues.
pub fn queues() -> Vec<KindPage> {
    kinds(&QUEUE)
}

/// The built-in stacks, in the order of their names.
pub fn stacks() -> Result<Vec<StackLine>, Errors> {
    built_in().map(|name| stack(name).map(|page| page.line)).collect()
}

/// One stack; a name or a file.
pub fn load(name: &str) -> Result<tcp::stack::Stack, Errors> {
    let mut p = Problems::default();
    let library = Library { read: &anywhere, own: Default::default() };
    let shown = format!("{name:?}");
    let stack = library.stack(&wanted(name, &shown), &mut p);
    p.into_result(stack)
}

/// The name comes from the command line or a script of the user's own.
fn anywhere(path: &Path, form: Form) -> Result<String, String> {
    file::read(path, form, &Reach::Anywhere)
}

fn wanted<'a>(name: &'a str, shown: &'a str) -> Wanted<'a> {
    Wanted { name, origin: &Origin::Default, path: "stack", shown, dir: Path::new("") }
}

/// What one stack is made of; a name or a file.
pub fn stack(name: &str) -> Result<StackPage, Errors> {
    let mut p = Problems::default();
    let library = Library { read: &anywhere, own: Default::default() };
    let shown = format!("{name:?}");
    let wanted = wanted(name, &shown);
    let values = library.values(&wanted, &mut p);
    let based_on = library.based_on(&wanted);
    // The page is of a stack that could be used.
    if p.is_empty() && values.is_some() {
        library.stack(&wanted, &mut p);
    }
    p.into_result(values.map(|values| page(&values, based_on)))
}

fn kinds(table: &'static Table) -> Vec<KindPage> {
    let list = table.variants.as_ref().map_or(&[][..], |v| v.list);
    let page = |variant: &'static Variant| KindPage {
        name: variant.name,
        about: variant.doc,
        forms: variant.forms.as_ref().map(|forms| docs::form_sentence(forms).replace('`', "")),
        keys: keys(variant.keys.iter(), ""),
    };
    list.iter().map(page).collect()
}

fn keys(list: impl Iterator<Item = &'static crate::keys::Key>, prefix: &str) -> Vec<KeyPage> {
    let mut pages = Vec::new();
    for key in list {
        if let Kind::Table(inner) = key.kind {
            pages.extend(keys(inner.keys.iter(), &format!("{prefix}{}.", key.name)));
            continue;
        }
        pages.push(KeyPage {
            name: format!("{prefix}{}", key.name),
            value: docs::what(&key.kind).replace('`', ""),
            default: docs::default(key).replace(['`', '"'], ""),
            about: docs::meaning(key).replace('`', ""),
        });
    }
    pages
}

fn page(v: &Values, based_on: Option<String>) -> StackPage {
    let wire = v.flag("wire");
    let sections = STACK.keys.iter().filter_map(|key| match key.kind {
        Kind::Table(table) if (key.name != "oneway") == wire => Some(section(key.name, table, v)),
        _ => None,
    });
    let line = StackLine {
        name: v.name(),
        about: v.text("about").unwrap_or_default().to_owned(),
        based_on,
        wire,
        sources: v.texts("source"),
    };
    StackPage { line, sections: sections.collect() }
}

fn section(name: &'static str, table: &'static Table, stack: &Values) -> Section {
    let given = stack.table(name);
    let defaults = if given.is_none() { crate::stacks::defaults(name) } else { None };
    let mut entries = Vec::new();
    if let Some(v) = given.or(defaults.as_ref()) {
        if let (Some(variants), Some(variant)) = (&table.variants, v.variant) {
            let said = given.is_some();
            entries.push(Entry {
                key: variants.tag,
                value: variant.name.to_owned(),
                about: variant.doc,
                said,
            });
        }
        for key in table.keys_with(v.variant).filter(|k| !["source", "assumed"].contains(&k.name)) {
            let item = v.item(key.name);
            let said = item.is_some_and(|i| i.origin != Origin::Default);
            let value = match (item, key.need) {
                (Some(item), _) => plain(item),
                (None, crate::keys::Need::Optional(meaning)) => meaning.to_owned(),
                (None, _) => continue,
            };
            let about = item.and_then(|i| word_doc(i, &key.kind)).unwrap_or(key.doc);
            entries.push(Entry { key: key.name, value, about, said });
        }
    }
    let sources = given.map(|v| v.texts("source")).unwrap_or_default();
    let assumed = given.is_some_and(|v| v.flag("assumed"));
    Section { name, about: table.doc, entries, sources, assumed }
}

fn word_doc(item: &Item, kind: &Kind) -> Option<&'static str> {
    let words: &'static [Word] = match *kind {
        Kind::Choice(words) | Kind::Or(words, _) => words,
        _ => return None,
    };
    match item.value {
        Value::Word(name) => words.iter().find(|w| w.name == name).map(|w| w.doc),
        _ => None,
    }
}

/// A value as a person reads it: without the quotes of TOML.
fn plain(item: &Item) -> String {
    match &item.value {
        Value::Text(text) => text.clone(),
        Value::Plain(entries) => params::plain::table(entries),
        Value::Table(v) => {
            let rest = v.items.iter().filter(|(name, _)| *name != "source");
            let rest: Vec<String> = rest.map(|(name, i)| format!("{name} {}", plain(i))).collect();
            let all: Vec<String> = v.variant.map(|v| v.name.to_owned()).into_iter().chain(rest).collect();
            all.join(", ")
        }
        _ => item.shown.trim_matches('"').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stack_has_a_page_with_sources_in_every_section_that_it_says() {
        let all = stacks().unwrap_or_else(|e| panic!("{e}"));
        assert!(all.len() >= 20);
        for line in all {
            let page = stack(&line.name).unwrap_or_else(|e| panic!("{e}"));
            let sourced = page.sections.iter().any(|s| !s.sources.is_empty());
            assert!(sourced || !page.line.sources.is_empty(), "{} has no source at all", line.name);
            assert_eq!(page.sections.len(), if line.wire { 8 } else { 1 });
        }
    }

    #[test]
    fn a_page_tells_what_is_inherited_and_what_is_left_open() {
        let page = stack("linux-2.2-cured").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(page.line.based_on.as_deref(), Some("linux-2.2"));
        let entry = |section: &str, key: &str| {
            let section = page.sections.iter().find(|s| s.name == section).expect("there is one");
            section.entries.iter().find(|e| e.key == key).expect("it has one").clone()
        };
        let rule = entry("rto", "rule");
        assert_eq!((rule.value.as_str(), rule.said), ("linux-2.2-cured", true));
        assert!(rule.about.contains("paper rto"));
        // From linux-2.2.
        assert_eq!((entry("rto", "max").value.as_str(), entry("rto", "max").said), ("120s", true));
        let rto = page.sections.iter().find(|s| s.name == "rto").expect("there is one");
        assert!(rto.sources.len() > 1, "its own sources and those that it inherits");
    }

    #[test]
    fn a_stack_that_is_none_says_which_is_near() {
        let said = stack("linux-2.6-ren").map(|_| ()).unwrap_err().to_string();
        assert!(
            said.starts_with("stack = \"linux-2.6-ren\" is no stack; did you mean \"linux-2.6-reno\"?"),
            "{said}"
        );
    }

    #[test]
    fn channels_list_the_keys_of_their_schedules() {
        let (common, kinds) = channels();
        assert!(common.iter().any(|k| k.name == "direction" && k.default == "both"));
        let outage = kinds.iter().find(|k| k.name == "outage").expect("there is one");
        assert!(outage.keys.iter().any(|k| k.name == "schedule.every"));
        assert_eq!(queues().len(), 4);
    }
}
