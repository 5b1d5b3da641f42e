//! From a source to a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use opal_core::gather;
use opal_core::hash::Algorithm;
use opal_core::inventory::{CACHED, MAY_SKIP};
use opal_core::keys::Keys;
use opal_core::on::ON;
use opal_core::plan::{Arg, Key, Plan, PlanValue, Read, Step, Target};
use opal_core::resolver::{Probe, Trouble};
use opal_core::selection::Selection;
use opal_core::{Code, Data, Diagnostic, Registry, Span, Value, diagnostic};
use opal_plan::check::{self, Checked};
use opal_plan::plan::{Purpose, Request, Resolved, Unplanned, plan};
use opal_plan::unit::Unit;

use crate::module::arguments;
use crate::source::{Form, Loaded};

/// What is planned: a source and a target in it.
#[derive(Debug)]
pub struct Subject<'s> {
    pub loaded: &'s Loaded,
    /// None for the script.
    pub function: Option<String>,
    pub arguments: BTreeMap<String, Value>,
}

/// A program without mistakes.
#[derive(Debug)]
pub enum Program {
    Language(Checked),
    /// Of a configuration, or of a run of a module.
    Lowered(Unit),
}

impl Program {
    fn unit(&self) -> &Unit {
        match self {
            Self::Language(checked) => checked.unit(),
            Self::Lowered(unit) => unit,
        }
    }
}

/// A program, and what was found beside it.
#[derive(Debug)]
pub struct Examined {
    pub program: Program,
    /// Errors in functions that the target does not reach.
    pub elsewhere: usize,
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug)]
pub struct Aim<'a> {
    pub algorithm: Algorithm,
    pub purpose: Purpose,
    /// The resources that are verified or applied.
    pub selection: Selection<'a>,
    /// Whether the contract lets blocks of `@cached` be skipped.
    pub may_skip: bool,
}

impl<'s> Subject<'s> {
    /// What `plan` was made of, in the source of now.
    #[must_use]
    pub fn of_plan(loaded: &'s Loaded, plan: &Plan) -> Self {
        let script = plan.target.name == Target::SCRIPT;
        Self {
            loaded,
            function: (!script).then(|| plan.target.name.clone()),
            arguments: plan.target.arguments.clone(),
        }
    }

    /// The same on targets, as `--on` names them.
    #[must_use]
    pub fn on(&self, targets: &str) -> Self {
        let mut arguments = self.arguments.clone();
        arguments.insert(ON.to_owned(), Value::String(targets.to_owned().into()));
        Self { loaded: self.loaded, function: self.function.clone(), arguments }
    }

    #[must_use]
    pub fn target(&self) -> &str {
        self.function.as_deref().unwrap_or(Target::SCRIPT)
    }

    /// Looks for mistakes; those that the target does not reach do not stop it.
    pub fn examine(&self, registry: &Registry) -> Result<Examined, Vec<Diagnostic>> {
        let loaded = self.loaded;
        let lowered = |unit| Ok(Examined { program: Program::Lowered(unit), elsewhere: 0 });
        let parse = match &loaded.form {
            Form::Language(parse) => parse,
            Form::Config(Ok(config)) => return lowered(opal_config::lower(config, registry)),
            Form::Module(run) => return lowered(run.unit()),
            Form::Config(Err(errors)) => return Err(errors.clone()),
        };
        let links = &loaded.imports.links;
        let checked = check::check_linked(parse, &loaded.text, links, registry);
        let mut findings = checked.findings(self.function.as_deref());
        findings.errors.extend(loaded.imports.errors.iter().cloned());
        if !findings.errors.is_empty() {
            diagnostic::sort(&mut findings.errors);
            return Err(findings.errors);
        }
        let elsewhere = findings.warnings.iter().filter(|found| found.is_error());
        let elsewhere = elsewhere.map(|found| 1 + found.more).sum();
        Ok(Examined { program: Program::Language(checked), elsewhere })
    }

    /// Plans what was examined.
    pub fn resolve(
        &self,
        registry: &Registry,
        program: &Program,
        Aim { algorithm, purpose, selection, may_skip }: Aim<'_>,
        probe: &dyn Probe,
        keys: &mut dyn Keys,
    ) -> Result<Resolved, Unplanned> {
        let request = Request {
            unit: program.unit(),
            registry,
            text: self.loaded.parse().map(|parse| (parse, self.loaded.text.as_str())),
            function: self.function.as_deref(),
            arguments: &self.arguments,
            algorithm,
            purpose,
            selection,
        };
        let mut resolved = plan(&request, probe, keys)?;
        if may_skip {
            permit_skips(&mut resolved.plan.steps);
        }
        if purpose == Purpose::Contract {
            compare_unread(self.loaded, &mut resolved.plan, probe, keys)?;
        }
        // A unit may have been planned without the text beside it, or be of several files.
        if self.loaded.parse().is_none() || !self.loaded.imports.files.is_empty() {
            resolved.plan.source_hash = self.loaded.source_hash(algorithm);
        }
        Ok(resolved)
    }

