//! What is kept of a run of a module: evidence while it goes on, its result and its state at the end.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use opal_core::plan::{Plan, Step};
use opal_core::resolver::Probe;
use opal_exec::execute::Outcome;
use opal_modules::keep::{Evidence, Stamp, State, ToolEnd, ToolStep, Unkept, stamp, time};
use opal_modules::run::finish::{self, End};
use opal_modules::run::preflight::{Check, preflight};
use opal_modules::run::{Run, Tool};
use opal_vault::event::{End as Ended, Event, Finished, Kind, Started};
use opal_vault::witness::Recorder as _;
use serde_json::{Value, json};

use super::judge;

/// How a run is kept.
#[derive(Clone, Debug)]
pub struct Setup<'s> {
    /// Where the evidence goes.
    pub folder: PathBuf,
    /// Why the preflight is skipped, where it is.
    pub skip_preflight: Option<&'s str>,
    /// The version of opal.
    pub version: &'s str,
    /// The process.
    pub pid: u32,
    pub clock: fn() -> SystemTime,
}

/// Keeps one run.
pub struct Keeping<'k> {
    run: &'k Run,
    setup: Setup<'k>,
    evidence: OnceCell<Evidence<'k>>,
    /// Of the module while the run goes on; none where the run leaves it alone.
    state: RefCell<Option<State>>,
}

/// Why a run does not begin.
#[derive(Debug)]
pub enum NotBegun {
    /// The state of the module cannot be read.
    State(Unkept),
    /// The evidence cannot be written.
    Evidence(Unkept),
    /// The preflight has found faults, which the evidence has.
    Unready { error: String, help: Vec<String> },
}

/// A run that has ended, and has been kept as far as that was possible.
#[derive(Debug)]
pub struct KeptEnd<'e> {
    pub result: finish::Result,
    kept: Result<(), Unkept>,
    trouble: Option<&'e Unkept>,
}

impl KeptEnd<'_> {
    /// What could not be kept.
    #[must_use]
    pub fn unkept(&self) -> Option<&Unkept> {
        self.kept.as_ref().err().or(self.trouble)
    }
}

impl std::fmt::Debug for Keeping<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeping").field("folder", &self.setup.folder).finish_non_exhaustive()
    }
}

impl<'k> Keeping<'k> {
    #[must_use]
    pub fn new(run: &'k Run, setup: Setup<'k>) -> Self {
        Self { run, setup, evidence: OnceCell::new(), state: RefCell::new(None) }
    }

