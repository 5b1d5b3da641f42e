//! Blocks that run on targets.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use opal_core::boundary::{Boundary, Member};
use opal_core::crossing::{Crossing, Facts, PLACES, TARGETS, places_of};
use opal_core::decorator::Presence;
use opal_core::fleet::MAX_TARGETS;
use opal_core::hosts;
use opal_core::plan::{Arg, Node, Step};
use opal_core::resolver::{Input, Inputs, TroubleKind};
use opal_core::target::{Hop, MAX_LEVELS};
use opal_core::{Code, Data, Diagnostic, Span, Value};

use super::steered;
use crate::plan::call::trouble;
use crate::plan::datum::{Datum, Plain, collect};
use crate::plan::demand::Stop;
use crate::plan::parameters;
use crate::plan::place::Place;
use crate::plan::planner::Planner;
use crate::plan::request::Limited;
use crate::plan::scoped::{ArgName, ArgValue, Block, BoundArg};
use crate::plan::targeted::Targeted;

/// The parameter whose names are checked at once.
const FILES: &str = "files";

/// The parameter that only a secret may be given.
const PASSWORD: &str = "password";

/// The arguments of a block, as far as they are known.
struct Known {
    inputs: Inputs,
    /// Of those that say where the block runs.
    steering: Vec<Datum>,
    /// Whether one of these is left open.
    is_open: bool,
}

impl<'a> Planner<'a> {
    /// Expands a block on each of its targets.
    pub(super) fn on_targets(
        &mut self,
        boundary: &'static dyn Boundary,
        (args, directory): (&[BoundArg], Option<&str>),
        block: &'a Block,
        step: &mut Step,
    ) -> Result<(), Stop> {
        let span = step.span;
        let Known { mut inputs, steering, is_open } = self.known(boundary, args, step)?;
        inputs.project = directory.map(Into::into);
        inputs.target = self.target.as_ref().map(|around| Arc::clone(&around.facts));
        steered("by", &steering, step);
        let is_fleet = boundary.is_fleet(&inputs);
        if is_fleet && self.target.as_ref().is_some_and(|around| around.member.is_some()) {
            let message = "a fleet inside a fleet";
            let help = "put the blocks one after the other, or in `@parallel`";
            return Err(self.misplaced(span, message, help));
        }
        let is_asked = boundary.is_expensive(&inputs);
        let is_left = self.graph.quick && is_asked;
        // Pods inside a host are those that the host sees.
        let around = self.target.as_deref().filter(|_| is_asked && boundary.asks_there());
        let way = around.map(|around| around.way.clone());
        if is_open || is_left || matches!(way, Some(None)) {
            let facts = Facts { name: "?".to_owned(), ..Facts::default() };
            let target = self.targeted(&facts, is_fleet.then_some(1), None);
            return self.on_target(target, block, step);
        }
        let members = self.members(boundary, &inputs, (way.flatten(), directory), span)?;
        let total = members.len();
        let members = self.named(members, is_fleet, step)?;
        let fleet = is_fleet.then_some(members.len());
        let crew = self.crews.len();
        self.begin_crew(&step.path, is_fleet.then_some(total), &inputs);
        self.note_password(args, &members, fleet);
        let mut variants = Vec::new();
        for (at, (index, member)) in members.iter().enumerate() {
            let index = *index;
            self.nests(&member.target.hop, span)?;
            let crossing = boundary.crossing(&inputs, member.target.clone());
            let around = self.target.as_ref().and_then(|around| around.way.clone());
            let way: Vec<_> = around.unwrap_or_default().into_iter().chain([crossing]).collect();
            let facts = Facts { index, ..member.facts.clone() };
            let target = self.targeted(&facts, fleet, Some(way));
            if target.levels() > MAX_LEVELS {
                let message = format!("more than {MAX_LEVELS} targets inside each other");
                let help = "reach the inner one directly";
                return Err(self.misplaced(span, message, help));
            }
            let reads = self.target_reads;
            let mut variant = Step::new(Node::Variant, step.path.clone(), span);
            let mark = self.mark();
            let expanded = self.on_target(target, block, &mut variant);
            let name = member.target.name.as_str();
            self.end_member((crew, is_fleet), name, mark, expanded)?;
            let name = Value::String(name.to_owned().into());
            variant.args.push((TARGETS.into(), Arg::Const(Value::Array(vec![name]))));
            variants.push(variant);
            // The same block for all, where it does not depend on the target.
            if self.target_reads == reads && at == 0 {
                break;
            }
        }
        step.block = match is_fleet {
            true => variants,
            false => variants.into_iter().flat_map(|variant| variant.block).collect(),
        };
        Ok(())
    }

