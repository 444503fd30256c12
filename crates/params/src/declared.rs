//! From checked values to plain data and back, declared once for both ways.

use crate::keys::{Key, Kind, Variant};
use crate::problem::Problems;
use crate::units::show_rate;
use crate::{Lines, Values};
use instant::Span;

/// What a file says of one strategy, as plain data.
pub trait Params: Sized {
    /// The name that picks the strategy, its documentation, and the keys that it has.
    const VARIANT: Variant;
    /// From values that the keys' kinds and ranges allow; says what else is wrong with them.
    fn read(v: &Values, p: &mut Problems) -> Option<Self>;
    /// All keys, as they would be read again.
    fn write(&self, out: &mut Lines);
}

/// A value that is one key, whatever the key's kind says besides.
pub trait Param: Sized {
    fn read(v: &Values, key: &str) -> Option<Self>;
    fn write(&self, key: &str, out: &mut Lines);
}

/// A field of a strategy's parameters; `key` is as it was declared, the first where one field has several.
pub trait Field: Sized {
    fn read(v: &Values, key: &Key, p: &mut Problems) -> Option<Self>;
    fn write(&self, key: &Key, out: &mut Lines);
}

impl<T: Param> Field for T {
    fn read(v: &Values, key: &Key, _: &mut Problems) -> Option<T> {
        Param::read(v, key.name)
    }
    fn write(&self, key: &Key, out: &mut Lines) {
        Param::write(self, key.name, out);
    }
}

/// A whole number, or bytes where the key is of an amount. More than it holds is as much as it holds.
impl Field for u32 {
    fn read(v: &Values, key: &Key, _: &mut Problems) -> Option<u32> {
        let whole = match key.kind {
            Kind::Amount(_) => v.bytes(key.name)?,
            _ => v.whole(key.name)?,
        };
        Some(u32::try_from(whole).unwrap_or(u32::MAX))
    }
    fn write(&self, key: &Key, out: &mut Lines) {
        match key.kind {
            Kind::Amount(_) => out.bytes(key.name, (*self).into()),
            _ => out.whole(key.name, (*self).into()),
        }
    }
}

/// A time that a file may leave out.
impl Field for Option<Span> {
    fn read(v: &Values, key: &Key, _: &mut Problems) -> Option<Option<Span>> {
        match v.item(key.name) {
            None => Some(None),
            Some(item) => item.span().map(Some),
        }
    }
    fn write(&self, key: &Key, out: &mut Lines) {
        if let Some(span) = self {
            out.span(key.name, *span);
        }
    }
}

/// A whole number, bytes or bits per second, as the key's kind says.
impl Field for u64 {
    fn read(v: &Values, key: &Key, _: &mut Problems) -> Option<u64> {
        match key.kind {
            Kind::Amount(_) => v.bytes(key.name),
            Kind::Rate => v.rate(key.name),
            _ => v.whole(key.name),
        }
    }
    fn write(&self, key: &Key, out: &mut Lines) {
        match key.kind {
            Kind::Amount(_) => out.bytes(key.name, *self),
            Kind::Rate => out.text(key.name, show_rate(*self)),
            _ => out.whole(key.name, *self),
        }
    }
}

impl Param for bool {
    fn read(v: &Values, key: &str) -> Option<bool> {
        Some(v.flag(key))
    }
    fn write(&self, key: &str, out: &mut Lines) {
        out.flag(key, *self);
    }
}

impl Param for f64 {
    fn read(v: &Values, key: &str) -> Option<f64> {
        v.number(key)
    }
    fn write(&self, key: &str, out: &mut Lines) {
        out.number(key, *self);
    }
}

impl Param for Span {
    fn read(v: &Values, key: &str) -> Option<Span> {
        v.span(key)
    }
    fn write(&self, key: &str, out: &mut Lines) {
        out.span(key, *self);
    }
}

