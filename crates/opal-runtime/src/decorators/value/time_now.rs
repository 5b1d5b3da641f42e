use opal_core::decorator::{Capability, Descriptor, Effect, Example, Param, Presence};
use opal_core::types::Choices;
use opal_core::{Type, Value};

use crate::decorators::common::{PUBLIC, TEXT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "time.now",
    summary: "the time at which the plan is made",
    docs: "Gives the current time in UTC: `rfc3339` as in `2025-01-31T14:05:00Z`, `date` as in \
           `2025-01-31`, `compact` as in `20250131T140500Z` for file names, `unix` as seconds \
           since 1970.\n\n\
           A contract promises that planning again gives the same plan, which no clock can keep, \
           so contracts refuse this decorator. Where a step needs the time at which it runs, \
           call `date` in the step.",
    params: &[
        Param {
            name: "format",
            ty: Type::OneOf(Choices::Static(&["rfc3339", "date", "compact", "unix"])),
            presence: Presence::Default(Value::text("rfc3339")),
            docs: "how the time is written",
            ..Param::BASE
        },
        PUBLIC,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    capabilities: &[Capability::Clock],
    repeatable: false,
    examples: &[Example {
        title: "put the day into a file name",
        source: "var TODAY = @time.now(format=\"date\", public=true)\n\n\
                 fun backup() {\n    pg_dump --file=app-@var.TODAY().sql app\n}\n",
    }],
    ..Descriptor::BASE
};
