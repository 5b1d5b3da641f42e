use opal_core::decorator::{Capability, Descriptor, Effect, Example, Param, Presence, Subject};

use crate::decorators::common::{DASH, PUBLIC, TEXT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "env",
    summary: "the value of an environment variable",
    docs: "Reads a variable of the environment at plan time. Without `default` a variable that is \
           not set fails the plan, so a missing setting is found before anything has run; a \
           variable that is set to nothing counts as set.\n\n\
           The value is shown as a placeholder unless `public=true`. Names that speak of a \
           secret, such as `API_TOKEN` or `DB_PASSWORD`, are treated like `@secret.env`. Inside \
           a block that runs on another host the environment of that host is read.",
    subject: Subject::Required("environment variable"),
    params: &[
        Param {
            name: "default",
            presence: Presence::Optional,
            docs: "the value to use where the variable is not set",
            ..Param::BASE
        },
        PUBLIC,
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    capabilities: &[Capability::Environment],
    examples: &[
        Example {
            title: "a setting with a fallback",
            source: "var HOST = @env.HOST(default=\"localhost\")\n\necho @var.HOST\n",
        },
        Example {
            title: "a setting that a reviewer may read in the plan",
            source: "var REGION = @env.REGION(default=\"eu-west-1\", public=true)\n\n\
                     fun deploy() {\n    echo \"deploying to @var.REGION\"\n}\n",
        },
    ],
    ..Descriptor::BASE
};
