//! TCP header to [`Segment`] and back (RFC 9293 §3.1).

use crate::addr::Tuple;
use crate::checksum;
use crate::segment::{Flags, SackBlocks, Segment, Timestamps};
use crate::seq::Seq;

pub const MIN_HEADER: usize = 20;

/// Why bytes are no TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Fewer bytes than the fixed header were captured.
    Cut { have: usize },
    /// The data offset is below 5 words, or beyond the segment's length.
    DataOffset { words: u8 },
}

fn be16(b: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([b[at], b[at + 1]])
}
fn be32(b: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

/// What a TCP header says besides the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    pub src_port: u16,
    pub dst_port: u16,
    pub checksum: u16,
    pub seg: Segment,
}

/// The fields of a TCP header that are no part of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    pub src: u16,
    pub dst: u16,
    pub checksum: u16,
}

/// Reads a header from `bytes`, as much as was captured of a segment of `tcp_len` bytes (header and payload).
#[inline]
pub fn parse(bytes: &[u8], tcp_len: u32) -> Result<Parsed, HeaderError> {
    let mut seg = Segment::default();
    let ports = parse_into(bytes, tcp_len, &mut seg)?;
    Ok(Parsed { src_port: ports.src, dst_port: ports.dst, checksum: ports.checksum, seg })
}

/// The same into a segment that is new and in its place already: where millions are read, moving each one shows, and so
/// does filling it twice. On an error `seg` is left as it was.
#[inline(always)]
pub fn parse_into(bytes: &[u8], tcp_len: u32, seg: &mut Segment) -> Result<Ports, HeaderError> {
    let Some(fixed) = bytes.first_chunk::<MIN_HEADER>() else {
        return Err(HeaderError::Cut { have: bytes.len() });
    };
    let words = fixed[12] >> 4;
    let header = usize::from(words) * 4;
    if words < 5 || header as u32 > tcp_len {
        return Err(HeaderError::DataOffset { words });
    }
    (seg.seq, seg.ack) = (Seq(be32(fixed, 4)), Seq(be32(fixed, 8)));
    seg.payload = tcp_len - header as u32;
    (seg.flags, seg.window) = (Flags(fixed[13]), be16(fixed, 14));
    (seg.options_cut, seg.header_len) = (header > bytes.len(), header as u8);
    if header > MIN_HEADER {
        let rest = &bytes[MIN_HEADER..header.min(bytes.len())];
        // The layout nearly every data packet has: NOP NOP TIMESTAMPS (RFC 7323 appendix A).
        match rest.first_chunk::<12>() {
            Some(common) if common[..4] == [1, 1, 8, 10] => {
                seg.timestamps = Some(Timestamps { val: be32(common, 4), ecr: be32(common, 8) });
                match rest.get(12..) {
                    None | Some([]) => {}
                    // ... and behind them, NOP NOP SACK, what most ACKs of a loss have.
                    Some([1, 1, 5, len, blocks @ ..])
                        if blocks.len() + 2 == usize::from(*len) && blocks.len() % 8 == 0 =>
                    {
                        sack(seg, blocks);
                    }
                    Some(rest) => options(seg, rest),
                }
            }
            _ => options(seg, rest),
        }
    }
    Ok(Ports { src: be16(fixed, 0), dst: be16(fixed, 2), checksum: be16(fixed, 16) })
}

#[inline(always)]
fn sack(seg: &mut Segment, blocks: &[u8]) {
    for b in blocks.chunks_exact(8) {
        seg.sack.push(Seq(be32(b, 0)), Seq(be32(b, 4)));
    }
}

/// Options in any order; one that is malformed ends the walk, what came before it stands.
fn options(seg: &mut Segment, mut rest: &[u8]) {
    while let [kind, tail @ ..] = rest {
        match kind {
            0 => return,
            1 => {
                rest = tail;
                continue;
            }
            _ => {}
        }
        let Some(&len) = tail.first() else { return };
        let len = usize::from(len);
        if len < 2 || len > rest.len() {
            seg.options_cut |= len >= 2;
            return;
        }
        let body = &rest[2..len];
        match (kind, body.len()) {
            (2, 2) => seg.mss = Some(be16(body, 0)),
            (3, 1) => seg.window_scale = Some(body[0]),
            (4, 0) => seg.sack_permitted = true,
            (5, n) if n % 8 == 0 && n <= 32 => sack(seg, body),
            (8, 8) => seg.timestamps = Some(Timestamps { val: be32(body, 0), ecr: be32(body, 4) }),
            _ => {}
        }
        rest = &rest[len..];
    }
}

/// How long [`write`] makes the header of `seg`, bytes. Options beside SACK stand in a SYN only, timestamps apart.
#[inline]
pub fn header_len(seg: &Segment) -> u8 {
    let mut len = MIN_HEADER as u8;
    if seg.flags.has(Flags::SYN) {
        len += 4 * u8::from(seg.mss.is_some()) + 4 * u8::from(seg.window_scale.is_some());
        // SACK permitted takes the place of the padding of the timestamps.
        len += 4 * u8::from(seg.sack_permitted && seg.timestamps.is_none());
    }
    if seg.timestamps.is_some() {
        len += 12;
    }
    if !seg.sack.is_empty() {
        len += 4 + 8 * seg.sack.as_slice().len() as u8;
    }
    len
}

