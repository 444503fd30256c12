//! Tells the extension how it was built: its cargo profile, and whether it was laid out by what is hot
//! (`make release`). Figures of speed say which build they are of.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTFLAGS");
    let out = env::var("OUT_DIR").expect("cargo says where to write");
    let profile =
        profile_of(Path::new(&out)).expect("OUT_DIR is target/[triple/]PROFILE/build/PACKAGE-HASH/out");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let profiled = if flags.contains("profile-use=") { ", profiled" } else { "" };
    println!("cargo::rustc-env=REXMIT_BUILD={profile}{profiled}");
}

/// Cargo's PROFILE is "release" for every profile that inherits from it; the folder has the name.
/// That of `dev` is called `debug`.
fn profile_of(out: &Path) -> Option<&str> {
    let folder = out.ancestors().find(|a| a.ends_with("build"))?.parent()?.file_name()?.to_str()?;
    Some(if folder == "debug" { "dev" } else { folder })
}
