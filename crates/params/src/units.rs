//! Quantities as people write them: "5.2Mbps", "2ms", "10MiB", "3 SMSS", "100 packets", "2%".
//!
//! Decimal text becomes an integer exactly: no float stands between the file and the run.

use instant::Span;

/// What an amount may be counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Packets,
    Smss,
    Time,
}

/// A quantity with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Bytes(u64),
    Packets(f64),
    Smss(f64),
    Time(Span),
}

/// Why a text is no quantity of the wanted kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// No number at its beginning.
    NoNumber,
    NoUnit,
    /// Another unit than those asked for.
    WrongUnit,
    Negative,
    TooLarge,
}

pub const TIME: &[(&str, i128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
pub const RATE: &[(&str, i128)] =
    &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];
pub const SIZE: &[(&str, i128)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

impl Unit {
    /// The names that are listed for it.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Unit::Bytes => &["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"],
            Unit::Packets => &["packets"],
            Unit::Smss => &["SMSS"],
            Unit::Time => &["ns", "us", "ms", "s", "min", "h"],
        }
    }
}

/// A difference of time, sign included, rounded to the nanosecond; at most 36 years.
pub fn span(text: &str) -> Result<Span, Slip> {
    let (number, unit) = split(text)?;
    let factor = factor(if unit == "µs" { "us" } else { unit }, TIME)?;
    let ns = number.times(factor).ok_or(Slip::TooLarge)?;
    if ns.unsigned_abs() > Span::MAX.0.unsigned_abs().into() {
        return Err(Slip::TooLarge);
    }
    Ok(Span(ns as i64))
}

/// Bits per second.
pub fn rate(text: &str) -> Result<u64, Slip> {
    let (number, unit) = split(text)?;
    positive(number.times(factor(unit, RATE)?))
}

pub fn amount(text: &str, allowed: &[Unit]) -> Result<Amount, Slip> {
    let (number, unit) = split(text)?;
    let allows = |u: Unit| allowed.contains(&u);
    match unit {
        "" => Err(Slip::NoUnit),
        "SMSS" if allows(Unit::Smss) => number.not_negative().map(Amount::Smss),
        "packets" | "packet" if allows(Unit::Packets) => number.not_negative().map(Amount::Packets),
        "bytes" | "byte" if allows(Unit::Bytes) => positive(number.times(1)).map(Amount::Bytes),
        unit if allows(Unit::Bytes) && SIZE.iter().any(|(n, _)| *n == unit) => {
            positive(number.times(factor(unit, SIZE)?)).map(Amount::Bytes)
        }
        _ if allows(Unit::Time) => match span(text)? {
            Span(ns) if ns < 0 => Err(Slip::Negative),
            span => Ok(Amount::Time(span)),
        },
        _ => Err(Slip::WrongUnit),
    }
}

/// "2%" or "0.02".
pub fn probability(text: &str) -> Result<f64, Slip> {
    let (number, unit) = split(text)?;
    match unit {
        "" => Ok(number.as_f64()),
        "%" => Ok(Decimal { power: number.power - 2, ..number }.as_f64()),
        _ => Err(Slip::WrongUnit),
    }
}

fn positive(n: Option<i128>) -> Result<u64, Slip> {
    match n {
        None => Err(Slip::TooLarge),
        Some(n) if n < 0 => Err(Slip::Negative),
        // Half the range, so that sums of two cannot wrap.
        Some(n) => u64::try_from(n).ok().filter(|n| *n <= u64::MAX / 2).ok_or(Slip::TooLarge),
    }
}

fn factor(unit: &str, table: &[(&str, i128)]) -> Result<i128, Slip> {
    match unit {
        "" => Err(Slip::NoUnit),
        unit => table.iter().find(|(name, _)| *name == unit).map(|(_, f)| *f).ok_or(Slip::WrongUnit),
    }
}

/// `digits * 10^power`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Decimal {
    digits: i128,
    power: i32,
}

impl Decimal {
    /// Times a unit's factor, to the nearest whole number (halves away from zero).
    fn times(self, factor: i128) -> Option<i128> {
        let product = self.digits.checked_mul(factor)?;
        if self.power >= 0 {
            return product.checked_mul(10i128.checked_pow(self.power as u32)?);
        }
        let Some(divisor) = 10i128.checked_pow(self.power.unsigned_abs()) else { return Some(0) };
        let half = if product < 0 { -(divisor / 2) } else { divisor / 2 };
        Some((product + half) / divisor)
    }

    /// The nearest float: the standard library reads decimal text exactly.
    fn as_f64(self) -> f64 {
        format!("{}e{}", self.digits, self.power).parse().unwrap_or(f64::NAN)
    }

    fn not_negative(self) -> Result<f64, Slip> {
        if self.digits < 0 { Err(Slip::Negative) } else { Ok(self.as_f64()) }
    }
}

/// The number at the beginning, and the unit behind it.
fn split(text: &str) -> Result<(Decimal, &str), Slip> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (if text.starts_with('-') { -1 } else { 1 }, rest),
        None => (1, text),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(end);
    let (number, unit) = exponent(rest, number, unit);
    let digits: String = number.mantissa.chars().filter(char::is_ascii_digit).collect();
    let points = number.mantissa.matches('.').count();
    if digits.is_empty() || points > 1 {
        return Err(Slip::NoNumber);
    }
    let fraction =
        number.mantissa.split_once('.').map_or(0, |(_, f)| f.chars().filter(char::is_ascii_digit).count());
    let whole: i128 = digits.parse().map_err(|_| Slip::TooLarge)?;
    let power = i32::try_from(fraction).map_err(|_| Slip::TooLarge)?;
    Ok((Decimal { digits: sign * whole, power: number.power - power }, unit.trim()))
}

struct Written<'a> {
    mantissa: &'a str,
    power: i32,
}

/// Takes "e-5" off the beginning of what follows the digits, where it is there.
fn exponent<'a>(rest: &'a str, mantissa: &'a str, behind: &'a str) -> (Written<'a>, &'a str) {
    let plain = (Written { mantissa, power: 0 }, behind);
    let Some(tail) = behind.strip_prefix(['e', 'E']) else { return plain };
    let signed = usize::from(tail.starts_with(['-', '+']));
    let digits = tail[signed..].find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len() - signed);
    let Ok(power) = tail[..signed + digits].parse::<i32>() else { return plain };
    if digits == 0 || power.abs() > 400 {
        return plain;
    }
    let used = rest.len() - tail.len() + signed + digits;
    (Written { mantissa, power }, &rest[used..])
}

/// As a file has it: the largest unit that shows it exactly.
pub fn show_span(span: Span) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let (name, factor) = units.into_iter().find(|(_, f)| span.0 % f == 0).unwrap_or(("ns", 1));
    format!("{}{name}", span.0 / factor)
}

pub fn show_rate(bps: u64) -> String {
    let units = [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)];
    for (name, factor) in units {
        // One decimal place reads better than a thousand of the smaller unit: 5.2Mbps.
        if bps >= factor && (bps % factor * 10).is_multiple_of(factor) {
            return match bps % factor {
                0 => format!("{}{name}", bps / factor),
                rest => format!("{}.{}{name}", bps / factor, rest * 10 / factor),
            };
        }
    }
    format!("{bps}bps")
}

pub fn show_bytes(bytes: u64) -> String {
    let units = [
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("kB", 1_000),
    ];
    match units.into_iter().find(|(_, f)| bytes > 0 && bytes.is_multiple_of(*f)) {
        Some((name, factor)) => format!("{}{name}", bytes / factor),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests;
