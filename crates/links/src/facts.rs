//! What a link may know about a packet, and why it may lose one.

/// One direction of a link: pair `n` of a topology is `2n` forward and `2n + 1` back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    pub const fn forward(pair: usize) -> LinkId {
        LinkId(pair as u32 * 2)
    }
    pub const fn back(pair: usize) -> LinkId {
        LinkId(pair as u32 * 2 + 1)
    }
    pub const fn pair(self) -> usize {
        self.0 as usize / 2
    }
    pub const fn is_forward(self) -> bool {
        self.0 & 1 == 0
    }
    /// The other direction of the same pair.
    pub const fn twin(self) -> LinkId {
        LinkId(self.0 ^ 1)
    }
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What kind of packet it is, for channels that look at one kind only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Carries payload.
    #[default]
    Data,
    /// A bare acknowledgement.
    Ack,
    /// Without payload but no bare acknowledgement (SYN, FIN, RST).
    Other,
}

impl Class {
    pub const fn has_payload(self) -> bool {
        matches!(self, Class::Data)
    }
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    #[default]
    NotCapable,
    Capable0,
    Capable1,
    /// Congestion experienced.
    Marked,
}

impl Ecn {
    /// A queue may mark it instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotCapable)
    }

    /// From the two bits of the header (RFC 3168 §5, figure 1).
    pub const fn of_field(field: u8) -> Ecn {
        match field & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::Marked,
        }
    }
    /// The same as these bits.
    pub const fn field(self) -> u8 {
        match self {
            Ecn::NotCapable => 0,
            Ecn::Capable1 => 1,
            Ecn::Capable0 => 2,
            Ecn::Marked => 3,
        }
    }
}

/// All that a link looks at; first what every link does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Facts {
    /// Bytes, without this link's framing.
    pub len: u32,
    /// What FQ-CoDel hashes; the same number for all packets of one direction of a connection.
    pub flow: u32,
    pub class: Class,
    pub ecn: Ecn,
}

/// Why a link lost a packet. Channels are named by their place in the link's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No room in the queue.
    QueueFull,
    /// RED, CoDel or FQ-CoDel, before the queue was full.
    Aqm,
    Channel(u16),
    /// A policer's bucket had too few tokens.
    Policer(u16),
    /// The packet is larger than the path lets pass.
    Mtu(u16),
    /// The beginning of an outage destroyed it in the queue or in flight.
    Flushed(u16),
    /// The link layer's last try failed; the channel is the one that this try met.
    ArqGaveUp(u16),
}

impl Cause {
    /// The channel that took the packet, if one did.
    pub const fn channel(self) -> Option<u16> {
        match self {
            Cause::Channel(at)
            | Cause::Policer(at)
            | Cause::Mtu(at)
            | Cause::Flushed(at)
            | Cause::ArqGaveUp(at) => Some(at),
            Cause::QueueFull | Cause::Aqm => None,
        }
    }
}
