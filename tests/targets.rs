//! Profiles, accounts and runtimes, and what an adapter gives its harness. The harness here is a program of the test
//! that writes down what it was given; the real ones are in agents.rs.

use crate::harness::{Session, World, wait_for};
use serde_json::{Value, json};

/// A program that writes its arguments, its environment and its input to files, keeps a transcript where the real one
/// would, and then stays.
const RECORDER: &str = r#"#!/bin/sh
out="$RECORD/$ORBH_RUN"
mkdir -p "$out"
printf '%s\n' "$@" > "$out/argv"
env > "$out/env"
cat > "$out/stdin"
id=
while [ $# -gt 0 ]; do
    case $1 in --session-id | --resume) id=$2 ;; esac
    shift
done
if [ -n "$id" ]; then
    mkdir -p "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects/here"
    echo '{"type":"user"}' >> "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects/here/$id.jsonl"
fi
touch "$out/done"
exec sleep 100000
"#;

struct Recorded {
    argv: Vec<String>,
    env: String,
    stdin: String,
}

impl Recorded {
    fn after(&self, flag: &str) -> Option<&str> {
        let at = self.argv.iter().position(|word| word == flag)?;
        self.argv.get(at + 1).map(String::as_str)
    }

    fn has(&self, word: &str) -> bool {
        self.argv.iter().any(|one| one == word)
    }
}

fn recorder(world: &World, runtime: &str, more: &Value) {
    let path = world.script("recorder", RECORDER);
    let mut json = json!({"command": [path]});
    json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.profile_of(runtime, "rec", &json);
}

fn launch<'w>(world: &'w World, target: &str, more: &[&str], env: &[(&str, &str)]) -> Session<'w> {
    let args = [&["launch", target, "the duty"], more].concat();
    let mut cmd = world.orbh(args).env("RECORD", world.path().join("record"));
    for (name, value) in env {
        cmd = cmd.env(name, value);
    }
    Session::new(world, cmd.run().ok().trim())
}

fn recorded(world: &World, run: &str) -> Recorded {
    let dir = world.path().join("record").join(run);
    wait_for("the recorder to have written", || dir.join("done").exists().then_some(()));
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    Recorded { argv: read("argv").lines().map(str::to_owned).collect(), env: read("env"), stdin: read("stdin") }
}

#[test]
fn the_full_class_of_claude_skips_permissions() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "full", "model": "sonnet"}));
    launch(&world, "claude/rec", &[], &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "outer")]);
    let given = recorded(&world, "0001");
    assert!(given.has("-p") && given.has("--dangerously-skip-permissions"), "{:?}", given.argv);
    assert!(!given.has("--settings") && !given.has("--resume"));
    assert_eq!(given.after("--model"), Some("sonnet"));
    assert!(given.stdin.contains("the duty") && given.stdin.contains("Claude Code"));
    assert!(given.env.contains("DISABLE_AUTO_COMPACT=1\n") && given.env.contains("DISABLE_AUTOUPDATER=1\n"));
    assert!(!given.env.contains("CLAUDECODE=") && !given.env.contains("CLAUDE_CODE_SESSION_ID="));
}

#[test]
fn the_asked_class_of_claude_gets_leave_for_the_harmless_verbs_and_the_scratch_directory() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "asked"}));
    let session = launch(&world, "claude/rec", &[], &[]);
    let given = recorded(&world, "0001");
    assert!(!given.has("--dangerously-skip-permissions"));
    assert_eq!(given.after("--permission-mode"), Some("acceptEdits"));
    assert_eq!(given.after("--add-dir"), session.path("scratch").to_str());
    let settings: Value = serde_json::from_str(given.after("--settings").unwrap()).unwrap();
    let allowed: Vec<&str> =
        settings["permissions"]["allow"].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()).collect();
    let own = format!("Bash({} session:*)", env!("CARGO_BIN_EXE_orbh"));
    let mail = ["page", "pager", "message", "respond"].map(|verb| format!("Bash(flint orbh {verb}:*)"));
    for rule in
        ["Bash(orbh page:*)", "Bash(flint orbh compact:*)", &own].into_iter().chain(mail.iter().map(String::as_str))
    {
        assert!(allowed.contains(&rule), "{rule} is not in {allowed:?}");
    }
    assert!(!given.argv.iter().any(|word| word.contains("launch")), "{:?}", given.argv);
}

