//! What the kernel runs: a program that copies a sender's state into the ring at a trace point.
//! Written as instructions, since only the running kernel knows where a field is.

use super::fields::Field;
use crate::instructions::{
    Assembler, If, LOOKUP, NOW, R0, R1, R2, R3, R4, R6, R7, R8, RING_OUTPUT, STACK, Size,
};
use std::ops::RangeInclusive;

/// The reader looks by itself.
const WAKE_NOBODY: i32 = 1;

/// Of the stack, above the record: a key, a port.
const SCRATCH: i16 = -8;
const CONTEXT: u8 = R6;
const SOCKET: u8 = R7;
const PACKET: u8 = R8;

/// Where the socket is found.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// It is the trace point's argument of this number.
    Argument(usize),
    /// A packet is the first argument, and has its socket there, if any.
    Packet(Field),
}

/// Of which sockets is told.
#[derive(Clone, Debug)]
pub enum Of<'a> {
    /// Of those with these ports of their own.
    Ports(Field, &'a [RangeInclusive<u16>]),
    /// Of those in this network namespace: where a socket points to it, and where that has its number.
    Namespace { pointer: Field, number: Field, is: u32 },
}

/// What is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Socket(Field),
    /// Of the packet that is the second argument.
    Packet(Field),
    /// An argument itself, eight bytes.
    Argument(usize),
    /// Four bytes that say which program wrote the record.
    Constant(u32),
    /// So many bytes that this trace point has nothing for.
    Nothing(usize),
}

impl Piece {
    pub fn bytes(self) -> usize {
        match self {
            Piece::Socket(field) | Piece::Packet(field) => field.bytes,
            Piece::Argument(_) => 8,
            Piece::Constant(_) => 4,
            Piece::Nothing(bytes) => bytes,
        }
    }
}

/// Each record is the time and the pieces, one behind the other, filled up to eight bytes.
pub fn telling(subject: Subject, of: &Of<'_>, ring: i32, lost: i32, pieces: &[Piece]) -> Vec<u64> {
    let bytes = 8 + pieces.iter().map(|piece| piece.bytes()).sum::<usize>();
    let record = bytes.next_multiple_of(8) as i16;
    let at = SCRATCH - record;

    let mut a = Assembler::default();
    let end = a.label();
    a.copy(CONTEXT, R1);
    match subject {
        Subject::Argument(k) => a.load(Size::Long, SOCKET, CONTEXT, k as i16 * 8),
        Subject::Packet(socket) => {
            a.load(Size::Long, SOCKET, CONTEXT, 0);
            a.read_kernel(SCRATCH, socket.bytes, SOCKET, socket.at);
            a.load(Size::Long, SOCKET, STACK, SCRATCH);
            a.go_if(SOCKET, If::Is, 0, end);
        }
    }
    match of {
        Of::Ports(port, ranges) => {
            a.read_kernel(SCRATCH, port.bytes, SOCKET, port.at);
            a.load(Size::Half, R1, STACK, SCRATCH);
            let wanted = a.label();
            for range in *ranges {
                let next = a.label();
                a.go_if(R1, If::Below, (*range.start()).into(), next);
                a.go_if(R1, If::Above, (*range.end()).into(), next);
                a.go(wanted);
                a.place(next);
            }
            a.go(end);
            a.place(wanted);
        }
        Of::Namespace { pointer, number, is } => {
            a.read_kernel(SCRATCH, pointer.bytes, SOCKET, pointer.at);
            a.load(Size::Long, PACKET, STACK, SCRATCH);
            a.store_value(Size::Long, STACK, SCRATCH, 0);
            a.read_kernel(SCRATCH, number.bytes, PACKET, number.at);
            a.load(Size::Word, R1, STACK, SCRATCH);
            // A jump compares with a sign-extended number: what is left of the difference is compared with 0.
            a.set(R2, *is as i32);
            a.shift_left(R2, 32);
            a.shift_right(R2, 32);
            a.subtract(R1, R2);
            a.go_if(R1, If::Not, 0, end);
        }
    }

    a.clear(at, record);
    a.call(NOW);
    a.store(Size::Long, STACK, at, R0);
    if pieces.iter().any(|piece| matches!(piece, Piece::Packet(_))) {
        a.load(Size::Long, PACKET, CONTEXT, 8);
    }
    let mut to = at + 8;
    for piece in pieces {
        match *piece {
            Piece::Socket(field) => a.read_kernel(to, field.bytes, SOCKET, field.at),
            Piece::Packet(field) => a.read_kernel(to, field.bytes, PACKET, field.at),
            Piece::Argument(k) => {
                // Not every place in a record is aligned to eight bytes.
                a.load(Size::Long, R1, CONTEXT, k as i16 * 8);
                a.store(Size::Word, STACK, to, R1);
                a.shift_right(R1, 32);
                a.store(Size::Word, STACK, to + 4, R1);
            }
            Piece::Constant(value) => a.store_value(Size::Word, STACK, to, value as i32),
            Piece::Nothing(_) => {}
        }
        to += piece.bytes() as i16;
    }
    a.map(R1, ring);
    a.stack(R2, at);
    a.set(R3, record.into());
    a.set(R4, WAKE_NOBODY);
    a.call(RING_OUTPUT);
    a.go_if(R0, If::Is, 0, end);
    // There was no room: counted.
    a.store_value(Size::Word, STACK, SCRATCH, 0);
    a.map(R1, lost);
    a.stack(R2, SCRATCH);
    a.call(LOOKUP);
    a.go_if(R0, If::Is, 0, end);
    a.count(R0);
    a.place(end);
    a.exit(0);
    a.finish()
}
