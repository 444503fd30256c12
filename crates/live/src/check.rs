//! What this machine can do, what is missing, and the mend.

use crate::error::{Error, sentence};
use crate::plan::Plan;
use crate::sys;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::thread;

/// One thing that a run needs, or would be better with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub what: &'static str,
    /// What was found.
    pub found: String,
    /// What to do about it; `None`: it is there.
    pub mend: Option<String>,
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

/// Why no live run is possible here; `None` if one is.
pub fn missing() -> Option<String> {
    apart(|| Ok(())).err().map(|e| no_namespace(&e))
}

/// What this plan needs is there.
pub(crate) fn for_plan(plan: &Plan) -> Result<(), Error> {
    if let Some(why) = missing() {
        return Err(Error::Machine(why));
    }
    for name in plan.congestion() {
        apart(|| {
            let fd = sys::tcp_socket(std::net::SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, 0))?;
            sys::set_congestion(fd.as_fd(), name)
        })
        .map_err(|e| Error::Machine(no_congestion(name, &e)))?;
    }
    Ok(())
}

fn no_namespace(e: &io::Error) -> String {
    match e.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) if sys::effective_uid() != 0 => {
            "the live bench makes network namespaces, and only root may: sudo rexmit run … --bench live"
                .to_owned()
        }
        Some(libc::EPERM | libc::EACCES) => {
            "root may make no network namespaces here: a container needs CAP_SYS_ADMIN and CAP_NET_ADMIN \
             (docker run --privileged)"
                .to_owned()
        }
        _ => format!("this kernel makes no network namespaces ({}): it needs CONFIG_NET_NS", sentence(e)),
    }
}

fn no_congestion(name: &str, e: &io::Error) -> String {
    let has = congestion_controls().join(", ");
    match e.raw_os_error() {
        Some(libc::ENOENT) => format!(
            "this kernel has no congestion control {name} (it has {has}): modprobe tcp_{name}, or choose another"
        ),
        Some(libc::EPERM) => format!(
            "this kernel lets only CAP_NET_ADMIN choose congestion control {name}: run as root, or add it to \
             net.ipv4.tcp_allowed_congestion_control"
        ),
        _ => format!("congestion control {name}: {}", sentence(e)),
    }
}
