use opal_core::Type;
use opal_core::decorator::{Capability, Cost, Descriptor, Effect, Example, Exposure, Param};
use opal_core::types::Choices;

mod generator;

use generator::Key;

use crate::common::{DASH, TEXT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "crypto.generate_key",
    summary: "a new cryptographic key",
    docs: "Generates a key from the contract's sealed seed. `ed25519` (signatures) and `x25519` \
           (key agreement) give the private key as PKCS#8 in PEM form, from which the usual tools \
           derive the public key; `aes256` gives 32 bytes in base64.\n\nEach run of one contract \
           gets the same key and the next contract another, unless `regen_key` ties it to a name. \
           The value is a secret and cannot be used in `if`, `when` or a loop. A PEM text begins \
           with hyphens, so a reference that is a word of a command needs `dash=true`.",
    params: &[
        Param {
            name: "type",
            ty: Type::OneOf(Choices::Static(&["ed25519", "x25519", "aes256"])),
            docs: "the kind of key",
            ..Param::BASE
        },
        Param::optional("regen_key", "a name under which the key stays the same across contracts"),
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    cost: Cost::Expensive,
    exposure: Exposure::Secret,
    capabilities: &[Capability::Randomness],
    generator: Some(&Key),
    examples: &[Example {
        title: "write a key that only its owner can read",
        source: "var KEY = @crypto.generate_key(type=\"ed25519\", regen_key=\"deploy-v1\")\n\n\
                 fun install() {\n    printf '%s' @var.KEY(dash=true) > \
                 @file.write(\"deploy.pem\", mode=\"0600\")\n}\n",
    }],
    ..Descriptor::BASE
};
