//! Programs for the kernel, instruction by instruction (Documentation/bpf/standardization/instruction-set.rst).

/// The kernel's helpers (include/uapi/linux/bpf.h).
pub const LOOKUP: i32 = 1;
pub const UPDATE: i32 = 2;
pub const NOW: i32 = 5;
pub const LOAD_BYTES: i32 = 26;
pub const READ_KERNEL: i32 = 113;
pub const RING_OUTPUT: i32 = 130;

/// Registers. A call keeps 6 to 9, gives its answer in 0 and takes its arguments from 1 on; 10 is the stack's end.
pub const R0: u8 = 0;
pub const R1: u8 = 1;
pub const R2: u8 = 2;
pub const R3: u8 = 3;
pub const R4: u8 = 4;
pub const R6: u8 = 6;
pub const R7: u8 = 7;
pub const R8: u8 = 8;
pub const STACK: u8 = 10;

/// Sizes of loads and stores, as instructions have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Byte = 0x10,
    Half = 0x08,
    Word = 0x00,
    Long = 0x18,
}

/// What a jump asks of a register and a number, which is sign-extended; all but `Not` compare without sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum If {
    Is = 0x15,
    Not = 0x55,
    Below = 0xa5,
    Above = 0x25,
}

pub fn one(code: u8, to: u8, from: u8, offset: i16, value: i32) -> u64 {
    let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
    let [o0, o1] = offset.to_ne_bytes();
    let [v0, v1, v2, v3] = value.to_ne_bytes();
    u64::from_ne_bytes([code, registers, o0, o1, v0, v1, v2, v3])
}

/// A place that jumps go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// A program that is being written. Jumps go forward, to labels that are placed later.
#[derive(Default)]
pub struct Assembler {
    code: Vec<u64>,
    /// By label: where it is.
    places: Vec<Option<usize>>,
    /// Which instruction jumps to which label.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    pub fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }
    /// The label is here.
    pub fn place(&mut self, label: Label) {
        self.places[label.0] = Some(self.code.len());
    }
    pub fn go(&mut self, to: Label) {
        self.jump(one(0x05, 0, 0, 0, 0), to);
    }
    pub fn go_if(&mut self, register: u8, how: If, value: i32, to: Label) {
        self.jump(one(how as u8, register, 0, 0, value), to);
    }
    fn jump(&mut self, instruction: u64, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.code.push(instruction);
    }

    pub fn set(&mut self, to: u8, value: i32) {
        self.code.push(one(0xb7, to, 0, 0, value));
    }
    pub fn copy(&mut self, to: u8, from: u8) {
        self.code.push(one(0xbf, to, from, 0, 0));
    }
    pub fn add(&mut self, to: u8, value: i32) {
        self.code.push(one(0x07, to, 0, 0, value));
    }
    pub fn subtract(&mut self, from: u8, what: u8) {
        self.code.push(one(0x1f, from, what, 0, 0));
    }
    pub fn and(&mut self, to: u8, value: i32) {
        self.code.push(one(0x57, to, 0, 0, value));
    }
    pub fn shift_left(&mut self, to: u8, bits: i32) {
        self.code.push(one(0x67, to, 0, 0, bits));
    }
    pub fn shift_right(&mut self, to: u8, bits: i32) {
        self.code.push(one(0x77, to, 0, 0, bits));
    }
    /// Sixteen bits between this machine's order and the network's.
    pub fn network_order(&mut self, register: u8) {
        self.code.push(one(0xdc, register, 0, 0, 16));
    }
    pub fn load(&mut self, size: Size, to: u8, base: u8, offset: i16) {
        self.code.push(one(0x61 | size as u8, to, base, offset, 0));
    }
    pub fn store(&mut self, size: Size, base: u8, offset: i16, from: u8) {
        self.code.push(one(0x63 | size as u8, base, from, offset, 0));
    }
    pub fn store_value(&mut self, size: Size, base: u8, offset: i16, value: i32) {
        self.code.push(one(0x62 | size as u8, base, 0, offset, value));
    }
    /// Adds one to the number that the register points to.
    pub fn count(&mut self, base: u8) {
        self.set(R1, 1);
        self.code.push(one(0xdb, base, R1, 0, 0));
    }
    pub fn call(&mut self, helper: i32) {
        self.code.push(one(0x85, 0, 0, 0, helper));
    }
    pub fn map(&mut self, to: u8, fd: i32) {
        self.code.extend([one(0x18, to, 1, 0, fd), 0]);
    }
    /// A place on the stack.
    pub fn stack(&mut self, to: u8, offset: i16) {
        self.copy(to, STACK);
        self.add(to, offset.into());
    }
    /// Zeros on the stack, eight bytes at a time.
    pub fn clear(&mut self, from: i16, bytes: i16) {
        for k in 0..bytes / 8 {
            self.store_value(Size::Long, STACK, from + k * 8, 0);
        }
    }
    /// Reads the kernel's memory onto the stack; the answer is left in R0.
    pub fn read_kernel(&mut self, to: i16, bytes: usize, base: u8, at: usize) {
        self.stack(R1, to);
        self.set(R2, bytes as i32);
        self.copy(R3, base);
        self.add(R3, at as i32);
        self.call(READ_KERNEL);
    }
    pub fn exit(&mut self, answer: i32) {
        self.set(R0, answer);
        self.code.push(one(0x95, 0, 0, 0, 0));
    }

    /// The program, every jump with its distance. A label that was never placed, or is too far away, is a fault of
    /// whoever wrote the program: the kernel refuses what becomes of it.
    pub fn finish(mut self) -> Vec<u64> {
        for (at, label) in self.jumps {
            let to = self.places[label.0].unwrap_or_default();
            let distance = (to as i64 - at as i64 - 1) as i16;
            let mut bytes = self.code[at].to_ne_bytes();
            bytes[2..4].copy_from_slice(&distance.to_ne_bytes());
            self.code[at] = u64::from_ne_bytes(bytes);
        }
        self.code
    }
}
