//! What is kept of a run of a module: evidence while it goes on, its result and its state at the end.

mod judge;

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use opal_core::plan::{Plan, Step};
use opal_exec::execute::Outcome;
use opal_modules::keep::{Evidence, Stamp, State, ToolEnd, ToolStep, Unkept, stamp, time};
use opal_modules::run::Run;
use opal_modules::run::finish::{self, End};
use opal_modules::run::preflight::{Check, preflight};
use opal_modules::run::{Command, Tool};
use opal_vault::Vault;
use opal_vault::event::{End as Ended, Event, Finished, Kind, Started, Status};
use opal_vault::witness::Recorder;
use serde_json::{Value, json};

use super::basis::basis;
use super::machine::machine;
use super::settings::Settings;
use crate::commands::execute::keeper::{Keeper, Last};
use crate::context::Context;
use crate::failure::module::unwritten;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::signals::Watched;
use crate::view::ink::Ink;
use crate::view::{error_json, module as view};

pub(crate) struct Keeping<'k> {
    context: &'k Context<'k>,
    options: &'k PlanOptions,
    run: &'k Run,
    watched: &'k Watched,
    vault: &'k Vault,
    folder: PathBuf,
    /// Whether that place was named by itself.
    has_out_dir: bool,
    skip_preflight: Option<&'k str>,
    /// The command that makes its contract anew, where it is the run of one.
    anew: Option<String>,
    /// Who takes what would be printed as JSON.
    gathered: Option<&'k RefCell<Vec<Value>>>,
    is_json: bool,
    is_quiet: bool,
    ink: Ink,
    evidence: OnceCell<Evidence<'k>>,
    /// Of the module while the run goes on; none where the run leaves it alone.
    state: RefCell<Option<State>>,
}

