//! What each tool does.

mod contracts;
mod reading;
mod running;
mod runs;

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::desk::Desk;
use super::refusal::Refusal;
use super::tools::Tool;
use crate::child::Ended;

/// What a tool says.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Members that are opal's own: words, digests, ids, numbers and commands.
    pub(super) own: Map<String, Value>,
    /// A document of `opal`.
    pub(super) result: Option<Value>,
    /// Whether nobody else's text is in the document.
    pub(super) is_own: bool,
    /// What `opal` said beside it.
    pub(super) said: String,
    pub(super) is_error: bool,
}

impl Answer {
    /// Of an `opal` that prints a document in any case.
    fn of(ended: Ended) -> Self {
        let result = ended.json();
        let is_error = result.as_ref().is_none_or(|it| it.get("error").is_some());
        let own = Map::from_iter([("exit".to_owned(), json!(ended.code))]);
        Self { own, result, is_error, said: ended.stderr, ..Self::default() }
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.own.insert(name.to_owned(), value.into());
        self
    }
}

/// The words of a command about a task. After the name of a task opal takes options of its own, which an
/// agent has no say in: a second `--` makes all that follows the task's.
fn of_task(before: &[&str], arguments: &Arguments) -> Result<Vec<String>, Refusal> {
    let mut words: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["--".to_owned(), arguments.task()?, "--".to_owned()]);
    words.extend(arguments.words()?);
    Ok(words)
}

pub(super) async fn answer(
    desk: &Desk,
    tool: &Tool,
    arguments: &Arguments,
) -> Result<Answer, Refusal> {
    match tool.name {
        "tasks" => reading::tasks(desk, arguments).await,
        "check" => reading::check(desk, arguments).await,
        "explain" => reading::explain(desk, arguments).await,
        "plan" => reading::plan(desk, arguments).await,
        "verify" => reading::verify(desk, arguments).await,
        "diff" => contracts::diff(desk, arguments).await,
        "contract" => contracts::submit(desk, arguments).await,
        "contracts" => contracts::list(desk, arguments).await,
        "runs" => runs::runs(desk, arguments).await,
        "run" => running::run(desk, arguments).await,
        _ => running::stop(desk, arguments),
    }
}
