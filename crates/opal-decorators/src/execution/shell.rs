use std::collections::BTreeMap;

use opal_core::action::{Action, Command, Completed, Conditions, Directory, Halt, OutputOf, Stage};
use opal_core::data::json;
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource, Returns};
use opal_core::resolver::{Ask, Inputs, Probe, Run, Trouble, TroubleKind};
use opal_core::resource::{Finding, Verify};
use opal_core::types::Field;
use opal_core::{Data, Secret, Type};

use crate::common::{DEPENDS_ON, ID, NAME, STRING_MAP, VERIFY_TIMEOUT};
use opal_core::gather::Gather as _;

static RESULT: [Field; 3] = [
    Field { name: "stdout", ty: Type::String, docs: "standard output, unchanged" },
    Field { name: "stderr", ty: Type::String, docs: "standard error, unchanged" },
    Field { name: "exit_code", ty: Type::Int, docs: "the exit code of the command" },
];

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "shell",
    summary: "run a shell command",
    docs: "The same as a plain command line, with more settings: another interpreter, a \
           directory, variables. `let.NAME = @shell(…)` captures the result; the name alone is \
           the output without trailing line ends, and the fields contain the rest.\n\n\
           With `json=true` the output is parsed as JSON and the binding is its value: \
           `@let.NAME.field[0]`. Each value in it is hidden like a secret. A duplicate key, an \
           integer beyond 64 bits, more than 64 levels or 1,000,000 values fail the step.\n\n\
           With `check` the command describes a state: the check runs first, and if it exits with \
           0 the state is reached and the command is skipped. Without a check the status is \
           unknown, and the command always runs.\n\n\
           ## Statuses\n\n\
           - `satisfied`: the check exits with 0.\n\
           - `missing`: it exits with another code.\n\
           - `blocked`: the check cannot be started, because its interpreter or its directory \
           does not exist.\n\
           - `unknown`: there is no check. A command without `id` and `depends_on` only acts, and \
           is not verified.",
    params: &[
        Param {
            name: "cmd",
            alias: Some("command"),
            shell: true,
            docs: "the command to run",
            ..Param::BASE
        },
        Param {
            name: "check",
            alias: Some("verify"),
            presence: Presence::Optional,
            shell: true,
            docs: "a command that changes nothing and exits with 0 if there is nothing to do",
            ..Param::BASE
        },
        Param::optional(
            "shell",
            "the interpreter, by name or path; by default bash, or sh if there is none",
        ),
        Param::optional("workdir", "the directory to run in"),
        Param {
            name: "env",
            ty: STRING_MAP,
            presence: Presence::Optional,
            environment: true,
            docs: "additional environment variables for the command",
            ..Param::BASE
        },
        Param::flag("public", "show the output that a `let` captures; by default it is a secret"),
        Param::flag("allow_failure", "continue with the next step whatever the exit code"),
        Param {
            name: "json",
            ty: Type::Bool,
            presence: Presence::Optional,
            docs: "parse the output as JSON; only if a `let` captures it",
            ..Param::BASE
        },
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    returns: Some(Returns { version: "1.0.0", ty: Type::Object(&RESULT) }),
    any_with: Some("json"),
    resource: Some(Resource {
        yaml: "command",
        key: &["cmd", "workdir", "shell", "env", "check"],
        verify: &Shell,
    }),
    capabilities: &[Capability::Processes],
    examples: &[
        Example {
            title: "run a command only if it is needed",
            source: "fun setup() {\n    \
                     @shell(\"createdb app\", check=\"psql -lqt | grep -qw app\")\n}\n",
        },
        Example {
            title: "another interpreter, another directory",
            source: "fun report() {\n    \
                     @shell(\"print -l **/*.log\", shell=\"zsh\", workdir=\"/var/log\")\n}\n",
        },
        Example {
            title: "capture the output",
            source: "fun tag() {\n    let.commit = @shell(\"git rev-parse --short HEAD\")\n    \
                     docker tag app:latest app:@let.commit\n}\n",
        },
        Example {
            title: "read fields of JSON",
            source: "fun release() {\n    \
                     let.pkg = @shell(\"npm pkg get name version\", json=true)\n    \
                     echo \"@let.pkg.name is at @let.pkg.version\"\n}\n",
        },
    ],
    action: Some(&Shell),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Shell;

impl Action for Shell {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let output = if stage.is_captured() { OutputOf::Captured } else { OutputOf::Shown };
        let completed = stage.command(&command(inputs, output))?;
        match completed.code {
            code if code != 0 && !inputs.is_true("allow_failure") => Err(stage.exit(code)),
            _ if inputs.is_true("json") => json::read(completed.stdout.expose())
                .map_err(|fault| stage.fail(1, not_json(&fault))),
            _ => Ok(result(completed)),
        }
    }
}

