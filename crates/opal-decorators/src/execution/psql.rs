use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example};
use opal_core::resolver::{Inputs, Trouble};
use opal_core::{Data, Secret};

use super::sql::{self, Dialect, Feed, Place, Rules, Work, invalid};

static RULES: Rules = Rules { dialect: Dialect::Psql };

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "psql",
    summary: "run SQL with `psql`, the client of PostgreSQL",
    docs: "The block is a text for `psql`: SQL, and commands such as `\\echo`. opal does not read it, as \
           in `@script`. Values enter through `vars` only. In the text, `:'name'` is the value as a \
           literal and `:\"name\"` as the name of a column or table; `:name` is for numbers. opal encodes \
           each value, so no value can end its literal, and none is in an argument, in the environment \
           or in a file.\n\nThe first error of SQL fails the step. The text reaches `psql` on its standard \
           input, so the step has no other input. `~/.psqlrc` is not read. Values may appear in the log of \
           the server.",
    params: &[sql::CONNECTION, sql::DATABASE, sql::VARS, sql::PASSWORD, sql::program("psql")],
    block: Block::Text,
    rules: Some(&RULES),
    program: Some("program"),
    capabilities: &[Capability::Network, Capability::Processes],
    examples: &[Example {
        title: "the first users of a name",
        source: "fun users(name: String) {\n    @psql(connection=\"app@db1\", database=\"app\", vars={name: name, \
                 n: 10}) {\n        SELECT * FROM users WHERE name = :'name' LIMIT :n;\n    }\n}\n",
    }],
    action: Some(&Psql),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Psql;

impl Action for Psql {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        sql::run(Work::new(inputs, &RULES).and_then(feed), stage)
    }
}

fn feed(work: Work<'_>) -> Result<Feed, Trouble> {
    let mut words =
        ["-X", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-f", "-"].map(str::to_owned).to_vec();
    words.insert(0, work.program.to_owned());
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    match &work.connection.place {
        Place::Usual => {}
        Place::Host(host) => option("-h", host.to_string()),
        Place::Socket(path) => option("-h", path.clone()),
    }
    work.connection.port.iter().for_each(|port| option("-p", port.to_string()));
    work.connection.user.iter().for_each(|user| option("-U", user.to_string()));
    if !work.database.is_empty() {
        option("-d", work.database.to_owned());
    }
    let options = work.password.map(service).transpose()?;
    let settings = match options.is_some() {
        true => "PGCLIENTENCODING=UTF8 PGSERVICE=opal PGSERVICEFILE=/dev/fd/4",
        false => "PGCLIENTENCODING=UTF8",
    };
    let input = Secret::new(work.prelude + work.text);
    Ok(Feed { options, input, settings, words })
}

/// libpq reads a password file only if it is a plain file; a service file may be a pipe.
fn service(password: &str) -> Result<Secret, Trouble> {
    let is_kept = !password.contains(['\n', '\r', '\0'])
        && !password.ends_with(|c: char| c.is_ascii_whitespace())
        && (1..=900).contains(&password.len());
    match is_kept {
        true => Ok(Secret::new(format!("[opal]\npassword={password}\n"))),
        false => Err(invalid(
            "the password is empty, too long, ends in a blank or has several lines",
            "change the password, or write it to `~/.pgpass`",
        )),
    }
}
