//! `orbh page`: one's own Page, or an observer's look at another session's.

use crate::args::Args;
use anyhow::Result;
use shared::face::output::{print, print_json};
use shared::face::page::render;
use shared::ground::fault::Refusal;
use shared::spool::announced;
use shared::verbs::caller::{Caller, meant};
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::events::{self, Event, announce};
use shared::verbs::page::{Page, Reader};

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let own = args.id.is_none() && !args.no_mutate && environment.run().is_some();
    let caller = if own { Some(Caller::of(environment, "orbh page")?) } else { None };
    let spool = match &caller {
        Some(caller) => caller.spool.clone(),
        None => meant(environment, args.id.as_deref(), "orbh page")?,
    };
    if let Some(caller) = &caller {
        // A straggler is told so before it takes the Page of another context for its own. Damage is on the Page itself.
        caller.look().and_then(|snapshot| caller.current(&snapshot).map(|_| ())).or_else(|error| {
            match error.is::<Refusal>() {
                true => Err(error),
                false => Ok(()),
            }
        })?;
    }
    // What this run has been shown and not consumed, on a Page during a hold or by the pager.
    let told = caller.as_ref().map(|caller| announced::read_of(&spool, caller.run)).unwrap_or_default();
    let page = Page::read(&spool, &Reader { told, news_first: false, whole: args.json })?;
    let (shown, unread) = match args.json {
        true => {
            print_json(&page)?;
            page.events()
        }
        false => {
            let rendered = render(&page);
            print(&rendered.text)?;
            (rendered.shown, rendered.unread)
        }
    };
    if let Some(caller) = caller {
        consume(&caller, &shown, &unread)?;
    }
    Ok(0)
}

/// Once more, now that it is printed: what was shown to a run that goes on is consumed; during a hold it only counts as
/// told. And a run's first verb makes it a context.
fn consume(caller: &Caller, shown: &[Event], unread: &[Event]) -> Result<()> {
    let claim = Claim::take(&caller.spool, "page")?;
    let snapshot = caller.look()?;
    caller.check(&snapshot)?;
    let told = announced::read_of(&caller.spool, caller.run);
    if snapshot.effective_hold().is_some() {
        return announce(&caller.spool, caller.run, &[shown, unread].concat(), &told);
    }
    claim.insist()?;
    announce(&caller.spool, caller.run, unread, &told)?;
    events::consume(&caller.spool, caller.run, shown)
}
