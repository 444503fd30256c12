//! The threads of a run, and who of them goes first on a busy machine.

use crate::sys;
use std::io;
use std::thread::{Builder, JoinHandle};

/// What a thread does. With real-time priority the bridge goes before all, so that packets leave in time; then who
/// stands for a kernel's TCP, then who keeps what was seen, then the applications. None of them is ever long awake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    Bridge,
    Own,
    Capture,
    Application,
}

impl Rank {
    /// For SCHED_FIFO, 1 to 99; the kernel's own threads for interrupts have 50.
    pub fn priority(self) -> i32 {
        match self {
            Rank::Bridge => 50,
            Rank::Own => 40,
            Rank::Capture => 30,
            Rank::Application => 20,
        }
    }
}

/// How threads are started: as the scenario's `live.real_time` says.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    pub real_time: bool,
}

impl Threads {
    pub fn start<T: Send + 'static>(
        self,
        rank: Rank,
        name: impl Into<String>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        let ranked = move || {
            if self.real_time {
                // Where it is not allowed, the bridge says so for all.
                let _ = sys::real_time(rank.priority());
            }
            work()
        };
        Builder::new().name(name.into()).spawn(ranked)
    }
}
