//! Writes what docs/ says of the closed sets: tables of docs/definitions.md, names in docs/json.schema.json.

#[path = "../tests/documents/made.rs"]
mod made;

fn main() -> std::io::Result<()> {
    made::generated().into_iter().try_for_each(|(path, text)| std::fs::write(path, text))
}
