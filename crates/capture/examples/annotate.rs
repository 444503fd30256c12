//! `annotate OUT.pcapng NUMBER TEXT FILE...`: copies a capture with a comment on one packet.

use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out, number, text, files @ ..] = args.as_slice() else {
        return Err("annotate OUT.pcapng NUMBER TEXT FILE...".into());
    };
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let done = capture::annotate(&files, Path::new(out), [(number.parse()?, text.clone())], |_| true)?;
    println!("{} packets, {} comments", done.packets, done.comments);
    if let Some(damage) = done.damage {
        println!("{damage}");
    }
    Ok(())
}
