//! The addresses that simulated hosts have in captures.

use wire::{Endpoint, Host, Tuple};

const FIRST_PORT: u32 = 1024;
const PORTS: u32 = 64_000;
const SERVER_PORT: u32 = 5001;

/// Node n is 10.0.0.0/8 + n + 1.
pub fn host(node: usize) -> Host {
    let n = (node as u32 + 1) & 0xff_ffff;
    Host::v4([10, (n >> 16) as u8, (n >> 8) as u8, n as u8])
}

/// Connection k's two endpoints, the client first. Client ports are counted up, and the server's when those are
/// used up, so no two connections share all four.
pub fn tuple(connection: u32, client: usize, server: usize) -> Tuple {
    let (server_port, client_port) = (SERVER_PORT + connection / PORTS, FIRST_PORT + connection % PORTS);
    Tuple {
        src: Endpoint { host: host(client), port: client_port as u16 },
        dst: Endpoint { host: host(server), port: server_port as u16 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_expected() {
        assert_eq!(tuple(0, 0, 2).src.to_string(), "10.0.0.1:1024");
        assert_eq!(tuple(64_001, 299, 2).src.to_string(), "10.0.1.44:1025");
        assert_eq!(tuple(64_001, 299, 2).dst.to_string(), "10.0.0.3:5002");
    }
}
