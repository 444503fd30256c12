//! Other projects' captures, where they lie beside the project: each is read, or refused with a sentence.

mod common;

use capture::{Format, Options};
use common::read_all;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures/public");
    dir.join("MANIFEST.csv").exists().then_some(dir)
}

/// File, packets, file format of each capture that the manifest lists.
fn manifest(dir: &Path) -> Vec<(String, u64, String)> {
    let text = std::fs::read_to_string(dir.join("MANIFEST.csv")).unwrap();
    let mut lines = text.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name| head.iter().position(|h| *h == name).unwrap();
    let (file, kind, packets, format) =
        (column("file"), column("kind"), column("packets"), column("fileformat"));
    let rows = lines.filter(|l| l[kind] == "capture");
    rows.map(|l| (l[file].to_string(), l[packets].parse().unwrap(), l[format].to_string())).collect()
}

#[test]
fn every_public_capture_is_read_or_refused_with_a_sentence() {
    let Some(dir) = folder() else {
        println!("skipped: ../shared/captures/public is not there");
        return;
    };
    let mut refused = BTreeMap::new();
    let mut read = 0;
    for (file, packets, format) in manifest(&dir) {
        let path = dir.join(&file);
        let supported = ["pcap", "nsecpcap", "snoop"].iter().any(|f| format.starts_with(f));
        match capture::open(std::slice::from_ref(&path), &Options::default()) {
            Ok(_) => {
                let (given, info) = read_all(&[path], &Options::default());
                assert!(supported, "{file} was read as {}, but is {format}", info.files[0].format);
                assert_eq!(info.packets, packets, "packets of {file}: {:?}", info.warnings);
                assert_eq!(given.len() as u64, info.selected);
                let o = info.others;
                let other =
                    o.arp + o.udp + o.icmp + o.other_ip + o.non_ip + o.encrypted + o.fragments + o.truncated;
                let left_out = info.malformed.count + info.unsupported.iter().map(|u| u.packets).sum::<u64>();
                assert_eq!(info.tcp_packets + other + left_out, packets, "each packet of {file} counts once");
                assert_eq!(info.nothing().is_some(), info.tcp_packets == 0, "{file}");
                if info.files[0].format == Format::Pcapng {
                    assert!(info.files[0].sections > 0);
                }
                read += 1;
            }
            Err(e) => {
                assert!(!supported, "{file} is {format}, but: {e}");
                let said = e.to_string();
                assert!(said.starts_with(&path.display().to_string()) && !said.contains('\n'), "{said}");
                refused.insert(file, said);
            }
        }
    }
    assert!(read >= 160, "only {read} captures were read");
    let named = |file: &str, what: &str| assert!(refused[file].contains(what), "{}", refused[file]);
    named("tcptrace/eth.erf.gz", "ERF");
    named("tcptrace/atm.erf.gz", "ERF");
    named("tcptrace/chdlc.erf.gz", "ERF");
    named("tcptrace/finger.netm.gz", "NetMetrix");
    named("tcptrace/http.epeek7.gz", "EtherPeek");
    named("tcptrace/reno.epeek.gz", "EtherPeek");
    named("tcptrace/nlanr.tsh.gz", "TSH");
}
