//! What is made from the table of keys is current.

use std::path::Path;

#[test]
fn the_documentation_and_the_schemas_are_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (name, text) in scenario::generated() {
        let written = std::fs::read_to_string(docs.join(name)).unwrap_or_default();
        let command = "cargo run -p rexmit-scenario --example write_docs";
        assert!(written == text, "docs/{name} is not what the table of keys says: {command}");
    }
}
