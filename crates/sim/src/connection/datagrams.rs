//! Datagrams: sent as the application says, counted where they arrive.

use crate::frame::{Body, Reason};
use crate::host::{Alarm, Host, Parcel};
use crate::recorder::Recorder;
use crate::stats::Way;
use path::Class;
use scenario::workload::{Application, Outlet};
use time::Time;

pub struct Datagrams {
    packet_bytes: u32,
}

/// What the application wrote at this moment.
struct Written {
    bytes: u64,
}

impl Outlet for Written {
    fn write(&mut self, _now: Time, bytes: u64) -> u64 {
        self.bytes += bytes;
        bytes
    }
    fn close(&mut self, _now: Time) {}
}

impl Datagrams {
    pub fn new(packet_bytes: u32) -> Datagrams {
        Datagrams { packet_bytes: packet_bytes.max(1) }
    }

    pub fn act<R: Recorder>(&mut self, app: &mut Application, host: &mut Host<'_, R>, ways: &mut [Way; 2]) {
        let mut written = Written { bytes: 0 };
        let next = app.act(host.now, &mut written);
        while written.bytes > 0 {
            let length = written.bytes.min(u64::from(self.packet_bytes)) as u32;
            written.bytes -= u64::from(length);
            ways[0].sent(host.now, length, Reason::New);
            host.send(Parcel {
                forward: true,
                reason: Reason::New,
                class: Class::Data,
                length_bytes: length,
                body: Body::Datagram(length),
            });
        }
        host.alarm(Alarm::Application, next);
    }

    pub fn arrived(&mut self, now: Time, ways: &mut [Way; 2], bytes: u32) {
        ways[0].arrived_packets += 1;
        ways[0].delivered(now, u64::from(bytes));
    }
}
