//! What a script says, as plain data.

use wire::{Flags, Span};

#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// `--name=value` lines before everything else.
    pub options: Vec<Setting>,
    /// What a shell would do before the first event.
    pub first: Option<Command>,
    pub events: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub line: u32,
    pub name: String,
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub line: u32,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub line: u32,
    pub when: When,
    pub what: Action,
}

/// From `from` to `to` seconds where a range is given, else `to == from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After the script's beginning.
    Absolute { from: Span, to: Span },
    /// After the event before.
    Relative { from: Span, to: Span },
    /// `*`: whenever it comes.
    Any,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `<`: arrives.
    Inject(Packet),
    /// `>`: is to leave.
    Expect(Packet),
    Call(Call),
    Command(Command),
    /// Between `%{` and `}%`.
    Code(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    pub ecn: Option<Ecn>,
    pub flags: Flags,
    pub seq: u32,
    pub payload: u32,
    /// Absent stands for 0.
    pub ack: u32,
    pub window: Option<u16>,
    /// `None`: `<...>`, whatever they are.
    pub options: Option<Vec<TcpOption>>,
}

/// The ECN field of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    NotEct,
    Ect0,
    Ect1,
    Ce,
    /// One of the two ECT.
    Ect01,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    Nop,
    Eol,
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    Timestamps { val: u32, ecr: u32 },
    Sack(Vec<(u32, u32)>),
}

/// A system call, with what it is to return.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub name: String,
    pub arguments: Vec<Expr>,
    pub result: Expr,
    pub errno: Option<String>,
    /// It blocks until then, counted like the event's own time.
    pub until: Option<Span>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `...`
    Any,
    Int(i64),
    Word(String),
    Text(String),
    List(Vec<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// `{ … }`: a structure, as it is written.
    Struct(String),
}

impl Packet {
    /// The sequence space that it takes.
    pub fn end(&self) -> u32 {
        self.seq.wrapping_add(self.payload)
    }
}
