//! The laws of resources, R2 to R6: what is verified, applied and verified again.

use opal_core::protocol::call::{Found, Function};

use super::calls::{CallOf, Gave, Ran};
use super::laws::Bench;
use super::world::Asked;
use crate::client::CallFailure;

impl Bench<'_, '_> {
    /// Gives what was asked for.
    pub(super) fn state(&mut self, plain: &Ran) -> Result<Vec<Asked>, CallFailure> {
        let mut world = self.case.world.clone();
        self.call(&self.usual(), &mut world)?;
        let is_same = world == self.case.world;
        self.demand_usual("R2", is_same, || "the verification changed the world".to_owned());
        let mut asked = Vec::new();
        match &plain.gave {
            Gave::Finding(found) if matches!(found.status, Found::Missing | Found::Drifted) => {
                asked = self.applied()?;
            }
            Gave::Error(error) => {
                let message = error.message.expose();
                let names = message.matches('`').count() >= 2 && !message.ends_with('.');
                self.demand_usual("R6", names && !error.help.is_empty(), || {
                    "its error must name the thing in backticks, have no full stop, and say what to do \
                     in `help`"
                        .to_owned()
                });
            }
            _ => {}
        }
        Ok(asked)
    }

    /// R3 and R4.
    fn applied(&mut self) -> Result<Vec<Asked>, CallFailure> {
        let act = CallOf { function: Function::Act, ..self.usual() };
        let mut world = self.case.world.clone();
        let first = self.call(&act, &mut world)?;
        let after = self.call(&self.usual(), &mut world)?;
        self.shows_nothing(&first);
        // An action may find that it cannot reach the state: it says so, and nothing is hidden.
        if let Gave::Error(_) = first.gave {
            self.report.holds("R3");
            return Ok(first.asked);
        }
        let is_reached = matches!(
            &after.gave,
            Gave::Finding(found) if matches!(found.status, Found::Satisfied | Found::Unknown)
        );
        let reached = !first.gave.is_failure() && is_reached;
        self.demand_usual("R3", reached, || {
            let unanswered = first.unanswered.iter().chain(&after.unanswered).next();
            let hint = unanswered.map(|it| format!("; the test does not answer `{it}`"));
            let hint = hint.unwrap_or_default();
            format!(
                "the action gave {}, and then it found {}{hint}",
                first.gave.shown(),
                after.gave.shown()
            )
        });
        if reached {
            let before = world.clone();
            let second = self.call(&act, &mut world)?;
            world.now = before.now;
            let changes_nothing = !second.gave.is_failure() && world == before;
            self.demand_usual("R4", changes_nothing, || {
                format!("the second action gave {}, and changed the world", second.gave.shown())
            });
        }
        let mut asked = first.asked;
        asked.extend(after.asked);
        Ok(asked)
    }
}
