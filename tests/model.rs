//! The scripted model serves the real CLIs; and what orbh relies on in those CLIs is so.

mod place;

use crate::harness::model::{Kind, Model, Script, Step, Usage, installed};
use place::{DEADLINE, NATIVE, Place};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

/// What the tools wrote, as the model saw it with its last request.
fn outputs(model: &Model) -> Vec<String> {
    let conversations = model.conversations();
    assert_eq!(conversations.len(), 1, "{conversations:#?}");
    conversations[0].turns.last().unwrap().0.tool_outputs.clone()
}

fn kinds(model: &Model) -> Vec<Kind> {
    model.requests().iter().map(|request| request.kind).filter(|kind| *kind != Kind::Other).collect()
}

/// Two commands, the second of them computed from the first one's output.
fn relay() -> Script {
    Script::new(|turn| match turn.index {
        0 => Step::shell("echo \"it's $ORBH_SESSION_ID\"").context(50_000),
        1 => Step::shell(format!("echo 'so {}'", turn.last_tool_output().trim().replace('\'', "’"))).context(60_000),
        _ => Step::say("the end").usage(Usage { input: 7, cache_creation: 20, cache_read: 70_000, output: 3 }),
    })
}

#[track_caller]
fn relayed(model: &Model) {
    let outputs: Vec<String> = outputs(model).iter().map(|one| one.trim().to_owned()).collect();
    assert_eq!(outputs, ["it's orbh-of-this-test", "so it’s orbh-of-this-test"]);
    let conversation = &model.conversations()[0];
    assert_eq!(conversation.first_prompt().trim(), "the prompt");
    assert_eq!(conversation.turns.len(), 3);
    assert_eq!(kinds(model), [Kind::Step; 3]);
    for request in model.requests() {
        assert!(!format!("{request:?}").contains("no-key-of-anybody"), "{request:?}");
    }
}

#[test]
fn claude_runs_the_steps_and_writes_down_the_usage_of_the_script() {
    let Some(program) = installed("claude") else { return };
    let (place, model) = (Place::new(), Model::start(relay()));
    let mut command = place.claude(&program, &model);
    command.arg("--dangerously-skip-permissions");
    let stdout = place.run(command).ok();
    assert_eq!(stdout.trim(), "the end");
    relayed(&model);
    assert_eq!(model.conversations()[0].native, NATIVE);
    let lines = place.transcript("claude");
    let last = lines.iter().rfind(|line| line["type"] == "assistant").unwrap();
    let usage = &last["message"]["usage"];
    let names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]
        .map(|name| &usage[name]);
    assert_eq!(names, [7, 20, 70_000, 3]);
}

#[test]
fn codex_runs_the_steps_and_writes_down_the_usage_of_the_script() {
    let Some(program) = installed("codex") else { return };
    let (place, model) = (Place::new(), Model::start(relay()));
    let mut command = place.codex(&program, &model);
    command.args(["--dangerously-bypass-approvals-and-sandbox", "-"]);
    let stdout = place.run(command).ok();
    relayed(&model);
    let first: Value = serde_json::from_str(stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["thread_id"], json!(model.conversations()[0].native));
    let lines = place.transcript("codex");
    let last = lines.iter().rfind(|line| line["payload"]["type"] == "token_count").unwrap();
    let usage = &last["payload"]["info"]["last_token_usage"];
    assert_eq!(usage["total_tokens"], 70_030);
    assert_eq!(usage["cached_input_tokens"], 70_000);
}

#[test]
fn codex_runs_the_steps_with_a_model_that_it_knows() {
    let Some(program) = installed("codex") else { return };
    let (place, model) = (Place::new(), Model::start(relay()));
    let mut command = place.codex(&program, &model);
    command.args(["-m", "gpt-6.2-sol", "--dangerously-bypass-approvals-and-sandbox", "-"]);
    place.run(command).ok();
    relayed(&model);
}

#[test]
fn two_sessions_get_their_own_scripts() {
    let Some(program) = installed("codex") else { return };
    let place = Place::new();
    let one = Script::steps([Step::shell("echo first"), Step::say("first is done")]);
    let model = Model::start(Script::contexts([one, Script::steps([Step::say("second is done")])]));
    for name in ["first", "second"] {
        let mut command = place.codex(&program, &model);
        command.args(["--dangerously-bypass-approvals-and-sandbox", "-"]);
        assert!(place.run(command).ok().contains(&format!("{name} is done")));
    }
    let turns: Vec<usize> = model.conversations().iter().map(|one| one.turns.len()).collect();
    assert_eq!(turns, [2, 1]);
}

