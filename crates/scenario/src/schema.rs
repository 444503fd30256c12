//! JSON Schema (draft 2020-12) from the table of keys, so that editors complete and check what the reader reads.

use crate::keys::{Forms, Key, Kind, Need, Range, SCENARIO, STACK, Sign, Table, Variant, Word};
use params::units::{RATE, SIZE, TIME, Unit};
use serde_json::{Map, Value, json};

/// The schema of a scenario.
pub fn scenario_schema() -> String {
    document(&SCENARIO, "rexmit scenario", "Described in docs/scenario.md.")
}

/// The schema of a stack file.
pub fn stack_schema() -> String {
    document(&STACK, "rexmit stack", "Described in docs/scenario.md, section Stacks.")
}

fn document(root: &'static Table, title: &str, description: &str) -> String {
    let mut defs = Defs { done: Vec::new(), inherits: std::ptr::eq(root, &raw const STACK) };
    let mut body = defs.table(root);
    let mut top = Map::new();
    top.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    top.insert("title".to_owned(), json!(title));
    if let Some(object) = body.as_object_mut() {
        top.insert("description".to_owned(), json!(description));
        object.remove("description");
        top.append(object);
    }
    if !defs.done.is_empty() {
        let defs: Map<String, Value> = defs.done.into_iter().collect();
        top.insert("$defs".to_owned(), Value::Object(defs));
    }
    let mut text = String::new();
    print(&Value::Object(top), 0, &mut text);
    text.push('\n');
    text
}

/// Short things on one line; keys in an order of our own, whatever order the maps of this build have.
fn print(value: &Value, depth: usize, out: &mut String) {
    const WIDTH: usize = 100;
    let flat = flat(value);
    let items: Vec<(Option<&String>, &Value)> = match value {
        _ if flat.len() <= WIDTH => return out.push_str(&flat),
        Value::Object(map) => sorted(map).into_iter().map(|(k, v)| (Some(k), v)).collect(),
        Value::Array(list) => list.iter().map(|v| (None, v)).collect(),
        _ => return out.push_str(&flat),
    };
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    out.push(open);
    for (i, (key, item)) in items.into_iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            out.push_str(&format!("{}: ", json!(key)));
        }
        print(item, depth + 1, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

fn flat(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let items: Vec<String> =
                sorted(map).into_iter().map(|(k, v)| format!("{}: {}", json!(k), flat(v))).collect();
            format!("{{{}}}", items.join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(flat).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn sorted(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    const FIRST: [&str; 6] = ["$schema", "title", "description", "type", "const", "properties"];
    let rank = |key: &str| match key {
        "$defs" => FIRST.len() + 1,
        key => FIRST.iter().position(|f| *f == key).unwrap_or(FIRST.len()),
    };
    let mut items: Vec<_> = map.iter().collect();
    items.sort_by(|(a, _), (b, _)| (rank(a), a).cmp(&(rank(b), b)));
    items
}

/// Tables that are already written, under the names of their nouns.
struct Defs {
    done: Vec<(String, Value)>,
    /// In a stack: what is not said may be inherited, so that nothing is required but a name.
    inherits: bool,
}

impl Defs {
    fn reference(&mut self, table: &'static Table) -> Value {
        let name = definition_name(table);
        if !self.done.iter().any(|(n, _)| *n == name) {
            // The place is taken first, so that a table in itself ends.
            self.done.push((name.clone(), Value::Null));
            let outside = self.inherits;
            self.inherits |= std::ptr::eq(table, &raw const STACK);
            let body = self.table(table);
            self.inherits = outside;
            if let Some((_, place)) = self.done.iter_mut().find(|(n, _)| *n == name) {
                *place = body;
            }
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn table(&mut self, table: &'static Table) -> Value {
        let Some(variants) = &table.variants else {
            return self.object(table, None, None);
        };
        let mut all: Vec<Value> = Vec::new();
        for variant in variants.list {
            all.push(self.object(table, Some(variant), Some(variants.tag)));
        }
        // Without its tag a table of a stack may be any of them.
        let one_of = if self.inherits { "anyOf" } else { "oneOf" };
        json!({ "description": table.doc, one_of: all })
    }

    /// One variant of a table, or the table where there are none.
    fn object(
        &mut self,
        table: &'static Table,
        variant: Option<&'static Variant>,
        tag: Option<&str>,
    ) -> Value {
        let mut properties = Map::new();
        let mut required: Vec<&str> = Vec::new();
        if let (Some(tag), Some(variant), Some(variants)) = (tag, variant, &table.variants) {
            properties.insert(tag.to_owned(), json!({ "const": variant.name, "description": variant.doc }));
            if variants.default.is_none() && !self.inherits {
                required.push(tag);
            }
        }
        for key in table.keys_with(variant) {
            properties.insert(key.name.to_owned(), self.key(key));
            let inherited = self.inherits && key.name != "name";
            if matches!(key.need, Need::Required) && !inherited {
                required.push(key.name);
            }
        }
        let mut object = Map::new();
        object.insert("type".to_owned(), json!("object"));
        object.insert("description".to_owned(), json!(variant.map_or(table.doc, |v| v.doc)));
        object.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            object.insert("required".to_owned(), json!(required));
        }
        object.insert("additionalProperties".to_owned(), json!(false));
        let sets = [table.forms.as_ref(), variant.and_then(|v| v.forms.as_ref())];
        let rules: Vec<Value> = sets.into_iter().flatten().map(forms).collect();
        if !rules.is_empty() {
            object.insert("allOf".to_owned(), json!(rules));
        }
        Value::Object(object)
    }

    fn key(&mut self, key: &Key) -> Value {
        let mut schema = self.kind(&key.kind);
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), json!(key.doc));
            if let Need::Default(text) = key.need {
                object.insert("default".to_owned(), default(&key.kind, text));
            }
        }
        schema
    }

    fn kind(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::File(_) | Kind::Reference(_) => json!({ "type": "string", "minLength": 1 }),
            Kind::Name => json!({ "type": "string", "pattern": NAME }),
            Kind::Class => json!({ "type": "string", "pattern": "^.+:[^:]+$" }),
            Kind::Plain => json!({ "type": "object" }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Whole(range) => json!({ "type": "integer", "minimum": range.least, "maximum": range.most }),
            Kind::Number(range) => number(range),
            Kind::Probability => json!({ "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": r"^[0-9.]+(e[+-]?[0-9]+)? *%?$" },
            ] }),
            Kind::Time(sign) => {
                let number = match sign {
                    Sign::Positive => POSITIVE.to_owned(),
                    Sign::NotNegative => NUMBER.to_owned(),
                    Sign::Any => format!("-?{NUMBER}"),
                };
                quantity(&number, &unit_names(&[Unit::Time]))
            }
            Kind::Rate => quantity(POSITIVE, &RATE.iter().map(|(n, _)| *n).collect::<Vec<_>>()),
            Kind::Amount(units) => quantity(POSITIVE, &unit_names(units)),
            Kind::Choice(words) => enumeration(words),
            Kind::Or(words, other) => json!({ "anyOf": [enumeration(words), self.kind(other)] }),
            Kind::List { of, least } => json!({ "type": "array", "items": self.kind(of), "minItems": least }),
            Kind::Tuple(kinds) => {
                let items: Vec<Value> = kinds.iter().map(|k| self.kind(k)).collect();
                let n = items.len();
                json!({ "type": "array", "prefixItems": items, "minItems": n, "maxItems": n })
            }
            Kind::FlagOrNames(_) => {
                json!({ "anyOf": [{ "type": "boolean" }, { "type": "array", "items": { "type": "string" } }] })
            }
            Kind::Table(table) => self.reference(table),
            Kind::Tables(table) => json!({ "type": "array", "items": self.reference(table) }),
        }
    }
}

