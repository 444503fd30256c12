//! Programs that do not read data as soon as it arrives. Most connections have none.

use instant::Time;
use net::TimerId;
use scenario::model::Flow;
use scenario::reader::Reading;
use tcp::endpoint::Endpoint;

#[derive(Clone, Debug)]
pub struct Programs {
    /// Fires at the next read of either program.
    timer: TimerId,
    /// How the client's program reads, and the server's.
    readings: [Reading; 2],
}

impl Programs {
    /// `None` if both programs of the flow read at once.
    pub fn new(flow: &Flow, starts: Time, timer: TimerId) -> Option<Box<Programs>> {
        let at_once = flow.readers.iter().all(|reader| reader.is_at_once());
        let readings = flow.readers.map(|reader| Reading::new(reader, starts));
        (!at_once).then(|| Box::new(Programs { timer, readings }))
    }

    /// Reads as much as the program reads now, and returns the number of bytes.
    pub fn read(&mut self, client: bool, endpoint: &mut Endpoint, now: Time) -> u64 {
        let reading = &mut self.readings[usize::from(!client)];
        let bytes = match reading.most(now) {
            0 => 0,
            most => endpoint.read(now, most),
        };
        reading.has_read(now, bytes);
        bytes
    }

    /// Time of the next read of either program, and the timer for it.
    pub fn next(&self, client: &Endpoint, server: &Endpoint) -> (TimerId, Option<Time>) {
        let reads = |reading: &Reading, endpoint: &Endpoint| {
            (endpoint.readable() > 0).then(|| reading.next()).flatten()
        };
        let [of_client, of_server] = &self.readings;
        let next = reads(of_client, client).into_iter().chain(reads(of_server, server)).min();
        (self.timer, next)
    }
}
