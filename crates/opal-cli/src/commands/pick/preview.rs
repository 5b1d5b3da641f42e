//! What is shown of the task that is marked: its documentation, its parameters, its quick plan.

use std::cell::RefCell;
use std::collections::BTreeMap;

use opal_core::gather::Gather as _;
use opal_core::view::{PlanFormatter as _, Tree};
use opal_ops::planning::Subject;
use opal_plan::plan::Purpose;

use crate::context::Context;
use crate::failure::Failure;
use crate::options::Asked;
use crate::project::Chosen;
use crate::tasks::{Task, TaskParam};
use crate::view::diagnostics::visible;
use crate::{planning, source};

/// The most lines of a plan.
const PLAN_LINES: usize = 12;

pub(super) struct Preview<'p> {
    context: &'p Context<'p>,
    chosen: &'p Chosen,
    asked: Asked,
    colour: bool,
    /// What was shown already: each plan is made once.
    known: RefCell<BTreeMap<String, Vec<String>>>,
}

impl<'p> Preview<'p> {
    pub(super) fn new(
        context: &'p Context<'p>,
        chosen: &'p Chosen,
        colour: bool,
    ) -> Result<Self, Failure> {
        let asked = Asked::before(&context.typed.before)?;
        Ok(Self { context, chosen, asked, colour, known: RefCell::default() })
    }

    pub(super) fn of(&self, task: &Task) -> Vec<String> {
        let mut known = self.known.borrow_mut();
        known.entry(task.name.clone()).or_insert_with(|| self.lines(task)).clone()
    }

    fn lines(&self, task: &Task) -> Vec<String> {
        let mut lines: Vec<String> = task.docs.lines().map(visible).collect();
        lines.extend(task.params.iter().map(parameter));
        let needs: Vec<String> = task
            .params
            .iter()
            .filter(|param| param.default.is_none() && !param.rest)
            .map(|param| visible(&param.name))
            .collect();
        let plan = match needs.is_empty() {
            true => self.plan(task),
            false => vec![format!("its plan depends on {}", needs.join(" and "))],
        };
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(plan.iter().take(PLAN_LINES).cloned());
        if plan.len() > PLAN_LINES {
            lines.push(format!("… {} more lines", plan.len() - PLAN_LINES));
        }
        lines
    }

    /// The quick plan as a tree, up to its first empty line: facts and hashes are below it.
    fn plan(&self, task: &Task) -> Vec<String> {
        let made = self.made(task);
        made.map_or_else(
            |why| vec![format!("no plan: {}", visible(&why))],
            |tree| tree.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect(),
        )
    }

    fn made(&self, task: &Task) -> Result<String, String> {
        let context = self.context;
        let mut loaded = source::read(self.chosen, &context.registry)
            .map_err(|not| not.into_failure().message)?;
        source::task(&mut loaded, &task.name, &context.registry).map_err(|it| it.message)?;
        let rest = task.params.iter().filter(|param| param.rest);
        let arguments =
            rest.map(|param| (param.name.clone(), opal_core::Value::Array(Vec::new()))).gathered();
        let subject = Subject { loaded: &loaded, function: Some(task.name.clone()), arguments };
        let first = |errors: Vec<opal_core::Diagnostic>| {
            errors.into_iter().next().map(|error| error.message).unwrap_or_default()
        };
        let examined = subject.examine(&context.registry).map_err(first)?;
        let options = &self.asked.plan;
        let world = planning::world(&subject, context, options).map_err(|it| it.message)?;
        let mut keys = planning::passing_keys(&subject, context, options);
        let aim = options.aim(Purpose::Quick);
        let resolved =
            subject.resolve(&context.registry, &examined.program, aim, &world, &mut keys);
        let resolved = resolved.map_err(|why| match why {
            opal_plan::plan::Unplanned::Errors(errors) => first(errors),
            opal_plan::plan::Unplanned::Key(error) => error.to_string(),
        })?;
        let view = planning::view(&resolved, &keys, context, false);
        let bytes = Tree { colour: self.colour }.format(&view);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn parameter(param: &TaskParam) -> String {
    let mut line = format!("{}  {}", visible(&param.name), visible(&param.type_name()));
    if let Some(default) = &param.default {
        line.push_str(&format!(" = {}", visible(default)));
    }
    if let Some(docs) = &param.docs {
        line.push_str(&format!("  {}", visible(docs)));
    }
    line
}
