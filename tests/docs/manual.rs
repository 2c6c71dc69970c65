//! The manual page of a verb: what clap knows of its command line, around what `manual.roff` says beyond that.
//!
//! What stands in manual.roff before its first section belongs to DESCRIPTION; the rest follows OPTIONS.

use clap::{Arg, Command};
use clap_mangen::Man;
use std::io;

/// Pinned, so that a page changes only when what it says changes.
const DATE: &str = "2026-01-01";

/// The page of a verb's binary.
pub fn page(program: &str, command: Command, manual: &str) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let title = program.to_uppercase();
    let version = env!("CARGO_PKG_VERSION");
    let (more, rest) = match manual.find(".SH ") {
        Some(at) => manual.split_at(at),
        None => (manual, ""),
    };
    let mut page =
        format!(".\\\" Generated: ORBH_BLESS=1 cargo test docs. Edit args.rs and manual.roff of {program}.\n");
    page += &format!(".TH {title} 1 {DATE} \"orbh {version}\" \"orbh manual\"\n.nh\n.ad l\n");
    page += &format!(".SH NAME\n{} \\- {}\n", escape(program), escape(&lower_first(&about)));
    page += ".SH SYNOPSIS\n";
    page += &synopses(&command).join(".br\n");
    page += ".SH DESCRIPTION\n";
    page += &described(&command);
    page += more;
    let command = command.mut_args(listed_values);
    page += &commands(&command);
    page += ".SH OPTIONS\n";
    page += &body(Man::new(command), Man::render_options_section);
    page += rest;
    page
}

/// Without the two options that every command has: they are described once.
fn plain(command: Command) -> Command {
    command.disable_help_flag(true).disable_version_flag(true)
}

/// The values that an option can have, in its sentence.
fn listed_values(argument: Arg) -> Arg {
    let values: Vec<String> = argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    match argument.get_help().map(ToString::to_string) {
        Some(help) if argument.get_action().takes_values() && !values.is_empty() => {
            argument.hide_possible_values(true).help(format!("{help}: {}", values.join(", ")))
        }
        _ => argument,
    }
}

/// The subcommands, each with the name under which it is given.
fn subcommands(command: &Command) -> Vec<Command> {
    let parent = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let named = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    named.map(|sub| plain(sub.clone().bin_name(format!("{parent} {}", sub.get_name())))).collect()
}

/// How a command is given, a line for each of its subcommands.
fn synopses(command: &Command) -> Vec<String> {
    let subcommands = subcommands(command);
    if subcommands.is_empty() {
        return synopsis(&plain(command.clone()));
    }
    // One that does something without a subcommand has a form for that, too.
    let alone = (!command.is_subcommand_required_set()).then(|| line(&plain(command.clone())));
    alone.into_iter().chain(subcommands.iter().flat_map(synopsis)).collect()
}

/// clap_mangen leaves the values of options out of a synopsis, so this is written here.
fn synopsis(command: &Command) -> Vec<String> {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let usage = command.clone().render_usage().to_string();
    let forms: Vec<&str> = usage.lines().map(str::trim).collect();
    if forms.len() > 1 {
        let rest = |form: &&str| escape(form.trim_start_matches("Usage: ").strip_prefix(name).unwrap_or(form));
        return forms.iter().map(|form| format!("{}{}\n", called(command), rest(form))).collect();
    }
    vec![line(command)]
}

fn called(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    format!("\\fB{}\\fR", escape(name))
}

/// The form of a command with its own options and arguments.
fn line(command: &Command) -> String {
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) = arguments.partition(|argument| argument.is_positional());
    let words = options.into_iter().map(option).chain(positional.into_iter().map(|one| bracket(one, &values(one))));
    words.fold(called(command), |line, word| format!("{line} {word}")) + "\n"
}

fn option(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("\\fB\\-{short}\\fR|")).unwrap_or_default();
    let long = argument.get_long().map(|long| format!("\\fB\\-\\-{}\\fR", escape(long))).unwrap_or_default();
    let takes_value = argument.get_action().takes_values();
    let value = if takes_value { format!(" {}", values(argument)) } else { String::new() };
    bracket(argument, &format!("{short}{long}{value}"))
}

fn values(argument: &Arg) -> String {
    let id = argument.get_id().as_str().to_uppercase();
    let names = argument.get_value_names().map(|names| names.iter().map(ToString::to_string).collect());
    let names: Vec<String> = names.unwrap_or_else(|| vec![id]);
    names.iter().map(|name| format!("\\fI{}\\fR", escape(name))).collect::<Vec<_>>().join(" ")
}

fn bracket(argument: &Arg, words: &str) -> String {
    if argument.is_required_set() { words.to_owned() } else { format!("[{words}]") }
}

fn commands(command: &Command) -> String {
    let subcommands = subcommands(command);
    if subcommands.is_empty() {
        return String::new();
    }
    let mut text = ".SH COMMANDS\n".to_owned();
    for sub in subcommands {
        text += &format!(".SS {}\n", escape(sub.get_bin_name().unwrap_or_default()));
        text += &described(&sub);
        text += &body(Man::new(sub), Man::render_options_section);
    }
    text
}

/// The description of a command. It opens with the one line that has no full stop in lists.
fn described(command: &Command) -> String {
    let text = body(Man::new(plain(command.clone())), Man::render_description_section);
    match text.split_once('\n') {
        Some((first, rest)) => format!("{first}.\n{rest}"),
        None => text,
    }
}

/// One section as clap_mangen renders it, without its heading, and with nothing that a linter would warn of.
fn body(man: Man, render: impl Fn(&Man, &mut dyn io::Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    render(&man, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = Vec::new();
    for line in text.lines() {
        // The first two only define \*(Aq, which is a plain name here.
        let noise = line.starts_with(".ie ") || line.starts_with(".el ") || line.starts_with(".SH ");
        match line.trim_end() {
            _ if noise => {}
            "" => lines.push(".sp".to_owned()),
            line => {
                lines.push(bold(&line.replace("\\*(Aq", "\\(aq").replace("\\fI<", "\\fI").replace(">\\fR", "\\fR")))
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What stands in backticks is set in bold.
fn bold(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return line.to_owned();
    }
    let fonts = parts.iter().enumerate().map(|(at, part)| match at % 2 {
        0 => (*part).to_owned(),
        _ => format!("\\fB{part}\\fR"),
    });
    fonts.collect()
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}
