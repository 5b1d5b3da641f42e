use opal_core::Type;
use opal_core::decorator::{Descriptor, Effect, Example, Returns, Subject};

use crate::common::DASH;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "var",
    summary: "the value of a variable",
    docs: "Refers to a `var`, a parameter of the function or the variable of a loop. In commands \
           and inside double quotes the reference is written in full, `@var.NAME`; in expressions \
           the bare name means the same.\n\nA variable is evaluated when a step needs it, and \
           only once. How it is shown depends on the origin of its value: constants in clear, \
           everything else as a placeholder.",
    subject: Subject::Required("variable"),
    params: &[DASH],
    returns: Some(Returns { version: "1.0.0", ty: Type::Any }),
    effect: Effect::Read,
    examples: &[
        Example {
            title: "use a variable in a command",
            source: "var HOST = \"example.com\"\n\nping -c 1 @var.HOST\n",
        },
        Example {
            title: "end the name where more text follows",
            source: "var SERVICE = \"api\"\n\npg_dump --file=@var.SERVICE()_backup.sql app\n",
        },
    ],
    ..Descriptor::BASE
};
