//! The OpenAI Responses API, as Codex 0.171 speaks it.

use super::http::{Incoming, Reply};
use super::script::{Action, Api, Step, Turn, Usage};
use super::{Kind, Question, events, texts};
use serde_json::{Value, json};

/// Reads a request for a response.
pub fn question(incoming: &Incoming, body: &Value) -> Question {
    let mut turn = Turn {
        api: Api::Responses,
        conversation: 0,
        native: native(incoming, body),
        index: 0,
        model: body["model"].as_str().unwrap_or("").to_owned(),
        first_prompt: String::new(),
        prompt: String::new(),
        tool_outputs: Vec::new(),
        notices: Vec::new(),
        tools: Vec::new(),
    };
    offered(&mut turn.tools, &body["tools"]);
    for item in items(&body["input"]) {
        read(&mut turn, item);
    }
    let about = incoming.header("x-codex-turn-metadata").unwrap_or("");
    let about: Value = serde_json::from_str(about).unwrap_or(Value::Null);
    let kind = if about["request_kind"] == "compaction" {
        Kind::Compaction
    } else if shell(&turn).is_some() {
        Kind::Step
    } else {
        Kind::Side
    };
    Question { kind, turn, stream: true }
}

/// The thread id: a header's, or the key under which the thread's prompts are cached.
fn native(incoming: &Incoming, body: &Value) -> String {
    let header = incoming.header("thread-id").or_else(|| incoming.header("thread_id"));
    header.or_else(|| body["prompt_cache_key"].as_str()).unwrap_or("").to_owned()
}

/// Collects the names of tools; those in a namespace have their own.
fn offered(names: &mut Vec<String>, tools: &Value) {
    for tool in items(tools) {
        names.extend(tool["name"].as_str().or_else(|| tool["type"].as_str()).map(str::to_owned));
        offered(names, &tool["tools"]);
    }
}

/// Takes the text, the tool's output or the tools of one item.
fn read(turn: &mut Turn, item: &Value) {
    let kind = item["type"].as_str().unwrap_or("message");
    if kind == "message" && item["role"] == "user" {
        // The CLI's own messages to the model come as the user's, in tags.
        let own = |text: &&str| !text.starts_with('<') && !text.starts_with("# AGENTS.md instructions");
        if let Some(text) = texts(&item["content"], &["input_text"]).into_iter().rfind(own) {
            turn.prompt = text.to_owned();
            turn.tool_outputs.clear();
            if turn.first_prompt.is_empty() {
                turn.first_prompt = text.to_owned();
            }
        }
    } else if kind.ends_with("_call_output") {
        let output = texts(&item["output"], &["input_text", "output_text"]).concat();
        // Before what the command wrote stand its time and its exit status, or where it goes on.
        let ended = |(head, clean): (&str, _)| (!head.contains("running with session ID")).then_some(clean);
        let clean = output.split_once("\nOutput:\n").and_then(ended).unwrap_or(&output);
        turn.tool_outputs.push(clean.to_owned());
    } else if kind == "additional_tools" {
        offered(&mut turn.tools, &item["tools"]);
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Which of its shell tools the CLI offers. Models that it knows are offered none but `exec`, which runs JavaScript.
fn shell(turn: &Turn) -> Option<&str> {
    let known = ["exec_command", "shell_command", "shell", "exec"];
    known.into_iter().find(|name| turn.tools.iter().any(|tool| tool == name))
}

/// Answers a turn with a stream.
pub fn reply(turn: &Turn, step: &Step) -> Reply {
    let place = format!("{:03}{:05}{:x}", turn.conversation, turn.index, std::process::id());
    let item = match &step.action {
        Action::Shell(command) => {
            let input = json!({"cmd": command, "yield_time_ms": 30_000});
            match shell(turn) {
                Some(name @ "shell_command") => call(&place, name, &json!({"command": command, "timeout_ms": 30_000})),
                Some(name @ "shell") => {
                    call(&place, name, &json!({"command": ["bash", "-c", command], "timeout_ms": 30_000}))
                }
                Some(name @ "exec") => json!({
                    "type": "custom_tool_call", "id": format!("ctc_{place}"), "status": "completed",
                    "call_id": format!("call_{place}"), "name": name,
                    "input": format!("text((await tools.exec_command({input})).output)"),
                }),
                _ => call(&place, "exec_command", &input),
            }
        }
        Action::Tool(name, input) => call(&place, name, input),
        Action::Say(text) => json!({
            "type": "message", "id": format!("msg_{place}"), "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Action::Fail(..) | Action::Refuse(_) | Action::Hang => unreachable!("no response"),
    };
    let response = |status: &str, output: Value, usage: Value| {
        json!({
            "id": format!("resp_{place}"), "object": "response", "created_at": 0, "status": status,
            "model": turn.model, "output": output, "usage": usage,
        })
    };
    let mut sent =
        vec![json!({"type": "response.created", "response": response("in_progress", json!([]), Value::Null)})];
    sent.extend(opened(&item));
    sent.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    let completed = response("completed", json!([item]), usage(&step.usage));
    sent.push(json!({"type": "response.completed", "response": completed}));
    for (number, event) in sent.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events(sent)
}

fn call(place: &str, name: &str, input: &Value) -> Value {
    json!({
        "type": "function_call", "id": format!("fc_{place}"), "status": "completed",
        "call_id": format!("call_{place}"), "name": name, "arguments": input.to_string(),
    })
}

/// The events from an item's beginning to its last part.
fn opened(item: &Value) -> Vec<Value> {
    let mut start = item.clone();
    start["status"] = json!("in_progress");
    let id = &item["id"];
    let called = [
        ("function_call", "arguments", "function_call_arguments"),
        ("custom_tool_call", "input", "custom_tool_call_input"),
    ];
    if let Some((_, field, name)) = called.into_iter().find(|(kind, ..)| item["type"] == *kind) {
        start[field] = json!("");
        let (delta, done) = (format!("response.{name}.delta"), format!("response.{name}.done"));
        return vec![
            json!({"type": "response.output_item.added", "output_index": 0, "item": start}),
            json!({"type": delta, "item_id": id, "output_index": 0, "delta": item[field]}),
            json!({"type": done, "item_id": id, "output_index": 0, field: item[field]}),
        ];
    }
    start["content"] = json!([]);
    let part = &item["content"][0];
    let (text, empty) = (&part["text"], json!({"type": "output_text", "text": "", "annotations": []}));
    let at = json!({"item_id": id, "output_index": 0, "content_index": 0});
    let with = |kind: &str, name: &str, value: &Value| {
        let mut event = at.clone();
        event["type"] = json!(kind);
        event[name] = value.clone();
        event
    };
    vec![
        json!({"type": "response.output_item.added", "output_index": 0, "item": start}),
        with("response.content_part.added", "part", &empty),
        with("response.output_text.delta", "delta", text),
        with("response.output_text.done", "text", text),
        with("response.content_part.done", "part", part),
    ]
}

/// Here what was cached is inside the input.
fn usage(usage: &Usage) -> Value {
    let input = usage.input + usage.cache_creation + usage.cache_read;
    json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.total(),
    })
}
