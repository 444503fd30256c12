//! Link types by number and name (tcpdump.org/linktypes.html).

use std::fmt;

/// A LINKTYPE_ number; above 0x8000 a snoop data link number (RFC 1761) that has no such type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    pub const NULL: LinkType = LinkType(0);
    pub const ETHERNET: LinkType = LinkType(1);
    pub const TOKEN_RING: LinkType = LinkType(6);
    pub const PPP: LinkType = LinkType(9);
    pub const FDDI: LinkType = LinkType(10);
    pub const ATM_RFC1483: LinkType = LinkType(11);
    pub const RAW_12: LinkType = LinkType(12);
    pub const RAW_14: LinkType = LinkType(14);
    pub const PPP_HDLC: LinkType = LinkType(50);
    pub const PPP_ETHER: LinkType = LinkType(51);
    pub const RAW: LinkType = LinkType(101);
    pub const C_HDLC: LinkType = LinkType(104);
    pub const IEEE802_11: LinkType = LinkType(105);
    pub const LOOP: LinkType = LinkType(108);
    pub const LINUX_SLL: LinkType = LinkType(113);
    pub const PFLOG: LinkType = LinkType(117);
    pub const PRISM: LinkType = LinkType(119);
    pub const RADIOTAP: LinkType = LinkType(127);
    pub const AVS: LinkType = LinkType(163);
    pub const PPP_PPPD: LinkType = LinkType(166);
    pub const PPI: LinkType = LinkType(192);
    pub const PPP_WITH_DIR: LinkType = LinkType(204);
    pub const IPV4: LinkType = LinkType(228);
    pub const IPV6: LinkType = LinkType(229);
    pub const NFLOG: LinkType = LinkType(239);
    pub const IPOIB: LinkType = LinkType(242);
    pub const PKTAP: LinkType = LinkType(258);
    pub const LINUX_SLL2: LinkType = LinkType(276);

    /// A name that a person knows it by, for what is read and for what is often met.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "BSD loopback (null)",
            1 => "Ethernet",
            6 => "Token Ring",
            9 => "PPP",
            10 => "FDDI",
            11 => "ATM (RFC 1483)",
            12 | 14 | 101 => "raw IP",
            50 => "PPP in HDLC framing",
            51 => "PPPoE",
            104 => "Cisco HDLC",
            105 => "802.11",
            107 => "Frame Relay",
            108 => "OpenBSD loopback",
            113 => "Linux cooked",
            117 => "OpenBSD pflog",
            119 => "802.11 with Prism header",
            127 => "802.11 with radiotap header",
            143 => "DOCSIS",
            163 => "802.11 with AVS header",
            166 | 204 => "PPP with direction",
            187 => "Bluetooth HCI H4",
            189 => "USB",
            192 => "PPI",
            195 => "802.15.4",
            197 => "ERF",
            220 => "USB (Linux, padded)",
            226 => "Solaris IPNET",
            227 => "CAN (SocketCAN)",
            228 => "raw IPv4",
            229 => "raw IPv6",
            239 => "NFLOG",
            242 => "IP over InfiniBand",
            249 => "USBPcap",
            253 => "Netlink",
            258 => "Apple PKTAP",
            276 => "Linux cooked v2",
            _ => return None,
        })
    }

    pub fn is_supported(self) -> bool {
        matches!(
            self.0,
            0 | 1
                | 6
                | 9
                | 10
                | 11
                | 12
                | 14
                | 50
                | 51
                | 101
                | 104
                | 105
                | 108
                | 113
                | 117
                | 119
                | 127
                | 163
                | 166
                | 192
                | 204
                | 228
                | 229
                | 239
                | 242
                | 258
                | 276
        )
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.0) {
            (Some(name), n) => write!(f, "{n} ({name})"),
            (None, n @ 0x8000..) => write!(f, "{} of snoop", n & 0x7fff),
            (None, n) => write!(f, "{n}"),
        }
    }
}
