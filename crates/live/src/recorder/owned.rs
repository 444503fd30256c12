//! What a command and its children send and receive: they run in a cgroup of their own, and small programs (BPF) there
//! tell a packet socket which packets are theirs.
//!
//! A packet that the cgroup sends leaves its addresses and ports in a table before the packet socket sees it; a socket
//! that binds a port leaves that. A packet that comes is theirs if the table has them the other way round. All of it is
//! gone once its descriptors are closed, however this process ends; the cgroup itself is removed at the end, or, if this
//! process is killed, by what calls `clean::everything` then.

use super::filter::{TCP, UDP};
use crate::instructions::{
    Assembler, If, LOAD_BYTES, LOOKUP, Label, R0, R1, R2, R3, R4, R6, R7, R8, STACK, Size, UPDATE,
};
use crate::sys::bpf::{self, CgroupHook, Recent};
use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

const MOST: u32 = 1 << 16;
/// Own address, the other one, own port, the other one, protocol. IPv4 addresses are their first four bytes.
const KEY: usize = 40;
/// Own address, own port, protocol.
const PORT_KEY: usize = 24;

/// On the stack.
const KEY_AT: i16 = -40;
const OWN: i16 = KEY_AT;
const THEIR: i16 = KEY_AT + 16;
const OWN_PORT: i16 = KEY_AT + 32;
const THEIR_PORT: i16 = KEY_AT + 34;
const PROTOCOL: i16 = KEY_AT + 36;
const PORT_KEY_AT: i16 = -64;
const SCRATCH: i16 = -72;

/// `struct __sk_buff`.
const DIRECTION: i16 = 4;
const ETHERTYPE: i16 = 16;
const INTERFACE: i16 = 40;
/// `struct bpf_sock`.
const SOCKET_PROTOCOL: i16 = 12;
const SOCKET_IP4: i16 = 24;
const SOCKET_IP6: i16 = 28;
const SOCKET_PORT: i16 = 44;

const LOOPBACK: i32 = 1;
const OUTGOING: i32 = libc::PACKET_OUTGOING as i32;
const CONTEXT: u8 = R6;

/// The programs of a cgroup, and what they know.
pub struct Owned {
    keys: Recent,
    ports: Recent,
    filter: OwnedFd,
    _attached: Vec<OwnedFd>,
}

impl Owned {
    /// Of each packet that is theirs the packet socket gets `snap` bytes.
    pub fn open(cgroup: &File, snap: u32) -> io::Result<Owned> {
        let keys = Recent::create(KEY, MOST)?;
        let ports = Recent::create(PORT_KEY, MOST)?;
        let (k, p) = (keys.fd.as_raw_fd(), ports.fd.as_raw_fd());
        let filter = bpf::socket_filter(&choosing(k, p, snap))?;
        let attached = vec![
            bpf::at_cgroup(cgroup, CgroupHook::Egress, &sending(k))?,
            bpf::at_cgroup(cgroup, CgroupHook::Bind4, &binding(p, CgroupHook::Bind4))?,
            bpf::at_cgroup(cgroup, CgroupHook::Bind6, &binding(p, CgroupHook::Bind6))?,
        ];
        Ok(Owned { keys, ports, filter, _attached: attached })
    }
    pub fn filter(&self) -> BorrowedFd<'_> {
        self.filter.as_fd()
    }
    /// Whether this connection is theirs.
    pub fn has(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        let mut key = [0; KEY];
        put(&mut key[..16], local.ip());
        put(&mut key[16..32], remote.ip());
        key[32..34].copy_from_slice(&local.port().to_be_bytes());
        key[34..36].copy_from_slice(&remote.port().to_be_bytes());
        key[36] = TCP;
        let mut port = [0; PORT_KEY];
        port[16..18].copy_from_slice(&local.port().to_be_bytes());
        port[18] = TCP;
        let anywhere = port;
        put(&mut port[..16], local.ip());
        self.keys.has(&key) || self.ports.has(&port) || self.ports.has(&anywhere)
    }
}

