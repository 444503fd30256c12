//! Embeds every file of the workspace's `stacks/`: a stack that is added there is built in.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let dir = Path::new(&root).join("../../stacks");
    println!("cargo::rerun-if-changed={}", dir.display());
    let entries = fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".toml"));
    assert!(!names.is_empty(), "{} holds no stacks: this source archive lacks a part", dir.display());
    names.sort();
    let mut code = String::from("static BUILT_IN: &[(&str, &str)] = &[\n");
    for name in &names {
        let path = dir.join(name).canonicalize().expect("the file was listed just now");
        let stem = name.trim_end_matches(".toml");
        writeln!(code, "    ({stem:?}, include_str!({path:?})),").expect("a string takes all");
    }
    code.push_str("];\n");
    let out = env::var("OUT_DIR").expect("cargo says where to write");
    fs::write(Path::new(&out).join("stacks.rs"), code).expect("the build directory can be written to");
}