    /// Whom the block leads to.
    fn members(
        &mut self,
        boundary: &'static dyn Boundary,
        inputs: &Inputs,
        (way, directory): (Option<Vec<Crossing>>, Option<&str>),
        span: Span,
    ) -> Result<Vec<Member>, Stop> {
        let members = match way {
            Some(way) => {
                let there = self.probe.reach(&way);
                there.and_then(|there| boundary.targets(inputs, &*there))
            }
            // What a project names is beside it.
            None => match directory {
                Some(directory) => boundary.targets(inputs, &*self.probe.within(directory)),
                None => boundary.targets(inputs, self.probe),
            },
        };
        let members = boundary.check(inputs).and(members);
        members.map_err(|found| {
            let is_invalid = found.kind == TroubleKind::Invalid;
            let error = trouble(found, span);
            let code = if is_invalid { Code::InvalidTarget } else { error.code };
            self.stop(Diagnostic { code, ..error })
        })
    }

    /// Writes into the step which targets `--limit` leaves, each with its place in the fleet.
    fn named(
        &mut self,
        members: Vec<Member>,
        is_fleet: bool,
        step: &mut Step,
    ) -> Result<Vec<(usize, Member)>, Stop> {
        self.count(&members, step.span)?;
        let left = if is_fleet { self.limit(&members, step)? } else { None };
        let total = members.len();
        let members = members.into_iter().enumerate();
        let is_left = |(_, it): &(usize, Member)| {
            left.as_ref().is_none_or(|left| left.contains(it.target.name.as_str()))
        };
        let members: Vec<(usize, Member)> = members.filter(is_left).collect();
        let targets = members.iter().map(|(_, member)| member.target.to_value()).collect();
        step.args.push((TARGETS.into(), Arg::Const(Value::Array(targets))));
        if left.is_some() {
            let places = members.iter().map(|(place, _)| *place);
            step.args.push((PLACES.into(), Arg::Const(places_of(places, total))));
        }
        step.sort_args();
        Ok(members)
    }

    /// The targets of a fleet that `--limit` leaves; none where it says nothing.
    fn limit(&mut self, members: &[Member], step: &Step) -> Result<Option<BTreeSet<String>>, Stop> {
        let Some(pattern) = self.request.selection.limit else { return Ok(None) };
        let known = members.iter().map(|it| (it.target.name.as_str(), &*it.facts.groups));
        let known: Vec<(&str, &[String])> = known.collect();
        let left = hosts::reader().and_then(|reader| reader.limited(pattern, &known));
        let left = left.map_err(|found| self.stop(trouble(found, step.span)))?;
        let Limited { all, left: in_all } = &mut self.limited;
        all.extend(known.iter().map(|(name, _)| (*name).to_owned()));
        in_all.extend(left.iter().cloned());
        Ok(Some(left))
    }

    fn on_target(
        &mut self,
        target: Rc<Targeted>,
        block: &'a Block,
        step: &mut Step,
    ) -> Result<(), Stop> {
        let around = self.target.replace(target);
        let mut inner = Place::new(&*step.path);
        let expanded = self.inside(|this| this.block(block, &mut inner, &mut step.block));
        self.target = around;
        expanded.map(drop)
    }

    /// What is known about the arguments. Of a quick plan only those are asked for that say where the
    /// block runs.
    fn known(
        &mut self,
        boundary: &'static dyn Boundary,
        args: &[BoundArg],
        step: &Step,
    ) -> Result<Known, Stop> {
        let mut known = Known { inputs: Inputs::default(), steering: Vec::new(), is_open: false };
        for arg in args {
            let (ArgName::Param(param), ArgValue::Expr(expr)) = (&arg.param, &arg.value) else {
                continue;
            };
            let steers = boundary.steering().contains(&param.name);
            let is_needed = steers || boundary.needs_all();
            if self.graph.quick && !is_needed && param.name != FILES {
                continue;
            }
            let cell = self.eval(expr);
            let datum = self.decide(&cell, expr.span)?;
            if matches!(datum.plain, Plain::Open(_)) {
                known.is_open |= is_needed;
                continue;
            }
            let checked = parameters::check(param, &datum, arg.span);
            checked.map_err(|error| self.stop(error))?;
            if param.name == PASSWORD {
                self.demand_secret(&datum, arg.span)?;
            }
            if steers {
                self.refuse_secret(&datum, arg.span)?;
                known.steering.push(datum.clone());
            }
            let data = datum.to_data().unwrap_or(Data::Null);
            known.inputs.args.insert(param.name, Input::Data(data));
        }
        let path = step.node.path().unwrap_or_default();
        let descriptor = self.request.registry.get(path);
        for param in descriptor.iter().flat_map(|descriptor| descriptor.params) {
            if let Presence::Default(value) = &param.presence {
                let args = &mut known.inputs.args;
                args.entry(param.name).or_insert_with(|| Input::Data(value.into()));
            }
        }
        Ok(known)
    }

