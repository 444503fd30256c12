// Appended to a crate's lib.rs by validation/ablate.py, in a copy of the workspace: one number or rule at a time is changed.

pub mod ablation {
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

    static SITE: AtomicU32 = AtomicU32::new(u32::MAX);
    static FACTOR: AtomicU64 = AtomicU64::new(0);

    /// From now on `site` is changed, a number by `factor`. `u32::MAX`: nothing is.
    pub fn change(site: u32, factor: f64) {
        SITE.store(site, Relaxed);
        FACTOR.store(factor.to_bits(), Relaxed);
    }
    /// Whether the rule `site` is switched off.
    #[inline(always)]
    pub fn off(site: u32) -> bool {
        SITE.load(Relaxed) == site
    }
    /// The factor of `site`.
    #[inline(always)]
    pub fn factor(site: u32) -> f64 {
        if SITE.load(Relaxed) == site { f64::from_bits(FACTOR.load(Relaxed)) } else { 1.0 }
    }
    /// A number with a fraction.
    #[inline(always)]
    pub fn real<T: Number>(site: u32, value: T) -> T {
        T::of(value.as_f64() * factor(site))
    }
    /// A whole number, moved by at least 1.
    #[inline(always)]
    pub fn whole<T: Number>(site: u32, value: T) -> T {
        let (factor, n) = (factor(site), value.as_f64());
        if factor > 1.0 {
            T::of(n + (n / 4.0).floor().max(1.0))
        } else if factor < 1.0 {
            T::of(n - (n / 5.0).floor().max(1.0).min(n))
        } else {
            value
        }
    }

    pub trait Number: Copy {
        fn as_f64(self) -> f64;
        fn of(value: f64) -> Self;
    }
    macro_rules! numbers {
        ($($t:ty)*) => {$(impl Number for $t {
            #[inline(always)]
            fn as_f64(self) -> f64 { self as f64 }
            #[inline(always)]
            fn of(value: f64) -> $t { value as $t }
        })*};
    }
    numbers! { f64 f32 u8 u16 u32 u64 i8 i16 i32 i64 usize isize }
}
