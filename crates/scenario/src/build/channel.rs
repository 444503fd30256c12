//! Channels.

use super::Context;
use links::spec::{ChannelKind, ChannelSpec, Only, Place};
use params::keys::Kind;
use params::problem::{Problems, did_you_mean, listed};
use params::{Value, Values};
use std::ops::Range;

pub(super) fn channel(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<ChannelSpec> {
    let mut v = v.clone();
    open_files(&mut v, context, p);
    let kind = ChannelKind::read(&v, p);
    let (at, only) = (Place::named(v.word("at")?)?, Only::named(v.word("only")?)?);
    let flows = flows(&v, context, p);
    Some(ChannelSpec { name: v.name(), at, only, flows, kind: kind? })
}

/// Numbers of the directions of the connections that the named flows have, ascending, apart from each other.
fn flows(v: &Values, context: &Context<'_>, p: &mut Problems) -> Vec<Range<u32>> {
    let mut found: Vec<Range<u32>> = Vec::new();
    for item in v.list("flows") {
        let name = item.text().unwrap_or_default();
        match context.flows.iter().find(|(flow, _)| flow == name) {
            Some((_, of)) => found.push(of.start.saturating_mul(2)..of.end.saturating_mul(2)),
            None => {
                let names = || context.flows.iter().map(|(flow, _)| flow.as_str());
                item.refuse(p, format!("is no flow{}{}", did_you_mean(name, names()), listed(names())));
            }
        }
    }
    found.sort_unstable_by_key(|range| range.start);
    let mut apart: Vec<Range<u32>> = Vec::new();
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// What the files hold stands for their names, in tables within, too.
fn open_files(v: &mut Values, context: &Context<'_>, p: &mut Problems) {
    let (table, variant) = (v.table, v.variant);
    for (name, item) in &mut v.items {
        let Some(key) = table.keys_with(variant).find(|key| key.name == *name) else { continue };
        match (key.kind, &mut item.value) {
            (Kind::Table(_), Value::Table(inner)) => open_files(inner, context, p),
            (Kind::File(form), Value::Text(name)) => {
                item.value = match (context.library.read)(&context.dir.join(&*name), form) {
                    Ok(text) => Value::File(text),
                    Err(error) => {
                        item.refuse(p, format!("cannot be read: {error}"));
                        Value::Bad
                    }
                };
            }
            _ => {}
        }
    }
}
