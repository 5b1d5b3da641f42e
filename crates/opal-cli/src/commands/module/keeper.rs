//! The keeper of a run of a module: what its use case finds, as failures and last words.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use opal_core::plan::Plan;
use opal_core::resolver::Probe;
use opal_exec::execute::Outcome;
use opal_modules::keep::Unkept;
use opal_modules::run::finish::{self, End};
use opal_modules::run::{Command, Run};
use opal_ops::module::{self, NotBegun, Setup};
use opal_vault::Vault;
use opal_vault::event::Status;
use opal_vault::witness::Recorder;
use serde_json::{Value, json};

use super::basis::basis;
use super::machine::machine;
use super::settings::Settings;
use crate::commands::execute::keeper::{Keeper, Last, RunEnd};
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
    keeping: module::Keeping<'k>,
    /// Whether the place of the evidence was named by itself.
    has_out_dir: bool,
    is_preflight_skipped: bool,
    /// The command that makes a new contract, where it is the run of one.
    new_contract: Option<String>,
    /// Takes what would be printed as JSON.
    gathered: Option<&'k RefCell<Vec<Value>>>,
    is_json: bool,
    is_quiet: bool,
    ink: Ink,
}

impl std::fmt::Debug for Keeping<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeping").field("keeping", &self.keeping).finish_non_exhaustive()
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
        let shows = context.out().colour && !asked.stdout_is_json();
        run.colour.store(shows, Ordering::Relaxed);
        let (module, out_dir) = (&run.prepared.spec.module_ref, settings.out_dir.as_deref());
        let setup = Setup {
            folder: settings.root.module_evidence(module, &run.id, out_dir),
            skip_preflight: settings.skip_preflight.as_deref(),
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            clock: crate::clock::now,
        };
        Self {
            context,
            options: &asked.plan,
            run,
            watched,
            keeping: module::Keeping::new(run, setup),
            has_out_dir: out_dir.is_some(),
            is_preflight_skipped: settings.skip_preflight.is_some(),
            new_contract: None,
            gathered: settings.gathered.as_ref(),
            is_json: asked.plan.is_json(),
            is_quiet: asked.run.quiet,
            ink: context.err(),
        }
    }

    /// The same for the run of a contract.
    pub(crate) fn of_contract(self, new_contract: Option<String>) -> Self {
        Self { new_contract, ..self }
    }

    /// What of the evidence cannot be written, with the option that names its place.
    fn unkept(&self, unkept: &Unkept) -> Failure {
        if !self.has_out_dir || !unkept.path.starts_with(self.keeping.folder()) {
            return unwritten(unkept);
        }
        Failure::new(Exit::Write, unkept.to_string(), unkept.help_with("--out-dir DIR"))
    }

    fn not_begun(&self, why: NotBegun) -> Failure {
        let (error, helps) = match why {
            NotBegun::State(unkept) => return unwritten(&unkept),
            NotBegun::Evidence(unkept) => return self.unkept(&unkept),
            NotBegun::Unready { error, help } => (error, help),
        };
        let failure = Failure::new(
            // A tool that is asked for its version stops with opal.
            self.watched.exit().unwrap_or(Exit::Unavailable),
            format!("`{}` cannot be run: {error}", self.run.prepared.spec.module_ref),
            format!("nothing was run; the evidence is in `{}`", self.keeping.folder().display()),
        );
        let failure = helps.into_iter().fold(failure, Failure::help);
        let reason = "`--skip-preflight=REASON`";
        failure.help(match &self.new_contract {
            None => format!("to run anyway, add {reason}; the reason is recorded"),
            Some(command) => {
                format!("a contract that runs all the same: add {reason} to `{command}`")
            }
        })
    }

    fn last(&self, result: &finish::Result, RunEnd { status, code }: RunEnd) -> Last {
        let (status, code) = match result.end {
            End::Ok => (status, code),
            End::Differs => (Status::Executed, i32::from(Exit::Differs.code())),
            // As everywhere, 1 is for a difference: this one could not look.
            End::Failed if self.run.prepared.command == Command::Verify => {
                (Status::Failed, i32::from(Exit::Unverified.code()))
            }
            // The tools did well, and what they have put out makes no sense, or they had nothing to do.
            End::Failed if code == 0 => (Status::Failed, i32::from(Exit::Source.code())),
            End::Failed => (status, code),
            End::Cancelled => {
                (Status::Interrupted, self.watched.exit().map_or(code, |exit| exit.code().into()))
            }
        };
        let prepared = &self.run.prepared;
        let help = format!("the evidence is in `{}`", self.keeping.folder().display());
        let json = json!({
            "version": 1,
            "module_ref": prepared.spec.module_ref.as_str(),
            "state_instance": prepared.instance.as_ref().map(|it| it.as_str()),
            "command": prepared.command.name(),
            "run_id": self.run.id.as_str(),
            "status": result.end.name(),
            "exit_code": code,
            "evidence_dir": self.keeping.folder().to_string_lossy(),
            "outputs": result.outputs,
            "warnings": result.warnings,
            "error": result.error.as_deref().map(|error| error_json(error, &[help])),
        });
        // Whatever came from a tool has been through the scrubber when it is seen.
        let told = ["/outputs/*", "/warnings", "/error/message"];
        let document = self.run.vault.document(&json, &told);
        let mut json = Some(document.clone());
        if let Some(gathered) = self.gathered {
            gathered.borrow_mut().extend(json.take());
        }
        let is_told = !self.is_quiet || result.end != End::Ok;
        let text = is_told.then(|| view::ended(self.run, result, self.keeping.folder(), self.ink));
        let text = text.unwrap_or_default();
        let text = self.run.vault.scrub(&text).text().into_owned();
        Last { end: RunEnd { status, code }, document, json, text }
    }
}

