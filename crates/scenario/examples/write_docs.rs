//! Writes what is made from the table of keys: docs/scenario.md and the JSON Schemas.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (name, text) in scenario::generated() {
        std::fs::write(docs.join(name), text)?;
    }
    Ok(())
}