#[test]
fn the_sandboxed_class_of_codex_may_write_the_runs_side_of_the_spool_and_no_more_of_it() {
    let world = World::new();
    recorder(&world, "codex", &json!({"class": "sandboxed", "model": "gpt-x", "effort": "high"}));
    let session = launch(&world, "codex/rec", &[], &[("CODEX_THREAD_ID", "outer")]);
    let given = recorded(&world, "0001");
    let roots = given.argv.iter().find(|word| word.starts_with("sandbox_workspace_write.writable_roots=")).unwrap();
    for side in ["scratch", "keys", "returns", "inbox", "outbox", "asked", "log"] {
        assert!(roots.contains(session.path(side).to_str().unwrap()), "{roots}");
    }
    // Nothing of any other session.
    let own = format!("/sessions/{}/", session.id);
    assert_eq!(roots.matches("/sessions/").count(), roots.matches(&own).count(), "{roots}");
    assert!(!roots.contains("/runs"), "{roots}");
    assert!(!roots.contains(&format!("{}\"", session.id)), "{roots}");
    assert!(given.has("allow_login_shell=false") && given.has("sandbox_mode=\"workspace-write\""));
    assert_eq!(given.after("-m"), Some("gpt-x"));
    assert!(given.has("model_reasoning_effort=\"high\""));
    assert!(!given.env.contains("CODEX_THREAD_ID="));
    assert!(given.stdin.contains("(Codex)"));
}

/// R1 R2 R38: a successor's conversation is a fresh one, whatever the harness could resume.
#[test]
fn a_successor_never_resumes_the_old_conversation_and_a_resumed_run_does() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "full"}));
    let session = launch(&world, "claude/rec", &[], &[]);
    let first = recorded(&world, "0001");
    let native = first.after("--session-id").unwrap().to_owned();
    assert_eq!(session.fact("runs/0001/native.json").unwrap()["id"], native);
    session.compact("0001", "0002");
    let second = recorded(&world, "0002");
    assert!(!second.has("--resume"));
    let fresh = second.after("--session-id").unwrap().to_owned();
    assert_ne!(fresh, native);
    session.verb("0002", ["compact", "finish"]).run().ok();
    world.orbh(["kill", &session.id]).run().ok();
    world.orbh(["resume", &session.id, "go on"]).env("RECORD", world.path().join("record")).run().ok();
    let third = recorded(&world, "0003");
    assert_eq!(third.after("--resume"), Some(fresh.as_str()));
    assert!(!third.has("--session-id"));
    assert!(third.stdin.contains("go on") && !third.stdin.contains("the duty\n"), "{}", third.stdin);
    assert_eq!(session.fact("runs/0003/run.json").unwrap()["context"], "0002");
}

#[test]
fn a_recovery_without_the_key_that_the_run_had_refuses_and_names_it() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "full"}));
    let session = launch(&world, "claude/rec", &[], &[("ANTHROPIC_API_KEY", "fake-and-secret")]);
    recorded(&world, "0001");
    world.orbh(["kill", &session.id]).run().ok();
    world.orbh(["resume", &session.id]).run().exits(1).says("ANTHROPIC_API_KEY");
    assert!(!session.exists("runs/0002/run.json"));
    let keyed = world.orbh(["resume", &session.id]).env("ANTHROPIC_API_KEY", "fake-and-secret");
    keyed.env("RECORD", world.path().join("record")).run().ok();
    assert!(!everything(&session).contains("fake-and-secret"));
}

/// All files of a spool, one after the other.
fn everything(session: &Session) -> String {
    let files = walkdir::WalkDir::new(session.path("")).into_iter().flatten();
    files.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect()
}

#[test]
fn a_profile_that_needs_a_variable_is_refused_without_it() {
    let world = World::new();
    recorder(&world, "codex", &json!({"class": "full", "needs": ["MY_KEY"]}));
    world.orbh(["launch", "codex/rec", "the duty"]).run().exits(1).says("MY_KEY");
    assert!(!world.root().exists() || world.orbh(["list", "--all", "--json"]).run().stdout.is_empty());
    launch(&world, "codex/rec", &[], &[("MY_KEY", "x")]);
    recorded(&world, "0001");
}

#[test]
fn an_account_moves_the_home_of_the_harness() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "full"}));
    let unknown = world.orbh(["launch", "claude/rec", "the duty", "--account", "work"]).run().exits(1);
    unknown.says("no account 'work'").says("orbh accounts add claude work");
    let home = world.orbh(["accounts", "add", "claude", "work"]).run().exits(0).stdout;
    let session = launch(&world, "claude/rec", &["--account", "work"], &[]);
    let given = recorded(&world, "0001");
    assert!(given.env.contains(&format!("CLAUDE_CONFIG_DIR={}", home.trim())), "{}", given.env);
    // R44: the fresh run of a compaction keeps the account.
    session.compact("0001", "0002");
    assert!(recorded(&world, "0002").env.contains("accounts/claude/work"));
    assert_eq!(session.fact("target.json").unwrap()["account"], "work");
}

