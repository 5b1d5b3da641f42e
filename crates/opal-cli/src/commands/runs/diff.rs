//! `opal runs diff`: two runs side by side.

use std::collections::BTreeMap;

use clap::ArgMatches;
use opal_vault::record::reader::{self, Run, Step};
use opal_vault::root::Root;

use super::stored::load;
use crate::context::Context;
use crate::failure::record::unreadable;
use crate::failure::{Exit, Failure};
use crate::view;
use crate::view::runs::{Comparison, Pair};

pub(super) fn run(
    context: &Context<'_>,
    root: &Root,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let named = |id| matches.get_one::<String>(id).map_or("last", String::as_str);
    let words = context.opal_runs(matches.get_one("root"));
    let runs = [load(root, named("before"), &words)?, load(root, named("after"), &words)?];
    let before = reader::steps(&runs[0].folder).map_err(unreadable)?;
    let after = reader::steps(&runs[1].folder).map_err(unreadable)?;
    let pairs = paired(&before, &after);
    let comparison = Comparison { runs: &runs, pairs: &pairs };
    if matches.get_flag("json") {
        view::runs::diff_json(&comparison)?;
    } else {
        view::runs::diff(&comparison, context.out())?;
    }
    let same = facts(&runs[0]) == facts(&runs[1]) && pairs.iter().all(Pair::is_same);
    Ok(if same { Exit::Done } else { Exit::Differs })
}

fn facts(run: &Run) -> [Option<&str>; 3] {
    [Some(run.target()), run.text("plan_hash"), Some(run.state.name())]
}

/// The steps of both, by their targets and paths, as each ended last; those of the first run in its order, then
/// those that only the second has. Blocks are left away: their steps tell.
fn paired<'s>(before: &'s [Step], after: &'s [Step]) -> Vec<Pair<'s>> {
    let mut pairs: Vec<Pair<'s>> = Vec::new();
    let mut places: BTreeMap<(Option<&'s str>, &'s str), usize> = BTreeMap::new();
    for (side, steps) in [before, after].into_iter().enumerate() {
        for step in steps.iter().filter(|step| !step.is_block) {
            let target = step.target.as_deref();
            let place = *places.entry((target, &step.path)).or_insert_with(|| {
                pairs.push(Pair { target, path: &step.path, sides: [None, None] });
                pairs.len() - 1
            });
            pairs[place].sides[side] = Some(step);
        }
    }
    pairs
}
