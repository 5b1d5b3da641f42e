use opal_core::Type;
use opal_core::decorator::{Descriptor, Effect, Example, Returns, Subject};

use crate::common::DASH;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "let",
    summary: "a value that an earlier step produced at run time",
    docs: "Refers to the value that `let.NAME = @decorator(…)` captured at run time. The plan \
           shows a handle in its place, because the value does not exist yet when the plan is \
           made.\n\nFor the same reason it cannot be used in `if`, `when` or a loop, and cannot \
           be stored in a `var`. It is available from the step after its binding to the end of \
           the block that binds it. Fields and elements are reached as in `@let.build.exit_code` \
           and `@let.hosts[0]`.",
    subject: Subject::Required("run-time value"),
    params: &[DASH],
    returns: Some(Returns { version: "1.0.0", ty: Type::Any }),
    effect: Effect::Read,
    examples: &[
        Example {
            title: "use the output of one step in the next",
            source: "fun tag() {\n    let.commit = @shell(\"git rev-parse HEAD\")\n    \
                     docker tag app:latest app:@let.commit\n}\n",
        },
        Example {
            title: "check how a step ended",
            source: "fun probe() {\n    let.probe = @shell(\"curl -fsS https://example.com\", \
                     allow_failure=true)\n    echo \"curl ended with @let.probe.exit_code\"\n}\n",
        },
    ],
    ..Descriptor::BASE
};