impl std::fmt::Debug for Keeping<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeping").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl<'k> Keeping<'k> {
    pub(crate) fn new(
        context: &'k Context<'k>,
        asked: &'k Asked,
        settings: &'k Settings,
        run: &'k Run,
        watched: &'k Watched,
    ) -> Self {
        let module = &run.prepared.spec.module_ref;
        let shows = context.out().colour && !asked.stdout_is_json();
        run.colour.store(shows, Ordering::Relaxed);
        Self {
            context,
            options: &asked.plan,
            run,
            watched,
            vault: &run.vault,
            folder: settings.root.module_evidence(module, &run.id, settings.out_dir.as_deref()),
            has_out_dir: settings.out_dir.is_some(),
            skip_preflight: settings.skip_preflight.as_deref(),
            anew: None,
            gathered: settings.gathered.as_ref(),
            is_json: asked.plan.is_json(),
            is_quiet: asked.run.quiet,
            ink: context.err(),
            evidence: OnceCell::new(),
            state: RefCell::new(None),
        }
    }

    /// The same for the run of a contract.
    pub(crate) fn of_contract(self, anew: Option<String>) -> Self {
        Self { anew, ..self }
    }

    /// Opens the evidence, and says what the run is.
    fn open(&self, plan: &Plan) -> Result<(&Evidence<'k>, Vec<Check>), Failure> {
        let began = Evidence::begin(self.folder.clone(), self.tools(plan), self.vault)
            .map_err(|unkept| self.unkept(&unkept))?;
        let evidence = self.evidence.get_or_init(|| began);
        let told = Stamp {
            version: env!("CARGO_PKG_VERSION"),
            command: self.run.prepared.command.name(),
            run_id: &self.run.id,
            evidence: &self.folder,
            pid: std::process::id(),
            at: SystemTime::now(),
        };
        stamp(&self.run.prepared.root, &told, self.vault);
        let checks = match self.skip_preflight {
            Some(_) => Vec::new(),
            None => {
                let machine = machine(self.context, &self.options.env_files)?;
                preflight(&self.run.prepared, &machine.stopped_by(self.watched.stop()))
            }
        };
        let all: Vec<Value> = checks.iter().map(Check::json).collect();
        let ok = checks.iter().all(|check| check.fault.is_none());
        let preflight = match self.skip_preflight {
            Some(reason) => json!({"skipped": true, "reason": reason}),
            None => json!({"skipped": false, "ok": ok, "checks": all}),
        };
        finish::introduce(self.run, evidence, preflight).map_err(|unkept| self.unkept(&unkept))?;
        Ok((evidence, checks))
    }

    /// What of the evidence cannot be written, with the option that names its place.
    fn unkept(&self, unkept: &Unkept) -> Failure {
        if !self.has_out_dir || !unkept.path.starts_with(&self.folder) {
            return unwritten(unkept);
        }
        Failure::new(Exit::Write, unkept.to_string(), unkept.help_with("--out-dir DIR"))
    }

    /// The tools in the order of the plan, which is that of the driver; hooks are behind them.
    fn tools(&self, plan: &Plan) -> Vec<ToolStep> {
        let mut paths = Vec::new();
        collect(&plan.steps, &mut paths);
        let step = |(tool, path): (Tool, String)| {
            let (label, argv) = (tool.label, tool.words);
            ToolStep { path, label, argv, cwd: self.run.stack() }
        };
        self.run.prepared.tools().zip(paths).map(step).collect()
    }

    /// Says that nothing runs, and why.
    fn refuse(&self, plan: &Plan, evidence: &Evidence<'_>, checks: &[Check]) -> Failure {
        let faults: Vec<&(String, String)> =
            checks.iter().filter_map(|check| check.fault.as_ref()).collect();
        let error =
            faults.iter().map(|(message, _)| message.as_str()).collect::<Vec<_>>().join("; ");
        self.tell_missing(plan, evidence, checks);
        self.abandon(&error);
        let mut failure = Failure::new(
            // A tool that is asked for its version stops with opal.
            self.watched.exit().unwrap_or(Exit::Unavailable),
            format!("`{}` cannot be run: {error}", self.run.prepared.spec.module_ref),
            format!("nothing was run; the evidence is in `{}`", self.folder.display()),
        );
        for (_, help) in faults {
            failure = failure.help(help.clone());
        }
        let reason = "`--skip-preflight=REASON`";
        failure.help(match &self.anew {
            None => format!("{reason} runs all the same, and keeps the reason"),
            Some(anew) => format!("a contract that runs all the same: add {reason} to `{anew}`"),
        })
    }

    /// The evidence of a tool that is not there says so as a shell would.
    fn tell_missing(&self, plan: &Plan, evidence: &Evidence<'_>, checks: &[Check]) {
        let is_missing = |tool: &ToolStep| {
            let name = format!("tool:{}", tool.argv.first().map_or("", String::as_str));
            checks.iter().any(|check| check.name == name && check.fault.is_some())
        };
        let tools = self.tools(plan);
        let Some(tool) = tools.iter().find(|tool| is_missing(tool)) else { return };
        let (at, path) = (SystemTime::now(), tool.path.as_str());
        let started = Started {
            number: 1,
            path,
            decorator: "@module.tool",
            attempt: 1,
            text: self.vault.scrub(&tool.argv.join(" ")),
            is_block: true,
            branch: None,
        };
        let message =
            format!("{}: command not found\n", tool.argv.first().map_or("", String::as_str));
        let finished = Finished {
            number: 1,
            path,
            decorator: "@module.tool",
            attempt: 1,
            took: Duration::ZERO,
            code: 127,
            end: Ended::Failed,
            is_block: true,
            message: Some(self.vault.scrub(&message)),
        };
        // The reason is told in any case.
        let _ = evidence.event(&Event { at, kind: Kind::Started(started) });
        let _ = evidence.event(&Event { at, kind: Kind::Finished(finished) });
    }

    fn last(&self, result: &finish::Result, (status, code): (Status, i32)) -> Last {
        let (status, code) = match result.end {
            End::Ok => (status, code),
            End::Differs => (Status::Executed, i32::from(Exit::Differs.code())),
            // As everywhere, 1 is for a difference: this one could not look.
            End::Failed if self.run.prepared.command == Command::Verify => {
                (Status::Failed, i32::from(Exit::NotLooked.code()))
            }
            // The tools did well, and what they have put out makes no sense, or they had nothing to do.
            End::Failed if code == 0 => (Status::Failed, i32::from(Exit::Source.code())),
            End::Failed => (status, code),
            End::Cancelled => {
                (Status::Interrupted, self.watched.exit().map_or(code, |exit| exit.code().into()))
            }
        };
        let prepared = &self.run.prepared;
        let help = format!("the evidence is in `{}`", self.folder.display());
        let json = json!({
            "version": 1,
            "module_ref": prepared.spec.module_ref.as_str(),
            "state_instance": prepared.instance.as_ref().map(|it| it.as_str()),
            "command": prepared.command.name(),
            "run_id": self.run.id.as_str(),
            "status": result.end.name(),
            "exit_code": code,
            "evidence_dir": self.folder.to_string_lossy(),
            "outputs": result.outputs,
            "warnings": result.warnings,
            "error": result.error.as_deref().map(|error| error_json(error, &[help])),
        });
        // Whatever came from a tool has been through the scrubber when it is seen.
        let told = ["/outputs/*", "/warnings", "/error/message"];
        let mut json = Some(self.vault.document(&json, &told));
        if let Some(gathered) = self.gathered {
            gathered.borrow_mut().extend(json.take());
        }
        let is_told = !self.is_quiet || result.end != End::Ok;
        let text = is_told.then(|| view::ended(self.run, result, &self.folder, self.ink));
        let text = text.unwrap_or_default();
        let text = self.vault.scrub(&text).text().into_owned();
        Last { status, code, json, text }
    }
}

