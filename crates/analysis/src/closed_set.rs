//! Closed sets of values: each value once, with the name that JSON, tables and the command line have and the words that
//! pages and figures have.
//!
//! Most sets are declared in one place with `closed_sets!`. A set whose values have further properties (a colour, a
//! meaning, a rule) gives each value a file of its own with a constant `ABOUT`, and lists the files with `members!`.

pub mod serialized;

/// One of a closed set of values.
pub trait ClosedSet: Copy + Sized + 'static {
    /// The name of the set in documents and in Python.
    const SET: &'static str;
    /// Every value, in the order in which tables and figures list them.
    const ALL: &'static [Self];
    /// As it stands in JSON and tables.
    fn name(self) -> &'static str;
    /// As it stands in a sentence or a legend.
    fn in_words(self) -> &'static str;
    /// Further properties of the value for documents, figures and the report, by name: meaning, colour, group.
    fn properties(self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

/// Implements [`ClosedSet`] for an enum that has `ALL`, `name` and `in_words` of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! implement_closed_set {
    ($set:literal $enum:ident { $($more:tt)* }) => {
        impl $crate::closed_set::ClosedSet for $enum {
            const SET: &'static str = $set;
            const ALL: &'static [$enum] = $enum::ALL;
            fn name(self) -> &'static str {
                $enum::name(self)
            }
            fn in_words(self) -> &'static str {
                $enum::in_words(self)
            }
            $($more)*
        }
    };
}

/// Declares closed sets: `Variant = "name", "in words";`.
#[macro_export]
macro_rules! closed_sets {
    ($(
        $(#[$meta:meta])*
        $set:literal $enum:ident { $( $(#[$about:meta])* $variant:ident = $name:literal, $words:literal; )* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $enum { $( $(#[$about])* #[serde(rename = $name)] $variant ),* }

        impl $enum {
            pub const ALL: &[$enum] = &[$($enum::$variant),*];
            /// As it stands in JSON and tables.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),* }
            }
            /// As it stands in a sentence or a legend.
            pub const fn in_words(self) -> &'static str {
                match self { $($enum::$variant => $words),* }
            }
        }
        $crate::implement_closed_set!($set $enum {});
    )*};
}

/// Declares a closed set whose values have a file each, `Variant(file),` in the order of tables. The file has a constant
/// `ABOUT` of the type that stands behind `of`, with at least a `name` and the words `in_words`, and a method
/// `properties`.
#[macro_export]
macro_rules! members {
    (
        $(#[$meta:meta])*
        $set:literal $enum:ident of $about:ident { $( $(#[$note:meta])* $variant:ident($file:ident), )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum { $( $(#[$note])* $variant ),+ }

        impl $enum {
            pub const ALL: &[$enum] = &[$($enum::$variant),+];
            const NAMES: &[&str] = &[$($file::ABOUT.name),+];

            /// The description of the value, from its file.
            pub const fn about(self) -> &'static $about {
                match self { $($enum::$variant => &$file::ABOUT),+ }
            }
            /// As it stands in JSON and tables.
            pub const fn name(self) -> &'static str {
                self.about().name
            }
            /// As it stands in a sentence or a legend.
            pub const fn in_words(self) -> &'static str {
                self.about().in_words
            }
        }
        $crate::implement_closed_set!($set $enum {
            fn properties(self) -> Vec<(&'static str, &'static str)> {
                self.about().properties()
            }
        });
        impl ::serde::Serialize for $enum {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::closed_set::serialized::serialize(*self, *self as u32, to)
            }
        }
        impl<'de> ::serde::Deserialize<'de> for $enum {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<$enum, D::Error> {
                $crate::closed_set::serialized::deserialize($enum::NAMES, from)
            }
        }
    };
}
closed_sets! {
    /// A colour of figures and of the report, each of which has its own shade of it.
    "colour" Hue {
        Black = "black", "black";
        Grey = "grey", "grey";
        Blue = "blue", "blue";
        Sky = "sky", "sky blue";
        Green = "green", "green";
        Orange = "orange", "orange";
        Red = "red", "red";
        Brown = "brown", "brown";
        Purple = "purple", "purple";
        Yellow = "yellow", "yellow";
    }

    /// A mark in figures and in the report.
    "marker" Marker {
        Circle = "circle", "a circle";
        Diamond = "diamond", "a diamond";
        Square = "square", "a square";
        Up = "up", "a triangle that points up";
        Down = "down", "a triangle that points down";
        Plus = "plus", "a plus";
        Hexagon = "hexagon", "a hexagon";
    }
}
