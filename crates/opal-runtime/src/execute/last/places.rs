//! Which resources are about one place among the files, and what that says about them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use opal_core::resource;

use super::Kept;
use crate::execute::Walk;
use crate::session::Place;

/// The resource after which nothing is at a path.
const ABSENT: &str = "absent";

impl<'p> Walk<'p> {
    /// Those that are meant to last, of all in the order of the plan. Who removes something to make it
    /// anew starts afresh, and who makes something to remove it cleans up; side by side there is no
    /// such order.
    pub(super) fn lasting(&self, all: Vec<Kept<'p>>) -> Vec<Kept<'p>> {
        if !all.iter().any(is_absent) {
            return all;
        }
        let (mut made, mut removed) = (Places::new(), Places::new());
        let mut lasting = Vec::new();
        for kept in all.into_iter().rev() {
            let path = &*kept.step.path;
            let Some(place) = self.place(&kept) else {
                lasting.push(kept);
                continue;
            };
            let is_in_order = |(_, other): &(PathBuf, &str)| !are_side_by_side(path, other);
            let is_undone = match is_absent(&kept) {
                true => from(&made, &place)
                    .take_while(|(at, _)| at.starts_with(&place))
                    .any(is_in_order),
                false => place.ancestors().any(|around| {
                    from(&removed, around).take_while(|(at, _)| at == around).any(is_in_order)
                }),
            };
            let places = if is_absent(&kept) { &mut removed } else { &mut made };
            places.insert((place, path));
            if !is_undone {
                lasting.push(kept);
            }
        }
        lasting.reverse();
        lasting
    }

    /// Says which of the others was brought about after it was seen, about the same place.
    pub(super) fn changed_by(&self, kept: &Kept<'p>, all: &[Kept<'p>]) -> Option<String> {
        let place = self.place(kept)?;
        let later = all.iter().filter(|other| other.is_made && other.seen > kept.seen);
        let near = later.filter_map(|other| {
            let about = near(&place, &self.place(other)?)?;
            Some((other, about))
        });
        let (other, about) = near.max_by_key(|(other, _)| other.seen)?;
        let name = resource::name(self.job.plan, other.step);
        Some(format!("`{name}` was applied after it, and is about {about}"))
    }

    /// Where among the files it is; none where it is elsewhere, or a value of the run says where.
    fn place(&self, kept: &Kept<'p>) -> Option<PathBuf> {
        let job = self.job;
        let nothing = BTreeMap::new();
        let place =
            Place { base: job.base, directory: job.start, environment: &nothing, stop: job.stop };
        let probe = job.session.probe(&place);
        let thing = resource::thing(kept.step, kept.described, job.values, &*probe)?;
        let (_, path) = thing.into_iter().next().filter(|(name, _)| resource::is_placed(name))?;
        Some(path.into())
    }
}

/// Places of steps, with their paths.
type Places<'p> = BTreeSet<(PathBuf, &'p str)>;

/// This place, and what follows it: first all that is in it.
fn from<'a>(places: &'a Places<'_>, place: &Path) -> impl Iterator<Item = &'a (PathBuf, &'a str)> {
    places.range((place.to_owned(), "")..)
}

fn is_absent(kept: &Kept<'_>) -> bool {
    kept.described.resource.yaml == ABSENT
}

fn near(place: &Path, other: &Path) -> Option<&'static str> {
    if place == other {
        Some("the same path")
    } else if other.starts_with(place) {
        Some("something in it")
    } else if place.starts_with(other) {
        Some("what it stands in")
    } else {
        None
    }
}

/// Whether steps with these paths are in two branches, of which either may come first.
fn are_side_by_side(one: &str, other: &str) -> bool {
    let pairs = one.char_indices().zip(other.chars());
    let shared = pairs.take_while(|((_, one), other)| one == other);
    let shared = shared.last().map_or("", |((at, c), _)| &one[..at + c.len_utf8()]);
    let around = shared.rfind("].").map_or("", |at| &shared[..at]);
    around.rsplit('.').next().is_some_and(|step| step.starts_with("parallel["))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_branches_of_one_block_are_side_by_side() {
        for (one, other, expected) in [
            ("s.parallel[0].a[0]", "s.parallel[0].b[0]", true),
            ("s.parallel[0].timeout[0].a[0]", "s.parallel[0].timeout[1].a[0]", true),
            ("s.parallel[0].timeout[0].a[0]", "s.parallel[0].timeout[0].b[0]", false),
            ("s.parallel[0].a[0]", "s.parallel[1].a[0]", false),
            ("s.parallel[0].a[0]", "s.b[0]", false),
            ("s.a[0]", "s.a[1]", false),
            ("ä", "ö", false),
        ] {
            assert_eq!(are_side_by_side(one, other), expected, "{one} {other}");
        }
    }
}
