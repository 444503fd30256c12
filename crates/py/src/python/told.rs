//! What the kernels of a recording told, from Python's rows.

use analysis::rows::{Cause, FlowId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use results::told::{Look, OfFlow, Repair, Told};
use wire::Time;

/// Time in ns, segments, episode, cause by the packets, cause by the kernel, `icsk_retransmits`.
type Row = (i64, u32, Option<u32>, String, Option<String>, u32);
/// Time in ns; microseconds busy, limited by the receiver's window, by the send buffer; whether that window was closed.
type Asked = (i64, u64, u64, u64, bool);
/// The flow, its retransmissions, whether the kernel told of others, looks at its socket.
pub type Flow = (FlowId, Vec<Row>, bool, Vec<Asked>);

pub fn told(flows: Vec<Flow>) -> PyResult<Told> {
    let mut told = Told::default();
    for (flow, rows, unseen, asked) in flows {
        let repairs = rows.into_iter().map(repair).collect::<PyResult<_>>()?;
        let mut looks: Vec<Look> = asked
            .into_iter()
            .map(|(time, busy_us, receiver_us, buffer_us, closed)| Look {
                time: Time(time),
                busy_us,
                receiver_us,
                buffer_us,
                closed,
            })
            .collect();
        looks.sort_by_key(|l| l.time);
        told.add(flow, OfFlow::new(repairs, unseen, &looks));
    }
    Ok(told)
}

fn repair((time, segments, episode, seen, kernel, retransmits): Row) -> PyResult<Repair> {
    Ok(Repair {
        time: Time(time),
        segments,
        episode,
        seen: cause(&seen)?,
        kernel: kernel.as_deref().map(cause).transpose()?,
        retransmits,
    })
}

fn cause(name: &str) -> PyResult<Cause> {
    Cause::ALL
        .iter()
        .copied()
        .find(|c| c.name() == name)
        .ok_or_else(|| PyValueError::new_err(format!("{name:?} is no cause of a retransmission")))
}
