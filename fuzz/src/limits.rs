//! Limits of one input: processor time and memory. An input that exceeds one ends the process, since neither a thread nor
//! an allocation can be undone; it is kept in a file first, with a backtrace if it was memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, Once};
use std::time::Duration;

/// What one input may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processor time of all threads together.
    pub cpu: Duration,
    /// Bytes at one time, beyond what the process held before.
    pub bytes: usize,
}

/// Counts what is allocated. A request beyond the limit ends the process before the system is asked for it.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST_HELD: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The processor time of the process, in nanoseconds, at which the current input has used up its time; 0 between inputs.
static DEADLINE: AtomicU64 = AtomicU64::new(0);
/// The current input, and the file that it is kept in if it exceeds a limit.
static CURRENT: Mutex<Option<(PathBuf, Vec<u8>)>> = Mutex::new(None);

fn take(bytes: usize) {
    if HELD.fetch_add(bytes, Relaxed).saturating_add(bytes) > MOST_HELD.load(Relaxed) {
        MOST_HELD.store(usize::MAX, Relaxed);
        // A backtrace takes processor time, too.
        DEADLINE.store(0, Relaxed);
        eprintln!("{}", Backtrace::force_capture());
        give_up(&format!("the input exceeds its limit of memory: it asked for {bytes} more bytes"));
    }
}

// SAFETY: every call is passed on to the system's allocator; only atomics are changed besides.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(at, layout, size) }
    }
}

fn give_up(why: &str) -> ! {
    eprintln!("{why}");
    if let Ok(Some((path, bytes))) = CURRENT.try_lock().as_deref() {
        match std::fs::write(path, bytes) {
            Ok(()) => eprintln!("kept: {}", path.display()),
            Err(e) => eprintln!("{}: {e}", path.display()),
        }
    }
    std::process::abort();
}

/// Names the current input, which is kept in the file of that name if it exceeds a limit.
pub(crate) fn begin(path: PathBuf, bytes: &[u8]) {
    if let Ok(mut current) = CURRENT.lock() {
        *current = Some((path, bytes.to_vec()));
    }
}

/// Processor time of the process so far, nanoseconds.
fn cpu_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value of that type.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Starts a thread that looks at the deadline, as an input that never ends would not.
fn watch() {
    static WATCHES: Once = Once::new();
    WATCHES.call_once(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(50));
                let deadline = DEADLINE.load(Relaxed);
                if deadline != 0 && cpu_ns() > deadline {
                    give_up("the input exceeds its limit of processor time");
                }
            }
        });
    });
}

/// Runs `work` within `limits`.
pub fn within(limits: Limits, work: impl FnOnce()) {
    watch();
    DEADLINE.store(cpu_ns() + limits.cpu.as_nanos() as u64, Relaxed);
    MOST_HELD.store(HELD.load(Relaxed).saturating_add(limits.bytes), Relaxed);
    work();
    MOST_HELD.store(usize::MAX, Relaxed);
    DEADLINE.store(0, Relaxed);
}
