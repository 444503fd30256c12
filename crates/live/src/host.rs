//! One host: a namespace with one interface, whose other end is the bridge's.

use crate::check;
use crate::error::{Error, Told, sentence};
use crate::lock::{LONGEST_NAME, Lock, plain};
use crate::netlink::{End, Mac, Netlink};
use crate::netns::Namespace;
use crate::plan::{CONGESTION, Plan};
use crate::sys;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

/// The interface of every host, in its own namespace.
pub const INTERFACE: &str = "rexmit-eth";
/// What the bridge's namespace is called.
pub const BRIDGE: &str = "bridge";
/// The kernel's bridge device, where there is one.
const KERNEL_BRIDGE: &str = "rexmit-br";
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
const PREFIX: u8 = 8;
const UP_WAIT: Duration = Duration::from_millis(2);
const UP_TRIES: u32 = 2500;
/// ethtool commands (uapi/linux/ethtool.h): checksums, scatter-gather, segmentation, aggregation.
const OFFLOADS: [(&str, u32); 6] = [
    ("gro", 0x2c),
    ("gso", 0x24),
    ("tso", 0x1f),
    ("sg", 0x19),
    ("tx checksums", 0x17),
    ("rx checksums", 0x15),
];

/// What every host is told before what the scenario says: nothing learnt from one run reaches into the next, and
/// nothing is sent but what the scenario sends.
const SYSCTLS: [(&str, &str); 4] = [
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv6.conf.all.disable_ipv6", "1"),
    ("net.ipv6.conf.default.disable_ipv6", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
];

/// One host, or the bridge, which has an interface for each.
pub struct Host {
    pub node: usize,
    pub name: String,
    pub address: Ipv4Addr,
    pub ns: Arc<Namespace>,
}

/// The bridge's interface to host `k`.
pub fn bridge_interface(k: usize) -> String {
    format!("rexmit-{k}")
}

fn mac(family: u8, node: usize) -> Mac {
    let n = node as u32 + 1;
    // Locally administered: 02.
    [0x02, 0x52, family, (n >> 16) as u8, (n >> 8) as u8, n as u8]
}

/// A namespace of this run.
pub fn namespace(lock: &Lock, what: &str) -> Result<Namespace, Error> {
    let name = lock.name(what);
    match Namespace::create(&name) {
        Ok(ns) => Ok(ns),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(Error::Machine(format!(
            "the name {name} is taken in /run/netns by something that is no run of rexmit: ip netns delete {name}"
        ))),
        Err(e) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => Err(Error::Machine(
            format!("this kernel has no network namespaces ({}): it needs CONFIG_NET_NS", sentence(&e)),
        )),
        Err(e) => Err(e).told(format!("network namespace {name}")),
    }
}

/// What a host's namespace is called: as the scenario calls it, and with its place in it where that is no name for one
/// or is taken.
fn label(lock: &Lock, name: &str, node: usize, taken: &mut Vec<String>) -> String {
    let mut label = name.to_owned();
    while taken.contains(&lock.name(&label)) || !lock.name(&label).ends_with(&label) {
        // A part of the number that nothing cuts off.
        label = format!("{}-{}", plain(&label, LONGEST_NAME - 8), node + 1);
    }
    taken.push(lock.name(&label));
    label
}

/// All hosts of a plan, joined to the bridge's namespace.
pub fn build(plan: &Plan, lock: &Lock, bridge: &Namespace) -> Result<Vec<Host>, Error> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut taken = vec![lock.name(BRIDGE)];
    for node in &plan.hosts {
        let name = plan.nodes[*node].clone();
        let ns = Arc::new(namespace(lock, &label(lock, &name, *node, &mut taken))?);
        hosts.push(Host { node: *node, name, address: plan.address(*node), ns });
    }
    for (k, host) in hosts.iter().enumerate() {
        join(k, host, bridge)?;
        configure(plan, host, &hosts)?;
    }
    let interfaces: Vec<String> = (0..hosts.len()).map(bridge_interface).collect();
    bridge.inside(|| prepare(&interfaces)).told("the bridge")?;
    bridge.inside(|| until_running(&interfaces)).told("the bridge")?;
    for host in &hosts {
        let up = host.ns.inside(|| until_running(&[INTERFACE.to_owned()]));
        up.told(format!("host {}", host.name))?;
    }
    Ok(hosts)
}

/// A bridge device of the kernel's own between the interfaces of `hosts` hosts.
pub fn kernel_bridge(bridge: &Namespace, hosts: usize) -> Result<(), Error> {
    let made = bridge.inside(|| {
        let mut netlink = Netlink::open()?;
        netlink.bridge(KERNEL_BRIDGE)?;
        let master = sys::interface_index(KERNEL_BRIDGE)?;
        for name in (0..hosts).map(bridge_interface) {
            netlink.enslave(sys::interface_index(&name)?, master)?;
        }
        netlink.up(master)?;
        until_running(&[KERNEL_BRIDGE.to_owned()])
    });
    match made {
        Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => Err(Error::Machine(
            "this kernel has no bridge devices: modprobe bridge, or a kernel with CONFIG_BRIDGE".to_owned(),
        )),
        made => made.told("the kernel's bridge"),
    }
}

