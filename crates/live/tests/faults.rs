//! What goes wrong: each a clear sentence, nothing left behind, and what was captured kept.
#![cfg(target_os = "linux")]

#[macro_use]
mod support;

use live::report::End;
use live::{Error, Plan};
use std::process::{Command, Stdio};
use support::{plan, run};
use tempfile::TempDir;

fn chain(link: &str, flow: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"10s\"\n[chain]\nnodes = [\"pc\", \"server\"]\nrate = \"20Mbps\"\ndelay = \"5ms\"\n{link}\n\
         [[flow]]\nname = \"up\"\nfrom = \"pc\"\nto = \"server\"\nstack = \"linux-2.6-reno\"\n{flow}\n"
    )
}

fn command(client: &str, server: &str) -> String {
    chain(
        "",
        &format!("workload = {{ kind = \"command\", client = '''{client}''', server = '''{server}''' }}"),
    )
}

const FILE: &str = "workload = { kind = \"file\", size = \"200kB\" }";

fn sentence(error: Error) -> String {
    let text = error.to_string();
    assert!(!text.contains('\n') && !text.contains("os error"), "{text}");
    text
}

fn fails(plan: &Plan) -> String {
    let folder = TempDir::new().expect("a folder");
    sentence(live::run(plan, folder.path(), &mut |_| true).expect_err("it cannot run"))
}

#[test]
fn what_live_can_not_do_is_refused() {
    let refused = |text: &str| match plan(text) {
        Err(Error::Scenario(why)) => why,
        other => panic!("{other:?}"),
    };
    let why = refused(&chain("", FILE).replace("linux-2.6-reno", "ns2-reno"));
    assert!(why.contains("one-way agent"), "{why}");
    let of_flow = "[[chain.channel]]\nname = \"loss\"\nkind = \"random\"\nloss = \"1%\"\nflows = [\"up\"]";
    let why = refused(&chain(of_flow, FILE));
    assert!(why.contains(".channel.loss.flows: the bridge does not know"), "{why}");
    let why = refused(&command("true", "true").replace("linux-2.6-reno", "osx-10.7"));
    assert!(why.contains("which programs cannot use"), "{why}");
    let datagrams = "transport = \"datagram\"\npacket = \"500B\"\nworkload = { kind = \"constant-rate\", rate = \"1Mbps\" }";
    let datagrams = chain("", datagrams).replace("stack = \"linux-2.6-reno\"\n", "");
    let why = refused(&datagrams.replace("500B", "1501B"));
    assert!(why.contains("flow.up.packet = \"1501B\"") && why.contains("1500 in all at most"), "{why}");
    let own = "[[flow]]\nname = \"own\"\nfrom = \"server\"\nto = \"pc\"\nstack = \"osx-10.7\"\nworkload = { kind = \"endless\" }\n";
    let why = refused(&(datagrams + own));
    assert!(why.contains("flow.own: datagrams are the kernel's") && why.contains("at server"), "{why}");
    let nodes = "[[node]]\nname = \"pc\"\nip_id = \"zero\"\n[[node]]\nname = \"server\"\n\
                 [[link]]\nname = \"air\"\nbetween = [\"pc\", \"server\"]";
    let why = refused(&chain("", FILE).replace("[chain]\nnodes = [\"pc\", \"server\"]", nodes));
    assert!(why.starts_with("node.pc.ip_id: "), "{why}");
    let why = refused(&(chain("", FILE) + "count = 300\n"));
    assert!(why.contains("300 connections"), "{why}");
    let three = chain("", FILE).replace("[\"pc\", \"server\"]", "[\"pc\", \"hub\", \"server\"]");
    let told = plan(&(three.clone() + "[record]\ncapture = true\n")).expect("a plan").untold;
    assert!(told.len() == 1 && told[0].starts_with("record.capture: there are none at hub:"), "{told:?}");
    let why = refused(&(three + "[[live.host]]\nname = \"hub\"\nsysctl = [\"net.ipv4.tcp_ecn=1\"]\n"));
    assert!(why.contains("no kernel"), "{why}");
    for key in ["reader", "back_reader"] {
        let why = refused(&(chain("", FILE) + &format!("{key} = {{ kind = \"pauses\", every = \"1s\" }}\n")));
        assert!(why.starts_with(&format!("flow.up.{key}: on the live bench programs read")), "{why}");
    }
}

