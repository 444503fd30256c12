use super::*;
use crate::facts::Facts;
use crate::queue::droptail;
use crate::spec::{Limit, LinkSpec, QueueSpec};
use crate::watch::Unwatched;
use crate::{Lanes, LinkId, Orders};

fn link(rate_bps: u64) -> Link {
    let spec = LinkSpec {
        rate_bps: Some(rate_bps),
        delay: Span(100),
        framing_bytes: 2,
        queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(2) }),
        channels: vec![],
        arq: None,
    };
    Link::new(&spec, "link", true, 1)
}

/// 400,000 directions of access links lie in the memory of a run of 100,000 flows.
#[test]
fn an_idle_link_is_small() {
    assert!(size_of::<Link>() <= 256, "{} bytes", size_of::<Link>());
}

/// A link without a net: the owner of the clock offers, and fires what is next.
#[test]
fn a_link_is_driven_by_its_next_event_alone() {
    let (mut link, mut pool, mut orders) = (link(8_000_000_000), Pool::default(), Orders::default());
    let mut lanes = Lanes::default();
    assert_eq!(link.next(), Key::NEVER);
    for n in 0..4 {
        let id = pool.put(Facts { len: 98, ..Facts::default() }, 0, 1, n);
        let key = Key { time: Time(1000), order: 0 };
        let (link_id, watch) = (LinkId(0), &mut Unwatched);
        link.offer(
            &mut Context {
                link: link_id,
                key,
                orders: &mut orders,
                pool: &mut pool,
                lanes: &mut lanes,
                watch,
            },
            id,
        );
    }
    // One is sent at once, two wait, one finds no room.
    assert_eq!((link.backlog(), link.counters().queue_full), (Backlog { packets: 2, bytes: 200 }, 1));
    let mut arrived = vec![];
    while link.next() != Key::NEVER {
        let key = link.next();
        let mut cx = Context {
            link: LinkId(0),
            key,
            orders: &mut orders,
            pool: &mut pool,
            lanes: &mut lanes,
            watch: &mut Unwatched,
        };
        if let Some(id) = link.fire(&mut cx) {
            arrived.push((key.time, *pool.content(id)));
            pool.free(id);
        }
    }
    assert_eq!(arrived, [(Time(1200), 0), (Time(1300), 1), (Time(1400), 2)]);
    assert!(pool.is_empty());
    assert_eq!(link.counters().inside(), 0);
}
