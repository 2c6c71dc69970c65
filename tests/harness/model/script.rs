//! What the model answers: steps, and the script that chooses them.

use serde_json::{Value, json};
use std::sync::Arc;

/// Which interface a request came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// The Anthropic Messages API: Claude Code.
    Anthropic,
    /// The OpenAI Responses API: Codex.
    Responses,
}

/// Tokens that an answer reports, as the Anthropic API counts them: the four parts do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub cache_creation: u64,
    pub cache_read: u64,
    pub output: u64,
}

impl Usage {
    /// A context of `total` tokens, nearly all of it read from the cache.
    pub fn of(total: u64) -> Usage {
        let output = 10.min(total);
        let input = 5.min(total - output);
        let cache_creation = 100.min(total - output - input);
        Usage { input, cache_creation, cache_read: total - output - input - cache_creation, output }
    }

    /// How full the context is.
    pub fn total(&self) -> u64 {
        self.input + self.cache_creation + self.cache_read + self.output
    }
}

/// What one answer does.
#[derive(Clone, Debug)]
pub enum Action {
    /// The CLI shall run a shell command through its own shell tool.
    Shell(String),
    /// The CLI shall call this tool of its own with this input.
    Tool(String, Value),
    /// The final text of a turn.
    Say(String),
    /// An HTTP error: status, type and message.
    Fail(u16, String, String),
    /// The HTTP error with this message after which the CLI does not ask again.
    Refuse(String),
    /// No answer at all, until the client goes away: a model that is still thinking.
    Hang,
}

/// One answer of the model.
#[derive(Clone, Debug)]
pub struct Step {
    pub action: Action,
    pub usage: Usage,
}

impl Step {
    fn new(action: Action) -> Step {
        Step { action, usage: Usage::of(1000) }
    }

    /// Runs a shell command.
    pub fn shell(command: impl Into<String>) -> Step {
        Step::new(Action::Shell(command.into()))
    }

    /// Calls a tool by its name.
    pub fn tool(name: impl Into<String>, input: Value) -> Step {
        Step::new(Action::Tool(name.into(), input))
    }

    /// Writes a file with Claude Code's own tool.
    pub fn write(path: impl AsRef<std::path::Path>, content: &str) -> Step {
        Step::tool("Write", json!({"file_path": path.as_ref(), "content": content}))
    }

    /// Ends the turn with a text.
    pub fn say(text: impl Into<String>) -> Step {
        Step::new(Action::Say(text.into()))
    }

    /// Answers with an HTTP error. Each try takes a step. Both CLIs try again on 500 and 529; claude also on 429 and, with
    /// fewer betas, on 400; codex also on 403.
    pub fn fail(status: u16, kind: &str, message: &str) -> Step {
        Step::new(Action::Fail(status, kind.to_owned(), message.to_owned()))
    }

    /// Answers with an error that ends the run.
    pub fn refuse(message: &str) -> Step {
        Step::new(Action::Refuse(message.to_owned()))
    }

    /// Does not answer.
    pub fn hang() -> Step {
        Step::new(Action::Hang)
    }

    /// Sets what the answer reports.
    pub fn usage(mut self, usage: Usage) -> Step {
        self.usage = usage;
        self
    }

    /// Reports a context of `total` tokens.
    pub fn context(self, total: u64) -> Step {
        self.usage(Usage::of(total))
    }
}

/// The request that a step answers.
#[derive(Clone, Debug)]
pub struct Turn {
    pub api: Api,
    /// Number of this conversation, from 0 in the order of their first requests.
    pub conversation: usize,
    /// The native session id (claude) or thread id (codex).
    pub native: String,
    /// Number of this answer in its conversation, from 0; every step counts, failed ones too.
    pub index: usize,
    pub model: String,
    /// The user's first text in what the CLI sent, without what the CLI itself put around it.
    pub first_prompt: String,
    /// The user's newest text.
    pub prompt: String,
    /// Outputs of the tools since the user's newest text, oldest first.
    pub tool_outputs: Vec<String>,
    /// What the CLI told of the ends of tasks in the background, oldest first (claude).
    pub notices: Vec<String>,
    /// Names of the tools that the CLI offers.
    pub tools: Vec<String>,
}

impl Turn {
    /// Output of the tool that was run last; empty when there was none since the user's newest text.
    pub fn last_tool_output(&self) -> &str {
        self.tool_outputs.last().map_or("", String::as_str)
    }
}

/// Chooses the steps. It is called without a lock held, so it may wait for the test.
#[derive(Clone)]
pub struct Script(Arc<dyn Fn(&Turn) -> Step + Send + Sync>);

impl Script {
    /// A script that computes each step.
    pub fn new(choose: impl Fn(&Turn) -> Step + Send + Sync + 'static) -> Script {
        Script(Arc::new(choose))
    }

    /// The same steps for each conversation; after the last one, `Step::say("done")`.
    pub fn steps(steps: impl IntoIterator<Item = Step>) -> Script {
        let steps: Vec<Step> = steps.into_iter().collect();
        Script::new(move |turn| steps.get(turn.index).cloned().unwrap_or_else(|| Step::say("done")))
    }

    /// A script for each conversation, in the order of their first requests; the last one serves all that follow.
    pub fn contexts(scripts: impl IntoIterator<Item = Script>) -> Script {
        let scripts: Vec<Script> = scripts.into_iter().collect();
        assert!(!scripts.is_empty(), "a model without a script");
        Script::new(move |turn| scripts[turn.conversation.min(scripts.len() - 1)].choose(turn))
    }

    pub(super) fn choose(&self, turn: &Turn) -> Step {
        (self.0)(turn)
    }
}
