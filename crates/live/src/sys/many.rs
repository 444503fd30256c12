//! Many packets with one system call, and the kernel's time of each: `nix`'s own wrapper of `recvmmsg` does not say how
//! long a packet was that did not fit.

use super::{checked, nanos_of};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// What came with one received packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// CLOCK_REALTIME, nanoseconds; 0 if the kernel gave none.
    pub time: i64,
    /// On the wire, even if less was kept.
    pub len: usize,
    pub kind: u8,
}

/// Room for the control messages of one packet: a timestamp.
const CONTROL: usize = 64;

/// What `recvmmsg` fills, kept from call to call.
pub struct Receiving {
    headers: Vec<libc::mmsghdr>,
    pieces: Vec<libc::iovec>,
    addresses: Vec<libc::sockaddr_ll>,
    control: Vec<[u64; CONTROL / 8]>,
}

// SAFETY: the pointers inside are set anew in every call, to what that call borrows.
unsafe impl Send for Receiving {}

impl Receiving {
    pub fn new(most: usize) -> Receiving {
        // SAFETY: all three are plain C data for which zero is valid.
        unsafe {
            Receiving {
                headers: vec![zeroed(); most],
                pieces: vec![zeroed(); most],
                addresses: vec![zeroed(); most],
                control: vec![[0; CONTROL / 8]; most],
            }
        }
    }

    /// Receives without waiting, a packet into each of `buffers`; `out` gets what came. Zero: nothing is there.
    pub fn receive(
        &mut self,
        fd: BorrowedFd<'_>,
        buffers: &mut [&mut [u8]],
        out: &mut Vec<Received>,
    ) -> io::Result<usize> {
        out.clear();
        let n = buffers.len().min(self.headers.len());
        for (k, buffer) in buffers.iter_mut().take(n).enumerate() {
            self.pieces[k] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut self.headers[k].msg_hdr;
            header.msg_name = std::ptr::from_mut(&mut self.addresses[k]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            header.msg_iov = &mut self.pieces[k];
            header.msg_iovlen = 1;
            header.msg_control = self.control[k].as_mut_ptr().cast();
            header.msg_controllen = CONTROL as _;
            header.msg_flags = 0;
        }
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: the first `n` headers point to live buffers of the lengths that they say.
        let got = checked(unsafe {
            libc::recvmmsg(fd.as_raw_fd(), self.headers.as_mut_ptr(), n as u32, flags, std::ptr::null_mut())
        });
        let got = match got {
            Ok(got) => got as usize,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => 0,
            Err(e) => return Err(e),
        };
        for k in 0..got {
            let header = &self.headers[k];
            out.push(Received {
                time: timestamp(&header.msg_hdr),
                len: header.msg_len as usize,
                kind: self.addresses[k].sll_pkttype,
            });
        }
        Ok(got)
    }
}

fn timestamp(header: &libc::msghdr) -> i64 {
    // SAFETY: the kernel filled the header's control buffer, which is alive; CMSG_* stay inside its length, and the
    // timestamp is read unaligned.
    unsafe {
        let mut part = libc::CMSG_FIRSTHDR(header);
        while let Some(c) = part.as_ref() {
            if c.cmsg_level == libc::SOL_SOCKET && c.cmsg_type == libc::SCM_TIMESTAMPNS {
                let t: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(c).cast());
                return nanos_of(&t);
            }
            part = libc::CMSG_NXTHDR(header, part);
        }
    }
    0
}

/// What `sendmmsg` reads, kept from call to call.
pub struct Sending {
    headers: Vec<libc::mmsghdr>,
    pieces: Vec<libc::iovec>,
}

// SAFETY: as in `Receiving`.
unsafe impl Send for Sending {}

impl Sending {
    pub fn new(most: usize) -> Sending {
        // SAFETY: both are plain C data for which zero is valid.
        unsafe { Sending { headers: vec![zeroed(); most], pieces: vec![zeroed(); most] } }
    }

    /// Sends as many of `packets` as the socket takes at once; how many.
    pub fn send(&mut self, fd: BorrowedFd<'_>, packets: &[&[u8]]) -> io::Result<usize> {
        let n = packets.len().min(self.headers.len());
        for (k, packet) in packets.iter().take(n).enumerate() {
            self.pieces[k] =
                libc::iovec { iov_base: packet.as_ptr().cast_mut().cast(), iov_len: packet.len() };
            let header = &mut self.headers[k].msg_hdr;
            header.msg_iov = &mut self.pieces[k];
            header.msg_iovlen = 1;
        }
        // SAFETY: the first `n` headers point to live packets of the lengths that they say; sendmmsg only reads them.
        let sent = unsafe {
            libc::sendmmsg(fd.as_raw_fd(), self.headers.as_mut_ptr(), n as u32, libc::MSG_DONTWAIT)
        };
        checked(sent).map(|n| n as usize)
    }
}
