//! The documentation: pages and completions are what the command lines and the manual.roff files make of them, every
//! verb has all of them, and every page can be read with and without man(1).
//!
//! `ORBH_BLESS=1 cargo test docs` writes the generated files anew.

mod commands;
mod help;
mod manual;
mod truth;

pub use truth::check as every_key_is_documented;

use clap::Command;
use clap_complete::Shell;
use shared::face::catalogue::{TOPICS, VERBS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The repository.
pub fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The file names in a directory of the repository.
pub fn names(dir: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(top().join(dir)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// All manual pages: their file names and their texts.
pub fn pages() -> Vec<(String, String)> {
    let read = |name: String| (name.clone(), std::fs::read_to_string(top().join("man").join(name)).unwrap());
    names("man").into_iter().map(read).collect()
}

/// Compares a generated file with the checked-in one, or writes it when that is wanted.
fn hold(path: &str, text: &str, stale: &mut Vec<String>) {
    let full = top().join(path);
    if std::fs::read_to_string(&full).is_ok_and(|now| now == text) {
        return;
    }
    if std::env::var_os("ORBH_BLESS").is_some() {
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(&full, text).unwrap();
    } else {
        stale.push(path.to_owned());
    }
}

#[track_caller]
fn none_stale(stale: &[String]) {
    assert!(stale.is_empty(), "not as generated: {stale:?}\nORBH_BLESS=1 cargo test docs writes them anew");
}

#[test]
fn the_pages_of_the_verbs_are_as_generated() {
    let mut stale = Vec::new();
    for (verb, command) in commands::bins() {
        let program = format!("orbh-{verb}");
        let manual = top().join("bins").join(&program).join("manual.roff");
        let manual = std::fs::read_to_string(&manual).unwrap_or_else(|error| panic!("{}: {error}", manual.display()));
        hold(&format!("man/{program}.1"), &manual::page(&program, command, &manual), &mut stale);
    }
    none_stale(&stale);
}

/// Every command line that gets completions: the program, and what clap knows of it.
fn completed() -> Vec<(String, Command)> {
    let verbs = commands::bins().into_iter().map(|(verb, command)| (format!("orbh-{verb}"), command));
    let mut all: Vec<(String, Command)> = verbs.collect();
    all.push(("orbh".to_owned(), commands::orbh()));
    all.push(("flint".to_owned(), commands::flint()));
    all
}

/// The shells, with the directory of their completions and the name that each looks for.
const SHELLS: [(Shell, &str, &str, &str); 3] =
    [(Shell::Bash, "bash", "", ""), (Shell::Zsh, "zsh", "_", ""), (Shell::Fish, "fish", "", ".fish")];

#[test]
fn the_completions_are_as_generated() {
    let mut stale = Vec::new();
    for (program, command) in completed() {
        for (shell, dir, before, after) in SHELLS {
            let mut bytes = Vec::new();
            clap_complete::generate(shell, &mut command.clone(), &program, &mut bytes);
            let text = String::from_utf8(bytes).unwrap();
            hold(&format!("completions/{dir}/{before}{program}{after}"), &text, &mut stale);
        }
    }
    none_stale(&stale);
}

/// The programs of the package: the directories below bins/.
fn programs() -> BTreeSet<String> {
    names("bins")
}

/// The verbs: the programs that are started as `orbh VERB`.
fn verbs() -> BTreeSet<String> {
    programs().iter().filter_map(|program| program.strip_prefix("orbh-")).map(str::to_owned).collect()
}

#[test]
fn every_program_is_in_the_manifest_the_catalogue_and_the_tests() {
    let manifest = std::fs::read_to_string(top().join("Cargo.toml")).unwrap();
    let built = manifest.lines().filter_map(|line| line.strip_prefix("path = \"bins/")?.split('/').next());
    assert_eq!(built.map(str::to_owned).collect::<BTreeSet<_>>(), programs());
    let catalogued: BTreeSet<String> = VERBS.iter().map(|verb| verb.name.to_owned()).collect();
    assert_eq!(catalogued, verbs());
    let included: BTreeSet<String> = commands::bins().into_iter().map(|(verb, _)| verb.to_owned()).collect();
    assert_eq!(included, verbs(), "tests/docs/commands.rs");
}

#[test]
fn the_list_of_verbs_says_what_their_help_says() {
    for (name, command) in commands::bins() {
        let verb = VERBS.iter().find(|verb| verb.name == name).unwrap();
        assert_eq!(command.get_about().unwrap().to_string(), verb.about, "{name}");
        assert_eq!(command.get_name(), format!("orbh-{name}"));
    }
}

/// orbh.1 is written by hand; its list of the verbs is the one of the catalogue.
#[test]
fn the_page_of_orbh_lists_the_verbs() {
    let page = std::fs::read_to_string(top().join("man/orbh.1")).unwrap();
    let listed = |verb: &shared::face::catalogue::Verb| {
        let about = verb.about.replace('-', "\\-").replace('\'', "\\(aq");
        page.contains(&format!(".TP\n.BR orbh\\-{} (1)\n{about}\n", verb.name))
    };
    let missing: Vec<&str> = VERBS.iter().filter(|verb| !listed(verb)).map(|verb| verb.name).collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert_eq!(page.matches("\n.TP\n.BR orbh\\-").count(), VERBS.len());
}

#[test]
fn every_program_has_a_page_and_no_page_is_an_orphan() {
    let verbs = programs().into_iter().map(|program| format!("{program}.1"));
    let topics = TOPICS.iter().map(|(topic, section, _)| topic_file(topic, section));
    let expected: BTreeSet<String> = verbs.chain(topics).collect();
    assert_eq!(names("man"), expected);
}

/// The file of a topic's page.
fn topic_file(topic: &str, section: &str) -> String {
    match topic {
        "tutorial" => "orbh.7".to_owned(),
        "orbh" | "flint" => format!("{topic}.{section}"),
        _ => format!("orbh-{topic}.{section}"),
    }
}

#[test]
fn every_program_has_completions_and_no_completion_is_an_orphan() {
    for (_, dir, before, after) in SHELLS {
        let expected = programs().into_iter().map(|program| format!("{before}{program}{after}"));
        assert_eq!(names(&format!("completions/{dir}")), expected.collect::<BTreeSet<_>>(), "{dir}");
    }
    assert_eq!(completed().into_iter().map(|(program, _)| program).collect::<BTreeSet<_>>(), programs());
}

#[test]
fn every_page_is_embedded_and_every_embedded_page_is_known() {
    let source = std::fs::read_to_string(top().join("bins/orbh/pages.rs")).unwrap();
    let embedded = source.lines().filter_map(|line| {
        let mut words = line.trim().strip_prefix('"')?.strip_suffix('"')?.split("\" \"");
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    });
    let verbs = VERBS.iter().map(|verb| (verb.name.to_owned(), format!("orbh-{}.1", verb.name)));
    let topics = TOPICS.iter().map(|(topic, section, _)| ((*topic).to_owned(), topic_file(topic, section)));
    assert_eq!(embedded.collect::<BTreeSet<_>>(), verbs.chain(topics).collect::<BTreeSet<_>>());
}

/// A program in PATH.
fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| path.is_file())
}

/// Runs a checker over every page; whatever it says is a complaint.
fn check_pages(program: &str, args: &[&str]) {
    let Some(program) = installed(program) else { return eprintln!("skipped: {program} is not installed") };
    let mut complaints = String::new();
    for (name, _) in pages() {
        let page = top().join("man").join(&name);
        let output = std::process::Command::new(&program).args(args).arg(&page).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        complaints += &String::from_utf8_lossy(&said);
        if !output.status.success() && said.is_empty() {
            complaints += &format!("{name}: {}\n", output.status);
        }
    }
    assert_eq!(complaints, "");
}

#[test]
fn groff_has_nothing_to_say_about_the_pages() {
    check_pages("groff", &["-man", "-ww", "-z", "-Kutf8"]);
}

#[test]
fn mandoc_warns_of_nothing_in_the_pages() {
    check_pages("mandoc", &["-Tlint", "-Wwarning"]);
}

/// The completion scripts are understood by the shells that they are for, where these are installed.
#[test]
fn the_shells_understand_the_completions() {
    for (shell, dir) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        let Some(program) = installed(shell) else {
            eprintln!("skipped: {shell} is not installed");
            continue;
        };
        for name in names(&format!("completions/{dir}")) {
            let file = top().join("completions").join(dir).join(name);
            let output = std::process::Command::new(&program).arg("-n").arg(&file).output().unwrap();
            assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
        }
    }
}
