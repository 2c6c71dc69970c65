//! Real agents: Claude Code and Codex live through compactions, against a model that the test plays.
//!
//! The model makes each CLI do, through its own shell tool, what the prompt tells an agent to do. What is asserted comes
//! from the spool, from what the model received, and from /proc.

mod talks;
mod told;

use crate::harness::model::{Kind, Model, Script, Step, Turn, installed};
use crate::harness::{Cmd, Session, World, alive, wait_for};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A CLI of this test, how it is started, and how its answers are found again.
pub(crate) struct Agent {
    pub(crate) runtime: &'static str,
    profile: Value,
}

const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";

pub(crate) fn claude(class: &str) -> Agent {
    Agent { runtime: "claude", profile: json!({"class": class, "model": ANTHROPIC_MODEL}) }
}

pub(crate) fn codex(class: &str) -> Agent {
    Agent { runtime: "codex", profile: json!({"class": class, "model": "scripted", "needs": ["MOCK_API_KEY"]}) }
}

/// A world in which both CLIs talk to the model, with homes of their own and keys of nobody.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) model: Model,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Stage {
        let world = World::new();
        let model = Model::start(script);
        let home = world.home().join(".codex");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("config.toml"), model.codex_config("scripted")).unwrap();
        Stage { world, model }
    }

    /// Writes the profile of an agent; false, having said so, when its CLI is not installed.
    pub(crate) fn profile(&self, name: &str, agent: &Agent) -> bool {
        let Some(program) = installed(agent.runtime) else { return false };
        let mut profile = agent.profile.clone();
        profile["command"] = json!([program]);
        let dir = self.world.config().join("profiles").join(agent.runtime);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("{name}.json")), profile.to_string()).unwrap();
        true
    }

    pub(crate) fn launch(&self, target: &str) -> Session<'_> {
        let launch = self.command(["launch", target, "Write a line to result.txt."]);
        Session::new(&self.world, launch.run().ok().trim())
    }

    /// The first request for an answer that has this text in it, by number.
    fn heard(&self, text: &str) -> Option<usize> {
        let requests = self.model.requests();
        requests
            .iter()
            .filter(|request| request.kind == Kind::Step)
            .position(|request| request.body.to_string().contains(text))
    }

    /// A command in the environment in which the CLIs find the model.
    fn command<const N: usize>(&self, args: [&str; N]) -> Cmd {
        let node = crate::harness::model::in_path("node").unwrap();
        let bin = crate::harness::bin_dir();
        let path = format!("{}:{}:/usr/local/bin:/usr/bin:/bin", bin.display(), node.parent().unwrap().display());
        self.world
            .orbh(args)
            .env("PATH", path)
            .env("SHELL", "/bin/bash")
            .env("ANTHROPIC_BASE_URL", self.model.anthropic_url())
            .env("ANTHROPIC_API_KEY", "no-key-of-anybody")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // Without it, claude refuses to skip permissions as root.
            .env("IS_SANDBOX", "1")
            .env("MOCK_API_KEY", "no-key-of-anybody")
    }
}

/// What the first context does: the Page, occupancy, a hold, a handoff that is refused, its repair, and the real one.
pub(crate) fn first(into: Option<&'static str>) -> Script {
    let orbh = env!("CARGO_BIN_EXE_orbh");
    Script::new(move |turn: &Turn| match turn.index {
        // Twice the same: a CLI may write an answer down before or after it does what the answer says.
        0 => Step::shell(format!("{orbh} page")).context(163_402),
        1 => Step::shell(format!("{orbh} context")).context(163_402),
        2 => Step::shell(format!("{orbh} compact start")).context(165_000),
        3 => Step::shell(write(&handoff_path(turn), false)).context(166_000),
        4 => Step::shell(format!("{orbh} compact handoff")).context(167_000),
        5 => Step::shell(write(&handoff_path(turn), true)).context(168_000),
        6 => {
            let into = into.map(|target| format!(" --into {target}")).unwrap_or_default();
            Step::shell(format!("{orbh} compact handoff{into}")).context(169_000)
        }
        _ => Step::say("this context should be over"),
    })
}

