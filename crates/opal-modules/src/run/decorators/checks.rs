//! `@module.check` and `@module.probe`: what is checked after the tools. Both only read.

use std::sync::Arc;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Param};
use opal_core::resolver::{Inputs, Trouble, TroubleKind};
use opal_core::types::TypeRef;
use opal_core::{Data, Type};
use serde_json::{Map, Value};

use crate::constraint;
use crate::keep::{HIDDEN, State};
use crate::run::active::Run;
use crate::run::probes::{UNASKED, UNMET};
use crate::run::{Command, finish};

static CHECK_PARAMS: [Param; 1] = [Param {
    name: "constraints",
    ty: Type::Array(TypeRef::Static(&Type::Any)),
    docs: "the conditions for the outputs",
    ..Param::BASE
}];

static PROBE_PARAMS: [Param; 5] = [
    Param::required("name", "the name of its evidence"),
    Param::required("kind", "the kind of probe: `http`, `tcp` or `file`"),
    Param::required("target", "the URL, the port or the file"),
    Param {
        name: "timeout",
        ty: Type::Duration,
        docs: "how long one attempt may take",
        ..Param::BASE
    },
    Param::optional("contains", "a text that the response must contain"),
];

pub(super) fn descriptors(run: &Arc<Run>) -> [Descriptor; 2] {
    let check: &'static Check = Box::leak(Box::new(Check(Arc::clone(run))));
    let ask: &'static Ask = Box::leak(Box::new(Ask(Arc::clone(run))));
    [
        Descriptor {
            path: "module.check",
            summary: "check the outputs of a module against its constraints",
            params: &CHECK_PARAMS,
            action: Some(check),
            ..Descriptor::BASE
        },
        Descriptor {
            path: "module.probe",
            summary: "check that the result of a module works",
            params: &PROBE_PARAMS,
            capabilities: &[Capability::FilesRead, Capability::Network],
            action: Some(ask),
            ..Descriptor::BASE
        },
    ]
}

/// `@module.check`.
#[derive(Debug)]
struct Check(Arc<Run>);

impl Action for Check {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let prepared = &self.0.prepared;
        let outputs = finish::put_out(&self.0).map_err(|why| stage.fail(UNASKED, unread(why)))?;
        let faults = constraint::of_outputs(&prepared.spec.constraints, &outputs, &prepared.inputs);
        if faults.is_empty() {
            return Ok(Data::Null);
        }
        let message = format!("the outputs violate the constraints: {}", faults.join("; "));
        let help = "see `constraints` of the spec";
        Err(stage.fail(UNMET, Trouble::new(TroubleKind::Failed, message, help)))
    }
}

/// `@module.probe`.
#[derive(Debug)]
struct Ask(Arc<Run>);

impl Action for Ask {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let name = inputs.text("name").unwrap_or_default();
        let mut probes = self.0.prepared.probes.iter();
        let Some(own) = probes.find(|probe| probe.name == name) else { return Ok(Data::Null) };
        let outputs = self.published().map_err(|why| stage.fail(UNASKED, unread(why)))?;
        let asked = own.ask(&outputs, &*stage.probe());
        asked.map(|()| Data::Null).map_err(|unmet| stage.fail(unmet.code, unmet.trouble))
    }
}

impl Ask {
    /// What the tools of an apply have put out, or what the last apply has published. Nothing secret is
    /// among it.
    fn published(&self) -> Result<Map<String, Value>, String> {
        let prepared = &self.0.prepared;
        let mut outputs = if prepared.command.of_tools() == Command::Apply {
            finish::put_out(&self.0)?
        } else {
            let state = State::seen(&prepared.state()).map_err(|unkept| unkept.to_string())?;
            state.map(|state| state.outputs).unwrap_or_default()
        };
        let publish = &prepared.spec.publish;
        outputs.retain(|name, value| {
            publish.contains(name) && finish::shown(value, &self.0.vault).1 == finish::Hiding::None
        });
        outputs.retain(|_, value| *value != HIDDEN);
        Ok(outputs)
    }
}

fn unread(why: String) -> Trouble {
    Trouble::new(TroubleKind::Failed, why, "see the evidence of the tools")
}
