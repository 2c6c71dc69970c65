//! The rules of the house that a machine can check.

use crate::docs::{names, top};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A source file: its path below the top, and its text.
struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    fn starts_with(&self, dir: &str) -> bool {
        self.path.starts_with(dir)
    }

    /// Its lines of code, numbered from 1: no comments, and nothing from `#[cfg(test)]` on.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
        lines.map(|(index, line)| (index + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// All Rust files in these directories.
fn sources(dirs: &[&str]) -> Vec<Source> {
    let mut sources = Vec::new();
    for dir in dirs {
        for entry in walkdir::WalkDir::new(top().join(dir)).sort_by_file_name() {
            let entry = entry.unwrap();
            if entry.path().extension().is_some_and(|ending| ending == "rs") {
                let path = entry.path().strip_prefix(top()).unwrap().to_owned();
                sources.push(Source { path, text: std::fs::read_to_string(entry.path()).unwrap() });
            }
        }
    }
    assert!(!sources.is_empty());
    sources
}

#[track_caller]
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Complains of lines of code that have one of these words.
fn lines_with(sources: &[Source], words: &[&str], excused: impl Fn(&Source, &str) -> bool) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        for (number, line) in source.code() {
            if words.iter().any(|word| line.contains(word)) && !excused(source, line) {
                complaints.push(format!("{}:{number}: {}", source.path.display(), line.trim()));
            }
        }
    }
    complaints
}

#[test]
fn no_source_file_is_longer_than_500_lines() {
    let long = sources(&["bins", "shared", "tests"]).into_iter().filter(|source| source.text.lines().count() > 500);
    none(&long.map(|source| source.path.display().to_string()).collect::<Vec<_>>());
}

#[test]
fn every_source_file_opens_with_its_purpose() {
    let bare = sources(&["bins", "shared", "tests"]).into_iter().filter(|source| !source.text.starts_with("//! "));
    none(&bare.map(|source| source.path.display().to_string()).collect::<Vec<_>>());
}

#[test]
fn nothing_panics_on_purpose_and_only_output_prints() {
    let words = [".unwrap()", ".expect(", "println!", "print!(", "eprintln!", "eprint!(", "dbg!", "todo!", "panic!("];
    let output = Path::new("shared/face/output.rs");
    none(&lines_with(&sources(&["bins", "shared"]), &words, |source, _| source.path == output));
}

#[test]
fn only_main_reads_the_environment() {
    let pure = ["std::env::split_paths", "std::env::join_paths"];
    let excused = |source: &Source, line: &str| {
        let main = source.path.file_name().is_some_and(|name| name == "main.rs") && source.starts_with("bins");
        main || source.path == Path::new("shared/face/entry.rs") || pure.iter().any(|name| line.contains(name))
    };
    let words = ["std::env::", "use std::env", "env::var", "env::args"];
    none(&lines_with(&sources(&["bins", "shared"]), &words, excused));
}

/// The layers of the library, each with those below it, which are all that it may know.
const LAYERS: [(&str, &[&str]); 5] = [
    ("ground", &[]),
    ("spool", &["ground"]),
    ("harness", &["ground", "spool"]),
    ("verbs", &["ground", "spool", "harness"]),
    ("face", &["ground", "spool", "harness", "verbs"]),
];

#[test]
fn the_layers_of_the_library_look_down_only() {
    let mut complaints = Vec::new();
    for (layer, below) in LAYERS {
        let known = |word: &str| word == layer || below.contains(&word);
        for source in sources(&[&format!("shared/{layer}")]) {
            for (number, line) in source.code() {
                if line.contains("super::super") {
                    complaints.push(format!("{}:{number}: may leave its layer unseen", source.path.display()));
                }
                let paths = line.split("crate::").skip(1);
                let words =
                    paths.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""));
                for word in words.filter(|word| !known(word)) {
                    complaints.push(format!("{}:{number}: {layer} knows {word:?}", source.path.display()));
                }
            }
        }
    }
    none(&complaints);
    let layers: BTreeSet<String> = LAYERS.iter().map(|(layer, _)| (*layer).to_owned()).collect();
    let dirs = names("shared").into_iter().filter(|name| top().join("shared").join(name).is_dir());
    assert_eq!(dirs.collect::<BTreeSet<_>>(), layers);
}