/// The class `asked`: exactly what the rules grant runs, and nothing else.
#[test]
fn claude_that_asks_runs_what_the_rules_grant_and_nothing_else() {
    let Some(program) = installed("claude") else { return };
    let place = Place::new();
    let (bin, granted, foreign) = (place.path("bin"), place.path("granted"), place.path("foreign"));
    std::fs::write(granted.join("page"), "a page\n").unwrap();
    std::fs::write(foreign.join("secret"), "a secret\n").unwrap();
    let (bin, dir) = (bin.display(), granted.display());
    let allowed = [
        "orbh page".to_owned(),
        format!("{bin}/orbh page --new"),
        "orbh compact start".to_owned(),
        format!("{bin}/orbh compact handoff < {dir}/page"),
        "flint orbh page".to_owned(),
        format!("cd {dir} && orbh page | head -5"),
        format!("cat {dir}/page"),
        format!("cat > {dir}/handoff.md <<'EOF'\n$HOME `x`\nEOF"),
        "orbh compact handoff <<'EOF'\ntext\nEOF".to_owned(),
    ];
    let refused = [
        "orbh launch x".to_owned(),
        "orbh".to_owned(),
        format!("{bin}/flint orbh page"),
        "ORBH_X=1 orbh page".to_owned(),
        "orbh page &".to_owned(),
        format!("touch {}/no", foreign.display()),
        format!("orbh page > {}/no", foreign.display()),
        format!("cat {}/secret", foreign.display()),
    ];
    let mut steps: Vec<Step> = allowed.iter().map(Step::shell).collect();
    steps.push(Step::write(granted.join("written"), "x"));
    steps.extend(refused.iter().map(Step::shell));
    steps.push(Step::write(foreign.join("no"), "x"));
    let count = steps.len();
    let model = Model::start(Script::steps(steps));
    let mut command = place.claude(&program, &model);
    let rules = [
        "Bash(orbh page:*)".to_owned(),
        "Bash(orbh compact:*)".to_owned(),
        format!("Bash({bin}/orbh page:*)"),
        format!("Bash({bin}/orbh compact:*)"),
        "Bash(flint orbh page:*)".to_owned(),
    ];
    command.args(["--output-format", "json", "--permission-mode", "acceptEdits", "--add-dir"]).arg(&granted);
    // Both flags take all words up to the next flag: the prompt must come from standard input.
    command.arg("--allowedTools").args(rules);
    let result: Value = serde_json::from_str(&place.run(command).ok()).unwrap();
    let outputs = outputs(&model);
    assert_eq!(outputs.len(), count, "{outputs:#?}");
    for (what, output) in allowed.iter().zip(&outputs) {
        let good = output.contains("ran ") || output.contains("a page") || output.contains("completed with no output");
        assert!(good, "{what}: {output}");
    }
    assert_eq!(std::fs::read_to_string(granted.join("handoff.md")).unwrap(), "$HOME `x`\n");
    assert!(granted.join("written").exists());
    for (what, output) in refused.iter().zip(&outputs[allowed.len() + 1..]) {
        assert!(!output.contains("ran ") && !output.contains("a secret"), "{what}: {output}");
    }
    assert!(!foreign.join("no").exists());
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), refused.len() + 1, "{result:#}");
}

