//! An allocator that counts the bytes that are allocated now, the most that ever were, and the requests of each thread together. A test that reads it includes
//! this file, and runs what it measures alone.
#![allow(dead_code)] // each test uses its part

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// All requests of this thread: the thread that runs the tests allocates beside the test that it started, and that is no cost of what is measured.
    static ALL: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        ALL.set(ALL.get() + layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` gives, and the most bytes that were allocated at once meanwhile, beyond those before it.
pub fn most_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let start = NOW.load(Relaxed);
    MOST.store(start, Relaxed);
    let done = work();
    (MOST.load(Relaxed) - start, done)
}

/// What is allocated now, bytes.
pub fn now() -> usize {
    NOW.load(Relaxed)
}

/// What `work` gives, and the bytes of all allocations that it made on this thread, also of those that it freed: how much was copied.
pub fn all_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let start = ALL.get();
    let done = work();
    (ALL.get() - start, done)
}
