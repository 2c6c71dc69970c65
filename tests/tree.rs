//! What is stopped with a context, and what is not.

use crate::harness::{Session, World, alive, kill_dead, outcome, wait_for};
use std::process::Child;

/// Every way in which a process of a context may try to stay: each writes its number to a file of its name.
const HARD_TO_STOP: &str = r#"
cat >/dev/null
mkdir -p pids
tell() { echo "$1" >"pids/.$2"; mv "pids/.$2" "pids/$2"; }
if [ "$ORBH_RUN" = 0001 ]; then
    tell $$ leader
    sleep 1000 & tell $! group
    setsid sh -c 'echo $$ >pids/setsid; exec sleep 1000' &
    (setsid sh -c 'echo $$ >pids/double; exec sleep 1000' &)
    (setsid sh -c 'trap "" TERM HUP INT; echo $$ >pids/ignores; exec sleep 1000' &)
    sh -c 'echo $$ >pids/stopped; kill -STOP $$; exec sleep 1000' &
    (setsid sh -c 'trap "" TERM; echo $$ >pids/stopped-ignores; kill -STOP $$; exec sleep 1000' &)
    bash -c 'set -m; sleep 1000 & echo $! >pids/job; echo $$ >pids/shell; wait' &
    (env -i PATH="$PATH" setsid sh -c 'echo $$ >pids/nameless; exec sleep 1000' &)
    (setsid sh -c 'echo $$ >pids/forks; trap "" TERM; while :; do sleep 0.05; done' &)
fi
exec sleep 1000
"#;

const KINDS: [&str; 11] = [
    "leader",
    "group",
    "setsid",
    "double",
    "ignores",
    "stopped",
    "stopped-ignores",
    "job",
    "shell",
    "nameless",
    "forks",
];

fn hard_session(world: &World) -> (Session<'_>, Vec<(&'static str, i32)>) {
    world.agent("hard", HARD_TO_STOP);
    let session = world.launch("command/hard", "stay");
    let pids = KINDS.map(|kind| (kind, world.wait_pid(&format!("pids/{kind}")))).to_vec();
    for stopped in ["stopped", "stopped-ignores"] {
        let pid = world.wait_pid(&format!("pids/{stopped}"));
        let state = || shared::ground::process::stat(pid).is_some_and(|stat| stat.state == 'T');
        wait_for("a process to have stopped itself", || state().then_some(()));
    }
    assert!(pids.iter().all(|(_, pid)| alive(*pid)));
    (session, pids)
}

/// Processes that look like those of the session's context and are not: the same program, the same work directory,
/// even the same session in their environment.
fn bystanders(world: &World, session: &Session) -> Vec<Child> {
    vec![
        world.program("sleep").sleeping(),
        world.program("sleep").env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001").sleeping(),
        world.program("sleep").env("ORBH_NONCE", "another").env("ORBH_SESSION_ID", &session.id).sleeping(),
    ]
}

#[track_caller]
fn all_dead(pids: &[(&str, i32)], but: &[&str]) {
    let left: Vec<&str> =
        pids.iter().filter(|(kind, pid)| !but.contains(kind) && alive(*pid)).map(|(kind, _)| *kind).collect();
    assert_eq!(left, Vec::<&str>::new());
}

#[track_caller]
fn all_alive(bystanders: Vec<Child>) {
    for mut bystander in bystanders {
        assert!(bystander.try_wait().unwrap().is_none(), "a bystander was stopped");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }
}

/// R2: once the end of a context is written, none of its processes lives, however it tried to stay; and nobody else was
/// touched.
#[test]
fn nothing_of_a_replaced_context_lives_and_bystanders_do() {
    let world = World::new();
    let (session, pids) = hard_session(&world);
    let bystanders = bystanders(&world, &session);
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let verb = session.verb("0001", ["compact", "handoff"]).spawn();
    assert_eq!(session.wait_end("0001"), "compacted");
    all_dead(&pids, &[]);
    session.wait_relaunched("0002");
    all_alive(bystanders);
    outcome(verb).accepted();
}

/// R2: a manager that took over from a dead one finds what lost its parents by the mark in the environment.
#[test]
fn a_manager_that_took_over_stops_the_context_by_its_mark() {
    let world = World::new();
    let (session, pids) = hard_session(&world);
    let bystanders = bystanders(&world, &session);
    session.kill_manager();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let verb = session.verb("0001", ["compact", "handoff"]).spawn();
    assert_eq!(session.wait_end("0001"), "compacted");
    // Without its mark and its parents nobody can tell whose it was.
    all_dead(&pids, &["nameless"]);
    session.wait_relaunched("0002");
    all_alive(bystanders);
    outcome(verb).accepted();
    let nameless = world.wait_pid("pids/nameless");
    if alive(nameless) {
        kill_dead(nameless);
    }
}

