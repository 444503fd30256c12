//! What each flow sent, received and lost, interval by interval, as the bridge counted it.

use super::rows::flow_of;
use crate::simulate::series::Series;
use live::Plan;
use live::report::Outcome;
use scenario::model::Scenario;

/// `None` if it was not asked for. The error says that it is too long.
pub fn series(scenario: &Scenario, plan: &Plan, outcome: &Outcome) -> Result<Option<Series>, String> {
    let Some(bins) = &outcome.bins else { return Ok(None) };
    let mut series = Series::new(scenario, bins.width);
    // A flow goes from its client's host, whoever of the two opens the connection.
    let flows: Vec<Option<(usize, bool)>> = outcome
        .passed
        .iter()
        .map(|passed| {
            let flow = flow_of(plan, &passed.ends)?;
            let client = u32::from(plan.address(scenario.flows.get(flow)?.from));
            Some((flow, passed.ends.client.0 == client))
        })
        .collect();
    let of = |connection: usize, from_client: bool| {
        let (flow, as_it_goes) = (*flows.get(connection)?)?;
        Some((flow, from_client == as_it_goes))
    };
    for (connection, ways) in bins.ways.iter().enumerate() {
        for (way, from_client) in ways.iter().zip([true, false]) {
            let Some((flow, forward)) = of(connection, from_client) else { continue };
            for (at, bin) in way.iter().enumerate() {
                let Some(cell) = series.at(flow, forward, at) else { break };
                cell.sent_packets += bin.sent_packets;
                cell.sent_bytes += bin.sent_bytes;
                cell.arrived_packets += bin.arrived_packets;
                cell.arrived_bytes += bin.arrived_bytes;
            }
        }
    }
    for drop in &outcome.drops {
        let at = series.interval(drop.time);
        if let Some((flow, forward)) = of(drop.which.connection as usize, drop.which.from_client)
            && let Some(cell) = series.at(flow, forward, at)
        {
            cell.lost_packets += 1;
        }
    }
    series.end(outcome.time)?;
    Ok(Some(series))
}
