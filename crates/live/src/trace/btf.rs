//! Where the running kernel's structures have what: its own description of its types (Documentation/bpf/btf.rst).

const MAGIC: u16 = 0xeb9f;
const POINTER: u32 = 2;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const TYPEDEF: u32 = 8;
const FUNCTION: u32 = 13;
/// A struct or union whose members may be bit-fields: their width stands above their place.
const HAS_BIT_FIELDS: u32 = 1 << 31;

pub struct Btf<'a> {
    strings: &'a [u8],
    /// Each type from its beginning on; the first has number 1.
    types: Vec<&'a [u8]>,
}

/// A member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub bit: u32,
    /// Of a bit-field; 0 for all others.
    pub bits: u32,
    of: u32,
}

impl Member {
    pub fn byte(self) -> usize {
        self.bit as usize / 8
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

impl<'a> Btf<'a> {
    /// `None` for what is none, or has a kind of type that nobody knew yet.
    pub fn read(bytes: &'a [u8]) -> Option<Btf<'a>> {
        let magic = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
        if magic != MAGIC {
            return None;
        }
        let at = |field: usize| word(bytes, field).map(|n| n as usize);
        let (header, types_at, types_len) = (at(4)?, at(8)?, at(12)?);
        let (strings_at, strings_len) = (at(16)?, at(20)?);
        let part = |from: usize, len: usize| bytes.get(header + from..header + from + len);
        let (mut rest, strings) = (part(types_at, types_len)?, part(strings_at, strings_len)?);
        let mut types = Vec::new();
        while !rest.is_empty() {
            types.push(rest);
            rest = rest.get(12 + more(word(rest, 4)?)?..)?;
        }
        Some(Btf { strings, types })
    }

    fn is_named(&self, at: u32, name: &str) -> bool {
        let rest = self.strings.get(at as usize..).unwrap_or_default();
        rest.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
    }

    fn structure(&self, name: &str) -> Option<usize> {
        let is = |t: &[u8]| {
            let (called, info) = (word(t, 0)?, word(t, 4)?);
            Some(kind(info) == STRUCT && self.is_named(called, name))
        };
        self.types.iter().position(|t| is(t) == Some(true))
    }

    /// A member of a structure, also where it is one of members without a name.
    pub fn member(&self, structure: &str, name: &str) -> Option<Member> {
        self.within(self.structure(structure)?, name)
    }

    fn within(&self, at: usize, name: &str) -> Option<Member> {
        let bytes = self.types.get(at)?;
        let info = word(bytes, 4)?;
        if ![STRUCT, UNION].contains(&kind(info)) {
            return None;
        }
        (0..info as usize & 0xffff).find_map(|k| {
            let [called, of, place] = [0, 4, 8].map(|field| word(bytes, 12 + k * 12 + field));
            let (called, of, place) = (called?, of?, place?);
            let (bit, bits) =
                if info & HAS_BIT_FIELDS != 0 { (place & 0xff_ffff, place >> 24) } else { (place, 0) };
            if called == 0 {
                let inner = self.within((of as usize).checked_sub(1)?, name)?;
                return Some(Member { bit: bit + inner.bit, ..inner });
            }
            self.is_named(called, name).then_some(Member { bit, bits, of })
        })
    }

    /// How many arguments a trace point has, the kernel's own first one not counted; `None` if there is none of this name.
    pub fn arguments(&self, trace_point: &str) -> Option<usize> {
        let name = format!("btf_trace_{trace_point}");
        let is = |t: &&[u8]| Some(kind(word(t, 4)?) == TYPEDEF && self.is_named(word(t, 0)?, &name));
        let refers = |t: &&[u8]| self.types.get((word(t, 8)? as usize).checked_sub(1)?).copied();
        let pointer = refers(self.types.iter().find(|t| is(t) == Some(true))?)?;
        let function = word(refers(&pointer)?, 4)?;
        (kind(function) == FUNCTION).then(|| (function as usize & 0xffff).saturating_sub(1))
    }

    /// Its size in bytes, whatever names its type goes by.
    pub fn size(&self, member: Member) -> Option<usize> {
        let mut of = member.of;
        // As many names as a type may have.
        for _ in 0..32 {
            let bytes = self.types.get((of as usize).checked_sub(1)?)?;
            match kind(word(bytes, 4)?) {
                POINTER => return Some(size_of::<usize>()),
                1 | 4..=6 | 16 | 19 => return word(bytes, 8).map(|n| n as usize),
                8..=11 | 18 => of = word(bytes, 8)?,
                _ => return None,
            }
        }
        None
    }
}

fn kind(info: u32) -> u32 {
    info >> 24 & 31
}

/// How many bytes follow the twelve that all types have.
fn more(info: u32) -> Option<usize> {
    let n = info as usize & 0xffff;
    Some(match kind(info) {
        1 | 14 | 17 => 4,
        2 | 7..=12 | 16 | 18 => 0,
        3 => 12,
        4 | 5 | 15 | 19 => n * 12,
        6 | 13 => n * 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// int, struct { union { struct { int a; }; int b; }; int: 8, c: 5; }, and a function.
    fn made() -> Vec<u8> {
        let strings = b"\0int\0s\0a\0b\0c\0f\0d\0";
        let name = |wanted: &str| {
            let wanted = [wanted.as_bytes(), b"\0"].concat();
            strings.windows(wanted.len()).position(|w| w == wanted).unwrap() as u32
        };
        let types: Vec<u32> = [
            &[name("int"), 1 << 24, 4, 32][..],
            &[0, 4 << 24 | 1, 4, name("a"), 1, 0],
            &[0, 5 << 24 | 2, 4, 0, 2, 0, name("b"), 1, 0],
            &[
                name("s"),
                1 << 31 | 4 << 24 | 3,
                12,
                0,
                3,
                32,
                name("d"),
                1,
                8 << 24 | 64,
                name("c"),
                1,
                5 << 24 | 72,
            ],
            &[name("f"), 12 << 24, 0],
        ]
        .concat();
        let mut out = [&MAGIC.to_ne_bytes()[..], &[1, 0]].concat();
        let header = [24, 0, types.len() as u32 * 4, types.len() as u32 * 4, strings.len() as u32];
        out.extend(header.iter().chain(&types).flat_map(|w| w.to_ne_bytes()));
        out.extend_from_slice(strings);
        out
    }

    #[test]
    fn members_are_found_within_members_without_a_name() {
        let bytes = made();
        let btf = Btf::read(&bytes).expect("types");
        let found = |name| btf.member("s", name).map(|m| (m.bit, m.bits, btf.size(m)));
        assert_eq!(found("a"), Some((32, 0, Some(4))));
        assert_eq!(found("b"), Some((32, 0, Some(4))));
        assert_eq!(found("c"), Some((72, 5, Some(4))));
        assert_eq!(found("e"), None);
        assert_eq!(btf.member("f", "a"), None);
    }

    #[test]
    fn what_is_cut_off_is_none() {
        let bytes = made();
        assert!((0..bytes.len()).all(|end| Btf::read(&bytes[..end]).is_none()));
        assert!(Btf::read(b"not at all, however long it is").is_none());
    }
}
