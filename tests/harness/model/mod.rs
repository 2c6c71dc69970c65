//! A scripted model on 127.0.0.1, for real coding agents' CLIs: the Anthropic Messages API and the OpenAI Responses API,
//! both as streams.
//!
//! A conversation is what one native session sends; each of its requests for an answer takes one step of the script.
//! Everything else that a CLI asks (titles, token counts, lists of models, probes, summaries for its own compaction) is
//! answered harmlessly and takes none. Every request is recorded, without the secrets in its headers.

mod anthropic;
mod http;
mod responses;
mod script;

pub use script::{Action, Api, Script, Step, Turn, Usage};

use http::{Body, Connection, Incoming, Reply};
use serde_json::{Value, json};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a CLI gets that compacts natively. Claude Code asks again when the tags are missing.
const SUMMARY: &str = "<analysis>Nothing.</analysis>\n<summary>A scripted summary.</summary>";
/// What a CLI gets that asks by the way; most often it wants a title.
const TITLE: &str = r#"{"title": "A scripted session"}"#;

/// Finds a CLI: `$ORBH_TEST_CLAUDE` (or CODEX), `.ci/work/node_modules/.bin` in the checkout, `PATH`. Says so when it is
/// not there.
pub fn installed(name: &str) -> Option<PathBuf> {
    let named = std::env::var_os(format!("ORBH_TEST_{}", name.to_uppercase())).map(PathBuf::from);
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/work/node_modules/.bin").join(name);
    let found = named.into_iter().chain([fetched]).find(|path| path.is_file()).or_else(|| in_path(name));
    if found.is_none() {
        say(&format!("skipped: {name} is not installed"));
    }
    found
}

/// Says it in spite of the runner, which keeps what a passing test prints to itself.
pub fn say(line: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes());
}

/// Finds a program in `PATH`.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// What a request was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The next answer of a conversation: a step of the script.
    Step,
    /// The CLI compacts natively and wants a summary.
    Compaction,
    /// Whatever else a CLI asks a model by the way.
    Side,
    /// No question to a model.
    Other,
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case; the values of credentials are replaced by `…`.
    pub headers: Vec<(String, String)>,
    /// The body as JSON; null when there was none or it could not be read.
    pub body: Value,
    pub kind: Kind,
    /// The conversation whose script answered, by number.
    pub conversation: Option<usize>,
}

/// What one native session asked, and what it got.
#[derive(Clone, Debug)]
pub struct Conversation {
    pub api: Api,
    /// The native session id (claude) or thread id (codex).
    pub native: String,
    /// Each request with its answer. An answer is missing while the script is still choosing.
    pub turns: Vec<(Turn, Option<Step>)>,
}

impl Conversation {
    /// The user's first text.
    pub fn first_prompt(&self) -> &str {
        self.turns.first().map_or("", |(turn, _)| &turn.first_prompt)
    }
}

/// A question to the model, read from a request of one of the two interfaces.
struct Question {
    kind: Kind,
    /// The conversation's number and the index are filled in by [`Shared::answer`].
    turn: Turn,
    /// Whether the answer shall be a stream.
    stream: bool,
}

#[derive(Default)]
struct Record {
    requests: Vec<Request>,
    conversations: Vec<Conversation>,
    open: Vec<TcpStream>,
}

struct Shared {
    script: Script,
    record: Mutex<Record>,
    stop: AtomicBool,
}

