//! The steps of a blueprint: their order, and what becomes of each.

use opal_modules::Step;

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

#[cfg(test)]
mod tests {
    use opal_modules::Blueprint;

    use super::*;

    fn ids(steps: &str) -> Vec<String> {
        let text = format!(
            "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: demo/site@v1\n\
             metadata:\n  title: A site\nsteps:\n{steps}"
        );
        let read = Blueprint::read(&text);
        let blueprint = read.found.unwrap_or_else(|| panic!("{:?}", read.diagnostics));
        order(&blueprint.steps).into_iter().map(|step| step.id.clone()).collect()
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