/// "a link" becomes `link`.
fn definition_name(table: &Table) -> String {
    let noun = table.noun;
    let bare = ["a ", "an ", "the "].iter().find_map(|article| noun.strip_prefix(article)).unwrap_or(noun);
    bare.replace([' ', '\''], "-")
}

fn unit_names(units: &[Unit]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for unit in units {
        match unit {
            Unit::Bytes => names.extend(SIZE.iter().map(|(n, _)| *n).chain(["bytes", "byte"])),
            Unit::Packets => names.extend(["packets", "packet"]),
            Unit::Smss => names.push("SMSS"),
            Unit::Time => names.extend(TIME.iter().map(|(n, _)| *n).chain(["µs"])),
        }
    }
    names
}

const NUMBER: &str = "[0-9_.]+";
/// With a digit that is not 0.
const POSITIVE: &str = "[0-9_.]*[1-9][0-9_.]*";

fn quantity(number: &str, units: &[&str]) -> Value {
    let pattern = format!(r"^{number}([eE][+-]?[0-9]+)? *({})$", units.join("|"));
    json!({ "type": "string", "pattern": pattern })
}

/// Letters and digits of any script are told from the rest by what they are not: engines differ in `\p{L}`.
const NAME: &str = r##"^[^\s"'`!#$%&()*,/:;<=>?@\[\\\]^{|}~]+$"##;

fn number(range: &Range<f64>) -> Value {
    let low = if range.above { "exclusiveMinimum" } else { "minimum" };
    let high = if range.below { "exclusiveMaximum" } else { "maximum" };
    json!({ "type": "number", low: range.least, high: range.most })
}

fn enumeration(words: &[Word]) -> Value {
    let names: Vec<&str> = words.iter().map(|w| w.name).collect();
    json!({ "enum": names })
}

/// Exactly one set in full and no key of another; or none at all, where that is allowed.
fn forms(forms: &Forms) -> Value {
    let mut ways: Vec<Value> = Vec::new();
    for set in forms.sets {
        let others = forms.sets.iter().filter(|s| s != &set).flat_map(|s| s.iter());
        let absent: Vec<Value> = others.map(|key| json!({ "required": [key] })).collect();
        match absent.is_empty() {
            true => ways.push(json!({ "required": set })),
            false => ways.push(json!({ "required": set, "not": { "anyOf": absent } })),
        }
    }
    if !forms.required {
        let any: Vec<Value> =
            forms.sets.iter().flat_map(|s| s.iter()).map(|key| json!({ "required": [key] })).collect();
        ways.push(json!({ "not": { "anyOf": any } }));
    }
    json!({ "oneOf": ways })
}

/// A default as JSON: what is no text in TOML is none here.
fn default(kind: &Kind, text: &str) -> Value {
    match kind {
        Kind::Flag | Kind::Whole(_) | Kind::Number(_) | Kind::Probability | Kind::FlagOrNames(_) => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        _ => json!(text),
    }
}
