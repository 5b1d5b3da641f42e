//! `shell/script`: a stack with a `run.sh`, whose first argument says what to do: `apply`, `plan`,
//! `validate`, `verify` or `destroy`.
//!
//! | what a script has | where |
//! |---|---|
//! | its inputs, as JSON | the file that `$HYOPS_INPUTS_FILE` names |
//! | its inputs, as variables of the shell | `. ./hyops.inputs.sh` sets `input_name`, `input_network__cidr` |
//! | a directory that outlives the run | `$HYOPS_MEMORY_DIR` |
//! | a place for its outputs, a JSON object | the file that `$HYOPS_OUTPUTS_FILE` names |
//!
//! Where the world is not as it should be, `verify` exits with 2.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;

use opal_core::Secret;
use serde_json::{Map, Value};

use super::common::{self, OUTPUTS};
use crate::NotFound;
use crate::run::driver::{Driver, Outputs, Place, Request, Setting, Tool, Work};
use opal_core::gather::Gather as _;

const DIFFERS: i32 = 2;
const SCRIPT: &str = "run.sh";
const INPUTS: &str = "hyops.inputs.sh";

#[derive(Debug)]
pub(super) struct Shell;

impl Driver for Shell {
    fn reference(&self) -> &'static str {
        "shell/script"
    }

    fn work(&self, request: &Request<'_>) -> Result<Work, NotFound> {
        let found = request.stack.join(SCRIPT).metadata().ok().filter(std::fs::Metadata::is_file);
        let found = found.ok_or_else(|| NotFound {
            message: format!("the pack `{}` has no `{SCRIPT}`", request.execution.pack),
            help: "a pack of `shell/script` needs a `run.sh` in its `stack/`".to_owned(),
        })?;
        let command = request.command.of_tools().name();
        // Archives lose permissions, and a script without any is still meant for the shell.
        let is_program = found.permissions().mode() & 0o111 != 0;
        let words =
            if is_program { vec!["./run.sh", command] } else { vec!["sh", SCRIPT, command] };
        let tools = vec![Tool::new(format!("shell_{command}"), &words)];
        Ok(Work { tools, outputs: Some(OUTPUTS.to_owned()), ..Work::default() })
    }

    fn setting(&self, request: &Request<'_>, place: &Place<'_>) -> Result<Setting, NotFound> {
        let templates = request.templates.clone().into_iter();
        let files = templates.chain([(INPUTS.to_owned(), assignments(request.inputs))]);
        let memory = Secret::new(place.memory.display().to_string());
        Ok(Setting {
            files: files.map(|(path, text)| (path, Secret::new(text))).gathered(),
            variables: BTreeMap::from([("HYOPS_MEMORY_DIR".to_owned(), memory)]),
        })
    }

    fn outputs(&self, text: &str) -> Result<Outputs, String> {
        common::object(text)
    }

    fn differs(&self, code: i32, _: Option<&str>) -> Result<bool, String> {
        Ok(code == DIFFERS)
    }
}

/// The inputs as assignments of a POSIX shell. What cannot be a name or a value there is left out,
/// and so is a name that two inputs would share; the JSON has everything.
fn assignments(inputs: &Map<String, Value>) -> String {
    let mut found = BTreeMap::new();
    collect("input", "_", inputs, &mut found);
    let mut text = String::from("# The inputs of this run; lists are JSON.\n");
    for (name, value) in &found {
        if let Some(value) = value {
            let _ = writeln!(text, "{name}='{}'", value.replace('\'', r"'\''"));
        }
    }
    text
}

fn collect(
    prefix: &str,
    between: &str,
    inputs: &Map<String, Value>,
    found: &mut BTreeMap<String, Option<String>>,
) {
    for (key, value) in inputs {
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let name = format!("{prefix}{between}{key}");
        let text = match value {
            Value::Object(below) => {
                collect(&name, "__", below, found);
                continue;
            }
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => value.to_string(),
        };
        let text = Some(text).filter(|text| !text.contains('\0'));
        found.entry(name).and_modify(|shared| *shared = None).or_insert(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_are_variables_of_the_shell_and_nothing_more() {
        let inputs = json!({
            "name": "it's $(id) `id`\n; id", "size": 3, "on": true, "none": null, "list": ["a", 1],
            "network": {"cidr": "10.0.0.0/8", "deep": {"er": "x"}},
            "bad-key": "x", "x=1; id;": "x", "": "x", "nul": "a\u{0}b",
            "a": {"b": 1}, "a__b": 2,
        });
        let expected = "# The inputs of this run; lists are JSON.\n\
            input_list='[\"a\",1]'\n\
            input_name='it'\\''s $(id) `id`\n; id'\n\
            input_network__cidr='10.0.0.0/8'\n\
            input_network__deep__er='x'\n\
            input_none=''\n\
            input_on='true'\n\
            input_size='3'\n";
        assert_eq!(assignments(inputs.as_object().unwrap()), expected);
    }
}
