//! Text of META: JSON in which nothing is obeyed, whatever a capture calls its interfaces.

/// A text as JSON.
pub fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Names as a list in JSON.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(string).collect();
    format!("[{}]", names.join(","))
}

/// JSON of the core, in which control characters and what turns the direction of writing are escapes: drawn instead.
pub fn visible(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at..];
        let code = escape.get(2..6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match (escape.as_bytes().get(1), code) {
            (Some(b'u'), Some(code)) => {
                match code {
                    0x0a => out.push_str("\\n"),
                    0x09 => out.push_str("\\t"),
                    // As Unicode draws them.
                    0..0x20 => out.extend(char::from_u32(0x2400 + code)),
                    0x7f => out.push('\u{2421}'),
                    0x80..0xa0 => out.push('\u{fffd}'),
                    _ => {
                        out.push('\\');
                        out.push_str(&escape[..6]);
                    }
                }
                rest = &escape[6..];
            }
            _ => {
                // Escapes of a letter have two bytes: a backslash and an ASCII letter.
                let end = escape.len().min(2);
                out.push_str(&escape[..end]);
                rest = &escape[end..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// JSON that may stand in an element of a page.
pub fn in_html(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 64);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

/// 1,234,567
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_obeyed_is_drawn() {
        let told = r#"{"name":"a\u001bb\u202ec\\u0007 \"d\" \n"}"#;
        assert_eq!(visible(told), r#"{"name":"a␛b\\u202ec\\u0007 \"d\" \n"}"#);
        assert_eq!(in_html("\"</script>&\u{2028}\""), r#""\u003c/script\u003e\u0026\u2028""#);
    }
}