/// What the successor does: the Page, the handoff, every file that it lists, finish, and the duty.
fn successor() -> Script {
    let orbh = env!("CARGO_BIN_EXE_orbh");
    Script::new(move |turn: &Turn| match turn.index {
        0 => Step::shell(format!("{orbh} page")).context(9_000),
        1 => Step::shell(format!("cat {}", pointed_at(&turn.first_prompt))).context(10_000),
        2 => Step::shell(format!("cat {}", listed_file(turn.last_tool_output()))).context(11_000),
        3 => Step::shell(format!("{orbh} compact finish")).context(12_000),
        4 => Step::shell(format!("{orbh} session return 'the line is written'")).context(13_000),
        _ => Step::say("done"),
    })
}

/// The shell command that writes a handoff to `path`, with or without its last section.
fn write(path: &str, whole: bool) -> String {
    let account = "I am a context of this test, and I have done nothing but prepare this handoff. ".repeat(4);
    let account = format!("This goes to {path}. {account}");
    let file = Path::new(path).parent().unwrap().join("compacting.json");
    let last = if whole { "## OPEN OBLIGATIONS\n\n- none\n" } else { "" };
    format!(
        "cat > {path} <<'EOF'\nCOMPACTION_ARTIFACT_V1\n\n## SUMMARY\n\n{account}\n\n## FILES\n\n{} :: the hold\n\n{last}EOF",
        file.display()
    )
}

/// The path that `compact start` printed, somewhere in what the tools wrote so far.
fn handoff_path(turn: &Turn) -> String {
    let outputs = turn.tool_outputs.join("\n");
    pointed_at(&outputs)
}

/// The first line that is nothing but the path of a handoff.
fn pointed_at(text: &str) -> String {
    let path = text.lines().map(str::trim).find(|line| line.starts_with('/') && line.ends_with(".md"));
    path.unwrap_or_else(|| panic!("no path of a handoff in: {text}")).to_owned()
}

fn listed_file(handoff: &str) -> String {
    let line = handoff.lines().find(|line| line.contains(" :: "));
    line.unwrap_or_else(|| panic!("no FILES in: {handoff}")).split(" :: ").next().unwrap().trim().to_owned()
}

/// Lives through one compaction, and checks everything about it.
fn lives_through_a_compaction(agent: &Agent) {
    let stage = Stage::new(Script::contexts([first(None), successor()]));
    if !stage.profile("under-test", agent) {
        return;
    }
    let target = format!("{}/under-test", agent.runtime);
    let session = stage.launch(&target);
    let first = session.pid("0001");
    let ended = session.wait_end("0001");
    if ended != "compacted" && no_sandbox(&session, &stage) {
        return;
    }
    assert_eq!(ended, "compacted", "{}", story(&session, &stage));
    assert!(!alive(first));
    let nonce = session.fact("runs/0001/pid").unwrap()["nonce"].as_str().unwrap().to_owned();
    let mark = [format!("ORBH_NONCE={nonce}")];
    let of_first = |pid: &i32| shared::ground::process::environment_has(*pid, &mark);
    assert!(!stage.world.processes().iter().any(of_first));
    wait_for("the result", || session.exists("returns/0002.json").then_some(()));
    assert_eq!(session.wait_end("0002"), "returned", "{}", story(&session, &stage));
    one_session_two_contexts(&session, &stage, &[agent.runtime, agent.runtime]);
    let conversations = stage.model.conversations();
    let said = conversations[0].turns.last().unwrap().0.tool_outputs.clone();
    assert!(said[1].contains("163402 / "), "orbh context said {:?}", said[1]);
    assert!(said[4].contains("Your context will NOT end."), "the refused handoff said {:?}", said[4]);
    let context = stage.world.orbh(["context", &session.id, "--json"]).run().json();
    let window = if agent.runtime == "claude" { 200_000 } else { 258_400 };
    assert_eq!((&context["run"], &context["max"]), (&json!("0002"), &json!(window)));
    // The newest answer of the successor; never what the first context had.
    assert!(context["used"].as_u64().is_some_and(|used| used > 0 && used < 100_000), "{context}");
    assert!(context["source"].as_str().unwrap().ends_with(".jsonl"), "{context}");
    let page = stage.world.orbh(["page", &session.id]).run().ok();
    let line = page.lines().find_map(|line| line.strip_prefix("CONTEXT")).unwrap();
    assert!(line.contains(&format!("{} / {window}", context["used"])), "{line} is not {context}");
}

