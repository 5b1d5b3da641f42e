//! Asking decorators, several at a time.

use std::sync::Mutex;

use opal_core::Data;
use opal_core::crossing::Crossing;
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};

/// Decorators that are asked at the same time.
const MAX_PARALLEL: usize = 16;

/// A decorator, what it gets, and from where it is asked.
pub(super) type Question<'q> = (&'static dyn Resolver, &'q Inputs, From<'q>);

/// A value, or why there is none.
pub(super) type Answer = Result<Data, Unanswered>;

pub(super) struct Unanswered {
    pub(super) why: Trouble,
    /// The target that it was to be read on was not reached.
    pub(super) is_gone: bool,
}

impl std::convert::From<Trouble> for Unanswered {
    fn from(why: Trouble) -> Self {
        Self { why, is_gone: false }
    }
}

/// Where a question is asked from.
#[derive(Clone, Copy)]
pub(super) enum From<'q> {
    /// The directory of the source.
    Source,
    /// Another directory, seen from there.
    Directory(&'q str),
    /// A target.
    Target(&'q [Crossing]),
}

/// Asks all questions, several at a time; answers come in the order of the questions.
pub(super) fn ask(questions: &[Question<'_>], probe: &dyn Probe) -> Vec<Answer> {
    if let [question] = questions {
        return vec![resolve(*question, probe)];
    }
    let next = Mutex::new(0..questions.len());
    let answers: Vec<Mutex<Option<Answer>>> = questions.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let taken = next.lock().ok().and_then(|mut next| next.next());
            let Some(index) = taken else { return };
            let answer = resolve(questions[index], probe);
            if let Ok(mut place) = answers[index].lock() {
                *place = Some(answer);
            }
        }
    };
    std::thread::scope(|scope| {
        let count = questions.len().min(MAX_PARALLEL);
        let helpers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        // One that panics leaves its question without an answer.
        helpers.into_iter().for_each(|helper| drop(helper.join()));
    });
    let answered = |place: Mutex<Option<_>>| place.into_inner().ok().flatten();
    answers.into_iter().map(|place| answered(place).unwrap_or_else(|| Err(lost().into()))).collect()
}

pub(super) fn resolve((resolver, inputs, from): Question<'_>, probe: &dyn Probe) -> Answer {
    let way = match from {
        From::Source => return Ok(resolver.resolve(inputs, probe)?),
        From::Directory(directory) => {
            return Ok(resolver.resolve(inputs, &*probe.within(directory))?);
        }
        From::Target(way) => way,
    };
    // Another machine than the one that is meant is not a missing one, and neither is a wrong way.
    let is_other = |kind| matches!(kind, TroubleKind::Mutated | TroubleKind::Invalid);
    let there = probe.reach(way);
    let there = there.map_err(|why| Unanswered { is_gone: !is_other(why.kind), why })?;
    let is_gone = |kind| matches!(kind, TroubleKind::Unreachable | TroubleKind::Lost);
    resolver.resolve(inputs, &*there).map_err(|why| Unanswered { is_gone: is_gone(why.kind), why })
}

fn lost() -> Trouble {
    let message = "a decorator ended without an answer; this is a bug in opal";
    Trouble::new(TroubleKind::Failed, message, "please report it")
}
