//! Hints about memory. They change how long a run takes and nothing that it gives.

/// All of a value will be read soon: it is fetched meanwhile. Does nothing where there is no such hint.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let base = std::ptr::from_ref(value).cast::<i8>();
        for line in 0..size_of_val(value).div_ceil(LINE) {
            // SAFETY: a prefetch reads nothing that the program could see, and faults at no address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(base.wrapping_add(line * LINE)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// What a large vector has room for is best kept in large pages: with many megabytes that are read in no order, finding
/// where a page is takes as long as reading from it. Does nothing for a small one, or where there is no such hint.
#[allow(clippy::ptr_arg)] // its capacity counts
pub fn prefer_large_pages<T>(vec: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        let bytes = vec.capacity() * size_of::<T>();
        if bytes < LEAST_BYTES {
            return;
        }
        let start = vec.as_mut_ptr().cast::<u8>();
        let skipped = start.align_offset(PAGE);
        let (start, bytes) = (start.wrapping_add(skipped), (bytes - skipped) & !(PAGE - 1));
        // SAFETY: the range lies within the vector's own memory, and the advice does not change what is in it.
        unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = vec;
}

/// Two of x86's large pages: anything smaller may not hold a whole one.
#[cfg(target_os = "linux")]
const LEAST_BYTES: usize = 4 << 20;
/// The advice is about whole pages; this is a multiple of their size wherever they are up to 64 KiB.
#[cfg(target_os = "linux")]
const PAGE: usize = 64 << 10;
