use opal_core::decorator::{Descriptor, Effect, Example, Exposure, Returns};

use crate::common::STRINGS;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "args",
    summary: "the arguments of the script",
    docs: "All arguments after the file on the command line, in order, one element each. As a \
           word of a command it becomes one word for each argument; `@args[0]` is the \
           first.\n\nArguments are constants, so plans show them in clear. A secret belongs in \
           the environment or in a file.",
    returns: Some(Returns { version: "1.0.0", ty: STRINGS }),
    effect: Effect::Read,
    exposure: Exposure::Public,
    examples: &[
        Example { title: "pass all arguments to a program", source: "cargo test -- @args\n" },
        Example {
            title: "do something for each argument",
            source: "for file in @args {\n    shellcheck -- @var.file\n}\n",
        },
    ],
    ..Descriptor::BASE
};
