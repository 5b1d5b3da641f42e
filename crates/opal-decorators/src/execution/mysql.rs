use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example};
use opal_core::resolver::{Inputs, Trouble};
use opal_core::{Data, Secret};

use super::sql::{self, Dialect, Feed, Place, Rules, Work, invalid};

static RULES: Rules = Rules { dialect: Dialect::Mysql };

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "mysql",
    summary: "run SQL with `mysql`, the client of MySQL and MariaDB",
    docs: "The block is a text for `mysql`. opal does not read it, as in `@script`. Values enter through \
           `vars` only: `@name` in the text is the value. opal encodes each value, so no value can end its \
           literal, and none is in an argument, in the environment or in a file.\n\nThe first error of SQL \
           fails the step. The text reaches `mysql` on its standard input, so the step has no other input. \
           Servers cannot ask for files of the client (`LOAD DATA LOCAL`). Values may appear in the log of \
           the server.",
    params: &[sql::CONNECTION, sql::DATABASE, sql::VARS, sql::PASSWORD, sql::program("mysql")],
    block: Block::Text,
    rules: Some(&RULES),
    program: Some("program"),
    capabilities: &[Capability::Network, Capability::Processes],
    examples: &[Example {
        title: "a user, by name",
        source: "fun rename(old: String, new: String) {\n    @mysql(connection=\"app@db1\", database=\"app\", \
                 vars={old: old, new: new}) {\n        UPDATE users SET name = @new WHERE name = @old;\n    }\n}\n",
    }],
    action: Some(&Mysql),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Mysql;

impl Action for Mysql {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        sql::run(Work::new(inputs, &RULES).and_then(feed), stage)
    }
}

fn feed(work: Work<'_>) -> Result<Feed, Trouble> {
    let options = work.password.map(defaults).transpose()?;
    let mut words = vec![work.program.to_owned()];
    if options.is_some() {
        words.push("--defaults-extra-file=/dev/fd/4".to_owned());
    }
    // The user's own file of options may say `force`: then no error would fail the step.
    let fixed = ["--default-character-set=utf8mb4", "--local-infile=0", "--skip-force"];
    words.extend(fixed.map(str::to_owned));
    match &work.connection.place {
        Place::Usual => {}
        Place::Host(host) => words.push(format!("--host={host}")),
        Place::Socket(path) => words.push(format!("--socket={path}")),
    }
    work.connection.port.iter().for_each(|port| words.push(format!("--port={port}")));
    work.connection.user.iter().for_each(|user| words.push(format!("--user={user}")));
    if !work.database.is_empty() {
        words.push(format!("--database={}", work.database));
    }
    // A delimiter is set at the start of a line only.
    let first = work.text.trim_start().get(..9).unwrap_or_default();
    let end = if first.eq_ignore_ascii_case("delimiter") { "\n" } else { "" };
    let input = Secret::new(work.prelude + end + work.text);
    Ok(Feed { options, input, settings: "", words })
}

/// A file of options with the password, in the quotes of such files.
fn defaults(password: &str) -> Result<Secret, Trouble> {
    if password.chars().any(char::is_control) || !(1..=1_000).contains(&password.len()) {
        let message = "the password is empty, too long or has control characters";
        return Err(invalid(message, "change the password, or write it to `~/.my.cnf`"));
    }
    let escaped = password.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(Secret::new(format!("[client]\npassword=\"{escaped}\"\n")))
}
