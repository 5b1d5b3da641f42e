//! The laws of wrappers and policies.

use opal_core::protocol::Kind;
use opal_core::protocol::call::{Event, Outcome, Verdict};

use super::calls::{CallOf, Gave, Ran};
use super::laws::Bench;
use super::world::{Asked, Twist, World, whole};
use crate::client::CallFailure;

/// How a block can end.
const OUTCOMES: [Outcome; 3] = [Outcome::Done, Outcome::Failed(3), Outcome::Stopped];

impl Bench<'_, '_> {
    /// L10, and `end` after every outcome. Gives what was asked for.
    pub(super) fn wrapper(
        &mut self,
        plain: &Ran,
        opened: &World,
    ) -> Result<Vec<Asked>, CallFailure> {
        let mut asked = Vec::new();
        let Gave::Opened(found) = &plain.gave else { return Ok(asked) };
        let refused = found.env.iter().find(|(name, _)| self.grants.set(name).is_err());
        self.demand_usual("L10", refused.is_none(), || {
            let name = refused.map_or("", |(name, _)| name.as_str());
            format!("it sets `{name}`, and the manifest does not declare `set:{name}`")
        });
        for outcome in OUTCOMES {
            let mut world = opened.clone();
            let closed = self.call(&self.closing(&found.token, outcome), &mut world)?;
            self.shows_nothing(&closed);
            self.demand_usual("end", matches!(closed.gave, Gave::Ended), || {
                format!("after the outcome {outcome:?}, `end` gave {}", closed.gave.shown())
            });
            for (path, wanted) in &self.case.after {
                let file = world.files.get(&whole(path)).map(|it| String::from_utf8_lossy(it));
                self.demand_usual("end", file.as_deref() == wanted.as_deref(), || {
                    format!("after {outcome:?} the file `{path}` is {file:?}, not {wanted:?}")
                });
            }
            asked.extend(closed.asked);
        }
        self.interrupted(plain)?;
        Ok(asked)
    }

    /// What was announced with `keep` is closed, also where `begin` failed afterwards.
    fn interrupted(&mut self, plain: &Ran) -> Result<(), CallFailure> {
        for number in 0..plain.asked.len().min(32) {
            let mut world = self.case.world.clone();
            let of = CallOf { twist: Twist::Refuse(number, Kind::Failed), ..self.usual() };
            let ran = self.call(&of, &mut world)?;
            let Some(token) = ran.kept.filter(|_| ran.gave.is_failure()) else { continue };
            let closed = self.call(&self.closing(&token, Outcome::Failed(1)), &mut world)?;
            self.demand_usual("end", matches!(closed.gave, Gave::Ended), || {
                let gave = closed.gave.shown();
                format!(
                    "`begin` kept a token and failed at question {}; `end` gave {gave}",
                    number + 1
                )
            });
        }
        Ok(())
    }

    /// L9 and L10 of what judges the runs of a block.
    pub(super) fn policy(&mut self) -> Result<(), CallFailure> {
        for attempt in [1, 2, 10] {
            let outcomes = [None].into_iter().chain(OUTCOMES.map(Some));
            for outcome in outcomes {
                let event = Some(Event { target: None, attempt, outcome });
                let ran =
                    self.call(&CallOf { event, ..self.usual() }, &mut self.case.world.clone())?;
                self.shows_nothing(&ran);
                let is_verdict = match (&ran.gave, outcome) {
                    // Nothing has run: there is nothing to repeat.
                    (Gave::Verdict(Verdict::Retry(_)), None) => false,
                    (Gave::Verdict(_), _) => true,
                    _ => false,
                };
                let law = if matches!(outcome, Some(Outcome::Failed(_))) { "L9" } else { "L10" };
                self.demand_usual(law, is_verdict, || {
                    let when = outcome.map_or("before the run".to_owned(), |it| format!("{it:?}"));
                    format!("attempt {attempt}, {when}: it gave {}", ran.gave.shown())
                });
            }
        }
        Ok(())
    }
}