#[test]
fn what_the_kernel_has_not_is_told_with_the_mend() {
    needs_a_bench!();
    let own = "[[stack]]\nname = \"mine\"\nbased_on = \"linux-2.6-reno\"\nkernel = \"warp\"\n";
    let text = chain("", FILE).replace("linux-2.6-reno\"\nworkload", "mine\"\nworkload") + own;
    let why = fails(&plan(&text).expect("a plan"));
    assert!(why.contains("no congestion control warp") && why.contains("modprobe tcp_warp"), "{why}");
    let why = fails(&plan(&text.replace("warp", "renno")).expect("a plan"));
    assert!(why.starts_with("flow.up.stack: ") && why.ends_with("did you mean \"reno\"?"), "{why}");
    let why =
        fails(&plan(&(chain("", FILE) + "[live]\nsysctl = [\"net.ipv4.tcp_warp=1\"]\n")).expect("a plan"));
    assert!(why.contains("net.ipv4.tcp_warp") && why.contains("no such setting"), "{why}");
    let typo = "[[live.host]]\nname = \"server\"\nsysctl = [\"net.ipv4.tcp_sackk=1\"]\n";
    let why = fails(&plan(&(chain("", FILE) + typo)).expect("a plan"));
    assert!(why.starts_with("live.host.server.sysctl: net.ipv4.tcp_sackk = 1 at host server: "), "{why}");
    assert!(why.ends_with("did you mean net.ipv4.tcp_sack?"), "{why}");
    let why = fails(
        &plan(&(chain("", FILE) + "[live]\nsysctl = [\"net.ipv4.tcp_sack=maybe\"]\n")).expect("a plan"),
    );
    assert!(why.contains("takes no such value"), "{why}");
}

#[test]
fn settings_hold_in_the_hosts_and_nowhere_else() {
    needs_a_bench!();
    let key = "/proc/sys/net/ipv4/tcp_reordering";
    let before = std::fs::read_to_string(key).expect("a sysctl");
    let show = format!("cat {key}; cat /proc/sys/net/ipv4/tcp_congestion_control");
    let text = command(&show, &format!("{show}; sleep 9"))
        + "[live]\nsysctl = [\"net.ipv4.tcp_reordering=17\"]\n[[live.host]]\nname = \"server\"\n\
           sysctl = [\"net.ipv4.tcp_reordering=21\"]\n";
    let folder = TempDir::new().expect("a folder");
    let outcome = live::run(&plan(&text).expect("a plan"), folder.path(), &mut |_| true).expect("it runs");
    let log =
        |role: &str| std::fs::read_to_string(folder.path().join(format!("up.{role}.log"))).expect("a log");
    assert_eq!((log("client").trim(), log("server").trim()), ("17\nreno", "21\nreno"));
    assert_eq!(std::fs::read_to_string(key).expect("a sysctl"), before);
    assert!(
        outcome.warnings.iter().any(|w| w.contains("did not listen within 5 s")),
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn a_server_that_dies_ends_the_run_and_what_was_captured_is_kept() {
    needs_a_bench!();
    let ran = run(&command("sleep 8", "sleep 0.3; echo no port left; exit 7"));
    let End::Failed(why) = &ran.outcome.end else { panic!("{:?}", ran.outcome.end) };
    assert_eq!(why, "flow.up: its server ended with code 7: no port left");
    assert!(ran.outcome.captures.iter().all(|c| c.path.exists() && c.error.is_none()));
}

#[test]
fn names_of_hosts_may_differ_in_one_letter_or_be_those_of_the_bench() {
    needs_a_bench!();
    for (one, other) in [("a.b", "a_b"), ("ä", "ö"), ("bridge", "server")] {
        let text = chain("", FILE)
            .replace("\"pc\"", &format!("{one:?}"))
            .replace("\"server\"", &format!("{other:?}"));
        assert_eq!(run(&text).outcome.end, End::Done, "{one} {other}");
    }
}

#[test]
fn why_a_program_failed_is_what_it_complained_of() {
    needs_a_bench!();
    let ran = run(&command("echo no route >&2; echo '</html>'; exit 22", "sleep 9"));
    let told = &ran.outcome.warnings;
    assert!(told.iter().any(|w| w == "flow.up: its client ended with code 22: no route"), "{told:?}");
}

#[test]
fn a_client_that_hangs_ends_with_the_duration() {
    needs_a_bench!();
    let hangs = "trap '' TERM; sleep 100 & sleep 100";
    let ran = run(&command(hangs, "exec sleep 100").replace("10s", "6s"));
    assert_eq!(ran.outcome.end, End::Duration);
    assert_eq!(ran.outcome.exits[0].client, None);
    let told = &ran.outcome.warnings;
    assert!(told.iter().any(|w| w == "flow.up: its client still ran as the run ended"), "{told:?}");
}

#[test]
fn a_full_disk_ends_the_captures_and_not_the_run() {
    needs_a_bench!();
    let folder = TempDir::new().expect("a folder");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "rexmit-test"])
        .arg(folder.path())
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|s| s.success()) {
        support::skipped("no file system of 64 kB can be mounted here");
        return;
    }
    let plan = plan(&chain("", &FILE.replace("200kB", "1MB"))).expect("a plan");
    let outcome = live::run(&plan, folder.path(), &mut |_| true);
    let _ = Command::new("umount").arg(folder.path()).status();
    let outcome = outcome.expect("it runs");
    assert_eq!(outcome.end, End::Done);
    assert!(outcome.captures.iter().any(|c| c.error.as_deref() == Some("no space left on device")));
    assert!(outcome.warnings.iter().any(|w| w.contains("the capture ends early")), "{:?}", outcome.warnings);
}

