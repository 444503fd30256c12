//! An object of the core's JSON as its members, each as it was written: what goes on into META is not read.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::io;

/// In the order in which they were written.
#[derive(Default)]
pub struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Members, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Members(all))
            }
            // Null: it has none.
            fn visit_unit<E: Error>(self) -> Result<Members, E> {
                Ok(Members::default())
            }
        }
        from.deserialize_any(All)
    }
}

pub fn bad(error: serde_json::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl Members {
    pub fn of(json: &[u8]) -> io::Result<Members> {
        serde_json::from_slice(json).map_err(bad)
    }
    /// As JSON; null where there is none of this name.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(n, _)| n == name).map_or("null", |(_, value)| value.get())
    }
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }
    pub fn within(&self, name: &str) -> io::Result<Members> {
        serde_json::from_str(self.get(name)).map_err(bad)
    }
    /// Objects in a list; none where there is no list.
    pub fn each(&self, name: &str) -> io::Result<Vec<Members>> {
        let all: Option<Vec<Members>> = serde_json::from_str(self.get(name)).map_err(bad)?;
        Ok(all.unwrap_or_default())
    }
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).parse().ok()
    }
    /// All but some, as an object.
    pub fn without(&self, names: &[&str]) -> String {
        let kept = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        let told: Vec<String> =
            kept.map(|(name, value)| format!("{}:{}", crate::text::string(name), value.get())).collect();
        format!("{{{}}}", told.join(","))
    }
}
