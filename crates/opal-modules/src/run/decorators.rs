//! The decorators of a run: `@module.run`, `@module.tool`, `@module.check`, `@module.probe`, and the
//! value `@module.input`.
//!
//! They know the run that they belong to, so they are made for it and live as long as the process.

mod checks;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use opal_core::action::{Action, Conditions, Directory, Halt, Stage};
use opal_core::decorator::{
    Block, Capability, Descriptor, Effect, Exposure, Param, Presence, Returns,
};
use opal_core::files::{Attributes, Existing, Files};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};
use opal_core::types::TypeRef;
use opal_core::{Data, Secret, Type};
use serde_json::{Map, Value, json};

use super::active::Run;
use super::driver::{Place, Request, document};
use super::prepared::Prepared;
use super::{finish, workspace};
use crate::NotFound;
use crate::keep::{Exposed, HIDDEN, Instance, Unkept};
use opal_core::gather::Gather as _;

const fn words(name: &'static str, docs: &'static str) -> Param {
    let ty = Type::Array(TypeRef::Static(&Type::String));
    Param { name, ty, presence: Presence::Optional, docs, ..Param::BASE }
}

static RUN_PARAMS: [Param; 13] = [
    Param::required("module", "the reference of the module"),
    Param::required("command", "the action"),
    Param::required("driver", "the driver"),
    Param::required("profile", "the profile"),
    Param::required("policy", "what is in them"),
    Param::required("pack", "the pack"),
    Param::required("digest", "what is in those"),
    Param::optional("instance", "which one of several"),
    words("credentials", "the credentials of its tools"),
    words("dependencies", "its dependencies"),
    Param {
        name: "hooks",
        ty: Type::Map(TypeRef::Static(&Type::Any)),
        presence: Presence::Optional,
        docs: "the settings of the hooks of the driver and the profile",
        ..Param::BASE
    },
    words("publish", "the outputs that other modules see"),
    Param {
        name: "inputs",
        ty: Type::Map(TypeRef::Static(&Type::Any)),
        docs: "the inputs of the module",
        ..Param::BASE
    },
];

/// What a plan of this run is made and run with, besides the built-in decorators.
#[must_use]
pub fn descriptors(run: &Arc<Run>) -> [&'static Descriptor; 5] {
    let enter: &'static Enter = Box::leak(Box::new(Enter(Arc::clone(run))));
    let hidden: &'static Hidden = Box::leak(Box::new(Hidden(Arc::clone(run))));
    let labelled: &'static Labelled = Box::leak(Box::new(Labelled(Arc::clone(run))));
    let leak = |descriptor| -> &'static Descriptor { Box::leak(Box::new(descriptor)) };
    let [check, probe] = checks::descriptors(run);
    [
        leak(check),
        leak(probe),
        leak(Descriptor {
            path: "module.input",
            summary: "a secret input of the module",
            params: INPUT_PARAMS,
            returns: Some(Returns { version: "1.0.0", ty: Type::Any }),
            effect: Effect::Read,
            exposure: Exposure::Secret,
            resolver: Some(hidden),
            ..Descriptor::BASE
        }),
        leak(Descriptor {
            path: "module.run",
            summary: "run the tools of a module in a copy of its pack",
            params: &RUN_PARAMS,
            block: Block::Required,
            capabilities: &[Capability::FilesRead, Capability::FilesWrite],
            action: Some(enter),
            ..Descriptor::BASE
        }),
        leak(Descriptor {
            path: "module.tool",
            summary: "a tool, and the name of its evidence",
            params: TOOL_PARAMS,
            block: Block::Required,
            action: Some(labelled),
            ..Descriptor::BASE
        }),
    ]
}

static INPUT_PARAMS: &[Param] = &[Param::required("at", "its place, as a JSON pointer")];
static TOOL_PARAMS: &[Param] = &[Param::required("label", "the name of its evidence")];

/// `@module.input`.
#[derive(Debug)]
struct Hidden(Arc<Run>);

impl Resolver for Hidden {
    fn resolve(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        let at = inputs.text("at").unwrap_or_default();
        self.0.prepared.secrets.get(at).cloned().ok_or_else(|| {
            let message = format!("no secret input at `{at}`");
            Trouble::new(TroubleKind::Missing, message, "check the inputs of the module")
        })
    }
}

/// `@module.tool`.
#[derive(Debug)]
struct Labelled(Arc<Run>);

impl Action for Labelled {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let ran = stage.block(&Conditions::default());
        let label = inputs.text("label").unwrap_or_default();
        if self.0.prepared.work.tells_earlier_outputs(label) {
            // What the tools after it print is hidden as they print it.
            finish::earlier(&self.0);
        }
        ran.map(|()| Data::Null)
    }
}

