//! Closed sets of what a capture can hold: each value once, with its name.

/// Declares a set: counts by its values are arrays of `ALL.len()`, so a value that is added has its place in each.
macro_rules! set {
    ($(#[$meta:meta])* $set:ident { $( $(#[$about:meta])* $value:ident = $name:literal, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $set { $( $(#[$about])* $value ),* }

        impl $set {
            pub const ALL: [$set; [$($name),*].len()] = [$($set::$value),*];
            pub fn name(self) -> &'static str {
                match self { $($set::$value => $name),* }
            }
        }
    };
}
pub(crate) use set;
