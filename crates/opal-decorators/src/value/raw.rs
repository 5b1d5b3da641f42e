use opal_core::decorator::{Descriptor, Effect, Example, Param};

use crate::common::TEXT;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "raw",
    summary: "text that becomes part of a command unquoted",
    docs: "Pastes text into a command without quoting it, so that the shell reads it as code: \
           blanks separate words, and `;`, `|`, `*` and `$(…)` do what they do in a script. Every \
           other reference arrives as one argument, byte for byte. This decorator is the only way \
           around that, and every plan marks the places that use it.\n\nGive it only text that \
           you would also type into a terminal. Text from outside, a branch name or an answer \
           from the network, can contain someone else's command. For several arguments an Array \
           is nearly always the better choice.",
    params: &[Param::required("text", "the shell text to paste, unquoted")],
    returns: Some(TEXT),
    effect: Effect::Read,
    examples: &[Example {
        title: "keep a set of options in one variable",
        source: "var OPTIONS = \"--recursive --human-readable\"\n\n\
                 ls @raw(@var.OPTIONS) /var/log\n",
    }],
    ..Descriptor::BASE
};
