//! The live bench: the path of a scenario under the real clock, between network namespaces that real TCP runs in.
//!
//! Who does what, from the machine up to the answer:
//!
//! | module | what it does |
//! |---|---|
//! | `sys` | every system call that needs `unsafe`, and nothing else |
//! | `netlink` | interfaces, addresses and neighbours by rtnetlink |
//! | `netns` | named network namespaces, and threads that enter them |
//! | `lock` | the lock of a run, and the names of what it makes |
//! | `processes` | whose child each is, and the end of those in a namespace |
//! | `cgroup` | a cgroup for a recorded command |
//! | `clean` | the removal of what a killed run left |
//! | `scratch` | folders for captures that nobody keeps |
//! | `check` | what this machine can do, what is missing, and the fix |
//! | `plan` | scenario to hosts, connections and settings; what live cannot do is refused here |
//! | `host` | one host: namespace, veth pair, offloads, sysctls |
//! | `clock` | virtual time against the wall clock and the kernel's timestamps |
//! | `frames` | packets as bytes while the net carries their numbers; what a link may know of them |
//! | `bins` | what passes, interval by interval |
//! | `observed` | the connections that pass, and the log of what links lost (`passed`: its rows) |
//! | `lateness` | the histogram of how late packets left |
//! | `bars` | whether a run kept time well enough to be believed |
//! | `bridge` | the thread that moves packets: kernel timestamps in, virtual time, the wall clock out |
//! | `waking` | when the bridge asks to be woken, and what time it leaves to others |
//! | `threads` | the run's threads, and who goes first |
//! | `record` | captures at the hosts |
//! | `recorder` | this machine's own traffic, and what its kernel knows of it |
//! | `instructions` | programs for the kernel, instruction by instruction |
//! | `own` | rexmit's own TCP as packets, and the host where it runs, over TUN |
//! | `told` | what it tells of itself |
//! | `content` | what the built-in senders say, so that a wrong byte is seen |
//! | `counts` | what an end of a connection counted |
//! | `transfer` | what the built-in senders and receivers share: what each did, and when all are done |
//! | `socket` | one end over the kernel's TCP |
//! | `stamps` | the kernel stamps packets as they come, or will soon |
//! | `stream` | the built-in sender and receiver over the kernel's TCP |
//! | `datagrams` | the same over UDP |
//! | `command` | programs that run in the hosts instead |
//! | `info` | what the kernel says of a socket: TCP_INFO |
//! | `poll` | the senders' state by TCP_INFO |
//! | `trace` | the same at every ACK and every packet, by a program at the kernel's trace points |
//! | `bench` | a whole run: build, run, wait, take down, with every wait bounded |
//! | `bench::plain` | the same hosts over a bridge of the kernel's, for a benchmark |
//! | `floor` | how late a thread is that only looks at the clock |
//!
//! Nothing of the machine's own network is touched: veth pairs begin and end in namespaces of the run, and sysctls
//! are set inside those. Outside Linux the crate is empty.
#![cfg(target_os = "linux")]
// The one crate below Python that reads clocks; `clock` does.

mod awake;
pub mod bars;
pub mod bench;
mod bins;
mod bridge;
mod cgroup;
pub mod check;
pub mod clean;
mod clock;
mod command;
pub mod content;
mod counts;
mod datagrams;
mod error;
pub mod floor;
mod frames;
mod host;
mod info;
mod instructions;
mod lateness;
mod lock;
mod netlink;
mod netns;
mod observed;
mod own;
mod passed;
pub mod plan;
mod poll;
mod processes;
mod record;
pub mod recorder;
pub mod report;
pub mod scratch;
mod socket;
mod stamps;
mod stream;
mod sys;
mod threads;
mod told;
mod trace;
mod transfer;
mod waking;

pub use bench::{Progress, run};
pub use error::Error;
pub use plan::Plan;
pub use report::Outcome;
