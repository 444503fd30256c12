//! How much a page holds. Tests ask for less.

macro_rules! limits {
    ($($(#[doc = $about:literal])* $name:ident = $value:literal),* $(,)?) => {
        #[derive(Clone, Copy, Debug)]
        pub struct Limits { $($(#[doc = $about])* pub $name: usize),* }
        impl Default for Limits {
            fn default() -> Limits {
                Limits { $($name: $value),* }
            }
        }
        impl Limits {
            /// By name.
            pub fn all(&self) -> Vec<(&'static str, usize)> {
                vec![$((stringify!($name), self.$name)),*]
            }
            /// Whether there is one of this name.
            pub fn set(&mut self, name: &str, value: usize) -> bool {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

limits! {
    /// Packets that stand in a file.
    raw = 200_000,
    /// Flows that a page tells everything of at once.
    at_once = 16,
    /// Of further flows the round trips are left out: there are very many of them, and none is large.
    full = 400,
    /// Packets of an episode that does not fit: its beginning is there, which says how it came about, if it is so many.
    beginning = 2_000,
    /// Rows of a table of one flow that a page reads at once.
    rows = 200_000,
    /// A window of more packets comes as bins, one of more samples not at all.
    window = 30_000,
    samples = 200_000,
    /// Tables of more rows than this are kept in files.
    in_memory = 1_000_000,
}
