//! What this machine can do, what is missing, and the fix.

use crate::awake::{self, Awake};
use crate::error::{Error, is_refused, sentence};
use crate::floor;
use crate::plan::Plan;
use crate::sys;
use crate::threads::Rank;
use crate::trace;
use instant::Span;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::thread;

/// So long the clock is looked at, and a thread should be in time within that.
const FLOOR: Span = Span::from_millis(300);
const FLOOR_BAR: Span = Span::from_micros(200);

/// One thing that a run needs, or would be better with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub what: &'static str,
    /// What was found.
    pub found: String,
    /// What to do about it; `None`: it is there.
    pub fix: Option<String>,
    /// No run goes without it.
    pub needed: bool,
}

pub fn kernel() -> String {
    let read = |what| fs::read_to_string(format!("/proc/sys/kernel/{what}")).unwrap_or_default();
    format!("{} {}", read("ostype").trim(), read("osrelease").trim())
}

/// The congestion controls of this kernel.
pub fn congestion_controls() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Those of them that a namespace may have for all its sockets: programs choose none themselves.
pub fn allowed_congestion_controls() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// On a thread in a new namespace, so that nothing of the machine's own is touched.
fn apart<T: Send>(act: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let act = || {
            sys::unshare_net()?;
            act()
        };
        scope.spawn(act).join().unwrap_or_else(|_| Err(io::Error::other("the thread died")))
    })
}

/// All that a run needs, or would be better with.
pub fn machine() -> Vec<Finding> {
    let there = |what, found: String, needed| Finding { what, found, fix: None, needed };
    let not = |what, found: String, fix: String, needed| Finding { what, found, fix: Some(fix), needed };
    let mut all = vec![there("kernel", kernel(), true)];
    match missing() {
        Some(why) => all.push(not("network namespaces", "none can be made".into(), why, true)),
        None => {
            all.push(there("network namespaces", "can be made".into(), true));
            all.extend(inside(there, not));
        }
    }
    let (has, may) = (congestion_controls().join(", "), allowed_congestion_controls().join(", "));
    all.push(match has == may {
        true => there("congestion controls", has, false),
        false => there("congestion controls", format!("{has}; programs can have {may}"), false),
    });
    all.push(match real_time() {
        Ok(()) => there("real-time priority", "the bridge has it".into(), false),
        Err(e) => not(
            "real-time priority",
            format!("refused: {}", sentence(&e)),
            "run as root outside of a container, or with CAP_SYS_NICE: without, packets leave up to milliseconds late"
                .into(),
            false,
        ),
    });
    all.push(match Awake::hold() {
        Ok(_) => there("idle cores", "are kept from halting during a run".into(), false),
        Err(e) => not(
            "idle cores",
            format!("halt: {}: {}", awake::DEVICE, sentence(&e)),
            "run as root, on a kernel with CONFIG_CPU_IDLE: without, packets leave late whenever a core has to wake up".into(),
            false,
        ),
    });
    all.extend(in_time());
    all.push(match std::path::Path::new("/dev/net/tun").exists() {
        true => there("TUN", "/dev/net/tun is there".into(), false),
        false => not(
            "TUN",
            "/dev/net/tun is not there".into(),
            "modprobe tun; rexmit's own endpoint needs it".into(),
            false,
        ),
    });
    all.push(match trace::possible() {
        Ok(()) => there("sender state", "kernels tell it at every ACK and every packet (BPF)".into(), false),
        Err(why) => not(
            "sender state",
            format!("kernels cannot be asked at every ACK: {why}"),
            "a kernel with CONFIG_BPF_SYSCALL and CONFIG_DEBUG_INFO_BTF, and CAP_BPF and CAP_PERFMON: without, senders \
             are asked every 5 ms"
                .into(),
            false,
        ),
    });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    all.push(match cores {
        0 | 1 => not(
            "cores",
            "1".into(),
            "with one core hosts and bridge wait for each other: keep to some 10 Mbps".into(),
            false,
        ),
        n => there("cores", n.to_string(), false),
    });
    let mut left = crate::clean::left_over();
    left.extend(crate::scratch::left_over().iter().map(|path| path.display().to_string()));
    all.push(match left {
        left if left.is_empty() => there("left-overs", "none".into(), false),
        left => not("left-overs", left.join(", "), "rexmit live clean".into(), false),
    });
    all
}