/// R42 R43.
#[test]
fn an_account_of_a_handoff_is_checked_before_anything_ends() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "full"}));
    let session = launch(&world, "claude/rec", &[], &[]);
    recorded(&world, "0001");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let bad = session.verb("0001", ["compact", "handoff", "--into", "claude/rec", "--account", "nobody"]).run();
    assert!(bad.stderr.ends_with("Your context will NOT end.\n"), "{}", bad.stderr);
    bad.exits(1).says("no account 'nobody'");
    let alone = session.verb("0001", ["compact", "handoff", "--account", "nobody"]).run();
    assert!(alone.stderr.ends_with("Your context will NOT end.\n"), "{}", alone.stderr);
    alone.exits(2).says("--into");
    assert!(!session.exists("scratch/relaunch.json"));
}

#[test]
fn accounts_are_added_once_and_listed() {
    let world = World::new();
    assert_eq!(world.orbh(["accounts"]).run().exits(0).stdout, "");
    world.orbh(["accounts", "add", "codex", "a"]).run().exits(0).says("CODEX_HOME=");
    world.orbh(["accounts", "add", "codex", "a"]).run().exits(1).says("already");
    world.orbh(["accounts", "add", "codex", "../b"]).run().exits(2);
    world.orbh(["accounts", "add", "nope", "a"]).run().exits(2).says("claude codex command");
    world.orbh(["accounts", "add", "command", "a"]).run().exits(1).says("no accounts");
    let line: Value = world.orbh(["accounts", "list", "--json"]).run().json();
    assert_eq!((&line["v"], &line["runtime"], &line["account"]), (&json!(1), &json!("codex"), &json!("a")));
    assert_eq!(world.orbh(["accounts", "claude"]).run().exits(0).stdout, "");
}

#[test]
fn a_file_is_laid_over_the_built_in_profile_of_its_name() {
    let world = World::new();
    let program = world.script("claude", "#!/bin/sh\n");
    world.profile_of("claude", "sonnet", &json!({"command": [program], "context_window": 1234}));
    let shown = world.orbh(["profiles", "show", "claude/sonnet", "--json"]).run().json();
    assert_eq!((&shown["class"], &shown["model"]), (&json!("asked"), &json!("sonnet")));
    assert_eq!(shown["context_window"], 1234);
    let listed = world.orbh(["profiles", "claude", "--json"]).run().exits(0).stdout;
    let lines: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |target: &str| lines.iter().find(|line| line["target"] == target).unwrap();
    assert_eq!(find("claude/sonnet")["available"], true);
    assert_eq!(find("claude/opus-full")["class"], "full");
}

#[test]
fn what_is_wrong_with_a_profile_is_said_of_it() {
    let world = World::new();
    let refuse = |target: &str, text: &str| {
        world.orbh(["launch", target, "the duty"]).run().exits(1).says(text);
        world.orbh(["profiles", "show", target]).run().exits(1).says(text);
    };
    refuse("claude/sonet", "claude/sonnet");
    refuse("gemni/x", "no runtime 'gemni'");
    world.profile_of("claude", "box", &json!({"class": "sandboxed"}));
    refuse("claude/box", "no sandbox");
    world.profile_of("codex", "ask", &json!({"class": "asked"}));
    refuse("codex/ask", "cannot ask");
    world.profile_of("claude", "classless", &json!({"model": "opus"}));
    refuse("claude/classless", "states no class");
    world.profile_of("command", "empty", &json!({"class": "full"}));
    refuse("command/empty", "names no program");
    world.profile_of("claude", "gone", &json!({"class": "full", "command": ["/nowhere/claude"]}));
    refuse("claude/gone", "npm install -g @anthropic-ai/claude-code");
    std::fs::write(world.config().join("profiles/claude/torn.json"), "{\"class\": ").unwrap();
    refuse("claude/torn", "cannot be understood");
}

