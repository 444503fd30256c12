//! From a file to a scenario or a stack.

use crate::build::{self, Context};
use crate::check;
use crate::file::{self, Form};
use crate::keys::{SCENARIO, STACK};
use crate::model::Scenario;
use crate::overrides;
use crate::stacks::{Library, ReadFile, Wanted};
use crate::tree::{self, Entry, Node, Tree};
use params::problem::{Errors, Origin, Problems, did_you_mean, listed};
use reach::Reach;
use std::path::Path;
use std::sync::Arc;
use tcp::stack::Stack;

/// A key and its value, set from outside: `link.air.rate`, `5Mbps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    pub key: String,
    /// TOML where it can be (`3`, `[1, 2]`, `{ kind = "red" }`), plain text otherwise.
    pub value: String,
    /// What stands before the key in messages: `--set ` from the command line.
    pub label: &'static str,
}

impl Override {
    /// As the command line gives it: `key=value`.
    pub fn from_argument(argument: &str) -> Option<Override> {
        let (key, value) = argument.split_once('=')?;
        Some(Override { key: key.trim().to_owned(), value: value.trim().to_owned(), label: "--set " })
    }
}

/// Reads a scenario from disk.
pub fn load(path: &Path, overrides: &[Override]) -> Result<Scenario, Errors> {
    load_as(path, &path.display().to_string(), overrides, &Reach::Anywhere)
}

/// The same; `file` names it in messages. It and all files that it names have to be within `reach`.
pub fn load_as(path: &Path, file: &str, overrides: &[Override], reach: &Reach) -> Result<Scenario, Errors> {
    let text = file::read(path, Form::Scenario, reach).map_err(|error| unreadable(file, &error))?;
    let dir = path.parent().unwrap_or(Path::new(""));
    parse(&text, file, dir, overrides, &|path, form| file::read(path, form, reach))
}

/// Reads a stack from disk.
pub fn load_stack(path: &Path) -> Result<Stack, Errors> {
    let file = path.display().to_string();
    let read = |path: &Path, form| file::read(path, form, &Reach::Anywhere);
    let text = read(path, Form::Stack).map_err(|error| unreadable(&file, &error))?;
    parse_stack(&text, &file, path.parent().unwrap_or(Path::new("")), &read)
}

/// Reads a scenario: `file` names it in messages, and files that it names are found from `dir`.
pub fn parse(
    text: &str,
    file: &str,
    dir: &Path,
    overrides: &[Override],
    read: ReadFile<'_>,
) -> Result<Scenario, Errors> {
    let mut p = Problems::default();
    let Some(root) = tree(text, file, overrides, &mut p) else { return p.into_result(None) };
    let library = Library { read, own: own_stacks(&root).into() };
    let values = check::table(&root, &SCENARIO, "", &mut p);
    check_own_stacks(&values, &library, dir, &mut p);
    let scenario = build::scenario(
        &values,
        &Context { library: &library, dir, flows: build::connections(&values) },
        &mut p,
    );
    p.into_result(scenario)
}

/// The file with its overrides; `None` if it is no TOML.
fn tree(text: &str, file: &str, overrides: &[Override], p: &mut Problems) -> Option<Node> {
    let mut root = tree::parse(text, &file.into(), &SCENARIO, p)?;
    if !p.is_empty() {
        return None;
    }
    for o in overrides {
        if own_stack_for(&o.key, &mut root, o, p) {
            overrides::apply(&mut root, &SCENARIO, &o.key, &o.value, o.label, p);
        }
    }
    Some(root)
}

/// Where `key` (`flow.up.packet`) was said, or the innermost of what it is in: for who finds fault with a scenario
/// that is none by itself. Of a file at least its name.
pub fn place(text: &str, file: &str, overrides: &[Override], key: &str) -> String {
    let nowhere = if file.is_empty() { String::new() } else { format!("{file}: ") };
    let Some(root) = tree(text, file, overrides, &mut Problems::default()) else { return nowhere };
    let (mut node, mut rest, mut found) = (&root, key, None);
    while !rest.is_empty() {
        // A name may have dots in it, so the longest that fits is meant.
        let after = |name: &str| {
            let after = rest
                .strip_prefix(name)
                .filter(|after| !name.is_empty() && !after.starts_with(|c| c != '.'))?;
            Some(after.trim_start_matches('.'))
        };
        let next = match &node.value {
            Tree::Table(entries) => {
                let all = entries.iter().filter_map(|e| Some((after(&e.key)?, &e.node, &e.origin)));
                all.min_by_key(|(after, ..)| after.len())
            }
            Tree::List(elements) => {
                let name = |e: &Node| after(e.get("name")?.text()?);
                let all = elements.iter().filter_map(|e| Some((name(e)?, e, &e.origin)));
                all.min_by_key(|(after, ..)| after.len())
            }
            _ => None,
        };
        let Some((after, inner, origin)) = next else { break };
        (node, rest, found) = (inner, after, Some(origin));
    }
    found.map(Origin::place).filter(|place| !place.is_empty()).unwrap_or(nowhere)
}