    /// Where the first step starts, in a process whose directory is `here`: the steps of a function
    /// and of a configuration beside their file, those of a script and of the user's tasks where opal
    /// was called.
    #[must_use]
    pub fn start_from(&self, here: &Path) -> PathBuf {
        let is_script = self.function.is_none() && !self.loaded.is_config();
        if is_script || self.loaded.is_global { here.to_owned() } else { self.base_from(here) }
    }

    /// The directory of the source: relative paths of resources begin there.
    #[must_use]
    pub fn base_from(&self, here: &Path) -> PathBuf {
        match self.loaded.path.parent() {
            // Joined with nothing, a path would end in a slash, which steps could see.
            Some(folder) if folder != Path::new("") => here.join(folder),
            _ => here.to_owned(),
        }
    }
}

/// Marks every block of `@cached`: the contract lets it be skipped.
fn permit_skips(steps: &mut [Step]) {
    for step in steps {
        if step.node.is_decorator(CACHED) {
            step.args.push((MAY_SKIP.into(), Arg::Const(Value::Bool(true))));
            step.sort_args();
        }
        permit_skips(&mut step.block);
    }
}

/// Whether a plan lets blocks of `@cached` be skipped.
#[must_use]
pub fn permits_skips(plan: &Plan) -> bool {
    plan.all_steps().any(|step| step.node.is_decorator(CACHED) && step.arg(MAY_SKIP).is_some())
}

/// Adds what no step reads and the run depends on, so that a contract compares it: the variables that
/// files set, which programs get, and the directory in which the tasks of the user start.
fn compare_unread(
    loaded: &Loaded,
    plan: &mut Plan,
    probe: &dyn Probe,
    keys: &mut dyn Keys,
) -> Result<(), Unplanned> {
    for name in probe.declared() {
        let found = probe.env(&name).map_err(unplanned)?;
        if let Some(value) = found {
            let key = Key::from(format!("env.{name}"));
            compare(plan, keys, ("env", key), &Data::Text(value), None)?;
        }
    }
    if loaded.is_global {
        // Two names that are not text could look the same.
        let caller = probe.caller().into_os_string().into_string().map_err(|_| {
            let message = "the name of the directory in which the task would start is not UTF-8";
            let error = Diagnostic::new(Code::ValueFailed, Span::at(0), message);
            Unplanned::Errors(vec![error.help("make the contract in another directory")])
        })?;
        let public = Value::String(caller.clone().into());
        let name = "cli.directory";
        compare(plan, keys, (name, Key::from(name)), &Data::text(caller), Some(public))?;
    }
    gather::sort_by(&mut plan.reads, |a, b| a.key.cmp(&b.key));
    Ok(())
}

fn unplanned(trouble: Trouble) -> Unplanned {
    let error = Diagnostic::new(Code::ValueFailed, Span::at(0), trouble.message);
    let help = trouble.help.into_iter().map(String::from);
    Unplanned::Errors(vec![help.fold(error, Diagnostic::help)])
}

/// Adds a value to what is compared, unless a step reads it.
fn compare(
    plan: &mut Plan,
    keys: &mut dyn Keys,
    (decorator, key): (&'static str, Key),
    value: &Data,
    public: Option<Value>,
) -> Result<(), Unplanned> {
    if plan.values.contains_key(&key) {
        return Ok(());
    }
    let made_with = keys.placeholder_key().map_err(Unplanned::Key)?;
    let placeholder = made_with.placeholder(plan.algorithm, &key, value);
    if !plan.reads.iter().any(|read| read.key == key) {
        plan.reads.push(Read {
            key: key.clone(),
            decorator: decorator.into(),
            placeholder: Some(placeholder.clone()),
            public: public.clone(),
        });
    }
    let roots = BTreeSet::from([key.clone()]);
    let holders = BTreeSet::new();
    plan.values.insert(key, PlanValue { placeholder, public, roots, holders, schema: None });
    Ok(())
}

/// What a record calls the target of a plan: the function, the module, or the file name of the script,
/// so that scripts do not share their records.
#[must_use]
pub fn record_name<'a>(source: &'a Path, plan: &'a Plan) -> &'a str {
    let name = plan.target.name.as_str();
    let file = source.file_name().and_then(std::ffi::OsStr::to_str);
    let module = arguments::text(&plan.target, arguments::MODULE);
    module.or(file).filter(|_| name == Target::SCRIPT).unwrap_or(name)
}
