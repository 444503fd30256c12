//! Channels.

use super::Context;
use crate::file::Form;
use crate::traces;
use instant::{Span, Time};
use links::spec::*;
use params::problem::Problems;
use params::units::Amount;
use params::{Item, Values};

pub(super) fn channel(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<ChannelSpec> {
    let kind = kind(v, context, p);
    Some(ChannelSpec {
        name: v.name(),
        at: match v.word("at")? {
            "ingress" => Place::Ingress,
            "egress" => Place::Egress,
            _ => Place::Wire,
        },
        only: match v.word("only")? {
            "data" => Only::Data,
            "acks" => Only::Acks,
            _ => Only::All,
        },
        kind: kind?,
    })
}

fn kind(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<ChannelKind> {
    Some(match v.variant?.name {
        "outage" => ChannelKind::Outage(outage(v, context, p)?),
        "gilbert-elliott" => ChannelKind::GilbertElliott(gilbert_elliott(v, p)?),
        "bit-error" => ChannelKind::BitError {
            per: match v.word("per")? {
                "byte" => PerUnit::Byte,
                "packet" => PerUnit::Packet,
                _ => PerUnit::Bit,
            },
            rate: v.number("rate")?,
        },
        "random" => ChannelKind::Random { loss: v.number("loss")? },
        "list" => {
            let mut ordinals: Vec<u64> =
                v.item("packets")?.list().iter().map(Item::whole).collect::<Option<_>>()?;
            ordinals.sort_unstable();
            ordinals.dedup();
            ChannelKind::List { ordinals }
        }
        "delay-step" => {
            ChannelKind::DelayStep { steps: steps(v.item("steps")?, p)?, reorders: v.flag("reorders") }
        }
        "rate-trace" => ChannelKind::RateTrace { opportunities_ms: opportunities(v, context, p)? },
        "reorder" => ChannelKind::Reorder { probability: v.number("probability")?, by: v.span("by")? },
        "duplicate" => ChannelKind::Duplicate {
            probability: v.number("probability")?,
            copies: v.whole("copies")? as u32,
        },
        "jitter" => ChannelKind::Jitter { spread: spread(v, p)?, reorders: v.flag("reorders") },
        _ => return None,
    })
}

fn outage(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<Outage> {
    let s = v.table("schedule")?;
    let schedule = schedule(s, context, p)?;
    Some(Outage {
        schedule,
        anchor: if s.word("anchor")? == "first-syn" { Anchor::FirstSyn } else { Anchor::Start },
        hold: v.flag("hold"),
        flush: match v.word("flush")? {
            "queue" => Flush::Queue,
            "flight" => Flush::Flight,
            _ => Flush::Nothing,
        },
    })
}

fn schedule(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<Schedule> {
    if v.says("phase") && v.item("every").is_none() {
        v.item("phase")?.refuse(p, "goes with every and for only");
    }
    if v.item("every").is_some() {
        let (every, length) = (v.span("every")?, v.span("for")?);
        if length >= every {
            v.item("for")?.refuse(
                p,
                format!(
                    "never lets an outage end: it must be shorter than every = {:?}",
                    params::units::show_span(every)
                ),
            );
        }
        return Some(Schedule::Periodic { every, length, phase: v.span("phase")? });
    }
    if v.item("up").is_some() {
        return Some(Schedule::Exponential { up_mean: v.span("up")?, down_mean: v.span("down")? });
    }
    if let Some(item) = v.item("intervals") {
        return intervals(item, p);
    }
    let item = v.item("file")?;
    let text = read(item, Form::Outages, context, p)?;
    match traces::outages(&text) {
        Ok(intervals) => Some(Schedule::Intervals(intervals)),
        Err((line, says)) => {
            item.refuse(p, format!("is no trace of outages: line {line} {says}"));
            None
        }
    }
}

fn intervals(item: &Item, p: &mut Problems) -> Option<Schedule> {
    let mut list: Vec<(Time, Span)> = Vec::new();
    for pair in item.list() {
        let [begin, length] = pair.list() else { return None };
        let (begin, length) = (Time(begin.span()?.0), length.span()?);
        if list.last().is_some_and(|(before, lasted)| *before + *lasted > begin) {
            pair.refuse(p, "begins before the outage before it has ended");
        }
        list.push((begin, length));
    }
    Some(Schedule::Intervals(list))
}

fn steps(item: &Item, p: &mut Problems) -> Option<Vec<(Time, Span)>> {
    let mut list: Vec<(Time, Span)> = Vec::new();
    for pair in item.list() {
        let [at, by] = pair.list() else { return None };
        let at = Time(at.span()?.0);
        if list.last().is_some_and(|(before, _)| *before >= at) {
            pair.refuse(p, "does not come after the step before it");
        }
        list.push((at, by.span()?));
    }
    Some(list)
}

fn opportunities(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<Vec<u64>> {
    if let Some(item) = v.item("opportunities") {
        let list: Vec<u64> = item.list().iter().map(Item::whole).collect::<Option<_>>()?;
        if let Err(says) = traces::check_opportunities(&list) {
            item.refuse(p, says);
        }
        return Some(list);
    }
    let item = v.item("file")?;
    let text = read(item, Form::Rates, context, p)?;
    match traces::opportunities(&text) {
        Ok(list) => Some(list),
        Err((line, says)) => {
            item.refuse(p, format!("is no rate trace: line {line} {says}"));
            None
        }
    }
}

fn read(item: &Item, form: Form, context: &Context<'_>, p: &mut Problems) -> Option<String> {
    match (context.library.read)(&context.dir.join(item.text()?), form) {
        Ok(text) => Some(text),
        Err(error) => {
            item.refuse(p, format!("cannot be read: {error}"));
            None
        }
    }
}

fn spread(v: &Values, p: &mut Problems) -> Option<Spread> {
    let mean = v.span("mean")?;
    let word = v.word("spread")?;
    if word != "normal"
        && let Some(item) = v.item("deviation")
    {
        item.refuse(p, format!("goes with spread = \"normal\" only, not {word:?}"));
    }
    match word {
        "uniform" => Some(Spread::Uniform { mean }),
        "normal" if v.item("deviation").is_none() => {
            v.missing(p, "deviation", "spread = \"normal\" needs it");
            None
        }
        "normal" => Some(Spread::Normal { mean, deviation: v.span("deviation")? }),
        _ => Some(Spread::Exponential { mean }),
    }
}

fn gilbert_elliott(v: &Values, p: &mut Problems) -> Option<GilbertElliott> {
    let (loss_good, loss_bad) = (v.number("loss_good")?, v.number("loss_bad")?);
    if loss_good > loss_bad {
        let item = v.said_last(&["loss_good", "loss_bad"])?;
        item.refuse(p, "crosses the bounds: the good state loses more than the bad one");
        return None;
    }
    let dwell = if v.item("good_to_bad").is_some() {
        by_probabilities(v, p)?
    } else if v.item("mean_loss").is_some() {
        by_mean_loss(v, loss_good, loss_bad, p)?
    } else {
        by_lengths(v, p)?
    };
    Some(GilbertElliott { dwell, loss_good, loss_bad })
}

fn by_probabilities(v: &Values, p: &mut Problems) -> Option<Dwell> {
    let (good_to_bad, bad_to_good) = (v.number("good_to_bad")?, v.number("bad_to_good")?);
    if bad_to_good == 0.0 {
        v.item("bad_to_good")?.refuse(p, "never ends a bad period: it must be above 0");
    }
    Some(Dwell::Packets { good_to_bad, bad_to_good })
}

/// The share of bad, b, follows from the mean loss: `loss_bad * b + loss_good * (1 - b)`.
fn by_mean_loss(v: &Values, loss_good: f64, loss_bad: f64, p: &mut Problems) -> Option<Dwell> {
    let mean = v.number("mean_loss")?;
    let item = v.item("mean_loss")?;
    if mean <= loss_good || mean >= loss_bad {
        item.refuse(
            p,
            format!(
                "cannot be reached: it must lie between loss_good = {loss_good} and loss_bad = {loss_bad}"
            ),
        );
        return None;
    }
    let bad = (mean - loss_good) / (loss_bad - loss_good);
    match v.amount("mean_burst")? {
        Amount::Time(burst) => {
            Some(Dwell::Time { good_mean: burst.scale((1.0 - bad) / bad), bad_mean: burst })
        }
        Amount::Packets(burst) if burst < 1.0 => {
            v.item("mean_burst")?.refuse(p, "is too short: a burst has at least 1 packet");
            None
        }
        Amount::Packets(burst) => {
            let bad_to_good = 1.0 / burst;
            let good_to_bad = bad_to_good * bad / (1.0 - bad);
            if good_to_bad > 1.0 {
                item.refuse(
                    p,
                    format!("cannot be reached with bursts of {burst} packets: they must be longer"),
                );
                return None;
            }
            Some(Dwell::Packets { good_to_bad, bad_to_good })
        }
        _ => None,
    }
}

fn by_lengths(v: &Values, p: &mut Problems) -> Option<Dwell> {
    match (v.amount("good")?, v.amount("bad")?) {
        (Amount::Packets(good_mean), Amount::Packets(bad_mean)) => {
            Some(Dwell::PacketLengths { good_mean, bad_mean })
        }
        (Amount::Time(good_mean), Amount::Time(bad_mean)) => Some(Dwell::Time { good_mean, bad_mean }),
        _ => {
            v.item("bad")?.refuse(p, format!("is not in the unit of good = {}", v.item("good")?.shown));
            None
        }
    }
}