#[test]
fn runtimes_say_what_is_installed_and_how_to_install_the_rest() {
    let world = World::new();
    let bin = world.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::rename(world.script("claude", "#!/bin/sh\n"), bin.join("claude")).unwrap();
    let listed = world.orbh(["runtimes", "--json"]).env("PATH", &bin).run().exits(0).stdout;
    let lines: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |runtime: &str| lines.iter().find(|line| line["runtime"] == runtime).unwrap();
    assert_eq!((&find("claude")["installed"], &find("claude")["version"]), (&json!(true), &json!(null)));
    assert_eq!(find("codex")["installed"], false);
    assert!(find("codex")["install"].as_str().unwrap().contains("@openai/codex"));
    let text = world.orbh(["runtimes"]).env("PATH", &bin).run().ok();
    assert!(text.contains("unknown") && text.contains("not installed"), "{text}");
}

/// DESIGN, Permissions: from inside a run nothing compacts into a higher class.
#[test]
fn a_handoff_into_a_higher_class_is_refused_and_says_what_fits() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "asked"}));
    let session = launch(&world, "claude/rec", &[], &[]);
    recorded(&world, "0001");
    let path = world.path().join("recorder");
    world.profile_of("claude", "high", &json!({"command": [path], "class": "full"}));
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let refused = session.verb("0001", ["compact", "handoff", "--into", "claude/high"]).run().exits(1);
    refused.says("'full'").says("claude/rec").says("Your context will NOT end.");
}

/// Whoever can write profiles, spools or programs can have the manager start what he likes, outside of his sandbox.
#[test]
fn an_agent_below_full_does_not_work_where_it_could_leave_its_class() {
    let world = World::new();
    recorder(&world, "codex", &json!({"class": "sandboxed"}));
    let refused = |world: &World, cwd: &std::path::Path, path: Option<&std::path::Path>| {
        let mut cmd = world.orbh(["launch", "codex/rec", "the duty", "--cwd", &cwd.display().to_string()]);
        if let Some(path) = path {
            cmd = cmd.env("PATH", format!("{}:/usr/bin:/bin", path.display()));
        }
        cmd.run().exits(1).says("could write").says("--cwd DIR");
        assert!(!world.root().exists());
    };
    // Above profiles and spools; among the profiles; above the verbs; above a directory of PATH.
    refused(&world, world.path(), None);
    refused(&world, &world.config().join("profiles/codex"), None);
    refused(&world, crate::harness::bin_dir().parent().unwrap(), None);
    let tools = world.work().join("node_modules/.bin");
    std::fs::create_dir_all(&tools).unwrap();
    refused(&world, &world.work(), Some(&tools));
    // Above the program of the profile; above what a link among the profiles leads to.
    let own = world.work().join("agent");
    std::fs::copy(world.path().join("recorder"), &own).unwrap();
    world.profile_of("codex", "rec", &json!({"class": "sandboxed", "command": [own]}));
    refused(&world, &world.work(), None);
    recorder(&world, "codex", &json!({"class": "sandboxed"}));
    std::fs::rename(world.config().join("profiles"), world.work().join("dotfiles")).unwrap();
    std::os::unix::fs::symlink(world.work().join("dotfiles"), world.config().join("profiles")).unwrap();
    refused(&world, &world.work(), None);
    std::fs::remove_file(world.config().join("profiles")).unwrap();
    std::fs::rename(world.work().join("dotfiles"), world.config().join("profiles")).unwrap();
    // In a directory of its own, and of class full anywhere.
    launch(&world, "codex/rec", &[], &[]);
    recorder(&world, "codex", &json!({"class": "full"}));
    launch(&world, "codex/rec", &["--cwd", &world.path().display().to_string()], &[]);
}

/// A transcript is the harness's own: one that cannot be read tells nothing, and keeps nobody from the session.
#[test]
fn a_transcript_that_cannot_be_read_takes_nothing_along() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "full"}));
    let session = launch(&world, "claude/rec", &[], &[]);
    let id = recorded(&world, "0001").after("--session-id").unwrap().to_owned();
    let transcript = world.home().join(format!(".claude/projects/here/{id}.jsonl"));
    std::fs::remove_file(&transcript).unwrap();
    std::fs::create_dir(&transcript).unwrap();
    assert_eq!(world.orbh(["context", &session.id]).run().ok(), "unknown\n");
    assert_eq!(session.state(), "working");
    world.orbh(["kill", &session.id]).run().ok();
    world.orbh(["resume", &session.id]).env("RECORD", world.path().join("record")).run().ok();
    assert!(!recorded(&world, "0002").has("--resume"));
}

