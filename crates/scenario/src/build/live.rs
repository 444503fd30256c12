//! What only the live bench reads.

use super::Network;
use crate::model::Live;
use params::problem::Problems;
use params::{Value, Values};

pub(super) fn live(v: Option<&Values>, net: &Network, p: &mut Problems) -> Live {
    let Some(v) = v else { return Live::default() };
    let mut hosts = Vec::new();
    for host in v.tables("host") {
        if let Some(node) = net.named(host.item("name"), p) {
            hosts.push((node, sysctls(host, p)));
        }
    }
    Live { sysctls: sysctls(v, p), hosts, real_time: v.flag("real_time") }
}

/// Keys and values. Only the network is a namespace's own: nothing else may be set.
fn sysctls(v: &Values, p: &mut Problems) -> Vec<(String, String)> {
    let Some(Value::List(all)) = v.item("sysctl").map(|i| &i.value) else { return Vec::new() };
    let mut found = Vec::new();
    for item in all {
        let Some(text) = item.text() else { continue };
        let Some((key, value)) = text.split_once('=') else {
            item.refuse(p, "sets nothing: write key=value, like \"net.ipv4.tcp_ecn=1\"");
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if !key.starts_with("net.") || key.contains("..") || !key.chars().all(plain) {
            item.refuse(p, "is no setting of a host's own: only net.… belongs to a network namespace");
        } else if value.is_empty() {
            item.refuse(p, "has no value behind its =");
        } else {
            found.push((key.to_owned(), value.to_owned()));
        }
    }
    found
}