/// Writes the header of `seg` into `out` (cleared first), with a correct checksum over a payload of zero
/// bytes. Options are laid out as Linux does: SYN: MSS, SACK permitted, timestamps, NOP, window scale;
/// otherwise NOP NOP timestamps, NOP NOP SACK. SACK blocks that no longer fit 40 bytes are left out.
pub fn write(out: &mut Vec<u8>, tuple: &Tuple, seg: &Segment) {
    out.clear();
    out.extend(tuple.src.port.to_be_bytes());
    out.extend(tuple.dst.port.to_be_bytes());
    out.extend(seg.seq.0.to_be_bytes());
    out.extend(seg.ack.0.to_be_bytes());
    out.extend([0, seg.flags.0]);
    out.extend(seg.window.to_be_bytes());
    out.extend([0; 4]);
    if let Some(mss) = seg.mss {
        out.extend([2, 4]);
        out.extend(mss.to_be_bytes());
    }
    if seg.sack_permitted {
        out.extend(if seg.timestamps.is_some() { [4, 2].as_slice() } else { &[1, 1, 4, 2] });
    }
    if let Some(ts) = seg.timestamps {
        out.extend(if seg.sack_permitted { [8, 10].as_slice() } else { &[1, 1, 8, 10] });
        out.extend(ts.val.to_be_bytes());
        out.extend(ts.ecr.to_be_bytes());
    }
    if let Some(shift) = seg.window_scale {
        out.extend([1, 3, 3, shift]);
    }
    write_sack(out, &seg.sack);
    out[12] = ((out.len() / 4) as u8) << 4;
    // A payload of zeros adds nothing to the sum but its length, which the pseudo-header carries.
    let tcp_len = out.len() as u32 + seg.payload;
    let sum = checksum::add(u64::from(checksum::pseudo_header(tuple, tcp_len)), out);
    let field = !checksum::fold(sum);
    out[16..18].copy_from_slice(&field.to_be_bytes());
}

fn write_sack(out: &mut Vec<u8>, sack: &SackBlocks) {
    let room = (60 - out.len()).saturating_sub(4) / 8;
    let blocks = &sack.as_slice()[..sack.as_slice().len().min(room)];
    if blocks.is_empty() {
        return;
    }
    out.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
    for (left, right) in blocks {
        out.extend(left.0.to_be_bytes());
        out.extend(right.0.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::{Endpoint, Host};

    fn tuple() -> Tuple {
        Tuple {
            src: Endpoint { host: Host::v4([10, 0, 0, 1]), port: 40000 },
            dst: Endpoint { host: Host::v4([10, 0, 0, 2]), port: 80 },
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut sack = SackBlocks::NONE;
        sack.push(Seq(100), Seq(200));
        sack.push(Seq(300), Seq(u32::MAX));
        let syn = Segment {
            seq: Seq(7),
            flags: Flags::SYN,
            window: 65535,
            mss: Some(1460),
            window_scale: Some(10),
            sack_permitted: true,
            timestamps: Some(Timestamps { val: 1, ecr: 0 }),
            ..Segment::default()
        };
        let ack = Segment {
            seq: Seq(8),
            ack: Seq(99),
            flags: Flags::ACK,
            timestamps: Some(Timestamps { val: 2, ecr: 9 }),
            sack,
            ..Segment::default()
        };
        for seg in [syn, ack] {
            let mut bytes = Vec::new();
            write(&mut bytes, &tuple(), &seg);
            let read = parse(&bytes, bytes.len() as u32 + seg.payload).unwrap();
            assert_eq!(read.seg, Segment { header_len: header_len(&seg), ..seg });
            assert_eq!(usize::from(header_len(&seg)), bytes.len());
            let sum = checksum::add(u64::from(checksum::pseudo_header(&tuple(), bytes.len() as u32)), &bytes);
            assert_eq!(checksum::fold(sum), 0xffff, "a correct checksum sums to all ones (RFC 1071)");
        }
    }

    #[test]
    fn options_that_were_cut_off_are_said_to_be() {
        let seg = Segment {
            flags: Flags::ACK,
            timestamps: Some(Timestamps { val: 2, ecr: 9 }),
            ..Segment::default()
        };
        let mut bytes = Vec::new();
        write(&mut bytes, &tuple(), &seg);
        let read = parse(&bytes[..24], 32).unwrap().seg;
        assert!(read.options_cut);
        assert_eq!(read.timestamps, None);
    }

    #[test]
    fn a_data_offset_beyond_the_segment_is_refused() {
        let mut bytes = vec![0; 20];
        bytes[12] = 15 << 4;
        assert_eq!(parse(&bytes, 20), Err(HeaderError::DataOffset { words: 15 }));
        bytes[12] = 4 << 4;
        assert_eq!(parse(&bytes, 20), Err(HeaderError::DataOffset { words: 4 }));
        assert_eq!(parse(&bytes[..19], 20), Err(HeaderError::Cut { have: 19 }));
    }
}
