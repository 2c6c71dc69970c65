//! Torn lines, long lines, lines across the edge of what is read, and files that are none.

use super::*;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use shared::harness::transcript::tail::{FIRST, lines_backwards};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::ControlFlow;

/// Cuts the transcript at every byte, and compares with what its whole lines up to there tell.
fn cut_everywhere(bytes: &[u8], read: fn(&Transcript) -> Option<Usage>, naive: fn(&[u8]) -> Option<Usage>) {
    let transcript = Transcript::of(bytes);
    let file = File::options().write(true).open(&transcript.path).unwrap();
    let mut expected = naive(bytes);
    for cut in (0..=bytes.len()).rev() {
        file.set_len(cut as u64).unwrap();
        if bytes.get(cut) == Some(&b'\n') {
            expected = naive(&bytes[..cut]);
        }
        assert_eq!(read(&transcript), expected, "cut at {cut}");
    }
}

/// The sample without its bulk, which tells nothing.
fn lean(name: &str, bulk: &[&str]) -> Vec<u8> {
    let text = String::from_utf8(sample(name)).unwrap();
    let kept = text
        .split_inclusive('\n')
        .filter(|line| !bulk.iter().any(|kind| line.contains(&format!(r#""type":"{kind}""#))));
    kept.collect::<String>().into_bytes()
}

#[test]
fn a_transcript_of_claude_may_be_cut_at_every_byte() {
    cut_everywhere(&sample("claude-v2.1.197-two-turns.jsonl"), Transcript::claude, naive::claude);
    let bulk = ["attachment", "api-request", "api-request-blob", "queue-operation", "last-prompt"];
    cut_everywhere(&lean("claude-autocompact.jsonl", &bulk), Transcript::claude, naive::claude);
}

#[test]
fn a_rollout_of_codex_may_be_cut_at_every_byte() {
    let bulk = ["world_state", "turn_context", "response_item", "token_usage_record"];
    cut_everywhere(&lean("codex-rollout-compacted.jsonl", &bulk), Transcript::codex, naive::codex);
}

#[test]
fn a_record_is_found_wherever_the_edge_of_a_piece_falls() {
    let (first, second) = (lines(&[answer(1000)]), lines(&[answer(2000)]));
    // Every byte around the newlines, and some of those between.
    let size = first.len() + second.len();
    let near = |at: usize| [0, first.len(), size].iter().any(|newline| at.abs_diff(*newline) < 6);
    for edge in [FIRST, 4 * FIRST] {
        for at in (0..size + 6).filter(|at| near(*at) || at % 23 == 0) {
            let head = &format!("{first}{second}");
            let empty = user("").to_string().len() + 1;
            let filler = user(&"x".repeat(edge + at - size - empty));
            let text = format!("{head}{filler}\n");
            assert_eq!(text.len() - edge, at);
            assert_eq!(used(claude(&text)), Some(2000), "edge {edge} at {at}");
        }
    }
}

/// What a reader sees while the harness writes is what stood there at some time.
#[test]
fn a_transcript_may_be_read_while_it_is_written() {
    let transcript = Transcript::of(lines(&[answer(1)]).as_bytes());
    let mut file = File::options().append(true).open(&transcript.path).unwrap();
    let last = 300;
    let writer = std::thread::spawn(move || {
        for number in 2..=last {
            file.write_all(lines(&[answer(number), user(&"x".repeat(90_000))]).as_bytes()).unwrap();
        }
    });
    let mut seen = 0;
    while seen < last {
        let over = writer.is_finished();
        let now = used(transcript.claude()).unwrap();
        assert!(now >= seen, "{now} after {seen}");
        assert!(!over || now == last);
        seen = now;
    }
    writer.join().unwrap();
}

#[test]
fn a_line_longer_than_any_piece_is_read() {
    let long = with(answer(7000), "/message/content", json!("y".repeat(2_000_000)));
    let record = lines(&[answer(1000), long]);
    assert_eq!(used(claude(&record)), Some(7000));
    assert_eq!(used(claude(lines(&[answer(1000)]) + record.lines().last().unwrap())), Some(1000));
    let beyond = with(answer(8000), "/message/content", json!("y".repeat(20_000_000)));
    assert_eq!(used(claude(lines(&[beyond, user("hello")]))), Some(8000));
}

#[test]
fn a_giant_message_after_the_usage_is_read_past() {
    let giant = user(&answer(5).to_string().repeat(20_000));
    let text = lines(&[answer(1000), giant]);
    assert!(text.len() > 4 << 20);
    assert_eq!(used(claude(&text)), Some(1000));
    assert_eq!(
        used(codex(lines(&[count(1000), json!({"type": "x", "payload": count(5).to_string().repeat(20_000)})]))),
        Some(1000)
    );
}

/// Reading it all would take hours, and holding it would need a terabyte.
#[test]
fn only_the_end_of_a_huge_file_is_read() {
    let transcript = Transcript::of(b"");
    let mut file = File::options().write(true).open(&transcript.path).unwrap();
    file.seek(SeekFrom::Start(1 << 40)).unwrap();
    file.write_all(format!("\n{}\n{}\n", answer(1000), user(&"x".repeat(300_000))).as_bytes()).unwrap();
    assert_eq!(used(transcript.claude()), Some(1000));
    file.write_all(format!("{}\n", count(2000)).as_bytes()).unwrap();
    assert_eq!(used(transcript.codex()), Some(2000));
    assert!(transcript::answered_claude(&transcript.path).unwrap());
}

#[test]
fn damaged_lines_are_noise() {
    let mut bytes = lines(&[answer(1000)]).into_bytes();
    let mut spoiled = lines(&[with(answer(5), "/message/content", json!("abc"))]).into_bytes();
    let at = spoiled.windows(3).position(|three| three == b"abc").unwrap();
    spoiled[at] = 0xff;
    bytes.extend(&spoiled);
    // Two lines fused by a crash, empty lines, NULs of a lost page, a carriage return.
    bytes.extend(format!("{}{}\n\n\n\r\n", &answer(6).to_string()[..90], answer(7)).bytes());
    bytes.extend([0; 4096]);
    bytes.push(b'\n');
    assert_eq!(used(claude(&bytes)), Some(1000));
    bytes.extend(format!("{}\r\n", answer(3000)).bytes());
    assert_eq!(used(claude(&bytes)), Some(3000));
}

#[test]
fn a_file_that_is_not_there_has_no_usage() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("none.jsonl");
    assert_eq!(transcript::claude(&path).unwrap(), None);
    assert_eq!(transcript::codex(&path).unwrap(), None);
    assert!(!transcript::answered_claude(&path).unwrap());
    assert!(!transcript::answered_codex(&path).unwrap());
}

#[test]
fn a_symlink_is_followed_and_nothing_but_a_file_is_read() {
    let transcript = Transcript::of(lines(&[answer(1000)]).as_bytes());
    let dir = transcript.path.parent().unwrap();
    let link = dir.join("link.jsonl");
    std::os::unix::fs::symlink(&transcript.path, &link).unwrap();
    assert_eq!(used(transcript::claude(&link).unwrap()), Some(1000));
    // Opening a FIFO without a writer must not wait for one.
    let fifo = dir.join("fifo.jsonl");
    mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    for path in [fifo.as_path(), dir, Path::new("/dev/null")] {
        let error = transcript::claude(path).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error:#}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error:#}");
    }
}

#[test]
fn every_line_is_shown_once_from_the_last_to_the_first_whatever_the_piece() {
    for text in
        ["", "\n", "a", "a\n", "\na", "\n\n", "ab\ncd\n", "ab\n\ncd\nefg", "one line of some length\nx\n\n", "é\nü\n"]
    {
        let transcript = Transcript::of(text.as_bytes());
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut expected: Vec<&str> = whole.split_terminator('\n').collect();
        expected.reverse();
        for first in 0..text.len() + 2 {
            let mut shown: Vec<String> = Vec::new();
            let end = lines_backwards(&transcript.path, first, |line| {
                shown.push(line.to_owned());
                ControlFlow::<()>::Continue(())
            });
            assert_eq!(end.unwrap(), None);
            assert_eq!(shown, expected, "{text:?} from {first}");
        }
    }
}
