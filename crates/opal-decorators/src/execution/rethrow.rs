use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Descriptor, Example};
use opal_core::resolver::{Inputs, Trouble, TroubleKind};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "rethrow",
    summary: "end a `catch` with the failure that it caught",
    docs: "Fails with the failure that the `catch` around it caught: the same step, message and \
           exit code. The run then ends as it would have without the `catch`, after the steps \
           before `@rethrow()` have cleaned up.\n\nIt is allowed only in a `catch`, not in a \
           function that a `catch` calls.",
    examples: &[Example {
        title: "roll back, and still fail",
        source: "fun release() {\n    try {\n        kubectl rollout status deployment/api\n    } \
                 catch {\n        kubectl rollout undo deployment/api\n        @rethrow()\n    \
                 }\n}\n",
    }],
    action: Some(&Rethrow),
    fails: true,
    speaks: true,
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Rethrow;

impl Action for Rethrow {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        if let Some(failure) = stage.caught() {
            return Err(Halt::Failed(Box::new(failure)));
        }
        // `--from` and `--resume` can start a run inside of a `catch`.
        let message = "no failure was caught in this run, because it started inside the `catch`";
        let help = "run the task from its beginning";
        Err(stage.fail(1, Trouble::new(TroubleKind::Missing, message, help)))
    }
}