/// Reads a stack file.
pub fn parse_stack(text: &str, file: &str, dir: &Path, read: ReadFile<'_>) -> Result<Stack, Errors> {
    // The text stands for the file that is read first; what it is based on is read as ever.
    let first = dir.join(file_name(file));
    let from_text = |path: &Path, form| if path == first { Ok(text.to_owned()) } else { read(path, form) };
    let library = Library { read: &from_text, own: Default::default() };
    let mut p = Problems::default();
    let stack = library.file(&first, file, &mut p);
    p.into_result(stack)
}

fn file_name(file: &str) -> &str {
    Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file)
}

fn unreadable(file: &str, error: &str) -> Errors {
    let origin = Origin::Default;
    let says = format!("{file}: cannot be read: {error}");
    Errors(vec![crate::Problem { origin, key: String::new(), found: None, says }])
}

/// The scenario's own stacks, by name.
fn own_stacks(root: &Node) -> Vec<(String, Node)> {
    let Some(Node { value: Tree::List(elements), .. }) = root.get("stack") else { return Vec::new() };
    elements.iter().filter_map(|e| Some((e.get("name")?.text()?.to_owned(), e.clone()))).collect()
}

/// A stack of one's own is checked even if no flow uses it: with what it is based on, as only then it is whole.
fn check_own_stacks(values: &params::Values, library: &Library<'_>, dir: &Path, p: &mut Problems) {
    for item in values.list("stack") {
        let Some(name) = item.table().and_then(|v| v.text("name")) else { continue };
        let wanted = Wanted { name, origin: &item.origin, path: &item.path, shown: &item.shown, dir };
        library.stack(&wanted, p);
    }
}

/// `stack.linux-2.6-reno.rto.min=1s` changes a built-in stack for this run: a stack of the scenario's own takes its
/// place, and is based on it. False where there is no such stack at all.
fn own_stack_for(key: &str, root: &mut Node, o: &Override, p: &mut Problems) -> bool {
    let Some(rest) = key.strip_prefix("stack.") else { return true };
    let rest = rest.trim_start_matches('"');
    let fits = |name: &&str| rest.strip_prefix(*name).is_some_and(|after| after.starts_with(['.', '"']));
    let own: Vec<String> = own_stacks(root).into_iter().map(|(name, _)| name).collect();
    if own.iter().any(|name| fits(&name.as_str())) {
        return true;
    }
    let origin = Origin::Override {
        label: o.label.into(),
        key: Arc::from(o.key.as_str()),
        raw: Arc::from(o.value.as_str()),
    };
    let Some(name) = crate::stacks::built_in().filter(fits).max_by_key(|name| name.len()) else {
        let names: Vec<String> =
            own.into_iter().chain(crate::stacks::built_in().map(str::to_owned)).collect();
        let names = || names.iter().map(String::as_str);
        let name = before_key(rest);
        let says = format!("is no stack{}{}", did_you_mean(name, names()), listed(names()));
        p.add(&origin, &format!("stack.{name}"), None, says);
        return false;
    };
    let text = |key: &str| Entry {
        key: key.to_owned(),
        origin: origin.clone(),
        node: Node { value: Tree::Text(name.to_owned()), origin: origin.clone() },
    };
    let element = Node { value: Tree::Table(vec![text("name"), text("based_on")]), origin: origin.clone() };
    let Tree::Table(entries) = &mut root.value else { return true };
    match entries.iter_mut().find(|e| e.key == "stack") {
        Some(Entry { node: Node { value: Tree::List(list), .. }, .. }) => list.push(element),
        Some(_) => {}
        None => entries.push(Entry {
            key: "stack".to_owned(),
            origin: origin.clone(),
            node: Node { value: Tree::List(vec![element]), origin },
        }),
    }
    true
}

/// What names the stack in `linux-2.6.rto.min`: all before the first key of a stack.
fn before_key(rest: &str) -> &str {
    let dots = rest.match_indices('.').map(|(at, _)| at);
    let key = |at: &usize| {
        let word = rest[at + 1..].split('.').next();
        overrides::all_keys(&STACK).any(|key| Some(key.name) == word)
    };
    rest[..dots.into_iter().find(key).unwrap_or(rest.len())].trim_end_matches('"')
}