/// A binary includes nothing from outside of its directory.
#[test]
fn no_program_takes_code_from_another() {
    none(&lines_with(&sources(&["bins"]), &["#[path", "include!("], |_, _| false));
}

#[test]
fn every_verb_is_a_main_an_args_a_run_and_a_manual() {
    let mut complaints = Vec::new();
    for program in names("bins").iter().filter(|name| name.starts_with("orbh-")) {
        let files = names(&format!("bins/{program}"));
        for file in ["main.rs", "args.rs", "run.rs", "manual.roff"] {
            if !files.contains(file) {
                complaints.push(format!("bins/{program}/{file} is missing"));
            }
        }
        let main = std::fs::read_to_string(top().join("bins").join(program).join("main.rs")).unwrap();
        if main.lines().count() > 60 {
            complaints.push(format!("bins/{program}/main.rs does more than parse, call and exit"));
        }
    }
    none(&complaints);
}

/// By a test file of its name, or by one that gives the verb as a word of a command line, or names its program.
#[test]
fn every_program_is_tested() {
    let mut tests = sources(&["tests"]);
    tests.retain(|source| !source.starts_with("tests/docs") && source.path != Path::new("tests/tidy.rs"));
    let untested = names("bins").into_iter().filter(|program| {
        let verb = program.strip_prefix("orbh-").unwrap_or(program);
        let spellings = [format!("\"{verb}\""), format!("\"{program}\""), format!("CARGO_BIN_EXE_{program}")];
        let own = Path::new("tests").join(format!("{verb}.rs"));
        !tests
            .iter()
            .any(|source| source.path == own || spellings.iter().any(|spelling| source.text.contains(spelling)))
    });
    none(&untested.collect::<Vec<_>>());
}

#[test]
fn every_program_has_a_row_in_the_readme() {
    let readme = std::fs::read_to_string(top().join("README.md")).unwrap();
    let rows: Vec<&str> = readme.lines().filter(|line| line.trim_start().starts_with(['|', '-', '*'])).collect();
    let missing = names("bins").into_iter().filter(|program| {
        let spellings = [format!("`{program}`"), format!("`{}`", program.replacen('-', " ", 1))];
        !rows.iter().any(|row| spellings.iter().any(|spelling| row.contains(spelling)))
    });
    none(&missing.collect::<Vec<_>>());
}

/// The names in a spool, as layout.rs has them: of what is made with a number, the part before and after it.
#[test]
fn every_name_on_disk_is_in_the_page_of_the_spool() {
    let layout = std::fs::read_to_string(top().join("shared/spool/layout.rs")).unwrap();
    let page = std::fs::read_to_string(top().join("man/orbh-spool.5")).unwrap();
    let page = page.replace("\\-", "-").replace("\\fI", "").replace("\\fB", "").replace("\\fR", "");
    let quoted = layout.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = quoted.flat_map(|line| line.split('"').skip(1).step_by(2));
    let parts = names.flat_map(|name| name.split("{run}").map(str::to_owned).collect::<Vec<_>>());
    let missing = parts.filter(|part| !part.is_empty() && !page.contains(part));
    none(&missing.map(|part| format!("layout.rs has {part:?}")).collect::<Vec<_>>());
}

/// Each guarantee that orbh-spool(5) numbers, `G1` and so on, is proved by one test function that carries its number,
/// `g1_…`, and no other function carries one.
#[test]
fn every_guarantee_is_proved_by_the_test_of_its_number() {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let number = |text: &str| text.get(..digits(text)).and_then(|digits| digits.parse::<u32>().ok());
    let page = std::fs::read_to_string(top().join("man/orbh-spool.5")).unwrap();
    let numbered = page.lines().filter_map(|line| line.strip_prefix(".B G")).map(|rest| number(rest).unwrap());
    let promised: Vec<u32> = numbered.collect();
    assert_eq!(promised, (1..=u32::try_from(promised.len()).unwrap()).collect::<Vec<_>>(), "numbered in order");
    let mut proved = Vec::new();
    for source in sources(&["tests"]) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(rest) = line.trim_start().strip_prefix("fn g") else { continue };
            if digits(rest) > 0 && rest[digits(rest)..].starts_with('_') {
                assert_eq!(lines[index - 1].trim(), "#[test]", "{line}");
                proved.extend(number(rest));
            }
        }
    }
    proved.sort_unstable();
    assert_eq!(proved, promised, "one test for each guarantee");
}
