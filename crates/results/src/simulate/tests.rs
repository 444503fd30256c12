use super::*;
use crate::spool::Table;
use analysis::Wanted;
use analysis::rows::{BurstRow, RetransmissionRow};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use links::queue::droptail;
use tables::RunTable;

/// Two hosts, one link, and whatever else `more` says.
pub fn scenario(flow: &str, more: &str) -> Scenario {
    let text = format!(
        "name = \"t\"\nseed = 3\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
         between = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"10ms\"\n\
         queue = {{ kind = \"droptail\", packets = 30 }}\n{more}\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
         {flow}\n"
    );
    let none = |_: &std::path::Path, _: scenario::file::Form| Err("there is none".to_owned());
    scenario::parse(&text, "t.toml", std::path::Path::new(""), &[], &none).unwrap_or_else(|e| panic!("{e}"))
}

fn request(scenario: Scenario, at: At) -> Request {
    let everything = Wanted { retransmissions: true, intervals: true, rtts: true, packets: true };
    Request {
        seed: scenario.seed,
        scenario,
        at,
        config: Config { wanted: everything, ..Config::default() },
        listing: Listing::default(),
        wish: Wish {
            state: true,
            queues: true,
            drops: true,
            truth: true,
            hosts: true,
            applications: true,
            blocked: true,
            held: true,
        },
        captures: None,
        max_memory: None,
    }
}