    /// A password in clear would be in the plan, the contract and the record.
    fn demand_secret(&mut self, datum: &Datum, span: Span) -> Result<(), Stop> {
        let mut taints = Vec::new();
        collect(datum, &mut taints);
        // What an earlier step gives is hidden by its class.
        if datum.is_runtime() || taints.iter().any(|taint| taint.class.is_secret()) {
            return Ok(());
        }
        let message = format!("`{PASSWORD}` is not a secret");
        let help = "read it with `@secret.env`, `@secret.file` or `@secret.cmd`";
        Err(self.stop(Diagnostic::new(Code::PlainPassword, span, message).help(help)))
    }

    /// Where a block runs is in the plan for all to see.
    fn refuse_secret(&mut self, datum: &Datum, span: Span) -> Result<(), Stop> {
        let mut taints = Vec::new();
        collect(datum, &mut taints);
        match taints.iter().find(|taint| taint.class.is_secret()) {
            Some(taint) => {
                let message = format!("`{}` is a secret, so it cannot name a target", taint.key);
                let help = "targets are shown in plans: use a value that is not secret, or declare \
                            it with `public=true`";
                Err(self.stop(Diagnostic::new(Code::SecretTarget, span, message).help(help)))
            }
            None => Ok(()),
        }
    }

    /// Whether several targets get one password for `sudo`.
    fn note_password(
        &mut self,
        args: &[BoundArg],
        members: &[(usize, Member)],
        fleet: Option<usize>,
    ) {
        let is_password =
            |arg: &&BoundArg| matches!(&arg.param, ArgName::Param(it) if it.name == PASSWORD);
        let changes_user = |(_, member): &(usize, Member)| {
            matches!(member.target.hop, Hop::User { .. }) || member.target.role.is_some()
        };
        let around = self.target.as_ref().map_or(1, |around| around.count);
        let count = fleet.unwrap_or(around);
        if let Some(arg) = args.iter().find(is_password).filter(|_| count > 1)
            && members.iter().any(changes_user)
        {
            self.shared_passwords.push((arg.span, count));
        }
    }

    fn count(&mut self, members: &[Member], span: Span) -> Result<(), Stop> {
        if members.len() > MAX_TARGETS {
            let message = format!("{} targets are more than {MAX_TARGETS}", members.len());
            let help = "select fewer";
            return Err(self.stop(Diagnostic::new(Code::TooManySteps, span, message).help(help)));
        }
        Ok(())
    }

    /// Whether this can be reached from where the block is.
    fn nests(&mut self, hop: &Hop, span: Span) -> Result<(), Stop> {
        if self.target.is_some() && hop.is_machine() {
            let message = "SSH inside a target";
            let help = "name the host in a block of its own; if it can be reached only from the \
                        other one, use `ProxyJump` in your SSH configuration";
            return Err(self.misplaced(span, message, help));
        }
        Ok(())
    }

    fn misplaced(&mut self, span: Span, message: impl Into<String>, help: &str) -> Stop {
        self.stop(Diagnostic::new(Code::TargetInside, span, message.into()).help(help))
    }

    fn targeted(
        &self,
        facts: &Facts,
        fleet: Option<usize>,
        way: Option<Vec<opal_core::crossing::Crossing>>,
    ) -> Rc<Targeted> {
        let around = self.target.as_deref();
        let before = around.map_or("", |around| &around.names);
        let own = fleet.map(|_| facts.name.as_str().into());
        Rc::new(Targeted {
            names: format!("{before}{}/", facts.name),
            // Of `@as` and containers inside it, `@target` is still the machine.
            facts: around.map_or_else(|| Arc::new(facts.clone()), |it| Arc::clone(&it.facts)),
            way,
            member: around.and_then(|around| around.member.clone()).or(own),
            count: fleet.or(around.map(|around| around.count)).unwrap_or(1),
        })
    }
}
