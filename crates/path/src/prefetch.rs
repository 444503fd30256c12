//! Asks the processor for memory before it is needed.

/// Hints that all of a value will be read soon. Does nothing where there is no such hint.
#[inline(always)]
pub(crate) fn lines<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let base = std::ptr::from_ref(value).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(64) {
            // SAFETY: a prefetch reads nothing that the program could see, and faults at no address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(base.wrapping_add(line * 64)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
