//! How fast packets can be read: the floor under any analysis of them.
//!
//! `cargo run --release -p rexmit-capture --example floor -- FILE...` reads the files, adds up the payload, and
//! prints packets per CPU second (user and system time of this process, from /proc/self/schedstat). With
//! `--checksums` TCP checksums are verified too.

use std::path::PathBuf;

/// CPU seconds that this process has used, user and system, to the nanosecond.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn main() -> Result<(), capture::Error> {
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let mut options = capture::Options::default();
    paths.retain(|p| match p.as_os_str() == "--checksums" {
        true => {
            options.verify_checksums = true;
            false
        }
        false => true,
    });
    let before = cpu_seconds();
    let mut reader = capture::open(&paths, &options)?;
    let mut batch = Vec::with_capacity(512);
    let mut payload = 0u64;
    while reader.read_batch(&mut batch, 512) {
        payload += batch.iter().map(|p| u64::from(p.seg.payload)).sum::<u64>();
    }
    let seconds = cpu_seconds() - before;
    let info = reader.info();
    println!("{} packets, {} TCP, {payload} bytes of payload", info.packets, info.tcp_packets);
    println!(
        "{seconds:.2} CPU seconds, {:.1} million packets per CPU second",
        info.packets as f64 / seconds / 1e6
    );
    println!("{} checksums verified, {} wrong", info.checksums_verified.unwrap_or(0), info.checksums_bad);
    for w in &info.warnings {
        println!("{w}");
    }
    if let Some(why) = info.nothing() {
        println!("{why}");
    }
    Ok(())
}
