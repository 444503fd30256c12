//! Numbers in words: two or three significant digits, and the unit beside them.

use wire::Span;

/// `21 ms`, `487 ms`, `4.1 s`, `20.3 s`, `153 s`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s >= 99.95 => format!("{s:.0} s"),
        s if s >= 0.9995 => format!("{s:.1} s"),
        s if s >= 0.00995 => format!("{:.0} ms", s * 1e3),
        s if s >= 0.0001 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    }
}

pub fn span(s: Span) -> String {
    seconds(s.as_secs())
}

/// The period of a repeated event: `450 ms`, `2.50 s`, `15.0 s`; between 1 s and 10 s with one decimal more than a
/// duration.
pub fn period(s: f64) -> String {
    match s {
        s if s >= 9.995 => format!("{s:.1} s"),
        s if s >= 0.9995 => format!("{s:.2} s"),
        s => format!("{:.0} ms", s * 1e3),
    }
}

/// `536 bytes`, `5.5 kB`, `55 kB`, `10.0 MB`.
pub fn bytes(b: u64) -> String {
    let f = b as f64;
    match f {
        f if f < 1e3 => format!("{b} bytes"),
        f if f < 9.95e3 => format!("{:.1} kB", f / 1e3),
        f if f < 999.5e3 => format!("{:.0} kB", f / 1e3),
        f if f < 99.95e6 => format!("{:.1} MB", f / 1e6),
        f if f < 999.5e6 => format!("{:.0} MB", f / 1e6),
        f => format!("{:.2} GB", f / 1e9),
    }
}

/// `840 bps`, `64 kbps`, `10.9 Mbps`, `1.25 Gbps`.
pub fn rate(bps: f64) -> String {
    match bps {
        r if r < 1e3 => format!("{r:.0} bps"),
        r if r < 999.5e3 => format!("{:.0} kbps", r / 1e3),
        r if r < 99.95e6 => format!("{:.1} Mbps", r / 1e6),
        r if r < 999.5e6 => format!("{:.0} Mbps", r / 1e6),
        r => format!("{:.2} Gbps", r / 1e9),
    }
}

/// `0.04%`, `2.1%`, `38%`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p >= 9.95 => format!("{p:.0}%"),
        p if p >= 0.095 => format!("{p:.1}%"),
        p => format!("{p:.2}%"),
    }
}

/// `1 timeout`, `3 timeouts`.
pub fn count(n: u64, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{} {one}s", grouped(n)),
    }
}

/// `once`, `twice`, `3 times`.
pub fn times(n: u64) -> String {
    match n {
        1 => "once".into(),
        2 => "twice".into(),
        n => format!("{n} times"),
    }
}

/// `1 copy`, `1,282 copies`.
pub fn copies(n: u64) -> String {
    match n {
        1 => "1 copy".into(),
        n => format!("{} copies", grouped(n)),
    }
}

/// `846`, `1,282`, `12,404`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut said = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            said.push(',');
        }
        said.push(d);
    }
    said
}

/// `second`, `third`, … in words as far as a sentence wants them.
pub fn ordinal(n: u32) -> String {
    match n {
        1 => "first".into(),
        2 => "second".into(),
        3 => "third".into(),
        4 => "fourth".into(),
        5 => "fifth".into(),
        6 => "sixth".into(),
        n => {
            let end = match (n % 100, n % 10) {
                (11..=13, _) => "th",
                (_, 1) => "st",
                (_, 2) => "nd",
                (_, 3) => "rd",
                _ => "th",
            };
            format!("{n}{end}")
        }
    }
}