fn put(to: &mut [u8], address: IpAddr) {
    match address {
        IpAddr::V4(a) => to[..4].copy_from_slice(&a.octets()),
        IpAddr::V6(a) => to.copy_from_slice(&a.octets()),
    }
}

/// Bytes of the packet, from its IP header on, onto the stack.
fn load(a: &mut Assembler, at: i32, to: i16, bytes: i32, otherwise: Label) {
    a.set(R2, at);
    load_from(a, to, bytes, otherwise);
}

/// The same where R2 says from where.
fn load_from(a: &mut Assembler, to: i16, bytes: i32, otherwise: Label) {
    a.copy(R1, CONTEXT);
    a.stack(R3, to);
    a.set(R4, bytes);
    a.call(LOAD_BYTES);
    a.go_if(R0, If::Not, 0, otherwise);
}

/// Puts the packet's key on the stack; `ours`: the packet's source is our own end.
fn key(a: &mut Assembler, ours: bool, otherwise: Label) {
    let (src, dst) = if ours { (OWN, THEIR) } else { (THEIR, OWN) };
    let (src_port, dst_port) = if ours { (OWN_PORT, THEIR_PORT) } else { (THEIR_PORT, OWN_PORT) };
    let (v6, ports, has_ports, done) = (a.label(), a.label(), a.label(), a.label());
    a.clear(KEY_AT, KEY as i16);
    load(a, 0, SCRATCH, 1, otherwise);
    a.load(Size::Byte, R8, STACK, SCRATCH);
    a.copy(R1, R8);
    a.shift_right(R1, 4);
    a.go_if(R1, If::Is, 6, v6);
    a.go_if(R1, If::Not, 4, otherwise);
    load(a, 9, PROTOCOL, 1, otherwise);
    load(a, 12, src, 4, otherwise);
    load(a, 16, dst, 4, otherwise);
    // Behind the first fragment there are no ports.
    load(a, 6, SCRATCH, 2, otherwise);
    a.load(Size::Half, R1, STACK, SCRATCH);
    a.network_order(R1);
    a.and(R1, 0x1fff);
    a.go_if(R1, If::Not, 0, done);
    a.and(R8, 15);
    a.shift_left(R8, 2);
    a.go(ports);
    a.place(v6);
    load(a, 6, PROTOCOL, 1, otherwise);
    load(a, 8, src, 16, otherwise);
    load(a, 24, dst, 16, otherwise);
    a.set(R8, 40);
    a.place(ports);
    a.load(Size::Byte, R1, STACK, PROTOCOL);
    a.go_if(R1, If::Is, TCP.into(), has_ports);
    a.go_if(R1, If::Not, UDP.into(), done);
    a.place(has_ports);
    a.copy(R2, R8);
    load_from(a, src_port, 2, otherwise);
    a.copy(R2, R8);
    a.add(R2, 2);
    load_from(a, dst_port, 2, otherwise);
    a.place(done);
}

/// At what the cgroup sends: remembers between whom it was, and lets it pass.
fn sending(keys: i32) -> Vec<u64> {
    let mut a = Assembler::default();
    let end = a.label();
    a.copy(CONTEXT, R1);
    key(&mut a, true, end);
    known(&mut a, keys, KEY_AT);
    a.go_if(R0, If::Not, 0, end);
    remember(&mut a, keys, KEY_AT);
    a.place(end);
    a.exit(1);
    a.finish()
}

