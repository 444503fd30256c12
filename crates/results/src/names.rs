//! The words of the answer, as they stand in JSON and tables.

use crate::json::write::{Put, members};
use analysis::rows::*;
use analysis::sure::{Certainty, Evidence as Ground};
use explain::cause::Cause as AnswerCause;
use explain::findings::Kind as Finding;

/// Declares a set of values that only results have, each with its name in tables and JSON.
macro_rules! named {
    ($(#[$meta:meta])* $set:ident { $($value:ident = $name:literal),* $(,)? }) => {
        $(#[$meta])*
        pub enum $set { $($value),* }
        impl $set {
            pub fn name(self) -> &'static str {
                match self { $($set::$value => $name),* }
            }
        }
        $crate::tables::column::words!($set);
    };
}
pub(crate) use named;

/// One line a set: its values can be written, and are told to Python.
macro_rules! closed_sets {
    ($($set:ident)*) => {
        $(impl Put for $set {
            fn put(&self, out: &mut Vec<u8>) {
                // Names need no escape: a test looks at each.
                out.push(b'"');
                out.extend_from_slice(self.name().as_bytes());
                out.push(b'"');
            }
        })*

        /// Every closed set as JSON: `{"cause": [{"name": "recovery", "in_words": "fast recovery", "colour": "blue", ...},
        /// ...], ...}`.
        pub fn closed_sets() -> Vec<u8> {
            let mut out = vec![b'{'];
            $(put_set::<$set>(&mut out);)*
            out.push(b'}');
            out
        }

        #[cfg(test)]
        fn for_each_set(check: &mut impl Check) {
            $(check.set::<$set>();)*
        }
    };
}
closed_sets! {
    Vantage Cause Evidence Proof Trigger EpisodeKind IdleCause Limit RttKind PacketClass Closed EcnKind RtoRule
    Growth RecoveryStyle Certainty Ground AnswerCause Finding
}

fn put_set<T: ClosedSet>(out: &mut Vec<u8>) {
    if out.len() > 1 {
        out.push(b',');
    }
    T::SET.put(out);
    out.extend_from_slice(b":[");
    for (k, value) in T::ALL.iter().enumerate() {
        if k > 0 {
            out.push(b',');
        }
        out.push(b'{');
        members!(out, "", "name": value.name(), "in_words": value.in_words());
        for (property, text) in value.properties() {
            out.push(b',');
            property.put(out);
            out.push(b':');
            text.put(out);
        }
        out.push(b'}');
    }
    out.push(b']');
}

/// The name of a value as a part of the name of a column: `loss_state`.
pub fn in_column(value: impl ClosedSet) -> String {
    value.name().replace('-', "_")
}

/// Needless: yes, no, or null for unknown.
pub fn needless(n: Needless) -> Option<bool> {
    match n {
        Needless::Yes(_) => Some(true),
        Needless::No => Some(false),
        Needless::Unknown => None,
    }
}
/// What proves that it was.
pub fn proof(n: Needless) -> Option<Proof> {
    match n {
        Needless::Yes(proof) => Some(proof),
        Needless::No | Needless::Unknown => None,
    }
}

#[cfg(test)]
trait Check {
    fn set<T: ClosedSet + Put + serde::Serialize>(&mut self);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Names;
    impl Check for Names {
        fn set<T: ClosedSet + Put + serde::Serialize>(&mut self) {
            for value in T::ALL {
                let mut written = Vec::new();
                value.put(&mut written);
                assert_eq!(serde_json::from_slice::<String>(&written).unwrap(), value.name());
                assert_eq!(serde_json::to_value(value).unwrap(), value.name());
            }
            let mut names: Vec<_> = T::ALL.iter().map(|v| v.name()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), T::ALL.len(), "{}", T::SET);
        }
    }

    #[test]
    fn names_are_those_that_rows_serialise_to() {
        for_each_set(&mut Names);
        let told: serde_json::Value = serde_json::from_slice(&closed_sets()).unwrap();
        assert_eq!(told["cause"][2]["name"], "loss-state");
        assert_eq!(told["idle_cause"][2]["in_words"], "waiting for a timer");
    }
}
