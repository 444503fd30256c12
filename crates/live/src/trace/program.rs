//! What the kernel runs: a program that copies a sender's state into the ring at a trace point.
//! Written as instructions (Documentation/bpf/standardization/instruction-set.rst), since where a field is only the
//! running kernel knows.

use super::fields::Field;
use std::ops::RangeInclusive;

/// The kernel's helpers.
const LOOKUP: i32 = 1;
const NOW: i32 = 5;
const READ_KERNEL: i32 = 113;
const RING_OUTPUT: i32 = 130;
/// The reader looks by itself.
const WAKE_NOBODY: i32 = 1;

/// Of the stack, as far as the record: a key, a port.
const SCRATCH: i16 = -8;

/// Registers.
const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
const R4: u8 = 4;
const SOCKET: u8 = 7;
const STACK: u8 = 10;

fn one(code: u8, to: u8, from: u8, offset: i16, value: i32) -> u64 {
    let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
    let [o0, o1] = offset.to_ne_bytes();
    let [v0, v1, v2, v3] = value.to_ne_bytes();
    u64::from_ne_bytes([code, registers, o0, o1, v0, v1, v2, v3])
}

fn set(to: u8, value: i32) -> u64 {
    one(0xb7, to, 0, 0, value)
}
fn copy(to: u8, from: u8) -> u64 {
    one(0xbf, to, from, 0, 0)
}
fn add(to: u8, value: i32) -> u64 {
    one(0x07, to, 0, 0, value)
}
fn call(helper: i32) -> u64 {
    one(0x85, 0, 0, 0, helper)
}
fn map(to: u8, fd: i32) -> [u64; 2] {
    [one(0x18, to, 1, 0, fd), 0]
}

/// Reads from the socket onto the stack.
fn read(out: &mut Vec<u64>, to: i16, bytes: usize, at: usize) {
    out.extend([copy(R1, STACK), add(R1, to.into()), set(R2, bytes as i32)]);
    out.extend([copy(R3, SOCKET), add(R3, at as i32), call(READ_KERNEL)]);
}

/// What the trace point's first argument is.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    Socket,
    /// A packet, which has its socket there, if any.
    Packet(Field),
}

/// `port`: where a socket has its own; of other ports than these nothing is told.
pub fn telling(
    subject: Subject,
    ring: i32,
    lost: i32,
    port: Field,
    ports: &[RangeInclusive<u16>],
    fields: &[Field],
) -> Vec<u64> {
    // The time, and the fields one behind the other.
    let bytes = 8 + fields.iter().map(|f| f.bytes).sum::<usize>();
    let record = bytes.next_multiple_of(8);
    let at = SCRATCH - record as i16;
    let end = [set(R0, 0), one(0x95, 0, 0, 0, 0)];

    let mut out = vec![one(0x79, SOCKET, R1, 0, 0)];
    if let Subject::Packet(socket) = subject {
        read(&mut out, SCRATCH, socket.bytes, socket.at);
        out.extend([one(0x79, SOCKET, STACK, SCRATCH, 0), one(0x55, SOCKET, 0, end.len() as i16, 0)]);
        out.extend(end);
    }
    read(&mut out, SCRATCH, port.bytes, port.at);
    out.push(one(0x69, R1, STACK, SCRATCH, 0));
    for (k, range) in ports.iter().enumerate() {
        // Below this one: the next. Not above it: past those that are left, and past the end.
        let left = (ports.len() - k - 1) * 2 + end.len();
        out.push(one(0xa5, R1, 0, 1, (*range.start()).into()));
        out.push(one(0xb5, R1, 0, left as i16, (*range.end()).into()));
    }
    out.extend(end);

    out.extend((0..record as i16 / 8).map(|k| one(0x7a, STACK, 0, at + k * 8, 0)));
    out.extend([call(NOW), one(0x7b, STACK, R0, at, 0)]);
    let mut to = at + 8;
    for field in fields {
        read(&mut out, to, field.bytes, field.at);
        to += field.bytes as i16;
    }
    out.extend(map(R1, ring));
    out.extend([copy(R2, STACK), add(R2, at.into()), set(R3, record as i32), set(R4, WAKE_NOBODY)]);
    out.extend([call(RING_OUTPUT), one(0x15, R0, 0, 9, 0)]);
    // There was no room: counted.
    out.extend([one(0x62, STACK, 0, SCRATCH, 0)]);
    out.extend(map(R1, lost));
    out.extend([copy(R2, STACK), add(R2, SCRATCH.into()), call(LOOKUP)]);
    out.extend([one(0x15, R0, 0, 2, 0), set(R1, 1), one(0xdb, R0, R1, 0, 0)]);
    out.extend(end);
    out
}
