use opal_core::decorator::{Descriptor, Effect, Example, Exposure, Returns};

use crate::common::STRINGS;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "args",
    summary: "the arguments that were given to the script",
    docs: "Everything that stands behind the file on the command line, in order, each argument \
           one element. As a word of a command it becomes one word for each argument, and none \
           where there are none; `@args[0]` is the first of them.\n\n\
           Arguments are constants, so plans show them in clear. A secret belongs in the \
           environment or in a file.",
    returns: Some(Returns { version: "1.0.0", ty: STRINGS }),
    effect: Effect::Read,
    exposure: Exposure::Public,
    examples: &[
        Example { title: "hand all arguments to a program", source: "cargo test -- @args\n" },
        Example {
            title: "do something for each argument",
            source: "for file in @args {\n    shellcheck -- @var.file\n}\n",
        },
    ],
    ..Descriptor::BASE
};