/// `@module.run`.
#[derive(Debug)]
struct Enter(Arc<Run>);

impl Action for Enter {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let run = &self.0;
        let given = inputs.data("inputs").map(json_of);
        let Some(Value::Object(given)) = given else { return Ok(Data::Null) };
        run.in_clear.sweep(&run.prepared, &*stage.files());
        let mut written = Vec::new();
        let set_up = self.set_up(&given, &mut written, &*stage.files());
        let ran = match set_up {
            Ok(variables) => self.run_tools(variables, stage),
            Err(trouble) => Err(stage.fail(1, trouble)),
        };
        self.wipe(&given, &written, &*stage.files());
        ran.map(|()| Data::Null)
    }
}

impl Enter {
    fn run_tools(
        &self,
        mut variables: BTreeMap<String, Secret>,
        stage: &mut dyn Stage,
    ) -> Result<(), Halt> {
        self.policy_variables(&mut variables, stage)?;
        let path = self.0.stack().display().to_string();
        stage.block(&Conditions {
            directory: Some(Directory { path, create: false }),
            environment: variables,
            ..Conditions::default()
        })
    }

    /// Takes the secrets out of what was written for the tools, which have read it. What there is no
    /// room for without them is removed.
    fn wipe(&self, given: &Map<String, Value>, written: &[String], files: &dyn Files) {
        let Run { prepared, in_clear, .. } = &*self.0;
        let (stack, secrets) = (self.0.stack(), &prepared.secrets);
        let written = if secrets.is_empty() { &[] } else { written };
        let mut listed = written.iter().chain(prepared.work.files_of_outputs()).peekable();
        if listed.peek().is_some() {
            in_clear.remove_copies(&stack, listed, files);
        }
        let mut shown = Value::Object(given.clone());
        for at in secrets.keys() {
            shown.pointer_mut(at).into_iter().for_each(|value| *value = HIDDEN.into());
        }
        let shown = shown.as_object().map(document).unwrap_or_else(|| Secret::new(""));
        for name in written {
            let path = stack.join(name);
            let is_shown = INPUTS.contains(&name.as_str()) && write(&path, &shown, files).is_ok();
            if !is_shown && let Err(trouble) = files.remove(&path, false) {
                let why = trouble.message;
                in_clear.stays(format!("a secret input may still be in clear: {why}"));
            }
        }
    }

    /// Copies the pack and writes what the tools read. Gives the variables that they get; the names of
    /// the files that may hold an input are in `names`, also where not all could be written.
    fn set_up(
        &self,
        given: &Map<String, Value>,
        names: &mut Vec<String>,
        files: &dyn Files,
    ) -> Result<BTreeMap<String, Secret>, Trouble> {
        let run = &self.0;
        let prepared = &run.prepared;
        let stack = run.stack();
        let root = prepared.root.path();
        make_private(&stack, root, files)?;
        prepared.pack.copy(&stack, files)?;
        for outputs in prepared.work.files_of_outputs().chain(&prepared.work.report) {
            // What a pack brings along was put out by nobody.
            files.remove(&stack.join(outputs), false)?;
        }
        let (id, memory) = (run.id.to_string(), prepared.memory());
        make_private(&memory, root, files)?;
        let colour = run.colour.load(Ordering::Relaxed);
        let place = Place { run_id: &id, stack: &stack, memory: &memory, root, colour };
        let find = |name: &str| prepared.programs.find(name);
        // The copy is what the plan was made with; the pack may have changed since.
        let request = Request { stack: &stack, ..prepared.request(given, &find) };
        let setting = prepared.driver.setting(&request, &place).map_err(refused)?;
        let mut written: BTreeMap<String, Secret> =
            INPUTS.into_iter().map(|name| (name.to_owned(), document(given))).gathered();
        written.extend(setting.files);
        names.extend(written.keys().cloned());
        let outputs = prepared.work.files_of_outputs();
        let exposed: Vec<String> = names.iter().chain(outputs).cloned().collect();
        let list = Exposed::begin(&prepared.root, &prepared.spec.module_ref, &run.id, &exposed);
        run.in_clear.begin(list.map_err(unlisted)?);
        written.insert("hyops.meta.json".to_owned(), document(&self.facts()));
        for (path, text) in written {
            let path = stack.join(path);
            path.parent().map_or(Ok(()), |folder| make_private(folder, &stack, files))?;
            write(&path, &text, files)?;
        }
        let mut variables = self.variables();
        variables.extend(setting.variables);
        Ok(variables)
    }

