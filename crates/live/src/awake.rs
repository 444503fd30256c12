//! Cores that do not halt while a run goes on.
//!
//! A core with nothing to do halts, and comes back late: on hardware after tens of microseconds, on a virtual machine
//! whenever the hypervisor gives it a physical core again, which can take milliseconds. The kernel has a request for
//! programs that cannot wait so long (its documentation, power/pm_qos_interface): who holds `/dev/cpu_dma_latency`
//! open and has written 0 there keeps idle cores looking for work instead. It is no setting: the kernel takes the
//! request back when the file is closed, however the process ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

pub const DEVICE: &str = "/dev/cpu_dma_latency";

/// What an idle core may take to come back, microseconds.
const LATENCY_US: i32 = 0;

/// The request, for as long as this lives.
pub struct Awake {
    _device: File,
}

impl Awake {
    pub fn hold() -> io::Result<Awake> {
        let mut device = OpenOptions::new().write(true).open(DEVICE)?;
        device.write_all(&LATENCY_US.to_ne_bytes())?;
        Ok(Awake { _device: device })
    }
}
