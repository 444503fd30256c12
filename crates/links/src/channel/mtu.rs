//! Packets above a size are dropped and no ICMP message reports them: a black hole of path MTU discovery (RFC 2923, section 2.1).

use super::{Answer, Asked, Channel, Passing, Seeds, Standing};
use crate::check::{Checked, require};
use crate::facts::Cause;
use params::keys::{BYTES, key};

params::params! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "mtu", "Packets above a size are dropped, and no ICMP message reports them. Its drops have the cause `mtu`." {
        most_bytes: u32 = key("most", BYTES, "Size of the largest packet that passes, with its IP header and without framing.");
    }
}

impl Channel for Params {
    type Law = Mtu;
    fn law(&self, _: &str, _: Seeds) -> Option<Mtu> {
        Some(Mtu { most_bytes: self.most_bytes })
    }
    fn check(&self, on: &Standing) -> Checked {
        require(self.most_bytes > 0, &on.key("most"), self.most_bytes, "at least 1 byte")
    }
    fn cause(&self, index: u16) -> Cause {
        Cause::Mtu(index)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Mtu {
    most_bytes: u32,
}

impl Asked for Mtu {
    fn ask(&mut self, packet: Passing) -> Answer {
        if packet.facts.len > self.most_bytes { Answer::Drop } else { Answer::Deliver }
    }
}
