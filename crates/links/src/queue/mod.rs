//! Queues: what waits for the transmitter. The packet being sent is not counted.

pub(crate) mod codel;
pub(crate) mod droptail;
pub(crate) mod fq_codel;
pub(crate) mod red;

pub(crate) use droptail::DropTail;

use crate::random::Stream;
use crate::spec::QueueSpec;
use codel::{Codel, Law};
use fq_codel::FqCodel;
use red::Red;

/// What manages a queue, other than its limit. RED and CoDel manage the link's own chain, FQ-CoDel has many.
#[derive(Clone, Debug, Default)]
pub(crate) enum Manager {
    #[default]
    None,
    Red(Red),
    Codel(Law, Codel),
    FqCodel(Box<FqCodel>),
}

impl Manager {
    pub fn new(spec: &QueueSpec, stream: impl Fn() -> Stream) -> Manager {
        match *spec {
            QueueSpec::DropTail { .. } => Manager::None,
            QueueSpec::Red { min_threshold, max_threshold, max_probability, weight, gentle, ecn, .. } => {
                let red = Red::new((min_threshold, max_threshold), max_probability, weight, stream());
                Manager::Red(red.with(gentle, ecn))
            }
            QueueSpec::CoDel { target, interval, ecn, .. } => {
                Manager::Codel(Law { target, interval, ecn }, Codel::default())
            }
            QueueSpec::FqCoDel { limit, target, interval, flows, quantum_bytes, ecn } => {
                let law = Law { target, interval, ecn };
                Manager::FqCodel(Box::new(FqCodel::new(law, limit, flows, quantum_bytes, stream())))
            }
        }
    }
}
