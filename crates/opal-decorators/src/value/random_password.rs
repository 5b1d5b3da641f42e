use opal_core::decorator::{
    Capability, Cost, Descriptor, Effect, Example, Exposure, Param, Presence,
};
use opal_core::{Type, Value};

mod alphabet;
mod generator;

use generator::{PASSWORD_LENGTHS, Password};

use crate::common::{DASH, TEXT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "random.password",
    summary: "a random password",
    docs: "Generates a password with a cryptographic generator; every character is equally \
           likely. A contract carries the sealed seed, so each run of one contract gets the same \
           password, and the next contract gets another. In a run without a contract the password \
           is new every time and forgotten at the end.\n\nWith `regen_key` the password also \
           stays the same from one contract to the next: change the key, the length or the \
           alphabet to rotate it. The value is a secret, and because it is random, it cannot be \
           used in `if`, `when` or a loop.",
    params: &[
        Param {
            name: "length",
            ty: Type::Int,
            presence: Presence::Default(Value::Int(32)),
            range: Some(PASSWORD_LENGTHS),
            docs: "the number of characters",
            ..Param::BASE
        },
        Param {
            name: "alphabet",
            presence: Presence::Default(Value::text("A-Za-z0-9")),
            pattern: Some(".{2,}"),
            docs: "the characters to choose from, single or as ranges such as `a-z`",
            ..Param::BASE
        },
        Param::optional(
            "regen_key",
            "a name under which the password stays the same across contracts",
        ),
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    cost: Cost::Expensive,
    exposure: Exposure::Secret,
    capabilities: &[Capability::Randomness],
    generator: Some(&Password),
    examples: &[
        Example {
            title: "a password for a new database",
            source: "var PASSWORD = @random.password(length=24)\n\n\
                     fun create() {\n    printf '%s' @var.PASSWORD | \
                     kubectl create secret generic db --from-file=password=/dev/stdin\n}\n",
        },
        Example {
            title: "a password that stays until its key changes",
            source: "var PIN = @random.password(length=8, alphabet=\"0-9\", \
                     regen_key=\"door-v1\")\n\n\
                     fun program() {\n    printf '%s' @var.PIN | ./program-door\n}\n",
        },
    ],
    ..Descriptor::BASE
};