/// The class `sandboxed`: the granted directory and the working directory can be written, and nothing else.
#[test]
fn codex_in_its_sandbox_writes_where_it_is_granted_and_nowhere_else() {
    let Some(program) = installed("codex") else { return };
    let place = Place::new();
    let (granted, foreign) = (place.path("granted"), place.path("foreign"));
    std::fs::write(foreign.join("file"), "foreign text\n").unwrap();
    let (dir, other) = (granted.display(), foreign.display());
    let steps = [
        format!("echo a > {dir}/a && sync {dir}/a && mv {dir}/a {dir}/b && ln {dir}/b {dir}/c && echo good"),
        format!("touch {dir}/lock && flock -xn {dir}/lock echo good"),
        format!("echo x > {other}/no; ln {other}/file {dir}/no; mv {dir}/c {other}/no; rm {other}/file; true"),
        format!("flock -xn {other}/file cat {other}/file"),
        "echo $ORBH_SESSION_ID; command -v orbh".to_owned(),
        "touch good && ls".to_owned(),
    ];
    let model = Model::start(Script::steps(steps.iter().map(Step::shell)));
    let mut command = place.codex(&program, &model);
    command.args(["-s", "workspace-write", "-c"]);
    command.arg(format!("sandbox_workspace_write.writable_roots=[{:?}]", granted.to_str().unwrap()));
    // Without these two, all of /tmp is granted too.
    command.args(["-c", "sandbox_workspace_write.exclude_slash_tmp=true"]);
    command.args(["-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true", "-"]);
    place.run(command).ok();
    let outputs = outputs(&model);
    // No user namespaces: "bwrap: Creating new namespace failed: …".
    if ["bwrap: ", "error building bubblewrap"].iter().any(|start| outputs[0].starts_with(start)) {
        println!("skipped: codex has no sandbox here: {}", outputs[0]);
        return;
    }
    assert_eq!(outputs[0], "good\n");
    assert_eq!(outputs[1], "good\n");
    assert_eq!(outputs[2].matches("Read-only file system").count(), 3, "{}", outputs[2]);
    assert_eq!(outputs[2].matches("Invalid cross-device link").count(), 1, "{}", outputs[2]);
    assert_eq!(outputs[3], "foreign text\n");
    assert_eq!(outputs[4], format!("orbh-of-this-test\n{}/orbh\n", place.path("bin").display()));
    assert_eq!(outputs[5], "good\n");
    assert!(!foreign.join("no").exists() && !granted.join("no").exists() && foreign.join("file").exists());
}

/// Codex's compaction at nine tenths of the window.
fn near_the_end() -> Script {
    Script::steps([Step::shell("echo one").context(240_000), Step::shell("echo two").context(250_000)])
}

#[test]
fn codex_compacts_at_nine_tenths_and_not_with_the_other_scope() {
    let Some(program) = installed("codex") else { return };
    for (flags, expected) in [
        (&[][..], &[Kind::Step, Kind::Step, Kind::Compaction, Kind::Step][..]),
        (
            &[
                "-c",
                "model_auto_compact_token_limit_scope=body_after_prefix",
                "-c",
                "model_auto_compact_token_limit=100000000",
            ],
            &[Kind::Step; 3],
        ),
    ] {
        let (place, model) = (Place::new(), Model::start(near_the_end()));
        let mut command = place.codex(&program, &model);
        command.args(flags).args(["--dangerously-bypass-approvals-and-sandbox", "-"]);
        place.run(command).ok();
        assert_eq!(kinds(&model), expected, "{flags:?}");
    }
}

/// The hook and the trust in it are given by flags: no file of the user's is touched, no hook of the user's is trusted.
#[test]
fn a_hook_given_to_codex_by_a_flag_ends_the_turn_before_it_compacts() {
    const COMMAND: &str = r#"touch hook.ran; echo '{\"continue\":false,\"stopReason\":\"enough\"}'"#;
    // Of {"event_name":"pre_compact","hooks":[{"async":false,"command":COMMAND,"timeout":600,"type":"command"}]}.
    const TRUSTED: &str = "sha256:07564dadf642d6771ab5f38c9d13aa880b820129eaefb8b619783cbeaccfd67b";
    let Some(program) = installed("codex") else { return };
    let (place, model) = (Place::new(), Model::start(near_the_end()));
    let mut command = place.codex(&program, &model);
    let config = std::fs::read(place.path("codex/config.toml")).unwrap();
    command.arg("-c").arg(format!("hooks.PreCompact=[{{hooks=[{{type=\"command\",command=\"{COMMAND}\"}}]}}]"));
    let key = "/<session-flags>/config.toml:pre_compact:0:0";
    command.arg("-c").arg(format!("hooks.state={{\"{key}\"={{trusted_hash=\"{TRUSTED}\"}}}}"));
    command.args(["--dangerously-bypass-approvals-and-sandbox", "-"]);
    let end = place.run(command);
    assert!(place.path("work/hook.ran").exists(), "{}{}", end.stdout, end.stderr);
    assert_eq!(end.code, Some(1));
    assert_eq!(kinds(&model), [Kind::Step; 2]);
    assert!(!end.stdout.contains("turn.completed"), "{}", end.stdout);
    let lines = place.transcript("codex");
    assert!(lines.iter().any(|line| line["payload"]["type"] == "turn_aborted"));
    assert_eq!(std::fs::read(place.path("codex/config.toml")).unwrap(), config);
}