/// As a socket of the cgroup gets a port of its own: remembers it, and lets it have it.
fn binding(ports: i32, hook: CgroupHook) -> Vec<u64> {
    let mut a = Assembler::default();
    a.copy(CONTEXT, R1);
    a.clear(PORT_KEY_AT, PORT_KEY as i16);
    let (from, words) = if hook == CgroupHook::Bind4 { (SOCKET_IP4, 1) } else { (SOCKET_IP6, 4) };
    for k in 0..words {
        a.load(Size::Word, R1, CONTEXT, from + 4 * k);
        a.store(Size::Word, STACK, PORT_KEY_AT + 4 * k, R1);
    }
    a.load(Size::Word, R1, CONTEXT, SOCKET_PORT);
    a.network_order(R1);
    a.store(Size::Half, STACK, PORT_KEY_AT + 16, R1);
    a.load(Size::Word, R1, CONTEXT, SOCKET_PROTOCOL);
    a.store(Size::Byte, STACK, PORT_KEY_AT + 18, R1);
    remember(&mut a, ports, PORT_KEY_AT);
    a.exit(1);
    a.finish()
}

/// At the packet socket: how much of a packet it gets.
fn choosing(keys: i32, ports: i32, snap: u32) -> Vec<u64> {
    let mut a = Assembler::default();
    let (ip, incoming, elsewhere, keep, reject) = (a.label(), a.label(), a.label(), a.label(), a.label());
    a.copy(CONTEXT, R1);
    a.load(Size::Word, R1, CONTEXT, ETHERTYPE);
    a.go_if(R1, If::Is, i32::from(0x0800u16.to_be()), ip);
    a.go_if(R1, If::Not, i32::from(0x86ddu16.to_be()), reject);
    a.place(ip);
    a.load(Size::Word, R7, CONTEXT, DIRECTION);
    a.load(Size::Word, R1, CONTEXT, INTERFACE);
    a.go_if(R1, If::Not, LOOPBACK, elsewhere);
    // There each packet is seen as it leaves and as it comes, and both ends are here: the latter is kept, whosever it is.
    a.go_if(R7, If::Is, OUTGOING, reject);
    chosen(&mut a, true, keys, ports, keep, reject);
    a.go(incoming);
    a.place(elsewhere);
    a.go_if(R7, If::Not, OUTGOING, incoming);
    chosen(&mut a, true, keys, ports, keep, reject);
    a.go(reject);
    a.place(incoming);
    chosen(&mut a, false, keys, ports, keep, reject);
    a.place(reject);
    a.exit(0);
    a.place(keep);
    a.exit(snap as i32);
    a.finish()
}

/// Goes to `keep` if the packet is theirs, and on if not.
fn chosen(a: &mut Assembler, ours: bool, keys: i32, ports: i32, keep: Label, otherwise: Label) {
    key(a, ours, otherwise);
    known(a, keys, KEY_AT);
    a.go_if(R0, If::Not, 0, keep);
    a.clear(PORT_KEY_AT, PORT_KEY as i16);
    a.load(Size::Half, R1, STACK, OWN_PORT);
    a.store(Size::Half, STACK, PORT_KEY_AT + 16, R1);
    a.load(Size::Byte, R1, STACK, PROTOCOL);
    a.store(Size::Byte, STACK, PORT_KEY_AT + 18, R1);
    known(a, ports, PORT_KEY_AT);
    a.go_if(R0, If::Not, 0, keep);
    for k in [0, 8] {
        a.load(Size::Long, R1, STACK, OWN + k);
        a.store(Size::Long, STACK, PORT_KEY_AT + k, R1);
    }
    known(a, ports, PORT_KEY_AT);
    a.go_if(R0, If::Not, 0, keep);
}

fn known(a: &mut Assembler, map: i32, key: i16) {
    a.map(R1, map);
    a.stack(R2, key);
    a.call(LOOKUP);
}

fn remember(a: &mut Assembler, map: i32, key: i16) {
    a.store_value(Size::Word, STACK, SCRATCH, 0);
    a.map(R1, map);
    a.stack(R2, key);
    a.stack(R3, SCRATCH);
    a.set(R4, 0);
    a.call(UPDATE);
}