/// The running server. It ends with this value, and so do its connections.
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Model {
    /// Starts a server with this script on a port of its own.
    pub fn start(script: Script) -> Model {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port on 127.0.0.1");
        let address = listener.local_addr().expect("the port's number");
        let shared = Arc::new(Shared { script, record: Mutex::default(), stop: AtomicBool::new(false) });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.stop.load(Ordering::SeqCst) {
                    return;
                }
                let serving = Arc::clone(&accepting);
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        Model { address, shared }
    }

    /// For `ANTHROPIC_BASE_URL`.
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// For `base_url` of a codex `model_providers` entry.
    pub fn responses_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// A codex `config.toml` that knows this server and no other. Its key is expected in `MOCK_API_KEY`.
    pub fn codex_config(&self, model: &str) -> String {
        format!(
            "model = \"{model}\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n\
             [model_providers.mock]\nname = \"mock\"\nbase_url = \"{}\"\nenv_key = \"MOCK_API_KEY\"\n\
             wire_api = \"responses\"\n",
            self.responses_url()
        )
    }

    /// All that was received, in its order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.record().requests.clone()
    }

    /// The conversations in the order of their first requests.
    pub fn conversations(&self) -> Vec<Conversation> {
        self.shared.record().conversations.clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts; the clients see an end of file.
        let _ = TcpStream::connect(self.address);
        for stream in self.shared.record().open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) {
        let (Ok(copy), Ok(mut connection)) = (stream.try_clone(), Connection::new(stream)) else { return };
        self.record().open.push(copy);
        // A client that is killed breaks off wherever it is: that ends its connection and nothing else.
        while let Ok(Some(incoming)) = connection.read() {
            if self.stop.load(Ordering::SeqCst) {
                break;
            }
            let Some(reply) = self.answer(&incoming) else {
                connection.wait_for_end();
                break;
            };
            if connection.write(&reply, incoming.method == "HEAD").is_err() {
                break;
            }
        }
        connection.close();
    }

    /// Records a request and answers it; `None` is silence.
    fn answer(&self, incoming: &Incoming) -> Option<Reply> {
        let body = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
        let question = match (incoming.method.as_str(), incoming.path.as_str()) {
            ("POST", "/v1/messages") => Some(anthropic::question(incoming, &body)),
            ("POST", "/v1/responses") => Some(responses::question(incoming, &body)),
            _ => None,
        };
        let Some(mut question) = question else {
            self.note(incoming, body, Kind::Other, None);
            return Some(other(incoming));
        };
        if body.is_null() {
            // Compressed, perhaps: to take it for a side request would hide that.
            self.note(incoming, body, Kind::Other, None);
            return Some(failure(415, "invalid_request_error", "the body is no JSON"));
        }
        let (api, stream) = (question.turn.api, question.stream);
        let step = match question.kind {
            Kind::Step => {
                self.enter(incoming, body, &mut question.turn);
                // A script that fails must not look like a network that does: that would be tried again and again.
                let chosen = catch_unwind(AssertUnwindSafe(|| self.script.choose(&question.turn)));
                let broken = |_| Step::refuse("the script of this test panicked");
                let step = chosen.unwrap_or_else(broken);
                let (number, index) = (question.turn.conversation, question.turn.index);
                self.record().conversations[number].turns[index].1 = Some(step.clone());
                step
            }
            kind => {
                self.note(incoming, body, kind, None);
                Step::say(if kind == Kind::Compaction { SUMMARY } else { TITLE })
            }
        };
        Some(match (&step.action, api) {
            (Action::Hang, _) => return None,
            (Action::Fail(status, kind, message), _) => failure(*status, kind, message),
            (Action::Refuse(message), Api::Anthropic) => failure(403, "permission_error", message),
            (Action::Refuse(message), Api::Responses) => failure(400, "invalid_request_error", message),
            (_, Api::Anthropic) => anthropic::reply(&question.turn, &step, stream),
            (_, Api::Responses) => responses::reply(&question.turn, &step),
        })
    }

    /// Finds the conversation of a turn, or begins it, and gives the turn its place there.
    fn enter(&self, incoming: &Incoming, body: Value, turn: &mut Turn) {
        let mut record = self.record();
        let known = record.conversations.iter().position(|one| one.api == turn.api && one.native == turn.native);
        turn.conversation = known.unwrap_or(record.conversations.len());
        if known.is_none() {
            let native = turn.native.clone();
            record.conversations.push(Conversation { api: turn.api, native, turns: Vec::new() });
        }
        let turns = &mut record.conversations[turn.conversation].turns;
        turn.index = turns.len();
        if let Some((first, _)) = turns.first() {
            // A native compaction takes the first prompt out of what the CLI sends.
            turn.first_prompt = first.first_prompt.clone();
        }
        turns.push((turn.clone(), None));
        drop(record);
        self.note(incoming, body, Kind::Step, Some(turn.conversation));
    }

    fn note(&self, incoming: &Incoming, body: Value, kind: Kind, conversation: Option<usize>) {
        const SECRET: [&str; 4] = ["authorization", "x-api-key", "cookie", "proxy-authorization"];
        let hide = |(name, value): &(String, String)| {
            let value = if SECRET.contains(&name.as_str()) { "…" } else { value };
            (name.clone(), value.to_owned())
        };
        let headers = incoming.headers.iter().map(hide).collect();
        let (method, path) = (incoming.method.clone(), incoming.path.clone());
        self.record().requests.push(Request { method, path, headers, body, kind, conversation });
    }
}

/// Answers what is no question to a model.
fn other(incoming: &Incoming) -> Reply {
    match (incoming.method.as_str(), incoming.path.as_str()) {
        ("POST", "/v1/messages/count_tokens") => Reply::json(200, &json!({"input_tokens": 1000})),
        ("GET", "/v1/models") => Reply::json(200, &json!({"object": "list", "data": [], "has_more": false})),
        ("HEAD" | "GET", "/" | "/api/hello") => {
            Reply { status: 200, content_type: "text/plain", body: Body::Whole(Vec::new()) }
        }
        _ => failure(404, "not_found_error", "no such path"),
    }
}

/// An error in a form that both interfaces know.
fn failure(status: u16, kind: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"type": "error", "error": {"type": kind, "code": kind, "message": message}}))
}

/// The events of a stream: `event: TYPE`, `data: {…}`, where TYPE is the object's own.
fn events(objects: impl IntoIterator<Item = Value>) -> Reply {
    let event = |object: Value| format!("event: {}\ndata: {object}\n\n", object["type"].as_str().unwrap_or("message"));
    Reply::events(objects.into_iter().map(event).collect())
}

/// The texts of a message's content: a string, or blocks of this type.
fn texts<'v>(content: &'v Value, kinds: &[&str]) -> Vec<&'v str> {
    if let Some(text) = content.as_str() {
        return vec![text];
    }
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    let fits = |block: &&Value| block["type"].as_str().is_some_and(|kind| kinds.contains(&kind));
    blocks.iter().filter(fits).filter_map(|block| block["text"].as_str()).collect()
}
