use jiff::Timestamp;
use opal_core::decorator::{Capability, Descriptor, Effect, Example, Exposure, Param, Presence};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};
use opal_core::types::Choices;
use opal_core::{Data, Type, Value};

use super::reading::required;
use crate::common::TEXT;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "time.now",
    summary: "the time at which the plan is made",
    docs: "Gives the current time in UTC: `rfc3339` as in `2025-01-31T14:05:00Z`, `date` as in \
           `2025-01-31`, `compact` as in `20250131T140500Z` for file names, `unix` as seconds \
           since 1970.\n\nA contract requires that planning again gives the same plan, which a \
           clock prevents, so contracts refuse this decorator. If a step needs the time at which \
           it runs, call `date` in the step.",
    params: &[Param {
        name: "format",
        ty: Type::OneOf(Choices::Static(&["rfc3339", "date", "compact", "unix"])),
        presence: Presence::Default(Value::text("rfc3339")),
        docs: "the format of the time",
        ..Param::BASE
    }],
    returns: Some(TEXT),
    effect: Effect::Read,
    exposure: Exposure::Public,
    capabilities: &[Capability::Clock],
    repeatable: false,
    resolver: Some(&TimeNow),
    examples: &[Example {
        title: "put the date in a file name",
        source: "var TODAY = @time.now(format=\"date\")\n\n\
                 fun backup() {\n    pg_dump --file=app-@var.TODAY().sql app\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct TimeNow;

impl Resolver for TimeNow {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let now = Timestamp::try_from(probe.now()).map_err(|_| {
            Trouble::new(
                TroubleKind::Failed,
                "the clock of this machine is out of range",
                "set the clock",
            )
        })?;
        let written = match required(inputs, "format")? {
            "date" => now.strftime("%Y-%m-%d").to_string(),
            "compact" => now.strftime("%Y%m%dT%H%M%SZ").to_string(),
            "unix" => now.as_second().to_string(),
            _ => now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        };
        Ok(Data::text(written))
    }
}
