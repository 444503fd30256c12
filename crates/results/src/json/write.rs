//! Values as JSON text, appended to a buffer.
//!
//! Keys are joined at compile time, and times are written as exact decimals from integer nanoseconds: with a
//! million flows the text is gigabytes, and floating-point formatting would be most of the work.

use std::io::Write;
use wire::{Endpoint, Span};

/// A value that can be written as JSON.
pub trait Put {
    fn put(&self, out: &mut Vec<u8>);
}

/// Writes an object: `object!(out, "a": value, "b": { "c": value })`. Keys are literals that need no escape.
#[macro_export]
macro_rules! object {
    ($out:ident, $($rest:tt)*) => {{
        $out.push(b'{');
        $crate::json::write::members!($out, "", $($rest)*);
        $out.push(b'}');
    }};
}
/// The members of an object, without its braces; `$comma` stands before the first. A member whose key is the name of
/// its value is that name alone: `members!(out, "", bytes, "start_s": start - origin)`; `row.{ bytes, packets }` are fields.
#[macro_export]
macro_rules! members {
    ($out:ident, $comma:literal $(,)?) => {};
    ($out:ident, $comma:literal, $key:literal : { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $out.extend_from_slice(concat!($comma, "\"", $key, "\":{").as_bytes());
        $crate::json::write::members!($out, "", $($inner)*);
        $out.push(b'}');
        $crate::json::write::members!($out, ",", $($($rest)*)?);
    };
    ($out:ident, $comma:literal, $of:ident . { $key:ident $(, $more:ident)* $(,)? } $(, $($rest:tt)*)?) => {
        $crate::json::write::members!($out, $comma, @field $of $key);
        $( $crate::json::write::members!($out, ",", @field $of $more); )*
        $crate::json::write::members!($out, ",", $($($rest)*)?);
    };
    ($out:ident, $comma:literal, @field $of:ident $key:ident) => {
        $out.extend_from_slice(concat!($comma, "\"", stringify!($key), "\":").as_bytes());
        $crate::json::write::Put::put(&$of.$key, $out);
    };
    ($out:ident, $comma:literal, $key:ident $(, $($rest:tt)*)?) => {
        $out.extend_from_slice(concat!($comma, "\"", stringify!($key), "\":").as_bytes());
        $crate::json::write::Put::put(&$key, $out);
        $crate::json::write::members!($out, ",", $($($rest)*)?);
    };
    ($out:ident, $comma:literal, $key:literal : $value:expr $(, $($rest:tt)*)?) => {
        $out.extend_from_slice(concat!($comma, "\"", $key, "\":").as_bytes());
        $crate::json::write::Put::put(&$value, $out);
        $crate::json::write::members!($out, ",", $($($rest)*)?);
    };
}
/// Takes a row apart by name: a field that is added to it and forgotten here does not compile.
#[macro_export]
macro_rules! apart {
    ($row:expr => $of:ident { $($fields:tt)* }) => {
        let $of { $($fields)* } = $row;
    };
}
pub use {apart, members, object};

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Put for $t {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(itoa::Buffer::new().format(*self).as_bytes());
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, i64, usize);

impl Put for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl<T: Put> Put for Option<T> {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.put(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

/// No byte of it needs an escape.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| (0x20..0x7f).contains(&b) && b != b'"' && b != b'\\')
}

/// A name of ours: a row may have many, and none needs an escape.
pub fn put_name(name: &'static str, out: &mut Vec<u8>) {
    debug_assert!(is_plain(name), "{name}");
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
}

impl Put for str {
    fn put(&self, out: &mut Vec<u8>) {
        // What comes from outside may need escapes.
        if is_plain(self) {
            out.push(b'"');
            out.extend_from_slice(self.as_bytes());
            out.push(b'"');
        } else if self.chars().any(is_obeyed) {
            put_escaped(self, out);
        } else if serde_json::to_writer(&mut *out, self).is_err() {
            out.extend_from_slice(b"null"); // a string into memory: cannot happen
        }
    }
}

/// What a terminal or an editor obeys instead of showing it, and JSON lets through: C1 controls, line and paragraph
/// separators, marks and overrides of the direction of writing (Unicode Standard Annex 9), invisible operators.
fn is_obeyed(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The same text for whoever reads the JSON: only its notation differs.
#[cold]
fn put_escaped(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend_from_slice(&[b'\\', c as u8]),
            c if c < ' ' || is_obeyed(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}
impl<T: Put + ?Sized> Put for &T {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }
}
impl Put for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_str().put(out);
    }
}
impl<T: Put> Put for [T] {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (i, item) in self.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            item.put(out);
        }
        out.push(b']');
    }
}
impl<T: Put> Put for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_slice().put(out);
    }
}

/// Text that is JSON already.
pub struct Raw<'a>(pub &'a [u8]);
impl Put for Raw<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0);
    }
}

/// A value that a function writes.
pub struct By<F>(pub F);
impl<F: Fn(&mut Vec<u8>)> Put for By<F> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.0)(out);
    }
}