impl Keeper for Keeping<'_> {
    fn vault(&self) -> &Vault {
        &self.run.vault
    }

    fn begin(&self, plan: &Plan) -> Result<&dyn Recorder, Failure> {
        let machine = match self.is_preflight_skipped {
            true => None,
            false => {
                let machine = machine(self.context, &self.options.env_files)?;
                Some(machine.stopped_by(self.watched.stop()))
            }
        };
        let machine = machine.as_ref().map(|machine| machine as &dyn Probe);
        let evidence = self.keeping.begin(plan, machine).map_err(|why| self.not_begun(why))?;
        if !self.is_json && !self.is_quiet {
            view::begun(self.run, self.keeping.folder());
        }
        Ok(evidence)
    }

    fn set_off(&self) -> Result<(), Failure> {
        let basis = match self.run.prepared.command.changes() {
            true => basis(self.context, self.options, &self.run.prepared)?,
            false => None,
        };
        self.keeping.set_off(basis).map_err(|unkept| unwritten(&unkept))
    }

    fn abandon(&self, why: &str) {
        self.keeping.abandon(why);
    }

    fn end(&self, outcome: &Outcome, ending: RunEnd) -> Result<Last, Failure> {
        let Some(mut end) = self.keeping.end(outcome, self.watched.exit().is_some()) else {
            return Err(Failure::new(Exit::Bug, "the run has no evidence", "report this"));
        };
        match end.unkept().map(|unkept| (unkept.to_string(), self.unkept(unkept))) {
            None => Ok(self.last(&end.result, ending)),
            // A program still learns which run it was.
            Some((why, _)) if self.is_json => {
                (end.result.end, end.result.error) = (End::Failed, Some(why));
                end.result.outputs.clear();
                Ok(self.last(
                    &end.result,
                    RunEnd { status: Status::Failed, code: Exit::Write.code().into() },
                ))
            }
            Some((_, failure)) => Err(failure),
        }
    }
}
