//! Channels.

use super::Context;
use links::spec::{ChannelKind, ChannelSpec, Only, Place};
use params::keys::Kind;
use params::problem::Problems;
use params::{Value, Values};

pub(super) fn channel(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<ChannelSpec> {
    let mut v = v.clone();
    open_files(&mut v, context, p);
    let kind = ChannelKind::read(&v, p);
    let (at, only) = (Place::named(v.word("at")?)?, Only::named(v.word("only")?)?);
    Some(ChannelSpec { name: v.name(), at, only, kind: kind? })
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
