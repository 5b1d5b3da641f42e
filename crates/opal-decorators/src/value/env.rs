use opal_core::Data;
use opal_core::class::resolved;
use opal_core::decorator::{
    Capability, Descriptor, Effect, Example, Exposure, Param, Site, Subject,
};
use opal_core::message;
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};
use opal_core::withheld;

use super::reading::absent;
use crate::common::{DASH, PUBLIC, SECRET, TEXT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "env",
    summary: "the value of an environment variable",
    docs: "Reads an environment variable at plan time. Without `default`, an unset variable fails \
           the plan, so a missing setting is found before anything has run; an empty variable \
           counts as set.\n\nPlans and contracts show the value as a placeholder, runs show it in \
           clear. A value is a secret, and hidden everywhere, if the name of the variable \
           suggests it (`API_TOKEN`, `DB_PASSWORD`, `SENTRY_DSN`) or the value looks like one: a \
           URL with a password, a private key, a JWT, a token that begins like `ghp_`. \
           `secret=true` declares a secret regardless of the name, `public=true` shows the value \
           everywhere. Inside a block that runs on another host the environment of that host is \
           read.",
    subject: Subject::Required("environment variable"),
    params: &[
        Param::optional("default", "the value to use if the variable is not set"),
        PUBLIC,
        SECRET,
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    site: Site::Target,
    exposure: Exposure::Plain,
    capabilities: &[Capability::Environment],
    resolver: Some(&Env),
    examples: &[
        Example {
            title: "a setting with a fallback",
            source: "var HOST = @env.HOST(default=\"localhost\")\n\necho @var.HOST\n",
        },
        Example {
            title: "a secret whose name does not say so",
            source: "var PIN = @env.DOOR_CODE(secret=true)\n\n\
                     fun open() {\n    printf '%s' @var.PIN | unlock\n}\n",
        },
        Example {
            title: "a setting that a reviewer may read in the plan",
            source: "var REGION = @env.REGION(default=\"eu-west-1\", public=true)\n\n\
                     fun deploy() {\n    echo \"deploying to @var.REGION\"\n}\n",
        },
    ],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Env;

impl Resolver for Env {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let name = inputs.subject.as_deref().ok_or_else(|| absent("name"))?;
        match (probe.env(name)?, inputs.data("default")) {
            (Some(value), _) => {
                let value = Data::Text(value);
                if resolved::class(&DESCRIPTOR, inputs, Some(&value)).is_secret() {
                    withheld::withhold(name);
                }
                Ok(value)
            }
            (None, Some(default)) => Ok(default.clone()),
            (None, None) => Err(Trouble::new(
                TroubleKind::Missing,
                message!("the environment variable `", name, "` is not set"),
                message!("set it, or say what to use instead: `@env.", name, "(default=\"…\")`"),
            )),
        }
    }
}
