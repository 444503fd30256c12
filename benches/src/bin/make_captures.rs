//! Writes one benchmark capture: `make_captures KIND PACKETS OUT.pcap [--snap BYTES] [--seed N]`.

use benches::bulk::{self, Bulk};
use benches::pcap::Writer;
use benches::short::{self, PACKETS_A_FLOW, Short};
use std::fs::File;
use std::io::{self, BufWriter};
use std::process::ExitCode;

const USAGE: &str = "make_captures KIND PACKETS OUT.pcap [--snap BYTES] [--seed N]
  one-flow      one transfer, nothing lost
  one-flow-10   one transfer, a tenth lost and sent again
  flows-240-10  240 transfers at once, a tenth lost and sent again
  short         exchanges of ten packets, about 20,000 open at once
  short-open    exchanges of ten packets, all open at the same time";

struct Wanted {
    kind: String,
    packets: u64,
    out: String,
    snap: u32,
    seed: u64,
}

fn wanted() -> Option<Wanted> {
    let mut args = std::env::args().skip(1);
    let (kind, packets, out) = (args.next()?, args.next()?.parse().ok()?, args.next()?);
    let mut w = Wanted { kind, packets, out, snap: 96, seed: 1 };
    while let Some(option) = args.next() {
        let value = args.next()?;
        match option.as_str() {
            "--snap" => w.snap = value.parse().ok()?,
            "--seed" => w.seed = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(w)
}

fn make(w: &Wanted) -> io::Result<Option<String>> {
    let flows = w.packets.div_ceil(PACKETS_A_FLOW) as u32;
    let bulk = |flows, loss, window| Bulk { flows, loss, window, seed: w.seed };
    let short = |open| Short { flows, open, seed: w.seed };
    let file = BufWriter::with_capacity(1 << 20, File::create(&w.out)?);
    let mut out = Writer::new(file, w.snap, w.packets)?;
    match w.kind.as_str() {
        "one-flow" => bulk::write(&bulk(1, 0.0, 100), &mut out)?,
        "one-flow-10" => bulk::write(&bulk(1, 0.1, 100), &mut out)?,
        "flows-240-10" => bulk::write(&bulk(240, 0.1, 24), &mut out)?,
        "short" => short::write(&short(20_000), &mut out)?,
        // A flow lives between half and one and a half times its mean: eight times as long leaves room.
        "short-open" => short::write(&short(flows.saturating_mul(8)), &mut out)?,
        _ => return Ok(None),
    }
    let said = format!("{}: {} packets, {} with data", w.out, out.packets(), out.data_packets());
    out.finish()?;
    Ok(Some(said))
}

fn main() -> ExitCode {
    let Some(w) = wanted() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match make(&w) {
        Ok(Some(said)) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Ok(None) => {
            eprintln!("{}: no such kind of capture\n{USAGE}", w.kind);
            ExitCode::from(2)
        }
        Err(e) => {
            eprintln!("{}: {e}", w.out);
            ExitCode::FAILURE
        }
    }
}