/// R1 R2 R38 R44: what must hold of every compaction, whatever ran it.
fn one_session_two_contexts(session: &Session, stage: &Stage, runtimes: &[&str]) {
    let runs: Vec<String> = (1..=runtimes.len()).map(|run| format!("{run:04}")).collect();
    let mut natives = Vec::new();
    for (run, runtime) in runs.iter().zip(runtimes) {
        let fact = session.fact(&format!("runs/{run}/run.json")).unwrap();
        assert!(fact["target"].as_str().unwrap().starts_with(runtime));
        let argv = fact["argv"].as_array().unwrap();
        assert!(!argv.iter().any(|word| word == "--resume" || word == "resume"), "{argv:?}");
        natives.push(session.fact(&format!("runs/{run}/native.json")).unwrap()["id"].clone());
        assert!(std::fs::read_link(session.path(&format!("runs/{run}/transcript"))).unwrap().is_file());
    }
    assert!(!session.path(&format!("runs/{:04}", runs.len() + 1)).exists());
    let mut different = natives.clone();
    different.dedup();
    assert_eq!(different.len(), runs.len(), "{natives:?}");
    let conversations = stage.model.conversations();
    assert_eq!(conversations.len(), runs.len());
    for (before, conversation) in runs.iter().zip(&conversations[1..]) {
        let prompt = &conversation.turns[0].0.first_prompt;
        let duty = prompt.find("Write a line to result.txt.").expect("the duty");
        let handoff = prompt.find(session.handoff(before).to_str().unwrap()).expect("the handoff's path");
        assert!(duty < handoff);
    }
    wait_for("the manager to leave", || stage.world.processes().is_empty().then_some(()));
    assert_eq!(session.state(), "finished");
    assert_eq!(stage.world.orbh(["result", &session.id]).run().ok(), "the line is written\n");
}

/// Whether the sandbox of codex cannot work here; says so.
fn no_sandbox(session: &Session, stage: &Stage) -> bool {
    let none = story(session, stage).contains("bwrap: Creating new namespace failed");
    if none {
        crate::harness::model::say("skipped: the sandbox of codex needs user namespaces, and there are none");
    }
    none
}

/// Waits for a fact while the first run goes on; false, having said so, when no command can run here.
#[track_caller]
fn wait_alive(what: &str, session: &Session, stage: &Stage, fact: impl Fn() -> bool) -> bool {
    wait_for(what, || {
        let over = session.exists("runs/0001/end.json");
        if over && no_sandbox(session, stage) {
            return Some(false);
        }
        assert!(!over || fact(), "the run is over: {}", story(session, stage));
        fact().then_some(true)
    })
}

/// Everything that helps to see why a session did not go as it should.
pub(crate) fn story(session: &Session, stage: &Stage) -> String {
    let mut story = stage.world.orbh(["log", &session.id]).run().stdout;
    for run in ["0001", "0002"] {
        story += &session.text(&format!("runs/{run}/output")).unwrap_or_default();
    }
    for conversation in stage.model.conversations() {
        let turn = &conversation.turns.last().unwrap().0;
        story += &format!("\n{}: {:#?}", conversation.native, turn.tool_outputs);
    }
    story
}

/// R6 R7.
#[test]
fn claude_with_permissions_bypassed_lives_through_a_compaction() {
    lives_through_a_compaction(&claude("full"));
}

#[test]
fn claude_with_permissions_asked_lives_through_a_compaction() {
    lives_through_a_compaction(&claude("asked"));
}

#[test]
fn codex_with_permissions_bypassed_lives_through_a_compaction() {
    lives_through_a_compaction(&codex("full"));
}

#[test]
fn codex_in_its_sandbox_lives_through_a_compaction() {
    lives_through_a_compaction(&codex("sandboxed"));
}