    /// What the tools can know about the run.
    fn facts(&self) -> Map<String, Value> {
        let Prepared { spec, instance, command, .. } = &self.0.prepared;
        let facts = json!({
            "command": command.name(),
            "driver": spec.execution.driver.as_str(),
            "module_id": spec.module_ref.id(),
            "module_ref": spec.module_ref.as_str(),
            "pack_id": spec.execution.pack.as_str(),
            "profile_ref": spec.execution.profile.as_str(),
            "run_id": self.0.id.to_string(),
            "state_instance": instance.as_ref().map(Instance::as_str),
        });
        match facts {
            Value::Object(facts) => facts,
            _ => Map::new(),
        }
    }

    fn variables(&self) -> BTreeMap<String, Secret> {
        let run = &self.0;
        let prepared = &run.prepared;
        let shown = |path: &Path| path.display().to_string();
        let stack = run.stack();
        let mut variables: BTreeMap<String, Secret> = [
            ("HYOPS_COMMAND", prepared.command.name().to_owned()),
            ("HYOPS_INPUTS_FILE", shown(&stack.join("hyops.inputs.json"))),
            ("HYOPS_MODULE_REF", prepared.spec.module_ref.as_str().to_owned()),
            ("HYOPS_RUNTIME_ROOT", shown(prepared.root.path())),
            ("HYOPS_RUN_ID", run.id.to_string()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Secret::new(value)))
        .gathered();
        if let Some(outputs) = &prepared.work.outputs {
            let path = Secret::new(shown(&stack.join(outputs)));
            variables.insert("HYOPS_OUTPUTS_FILE".to_owned(), path);
        }
        if let Some(Ok(name)) = workspace::name(prepared) {
            variables.insert(workspace::VARIABLE.to_owned(), Secret::new(name));
        }
        let paths = prepared.credentials.variables().into_iter();
        variables.extend(paths.map(|(name, path)| (name, Secret::new(shown(&path)))));
        variables.extend(prepared.credentials.environment.clone());
        variables
    }

    /// The variables of the profile; what is set outside wins over them.
    fn policy_variables(
        &self,
        variables: &mut BTreeMap<String, Secret>,
        stage: &dyn Stage,
    ) -> Result<(), Halt> {
        for (name, value) in &self.0.prepared.profile.env {
            let is_set = stage.probe().env(name).map_err(|trouble| stage.fail(1, trouble))?;
            if is_set.is_none() && !variables.contains_key(name) {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                variables.insert(name.clone(), Secret::new(text));
            }
        }
        Ok(())
    }
}

/// The files that hold all inputs, for tools of any kind.
const INPUTS: [&str; 2] = ["hyops.inputs.json", "inputs.auto.tfvars.json"];

const PRIVATE: Attributes = Attributes { mode: Some(0o700), owner: None, group: None };

/// Makes a directory and those between it and `above`, each for the owner alone; those that are there
/// stay as they are.
fn make_private(path: &Path, above: &Path, files: &dyn Files) -> Result<(), Trouble> {
    let below = |folder: &&Path| *folder != above && folder.starts_with(above);
    let folders: Vec<&Path> = path.ancestors().take_while(below).collect();
    let mut missing = folders.into_iter().rev().filter(|folder| !folder.exists());
    missing.try_for_each(|folder| files.make_directory(folder, &PRIVATE))
}

fn write(path: &Path, text: &Secret, files: &dyn Files) -> Result<(), Trouble> {
    let attributes = Attributes { mode: Some(0o600), ..Attributes::default() };
    let mut pending = files.write(path, &attributes, Existing::Replaced)?;
    pending.write_all(text.expose().as_bytes()).map_err(|error| {
        let message = format!("`{}` cannot be written: {error}", path.display());
        Trouble::new(TroubleKind::Failed, message, "check the disk below the runtime root")
    })?;
    pending.keep()
}

fn unlisted(unkept: Unkept) -> Trouble {
    Trouble::new(TroubleKind::Failed, unkept.to_string(), unkept.help())
}

fn refused(missing: NotFound) -> Trouble {
    Trouble::new(TroubleKind::Failed, missing.message, missing.help)
}

/// As the tools read it.
fn json_of(data: &Data) -> Value {
    match data {
        Data::Null => Value::Null,
        Data::Bool(value) => Value::Bool(*value),
        Data::Int(value) => Value::from(*value),
        Data::Float(value) => Value::from(*value),
        Data::Text(text) => Value::String(text.expose().to_owned()),
        Data::Duration(duration) => Value::String(duration.to_string()),
        Data::Array(items) => Value::Array(items.iter().map(json_of).collect()),
        Data::Map(fields) => Value::Object(
            fields.iter().map(|(key, value)| (key.clone(), json_of(value))).gathered(),
        ),
    }
}
