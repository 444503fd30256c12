//! Stack files: finding one by name or path, what it inherits, and what it makes.

mod build;

pub(crate) use build::defaults;

use crate::build::no_such;
use crate::check;
use crate::file::Form;
use crate::keys::{Kind, STACK, Table};
use crate::overrides::{all_keys, drop_other_variants};
use crate::tree::{self, Entry, Node, Tree};
use params::Values;
use params::problem::{Origin, Problems};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tcp::stack::Stack;

include!(concat!(env!("OUT_DIR"), "/stacks.rs"));

/// Reads a file as text; the error is a sentence without its subject. [`crate::file::read`] is the one for files on
/// disk.
pub type ReadFile<'a> = &'a dyn Fn(&Path, Form) -> Result<String, String>;

/// Where stacks come from: a scenario's own, the built-in ones, files.
pub(crate) struct Library<'a> {
    pub read: ReadFile<'a>,
    pub own: Own,
}

/// `[[stack]]` of a scenario, in order: name and tree.
#[derive(Default)]
pub(crate) struct Own {
    all: Vec<(String, Node)>,
    places: HashMap<String, usize>,
}

impl Own {
    /// Names of these and of the built-in ones.
    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        let built_in = BUILT_IN.iter().map(|(name, _)| *name);
        self.all.iter().map(|(name, _)| name.as_str()).chain(built_in)
    }
    fn get(&self, name: &str) -> Option<&(String, Node)> {
        self.places.get(name).map(|at| &self.all[*at])
    }
}

impl From<Vec<(String, Node)>> for Own {
    fn from(all: Vec<(String, Node)>) -> Own {
        // Of equal names the first.
        let places = all.iter().enumerate().rev().map(|(at, (name, _))| (name.clone(), at)).collect();
        Own { all, places }
    }
}

/// Stacks based on one another in a row: more are no help to a reader, and each is a call within the one before.
const MOST_BASES: usize = 32;

/// One step of "based on": the place that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Own(String),
    BuiltIn(&'static str),
    File(PathBuf),
}

/// A reference to a stack, with the place that makes it.
pub(crate) struct Wanted<'a> {
    pub name: &'a str,
    pub origin: &'a Origin,
    pub path: &'a str,
    pub shown: &'a str,
    /// The directory from which files are found.
    pub dir: &'a Path,
}

/// The names of the built-in stacks, in order.
pub fn built_in() -> impl Iterator<Item = &'static str> + Clone {
    BUILT_IN.iter().map(|(name, _)| *name)
}

fn looks_like_a_file(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".toml")
}

impl Library<'_> {
    pub fn stack(&self, wanted: &Wanted<'_>, problems: &mut Problems) -> Option<Stack> {
        build::stack(&self.values(wanted, problems)?, problems)
    }

    pub fn values(&self, wanted: &Wanted<'_>, problems: &mut Problems) -> Option<Values> {
        let (node, path) = self.resolved(wanted, &mut Vec::new(), problems)?;
        Some(check::table(&node, &STACK, &path, problems))
    }

    /// The name in the stack's own `based_on`.
    pub fn based_on(&self, wanted: &Wanted<'_>) -> Option<String> {
        let mut said_elsewhere = Problems::default();
        let step = self.find(wanted, &[], &mut said_elsewhere)?;
        let (node, _) = self.read(&step, wanted, &mut said_elsewhere)?;
        node.get("based_on")?.text().map(str::to_owned)
    }

    /// The tree with all that it inherits, and the path by which its keys are named.
    fn resolved(
        &self,
        wanted: &Wanted<'_>,
        chain: &mut Vec<Step>,
        problems: &mut Problems,
    ) -> Option<(Node, String)> {
        if chain.len() > MOST_BASES {
            let says =
                format!("is too far down: no more than {MOST_BASES} stacks may be based on one another");
            problems.add(wanted.origin, wanted.path, Some(wanted.shown), says);
            return None;
        }
        let step = self.find(wanted, chain, problems)?;
        let (node, dir) = self.read(&step, wanted, problems)?;
        let path = match &step {
            Step::Own(name) => format!("stack.{name}"),
            _ => String::new(),
        };
        chain.push(step);
        self.with_base(node, path, &dir, chain, problems)
    }

    fn with_base(
        &self,
        node: Node,
        path: String,
        dir: &Path,
        chain: &mut Vec<Step>,
        problems: &mut Problems,
    ) -> Option<(Node, String)> {
        let Some(base) = node.entries().iter().find(|e| e.key == "based_on") else {
            return Some((node, path));
        };
        // A name that is no text is refused where the table is checked.
        let Some(name) = base.node.text() else { return Some((node, path)) };
        let key = params::join(&path, "based_on");
        let shown = base.node.shown();
        let inherited = Wanted { name, origin: &base.origin, path: &key, shown: &shown, dir };
        let (base, _) = self.resolved(&inherited, chain, problems)?;
        Some((merged(&node, &base, &STACK), path))
    }

    /// The stack of one file, which messages call `file`.
    pub fn file(&self, path: &Path, file: &str, problems: &mut Problems) -> Option<Stack> {
        let text = (self.read)(path, Form::Stack).ok()?;
        let dir = path.parent().unwrap_or(Path::new(""));
        let node = placed(tree::parse(&text, &file.into(), &STACK, problems)?, dir);
        if !problems.is_empty() {
            return None;
        }
        let (node, _) =
            self.with_base(node, String::new(), dir, &mut vec![Step::File(path.to_owned())], problems)?;
        let values = check::table(&node, &STACK, "", problems);
        build::stack(&values, problems)
    }

    fn find(&self, wanted: &Wanted<'_>, chain: &[Step], problems: &mut Problems) -> Option<Step> {
        let name = wanted.name;
        let own = self.own.get(name).map(|(n, _)| Step::Own(n.clone()));
        let embedded = BUILT_IN.iter().find(|(n, _)| *n == name).map(|(n, _)| Step::BuiltIn(n));
        let file = looks_like_a_file(name).then(|| Step::File(wanted.dir.join(name)));
        let steps: Vec<Step> = own.into_iter().chain(embedded).chain(file).collect();
        // A scenario's own stack may be based on the built-in one of the same name.
        if let Some(step) = steps.iter().find(|s| !chain.contains(s)) {
            return Some(step.clone());
        }
        let says = match steps.is_empty() {
            true => no_such("stack", name, self.own.names(), problems),
            false => "leads back to itself".to_owned(),
        };
        problems.add(wanted.origin, wanted.path, Some(wanted.shown), says);
        None
    }

    fn read(&self, step: &Step, wanted: &Wanted<'_>, problems: &mut Problems) -> Option<(Node, PathBuf)> {
        match step {
            Step::Own(name) => {
                let (_, node) = self.own.get(name)?;
                Some((placed(node.clone(), wanted.dir), wanted.dir.to_owned()))
            }
            Step::BuiltIn(name) => {
                let (_, text) = BUILT_IN.iter().find(|(n, _)| n == name)?;
                let file: Arc<str> = format!("stacks/{name}.toml").into();
                Some((tree::parse(text, &file, &STACK, problems)?, PathBuf::new()))
            }
            Step::File(path) => match (self.read)(path, Form::Stack) {
                Ok(text) => {
                    let file: Arc<str> = path.display().to_string().into();
                    let dir = path.parent().unwrap_or(Path::new("")).to_owned();
                    Some((placed(tree::parse(&text, &file, &STACK, problems)?, &dir), dir))
                }
                Err(error) => {
                    let says = format!("cannot be read: {error}");
                    problems.add(wanted.origin, wanted.path, Some(wanted.shown), says);
                    None
                }
            },
        }
    }
}