fn play(request: &Request) -> (Findings, Played) {
    run(request, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

pub const UPLOAD: &str = "stack = \"linux-2.6-reno\"\nworkload = { kind = \"file\", size = \"2MB\" }";
pub const OUTAGE: &str = "[[link.channel]]\nname = \"gap\"\nkind = \"outage\"\ndirection = \"both\"\n\
                      schedule = { intervals = [[\"700ms\", \"900ms\"]] }";

fn rows<R: crate::spool::Row>(found: &Findings) -> Vec<R> {
    found.shelf.rows::<R>().unwrap().map(Result::unwrap).collect()
}

#[test]
fn with_both_ends_seen_the_analysis_finds_every_loss_of_data() {
    let (found, played) = play(&request(scenario(UPLOAD, OUTAGE), At::Both));
    let flow = &rows::<FlowRow>(&found)[0];
    assert_eq!((flow.vantage, flow.bytes, flow.acked_bytes), (Vantage::Both, 2_000_000, 2_000_000));
    let [data_lost, _] = lost(&played);
    assert!(data_lost > 20, "{data_lost}");
    assert_eq!(flow.lost_copies, Some(data_lost));
}

/// What the links lost: packets with data, and without.
fn lost(played: &Played) -> [u64; 2] {
    let mut lost = [0; 2];
    for batch in played.run_rows.reader(RunTable::Drops).unwrap() {
        let batch = batch.unwrap();
        let payload = batch["payload_bytes"].as_primitive::<arrow_array::types::Int64Type>();
        payload.values().iter().for_each(|p| lost[usize::from(*p == 0)] += 1);
    }
    lost
}

#[test]
fn what_is_lost_is_known_exactly_wherever_a_run_is_cut_and_whether_its_path_lives() {
    let stacks = ["rfc-sack", "rfc-newreno", "linux-2.6-cubic", "windows-7", "ns2-sack"];
    let (mut cut_inside, mut dead) = (0, 0);
    for seed in 0..60 {
        let mut random = links::random::Stream::new(seed, "cut runs", "test");
        let mut one_of = |of: &[&'static str]| of[random.below(of.len() as u64) as usize];
        let (stack, way) = (one_of(&stacks), one_of(&["both", "forward", "back"]));
        let (loss, long) = (one_of(&["0", "0.002", "0.05"]), one_of(&["50ms", "300ms", "3s", "600s"]));
        let mut below = |n: u64| random.below(n);
        let channels = format!(
            "[[link.channel]]\nname = \"gap\"\nkind = \"outage\"\ndirection = \"{way}\"\n\
             schedule = {{ intervals = [[\"{}ms\", \"{long}\"]] }}\n[[link.channel]]\nname = \"some\"\n\
             kind = \"random\"\nloss = {loss}\ndirection = \"both\"\n",
            below(4_000)
        );
        let flow = format!("stack = \"{stack}\"\nworkload = {{ kind = \"file\", size = \"1GB\" }}");
        let mut s = scenario(&flow, &channels);
        let limit = links::spec::Limit::Packets(5 + below(600) as u32);
        s.links[0].forward.queue = links::spec::QueueSpec::DropTail(droptail::Params { limit });
        s.duration = Some(Span::from_millis(500 + below(8_000) as i64));
        let (found, played) = play(&Request { seed, ..request(s, At::Both) });
        let told = rows::<FlowRow>(&found).iter().filter_map(|f| f.lost_copies).sum::<u64>();
        let links: Vec<_> = played.report.links.iter().map(|l| l.counters).collect();
        let compared = found.facts.pair.as_ref().unwrap().lost;
        let dropped = [links[0].dropped(), links[1].dropped()];
        assert_eq!((told, compared), (lost(&played)[0], dropped), "seed {seed}: {stack}, {channels}");
        // The other end's packets are counted as this one's are.
        let receiver = &found.facts.pair.as_ref().unwrap().receiver;
        assert!(receiver.first > Some(Time::ZERO) && receiver.last >= receiver.first, "seed {seed}");
        assert!(receiver.packets == receiver.tcp_packets && receiver.bytes > 40 * receiver.packets);
        cut_inside += u64::from(links.iter().any(|l| l.inside() > 0));
        dead += u64::from(long == "600s");
    }
    assert!(cut_inside > 10 && dead > 5, "{cut_inside} {dead}");
}

#[test]
fn what_was_resent_agrees_with_the_truth_one_by_one() {
    let (found, played) = play(&request(scenario(UPLOAD, OUTAGE), At::Both));
    let by_timer = |cause: &str| cause == "timeout";
    let resent = rows::<RetransmissionRow>(&found);
    let told: Vec<(i64, bool)> = resent.iter().map(|r| (r.time.0, by_timer(r.cause.name()))).collect();
    let mut truth = Vec::new();
    for batch in played.run_rows.reader(RunTable::Truth).unwrap() {
        let batch = batch.unwrap();
        let times = batch["time"].as_primitive::<arrow_array::types::TimestampNanosecondType>();
        let causes = batch["cause"].as_string::<i32>();
        truth.extend(times.values().iter().zip(causes).map(|(t, c)| (*t, c.unwrap().to_owned())));
    }
    truth.sort_unstable();
    assert!(truth.len() > 20);
    assert_eq!(told, truth.iter().map(|(t, c)| (*t, by_timer(c))).collect::<Vec<_>>());
}

#[test]
fn tables_of_the_simulator_name_the_analysis_flow() {
    let late = "[[link.channel]]\nname = \"late\"\nkind = \"jitter\"\nmean = \"1us\"";
    let (found, played) = play(&request(scenario(UPLOAD, &format!("{OUTAGE}\n{late}")), At::Both));
    let id = rows::<FlowRow>(&found)[0].flow;
    for table in RunTable::ALL {
        assert!(played.run_rows.holds(table) && played.run_rows.len(table) > 0, "{}", table.name());
        let mut n = 0;
        for batch in played.run_rows.reader(table).unwrap() {
            let batch = batch.unwrap();
            assert_eq!(*batch.schema(), tables::schema(table));
            n += batch.num_rows() as u64;
            let flows = batch["flow"].as_primitive::<UInt32Type>();
            let payload = batch.column_by_name("payload_bytes");
            for (i, flow) in flows.iter().enumerate() {
                let is_data =
                    payload.is_none_or(|p| p.as_primitive::<arrow_array::types::Int64Type>().value(i) > 0);
                let of_a_side = matches!(table, RunTable::State | RunTable::Applications | RunTable::Blocked);
                assert!(flow == Some(id) || !is_data || of_a_side, "{}", table.name());
            }
        }
        assert_eq!(n, played.run_rows.len(table));
    }
}

#[test]
fn one_capture_shows_what_one_capture_shows() {
    let s = scenario(UPLOAD, OUTAGE);
    let (sender, _) = play(&request(s.clone(), At::Sender));
    let (receiver, _) = play(&request(s.clone(), At::Receiver));
    let (both, _) = play(&request(s, At::Both));
    let [s, r, b] = [&sender, &receiver, &both].map(|found| rows::<FlowRow>(found)[0].clone());
    assert_eq!((s.vantage, r.vantage), (Vantage::Sender, Vantage::Receiver));
    assert_eq!(r.lost_copies, None);
    assert_eq!(s.packets, b.packets);
    assert_eq!(r.packets + b.lost_copies.unwrap(), s.packets);
    assert!(
        rows::<BurstRow>(&both)[0].lost_acks.is_some() && rows::<BurstRow>(&sender)[0].lost_acks.is_none()
    );
}

#[test]
fn time_counts_from_the_beginning_of_the_run() {
    let flow = format!("start = \"2s\"\n{UPLOAD}");
    let (found, _) = play(&request(scenario(&flow, ""), At::Both));
    assert_eq!(found.facts.origin, Time::ZERO);
    assert_eq!(rows::<FlowRow>(&found)[0].start, Time(2_000_000_000));
}

#[test]
fn an_answer_that_is_larger_than_its_request_is_seen_at_its_sender() {
    let workload = "{ kind = \"request-response\", request = \"300B\", response = \"100kB\", think = \"10ms\", \
                    requests = 20 }";
    let flow = format!("stack = \"linux-2.6-reno\"\nworkload = {workload}");
    let (found, played) = play(&request(scenario(&flow, OUTAGE), At::Both));
    let mut flows = rows::<FlowRow>(&found);
    flows.sort_by_key(|f| f.bytes);
    let [asked, answered] = &flows[..] else { panic!("{flows:?}") };
    assert_eq!((asked.bytes, answered.bytes), (6_000, 2_000_000));
    assert_eq!((asked.vantage, asked.lost_copies), (Vantage::Receiver, None));
    assert_eq!(answered.vantage, Vantage::Both);
    let lost: u64 = played.report.links.iter().filter(|l| !l.forward).map(|l| l.counters.dropped()).sum();
    assert!(answered.lost_copies.unwrap() > 0 && answered.lost_copies.unwrap() <= lost);
}

#[test]
fn a_run_that_is_stopped_keeps_what_was_seen_in_both_passes() {
    let s = scenario("stack = \"linux-2.6-reno\"\nworkload = { kind = \"file\", size = \"1GB\" }", OUTAGE);
    let mut asked = 0;
    let mut stop = |p: Progress| {
        asked += 1;
        p.done < Span::from_secs(50)
    };
    let (found, played) = run(&request(s, At::Both), &mut stop).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        found.facts.interrupted && played.report.end == End::Stopped && played.report.failure().is_none()
    );
    assert!((50.0..60.0).contains(&played.report.time.as_secs()), "{}", played.report.time);
    let flow = &rows::<FlowRow>(&found)[0];
    assert!((flow.end - flow.start).as_secs() > 49.0 && flow.lost_copies.is_some());
    assert!(asked > 2);
}

/// With room for none the packets are analysed in a second pass.
#[test]
fn where_too_many_packets_would_have_to_wait_two_passes_give_the_answer_of_one() {
    let channels = "[[link.channel]]\nname = \"twice\"\nkind = \"duplicate\"\nprobability = \"3%\"\n[[link.channel]]\n\
                    name = \"loss\"\nkind = \"random\"\nloss = \"2%\"\ndirection = \"both\"\n[[link.channel]]\n\
                    name = \"late\"\nkind = \"jitter\"\nmean = \"2ms\"\nspread = \"exponential\"";
    let request = request(scenario(UPLOAD, channels), At::Both);
    let told = |most| {
        let mut passes = 1;
        let mut before = Span::ZERO;
        let mut ask = |p: Progress| {
            passes += usize::from(p.done < before);
            before = p.done;
            true
        };
        let (found, played) = run_holding(&request, most, &mut ask).unwrap_or_else(|e| panic!("{e}"));
        let rows = (rows::<FlowRow>(&found), rows::<BurstRow>(&found), rows::<RetransmissionRow>(&found));
        (
            format!("{rows:?} {:?}", found.facts.pair.map(|p| (p.matched, p.lost, p.outside))),
            played.report.json(),
            passes,
        )
    };
    let (once, again) = (told(held::MOST), told(0));
    assert_eq!((&once.0, &once.1), (&again.0, &again.1));
    assert!(once.0.contains("Late") || once.0.contains("lost_copies"), "{}", once.0);
}

#[test]
fn captures_that_are_written_give_the_answer_that_was_given_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut s = scenario(UPLOAD, OUTAGE);
    s.record.capture = vec![0, 1];
    let wanted = Request { captures: Some(folder.path().to_owned()), ..request(s, At::Both) };
    let (live, _) = play(&wanted);
    let read = crate::run::analyze(
        &crate::run::Request {
            paths: vec![folder.path().join("a.pcapng")],
            receiver: vec![folder.path().join("b.pcapng")],
            config: Config { vantage: None, ..wanted.config },
            ..Default::default()
        },
        None,
        &mut |_| true,
    )
    .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(rows::<RetransmissionRow>(&live), rows::<RetransmissionRow>(&read));
    assert_eq!(rows::<BurstRow>(&live), rows::<BurstRow>(&read));
    assert_eq!(read.facts.info.checksums_bad, 0);
    assert_eq!(live.shelf.len(Table::Packets), read.shelf.len(Table::Packets));
}

/// RFC 3168 §5: data leaves as ECT(0), and behind the queue some of it says that congestion was experienced.
#[test]
fn captures_show_the_marks_of_queues() {
    let folder = tempfile::tempdir().unwrap();
    let asks = "[[stack]]\nname = \"asks\"\nbased_on = \"linux-6-cubic\"\noptions = { ecn = \"on\" }";
    let flow = "stack = \"asks\"\nreceiver = \"asks\"\nworkload = { kind = \"file\", size = \"2MB\" }";
    let marking = scenario::to_toml(&scenario(flow, asks))
        .replace("kind = \"droptail\", packets = 30", "kind = \"codel\", ecn = true");
    let none = |_: &std::path::Path, _: scenario::file::Form| Err("there is none".to_owned());
    let mut s = scenario::parse(&marking, "t.toml", std::path::Path::new(""), &[], &none)
        .unwrap_or_else(|e| panic!("{e}"));
    s.record.capture = vec![0, 1];
    play(&Request { captures: Some(folder.path().to_owned()), ..request(s, At::Both) });
    let fields = |name: &str| {
        let mut reader = capture::open(&[folder.path().join(name)], &Default::default()).unwrap();
        let mut batch = Vec::new();
        let mut counts = [0; 4];
        while reader.read_batch(&mut batch, 100) {
            batch.iter().filter(|p| p.seg.payload > 0).for_each(|p| counts[usize::from(p.notes.ecn())] += 1);
        }
        counts
    };
    let [sent, came] = ["a.pcapng", "b.pcapng"].map(fields);
    assert!(sent[2] > 1000 && sent[0] == 0 && sent[3] == 0, "{sent:?}");
    assert!(came[3] > 0 && came[2] + came[3] > 1000, "{came:?}");
}

#[test]
fn a_capture_in_the_middle_holds_what_passes() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"t\"\nseed = 1\n[[node]]\nname = \"a\"\n[[node]]\nname = \"m\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"one\"\nbetween = [\"a\", \"m\"]\nrate = \"10Mbps\"\n\
         [[link]]\nname = \"two\"\nbetween = [\"m\", \"b\"]\nrate = \"10Mbps\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"linux-2.6-reno\"\n\
         workload = { kind = \"file\", size = \"100kB\" }\n[record]\ncapture = [\"m\"]\nsnap = \"60B\"\n";
    let none = |_: &std::path::Path, _: scenario::file::Form| Err("there is none".to_owned());
    let s =
        scenario::parse(text, "t", std::path::Path::new(""), &[], &none).unwrap_or_else(|e| panic!("{e}"));
    let wanted = Request { captures: Some(folder.path().to_owned()), ..request(s, At::Both) };
    let (live, _) = play(&wanted);
    let mut reader = capture::open(&[folder.path().join("m.pcapng")], &Default::default()).unwrap();
    let mut packets = Vec::new();
    while reader.read_batch(&mut packets, 100) {}
    let info = reader.info();
    assert_eq!((info.packets, info.snap()), (live.facts.info.packets, Some(60)));
    assert_eq!(info.bytes, live.facts.info.bytes);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn one_way_agents_repairs_are_weighed_as_the_bytes_that_they_are() {
    // A lost packet's repair is needed; where every ACK is lost for a while, all that is sent again had arrived.
    let hole = "[[link.channel]]\nname = \"c\"\nkind = \"list\"\nonly = \"data\"\npackets = [40]\n\
                direction = \"forward\"";
    let deaf = "[[link.channel]]\nname = \"c\"\nkind = \"outage\"\ndirection = \"back\"\n\
                schedule = { intervals = [[\"200ms\", \"2s\"]] }";
    for (channel, expected) in [(hole, false), (deaf, true)] {
        let flow = "stack = \"ns2-newreno\"\nworkload = { kind = \"file\", size = \"600kB\" }";
        let mut s = scenario(flow, channel);
        s.duration = Some(Span::from_secs(20));
        let (_, played) = play(&request(s, At::Both));
        let mut needless = Vec::new();
        for batch in played.run_rows.reader(RunTable::Truth).unwrap() {
            needless.extend(batch.unwrap()["needless"].as_boolean().iter());
        }
        let told = needless.contains(&Some(expected)) && (expected || needless.len() == 1);
        assert!(told, "{channel}: {needless:?}");
    }
}

/// Such a queue does the same as one that drops: that is said, and once.
#[test]
fn a_queue_that_would_mark_is_told_to_meet_nothing_to_mark() {
    let text = |queue: &str| {
        scenario::to_toml(&self::scenario(UPLOAD, "")).replace("kind = \"droptail\", packets = 30", queue)
    };
    let of = |text: &str| {
        let none = |_: &std::path::Path, _: scenario::file::Form| Err("there is none".to_owned());
        let s = scenario::parse(text, "t.toml", std::path::Path::new(""), &[], &none);
        play(&request(s.unwrap_or_else(|e| panic!("{e}")), At::Both)).0.facts.warnings
    };
    let told = |queue: &str| of(&text(queue));
    let warnings = told("kind = \"red\", ecn = true");
    assert!(
        matches!(&warnings[..], [w] if w.starts_with("queue.ecn = true of link l changes nothing")),
        "{warnings:?}"
    );
    assert_eq!(told("kind = \"red\""), [""; 0]);
    // Where the sender asks, and the receiver answers, there is something to mark.
    let asks = "[[stack]]\nname = \"asks\"\nbased_on = \"linux-6-cubic\"\n[stack.options]\necn = \"on\"\n";
    let marked = text("kind = \"red\", ecn = true").replace("stack = \"linux-2.6-reno\"", "stack = \"asks\"");
    assert_eq!(of(&(marked.clone() + asks)), [""; 0]);
    let refused = marked
        + asks
        + "[[stack]]\nname = \"refuses\"\nbased_on = \"asks\"\n[stack.options]\necn = \"off\"\n";
    let refused = refused.replace("stack = \"asks\"", "stack = \"asks\"\nreceiver = \"refuses\"");
    assert!(matches!(&of(&refused)[..], [w] if w.starts_with("queue.ecn = true of link l changes nothing")));
}
