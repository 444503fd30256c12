//! Whether a connection is among those that are recorded.

use super::filter::Expr;
use super::owned::Owned;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;

/// More are not remembered: who they are is asked again.
const MOST: usize = 1 << 16;

#[derive(Clone)]
pub struct Chosen {
    expr: Option<Arc<Expr>>,
    owned: Option<Arc<Owned>>,
    /// Those that are. What is not may still become one: the table of a command knows a connection once it has sent.
    known: HashSet<(SocketAddr, SocketAddr)>,
}

impl Chosen {
    pub fn new(expr: Option<Arc<Expr>>, owned: Option<Arc<Owned>>) -> Chosen {
        Chosen { expr, owned, known: HashSet::new() }
    }

    pub fn has(&mut self, local: SocketAddr, remote: SocketAddr) -> bool {
        if self.known.contains(&(local, remote)) {
            return true;
        }
        let fits = self.expr.as_ref().is_none_or(|expr| expr.may_choose(local, remote))
            && self.owned.as_ref().is_none_or(|owned| owned.has(local, remote) || owned.has(remote, local));
        if fits && self.known.len() < MOST {
            self.known.insert((local, remote));
        }
        fits
    }

    pub fn forget(&mut self, local: SocketAddr, remote: SocketAddr) {
        self.known.remove(&(local, remote));
    }
}