#[test]
fn a_model_that_is_still_thinking_does_not_hold_a_cli_that_is_terminated() {
    for name in ["claude", "codex"] {
        let Some(program) = installed(name) else { continue };
        let (place, model) = (Place::new(), Model::start(Script::steps([Step::hang()])));
        let mut command = if name == "claude" { place.claude(&program, &model) } else { place.codex(&program, &model) };
        if name == "codex" {
            command.args(["--dangerously-bypass-approvals-and-sandbox", "-"]);
        }
        let child = command.spawn().unwrap();
        let begin = Instant::now();
        while model.conversations().is_empty() {
            assert!(begin.elapsed() < DEADLINE, "{name} does not ask");
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        let end = place.wait(child);
        assert!(end.code == Some(143) || end.signal == Some(15), "{name}: {:?} {:?}", end.code, end.signal);
    }
}

#[test]
fn an_answer_that_fails_is_asked_for_again_and_a_refused_one_ends_the_run() {
    for name in ["claude", "codex"] {
        let Some(program) = installed(name) else { continue };
        let place = Place::new();
        let model = Model::start(Script::steps([
            Step::fail(529, "overloaded_error", "scripted: too many"),
            Step::refuse("scripted: no"),
        ]));
        let mut command = place.cli(name, &program, &model);
        command.args(place.unasked(name));
        let end = place.run(command);
        assert_eq!(end.code, Some(1), "{name}: {}{}", end.stdout, end.stderr);
        assert!(end.stdout.contains("scripted: no"), "{name}: {}{}", end.stdout, end.stderr);
        assert_eq!(model.conversations()[0].turns.len(), 2);
    }
}

/// One answer from a connection that stays open: its head, and its body as it is on the wire.
fn read_answer(reader: &mut impl BufRead, head_only: bool) -> String {
    let mut answer = String::new();
    while !answer.ends_with("\r\n\r\n") {
        reader.read_line(&mut answer).unwrap();
    }
    if let Some((_, length)) = answer.split_once("content-length: ").filter(|_| !head_only) {
        let mut body = vec![0; length.trim().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        answer.push_str(std::str::from_utf8(&body).unwrap());
    } else if answer.contains("chunked") {
        while !answer.ends_with("\r\n0\r\n\r\n") {
            reader.read_line(&mut answer).unwrap();
        }
    }
    answer
}

/// No CLI needed.
#[test]
fn side_requests_and_broken_scripts_are_answered_and_take_no_step() {
    let model = Model::start(Script::new(|turn| match turn.index {
        0 => Step::say("hello"),
        _ => panic!("this panic is part of the test"),
    }));
    let mut stream = std::net::TcpStream::connect(model.anthropic_url().trim_start_matches("http://")).unwrap();
    let mut reader = std::io::BufReader::new(stream.try_clone().unwrap());
    let mut ask = |start: &str, headers: &str, body: &str| {
        write!(stream, "{start} HTTP/1.1\r\nhost: x\r\nauthorization: hidden-word\r\n{headers}\r\n{body}").unwrap();
        read_answer(&mut reader, start.starts_with("HEAD"))
    };
    let post = |body: &Value| format!("content-length: {}\r\n", body.to_string().len());
    assert!(ask("HEAD /", "", "").starts_with("HTTP/1.1 200"));
    let side = json!({"model": "m", "max_tokens": 512, "messages": [{"role": "user", "content": "a title?"}]});
    assert!(ask("POST /v1/messages?beta=true", &post(&side), &side.to_string()).contains("A scripted session"));
    let mut turn = side.clone();
    turn["tools"] = json!([{"name": "Bash"}]);
    turn["stream"] = json!(true);
    let text = turn.to_string();
    let (head, tail) = text.split_at(30);
    let chunks = format!("1e\r\n{head}\r\n{:x}\r\n{tail}\r\n0\r\n\r\n", tail.len());
    let answer = ask("POST /v1/messages", "transfer-encoding: chunked\r\n", &chunks);
    assert!(answer.contains("text_delta") && answer.contains("hello"), "{answer}");
    assert!(ask("POST /v1/messages", &post(&turn), &text).starts_with("HTTP/1.1 403"));
    assert_eq!(kinds(&model), [Kind::Side, Kind::Step, Kind::Step]);
    let requests = model.requests();
    assert!(!format!("{requests:?}").contains("hidden-word"));
    let [head, side, first, second] = &requests[..] else { panic!("{requests:#?}") };
    assert_eq!((&*head.method, &*head.path, head.kind, head.conversation), ("HEAD", "/", Kind::Other, None));
    assert_eq!((&*side.path, side.conversation), ("/v1/messages", None));
    assert_eq!((&first.body, first.conversation, second.conversation), (&turn, Some(0), Some(0)));
    assert!(head.headers.contains(&("authorization".to_owned(), "…".to_owned())));
}
