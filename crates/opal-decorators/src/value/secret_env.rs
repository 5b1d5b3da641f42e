use opal_core::Data;
use opal_core::decorator::{Capability, Descriptor, Effect, Example, Exposure, Param, Subject};
use opal_core::message;
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};
use opal_core::withheld;

use super::reading::required;
use crate::common::{DASH, TEXT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "secret.env",
    summary: "a secret from an environment variable",
    docs: "Reads an environment variable like `@env`, and declares its value a secret regardless \
           of the name. The value is hidden everywhere and cannot be made public. There is no \
           default: a value in the source would not be a secret.\n\nThe variable is named in the \
           path, `@secret.env.NAME`, or, if the name is itself a value, by the parameter. A \
           secret of fewer than four characters is refused.",
    subject: Subject::OrParam("name"),
    params: &[
        Param::required(
            "name",
            "the environment variable that holds the secret, if the path does not name it",
        ),
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    exposure: Exposure::Secret,
    capabilities: &[Capability::Environment],
    resolver: Some(&SecretEnv),
    examples: &[
        Example {
            title: "a secret by its name",
            source: "var TOKEN = @secret.env.DEPLOY\n\n\
                     fun login() {\n    printf '%s' @var.TOKEN | gh auth login --with-token\n}\n",
        },
        Example {
            title: "a secret for each stage",
            source: "fun login(stage: \"staging\" | \"production\") {\n    \
                     var TOKEN = @secret.env(name=\"LOGIN_\" + stage)\n    \
                     printf '%s' @var.TOKEN | gh auth login --with-token\n}\n",
        },
    ],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct SecretEnv;

impl Resolver for SecretEnv {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let name = match &inputs.subject {
            Some(name) => name,
            None => required(inputs, "name")?,
        };
        withheld::withhold(name);
        probe.env(name)?.map(Data::Text).ok_or_else(|| {
            Trouble::new(
                TroubleKind::Missing,
                message!("the environment variable `", name, "` is not set"),
                "set it where opal is started; a secret has no default",
            )
        })
    }
}