/// With the files of classes as they are found from `dir`, before anything is inherited from elsewhere. In full, so that
/// a scenario as resolved means the same wherever it is kept.
fn placed(mut node: Node, dir: &Path) -> Node {
    let Tree::Table(sections) = &mut node.value else { return node };
    for section in sections.iter_mut() {
        let Tree::Table(entries) = &mut section.node.value else { continue };
        for entry in entries.iter_mut().filter(|e| e.key == "class") {
            if let Tree::Text(text) = &mut entry.node.value
                && let Some((file, class)) = text.rsplit_once(':')
                && file.ends_with(".py")
            {
                let found = dir.join(file);
                let found = std::path::absolute(&found).unwrap_or(found);
                *text = format!("{}:{class}", found.display());
            }
        }
    }
    node
}

/// `own` over `base`: table by table, key by key. Sources add up, as what is inherited keeps its own.
fn merged(own: &Node, base: &Node, table: &'static Table) -> Node {
    let mut entries: Vec<Entry> = base.entries().to_vec();
    if std::ptr::eq(table, &raw const STACK) {
        entries.retain(|e| !["name", "about", "based_on", "kernel"].contains(&e.key.as_str()));
    }
    if let Some(variants) = &table.variants
        && let Some(tag) = own.get(variants.tag)
    {
        drop_other_variants(&mut entries, table, variants.tag, tag);
    }
    for entry in own.entries() {
        let old = entries.iter().position(|e| e.key == entry.key);
        let node = match (old, all_keys(table).find(|k| k.name == entry.key).map(|k| k.kind)) {
            (Some(old), Some(Kind::Table(inner))) if matches!(entry.node.value, Tree::Table(_)) => {
                merged(&entry.node, &entries[old].node, inner)
            }
            (Some(old), _) if entry.key == "source" => both(&entry.node, &entries[old].node),
            _ => entry.node.clone(),
        };
        let entry = Entry { key: entry.key.clone(), origin: entry.origin.clone(), node };
        match old {
            Some(old) => entries[old] = entry,
            None => entries.push(entry),
        }
    }
    Node { value: Tree::Table(entries), origin: own.origin.clone() }
}

fn both(own: &Node, base: &Node) -> Node {
    match (&own.value, &base.value) {
        (Tree::List(own_list), Tree::List(base_list)) => {
            let known = |item: &&Node| !own_list.iter().any(|o| o.text() == item.text());
            let all = own_list.iter().chain(base_list.iter().filter(known)).cloned();
            Node { value: Tree::List(all.collect()), origin: own.origin.clone() }
        }
        _ => own.clone(),
    }
}