/// A harness may keep keys from its shell tools; its manager has them, and that is what counts.
#[test]
fn a_key_that_the_run_has_and_its_shell_lacks_is_not_missing() {
    let world = World::new();
    recorder(&world, "codex", &json!({"class": "full", "needs": ["MY_KEY"]}));
    let session = launch(&world, "codex/rec", &[], &[("MY_KEY", "x")]);
    recorded(&world, "0001");
    // The verbs of the test are given without it.
    session.compact("0001", "0002");
}

/// An account was chosen by a person, and is not left by the way.
#[test]
fn a_handoff_into_another_profile_of_the_runtime_keeps_the_account() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "full"}));
    let path = world.path().join("recorder");
    world.profile_of("claude", "two", &json!({"class": "full", "command": [path]}));
    world.orbh(["accounts", "add", "claude", "work"]).run().exits(0);
    let session = launch(&world, "claude/rec", &["--account", "work"], &[]);
    recorded(&world, "0001");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff", "--into", "claude/two"]).run().accepted();
    session.wait_relaunched("0002");
    assert!(recorded(&world, "0002").env.contains("accounts/claude/work"));
    assert_eq!(session.fact("target.json").unwrap()["account"], "work");
}

/// Another home is another login and another bill.
#[test]
fn a_recovery_without_the_home_that_the_run_had_refuses_and_names_it() {
    let world = World::new();
    recorder(&world, "codex", &json!({"class": "full"}));
    let home = world.path().join("elsewhere").display().to_string();
    let session = launch(&world, "codex/rec", &[], &[("CODEX_HOME", &home)]);
    recorded(&world, "0001");
    world.orbh(["kill", &session.id]).run().ok();
    world.orbh(["resume", &session.id]).run().exits(1).says("CODEX_HOME");
    let resume = world.orbh(["resume", &session.id]).env("CODEX_HOME", &home);
    resume.env("RECORD", world.path().join("record")).run().ok();
}

#[test]
fn a_conversation_is_resumed_in_its_own_home_alone_and_not_when_it_is_full() {
    let usage = |used: u64| {
        format!(
            r#"{{"type":"assistant","message":{{"model":"claude-opus-5-5","usage":{{"input_tokens":{used},"output_tokens":1}}}}}}"#
        )
    };
    for (home, used, native) in [(".claude", 90_000, true), ("other", 90_000, false), (".claude", 180_000, false)] {
        let world = World::new();
        recorder(&world, "claude", &json!({"class": "full", "context_window": 200_000}));
        let session = launch(&world, "claude/rec", &[], &[]);
        let id = recorded(&world, "0001").after("--session-id").unwrap().to_owned();
        let transcript = world.home().join(format!(".claude/projects/here/{id}.jsonl"));
        std::fs::write(transcript, usage(used) + "\n").unwrap();
        world.orbh(["kill", &session.id]).run().ok();
        let resume = world.orbh(["resume", &session.id]).env("CLAUDE_CONFIG_DIR", world.home().join(home));
        resume.env("RECORD", world.path().join("record")).run().ok();
        assert_eq!(recorded(&world, "0002").has("--resume"), native, "home {home}, {used} tokens");
    }
}

#[test]
fn a_permission_mode_that_does_not_ask_is_refused() {
    let world = World::new();
    recorder(&world, "claude", &json!({"class": "asked", "permission_mode": "bypassPermissions"}));
    world.orbh(["launch", "claude/rec", "the duty"]).run().exits(1).says("does not ask");
    recorder(&world, "claude", &json!({"class": "asked", "permission_mode": "plan"}));
    launch(&world, "claude/rec", &[], &[]);
    assert_eq!(recorded(&world, "0001").after("--permission-mode"), Some("plan"));
}

/// A mode that would come to nothing is not passed over in silence: it looks as if the agent asked.
#[test]
fn a_permission_mode_that_nothing_would_come_of_is_refused() {
    let world = World::new();
    for (runtime, class) in [("claude", "full"), ("codex", "sandboxed"), ("codex", "full"), ("command", "full")] {
        recorder(&world, runtime, &json!({"class": class, "permission_mode": "plan"}));
        let refused = world.orbh(["launch", &format!("{runtime}/rec"), "go"]).run().exits(1);
        refused.says(&format!("is of no use to {runtime} of class '{class}'"));
    }
    // The class of a built-in profile counts as well.
    let path = world.script("recorder", RECORDER);
    world.profile_of("claude", "opus-full", &json!({"command": [path], "permission_mode": "plan"}));
    world.orbh(["launch", "claude/opus-full", "go"]).run().exits(1).says("is of no use to claude of class 'full'");
}
