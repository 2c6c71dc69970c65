//! `orbh list`: all sessions of a root, a line each.

use crate::args::Args;
use anyhow::Result;
use shared::face::output::{print, print_json, tell};
use shared::face::page::title;
use shared::face::text::{clean, columns, cut, span};
use shared::harness::Runtime;
use shared::spool::id::SessionId;
use shared::spool::root::Root;
use shared::spool::session::Spool;
use shared::verbs::environment::Environment;
use shared::verbs::overview::{Overview, State};
use std::collections::{BTreeMap, HashSet};

/// At most so many sessions are written about below the list.
const ADVISED: usize = 5;
/// The most characters of a title.
const TITLE_WIDTH: usize = 60;

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let wanted = args.runtime.as_deref().map(Runtime::of).transpose()?;
    let root = environment.root()?;
    let mut overviews = read(&root)?;
    overviews.sort_by(|a, b| (a.created_at, &a.session).cmp(&(b.created_at, &b.session)));
    let total = overviews.len();
    let hidden = |overview: &Overview| !args.all && args.state.is_none() && overview.state.quiet();
    let runtime = |overview: &Overview| Runtime::named(&overview.target.as_ref()?.runtime);
    overviews.retain(|overview| {
        !hidden(overview)
            && args.state.is_none_or(|state| state == overview.state)
            && (wanted.is_none() || runtime(overview) == wanted)
    });
    if args.json {
        for (index, _) in order(args, &overviews) {
            print_json(&overviews[index])?;
        }
    } else {
        show(args, &root, &overviews, total)?;
    }
    for message in overviews.iter().flat_map(|overview| &overview.damage) {
        tell(&format!("orbh-list: {}\n", clean(message)));
    }
    if !args.json {
        advise(&overviews);
    }
    Ok(0)
}

/// Where somebody is needed, the command is told; a long list of such places is cut.
fn advise(overviews: &[Overview]) {
    let needy: Vec<(&Overview, &String)> = overviews
        .iter()
        .filter(|overview| !overview.state.quiet())
        .filter_map(|overview| Some((overview, overview.hint.as_ref()?)))
        .collect();
    for (overview, hint) in needy.iter().take(ADVISED) {
        tell(&format!("session {} is {}\nhint: {hint}\n", overview.session, trouble(overview)));
    }
    if needy.len() > ADVISED {
        tell(&format!("{} more need somebody\nhint: orbh list --json, the key 'hint'\n", needy.len() - ADVISED));
    }
}

/// What is the matter with a session that needs somebody.
fn trouble(overview: &Overview) -> String {
    match (overview.state, &overview.manager) {
        (state, None) if state.works() => format!("{state}, and its manager is gone"),
        (State::FailedUnreturned, _) => match overview.run.as_ref().and_then(|run| run.detail.as_deref()) {
            Some(detail) => format!("failed-unreturned ({})", clean(detail)),
            None => "failed-unreturned".to_owned(),
        },
        (state, _) => state.to_string(),
    }
}

/// Every session; one that cannot be looked at is unknown, and hides none of its neighbours. One that is removed
/// meanwhile is no failure.
fn read(root: &Root) -> Result<Vec<Overview>> {
    let mut overviews = Vec::new();
    for id in root.ids()? {
        match root.session(&id).and_then(|spool| Overview::read(&spool)) {
            Ok(overview) => overviews.push(overview),
            Err(error) if root.sessions_dir().join(id.as_str()).symlink_metadata().is_ok() => {
                overviews.push(Overview::unreadable(&Spool::at(root.clone(), id), format!("{error:#}")));
            }
            Err(_) => {}
        }
    }
    Ok(overviews)
}

fn show(args: &Args, root: &Root, overviews: &[Overview], total: usize) -> Result<()> {
    let left_out = total - overviews.len();
    if !overviews.is_empty() {
        let ids: Vec<SessionId> = overviews.iter().map(|overview| overview.session.clone()).collect();
        let short = root.shorten(&ids)?;
        let mut rows = vec![["ID", "STATE", "RUN", "TARGET", "CONTEXT", "AGE", "TITLE"].map(str::to_owned).to_vec()];
        rows.extend(
            order(args, overviews).into_iter().map(|(index, depth)| row(&overviews[index], &short[index], depth)),
        );
        print(&columns(&rows))?;
    }
    match (left_out, total) {
        (_, 0) => tell(&format!(
            "no sessions in '{}'\nhint: orbh launch RUNTIME/PROFILE PROMPT, or orbh demo\n",
            clean(&root.path().display().to_string())
        )),
        (0, _) => {}
        (count, _) if args.all || args.state.is_some() || args.runtime.is_some() => {
            tell(&format!("{count} not shown\n"))
        }
        (count, _) => tell(&format!("{count} not shown; --all shows all\n")),
    }
    Ok(())
}

fn row(overview: &Overview, short: &str, depth: usize) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut words = cut(&title(overview), TITLE_WIDTH);
    if overview.compaction.overdue {
        words += " (overdue)";
    }
    if overview.compaction.looping {
        words += " (compacting in a loop)";
    }
    vec![
        format!("{}{short}", "  ".repeat(depth)),
        overview.state.to_string(),
        overview.run.as_ref().map_or_else(dash, |run| run.run.to_string()),
        overview.target.as_ref().map_or_else(dash, |target| clean(&target.to_string())),
        overview.context.as_ref().map_or_else(dash, ToString::to_string),
        overview.created_at.map_or_else(dash, |at| span(at.age())),
        words,
    ]
}

/// In what order they are shown, each with its depth.
fn order(args: &Args, overviews: &[Overview]) -> Vec<(usize, usize)> {
    if args.tree { tree(overviews) } else { (0..overviews.len()).map(|index| (index, 0)).collect() }
}

/// The order of a tree: each session followed by those that it launched, with its depth.
fn tree(overviews: &[Overview]) -> Vec<(usize, usize)> {
    let known: HashSet<&SessionId> = overviews.iter().map(|overview| &overview.session).collect();
    let mut below: BTreeMap<Option<&SessionId>, Vec<usize>> = BTreeMap::new();
    for (index, overview) in overviews.iter().enumerate() {
        let parent = overview.parent.as_ref().filter(|parent| known.contains(parent) && **parent != overview.session);
        below.entry(parent).or_default().push(index);
    }
    let mut order = Vec::new();
    let mut open: Vec<(usize, usize)> = below.get(&None).into_iter().flatten().rev().map(|index| (*index, 0)).collect();
    while let Some((index, depth)) = open.pop() {
        order.push((index, depth));
        let children = below.remove(&Some(&overviews[index].session)).unwrap_or_default();
        open.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    // A circle of parents, made by hand, hides nobody.
    let placed: HashSet<usize> = order.iter().map(|(index, _)| *index).collect();
    order.extend((0..overviews.len()).filter(|index| !placed.contains(index)).map(|index| (index, 0)));
    order
}