/// A closed set of words that a file may say, each with what it means: the enum, and the way from and to its words.
///
/// ```
/// params::words! {
///     /// Where the drill goes in.
///     pub enum Side {
///         /// As the drawing has it.
///         Left = "left", "seen from the front";
///         Right = "right", "opposite it";
///     }
/// }
/// assert_eq!(Side::named("left"), Some(Side::Left));
/// assert_eq!(Side::Right.name(), "right");
/// assert_eq!(Side::WORDS[0].doc, "seen from the front");
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $pub:vis enum $words:ident {
        $($(#[$of_one:meta])* $one:ident = $name:literal, $doc:expr;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $pub enum $words { $($(#[$of_one])* $one,)+ }

        impl $words {
            /// In a file, and what each means.
            pub const WORDS: &'static [$crate::Word] = &[$($crate::Word { name: $name, doc: $doc },)+];

            pub fn named(name: &str) -> Option<$words> {
                match name {
                    $($name => Some($words::$one),)+
                    _ => None,
                }
            }

            pub const fn name(self) -> &'static str {
                match self {
                    $($words::$one => $name,)+
                }
            }
        }

        impl $crate::Param for $words {
            fn read(v: &$crate::Values, key: &str) -> Option<$words> {
                $words::named(v.word(key)?)
            }
            fn write(&self, key: &str, out: &mut $crate::Lines) {
                out.text(key, self.name());
            }
        }
    };
}

/// A strategy's parameters: the struct, its [`Variant`] and both ways. A field of several keys lists them all; `forms`
/// says which keys exclude each other, and `check` what no single value shows.
///
/// ```
/// use params::keys::{flag, key, number_above};
///
/// params::params! {
///     /// What a stack says of it.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub struct Params: "cubic", "CUBIC (RFC 9438)." {
///         c: f64 = key("c", number_above(0.0, 1e9), "How fast the window grows.").default("0.4");
///         fast_convergence: bool = flag("fast_convergence", "RFC 9438, section 4.7.").default("true");
///     }
/// }
/// let variant = <Params as params::Params>::VARIANT;
/// assert_eq!((variant.name, variant.keys[1].name), ("cubic", "fast_convergence"));
/// ```
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* $pub:vis struct $params:ident: $name:literal, $doc:literal
        $(, forms $forms:path)? $(, check $check:path)? {
        $($(#[$of_field:meta])* $field:ident: $type:ty = $key:expr $(, $more:expr)*;)*
    }) => {
        $(#[$meta])*
        $pub struct $params { $($(#[$of_field])* pub $field: $type,)* }

        impl $crate::Params for $params {
            const VARIANT: $crate::Variant = $crate::Variant {
                $(forms: Some($forms),)?
                ..$crate::keys::variant($name, $doc, {
                    const KEYS: &[$crate::Key] = &[$($key, $($more,)*)*];
                    KEYS
                })
            };

            fn read(_v: &$crate::Values, _p: &mut $crate::Problems) -> Option<$params> {
                $($check(_v, _p);)?
                Some($params { $($field: <$type as $crate::Field>::read(_v, const { &$key }, _p)?,)* })
            }

            fn write(&self, _out: &mut $crate::Lines) {
                $($crate::Field::write(&self.$field, const { &$key }, _out);)*
            }
        }
    };
}

/// The strategies of one kind, listed once: an enum of their parameters, what a file may say of each, and both ways.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $pub:vis enum $choice:ident { $($one:ident($params:ty),)+ }) => {
        $(#[$meta])*
        $pub enum $choice { $($one($params),)+ }

        impl $choice {
            pub const VARIANTS: &'static [$crate::Variant] = &[$(<$params as $crate::Params>::VARIANT,)+];

            /// As a file picks it.
            pub fn name(&self) -> &'static str {
                match self {
                    $($choice::$one(_) => <$params as $crate::Params>::VARIANT.name,)+
                }
            }

            /// The one that the values' own variant names.
            pub fn read(v: &$crate::Values, p: &mut $crate::Problems) -> Option<$choice> {
                $(if v.variant_name() == <$params as $crate::Params>::VARIANT.name {
                    return <$params as $crate::Params>::read(v, p).map($choice::$one);
                })+
                None
            }

            /// Its keys, the one that names it first.
            pub fn write(&self, tag: &str, out: &mut $crate::Lines) {
                out.text(tag, self.name());
                match self {
                    $($choice::$one(params) => $crate::Params::write(params, out),)+
                }
            }
        }
    };
}