/// By its place: the output may be secret.
fn not_json(fault: &json::Fault) -> Trouble {
    let json::Fault { line, column, reason } = fault;
    let message = format!("the output is not JSON: line {line}, column {column}: {reason}");
    let help = "run the command by itself to see what it prints, or omit `json=true`";
    Trouble::new(TroubleKind::Invalid, message, help)
}

impl Verify for Shell {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let Some(check) = inputs.script("check") else {
            return Ok(Finding::unknown("no `check` is given"));
        };
        let answer = probe.ask(&Ask {
            run: Run::Script(check),
            interpreter: inputs.text("shell"),
            directory: inputs.text("workdir"),
            environment: &environment(inputs),
            drops_excess: true,
        })?;
        Ok(match answer.code {
            0 => Finding::satisfied("the check succeeds"),
            code => Finding::missing(format!("the check ends with {code}")),
        })
    }
}

fn command(inputs: &Inputs, output: OutputOf) -> Command<'_> {
    let script = inputs.script("cmd").unwrap_or_default();
    let directory = inputs.text("workdir").map(str::to_owned);
    let under = Conditions {
        directory: directory.map(|path| Directory { path, create: false }),
        environment: environment(inputs),
        ..Conditions::default()
    };
    Command { script, interpreter: inputs.text("shell"), under, output }
}

pub(super) fn environment(inputs: &Inputs) -> BTreeMap<String, Secret> {
    let Some(Data::Map(fields)) = inputs.data("env") else { return BTreeMap::new() };
    let set = |(name, value): (&String, &Data)| match value {
        Data::Text(text) => Some((name.clone(), text.clone())),
        _ => None,
    };
    fields.iter().filter_map(set).gathered()
}

fn result(completed: Completed) -> Data {
    let Completed { code, stdout, stderr } = completed;
    let fields = [
        ("stdout", Data::Text(stdout)),
        ("stderr", Data::Text(stderr)),
        ("exit_code", Data::Int(i64::from(code))),
    ];
    Data::Map(fields.into_iter().map(|(name, data)| (name.to_owned(), data)).gathered())
}

#[cfg(test)]
mod tests {
    use opal_core::resolver::{Input, ScriptPart};
    use opal_core::resource::Status;

    use super::*;
    use opal_testing::MemoryWorld;

    fn with_check(check: &str) -> Inputs {
        let mut inputs = Inputs::default();
        let script = vec![ScriptPart::Text(check.to_owned())];
        inputs.args.insert("check", Input::Script(script));
        inputs
    }

    #[test]
    fn without_a_check_nobody_can_tell_and_nothing_is_asked() {
        let world = MemoryWorld::default();
        let finding = Shell.verify(&Inputs::default(), &world).unwrap();
        assert_eq!(finding.status, Status::Unknown);
        assert!(world.asked().is_empty());
    }

    #[test]
    fn a_check_that_succeeds_is_satisfied() {
        let world = MemoryWorld::default().command("test -e made", "");
        let finding = Shell.verify(&with_check("test -e made"), &world).unwrap();
        assert_eq!(finding.status, Status::Satisfied);
    }

    #[test]
    fn a_shell_that_cannot_start_blocks() {
        let trouble = Trouble::new(TroubleKind::Missing, "`zsh` does not exist", "install it");
        let world = MemoryWorld::default().failing_command("x", trouble.clone());
        assert_eq!(Shell.verify(&with_check("x"), &world).unwrap_err(), trouble);
    }
}