/// What can be tried in a namespace only.
fn inside(
    there: impl Fn(&'static str, String, bool) -> Finding,
    not: impl Fn(&'static str, String, String, bool) -> Finding,
) -> [Finding; 2] {
    let pair = apart(|| {
        let ns = fs::File::open("/proc/thread-self/ns/net")?;
        let end = |name, mac| crate::netlink::End { name, mac, ns: ns.as_fd() };
        crate::netlink::Netlink::open()?
            .veth(&end("rexmit-a", [2, 0, 0, 0, 0, 1]), &end("rexmit-b", [2, 0, 0, 0, 0, 2]))
    });
    let packets = apart(|| sys::packet_socket(sys::ETH_P_IP, 1).map(drop));
    let fix = |e: &io::Error, what: &str, right: &str| {
        if is_refused(e) { no_right(right) } else { what.to_owned() }
    };
    [
        match pair {
            Ok(()) => there("veth pairs", "can be made".into(), true),
            Err(e) => not(
                "veth pairs",
                sentence(&e),
                fix(&e, "modprobe veth, or a kernel with CONFIG_VETH", "CAP_NET_ADMIN"),
                true,
            ),
        },
        match packets {
            Ok(()) => there("packet sockets", "can be opened".into(), true),
            Err(e) => not(
                "packet sockets",
                sentence(&e),
                fix(&e, "a kernel with CONFIG_PACKET", "CAP_NET_RAW"),
                true,
            ),
        },
    ]
}

/// How late a thread with the bridge's priority is that does nothing else: what no bridge can better here and now.
fn in_time() -> Option<Finding> {
    let late = floor::run(FLOOR, true).ok()?;
    let at = |share| late.quantile(share).unwrap_or_default();
    let found =
        format!("a thread that only looks at the clock is late by p99 {}, p99.9 {}", at(0.99), at(0.999));
    let fix = "another process with real-time priority, or a hypervisor with other guests, takes the core away: \
                nothing on this machine can be in time then";
    let fix = (at(0.999) > FLOOR_BAR).then(|| fix.to_owned());
    Some(Finding { what: "time", found, fix, needed: false })
}

/// Tried on a thread of its own, which ends with it.
fn real_time() -> io::Result<()> {
    let tried = thread::spawn(|| sys::real_time(Rank::Bridge.priority())).join();
    tried.unwrap_or_else(|_| Err(io::Error::other("the thread died")))
}

/// Why no live run is possible here; `None` if one is.
pub fn missing() -> Option<String> {
    apart(|| Ok(())).err().map(|e| no_namespace(&e))
}

/// What this plan needs is there.
pub(crate) fn for_plan(plan: &Plan) -> Result<(), Error> {
    if let Some(why) = missing() {
        return Err(Error::Machine(why));
    }
    for (right, tried) in [
        ("CAP_NET_ADMIN", apart(|| crate::netlink::Netlink::open()?.up(1))),
        ("CAP_NET_RAW", apart(|| sys::packet_socket(sys::ETH_P_IP, 1).map(drop))),
    ] {
        if tried.is_err_and(|e| is_refused(&e)) {
            return Err(Error::Machine(format!("network namespaces cannot be set up: {}", no_right(right))));
        }
    }
    for (name, key) in plan.congestion() {
        apart(|| {
            let fd = sys::tcp_socket(std::net::SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, 0))?;
            sys::set_congestion(fd.as_fd(), name)
        })
        .map_err(|e| no_congestion(name, &key, &e))?;
    }
    Ok(())
}

/// What to do about a capability that root, or whoever runs this, has not.
fn no_right(right: &str) -> String {
    format!("{right} is missing: run as root; root in a container needs docker run --cap-add {}", &right[4..])
}

fn no_namespace(e: &io::Error) -> String {
    match is_refused(e) {
        true if sys::effective_uid() != 0 => {
            "the live bench makes network namespaces, and only root may: sudo rexmit run … --bench live"
                .to_owned()
        }
        true => {
            "root may make no network namespaces here: a container needs CAP_SYS_ADMIN and CAP_NET_ADMIN \
             (docker run --privileged)"
                .to_owned()
        }
        false => format!("this kernel makes no network namespaces ({}): it needs CONFIG_NET_NS", sentence(e)),
    }
}

fn no_congestion(name: &str, key: &str, e: &io::Error) -> Error {
    let has = congestion_controls();
    if e.raw_os_error() != Some(libc::ENOENT) {
        return Error::Machine(format!("congestion control {name}: {}", sentence(e)));
    }
    let lacks = format!("this kernel has no congestion control {name} (it has {})", has.join(", "));
    match scenario::nearest(name, has.iter().map(String::as_str)) {
        Some(near) => Error::Scenario(format!("{key}: {lacks}; did you mean {near:?}?")),
        None => Error::Machine(format!("{lacks}: modprobe tcp_{name}, or choose another")),
    }
}
