//! The laws of every call.

use opal_core::data::Secret;
use opal_core::decorator::Cost;
use opal_core::protocol::Kind;
use opal_core::protocol::call::{Function, Outcome, Verdict};
use opal_core::protocol::request::Service;
use opal_core::resolver::Inputs;

use super::calls::{CallOf, Gave, Ran, call, input};
use super::cases::{Case, Wants};
use super::report::{Broken, Report};
use super::variations;
use super::world::{Asked, Twist, World, whole};
use crate::adapt::Adapter;
use crate::client::CallFailure;
use crate::client::grants::Grants;

/// Questions of one call that are refused, one after the other.
const MOST_TWISTS: usize = 32;

/// The laws are tested with one test of a package at a time.
pub(super) struct Bench<'r, 'm> {
    pub(super) adapter: &'static Adapter,
    pub(super) grants: &'r Grants,
    pub(super) case: &'r Case<'m>,
    pub(super) report: &'r mut Report,
}

impl<'r> Bench<'r, '_> {
    /// All laws. Gives what the call asked for.
    pub(super) fn all(&mut self) -> Result<Vec<Asked>, CallFailure> {
        let mut world = self.case.world.clone();
        let plain = self.call(&self.usual(), &mut world)?;
        self.test(&plain, &world);
        self.powers(&plain);
        self.twice(&plain, &world)?;
        self.schema()?;
        let count = plain.asked.len().min(MOST_TWISTS);
        for number in 0..count {
            self.refused(&plain, number)?;
            self.stopped(number)?;
        }
        let mut asked = plain.asked.clone();
        match self.case.function {
            Function::Verify => asked.extend(self.state(&plain)?),
            Function::Begin => asked.extend(self.wrapper(&plain, &world)?),
            Function::Judge => self.policy()?,
            _ => {}
        }
        Ok(asked)
    }

    /// The call of the test.
    pub(super) fn usual(&self) -> CallOf<'r> {
        CallOf {
            function: self.case.function,
            inputs: &self.case.inputs,
            event: self.case.event.clone(),
            token: None,
            outcome: None,
            twist: Twist::None,
            seed: None,
        }
    }

    /// One call; whatever it is, it shows no secret.
    pub(super) fn call(&self, of: &CallOf<'_>, world: &mut World) -> Result<Ran, CallFailure> {
        call(self.adapter, self.grants, of, world)
    }

    pub(super) fn demand(
        &mut self,
        law: &'static str,
        holds: bool,
        inputs: &Inputs,
        message: impl FnOnce() -> String,
    ) {
        if holds {
            return self.report.holds(law);
        }
        let Case { file, line, name, declared, .. } = self.case;
        self.report.breaks(Broken {
            law,
            decorator: Some(declared.path.clone()),
            test: Some(format!("{file}:{line}, {name}")),
            input: Some(input(self.adapter, inputs)),
            message: message(),
        });
    }

    pub(super) fn demand_usual(
        &mut self,
        law: &'static str,
        holds: bool,
        message: impl FnOnce() -> String,
    ) {
        let inputs = self.case.inputs.clone();
        self.demand(law, holds, &inputs, message);
    }

    /// L4: for every call that is made.
    pub(super) fn shows_nothing(&mut self, ran: &Ran) {
        self.demand_usual("L4", ran.leak.is_none(), || {
            format!("the text of a secret appears {}", ran.leak.unwrap_or_default())
        });
    }

    /// Whether the test gives what it says.
    fn test(&mut self, plain: &Ran, world: &World) {
        self.shows_nothing(plain);
        if let Some(request) = plain.unanswered.first() {
            let message = format!("it asks for `{request}`, which the test does not answer");
            self.demand_usual("tests", false, || message);
            return;
        }
        let gave = plain.gave.shown();
        let (is_right, wanted) = match (&self.case.wants, &plain.gave) {
            (Wants::Result(wanted), Gave::Result(given) | Gave::Acted { output: given, .. }) => {
                (wanted.expose() == given.expose(), format!("result {}", wanted.expose()))
            }
            (Wants::Finding(wanted), Gave::Finding(given)) => {
                (*wanted == given.status, wanted.word().to_owned())
            }
            (Wants::Error { kind, says }, Gave::Error(given)) => {
                let has = |says: &String| given.message.expose().contains(says);
                let is_right = given.kind == *kind && says.as_ref().is_none_or(has);
                (is_right, format!("error {} {}", kind.word(), says.as_deref().unwrap_or_default()))
            }
            (Wants::Environment(wanted), Gave::Opened(given)) => {
                let given = given.env.iter().map(|(name, value)| (name.as_str(), value.expose()));
                let pairs = wanted.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                (given.eq(pairs), format!("env {wanted:?}"))
            }
            (Wants::Verdict(wanted), Gave::Verdict(given)) => {
                let word = match given {
                    Verdict::Proceed => "proceed",
                    Verdict::Retry(_) => "retry",
                    Verdict::Stop(_) => "stop",
                };
                (word == wanted, wanted.clone())
            }
            (wants, _) => (false, wants.words()),
        };
        self.demand_usual("tests", is_right, || format!("expected {wanted}; it gave {gave}"));
        let files =
            |path: &str| world.files.get(&whole(path)).map(|it| String::from_utf8_lossy(it));
        let after = if self.case.function == Function::Begin { &[][..] } else { &self.case.after };
        for (path, wanted) in after {
            let found = files(path);
            self.demand_usual("tests", found.as_deref() == wanted.as_deref(), || {
                format!("expected the file `{path}` to be {wanted:?} afterwards; it is {found:?}")
            });
        }
    }

    /// L3 and L6.
    fn powers(&mut self, plain: &Ran) {
        self.demand_usual("L6", plain.denied.is_empty(), || plain.denied.join("; "));
        let is_slow =
            |asked: &Asked| matches!(asked.service, Service::ProbeAsk | Service::ProbeFetch);
        let is_cheap = self.case.declared.descriptor.cost == Cost::Cheap;
        let slow = plain.asked.iter().find(|asked| is_slow(asked));
        self.demand_usual("L3", slow.is_none() || !is_cheap, || {
            let about = slow.map_or("", |asked| asked.about.as_str());
            format!("it asks for `{about}`, and its `x-opal-cost` is `cheap`")
        });
    }

    /// L2, L8 and R1.
    fn twice(&mut self, plain: &Ran, world: &World) -> Result<(), CallFailure> {
        let mut again = self.case.world.clone();
        let second = self.call(&self.usual(), &mut again)?;
        let is_same = plain.gave.bytes() == second.gave.bytes()
            && plain.asked == second.asked
            && *world == again;
        let law = if self.case.function == Function::Verify { "R1" } else { "L2" };
        self.demand_usual(law, is_same, || {
            format!("first it gave {}, then {}", plain.gave.shown(), second.gave.shown())
        });
        let other = CallOf { seed: Some("a7"), ..self.usual() };
        let ran = self.call(&other, &mut self.case.world.clone())?;
        self.shows_nothing(&ran);
        let is_right = plain.gave.is_failure() || !matches!(ran.gave, Gave::Broke(_));
        self.demand_usual("L8", is_right, || {
            format!("with other random numbers it gave {}", ran.gave.shown())
        });
        Ok(())
    }

    /// L1.
    fn schema(&mut self) -> Result<(), CallFailure> {
        let declared = &self.case.declared.descriptor;
        for inputs in variations::of(declared, &self.case.inputs) {
            let of = CallOf { inputs: &inputs, ..self.usual() };
            let ran = self.call(&of, &mut self.case.world.clone())?;
            self.shows_nothing(&ran);
            self.demand("L1", !matches!(ran.gave, Gave::Broke(_)), &inputs, || ran.gave.shown());
        }
        let mut world = self.case.world.clone();
        let ran = self.call(&self.usual(), &mut world)?;
        self.demand_usual("L1", !matches!(ran.gave, Gave::Broke(_)), || ran.gave.shown());
        Ok(())
    }

    /// L5, L7, L9 and R5: one question has another answer.
    fn refused(&mut self, plain: &Ran, number: usize) -> Result<(), CallFailure> {
        let asked = plain.asked[number].clone();
        let twisted = |bench: &Self, kind| {
            let of = CallOf { twist: Twist::Refuse(number, kind), ..bench.usual() };
            bench.call(&of, &mut bench.case.world.clone())
        };
        let about = format!("`{}` ({})", asked.about, asked.service.word());
        let is_clean = |ran: &Ran, kinds: &[Kind]| match &ran.gave {
            Gave::Error(error) => kinds.contains(&error.kind) && !error.help.is_empty(),
            gave => !matches!(gave, Gave::Broke(_)),
        };
        if asked.service.acts() {
            if matches!(asked.service, Service::StageKeep | Service::StageLog) {
                return Ok(());
            }
            let ran = twisted(self, Kind::Failed)?;
            self.shows_nothing(&ran);
            self.demand_usual("L9", matches!(ran.gave, Gave::Error(_)), || {
                format!("when {about} fails, it gives {}", ran.gave.shown())
            });
            return Ok(());
        }
        let missing = twisted(self, Kind::Missing)?;
        self.shows_nothing(&missing);
        self.demand_usual("L5", is_clean(&missing, &[Kind::Missing]), || {
            format!("when {about} is missing, it gives {}", missing.gave.shown())
        });
        let large = twisted(self, Kind::TooLarge)?;
        self.demand_usual("L7", is_clean(&large, &[Kind::TooLarge]), || {
            format!("when {about} is too large, it gives {}", large.gave.shown())
        });
        if self.case.function == Function::Verify {
            let denied = twisted(self, Kind::Denied)?;
            let is_acted_on = match &denied.gave {
                Gave::Finding(found) => found.status != opal_core::protocol::call::Found::Unknown,
                _ => false,
            };
            self.demand_usual("R5", !is_acted_on, || {
                format!("when {about} is denied, it finds {}", denied.gave.shown())
            });
        }
        Ok(())
    }

    /// L11.
    fn stopped(&mut self, number: usize) -> Result<(), CallFailure> {
        let of = CallOf { twist: Twist::Stop(number), ..self.usual() };
        let ran = self.call(&of, &mut self.case.world.clone())?;
        self.demand_usual("L11", !matches!(ran.gave, Gave::Broke(_)), || {
            format!("stopped after question {}, it gave {}", number + 1, ran.gave.shown())
        });
        Ok(())
    }

    /// A call of `end`.
    pub(super) fn closing(&self, token: &Secret, outcome: Outcome) -> CallOf<'r> {
        CallOf {
            function: Function::End,
            token: Some(token.clone()),
            outcome: Some(outcome),
            ..self.usual()
        }
    }
}