/// In a process of its own, whose first run has a name that is known.
#[test]
fn a_name_that_is_taken_is_told() {
    needs_a_bench!();
    let taken = |pid: u32| std::path::PathBuf::from(format!("/run/netns/rexmit-{pid}-server"));
    if std::env::var("REXMIT_TEST_TAKEN").is_ok() {
        let path = taken(std::process::id());
        std::fs::create_dir_all("/run/netns").expect("a folder");
        std::fs::write(&path, "").expect("a name");
        println!("told: {}", fails(&plan(&chain("", FILE)).expect("a plan")));
        return;
    }
    let child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "a_name_that_is_taken_is_told", "--nocapture"])
        .env("REXMIT_TEST_TAKEN", "1")
        .stderr(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let pid = child.id();
    let said = String::from_utf8(child.wait_with_output().expect("its end").stdout).expect("text");
    assert!(taken(pid).exists(), "what is not ours stays: {said}");
    std::fs::remove_file(taken(pid)).expect("it is removed");
    let told = format!("told: the name rexmit-{pid}-server is taken in /run/netns");
    assert!(said.contains(&told) && said.contains("ip netns delete"), "{said}");
    let left = format!("rexmit-{pid}-");
    assert!(!live::clean::left_over().iter().any(|n| n.starts_with(&left)));
}

/// `ip netns add` makes /run/netns a mount of its own, unless it is one, and so covers what was mounted there before.
#[test]
fn another_programs_namespace_does_not_cover_ours() {
    needs_a_bench!();
    if std::env::var("REXMIT_TEST_COVERED").is_ok() {
        let other = format!("ip netns add other-{0} && ip netns delete other-{0}", std::process::id());
        println!("{:?}", run(&command(&other, "sleep 20")).outcome.end);
        return;
    }
    // A machine of its own, as far as mounts go, where no namespace has had a name yet.
    let child = Command::new("unshare")
        .args(["--mount", "sh", "-c", "umount --lazy /run/netns; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", "another_programs_namespace_does_not_cover_ours", "--nocapture"])
        .env("REXMIT_TEST_COVERED", "1")
        .stderr(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(child) = child else {
        return support::skipped("there is no unshare (apt-get install util-linux)");
    };
    let ours = format!("rexmit-{}-", child.id());
    let said = String::from_utf8(child.wait_with_output().expect("its end").stdout).expect("text");
    assert!(said.contains("Done"), "{said}");
    let names = std::fs::read_dir("/run/netns").expect("a folder").flatten();
    let left: Vec<_> =
        names.map(|n| n.file_name()).filter(|n| n.to_string_lossy().starts_with(&ours)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_machine_is_described() {
    let machine = live::check::machine();
    assert!(machine.iter().any(|f| f.what == "network namespaces"));
    let lacking: Vec<_> = machine.iter().filter(|f| f.needed && f.fix.is_some()).collect();
    assert_eq!(support::missing().is_some(), !lacking.is_empty(), "{lacking:?}");
}
