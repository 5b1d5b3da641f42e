use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param};
use opal_core::resolver::{Inputs, Trouble};
use opal_core::{Data, Secret};

use super::sql::{self, Dialect, Feed, Rules, Work};

static RULES: Rules = Rules { dialect: Dialect::Sqlite };

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "sqlite",
    summary: "run SQL with `sqlite3`",
    docs: "The block is a text for `sqlite3`: SQL, and commands such as `.mode`. opal does not read it, as \
           in `@script`. Values enter through `vars` only: `@name` in the text is the value. opal encodes \
           each value, so no value can end its literal, and none is in an argument, in the environment or \
           in a file.\n\nThe first error of SQL fails the step. The text reaches `sqlite3` on its standard \
           input, so the step has no other input. `~/.sqliterc` is not read.",
    params: &[
        Param::required(
            "file",
            "the database: a path, seen from the directory of the step, or `:memory:`",
        ),
        sql::VARS,
        sql::program("sqlite3"),
    ],
    block: Block::Text,
    rules: Some(&RULES),
    program: Some("program"),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite, Capability::Processes],
    examples: &[Example {
        title: "one more entry",
        source: "fun note(text: String) {\n    @sqlite(\"notes.db\", vars={text: text}) {\n        CREATE TABLE IF \
                 NOT EXISTS notes (text TEXT);\n        INSERT INTO notes VALUES (@text);\n    }\n}\n",
    }],
    action: Some(&Sqlite),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Sqlite;

impl Action for Sqlite {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let file = inputs.text("file").unwrap_or_default();
        sql::run(Work::new(inputs, &RULES).and_then(|work| feed(work, file)), stage)
    }
}

fn feed(work: Work<'_>, file: &str) -> Result<Feed, Trouble> {
    if file.is_empty() {
        return Err(sql::invalid(
            "the path of the database is empty",
            "name a file, or `:memory:`",
        ));
    }
    // A path that begins with a dash would be an option.
    let file = if file.starts_with('-') { format!("./{file}") } else { file.to_owned() };
    let mut words =
        [work.program, "-batch", "-bail", "-init", "/dev/fd/4"].map(str::to_owned).to_vec();
    words.push(file);
    // Variables are set by the file that the client reads first, so lines are those of the text.
    let (options, input) = (Some(Secret::new(work.prelude)), Secret::new(work.text));
    Ok(Feed { options, input, settings: "", words })
}