/// `kill` ends the whole tree as well.
#[test]
fn kill_stops_the_whole_tree() {
    let world = World::new();
    let (session, pids) = hard_session(&world);
    let bystanders = bystanders(&world, &session);
    world.orbh(["kill", &session.id]).run().exits(0);
    all_dead(&pids, &[]);
    assert_eq!(session.wait_end("0001"), "killed");
    all_alive(bystanders);
}

/// `kill` without a manager ends the tree by itself, by the mark.
#[test]
fn kill_without_a_manager_stops_the_tree_by_its_mark() {
    let world = World::new();
    let (session, pids) = hard_session(&world);
    let bystanders = bystanders(&world, &session);
    session.kill_manager();
    world.orbh(["kill", &session.id]).run().exits(0);
    all_dead(&pids, &["nameless"]);
    assert_eq!(session.wait_end("0001"), "killed");
    all_alive(bystanders);
    let nameless = world.wait_pid("pids/nameless");
    if alive(nameless) {
        kill_dead(nameless);
    }
}

/// A parent, and its child of the profile command/PROFILE, launched from inside the parent's run.
fn family<'w>(world: &'w World, profile: &str) -> (Session<'w>, Session<'w>) {
    world.idle_agent();
    for (name, launches) in [("parent", profile), ("middle", "idle")] {
        let launch =
            format!("orbh launch command/{launches} 'a child' >child-of-{name}; orbh session set launched yes");
        world.agent(name, &format!("cat >/dev/null\n[ $ORBH_RUN = 0001 ] && {{ {launch}; }}\nexec sleep 1000\n"));
    }
    let parent = world.launch("command/parent", "have a child");
    let child = Session::new(world, &world.wait_line("child-of-parent"));
    wait_for("the parent to have launched", || parent.exists("keys/launched").then_some(()));
    (parent, child)
}

/// A session that a run launches is linked with it both ways, is shown as its obligation, and survives the compaction
/// of its parent together with its manager.
#[test]
fn a_child_session_survives_the_compaction_of_its_parent() {
    let world = World::new();
    let (parent, child) = family(&world, "idle");
    let canonical = |path| std::fs::canonicalize(path).unwrap();
    assert_eq!(canonical(parent.path(&format!("links/child-{}", child.id))), canonical(child.path("")));
    assert_eq!(canonical(child.path("links/parent")), canonical(parent.path("")));
    let born = child.fact("session.json").unwrap();
    assert_eq!((born["parent"].as_str(), born["depth"].as_u64()), (Some(parent.id.as_str()), Some(1)));
    let start = parent.verb("0001", ["compact", "start"]).run().ok();
    assert!(start.contains(&format!("orbh result {}", child.id)), "no obligation in: {start}");
    parent.verb("0001", ["compact", "abort"]).run().ok();
    let lives = [child.pid("0001"), child.manager_pid()];
    compact_with_child(&parent, &child);
    assert!(lives.iter().all(|pid| alive(*pid)));
    assert_eq!(child.runs(), ["0001"]);
    assert_eq!(child.state(), "working");
}

/// Compacts a parent whose handoff lists its child.
fn compact_with_child(parent: &Session, child: &Session) {
    parent.verb("0001", ["compact", "start"]).run().exits(0);
    let obligation = format!("- session {}: launched by me; collect with `orbh result {}`", child.id, child.id);
    let handoff = parent.good_handoff("run 0001").replace("- none", &obligation);
    std::fs::write(parent.handoff("0001"), handoff).unwrap();
    parent.verb("0001", ["compact", "handoff"]).run().accepted();
    parent.wait_relaunched("0002");
}

/// A child whose manager was killed falls to the manager of its parent, and is still not of the parent's run.
#[test]
fn a_child_session_without_a_manager_survives_the_compaction_of_its_parent() {
    let world = World::new();
    let (parent, child) = family(&world, "idle");
    let live = child.pid("0001");
    child.kill_manager();
    compact_with_child(&parent, &child);
    assert!(alive(live));
    assert!(!child.exists("runs/0001/end.json"));
}

/// The same one generation further: the manager between them died, so the grandchild's falls to the grandparent's.
#[test]
fn a_grandchild_session_survives_the_compaction_of_its_grandparent() {
    let world = World::new();
    let (parent, child) = family(&world, "middle");
    let grandchild = Session::new(&world, &world.wait_line("child-of-middle"));
    wait_for("the child to have launched", || child.exists("keys/launched").then_some(()));
    let lives = [child.pid("0001"), grandchild.pid("0001"), grandchild.manager_pid()];
    child.kill_manager();
    compact_with_child(&parent, &child);
    assert!(lives.iter().all(|pid| alive(*pid)), "a session was stopped with its ancestor's context");
}