/// R41 R42 R43 R44: the same session from one runtime to the other and back.
#[test]
fn a_session_goes_from_claude_to_codex_and_back() {
    let orbh = env!("CARGO_BIN_EXE_orbh");
    // The one in the middle finishes the first compaction before it begins the second.
    let middle = Script::new(move |turn: &Turn| match turn.index {
        0 => Step::shell(format!("{orbh} compact finish")).context(12_000),
        1 => Step::shell(format!("{orbh} compact start")).context(90_000),
        2 => Step::shell(write(&handoff_path(turn), true)).context(91_000),
        3 => Step::shell(format!("{orbh} compact handoff --into claude/under-test")).context(92_000),
        _ => Step::say("this context should be over"),
    });
    let stage = Stage::new(Script::contexts([first(Some("codex/under-test")), middle, successor()]));
    if !stage.profile("under-test", &claude("full")) || !stage.profile("under-test", &codex("full")) {
        return;
    }
    let session = stage.launch("claude/under-test");
    assert_eq!(session.wait_end("0001"), "compacted", "{}", story(&session, &stage));
    assert_eq!(session.wait_end("0002"), "compacted", "{}", story(&session, &stage));
    assert_eq!(session.wait_end("0003"), "returned", "{}", story(&session, &stage));
    one_session_two_contexts(&session, &stage, &["claude", "codex", "claude"]);
    let lines = session.text("scratch/compactions.ndjson").unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
}

/// A CLI that wants a login and exits leaves a session that says so, and can be resumed.
#[test]
fn a_cli_that_wants_a_login_ends_the_run_and_its_words_are_kept() {
    let stage = Stage::new(Script::steps([]));
    if !stage.profile("under-test", &claude("full")) {
        return;
    }
    let launch = stage.world.orbh(["launch", "claude/under-test", "do nothing"]).env("IS_SANDBOX", "1");
    let session = Session::new(&stage.world, launch.run().ok().trim());
    assert_eq!(session.wait_end("0001"), "exited");
    wait_for("the state", || (session.state() == "failed-unreturned").then_some(()));
    let output: PathBuf = session.path("runs/0001/output");
    assert!(std::fs::read_to_string(output).unwrap().to_lowercase().contains("login"));
}

/// A run that is killed and resumed goes on in its own conversation.
fn goes_on_after_a_kill(agent: &Agent) {
    let orbh = env!("CARGO_BIN_EXE_orbh");
    let stage = Stage::new(Script::new(move |turn: &Turn| match turn.index {
        0 => Step::shell(format!("{orbh} page")).context(20_000),
        1 => Step::hang(),
        2 => Step::shell(format!("{orbh} session return 'the line is written'")).context(22_000),
        _ => Step::say("done"),
    }));
    if !stage.profile("under-test", agent) {
        return;
    }
    let session = stage.launch(&format!("{}/under-test", agent.runtime));
    wait_for("the second question", || {
        stage.model.conversations().first().filter(|conversation| conversation.turns.len() > 1).map(drop)
    });
    wait_for("the native id", || session.exists("runs/0001/native.json").then_some(()));
    stage.world.orbh(["kill", &session.id]).run().ok();
    let resumed = stage.command(["resume", &session.id, "Go on, please."]).run();
    assert!(resumed.ok().contains("0002 (resume)"));
    assert_eq!(session.wait_end("0002"), "returned", "{}", story(&session, &stage));
    let native = |run: &str| session.fact(&format!("runs/{run}/native.json")).unwrap()["id"].clone();
    assert_eq!(native("0001"), native("0002"));
    assert_eq!(session.fact("runs/0002/run.json").unwrap()["context"], "0001");
    let conversations = stage.model.conversations();
    assert_eq!(conversations.len(), 1);
    let prompt = &conversations[0].turns[2].0.prompt;
    assert!(prompt.contains("run 0001 ended") && prompt.contains("Go on, please."), "{prompt}");
}

#[test]
fn claude_goes_on_after_a_kill() {
    goes_on_after_a_kill(&claude("full"));
}

#[test]
fn codex_goes_on_after_a_kill() {
    goes_on_after_a_kill(&codex("sandboxed"));
}
