//! The contract as an agent reads it. Its sample is what the validator takes for "not filled in".

/// Line one of every handoff, whole and alone.
pub const MARKER: &str = "COMPACTION_ARTIFACT_V1";

/// What `compact start` prints: what to write, section by section, and a sample to fill in, which comes last.
///
/// Plain text, lines of at most 100 characters, ending with a newline. The sample is in the right form and is
/// refused as it stands: its SUMMARY is a placeholder, and its file does not exist.
pub const CONTRACT: &str = "\
THE HANDOFF

Your context will end; your session goes on. The same session, with its id, inbox, jobs, rooms and
links, wakes in a fresh context that has its launch prompt, this file, and nothing else of what you
know now. Write for a capable colleague who was not here and cannot ask. Nobody edits or shortens
it. What you leave out is lost, so be long and precise rather than short and smooth.

Form: plain UTF-8 text of at most 1 MiB. Line one is the marker; then exactly three level-2
headings, spelt and ordered as in the sample. Use ### or deeper inside a section. A '## ' line of
your own is refused, unless it stands in a code fence. Close every code fence.

## SUMMARY: the account. Cover each of these, with names, ids, paths, numbers and exact commands:
  identity      who you are, for whom you work, who works for you, and how you reach them
  mission       the goal in the words in which it was given, and what counts as done
  commitments   what you promised, to whom, by when
  decisions     what was decided and why; what was rejected and why, so it is not tried again
  phase         where the work stands, what is half done, and the next step
  constraints   what you learned the hard way: limits, traps, the person's wishes, what not to touch
  work done     what is finished, where it is, how it was verified, and what was not verified
  threads       what is in flight: subagents, jobs, conversations, edits not yet committed
Tell what you know from what you guess. Quote errors and the person's instructions word for word.

## FILES: what the successor reads, before it acts. One a line: absolute path, ' :: ', reason.
  At least one. No bullets, quotes, '~', globs, directories; line numbers go in the reason.
  Each must exist and be readable now. List what it needs in order to act, not all that you touched:
  the files fill the new context.

## OPEN OBLIGATIONS: everything that is still owed, one item each, starting with '- '.
  The successor collects only what stands here. Copy the lines that are printed below, and leave out
  nothing: every unanswered question, every session that you launched, every job and parked barrier,
  every room (with its cursor), every follow-up that you promised. Each has its id and names the
  command that collects it: 'orbh session answer QID' for a question of yours, 'orbh respond ID QID
  TEXT' for one to you, 'orbh result ID' for a session. Indent further lines. What is open on disk
  and not named here by its id is refused. Write '- none' alone, and only when that is true.

Save it, then run 'orbh compact handoff'. It checks the file while you are still here, reports all
that is wrong at once, and ends your context only when nothing is. Plan no work after it. To go on
without compacting, run 'orbh compact abort'. Replace all below the marker except the headings:

COMPACTION_ARTIFACT_V1

## SUMMARY

<Replace this with the account: identity, mission, commitments, decisions and their reasons,
phase, constraints learned, work done, active threads.>

## FILES

/absolute/path/of/a/file :: <why the successor must read it before it acts>

## OPEN OBLIGATIONS

- <id> <what is owed, and to whom>: <the command that collects it>
";

/// The sample at the end of [`CONTRACT`], from its marker on.
pub fn sample() -> &'static str {
    let lead = CONTRACT.find("\nCOMPACTION_ARTIFACT_V1\n").map_or(CONTRACT.len(), |at| at + 1);
    CONTRACT.get(lead..).unwrap_or_default()
}
