//! `iac/terragrunt`: a stack of Terraform's language, with or without a `terragrunt.hcl`.
//!
//! Terragrunt runs it where it is installed. A stack that needs nothing of Terragrunt runs on `tofu` or
//! `terraform` directly, with the same evidence. Where neither the pack nor the profile says where state
//! is kept, it is kept below the runtime root: every run has a fresh copy of the stack.

mod literal;
mod stack;

use std::collections::BTreeMap;

use opal_core::Secret;
use serde_json::{Map, Value, json};

use super::common::{self, OUTPUTS, Section};
use crate::run::Command;
use crate::run::driver::{
    Driver, Outputs, OwnSection, Place, Request, Setting, Tool, Work, document,
};
use crate::{BackendMode, NotFound, Profile};
use opal_core::gather::Gather as _;
use stack::{Backend, Stack};

/// What a plan with `-detailed-exitcode` says where something would change.
const DIFFERS: i32 = 2;

const PROGRAM: &str = "terragrunt";

/// What can run a plain stack, the first that is there.
const DIRECT: [&str; 2] = ["tofu", "terraform"];

static SECTION: OwnSection = OwnSection {
    name: "terragrunt",
    keys: &[
        "apply_args",
        "bin",
        "destroy_args",
        "init_args",
        "output_args",
        "plan_args",
        "terraform_bin",
        "validate_args",
    ],
};

/// Sets the backend aside that a stack does not say.
const BACKEND: &str = "hyops_override.tf.json";

/// The literal inputs of a `terragrunt.hcl`: weaker than `inputs.auto.tfvars.json`, which comes later.
const LITERALS: &str = "hyops.auto.tfvars.json";

/// The inputs, as the runtime writes them.
const INPUTS: &str = "inputs.auto.tfvars.json";

/// The outputs that there were before the run.
const EARLIER_OUTPUTS: &str = "hyops.outputs.before.json";

/// Variables of Terraform that say what it works on, besides arguments: which state, and where it keeps
/// which one that is. `TF_VAR_` is weaker than the files of the inputs, and stays.
const ASTRAY: [&str; 2] = ["TF_DATA_DIR", "TF_WORKSPACE"];

/// The same of Terragrunt, after `TERRAGRUNT_` or `TG_`.
const ASTRAY_TERRAGRUNT: [&str; 24] = [
    "AUTO_APPROVE",
    "CONFIG",
    "DOWNLOAD",
    "DOWNLOAD_DIR",
    "EXCLUDES_FILE",
    "EXCLUDE_DIR",
    "INCLUDE_DIR",
    "JSON_OUT_DIR",
    "NO_AUTO_APPROVE",
    "NO_AUTO_INIT",
    "OUT_DIR",
    "QUEUE_EXCLUDES_FILE",
    "QUEUE_EXCLUDE_DIR",
    "QUEUE_EXCLUDE_EXTERNAL",
    "QUEUE_INCLUDE_DIR",
    "QUEUE_STRICT_INCLUDE",
    "SOURCE",
    "SOURCE_MAP",
    "SOURCE_UPDATE",
    "STRICT_INCLUDE",
    "TFPATH",
    "TF_PATH",
    "WORKING_DIR",
    "WORKING_DIRECTORY",
];

#[derive(Debug)]
pub(super) struct Terragrunt;

