//! Asks the processor for memory before it is needed.
//!
//! With hundreds of connections interleaved, what a packet needs has left the nearest cache since the last packet
//! of its connection; fetched while the packets before it are worked on, it costs nothing.

/// Hints that `lines` cache lines from `at` on will be read soon. Does nothing where there is no such hint.
#[inline(always)]
pub fn lines<T>(at: &T, first: usize, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let base = std::ptr::from_ref(at).cast::<i8>();
        for line in first..first + lines {
            // SAFETY: a prefetch reads nothing that the program could see, and faults at no address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(base.wrapping_add(line * 64)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (at, first, lines);
}
