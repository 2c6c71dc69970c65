//! Whatever is in the file: no panic, and what a reader of the whole file would say.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn tokens() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0_u64..300_000).prop_map(|n| json!(n)),
        2 => Just(json!(0)),
        1 => Just(json!(null)),
        1 => prop_oneof![Just(json!(-1)), Just(json!("7")), Just(json!(0.5)), Just(json!(u64::MAX))],
    ]
}

fn time() -> impl Strategy<Value = String> {
    (0..60_u32).prop_map(|second| format!("2026-11-30T18:29:{second:02}.000Z"))
}

/// Now and then long enough to cross the edge of a piece.
fn padding() -> impl Strategy<Value = String> {
    prop_oneof![8 => 0..200_usize, 2 => 60_000..70_000_usize, 1 => 190_000..270_000_usize].prop_map(|n| "x".repeat(n))
}

/// Lines that tell nothing, some of which look as if they did.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let texts = prop_oneof![
        Just(answer(11).to_string()),
        Just(boundary(Some(12)).to_string()),
        Just(count(13).to_string()),
        Just(compacted().to_string()),
        padding(),
    ];
    prop_oneof![
        4 => texts.prop_map(|text| user(&text).to_string().into_bytes()),
        2 => padding().prop_map(|text| json!({"type": "attachment", "attachment": text}).to_string().into_bytes()),
        1 => vec(any::<u8>(), 0..80),
        1 => (0..60_usize).prop_map(|cut| answer(14).to_string().as_bytes()[..cut].to_vec()),
    ]
}

fn claude_line() -> impl Strategy<Value = Vec<u8>> {
    let models = prop_oneof![
        5 => Just(json!("claude-sonnet-4-5")),
        2 => Just(json!("claude-opus-5-5")),
        1 => Just(json!("claude-epic-9")),
        1 => Just(json!("<synthetic>")),
        1 => Just(json!(null)),
    ];
    let counts = [tokens().boxed(), tokens().boxed(), tokens().boxed(), tokens().boxed()];
    let flags = (prop::bool::weighted(0.2), prop::bool::weighted(0.1));
    let answers = (models, counts, flags, time(), padding()).prop_map(|(model, counts, (side, error), at, text)| {
        let [input, creation, read, output] = counts;
        let usage = json!({
            "input_tokens": input, "cache_creation_input_tokens": creation,
            "cache_read_input_tokens": read, "output_tokens": output,
        });
        json!({
            "type": "assistant", "isSidechain": side, "isApiErrorMessage": error, "timestamp": at,
            "message": {"model": model, "usage": usage, "content": text},
        })
    });
    let boundaries = (tokens(), prop::bool::weighted(0.2), time()).prop_map(|(left, side, at)| {
        let record = with(boundary(None), "/compactMetadata/postTokens", left);
        with(with(record, "/isSidechain", json!(side)), "/timestamp", json!(at))
    });
    let records = prop_oneof![3 => answers, 1 => boundaries].prop_map(|record| record.to_string().into_bytes());
    prop_oneof![1 => records, 2 => noise()]
}

fn codex_line() -> impl Strategy<Value = Vec<u8>> {
    let counts = (tokens(), tokens(), tokens(), tokens(), time()).prop_map(|(input, output, total, max, at)| {
        let last = json!({"input_tokens": input, "output_tokens": output, "total_tokens": total});
        with(count_of(json!({"last_token_usage": last, "model_context_window": max})), "/timestamp", json!(at))
    });
    let others = prop_oneof![
        3 => (1_u64..9000).prop_map(estimate),
        1 => Just(count_of(json!(null))),
        3 => (time(), padding()).prop_map(|(at, text)| {
            with(with(compacted(), "/timestamp", json!(at)), "/payload/message", json!(text))
        }),
    ];
    let records = prop_oneof![1 => counts, 1 => others].prop_map(|record| record.to_string().into_bytes());
    prop_oneof![1 => records, 2 => noise()]
}

/// Lines, the last of which may be torn.
fn file(line: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (vec(line, 0..16), 0..400_usize).prop_map(|(lines, torn)| {
        let mut bytes: Vec<u8> = lines.into_iter().flat_map(|line| [line, b"\n".to_vec()]).flatten().collect();
        bytes.truncate(bytes.len().saturating_sub(torn.saturating_sub(200)));
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn claude_tells_what_a_reader_of_the_whole_file_would(bytes in file(claude_line())) {
        prop_assert_eq!(claude(&bytes), naive::claude(&bytes));
    }

    #[test]
    fn codex_tells_what_a_reader_of_the_whole_file_would(bytes in file(codex_line())) {
        prop_assert_eq!(codex(&bytes), naive::codex(&bytes));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..400), record in 0..4_usize, at in 0..600_usize) {
        // Alone, and in the middle of something that looks like a record.
        let records = [answer(5), boundary(None), count(5), compacted()];
        let mut inside = records[record].to_string().into_bytes();
        let at = at.min(inside.len());
        inside.splice(at..at, bytes.iter().copied());
        inside.push(b'\n');
        for bytes in [bytes, inside] {
            let transcript = Transcript::of(&bytes);
            let _ = (transcript.claude(), transcript.codex(), transcript::thread_id(&bytes));
            transcript::answered_claude(&transcript.path).unwrap();
            transcript::answered_codex(&transcript.path).unwrap();
        }
    }
}
