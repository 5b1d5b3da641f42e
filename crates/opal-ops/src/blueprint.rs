//! The steps of a blueprint: their order, and what becomes of each.
//!
//! Deliberately not here: how a step is run, and which exit code it ends with.

use opal_modules::Step;
use opal_modules::keep::{State, Status};

/// The steps, each after what it requires; as in the file, where that is possible.
#[must_use]
pub fn order(steps: &[Step]) -> Vec<&Step> {
    let mut done: Vec<&Step> = Vec::with_capacity(steps.len());
    while done.len() < steps.len() {
        let is_done = |id: &String| done.iter().any(|step| step.id == *id);
        let next =
            steps.iter().find(|step| !is_done(&step.id) && step.requires.iter().all(is_done));
        // There are no cycles in a blueprint that was read.
        let Some(next) = next else { break };
        done.push(next);
    }
    done
}

/// Whether a step need not run: it says so itself, its module has been applied, and the same would be
/// done again. `state` reads the state of its module, `basis` says what a run would rest on now. Where
/// nobody can tell, it runs, or says why it cannot.
pub fn is_done<E>(
    step: &Step,
    state: impl FnOnce() -> Result<Option<State>, E>,
    basis: impl FnOnce() -> Result<Option<String>, E>,
) -> Result<bool, E> {
    if !step.skip_if_state_ok || !step.action.changes() {
        return Ok(false);
    }
    match state()? {
        Some(state) if state.status == Status::Ok && state.basis_digest.is_some() => {
            Ok(basis()? == state.basis_digest)
        }
        _ => Ok(false),
    }
}

/// What would become of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Run {
        tools: Vec<String>,
    },
    /// It has been applied, and that is enough.
    Skip,
    /// It cannot be planned before others have run, or not at all: why.
    Open(String),
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Ok,
    Skipped,
    /// It has looked, and something is not as wanted.
    Differs,
    Failed,
    /// The user stopped it.
    Cancelled,
    /// Another has failed before it.
    NotRun,
}

impl Done {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped reason=state-ok",
            Self::Differs => "drifted",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NotRun => "not run",
        }
    }
}

/// Why nothing more begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Somebody has stopped it.
    Cancelled,
    TimedOut,
}

/// How a blueprint has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    /// A step has found a difference, which is not a failure.
    Differs,
    Failed,
    Stopped(Stop),
}

/// How far a blueprint has come.
#[derive(Debug)]
pub struct Progress<'s> {
    fail_fast: bool,
    ended: Vec<(&'s Step, Done)>,
    /// A step that counts has found a difference.
    differs: bool,
    /// A step that counts has failed, or could not begin.
    has_failed: bool,
    stopped: Option<Stop>,
}

impl<'s> Progress<'s> {
    #[must_use]
    pub fn new(fail_fast: bool) -> Self {
        Self { fail_fast, ended: Vec::new(), differs: false, has_failed: false, stopped: None }
    }

    /// Nothing more begins; the first reason stays.
    pub fn stop(&mut self, why: Option<Stop>) {
        self.stopped = self.stopped.or(why);
    }

    /// Whether a step cannot run: what it requires has not, or nothing more is to begin.
    #[must_use]
    pub fn is_barred(&self, step: &Step) -> bool {
        let is_missing = |(other, done): &(&Step, Done)| {
            step.requires.contains(&other.id) && !matches!(done, Done::Ok | Done::Skipped)
        };
        let is_over = match self.outcome() {
            Outcome::Ok => false,
            Outcome::Differs | Outcome::Failed => self.fail_fast,
            Outcome::Stopped(_) => true,
        };
        is_over || self.ended.iter().any(is_missing)
    }

    /// Takes in how a step has ended. Whether that counts for the whole: what a blueprint can do without
    /// does not.
    pub fn end(&mut self, step: &'s Step, done: Done) -> bool {
        self.ended.push((step, done));
        let counts = !step.optional;
        match done {
            Done::Ok | Done::Skipped | Done::NotRun => {}
            Done::Differs => self.differs |= counts,
            Done::Failed | Done::Cancelled => self.has_failed |= counts,
        }
        counts
    }

    /// The steps that have ended, in order.
    #[must_use]
    pub fn ended(&self) -> &[(&'s Step, Done)] {
        &self.ended
    }

    /// Whether the last step was cut off or failed: a signal that came with it is the reason.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        matches!(self.ended.last(), Some((_, Done::Failed | Done::Cancelled)))
    }

