use opal_core::Data;
use opal_core::decorator::{Capability, Descriptor, Effect, Example, Exposure, Param};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};

use super::reading;
use crate::common::{DASH, TEXT, TRIM};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "secret.file",
    summary: "a secret from a file",
    docs: "Reads a file like `@file.read`, for files that hold a secret: a mounted Kubernetes or \
           Docker secret, a token that a login command stored. The value is hidden everywhere and \
           cannot be made public.\n\nA secret of fewer than four characters is refused, since it \
           could not be hidden in output without making the output unreadable.",
    params: &[
        Param::required("path", "the file that holds the secret; `~` is the home directory"),
        TRIM,
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    exposure: Exposure::Secret,
    capabilities: &[Capability::FilesRead],
    resolver: Some(&SecretFile),
    examples: &[Example {
        title: "log in with a mounted secret",
        source: "var TOKEN = @secret.file(\"/run/secrets/registry\")\n\n\
                 fun login() {\n    printf '%s' @var.TOKEN | \
                 docker login --username ci --password-stdin registry.example.com\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct SecretFile;

impl Resolver for SecretFile {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        reading::file(inputs, probe).map(Data::Text)
    }
}
