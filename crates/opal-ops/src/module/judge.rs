//! How a run of a module has ended, by its tools and by who has stopped it.

use opal_core::Secret;
use opal_core::action::{Halt, Why};
use opal_exec::execute::Outcome;
use opal_modules::keep::{Evidence, ToolEnd};
use opal_modules::run::finish::{self, End};
use opal_modules::run::{Command, Run, UNMET};

/// A run whose tools have ended.
#[derive(Debug)]
pub(super) struct Finished<'f> {
    pub(super) run: &'f Run,
    pub(super) evidence: &'f Evidence<'f>,
    pub(super) outcome: &'f Outcome,
    pub(super) tools: &'f [ToolEnd],
    /// Whether a signal has asked for the end.
    pub(super) is_interrupted: bool,
}

/// How a run has ended, and what there is to say about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) end: End,
    pub(super) message: Option<String>,
}

impl Finished<'_> {
    /// How it ended, with the first tool that did not end well.
    pub(super) fn judge(&self) -> Judgement {
        let &Self { run, outcome, tools, is_interrupted, .. } = self;
        let prepared = &run.prepared;
        let failed = tools.iter().find(|tool| tool.rc != 0 && !prepared.may_fail(&tool.label));
        if prepared.command == Command::Verify
            && matches!(outcome.halt, None | Some(Halt::Failed(_)))
            && !is_interrupted
        {
            let unmet = failed.filter(|tool| prepared.is_check(&tool.label) && tool.rc == UNMET);
            let mut own = tools.iter().filter(|tool| !prepared.is_check(&tool.label));
            let own = own
                .clone()
                .find(|tool| tool.rc != 0 && !prepared.may_fail(&tool.label))
                .or(own.next_back());
            match own.map_or(Ok(false), |tool| self.differs(tool)) {
                Ok(false) => {}
                Ok(true) => {
                    let check = failed.filter(|tool| prepared.is_check(&tool.label));
                    let message = check.and_then(|check| check.message.clone());
                    return Judgement::new(End::Differs, message);
                }
                Err(why) => return Judgement::new(End::Failed, Some(why)),
            }
            if let Some(unmet) = unmet {
                return Judgement::new(End::Differs, unmet.message.clone());
            }
        }
        match &outcome.halt {
            // A tool that was asked to stop may call that a success.
            None if !is_interrupted => {
                let missed = self.missed();
                Judgement::new(if missed.is_some() { End::Failed } else { End::Ok }, missed)
            }
            None | Some(Halt::Stopped(Why::Signal(_))) => Judgement::cancelled(),
            // Only what runs anyway has failed, because a terminal tells all that run on it to stop.
            Some(Halt::Failed(_))
                if is_interrupted
                    && failed.is_some_and(|tool| prepared.runs_anyway(&tool.label)) =>
            {
                Judgement::cancelled()
            }
            Some(Halt::Stopped(Why::TimedOut | Why::Cancelled)) => {
                Judgement::new(End::Failed, Some("it timed out".to_owned()))
            }
            Some(Halt::Unrecorded) => {
                let why = self.evidence.trouble().map(ToString::to_string);
                Judgement::new(
                    End::Failed,
                    why.or_else(|| Some("the record cannot be written".to_owned())),
                )
            }
            Some(Halt::Failed(failure)) => {
                let trouble = failure.trouble.as_ref().map(|trouble| trouble.message.to_string());
                let tool = failed.map(ended);
                Judgement::new(
                    End::Failed,
                    trouble.or(tool).or_else(|| Some("it failed".to_owned())),
                )
            }
        }
    }

    /// Whether a tool that was only to look has found a difference; an error where nobody knows.
    fn differs(&self, tool: &ToolEnd) -> Result<bool, String> {
        let report = self.report(tool)?;
        let differs =
            self.run.prepared.driver.differs(tool.rc, report.as_ref().map(Secret::expose));
        differs.map_err(|why| unknown(tool, &why))
    }

    /// Why a tool of the driver has done nothing, though it ended well, or why nobody knows whether it
    /// has.
    fn missed(&self) -> Option<String> {
        let prepared = &self.run.prepared;
        let mut own = self.tools.iter().take(prepared.work.tools.len());
        own.find_map(|tool| {
            let missed = self.report(tool).and_then(|report| {
                let report = report.as_ref().map(Secret::expose);
                prepared.driver.has_missed(tool.rc, report).map_err(|why| unknown(tool, &why))
            });
            match missed {
                Ok(why) => Some(format!("{} did nothing: {}", tool.label, why?)),
                Err(why) => Some(why),
            }
        })
    }

    /// What a tool that ended well has left for the driver to read.
    fn report(&self, tool: &ToolEnd) -> Result<Option<Secret>, String> {
        if tool.rc != 0 {
            return Ok(None);
        }
        finish::report(self.run).map_err(|why| unknown(tool, &why))
    }
}

fn unknown(tool: &ToolEnd, why: &str) -> String {
    format!("{} ended with 0, but nobody knows what it did: {why}", tool.label)
}

impl Judgement {
    fn new(end: End, message: Option<String>) -> Self {
        Self { end, message }
    }

    fn cancelled() -> Self {
        Self::new(End::Cancelled, Some("it was interrupted".to_owned()))
    }
}

/// What a tool ended with, and what that means where it could not be run at all.
fn ended(tool: &ToolEnd) -> String {
    let meaning = match tool.rc {
        126 => ": a command is not executable",
        127 => ": command not found",
        _ => "",
    };
    format!("{} ended with {}{meaning}", tool.label, tool.rc)
}