/// The paths of the tools of a plan.
fn collect(steps: &[Step], paths: &mut Vec<String>) {
    for step in steps {
        match step.node.path() {
            Some("module.tool" | "module.check" | "module.probe") => {
                paths.push(step.path.to_string())
            }
            _ => collect(&step.block, paths),
        }
    }
}

impl Keeper for Keeping<'_> {
    fn vault(&self) -> &Vault {
        self.vault
    }

    fn begin(&self, plan: &Plan) -> Result<&dyn Recorder, Failure> {
        if self.run.prepared.command.changes() {
            // What cannot be read stands in the way of everything else: before a contract is used up.
            State::seen(&self.run.prepared.state()).map_err(|unkept| unwritten(&unkept))?;
        }
        let (evidence, checks) = self.open(plan)?;
        if checks.iter().any(|check| check.fault.is_some()) {
            return Err(self.refuse(plan, evidence, &checks));
        }
        if !self.is_json && !self.is_quiet {
            view::begun(self.run, Path::new(&self.folder));
        }
        Ok(evidence)
    }

    fn set_off(&self) -> Result<(), Failure> {
        if self.run.prepared.command.changes() {
            let path = self.run.prepared.state();
            let earlier = State::seen(&path).map_err(|unkept| unwritten(&unkept))?;
            let (now, pid) = (time(SystemTime::now()), std::process::id());
            let begun = finish::begun(self.run, &now, pid, earlier.as_ref(), &self.folder);
            let basis_digest = basis(self.context, self.options, &self.run.prepared)?;
            let state = State { basis_digest, ..begun };
            state.write(&path, self.vault).map_err(|unkept| unwritten(&unkept))?;
            self.state.replace(Some(state));
        }
        Ok(())
    }

    fn abandon(&self, why: &str) {
        let Some(evidence) = self.evidence.get() else { return };
        evidence.finish(SystemTime::now());
        let why = self.vault.scrub(why).text().into_owned();
        let result = finish::result(self.run, (End::Failed, Some(why)), &[]);
        // The reason is told in any case.
        let _ = finish::conclude(self.run, evidence, &result, None);
    }

    fn end(&self, outcome: &Outcome, ending: (Status, i32)) -> Result<Last, Failure> {
        let Some(evidence) = self.evidence.get() else {
            return Err(Failure::new(Exit::Bug, "the run has no evidence", "report this"));
        };
        let tools = evidence.finish(SystemTime::now());
        let (end, error) = self.judge(outcome, &tools);
        let error = error.map(|error| self.vault.scrub(&error).text().into_owned());
        // What a probe has found is a difference, and no failure of the run.
        let (error, found) = if end == End::Differs { (None, error) } else { (error, None) };
        let mut result = finish::result(self.run, (end, error), &tools);
        result.warnings.extend(found);
        result.warnings.extend(tools.iter().flat_map(ToolEnd::warnings));
        result.warnings.extend(self.run.prepared.failed_hooks(&tools));
        let has_escapes = tools.iter().any(|tool| tool.had_escapes);
        let scrubbed = match result.has_put_out || has_escapes {
            true => finish::scrub_again(evidence, &tools, self.vault),
            false => Ok(()),
        };
        let at = time(SystemTime::now());
        let state = self.state.take().map(|state| finish::ended(state, self.run, &result, &at));
        // The state first: what the evidence says of it is true then.
        let path = self.run.prepared.state();
        let kept = state.as_ref().map_or(Ok(()), |state| state.write(&path, self.vault));
        let state = state.filter(|_| kept.is_ok());
        let concluded = finish::conclude(self.run, evidence, &result, state.as_ref());
        let kept = kept.and(concluded).and(scrubbed);
        match kept.as_ref().err().or(evidence.trouble()) {
            None => Ok(self.last(&result, ending)),
            // A program still learns which run it was.
            Some(unkept) if self.is_json => {
                (result.end, result.error) = (End::Failed, Some(unkept.to_string()));
                result.outputs.clear();
                Ok(self.last(&result, (Status::Failed, Exit::Write.code().into())))
            }
            Some(unkept) => Err(self.unkept(unkept)),
        }
    }
}
