use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::types::Choices;
use opal_core::{Duration, Type, Value};

use crate::decorators::common::NO;

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "retry",
    summary: "run a block again when it fails",
    docs: "Runs the whole block until it succeeds, at most `attempts` times; the failure of the \
           last attempt is the failure of the step. Every attempt starts in the same directory \
           and with fresh `let` bindings, but what an earlier attempt did to the world stays \
           done, so the steps should bear being repeated.\n\n\
           Between attempts there is a pause. With `delay=1s` it lasts 1s, 2s, 4s, 8s \
           (`exponential`), 1s, 2s, 3s, 4s (`linear`) or always 1s (`constant`), and never \
           longer than `max_delay`.",
    params: &[
        Param {
            name: "attempts",
            alias: Some("times"),
            ty: Type::Int,
            presence: Presence::Default(Value::Int(3)),
            range: Some((1, 100)),
            docs: "how often the block runs at most, the first time included",
            ..Param::BASE
        },
        Param {
            name: "delay",
            ty: Type::Duration,
            presence: Presence::Default(Value::Duration(Duration::from_secs(1))),
            docs: "the pause after the first failure",
            ..Param::BASE
        },
        Param {
            name: "strategy",
            ty: Type::OneOf(Choices::Static(&["exponential", "linear", "constant"])),
            presence: Presence::Default(Value::text("exponential")),
            docs: "how the pause grows from one failure to the next",
            ..Param::BASE
        },
        Param {
            name: "max_delay",
            ty: Type::Duration,
            presence: Presence::Optional,
            docs: "the longest pause; without it the pause grows without bound",
            ..Param::BASE
        },
        Param {
            name: "jitter",
            ty: Type::Bool,
            presence: NO,
            docs: "shorten each pause by a random part, at most half of it, so that many machines \
                   do not come back at the same moment",
            ..Param::BASE
        },
    ],
    block: Block::Required,
    capabilities: &[Capability::Clock, Capability::Randomness],
    examples: &[
        Example {
            title: "wait until a service answers",
            source: "fun wait() {\n    @retry(10, delay=2s, strategy=\"constant\") {\n        \
                     curl -f https://example.com/health\n    }\n}\n",
        },
        Example {
            title: "be gentle with a busy server",
            source: "fun pull() {\n    \
                     @retry(attempts=5, max_delay=30s, jitter=true) {\n        \
                     docker pull registry.example.com/app\n    }\n}\n",
        },
    ],
    ..Descriptor::BASE
};
