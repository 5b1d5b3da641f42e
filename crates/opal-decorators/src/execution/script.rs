use std::collections::BTreeMap;

use opal_core::action::{Action, Command, Conditions, Halt, OutputOf, Stage};
use opal_core::context::{Context, Place};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::{Inputs, ScriptPart};
use opal_core::{Data, Value};

use super::shell::environment;
use crate::common::{STRING_MAP, STRINGS};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "script",
    summary: "run a text with a program such as `python3`",
    docs: "The block is a text in another language. opal does not read it: a reference, a comment or \
           an escape in it is text. The text begins on the line after the `{` and ends before the \
           first line that starts with a `}` indented no deeper than the call. The indentation that \
           all lines share is removed. A text on the line of the `{` ends at the last `}` of the \
           line.\n\nThe text is written to a file that only this user can read, and the program gets \
           the path of the file, followed by `args`. The file is removed afterwards. Values enter a \
           script through `args` and `env` only. The input of the script is that of the step, so it \
           can ask questions on a terminal.\n\nThe text is a constant: plans show it in clear, and a \
           contract compares it. A program that is not installed is an error before the first step.",
    params: &[
        Param {
            name: "program",
            pattern: Some(r"\s*\S(.|\s)*"),
            docs: "the program and its first arguments, separated by blanks: `uv run --script`",
            ..Param::BASE
        },
        Param {
            name: "args",
            ty: STRINGS,
            presence: Presence::Default(Value::Array(Vec::new())),
            docs: "arguments of the script",
            ..Param::BASE
        },
        Param {
            name: "env",
            ty: STRING_MAP,
            presence: Presence::Default(Value::Map(BTreeMap::new())),
            environment: true,
            docs: "additional environment variables for the script",
            ..Param::BASE
        },
        Param {
            name: "ext",
            pattern: Some(r"(\.?[A-Za-z0-9_][A-Za-z0-9_.-]{0,30})?"),
            presence: Presence::Default(Value::text("")),
            docs: "the extension of the file, for programs that need one: `ts`",
            ..Param::BASE
        },
    ],
    block: Block::Text,
    program: Some("program"),
    capabilities: &[Capability::Processes],
    examples: &[
        Example {
            title: "an argument for Python",
            source: "fun month(name: String) {\n    @script(\"python3\", args=[name]) {\n        \
                     import sys\n        print(f\"the month is {sys.argv[1]}\")\n    }\n}\n",
        },
        Example {
            title: "a line of awk, in a pipe",
            source: "fun sizes() {\n    ls -l | @script(\"awk -f\") { NR > 1 { print $5, $9 } }\n}\n",
        },
    ],
    action: Some(&Script),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Script;

impl Action for Script {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let text = inputs.block_text().unwrap_or_default();
        let file = stage.text_file(text, inputs.text("ext").unwrap_or_default())?;
        let under = Conditions { environment: environment(inputs), ..Conditions::default() };
        let script = command(inputs, file.path());
        let command =
            Command { script: &script, interpreter: None, under, output: OutputOf::Shown };
        let completed = stage.command(&command)?;
        drop(file);
        if completed.code == 0 { Ok(Data::Null) } else { Err(stage.exit(completed.code)) }
    }
}

/// `exec PROGRAM FILE ARGUMENTS`: every word is data, and none is a word of the shell.
fn command(inputs: &Inputs, file: &str) -> Vec<ScriptPart> {
    let word = Context::new(Place::Word).starts_word(true).whole_word(true).dash(true);
    let program = inputs.text("program").unwrap_or_default().split_ascii_whitespace();
    let words = program.chain([file]).map(Data::text);
    let args = inputs.data("args").cloned();
    let mut parts = vec![ScriptPart::Text("exec".to_owned())];
    for data in words.chain(args) {
        parts.push(ScriptPart::Text(" ".to_owned()));
        parts.push(ScriptPart::Data(data, word));
    }
    parts
}
