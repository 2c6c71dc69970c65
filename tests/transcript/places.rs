//! Where the transcripts are.

use super::*;
use shared::harness::transcript::{find_claude, find_codex};
use std::time::{Duration, SystemTime};

const ID: &str = "11111111-2222-4333-8444-555555555555";
const OTHER: &str = "11111111-2222-4333-8444-666666666666";

/// No id of a harness; some of them would lead elsewhere.
const NO_IDS: [&str; 7] = [
    "",
    "*",
    "..",
    "../11111111-2222-4333-8444-555555555555",
    "11111111-2222-4333-8444-55555555555",
    "11111111-2222-4333-8444-55555555555/",
    "1111111122224333844455555555555555555",
];

fn touch(path: &Path) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
    path.to_owned()
}

#[test]
fn a_transcript_of_claude_is_found_under_whatever_project() {
    let home = TempDir::new().unwrap();
    assert_eq!(find_claude(home.path(), ID), None);
    let projects = home.path().join("projects");
    touch(&projects.join("a-file"));
    touch(&projects.join(format!("-home-u-other/{OTHER}.jsonl")));
    // What belongs to the session beside its transcript, and a directory in its place.
    touch(&projects.join(format!("-home-u-src-p1/{ID}/subagents/agent-1.jsonl")));
    fs::create_dir_all(projects.join(format!("-home-u-dir/{ID}.jsonl"))).unwrap();
    assert_eq!(find_claude(home.path(), ID), None);
    let path = touch(&projects.join(format!("-home-u-src-p1/{ID}.jsonl")));
    assert_eq!(find_claude(home.path(), ID), Some(path.clone()));
    let newer = touch(&projects.join(format!("-a-copy/{ID}.jsonl")));
    let file = fs::File::options().write(true).open(&newer).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    assert_eq!(find_claude(home.path(), ID), Some(newer.clone()));
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    assert_eq!(find_claude(home.path(), ID), Some(path));
    for id in NO_IDS {
        assert_eq!(find_claude(home.path(), id), None, "{id:?}");
    }
}

#[test]
fn a_rollout_of_codex_is_found_under_the_day_on_which_it_began() {
    let home = TempDir::new().unwrap();
    assert_eq!(find_codex(home.path(), ID), None);
    let sessions = home.path().join("sessions");
    let rollout = |day: &str, id: &str| sessions.join(day).join(format!("rollout-2026-11-30T18-42-09-{id}.jsonl"));
    touch(&rollout("2026/11/30", OTHER));
    touch(&sessions.join("2026/11/30/notes.txt"));
    touch(&sessions.join(format!("2026/11/30/rollout-{ID}.jsonl.tmp")));
    touch(&sessions.join(format!("2026/latest/30/rollout-x-{ID}.jsonl")));
    assert_eq!(find_codex(home.path(), ID), None);
    let old = touch(&rollout("2025/12/31", ID));
    assert_eq!(find_codex(home.path(), ID), Some(old));
    let new = touch(&rollout("2026/02/28", ID));
    assert_eq!(find_codex(home.path(), ID), Some(new));
    let newest = touch(&rollout("2026/10/01", ID));
    assert_eq!(find_codex(home.path(), ID), Some(newest));
    for id in NO_IDS {
        assert_eq!(find_codex(home.path(), id), None, "{id:?}");
    }
}