impl Driver for Terragrunt {
    fn reference(&self) -> &'static str {
        "iac/terragrunt"
    }

    fn section(&self) -> Option<&'static OwnSection> {
        Some(&SECTION)
    }

    fn programs(&self, settings: &Map<String, Value>) -> Option<Vec<String>> {
        let section = Section::of(settings, &SECTION).ok();
        let named = |key| section.and_then(|section| section.word(key).ok().flatten());
        let direct = named("terraform_bin").map_or_else(|| DIRECT.to_vec(), |it| vec![it]);
        let all = std::iter::once(named("bin").unwrap_or(PROGRAM)).chain(direct);
        Some(all.map(str::to_owned).collect())
    }

    fn work(&self, request: &Request<'_>) -> Result<Work, NotFound> {
        let section = Section::of(&request.profile.settings, &SECTION)?;
        let stack = Stack::read(request)?;
        let engine = Engine::choose(request, &section, &stack)?;
        let command = request.command.of_tools();
        let steps: &[Step] = match command {
            Command::Apply | Command::Deploy => &[INIT, KNOWN, APPLY, OUTPUT],
            Command::Plan => &[INIT, KNOWN, PLAN],
            Command::Verify => &[INIT, KNOWN, LOOK],
            Command::Validate => &[INIT, VALIDATE],
            Command::Destroy => &[INIT, KNOWN, DESTROY],
        };
        let tools = steps.iter().map(|step| step.tool(&engine, &section));
        let mut warnings = Vec::new();
        warnings.extend(mode_warning(request, &stack));
        if let Some(needs) =
            stack.needs.as_ref().filter(|_| !common::is_there(request, &engine.program))
        {
            warnings.push(format!("only terragrunt can run this stack: it has {needs}"));
        }
        let facts = Map::from_iter([
            ("backend".to_owned(), stack.backend.name().into()),
            ("engine".to_owned(), engine.program.clone().into()),
            ("needs_terragrunt".to_owned(), stack.needs.clone().into()),
            ("source".to_owned(), stack.source.clone().into()),
        ]);
        let tools = tools.collect::<Result<_, _>>()?;
        let file = |name: &str| (command != Command::Validate).then(|| name.to_owned());
        let (outputs, earlier_outputs) = (file(OUTPUTS), file(EARLIER_OUTPUTS));
        Ok(Work { tools, outputs, earlier_outputs, report: None, facts, warnings })
    }

    fn setting(&self, request: &Request<'_>, place: &Place<'_>) -> Result<Setting, NotFound> {
        let stack = Stack::read(request)?;
        let templates = request.templates.iter();
        let mut files: BTreeMap<String, Secret> =
            templates.map(|(path, text)| (path.clone(), Secret::new(text.clone()))).gathered();
        let mut own = BTreeMap::new();
        if stack.backend == Backend::Unsaid {
            own.insert(BACKEND, document(&local_backend(place)));
        }
        if !stack.inputs.is_empty() {
            own.insert(LITERALS, document(&stack.inputs));
        }
        // Terragrunt takes what is beside its file along to the source; without it, nobody does.
        if let Some(source) = &stack.source {
            files.insert(format!("{source}/{INPUTS}"), document(request.inputs));
            files.extend(own.iter().map(|(name, text)| (format!("{source}/{name}"), text.clone())));
        }
        files.extend(own.into_iter().map(|(name, text)| (name.to_owned(), text)));
        Ok(Setting { files, variables: variables(request, place)? })
    }

    fn outputs(&self, text: &str) -> Result<Outputs, String> {
        let unread = || "the output of `output -json` does not contain outputs".to_owned();
        let Ok(Value::Object(found)) = serde_json::from_str(text) else { return Err(unread()) };
        let mut outputs = Outputs::default();
        for (name, output) in found {
            let Value::Object(mut output) = output else { return Err(unread()) };
            let value = output.remove("value").ok_or_else(unread)?;
            if output.get("sensitive") == Some(&Value::Bool(true)) {
                outputs.sensitive.push(name.clone());
            }
            outputs.values.insert(name, value);
        }
        Ok(outputs)
    }

    fn differs(&self, code: i32, _: Option<&str>) -> Result<bool, String> {
        Ok(code == DIFFERS)
    }

    fn is_led_astray_by(&self, variable: &str) -> bool {
        let own = ["TERRAGRUNT_", "TG_"].iter().find_map(|prefix| variable.strip_prefix(prefix));
        let is_argument = || variable.strip_prefix("TF_CLI_ARGS").is_some_and(is_end);
        own.is_some_and(|own| ASTRAY_TERRAGRUNT.contains(&own))
            || ASTRAY.contains(&variable)
            || is_argument()
    }
}

