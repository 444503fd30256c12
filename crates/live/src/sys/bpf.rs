//! The bpf system call: programs that the kernel runs where it is told to, and the ring of records that they fill.
//! All of it is gone once its descriptors are closed, however this process ends.

use super::checked;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const PROGRAM_LOAD: libc::c_int = 5;
const ATTACH: libc::c_int = 17;
const LINK_CREATE: libc::c_int = 28;
/// Kinds of maps.
const ARRAY: u32 = 2;
const RECENT: u32 = 9;
const RING: u32 = 27;
/// Kinds of programs: at a socket, at a cgroup's packets, at its sockets, at a trace point.
const SOCKET_FILTER: u32 = 1;
const CGROUP_PACKETS: u32 = 8;
const CGROUP_SOCKETS: u32 = 9;
const RAW_TRACE_POINT: u32 = 17;
/// Some helpers of the kernel ask for it.
const LICENCE: &[u8] = b"Dual MIT/GPL\0";

/// `union bpf_attr` (include/uapi/linux/bpf.h), as words of four bytes.
#[derive(Default)]
struct Attributes([u32; 32]);

impl Attributes {
    fn word(mut self, at: usize, value: u32) -> Attributes {
        self.0[at / 4] = value;
        self
    }
    fn long(mut self, at: usize, value: u64) -> Attributes {
        let [low, high] = [0, 4].map(|k| {
            let bytes = value.to_ne_bytes();
            u32::from_ne_bytes([bytes[k], bytes[k + 1], bytes[k + 2], bytes[k + 3]])
        });
        self.0[at / 4] = low;
        self.0[at / 4 + 1] = high;
        self
    }
    /// SAFETY: what the attributes point to is valid for what the command does with it.
    unsafe fn call(&self, command: libc::c_int) -> io::Result<libc::c_int> {
        // SAFETY: the attributes are valid for reads of their size; the rest is the caller's.
        let done = unsafe {
            libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(&self.0), size_of_val(&self.0))
        };
        checked(done as libc::c_int)
    }
    /// SAFETY: as for [`Attributes::call`], and the command gives a descriptor.
    unsafe fn open(&self, command: libc::c_int) -> io::Result<OwnedFd> {
        // SAFETY: a descriptor that is given is new and nobody else's; the rest is the caller's.
        unsafe { self.call(command).map(|fd| OwnedFd::from_raw_fd(fd)) }
    }
}

/// A number that programs count up.
pub struct Counter(pub OwnedFd);

impl Counter {
    pub fn create() -> io::Result<Counter> {
        let attributes = Attributes::default().word(0, ARRAY).word(4, 4).word(8, 8).word(12, 1);
        // SAFETY: the attributes have no pointers.
        unsafe { attributes.open(MAP_CREATE).map(Counter) }
    }
    pub fn value(&self) -> io::Result<u64> {
        let (key, mut value) = (0u32, 0u64);
        let attributes = Attributes::default()
            .word(0, self.0.as_raw_fd() as u32)
            .long(8, std::ptr::from_ref(&key) as u64)
            .long(16, std::ptr::from_mut(&mut value) as u64);
        // SAFETY: key and value have the sizes that the map was made with, and outlive the call.
        unsafe { attributes.call(MAP_LOOKUP)? };
        Ok(value)
    }
}

/// What programs remember by a key; where there is no more room, what was used least recently is forgotten.
pub struct Recent {
    pub fd: OwnedFd,
    key_bytes: usize,
}

impl Recent {
    /// Values are four bytes that nobody reads.
    pub fn create(key_bytes: usize, most: u32) -> io::Result<Recent> {
        let attributes =
            Attributes::default().word(0, RECENT).word(4, key_bytes as u32).word(8, 4).word(12, most);
        // SAFETY: the attributes have no pointers.
        let fd = unsafe { attributes.open(MAP_CREATE)? };
        Ok(Recent { fd, key_bytes })
    }
    pub fn has(&self, key: &[u8]) -> bool {
        let mut value = 0u32;
        if key.len() != self.key_bytes {
            return false;
        }
        let attributes = Attributes::default()
            .word(0, self.fd.as_raw_fd() as u32)
            .long(8, key.as_ptr() as u64)
            .long(16, std::ptr::from_mut(&mut value) as u64);
        // SAFETY: key and value have the sizes that the map was made with, and outlive the call.
        unsafe { attributes.call(MAP_LOOKUP).is_ok() }
    }
}

/// Where in a cgroup a program runs (`enum bpf_attach_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgroupHook {
    /// What its sockets send.
    Egress = 1,
    /// A socket of it got a port of its own.
    Bind4 = 12,
    Bind6 = 13,
}

/// A program that runs for a cgroup until what this gives is closed.
pub fn at_cgroup(cgroup: &std::fs::File, hook: CgroupHook, instructions: &[u64]) -> io::Result<OwnedFd> {
    let kind = if hook == CgroupHook::Egress { CGROUP_PACKETS } else { CGROUP_SOCKETS };
    let program = load(kind, hook as u32, instructions)?;
    let attributes = Attributes::default()
        .word(0, program.as_raw_fd() as u32)
        .word(4, cgroup.as_raw_fd() as u32)
        .word(8, hook as u32);
    // SAFETY: the attributes have no pointers.
    unsafe { attributes.open(LINK_CREATE) }
}

