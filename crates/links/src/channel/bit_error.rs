//! Each bit, byte or packet is hit with the same probability; one hit loses the packet.

use super::{Answer, Asked, Channel, Passing, Seeds, Standing};
use crate::check::{Checked, probability};
use crate::random::Stream;
use params::keys::{Kind, Variant, key, variant};
use params::problem::Problems;
use params::{Lines, Values};

params::words! {
    /// What is hit.
    pub enum PerUnit {
        Bit = "bit", "per bit";
        Byte = "byte", "per byte";
        Packet = "packet", "per packet";
    }
}

/// Each bit, byte or packet is hit with this probability; one hit drops the packet. Length includes framing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    pub per: PerUnit,
    pub rate: f64,
}

impl params::Params for Params {
    const VARIANT: Variant = variant(
        "bit-error",
        "Each bit, byte or packet is hit with the same probability; one hit drops the packet.",
        &[
            key("rate", Kind::Probability, "Probability of a hit."),
            key("per", Kind::Choice(PerUnit::WORDS), "What is hit; the packet's length includes framing.")
                .default("bit"),
        ],
    );
    fn read(v: &Values, _: &mut Problems) -> Option<Params> {
        Some(Params { per: PerUnit::named(v.word("per")?)?, rate: v.number("rate")? })
    }
    fn write(&self, out: &mut Lines) {
        out.text("per", self.per.name());
        out.number("rate", self.rate);
    }
}

impl Channel for Params {
    type Law = BitError;
    fn law(&self, name: &str, seeds: Seeds) -> Option<BitError> {
        Some(BitError::new(self.per, self.rate, seeds.packets(name)))
    }
    fn check(&self, on: &Standing) -> Checked {
        probability(&on.key("rate"), self.rate)
    }
}

impl Asked for BitError {
    fn ask(&mut self, packet: Passing) -> Answer {
        self.answer(packet.bytes)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct BitError {
    per: PerUnit,
    rate: f64,
    /// The last length and the loss of a packet so long: most packets have the same.
    last_bytes: u32,
    loss: f64,
    stream: Stream,
}

impl BitError {
    pub fn new(per: PerUnit, rate: f64, stream: Stream) -> BitError {
        BitError { per, rate, last_bytes: 0, loss: loss(per, rate, 0), stream }
    }

    /// One draw a packet, whatever its length.
    #[inline]
    pub fn answer(&mut self, bytes: u32) -> Answer {
        if bytes != self.last_bytes {
            self.last_bytes = bytes;
            self.loss = loss(self.per, self.rate, bytes);
        }
        if self.stream.chance(self.loss) { Answer::Drop } else { Answer::Deliver }
    }
}

/// 1 - (1 - rate)^units, exact for rates far below the precision of 1 - rate.
fn loss(per: PerUnit, rate: f64, bytes: u32) -> f64 {
    let units = match per {
        PerUnit::Bit => bytes as f64 * 8.0,
        PerUnit::Byte => bytes as f64,
        PerUnit::Packet => return rate,
    };
    if rate >= 1.0 {
        return if units > 0.0 { 1.0 } else { 0.0 };
    }
    -libm::expm1(units * libm::log1p(-rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_of_a_packet_follows_from_its_length() {
        let table = [
            (PerUnit::Packet, 0.25, 1500, 0.25),
            (PerUnit::Byte, 0.5, 2, 0.75),
            (PerUnit::Bit, 0.5, 1, 1.0 - 1.0 / 256.0),
            (PerUnit::Byte, 0.5, 0, 0.0),
            (PerUnit::Bit, 1.0, 1, 1.0),
            (PerUnit::Bit, 0.0, 1500, 0.0),
            // 1 - (1 - 1e-6)^578, by series 578e-6 - 578 * 577 / 2 * 1e-12 + ...
            (PerUnit::Byte, 1e-6, 578, 5.778332790e-4),
            (PerUnit::Bit, 1e-18, 1000, 8e-15),
        ];
        for (per, rate, bytes, expected) in table {
            let found = loss(per, rate, bytes);
            assert!(
                (found - expected).abs() <= 1e-9 * expected.max(1e-300),
                "{per:?} {rate} {bytes}: {found}"
            );
        }
    }

    #[test]
    fn loses_its_share_of_each_length() {
        let mut channel = BitError::new(PerUnit::Byte, 1e-4, Stream::new(1, "air", "noise"));
        let (mut short, mut long) = (0, 0);
        let n = 200_000;
        for _ in 0..n {
            short += (channel.answer(100) == Answer::Drop) as u32;
            long += (channel.answer(1000) == Answer::Drop) as u32;
        }
        for (lost, p) in [(short, 0.00995), (long, 0.09516)] {
            let deviation = (n as f64 * p * (1.0 - p)).sqrt();
            assert!((lost as f64 - n as f64 * p).abs() < 5.0 * deviation, "{lost} of {n}, {p}");
        }
    }
}
