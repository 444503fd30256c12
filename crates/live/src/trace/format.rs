//! Where a trace event has its fields: the kernel says it in the event's `format`.

/// Offset and size of a field.
pub fn field(text: &str, name: &str) -> Option<(usize, usize)> {
    text.lines().find_map(|line| {
        let mut parts = line.trim().split(';').map(str::trim);
        let declared = parts.next()?.strip_prefix("field:")?;
        let called = declared.split('[').next()?.split_whitespace().next_back()?;
        if called != name {
            return None;
        }
        let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
        Some((number("offset:")?, number("size:")?))
    })
}

/// The number by which its records are known.
pub fn id(text: &str) -> Option<u16> {
    text.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "name: tcp_probe\nID: 2273\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:__u8 saddr[28];\toffset:8;\tsize:28;\tsigned:0;\n\
            \tfield:const void * skaddr;\toffset:128;\tsize:8;\tsigned:0;\n";
        assert_eq!(id(text), Some(2273));
        assert_eq!(field(text, "common_type"), Some((0, 2)));
        assert_eq!(field(text, "saddr"), Some((8, 28)));
        assert_eq!(field(text, "skaddr"), Some((128, 8)));
        assert_eq!(field(text, "addr"), None);
    }
}
