//! `orbh page`: one's own Page, or an observer's look at another session's.

use crate::args::Args;
use anyhow::Result;
use shared::face::output::{print, print_json};
use shared::face::page::render;
use shared::ground::fault::Refusal;
use shared::verbs::caller::{Caller, meant};
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::page::Page;

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
    let page = Page::read(&spool)?;
    match args.json {
        true => print_json(&page)?,
        false => print(&render(&page))?,
    }
    if let Some(caller) = caller {
        // Once more, now that it is printed; and a run's first verb makes it a context.
        let _claim = Claim::take(&caller.spool, "page")?;
        caller.check(&caller.look()?)?;
    }
    Ok(0)
}