/// A program that tells of each packet how much of it a socket gets.
pub fn socket_filter(instructions: &[u64]) -> io::Result<OwnedFd> {
    load(SOCKET_FILTER, 0, instructions)
}

/// A program by its instructions, eight bytes each.
fn load(kind: u32, hook: u32, instructions: &[u64]) -> io::Result<OwnedFd> {
    let attributes = Attributes::default()
        .word(0, kind)
        .word(4, instructions.len() as u32)
        .long(8, instructions.as_ptr() as u64)
        .long(16, LICENCE.as_ptr() as u64)
        .word(68, hook);
    // SAFETY: as many instructions are there as it says, the licence ends in NUL, and both outlive the call. The kernel
    // checks what the program does before it lets it run.
    unsafe { attributes.open(PROGRAM_LOAD) }
}

/// A program that runs at a trace point until what this gives is closed.
pub fn at_trace_point(name: &str, instructions: &[u64]) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    let program = load(RAW_TRACE_POINT, 0, instructions)?;
    let attributes = Attributes::default().long(0, name.as_ptr() as u64).word(8, program.as_raw_fd() as u32);
    // SAFETY: the name ends in NUL and outlives the call.
    unsafe { attributes.open(ATTACH) }
}

/// A ring that programs write records into, and one reader takes them out of (Documentation/bpf/ringbuf.rst).
pub struct Ring {
    fd: OwnedFd,
    /// Of the reader, mapped for writing.
    consumer: *mut libc::c_void,
    /// Of the programs, and behind it the records, twice in a row so that none is ever in two pieces.
    producer: *mut libc::c_void,
    bytes: usize,
    page: usize,
}

// SAFETY: the mappings belong to the ring alone, and are read through `&mut`.
unsafe impl Send for Ring {}

const HEADER: usize = 8;
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;

impl Ring {
    /// `bytes`: a power of two, of pages.
    pub fn create(bytes: usize) -> io::Result<Ring> {
        // SAFETY: no pointers.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let attributes = Attributes::default().word(0, RING).word(12, bytes as u32);
        // SAFETY: the attributes have no pointers.
        let fd = unsafe { attributes.open(MAP_CREATE)? };
        let consumer = map(&fd, page, libc::PROT_READ | libc::PROT_WRITE, 0)?;
        let producer = match map(&fd, page + 2 * bytes, libc::PROT_READ, page) {
            Ok(producer) => producer,
            Err(e) => {
                // SAFETY: it was mapped above, of this size, and nobody uses it.
                unsafe { libc::munmap(consumer, page) };
                return Err(e);
            }
        };
        Ok(Ring { fd, consumer, producer, bytes, page })
    }

    pub fn number(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Takes out all records that are there.
    pub fn read(&mut self, mut each: impl FnMut(&[u8])) {
        // SAFETY: both mappings begin with the position of their side, 8 bytes, aligned; the other side writes its own.
        let (ours, theirs) =
            unsafe { (&*self.consumer.cast::<AtomicU64>(), &*self.producer.cast::<AtomicU64>()) };
        let mut at = ours.load(Ordering::Relaxed);
        while at < theirs.load(Ordering::Acquire) {
            let place = self.page + (at as usize & (self.bytes - 1));
            // SAFETY: below the producer's position there is a record's header, aligned to 8; its place plus the record
            // stays within the mapping, which has the ring twice.
            let head = unsafe { &*self.producer.add(place).cast::<AtomicU32>() }.load(Ordering::Acquire);
            if head & BUSY != 0 {
                break;
            }
            let length = (head & !DISCARDED) as usize;
            if head & DISCARDED == 0 {
                let from = self.producer.wrapping_add(place + HEADER).cast::<u8>();
                // SAFETY: a record that is not busy is written no more until the reader has passed it.
                each(unsafe { std::slice::from_raw_parts(from, length.min(self.bytes)) });
            }
            at += (length + HEADER).next_multiple_of(8) as u64;
            ours.store(at, Ordering::Release);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: both were mapped with these sizes, and nothing borrows from them.
        unsafe {
            libc::munmap(self.consumer, self.page);
            libc::munmap(self.producer, self.page + 2 * self.bytes);
        }
    }
}

fn map(fd: &OwnedFd, bytes: usize, access: libc::c_int, from: usize) -> io::Result<*mut libc::c_void> {
    let at = std::ptr::null_mut();
    // SAFETY: a new mapping, placed by the kernel.
    let mapped =
        unsafe { libc::mmap(at, bytes, access, libc::MAP_SHARED, fd.as_raw_fd(), from as libc::off_t) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(mapped) }
}

/// How long a jiffy of this kernel is: what its coarse clock counts in.
pub fn jiffy_ns() -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid for writes; the clock exists on every Linux.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut t) };
    super::nanos_of(&t)
}
