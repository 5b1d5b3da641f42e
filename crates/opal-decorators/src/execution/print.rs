use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param};
use opal_core::resolver::Inputs;
use opal_core::{Data, Secret};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "print",
    summary: "print a line to standard output",
    docs: "Prints the text and a line end to standard output, without starting a program. Secret \
           values in it are hidden on the terminal and in the record, as in the output of a \
           command. It can be piped and redirected like a command.\n\n\
           `@log` writes to standard error instead, and has levels.",
    params: &[Param::required("text", "the text to print")],
    capabilities: &[Capability::Terminal],
    examples: &[
        Example {
            title: "say what to do next",
            source: "fun up() {\n    docker compose up --detach\n    \
                     @print(\"The site is at http://localhost:8080\")\n}\n",
        },
        Example {
            title: "write a file",
            source: "fun stamp() {\n    @print(\"@git.commit\") > @file.write(\"VERSION\")\n}\n",
        },
    ],
    action: Some(&Print),
    speaks: true,
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Print;

impl Action for Print {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let text = inputs.text("text").unwrap_or_default();
        stage.print(&Secret::new(format!("{text}\n"))).map(|()| Data::Null)
    }
}
