//! How a run of a module has ended, by its tools and by who has stopped it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use opal_core::action::{Halt, Why};
use opal_exec::execute::Outcome;
use opal_modules::keep::{Evidence, ToolEnd};
use opal_modules::run::finish::End;
use opal_modules::run::{Command, Run, UNMET};

/// As much of what a tool has printed is searched for a difference.
const MAX_SEARCHED: u64 = 4 << 20;

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
            if own.is_some_and(|it| prepared.driver.differs(it.rc, &self.printed(&it.label))) {
                let check = failed.filter(|tool| prepared.is_check(&tool.label));
                return Judgement::new(End::Differs, check.and_then(|check| check.message.clone()));
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

    /// Why a tool of the driver has done nothing, though it ended well.
    fn missed(&self) -> Option<String> {
        let prepared = &self.run.prepared;
        let own = self.tools.iter().take(prepared.work.tools.len());
        own.map(|tool| (tool, prepared.driver.has_missed(tool.rc, &self.printed(&tool.label))))
            .find_map(|(tool, why)| Some(format!("{} did nothing: {}", tool.label, why?)))
    }

    /// What a tool has printed, as far as the evidence has it.
    fn printed(&self, label: &str) -> String {
        let path = self.evidence.folder().join(format!("{label}.stdout.txt"));
        let bytes = end_of(&path, MAX_SEARCHED).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
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

/// The last bytes of a file.
fn end_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