/// Waits until interfaces send what they are given.
fn until_running(interfaces: &[String]) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    for name in interfaces {
        let interface = sys::interface_index(name)?;
        let mut tries = 0;
        while !netlink.runs(interface)? {
            tries += 1;
            if tries > UP_TRIES {
                return Err(io::Error::other(format!("interface {name} did not come up within 5 s")));
            }
            std::thread::sleep(UP_WAIT);
        }
    }
    Ok(())
}

fn join(k: usize, host: &Host, bridge: &Namespace) -> Result<(), Error> {
    let name = bridge_interface(k);
    let near = End { name: &name, mac: mac(0x59, host.node), ns: bridge.fd() };
    let far = End { name: INTERFACE, mac: mac(0x58, host.node), ns: host.ns.fd() };
    let made = bridge.inside(|| Netlink::open()?.veth(&near, &far));
    match made {
        Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => Err(Error::Machine(
            "this kernel has no veth pairs: modprobe veth, or a kernel with CONFIG_VETH".to_owned(),
        )),
        made => made.told(format!("the veth pair of host {}", host.name)),
    }
}

/// An interface of this thread's namespace is used no more.
pub fn down(interface: &str) -> io::Result<()> {
    Netlink::open()?.down(sys::interface_index(interface)?)
}

/// IPv6 off, interfaces up, every offload off.
fn prepare(interfaces: &[String]) -> io::Result<()> {
    for (key, value) in SYSCTLS {
        set(key, value).or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) })?;
    }
    let mut netlink = Netlink::open()?;
    for name in interfaces {
        for (what, command) in OFFLOADS {
            match sys::ethtool_off(name, command) {
                // What cannot be switched off on its own went off with what it rests on, or is not there.
                Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => {}
                done => done.map_err(|e| io::Error::other(format!("{name}, {what}: {e}")))?,
            }
        }
        netlink.up(sys::interface_index(name)?)?;
    }
    Ok(())
}

fn configure(plan: &Plan, host: &Host, all: &[Host]) -> Result<(), Error> {
    let what = format!("host {}", host.name);
    host.ns
        .inside(|| {
            prepare(&[INTERFACE.to_owned()])?;
            let mut netlink = Netlink::open()?;
            netlink.up(sys::interface_index("lo")?)?;
            let interface = sys::interface_index(INTERFACE)?;
            if plan.is_own(host.node) {
                // The address is rexmit's own endpoint's, behind TUN: this kernel only passes packets on.
                set("net.ipv4.ip_forward", "1")?;
                netlink.route(interface, NETWORK, PREFIX)?;
            } else {
                netlink.address(interface, host.address, PREFIX)?;
            }
            for other in all.iter().filter(|o| o.node != host.node) {
                netlink.neighbour(interface, other.address, mac(0x58, other.node))?;
            }
            Ok(())
        })
        .told(&what)?;
    for (key, value) in plan.sysctls(host.node) {
        let done = host.ns.inside(|| set(&key, &value));
        done.map_err(|e| refused(plan, host, &key, &value, &e))?;
    }
    Ok(())
}

fn refused(plan: &Plan, host: &Host, key: &str, value: &str, e: &io::Error) -> Error {
    let told = format!("{key} = {value} at host {}", host.name);
    let (why, said) = match e.raw_os_error() {
        Some(libc::ENOENT) => {
            let near = host.ns.inside(|| Ok(near(key))).ok().flatten();
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            (format!("this kernel has no such setting in a namespace{near}"), plan.said(host.node, key))
        }
        Some(libc::EINVAL) => ("the kernel takes no such value".to_owned(), plan.said(host.node, key)),
        Some(libc::EPERM) if key == CONGESTION => {
            let may = check::allowed_congestion_controls().join(" ");
            let why = format!(
                "programs can have only what this machine allows everybody ({may}): sysctl -w \
                 net.ipv4.tcp_allowed_congestion_control=\"{may} {value}\", or choose another workload than \"command\""
            );
            (why, None)
        }
        _ => (sentence(e), None),
    };
    match said {
        Some(said) => Error::Scenario(format!("{said}: {told}: {why}")),
        None => Error::Machine(format!("{told}: {why}")),
    }
}

/// The setting of this thread's namespace that was probably meant.
fn near(key: &str) -> Option<String> {
    let (group, name) = key.rsplit_once('.')?;
    let names = fs::read_dir(sysctl_path(group)).ok()?.flatten();
    let names: Vec<String> = names.filter_map(|e| e.file_name().into_string().ok()).collect();
    let near = scenario::nearest(name, names.iter().map(String::as_str))?;
    Some(format!("{group}.{near}"))
}

/// A sysctl of this thread's namespace.
pub fn set(key: &str, value: &str) -> io::Result<()> {
    fs::write(sysctl_path(key), value)
}

fn sysctl_path(key: &str) -> String {
    format!("/proc/sys/{}", key.replace('.', "/"))
}
