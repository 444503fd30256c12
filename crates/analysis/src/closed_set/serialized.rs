//! Serde for sets that `members!` declares: the format that serde derives for a unit variant, its index and its name.

use super::ClosedSet;
use serde::de::{DeserializeSeed, EnumAccess, Error, Unexpected, VariantAccess, Visitor};
use serde::{Deserializer, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// `index`: that of `value` in [`ClosedSet::ALL`].
pub fn serialize<T: ClosedSet, S: Serializer>(value: T, index: u32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_unit_variant(T::SET, index, value.name())
}

pub fn deserialize<'de, T: ClosedSet, D: Deserializer<'de>>(
    names: &'static [&'static str],
    from: D,
) -> Result<T, D::Error> {
    from.deserialize_enum(T::SET, names, EnumVisitor(PhantomData))
}

/// Reads the enum.
struct EnumVisitor<T>(PhantomData<T>);

impl<'de, T: ClosedSet> Visitor<'de> for EnumVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of the set {}", T::SET)
    }
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<T, A::Error> {
        let (value, rest) = data.variant_seed(VariantVisitor(PhantomData))?;
        rest.unit_variant()?;
        Ok(value)
    }
}

/// Reads which variant it is, by index or by name.
struct VariantVisitor<T>(PhantomData<T>);

impl<'de, T: ClosedSet> DeserializeSeed<'de> for VariantVisitor<T> {
    type Value = T;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl<T: ClosedSet> Visitor<'_> for VariantVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of the set {}", T::SET)
    }
    fn visit_u64<E: Error>(self, index: u64) -> Result<T, E> {
        let found = usize::try_from(index).ok().and_then(|index| T::ALL.get(index));
        found.copied().ok_or_else(|| E::invalid_value(Unexpected::Unsigned(index), &self))
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        let found = T::ALL.iter().copied().find(|value| value.name() == name);
        found.ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }
}
