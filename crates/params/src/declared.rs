//! From checked values to plain data and back, declared once for both ways.

use crate::keys::Variant;
use crate::problem::Problems;
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

/// A value that is one key.
pub trait Param: Sized {
    fn read(v: &Values, key: &str) -> Option<Self>;
    fn write(&self, key: &str, out: &mut Lines);
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

/// The key's range keeps it within 32 bits.
impl Param for u32 {
    fn read(v: &Values, key: &str) -> Option<u32> {
        u32::try_from(v.whole(key)?).ok()
    }
    fn write(&self, key: &str, out: &mut Lines) {
        out.whole(key, (*self).into());
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

/// A strategy's parameters, one a key: the struct, its [`Variant`] and both ways.
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
    ($(#[$meta:meta])* $pub:vis struct $params:ident: $name:literal, $doc:literal {
        $($(#[$of_field:meta])* $field:ident: $type:ty = $key:expr;)*
    }) => {
        $(#[$meta])*
        $pub struct $params { $($(#[$of_field])* pub $field: $type,)* }

        impl $crate::Params for $params {
            const VARIANT: $crate::Variant = $crate::keys::variant($name, $doc, {
                const KEYS: &[$crate::Key] = &[$($key,)*];
                KEYS
            });

            fn read(_v: &$crate::Values, _p: &mut $crate::Problems) -> Option<$params> {
                Some($params { $($field: <$type as $crate::Param>::read(_v, const { $key.name })?,)* })
            }

            fn write(&self, _out: &mut $crate::Lines) {
                $($crate::Param::write(&self.$field, const { $key.name }, _out);)*
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
