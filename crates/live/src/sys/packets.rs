//! Packets as the kernel copies them into memory that we share with it (Documentation/networking/packet_mmap.rst,
//! TPACKET_V3): block after block, each with as many packets as fit. Nobody is woken for a single packet, and the kernel
//! copies no more of it than the filter says.

use super::set_option;
use super::sockets::{bind_packets, unbound_packet_socket};
use nix::sys::socket::SockType;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

const BLOCK_BYTES: usize = 1 << 18;
/// A block that is not full is handed over after so long.
const HAND_OVER_MS: u32 = 40;
/// Smallest place of a packet, which the kernel asks for; packets take what they need.
const FRAME_BYTES: usize = 1 << 11;
const TPACKET_V3: i32 = 2;
const OURS: u32 = 1;
/// `struct tpacket3_hdr`, and behind it `struct sockaddr_ll`.
const HEADER: usize = 48;
const HAS_VLAN_TAG: u32 = 1 << 4;

/// What chooses packets.
pub enum Filter<'a> {
    /// Classic BPF: code, jump if true, jump if false, value.
    Classic(&'a [(u16, u8, u8, u32)]),
    Program(BorrowedFd<'a>),
}

/// A packet from its IP header on.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// CLOCK_REALTIME, nanoseconds.
    pub time: i64,
    pub data: &'a [u8],
    /// On the wire, without what is below IP.
    pub len: u32,
    pub interface: u32,
    /// PACKET_…
    pub kind: u8,
    /// It belongs to a VLAN, whose own interface sees it too.
    pub is_tagged: bool,
}

/// A packet socket and its ring.
pub struct PacketRing {
    fd: OwnedFd,
    memory: *mut libc::c_void,
    blocks: usize,
    next: usize,
}

// SAFETY: the mapping belongs to the ring alone, and is read through `&mut`.
unsafe impl Send for PacketRing {}

impl PacketRing {
    /// All interfaces of this thread's namespace, or one. Nothing that the filter does not choose ever comes.
    pub fn open(bytes: usize, filter: &Filter<'_>, interface: Option<u32>) -> io::Result<PacketRing> {
        let fd = unbound_packet_socket(SockType::Datagram)?;
        attach(fd.as_fd(), filter)?;
        set_option(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_VERSION, &TPACKET_V3)?;
        let blocks = bytes.div_ceil(BLOCK_BYTES);
        // struct tpacket_req3: block size and number, frame size and number, hand over, private bytes, features.
        let frames = blocks * (BLOCK_BYTES / FRAME_BYTES);
        let request: [u32; 7] =
            [BLOCK_BYTES as u32, blocks as u32, FRAME_BYTES as u32, frames as u32, HAND_OVER_MS, 0, 0];
        set_option(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let len = blocks * BLOCK_BYTES;
        // SAFETY: a new mapping, placed by the kernel.
        let memory =
            unsafe { libc::mmap(std::ptr::null_mut(), len, access, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = PacketRing { fd, memory, blocks, next: 0 };
        // From now on packets come.
        bind_packets(ring.fd(), super::ETH_P_ALL, interface.unwrap_or(0))?;
        Ok(ring)
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Hands out all packets of the blocks that are ready; how many.
    pub fn read(&mut self, mut each: impl FnMut(Seen<'_>)) -> usize {
        let mut packets = 0;
        for _ in 0..self.blocks {
            let block = self.memory.wrapping_byte_add(self.next * BLOCK_BYTES).cast::<u8>();
            // SAFETY: each block begins with its header, aligned; the status is shared with the kernel.
            let status = unsafe { &*block.wrapping_add(8).cast::<AtomicU32>() };
            if status.load(Ordering::Acquire) & OURS == 0 {
                break;
            }
            // SAFETY: a block that is ours is written by nobody else until its status is given back.
            let bytes = unsafe { std::slice::from_raw_parts(block, BLOCK_BYTES) };
            packets += in_block(bytes, &mut each);
            status.store(0, Ordering::Release);
            self.next = (self.next + 1) % self.blocks;
        }
        packets
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and nothing borrows from it.
        unsafe { libc::munmap(self.memory, self.blocks * BLOCK_BYTES) };
    }
}

/// `struct tpacket_block_desc`, and the packets in it.
fn in_block(block: &[u8], each: &mut impl FnMut(Seen<'_>)) -> usize {
    let word =
        |at: usize| block.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes);
    let half = |at: usize| word(at & !3).to_ne_bytes();
    let count = word(12) as usize;
    let mut at = word(16) as usize;
    for k in 0..count {
        let (seconds, nanos) = (word(at + 4), word(at + 8));
        let (kept, len, status) = (word(at + 12) as usize, word(at + 16), word(at + 20));
        let mac = half(at + 24);
        let data = at + usize::from(u16::from_ne_bytes([mac[0], mac[1]]));
        let Some(data) = block.get(data..data + kept) else { return k };
        each(Seen {
            time: i64::from(seconds) * 1_000_000_000 + i64::from(nanos),
            data,
            len,
            interface: word(at + HEADER + 4),
            kind: block.get(at + HEADER + 10).copied().unwrap_or_default(),
            is_tagged: status & HAS_VLAN_TAG != 0,
        });
        at += word(at) as usize;
    }
    count
}

fn attach(fd: BorrowedFd<'_>, filter: &Filter<'_>) -> io::Result<()> {
    match filter {
        Filter::Program(program) => {
            set_option(fd, libc::SOL_SOCKET, libc::SO_ATTACH_BPF, &program.as_raw_fd())
        }
        Filter::Classic(code) => {
            let line = |&(code, jt, jf, k): &(u16, u8, u8, u32)| libc::sock_filter { code, jt, jf, k };
            let mut code: Vec<libc::sock_filter> = code.iter().map(line).collect();
            let program = libc::sock_fprog { len: code.len() as u16, filter: code.as_mut_ptr() };
            set_option(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
        }
    }
}
