//! What docs/ says of the closed sets is current.

mod documents {
    pub mod made;
}

#[test]
fn the_tables_and_the_schema_have_each_value_of_the_closed_sets() {
    for (path, text) in documents::made::generated() {
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        let command = "cargo run -p rexmit-results --example write_docs";
        assert!(written == text, "{} is not what the closed sets say: {command}", path.display());
    }
}
