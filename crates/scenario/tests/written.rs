//! What is written as resolved reads back the same.

use scenario::{load, load_stack, parse, parse_stack, stack_to_toml, to_toml};
use std::path::{Path, PathBuf};

fn files(dir: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(dir);
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
}

fn no_files(_: &Path, _: scenario::file::Form) -> Result<String, String> {
    Err("there is no such file".to_owned())
}

#[test]
fn every_stack_reads_back_the_same() {
    for path in files("stacks") {
        let stack = load_stack(&path).unwrap_or_else(|e| panic!("{e}"));
        let text = stack_to_toml(&stack);
        let again = parse_stack(&text, "again.toml", Path::new(""), &no_files);
        assert_eq!(again.unwrap_or_else(|e| panic!("{e}\n{text}")), stack);
    }
}

#[test]
fn each_behaviour_of_a_resolved_stack_says_where_it_is_known_from() {
    for path in files("stacks") {
        let text = stack_to_toml(&load_stack(&path).unwrap());
        let own = std::fs::read_to_string(&path).unwrap();
        let [own, written] = [&own, &text].map(|t| t.matches("\nsource = [").count());
        assert!(own > 0 && written >= own, "{}: {own} sources, {written} written", path.display());
    }
}

#[test]
fn every_scenario_reads_back_the_same_without_its_files() {
    for path in files("scenarios").into_iter().chain(files("benches/simulators")) {
        let scenario = load(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
        // Size apart, the largest is like its siblings, and takes half a minute to write and read.
        if scenario.nodes.len() > 50_000 {
            continue;
        }
        let text = to_toml(&scenario);
        let again = parse(&text, "again.toml", Path::new(""), &[], &no_files);
        assert!(again.unwrap_or_else(|e| panic!("{e}\n{text}")) == scenario, "{}\n{text}", path.display());
    }
}

/// The words of `hz` are numbers; its default is one of these words all the same.
#[test]
fn a_choice_whose_words_are_numbers_has_its_default() {
    for rule in ["bbr", "cubic-linux-6"] {
        let text = format!(
            "name = \"mine\"\nbased_on = \"rfc-sack\"\nsource = [\"-\"]\n[congestion]\nrule = \"{rule}\"\n"
        );
        let stack = parse_stack(&text, "mine.toml", Path::new(""), &no_files);
        let written = stack_to_toml(&stack.unwrap_or_else(|e| panic!("{e}")));
        assert!(written.contains("hz = \"250\""), "{written}");
    }
}
