//! A packet: `[ect0] P. 1:1001(1000) ack 1 win 257 <nop,nop,sack 1:2>`.

use super::Parser;
use crate::Stop;
use crate::lexer::Token;
use crate::script::{Ecn, Packet, TcpOption};
use wire::Flags;

const U32: u64 = u32::MAX as u64;

impl Parser<'_> {
    pub(super) fn packet(&mut self, inbound: bool) -> Result<Packet, Stop> {
        let line = self.line();
        let ecn = self.ip_info()?;
        if inbound && ecn == Some(Ecn::Ect01) {
            return Err(Stop::malformed(
                line,
                "[ect01] says what may leave: a packet that arrives is one or the other",
            ));
        }
        self.refuse_other_kinds()?;
        let flags = self.flags()?;
        let seq = self.whole("a sequence number", U32)?;
        self.want(':')?;
        let end = self.whole("the sequence number behind the payload", U32)?;
        self.want('(')?;
        let payload = self.whole("the payload's length", 0xffff)?;
        self.want(')')?;
        if end != seq + payload {
            let says = format!("{seq}:{end}({payload}): {seq} and {payload} bytes make {}", seq + payload);
            return Err(Stop::malformed(line, says));
        }
        let ack = if self.eat_word("ack") { self.whole("an ACK number", U32)? } else { 0 };
        let window = match self.eat_word("win") {
            true => Some(self.whole("a window", 0xffff)? as u16),
            false => None,
        };
        if self.eat_word("urg") {
            return Err(Stop::unsupported(line, "an urgent pointer"));
        }
        let options = if self.eat('<') { self.options()? } else { Some(Vec::new()) };
        if inbound && options.is_none() {
            return Err(Stop::malformed(
                line,
                "<...> stands for options that leave: those that arrive are listed",
            ));
        }
        Ok(Packet { ecn, flags, seq: seq as u32, payload: payload as u32, ack: ack as u32, window, options })
    }

    /// `[ect0]` or `(ect0)`.
    fn ip_info(&mut self) -> Result<Option<Ecn>, Stop> {
        let close = if self.eat('[') {
            ']'
        } else if self.eat('(') {
            ')'
        } else {
            return Ok(None);
        };
        let line = self.line();
        let ecn = match self.word("what the IP header says")? {
            "noecn" => Ecn::NotEct,
            "ect0" => Ecn::Ect0,
            "ect1" => Ecn::Ect1,
            "ect01" => Ecn::Ect01,
            "ce" => Ecn::Ce,
            what @ ("tos" | "flowlabel" | "ttl") => {
                return Err(Stop::unsupported(line, format!("a packet's {what}")));
            }
            word => {
                let says = format!(
                    "`{word}` where noecn, ect0, ect1, ect01, ce, tos, flowlabel or ttl should stand"
                );
                return Err(Stop::malformed(line, says));
            }
        };
        if self.eat(',') {
            return Err(Stop::unsupported(line, "a packet's flow label"));
        }
        self.want(close)?;
        Ok(Some(ecn))
    }

    fn refuse_other_kinds(&self) -> Result<(), Stop> {
        let says = match self.peek() {
            Some(Token::Word(w)) => match w.as_str() {
                "icmp" => "ICMP",
                "udp" => "UDP",
                "ipv4" | "ipv6" | "gre" | "mpls" => "a tunnel",
                "encap" => "encapsulation",
                _ => return Ok(()),
            },
            Some(Token::Int(_)) if self.peek_behind(1) == Some(&Token::Mark('>')) => "a packet's ports",
            _ => return Ok(()),
        };
        Err(Stop::unsupported(self.line(), says))
    }

    fn flags(&mut self) -> Result<Flags, Stop> {
        let line = self.line();
        let mut flags = Flags::default();
        if self.eat('-') {
            return Ok(flags);
        }
        let word = match self.peek() {
            Some(Token::Word(w)) => {
                self.at += 1;
                w.as_str()
            }
            _ => "",
        };
        for c in word.chars() {
            flags = flags.with(match c {
                'F' => Flags::FIN,
                'S' => Flags::SYN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                'E' => Flags::ECE,
                'W' => Flags::CWR,
                'U' => return Err(Stop::unsupported(line, "urgent data")),
                'A' => return Err(Stop::unsupported(line, "accurate ECN (the AE flag)")),
                _ => {
                    return Err(Stop::malformed(
                        line,
                        format!("`{c}` is no flag of F, S, R, P, E, W or `.`"),
                    ));
                }
            });
        }
        if let Some(Token::Float(_)) = self.peek() {
            return Err(Stop::unsupported(line, "accurate ECN (an ACE count)"));
        }
        if self.eat('.') {
            flags = flags.with(Flags::ACK);
        } else if word.is_empty() {
            return Err(self.unexpected("flags"));
        }
        Ok(flags)
    }

    /// Behind `<`.
    fn options(&mut self) -> Result<Option<Vec<TcpOption>>, Stop> {
        if self.peek() == Some(&Token::Ellipsis) {
            self.at += 1;
            self.want('>')?;
            return Ok(None);
        }
        let mut list = Vec::new();
        loop {
            list.push(self.option()?);
            if self.eat('>') {
                return Ok(Some(list));
            }
            self.want(',')?;
        }
    }

    fn option(&mut self) -> Result<TcpOption, Stop> {
        let line = self.line();
        Ok(match self.word("an option")? {
            "nop" => TcpOption::Nop,
            "eol" => TcpOption::Eol,
            "mss" => TcpOption::Mss(self.whole("an MSS", 0xffff)? as u16),
            "wscale" => TcpOption::WindowScale(self.whole("a window's shift", 0xff)? as u8),
            "sackOK" => TcpOption::SackPermitted,
            "sack" => {
                let mut blocks = Vec::new();
                while let Some(Token::Int(_)) = self.peek() {
                    let left = self.whole("a block's left edge", U32)?;
                    self.want(':')?;
                    let right = self.whole("a block's right edge", U32)?;
                    blocks.push((left as u32, right as u32));
                }
                if blocks.is_empty() || blocks.len() > 4 {
                    return Err(Stop::malformed(line, format!("{} SACK blocks: from 1 to 4", blocks.len())));
                }
                TcpOption::Sack(blocks)
            }
            "TS" => {
                self.keyword("val")?;
                let val = self.whole("a timestamp", U32)? as u32;
                self.keyword("ecr")?;
                let ecr = self.whole("an echoed timestamp", U32)? as u32;
                TcpOption::Timestamps { val, ecr }
            }
            "FO" | "FOEXP" => return Err(Stop::unsupported(line, "TCP Fast Open")),
            "md5" => return Err(Stop::unsupported(line, "MD5 signatures")),
            "ECN" => return Err(Stop::unsupported(line, "accurate ECN (its option)")),
            word => {
                let says = format!("`{word}` is no option of mss, wscale, sackOK, sack, TS, nop or eol");
                return Err(Stop::malformed(line, says));
            }
        })
    }

    fn keyword(&mut self, word: &str) -> Result<(), Stop> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }
}
