//! The arguments of a call, read strictly: a word that is not understood might be one that should matter.

use serde_json::{Map, Value};

use super::refusal::Refusal;
use super::tools::Tool;

/// Bytes of all words for a task.
const MOST_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, Default)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(super) fn new(tool: &Tool, given: Option<Map<String, Value>>) -> Result<Self, Refusal> {
        let given = given.unwrap_or_default();
        if given.keys().any(|name| !tool.takes.contains(&name.as_str())) {
            return Err(Refusal::UnknownArgument { tool: tool.name, known: tool.takes });
        }
        Ok(Self(given))
    }

    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::Wrong(name, "a text")),
        }
    }

    pub(super) fn flag(&self, name: &'static str) -> Result<bool, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Refusal::Wrong(name, "true or false")),
        }
    }

    /// A number from 0.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<u64>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or(Refusal::Wrong(name, "a number from 0")),
        }
    }

    /// The name of a task: never a file, an option, or a private function.
    pub(super) fn task(&self) -> Result<String, Refusal> {
        let task = self.text("task")?.ok_or(Refusal::Missing("task"))?;
        let is_part = |part: &str| {
            !part.is_empty()
                && !part.starts_with(['_', '-'])
                && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        };
        let is_file = [".opl", ".yaml", ".yml"].iter().any(|end| task.ends_with(end));
        match !is_file && task.split('.').all(is_part) {
            true => Ok(task.to_owned()),
            false => {
                Err(Refusal::Wrong("task", "the name of a task, as the tool `tasks` lists it"))
            }
        }
    }

    /// The words for a task.
    pub(super) fn words(&self) -> Result<Vec<String>, Refusal> {
        let wrong =
            || Refusal::Wrong("arguments", "a list of texts, without NUL, of at most 64 KiB");
        let words = match self.0.get("arguments") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(words)) => words,
            Some(_) => return Err(wrong()),
        };
        let text = |word: &Value| word.as_str().filter(|it| !it.contains('\0')).map(str::to_owned);
        let words: Vec<String> = words.iter().map(text).collect::<Option<_>>().ok_or_else(wrong)?;
        match words.iter().map(String::len).sum::<usize>() <= MOST_BYTES {
            true => Ok(words),
            false => Err(wrong()),
        }
    }

    /// The first digits of a contract's id.
    pub(super) fn contract(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        let Some(id) = self.text(name)? else { return Ok(None) };
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match (8..=32).contains(&id.len()) && id.bytes().all(is_digit) {
            true => Ok(Some(id)),
            false => Err(Refusal::Wrong(name, "8 to 32 hexadecimal digits")),
        }
    }

    /// The id of a run.
    pub(super) fn run(&self) -> Result<Option<&str>, Refusal> {
        let Some(id) = self.text("run")? else { return Ok(None) };
        match id.parse::<opal_vault::record::RunId>() {
            Ok(_) => Ok(Some(id)),
            Err(_) => Err(Refusal::Wrong("run", "the id of a run: run-20261118T154341Z-0a1b2c3d")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tools;
    use super::*;

    fn of(tool: &str, given: Value) -> Result<Arguments, Refusal> {
        Arguments::new(tools::named(tool).unwrap(), given.as_object().cloned())
    }

    #[test]
    fn a_task_is_never_a_file_an_option_or_private() {
        for task in ["deploy", "db.migrate", "über-2"] {
            assert_eq!(of("plan", json!({"task": task})).unwrap().task().unwrap(), task);
        }
        for task in [
            "",
            "-f",
            "--force",
            "a/b",
            "/etc/passwd",
            "x.opl",
            "x.yaml",
            "_private",
            "db._x",
            "a b",
            "apps/web:build",
            "a:b",
            "x.",
            ".",
            "..",
            "a\n",
            "@env",
        ] {
            let read = of("plan", json!({"task": task})).unwrap().task();
            assert!(matches!(read, Err(Refusal::Wrong("task", _))), "{task}: {read:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (tool, given) in [
            ("run", json!({"contract": "0123456789abcdef", "force": true})),
            ("plan", json!({"task": "a", "env": {"A": "b"}})),
            ("contract", json!({"task": "a", "sign": "key"})),
        ] {
            assert!(matches!(of(tool, given), Err(Refusal::UnknownArgument { .. })), "{tool}");
        }
        let words = |words| of("plan", json!({"task": "a", "arguments": words})).unwrap().words();
        assert_eq!(words(json!(["--env", "x"])).unwrap(), ["--env", "x"]);
        for wrong in [json!("a"), json!([1]), json!(["a\0"]), json!(["a".repeat(70_000)])] {
            assert!(words(wrong).is_err());
        }
        for id in ["0123456", "0123456789ABCDEF", "../../../etc", "--force"] {
            let read = of("run", json!({"contract": id})).unwrap();
            assert!(read.contract("contract").is_err(), "{id}");
        }
        for id in ["last", "-x", "run-2", "../run-20261118T154341Z-0a1b2c3d"] {
            assert!(of("stop", json!({"run": id})).unwrap().run().is_err(), "{id}");
        }
    }
}
