use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Descriptor, Example, Param, Presence};
use opal_core::resolver::{Inputs, Trouble, TroubleKind};
use opal_core::{Data, Type, Value};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "fail",
    summary: "end the run as a failure",
    docs: "Fails with the message, as a command fails: the steps after it do not run, `finally` \
           blocks do, and opal exits with `code`. A `try` around it can catch the failure, and a \
           `@retry` around it tries again.\n\nIn a `catch` it replaces the caught failure with \
           this one. `@rethrow()` keeps the caught failure.",
    params: &[
        Param::required("message", "the error message"),
        Param {
            name: "code",
            ty: Type::Int,
            presence: Presence::Default(Value::Int(1)),
            range: Some((1, 255)),
            docs: "the exit code",
            ..Param::BASE
        },
    ],
    examples: &[
        Example {
            title: "reject an invalid argument",
            source: "fun deploy(env: String) {\n    when env {\n        \
                     \"staging\" | \"production\" -> kubectl apply --filename=@var.env\n        \
                     else -> @fail(\"unknown environment @var.env\", code=2)\n    }\n}\n",
        },
        Example {
            title: "roll back, and report the failure",
            source: "fun release() {\n    try {\n        kubectl rollout status deployment/api\n    \
                     } catch {\n        kubectl rollout undo deployment/api\n        \
                     @fail(\"the new version did not start and was rolled back\")\n    }\n}\n",
        },
    ],
    action: Some(&Fail),
    fails: true,
    speaks: true,
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Fail;

impl Action for Fail {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let code = match inputs.data("code") {
            Some(Data::Int(code)) => i32::try_from(*code).unwrap_or(1),
            _ => 1,
        };
        let message = inputs.text("message").unwrap_or_default().to_owned().into();
        // The author of the task has said what there is to say.
        let trouble = Trouble { kind: TroubleKind::Failed, message, help: Vec::new() };
        Err(stage.fail(code, trouble))
    }
}