/// The numbers from 00 to 99, two digits each.
const PAIRS: [u8; 200] = {
    let mut pairs = [b'0'; 200];
    let mut n = 0;
    while n < 100 {
        pairs[2 * n] += (n / 10) as u8;
        pairs[2 * n + 1] += (n % 10) as u8;
        n += 1;
    }
    pairs
};

/// `n / 10^PLACES`, exactly, without zeros at the end.
#[inline]
fn decimal<const PLACES: usize>(out: &mut Vec<u8>, n: i64) {
    let scale = const { 10u64.pow(PLACES as u32) };
    let size = n.unsigned_abs();
    if n < 0 {
        out.push(b'-');
    }
    (size / scale).put(out);
    let mut rest = (size % scale) as u32;
    if rest == 0 {
        return;
    }
    let mut digits = [b'0'; PLACES];
    for pair in digits.rchunks_exact_mut(2) {
        let two = (rest % 100) as usize * 2;
        pair.copy_from_slice(&PAIRS[two..two + 2]);
        rest /= 100;
    }
    if PLACES % 2 == 1 {
        digits[0] += rest as u8;
    }
    out.push(b'.');
    // All of them, whose number is known when this is compiled, and back again: quicker than a copy of any length.
    out.extend_from_slice(&digits);
    let zeros = digits.iter().rev().take_while(|d| **d == b'0').count();
    out.truncate(out.len() - zeros);
}

/// Seconds, to the nanosecond.
impl Put for Span {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        decimal::<9>(out, self.0);
    }
}

/// To nine places; what is not finite is null.
impl Put for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        let scaled = self * 1e9;
        if scaled.abs() < 9e18 {
            decimal::<9>(out, scaled.round() as i64);
        } else if self.is_finite() && write!(out, "{self}").is_ok() {
        } else {
            out.extend_from_slice(b"null");
        }
    }
}
impl Put for f32 {
    fn put(&self, out: &mut Vec<u8>) {
        // A confidence: six places are all it has.
        ((f64::from(*self) * 1e6).round() / 1e6).put(out);
    }
}

/// Seconds written as milliseconds, to the nanosecond.
pub struct Millis(pub f64);
impl Put for Millis {
    fn put(&self, out: &mut Vec<u8>) {
        decimal::<6>(out, (self.0 * 1e9).round() as i64);
    }
}

impl Put for Endpoint {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        if self.host.is_v4() {
            for (i, octet) in self.host.0[12..].iter().enumerate() {
                if i > 0 {
                    out.push(b'.');
                }
                octet.put(out);
            }
            out.push(b':');
            self.port.put(out);
        } else {
            let _ = write!(out, "{self}"); // into memory
        }
        out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: impl Put) -> String {
        let mut out = Vec::new();
        value.put(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn seconds_are_exact_decimals() {
        assert_eq!(text(Span(0)), "0");
        assert_eq!(text(Span(1_500_000_000)), "1.5");
        assert_eq!(text(Span(-1)), "-0.000000001");
        assert_eq!(text(Span(i64::MAX)), "9223372036.854775807");
        assert_eq!(text(Span(i64::MIN)), "-9223372036.854775808");
        assert_eq!(text(Millis(0.0412)), "41.2");
        assert_eq!(text(Millis(1.000_000_001)), "1000.000001");
        assert_eq!(text(Span(120_345_000)), "0.120345");
        assert_eq!(text(Span(10)), "0.00000001");
    }

    #[test]
    fn what_a_terminal_would_obey_is_written_as_an_escape_and_read_as_it_was() {
        let name = "a\u{202e}gnp\u{9b}31m\u{2028}\"\\\n\u{e0041}é.pcap";
        let told = text(name);
        assert_eq!(told, "\"a\\u202egnp\\u009b31m\\u2028\\\"\\\\\\u000a\\udb40\\udc41é.pcap\"");
        assert_eq!(serde_json::from_str::<String>(&told).unwrap(), name);
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!(text(f64::NAN), "null");
        assert_eq!(text(f64::NEG_INFINITY), "null");
        assert_eq!(text(1e300).parse::<f64>().unwrap(), 1e300);
        assert_eq!(text(None::<u32>), "null");
    }

    #[test]
    fn strings_from_outside_are_escaped() {
        let odd = "a\"b\\c\u{1}\u{e9}\n";
        assert_eq!(serde_json::from_str::<String>(&text(odd)).unwrap(), odd);
    }

    #[test]
    fn endpoints_are_ip_and_port() {
        use wire::Host;
        assert_eq!(text(Endpoint { host: Host::v4([10, 0, 255, 1]), port: 80 }), "\"10.0.255.1:80\"");
        assert_eq!(text(Endpoint { host: Host::v6([0; 16]), port: 80 }), "\"[::]:80\"");
    }

    #[test]
    fn objects_nest_and_their_commas_are_right() {
        let mut o = Vec::new();
        let out = &mut o;
        object!(out, "a": 1u32, "b": { "c": true, "d": { } }, "e": vec![1u8, 2]);
        assert_eq!(std::str::from_utf8(&o).unwrap(), r#"{"a":1,"b":{"c":true,"d":{}},"e":[1,2]}"#);
    }
}
