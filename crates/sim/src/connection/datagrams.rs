//! Datagrams: sent as the application says, counted where they arrive.

use crate::frame::{Body, Reason};
use crate::host::{Alarm, Host, Parcel};
use crate::recorder::Recorder;
use crate::release::Release;
use crate::rows::AppEvent;
use crate::stats::Traffic;
use instant::Time;
use links::{Class, Ecn};
use scenario::workload::{Application, Written};

pub struct Datagrams {
    packet_bytes: u32,
}

impl Datagrams {
    pub fn new(packet_bytes: u32) -> Datagrams {
        Datagrams { packet_bytes: packet_bytes.max(1) }
    }

    pub fn act<R: Recorder>(&mut self, app: &mut Application, host: &mut Host<'_, R>, traffic: &mut Traffic) {
        let mut written = Written::default();
        let next = app.act(host.now, &mut written);
        if written.bytes > 0 {
            host.application(true, AppEvent::Wrote, written.bytes, 0);
        }
        while written.bytes > 0 {
            let length = written.bytes.min(u64::from(self.packet_bytes)) as u32;
            written.bytes -= u64::from(length);
            traffic.ways[0].sent(host.now, length, Reason::New);
            let parcel = Parcel {
                forward: true,
                reason: Reason::New,
                release: Release::Write,
                class: Class::Data,
                length_bytes: length,
                ecn: Ecn::NotCapable,
            };
            host.send(parcel, Body::Datagram(length), &mut traffic.ip_ids);
        }
        host.alarm(Alarm::Application, next);
    }

    pub fn arrived(&mut self, now: Time, traffic: &mut Traffic, bytes: u32) {
        traffic.ways[0].arrived_packets += 1;
        traffic.ways[0].delivered(now, u64::from(bytes));
    }
}
