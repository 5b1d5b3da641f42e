use opal_core::Type;
use opal_core::decorator::{Descriptor, Example, Subject};

use super::cmd::Cmd;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "needs",
    summary: "run another function of this file first, once",
    docs: "Says that a function depends on another one. The dependencies of all functions that \
           the plan reaches run before the first step of the target, one after the other, and each \
           call (function and arguments) runs once, however many functions need it. Dependencies \
           of a dependency run before it. Each starts in the directory in which the target starts, \
           with the top-level variables as they were declared.\n\n`@needs` is the first thing in a \
           function: before its steps, and inside nothing but `if`, `when` and `for`. Use `@cmd` \
           for a call that runs where it is written, every time.",
    subject: Subject::Required("function"),
    open_params: Some(Type::Any),
    examples: &[
        Example {
            title: "build first",
            source: "fun build() {\n    cargo build\n}\n\n\
                     fun test() {\n    @needs.build()\n    cargo test\n}\n",
        },
        Example {
            title: "a dependency that both functions share runs once",
            source: "fun install() {\n    npm ci\n}\n\n\
                     fun build() {\n    @needs.install()\n    npm run build\n}\n\n\
                     fun test() {\n    @needs.install()\n    npm test\n}\n\n\
                     fun release() {\n    @needs.build()\n    @needs.test()\n    \
                     npm publish\n}\n",
        },
    ],
    action: Some(&Cmd),
    ..Descriptor::BASE
};