/// The program that runs a stack.
#[derive(Debug)]
struct Engine {
    program: String,
    /// Where it finds its files, if it does not look for them itself.
    folder: Option<String>,
}

impl Engine {
    fn choose(
        request: &Request<'_>,
        section: &Section<'_>,
        stack: &Stack,
    ) -> Result<Self, NotFound> {
        let terragrunt = section.word("bin")?.unwrap_or(PROGRAM);
        let named = section.word("terraform_bin")?;
        let direct = named
            .or_else(|| DIRECT.into_iter().find(|it| common::is_there(request, it)))
            .filter(|it| common::is_there(request, it));
        let is_terragrunt = stack.has_config
            && (stack.needs.is_some() || common::is_there(request, terragrunt) || direct.is_none());
        Ok(if is_terragrunt {
            Self { program: terragrunt.to_owned(), folder: None }
        } else {
            let program = direct.or(named).unwrap_or("tofu").to_owned();
            Self { program, folder: stack.source.clone() }
        })
    }
}

/// What is done, and with which arguments if the profile says none.
#[derive(Debug)]
struct Step {
    name: &'static str,
    usual: &'static [&'static str],
    /// What is not for the profile to leave out.
    needed: &'static [&'static str],
    /// What its evidence is called, after the name of the driver.
    label: &'static str,
    /// See [`Tool::stdout`].
    stdout: Option<&'static str>,
    /// See [`Tool::runs_anyway`].
    runs_anyway: bool,
    /// See [`Tool::may_fail`].
    may_fail: bool,
}

const NO_COLOR: &[&str] = &["-no-color"];
const NO_QUESTIONS: &[&str] = &["-input=false"];
const APPROVED: &[&str] = &["-auto-approve"];

// Colours are not for the words of a command: a plan is the same on a terminal and without one.
const INIT: Step = Step::new("init", &[], NO_QUESTIONS);
const PLAN: Step = Step::new("plan", &[], NO_QUESTIONS);
const LOOK: Step = Step { needed: &["-input=false", "-detailed-exitcode"], ..PLAN };
const APPLY: Step = Step::new("apply", APPROVED, NO_QUESTIONS);
const DESTROY: Step = Step::new("destroy", APPROVED, NO_QUESTIONS);
const VALIDATE: Step = Step::new("validate", &[], &[]);
/// An apply that has failed may have printed what only its outputs call sensitive.
const OUTPUT: Step =
    Step { stdout: Some(OUTPUTS), runs_anyway: true, ..Step::new("output", NO_COLOR, &["-json"]) };
/// The outputs that there are already: what is checked, replaced or taken down is printed, and
/// nobody could ask for it afterwards. Where nothing was applied yet there may be none to ask for.
const KNOWN: Step = Step {
    label: "output_before",
    stdout: Some(EARLIER_OUTPUTS),
    runs_anyway: false,
    may_fail: true,
    ..OUTPUT
};

impl Step {
    const fn new(
        name: &'static str,
        usual: &'static [&'static str],
        needed: &'static [&'static str],
    ) -> Self {
        let (label, stdout) = (name, None);
        Self { name, usual, needed, label, stdout, runs_anyway: false, may_fail: false }
    }

    fn tool(&self, engine: &Engine, section: &Section<'_>) -> Result<Tool, NotFound> {
        let key = format!("{}_args", self.name);
        let mut arguments = match section.words(&key)? {
            Some(words) => words,
            None => std::iter::once(self.name)
                .chain(self.usual.iter().copied())
                .map(str::to_owned)
                .collect(),
        };
        // Arguments of a check that begin with `apply` would not make it a check.
        if arguments.first().is_none_or(|first| first != self.name) {
            let example = format!("[{}, …]", self.name);
            return Err(section.unfit(&key, "a list that begins with the command", &example));
        }
        self.needed.iter().for_each(|argument| common::ensure(&mut arguments, argument));
        let folder = engine.folder.iter().map(|folder| format!("-chdir={folder}"));
        let words =
            std::iter::once(engine.program.clone()).chain(folder).chain(arguments).collect();
        let stdout = self.stdout.map(str::to_owned);
        let label = format!("terragrunt_{}", self.label);
        let Self { runs_anyway, may_fail, .. } = *self;
        Ok(Tool { label, words, stdout, runs_anyway, may_fail })
    }
}