    /// A step that counts has found a difference.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.differs
    }

    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.stopped {
            Some(why) => Outcome::Stopped(why),
            None if self.has_failed => Outcome::Failed,
            None if self.differs => Outcome::Differs,
            None => Outcome::Ok,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use opal_modules::{Blueprint, ModuleRef};
    use serde_json::Map;

    use super::*;

    fn steps(steps: &str) -> Vec<Step> {
        let text = format!(
            "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: demo/site@v1\n\
             metadata:\n  title: A site\nsteps:\n{steps}"
        );
        let read = Blueprint::read(&text);
        read.found.unwrap_or_else(|| panic!("{:?}", read.diagnostics)).steps
    }

    /// `a` and `b` are free, `c` requires `a`, and `d` may fail.
    fn four() -> Vec<Step> {
        steps(
            "  - {id: a, module_ref: demo/a}\n  - {id: b, module_ref: demo/b}\n  \
             - {id: c, module_ref: demo/c, requires: [a]}\n  \
             - {id: d, module_ref: demo/d, optional: true}\n",
        )
    }

    #[test]
    fn what_a_step_requires_must_have_done_well() {
        for (done, is_barred) in [
            (Done::Ok, false),
            (Done::Skipped, false),
            (Done::Differs, true),
            (Done::Failed, true),
            (Done::Cancelled, true),
            (Done::NotRun, true),
        ] {
            let steps = four();
            let mut progress = Progress::new(false);
            progress.end(&steps[0], done);
            assert_eq!(progress.is_barred(&steps[2]), is_barred, "{done:?}");
            // The others do not require it.
            assert!(!progress.is_barred(&steps[1]), "{done:?}");
        }
    }

    #[test]
    fn with_fail_fast_nothing_begins_after_what_counts() {
        let steps = four();
        for (at, done, is_barred, outcome) in [
            (0, Done::Ok, false, Outcome::Ok),
            (0, Done::Differs, true, Outcome::Differs),
            (0, Done::Failed, true, Outcome::Failed),
            (3, Done::Failed, false, Outcome::Ok),
            (3, Done::Differs, false, Outcome::Ok),
        ] {
            let mut progress = Progress::new(true);
            assert_eq!(progress.end(&steps[at], done), at != 3);
            assert_eq!(progress.is_barred(&steps[1]), is_barred, "{done:?}");
            assert_eq!(progress.outcome(), outcome, "{done:?}");
        }
    }

    #[test]
    fn a_failure_counts_more_than_a_difference_and_a_stop_more_than_both() {
        let steps = four();
        let mut progress = Progress::new(false);
        progress.end(&steps[0], Done::Differs);
        progress.end(&steps[1], Done::Failed);
        assert!(progress.differs() && progress.is_cut_short());
        assert_eq!(progress.outcome(), Outcome::Failed);
        progress.stop(None);
        assert_eq!(progress.outcome(), Outcome::Failed);
        progress.stop(Some(Stop::TimedOut));
        progress.stop(Some(Stop::Cancelled));
        assert_eq!(progress.outcome(), Outcome::Stopped(Stop::TimedOut));
        assert!(progress.is_barred(&steps[3]));
    }

    #[test]
    fn a_step_is_done_only_if_the_same_would_be_done_again() {
        let step = |more: &str| {
            steps(&format!("  - {{id: a, module_ref: demo/a{more}}}\n")).swap_remove(0)
        };
        let skips = ", skip_if_state_ok: true";
        let state = |status, digest: Option<&str>| State {
            module_ref: ModuleRef::parse("demo/a").unwrap(),
            instance: None,
            status,
            command: "apply".into(),
            run_id: "apply-1".into(),
            started_at: String::new(),
            updated_at: String::new(),
            pid: 1,
            driver: "shell/script".into(),
            profile: "local@v1".into(),
            pack: "a".into(),
            outputs: Map::new(),
            error: None,
            evidence: PathBuf::new(),
            inputs_digest: None,
            basis_digest: digest.map(str::to_owned),
        };
        let ok = |digest| Some(state(Status::Ok, digest));
        for (more, found, basis, expected) in [
            (skips, ok(Some("x")), Some("x"), true),
            (skips, ok(Some("x")), Some("y"), false),
            (skips, ok(Some("x")), None, false),
            (skips, ok(None), None, false),
            (skips, Some(state(Status::Error, Some("x"))), Some("x"), false),
            (skips, None, Some("x"), false),
            ("", ok(Some("x")), Some("x"), false),
            (", skip_if_state_ok: true, action: plan", ok(Some("x")), Some("x"), false),
        ] {
            let basis = || Ok::<_, ()>(basis.map(str::to_owned));
            assert_eq!(
                is_done(&step(more), || Ok(found.clone()), basis),
                Ok(expected),
                "{more} {found:?}"
            );
        }
    }

    fn ids(text: &str) -> Vec<String> {
        order(&steps(text)).into_iter().map(|step| step.id.clone()).collect()
    }

    #[test]
    fn steps_keep_the_order_of_the_file_except_after_what_they_require() {
        let free = "  - {id: b, module_ref: demo/b}\n  - {id: a, module_ref: demo/a}\n";
        assert_eq!(ids(free), ["b", "a"]);
        let bound = "  - {id: server, module_ref: demo/server, requires: [disk, network]}\n  \
                     - {id: network, module_ref: demo/network}\n  \
                     - {id: disk, module_ref: demo/disk, requires: [network]}\n";
        assert_eq!(ids(bound), ["network", "disk", "server"]);
    }
}
