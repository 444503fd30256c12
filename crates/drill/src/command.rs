//! What a shell would be told, as settings. Nothing is ever run.

use crate::Stop;
use crate::script::Command;

/// A kernel's parameter and what it is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) line: u32,
    pub(crate) name: String,
    pub(crate) value: String,
}

/// What packetdrill's own tests set before each script (gtests/net/tcp/common/defaults.sh, and the same in the kernel's
/// selftests), as far as it says anything about TCP.
const DEFAULTS: &[(&str, &str)] = &[
    ("tcp_rmem", "4096 540000 15728640"),
    ("tcp_wmem", "4096 262144 4194304"),
    ("tcp_timestamps", "1"),
    ("tcp_syn_retries", "5"),
    ("tcp_synack_retries", "5"),
    ("tcp_frto", "2"),
    ("tcp_sack", "1"),
    ("tcp_dsack", "1"),
    ("tcp_fack", "0"),
    ("tcp_reordering", "3"),
    ("tcp_congestion_control", "cubic"),
    ("tcp_slow_start_after_idle", "0"),
    ("tcp_early_retrans", "4"),
    ("tcp_recovery", "1"),
    ("tcp_tso_win_divisor", "3"),
    ("tcp_ecn", "0"),
];

/// What a command sets, in its order.
pub(crate) fn settings(command: &Command) -> Result<Vec<Setting>, Stop> {
    let mut all = Vec::new();
    let joined = command.text.replace("\\\n", " ");
    for (at, line) in joined.split('\n').enumerate() {
        for part in line.split(';').flat_map(|p| p.split("&&")) {
            let words = words(part);
            if !words.is_empty() {
                one(command.line + at as u32, part.trim(), &words, &mut all)?;
            }
        }
    }
    Ok(all)
}

fn one(line: u32, text: &str, words: &[String], all: &mut Vec<Setting>) -> Result<(), Stop> {
    let add = |all: &mut Vec<Setting>, name: &str, value: &str| {
        all.push(Setting { line, name: name.to_owned(), value: value.to_owned() });
    };
    let program = words[0].rsplit('/').next().unwrap_or_default();
    let rest: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    match (program, rest.as_slice()) {
        ("defaults.sh" | "set_sysctls_defaults.sh", []) => {
            for (name, value) in DEFAULTS {
                add(all, name, value);
            }
        }
        ("sysctl" | "set_sysctls.py", settings) => {
            for set in settings.iter().filter(|w| !w.starts_with('-') && !is_redirection(w)) {
                let Some((path, value)) = set.split_once('=') else {
                    return Err(Stop::unsupported(line, format!("the command `{text}`")));
                };
                add(all, parameter(path), value);
            }
        }
        ("echo", [value, ">", path])
            if path.starts_with("/proc/sys/") || path.starts_with("/sys/module/") =>
        {
            add(all, parameter(path), value);
        }
        ("tc", ["qdisc", "add" | "replace" | "change", "dev", _, "root", kind, ..]) => {
            // A limit of its own is a queue that drops.
            let value = if rest.len() > 6 { rest[5..].join(" ") } else { (*kind).to_owned() };
            add(all, "qdisc", &value);
        }
        ("tc", ["qdisc", "delete" | "del", "dev", _, "root", ..]) => add(all, "qdisc", "pfifo_fast"),
        ("ip", ["tcp_metrics", "flush", ..]) | ("sleep" | "true" | ":", _) => {}
        (restore, []) if restore.starts_with("sysctl_restore_") => {}
        _ => return Err(Stop::unsupported(line, format!("the command `{text}`"))),
    }
    Ok(())
}

fn is_redirection(word: &str) -> bool {
    word.contains('>') || word == "/dev/null"
}

/// The last part of its path, which is its name: `net.ipv4.tcp_ecn`, `/proc/sys/net/ipv4/tcp_ecn`.
fn parameter(path: &str) -> &str {
    path.rsplit(['.', '/']).next().unwrap_or(path)
}

/// Split at white space that is not within quotes; what follows `#` is a comment.
fn words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), _) if c == q => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, _) if c.is_whitespace() => all.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Result<Vec<(String, String)>, String> {
        match settings(&Command { line: 1, text: text.to_owned() }) {
            Ok(all) => Ok(all.into_iter().map(|s| (s.name, s.value)).collect()),
            Err(stop) => Err(stop.at().says.clone()),
        }
    }
    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn sysctl_lines_are_settings_however_they_are_written() {
        let all = said(
            "sysctl -q net.ipv4.tcp_ecn=2 # why\nsysctl -e -q net/ipv4/tcp_min_tso_segs=4\n\
             ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_sack=0 \\\n /proc/sys/net/ipv4/tcp_frto=1\n\
             echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect\nsysctl -q net.ipv4.tcp_rmem=\"4096 5 6\"",
        );
        let wanted = [
            pair("tcp_ecn", "2"),
            pair("tcp_min_tso_segs", "4"),
            pair("tcp_sack", "0"),
            pair("tcp_frto", "1"),
            pair("hystart_detect", "3"),
            pair("tcp_rmem", "4096 5 6"),
        ];
        assert_eq!(all.unwrap(), wanted);
    }

    #[test]
    fn the_defaults_of_packetdrills_tests_are_known() {
        let all = said("../../common/defaults.sh\nsysctl -q net.ipv4.tcp_ecn=1").unwrap();
        assert!(
            all.contains(&pair("tcp_slow_start_after_idle", "0")) && all.ends_with(&[pair("tcp_ecn", "1")])
        );
    }

    #[test]
    fn any_other_command_is_named_and_never_run() {
        assert_eq!(
            said("ip route add 10.0.0.0/8 dev tun0").unwrap_err(),
            "the command `ip route add 10.0.0.0/8 dev tun0`"
        );
        assert_eq!(said("touch /tmp/x; true").unwrap_err(), "the command `touch /tmp/x`");
    }
}
