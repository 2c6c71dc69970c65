//! The Anthropic Messages API, as Claude Code 2.1 speaks it.

use super::http::{Incoming, Reply};
use super::script::{Action, Api, Step, Turn};
use super::{Kind, Question, events, texts};
use serde_json::{Value, json};

/// Reads a request for a message.
pub fn question(incoming: &Incoming, body: &Value) -> Question {
    let tools: Vec<String> =
        items(&body["tools"]).iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect();
    let mut turn = Turn {
        api: Api::Anthropic,
        conversation: 0,
        native: native(incoming, body),
        index: 0,
        model: body["model"].as_str().unwrap_or("").to_owned(),
        first_prompt: String::new(),
        prompt: String::new(),
        tool_outputs: Vec::new(),
        notices: Vec::new(),
        tools,
    };
    for message in items(&body["messages"]) {
        if message["role"] == "user" {
            read(&mut turn, &message["content"]);
        }
    }
    // The questions by the way offer no tools; a summary for a compaction may, and says what it wants.
    let kind = if turn.prompt.contains("Your task is to create a detailed summary of") {
        Kind::Compaction
    } else if turn.tools.iter().any(|tool| tool == "Bash") {
        Kind::Step
    } else {
        Kind::Side
    };
    Question { kind, turn, stream: body["stream"] == true }
}

/// The session id: in a header, and in `metadata.user_id`, which is JSON in a string.
fn native(incoming: &Incoming, body: &Value) -> String {
    if let Some(id) = incoming.header("x-claude-code-session-id") {
        return id.to_owned();
    }
    let user = body["metadata"]["user_id"].as_str().unwrap_or("");
    let object: Value = serde_json::from_str(user).unwrap_or(Value::Null);
    object["session_id"].as_str().unwrap_or(user).to_owned()
}

/// Takes the texts and the tools' outputs of one message of the user.
fn read(turn: &mut Turn, content: &Value) {
    turn.notices.extend(texts(content, &["text"]).into_iter().flat_map(notices));
    // The CLI puts reminders of its own before and after the prompt.
    let own = |text: &&str| !text.trim_start().starts_with("<system-reminder>");
    if let Some(text) = texts(content, &["text"]).into_iter().rfind(own) {
        turn.prompt = text.to_owned();
        turn.tool_outputs.clear();
        if turn.first_prompt.is_empty() {
            turn.first_prompt = text.to_owned();
        }
    }
    for block in items(content).iter().filter(|block| block["type"] == "tool_result") {
        let output = texts(&block["content"], &["text"]).concat();
        turn.notices.extend(notices(&output));
        let clean = output.split_once("\n\n<system-reminder>\n").map_or(&*output, |(clean, _)| clean);
        turn.tool_outputs.push(clean.to_owned());
    }
}

/// What the CLI tells of tasks in the background, among other reminders of its own.
fn notices(text: &str) -> Vec<String> {
    let parts = text.split("<task-notification>").skip(1);
    parts.filter_map(|part| Some(part.split_once("</task-notification>")?.0.to_owned())).collect()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Answers a turn with a message, as a stream or whole.
pub fn reply(turn: &Turn, step: &Step, stream: bool) -> Reply {
    let place = format!("{:03}{:05}{:x}", turn.conversation, turn.index, std::process::id());
    let (block, reason) = match &step.action {
        Action::Shell(command) => {
            let input = json!({"command": command, "description": "a step of the script"});
            (tool(&place, "Bash", &input), "tool_use")
        }
        Action::Tool(name, input) => (tool(&place, name, input), "tool_use"),
        Action::Say(text) => (json!({"type": "text", "text": text}), "end_turn"),
        Action::Fail(..) | Action::Refuse(_) | Action::Hang => unreachable!("no message"),
    };
    let usage = json!({
        "input_tokens": step.usage.input,
        "cache_creation_input_tokens": step.usage.cache_creation,
        "cache_read_input_tokens": step.usage.cache_read,
        "output_tokens": step.usage.output,
        "service_tier": "standard",
    });
    let mut message = json!({
        "id": format!("msg_{place}"), "type": "message", "role": "assistant", "model": turn.model,
        "content": [block], "stop_reason": reason, "stop_sequence": null, "usage": usage,
    });
    if !stream {
        return Reply::json(200, &message);
    }
    let (start, delta) = opened(&block);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    events([
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ])
}

fn tool(place: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_{place}"), "name": name, "input": input})
}

/// A block as it begins, and the delta that completes it.
fn opened(block: &Value) -> (Value, Value) {
    let mut start = block.clone();
    if block["type"] == "text" {
        start["text"] = json!("");
        (start, json!({"type": "text_delta", "text": block["text"]}))
    } else {
        start["input"] = json!({});
        (start, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
    }
}