/// Whether `TF_CLI_ARGS` ends here, or goes on with a command: `_apply`.
fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('_')
}

/// State that outlives the run, that of every workspace too.
fn local_backend(place: &Place<'_>) -> Map<String, Value> {
    let below = |name: &str| place.memory.join(name).display().to_string();
    let backend = json!({"path": below("terraform.tfstate"), "workspace_dir": below("workspaces")});
    Map::from_iter([("terraform".to_owned(), json!({"backend": {"local": backend}}))])
}

fn variables(
    request: &Request<'_>,
    place: &Place<'_>,
) -> Result<BTreeMap<String, Secret>, NotFound> {
    let mut variables: BTreeMap<&str, String> = BTreeMap::from([
        ("CHECKPOINT_DISABLE", "1".to_owned()),
        ("HYOPS_TERRAFORM_BACKEND_MODE", mode(request).1.to_owned()),
        ("TERRAGRUNT_NON_INTERACTIVE", "true".to_owned()),
        ("TF_INPUT", "0".to_owned()),
        ("TF_IN_AUTOMATION", "1".to_owned()),
        ("TG_NON_INTERACTIVE", "true".to_owned()),
    ]);
    if !place.colour {
        let own = request.profile.env.get("TF_CLI_ARGS").and_then(Value::as_str);
        let arguments = own.map(|own| format!("-no-color {own}"));
        variables.insert("TF_CLI_ARGS", arguments.unwrap_or_else(|| "-no-color".to_owned()));
        variables.insert("TERRAGRUNT_NO_COLOR", "true".to_owned());
        variables.insert("TG_NO_COLOR", "true".to_owned());
    }
    if let Some(program) =
        Section::of(&request.profile.settings, &SECTION)?.word("terraform_bin")?
    {
        variables.insert("TERRAGRUNT_TFPATH", program.to_owned());
        variables.insert("TG_TF_PATH", program.to_owned());
    }
    let plugins = place.root.join("cache/terraform/plugins");
    if plugins.is_dir() {
        variables.insert("TF_PLUGIN_CACHE_DIR", plugins.display().to_string());
    }
    let owned = |(name, value): (&str, String)| (name.to_owned(), Secret::new(value));
    Ok(variables.into_iter().map(owned).gathered())
}

/// Where the templates of the profile are to keep state, and the key that says so. That of the state
/// counts before that of the workspace; `workspace_policy` is about where the tool runs, and often says
/// `local` beside state that is kept elsewhere.
fn mode<'r>(request: &Request<'r>) -> (&'static str, &'r str) {
    let Profile { policy, settings, .. } = request.profile;
    let said = |key, mode: Option<BackendMode>| mode.map(|mode| (key, mode.name()));
    let execution = settings.get("workspace_policy").and_then(|policy| policy.get("mode"));
    said("policy.workspace.backend_mode", policy.workspace.backend_mode)
        .or_else(|| said("policy.workspace.mode", policy.workspace.mode))
        .or_else(|| Some(("workspace_policy.mode", execution?.as_str()?)))
        .unwrap_or(("workspace_policy.mode", BackendMode::Local.name()))
}

/// What is reported about a mode that nothing here applies.
fn mode_warning(request: &Request<'_>, stack: &Stack) -> Option<String> {
    let (key, mode) = mode(request);
    let what_then = match stack.backend {
        Backend::Unsaid => {
            "it does not configure where state is stored, so state is stored on this machine"
        }
        Backend::Pack | Backend::Profile => "workspaces are not created or named",
    };
    (mode != BackendMode::Local.name())
        .then(|| format!("`{key}: {mode}` is passed to the stack; {what_then}"))
}