    /// Where the evidence is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.setup.folder
    }

    /// Opens the evidence, and looks whether the run can begin, with the tools of `machine`.
    pub fn begin(
        &self,
        plan: &Plan,
        machine: Option<&dyn Probe>,
    ) -> Result<&Evidence<'k>, NotBegun> {
        let prepared = &self.run.prepared;
        if prepared.command.changes() {
            // What cannot be read stops everything else: before a contract is used up.
            State::seen(&prepared.state()).map_err(NotBegun::State)?;
        }
        let (folder, vault) = (self.setup.folder.clone(), &self.run.vault);
        let began = Evidence::begin(folder, self.tools(plan), vault).map_err(NotBegun::Evidence)?;
        let evidence = self.evidence.get_or_init(|| began);
        let reported = Stamp {
            version: self.setup.version,
            command: prepared.command.name(),
            run_id: &self.run.id,
            evidence: &self.setup.folder,
            pid: self.setup.pid,
            at: (self.setup.clock)(),
        };
        stamp(&prepared.root, &reported, vault);
        let checks = match (self.setup.skip_preflight, machine) {
            (None, Some(machine)) => preflight(prepared, machine),
            _ => Vec::new(),
        };
        let faults = || checks.iter().filter_map(|check| check.fault.as_ref());
        let all: Vec<Value> = checks.iter().map(Check::json).collect();
        let preflight = match self.setup.skip_preflight {
            Some(reason) => json!({"skipped": true, "reason": reason}),
            None => json!({"skipped": false, "ok": faults().next().is_none(), "checks": all}),
        };
        finish::introduce(self.run, evidence, preflight).map_err(NotBegun::Evidence)?;
        if faults().next().is_none() {
            return Ok(evidence);
        }
        let messages: Vec<&str> = faults().map(|(message, _)| message.as_str()).collect();
        let error = messages.join("; ");
        self.tell_missing(plan, evidence, &checks);
        self.abandon(&error);
        Err(NotBegun::Unready { error, help: faults().map(|(_, help)| help.clone()).collect() })
    }

    /// Right before the first step: the state says that the module is being changed. `basis` is the
    /// digest of what the run rests on.
    pub fn set_off(&self, basis: Option<String>) -> Result<(), Unkept> {
        if !self.run.prepared.command.changes() {
            return Ok(());
        }
        let path = self.run.prepared.state();
        let earlier = State::seen(&path)?;
        let now = time((self.setup.clock)());
        let (pid, folder) = (self.setup.pid, &self.setup.folder);
        let begun = finish::begun(self.run, &now, pid, earlier.as_ref(), folder);
        let state = State { basis_digest: basis, ..begun };
        state.write(&path, &self.run.vault)?;
        self.state.replace(Some(state));
        Ok(())
    }

    /// Nothing is run after all, and why.
    pub fn abandon(&self, why: &str) {
        let Some(evidence) = self.evidence.get() else { return };
        evidence.finish((self.setup.clock)());
        let why = self.run.vault.scrub(why).text().into_owned();
        let result = finish::result(self.run, End::Failed, Some(why), &[]);
        // The reason is reported in any case.
        let _ = finish::conclude(self.run, evidence, &result, None);
    }

    /// After the last step: the result, and the state of the module. None where nothing has begun.
    pub fn end(&self, outcome: &Outcome, is_interrupted: bool) -> Option<KeptEnd<'_>> {
        let (run, vault) = (self.run, &self.run.vault);
        let evidence = self.evidence.get()?;
        let tools = evidence.finish((self.setup.clock)());
        let finished = judge::Finished { run, evidence, outcome, tools: &tools, is_interrupted };
        let judge::Judgement { end, message } = finished.judge();
        let message = message.map(|message| vault.scrub(&message).text().into_owned());
        // What a probe has found is a difference, not a failure of the run.
        let (error, found) = if end == End::Differs { (None, message) } else { (message, None) };
        let mut result = finish::result(run, end, error, &tools);
        result.warnings.extend(found);
        result.warnings.extend(tools.iter().flat_map(ToolEnd::warnings));
        result.warnings.extend(run.prepared.failed_hooks(&tools));
        let has_escapes = tools.iter().any(|tool| tool.had_escapes);
        let scrubbed = match result.has_put_out || has_escapes {
            true => finish::scrub_again(evidence, &tools, vault),
            false => Ok(()),
        };
        let at = time((self.setup.clock)());
        let state = self.state.take().map(|state| finish::ended(state, run, &result, &at));
        // The state first: what the evidence says of it is true then.
        let path = run.prepared.state();
        let kept = state.as_ref().map_or(Ok(()), |state| state.write(&path, vault));
        let state = state.filter(|_| kept.is_ok());
        let concluded = finish::conclude(run, evidence, &result, state.as_ref());
        let kept = kept.and(concluded).and(scrubbed);
        Some(KeptEnd { result, kept, trouble: evidence.trouble() })
    }

    /// The tools in the order of the plan, which is that of the driver; hooks are after them.
    fn tools(&self, plan: &Plan) -> Vec<ToolStep> {
        let mut paths = Vec::new();
        collect(&plan.steps, &mut paths);
        let step = |(tool, path): (Tool, String)| {
            let (label, argv) = (tool.label, tool.words);
            ToolStep { path, label, argv, cwd: self.run.stack() }
        };
        self.run.prepared.tools().zip(paths).map(step).collect()
    }

    /// The evidence of a tool that is not there says so as a shell would.
    fn tell_missing(&self, plan: &Plan, evidence: &Evidence<'_>, checks: &[Check]) {
        let is_missing = |tool: &ToolStep| {
            let program = tool.argv.first().map_or("", String::as_str);
            checks.iter().any(|check| check.misses_tool(program))
        };
        let tools = self.tools(plan);
        let Some(tool) = tools.iter().find(|tool| is_missing(tool)) else { return };
        let (at, path) = ((self.setup.clock)(), tool.path.as_str());
        let started = Started {
            number: 1,
            path,
            decorator: "@module.tool",
            attempt: 1,
            text: self.run.vault.scrub(&tool.argv.join(" ")),
            is_block: true,
            speaks: false,
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
            passes_on: false,
            is_own_limit: false,
            late: None,
            message: Some(self.run.vault.scrub(&message)),
        };
        // The reason is reported in any case.
        let _ =
            evidence.event(&Event { at, target: None, alike: None, kind: Kind::Started(started) });
        let _ = evidence.event(&Event {
            at,
            target: None,
            alike: None,
            kind: Kind::Finished(finished),
        });
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
