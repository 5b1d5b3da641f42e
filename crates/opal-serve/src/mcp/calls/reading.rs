//! Tools that read the source of a project.

use opal_core::Code;

use super::super::arguments::Arguments;
use super::super::desk::Desk;
use super::super::refusal::Refusal;
use super::{Answer, of_task};

pub(super) async fn tasks(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let project = desk.projects.choose(arguments.text("project")?)?;
    let mut answer = Answer::of(desk.opal.ask(project, &["list", "--json"]).await?);
    let tasks = answer.result.as_mut().and_then(|it| it.get_mut("tasks")?.as_array_mut());
    if let Some(tasks) = tasks {
        tasks.retain(|task| task["private"] != true);
    }
    Ok(answer)
}

pub(super) async fn check(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let project = desk.projects.choose(arguments.text("project")?)?;
    Ok(Answer::of(desk.opal.ask(project, &["check", "--json"]).await?))
}

pub(super) async fn explain(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let topic = arguments.text("topic")?.ok_or(Refusal::Missing("topic"))?;
    let is_topic = |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '.' | '_');
    if topic.is_empty() || topic.len() > 100 || !topic.chars().all(is_topic) {
        return Err(Refusal::Wrong("topic", "an error code or a decorator"));
    }
    let project = desk.projects.choose(arguments.text("project")?)?;
    let answer = Answer::of(desk.opal.ask(project, &["explain", topic, "--json"]).await?);
    // The pages of codes are opal's; decorators may be of packages.
    let is_own = Code::parse(topic).is_some() && !answer.is_error;
    Ok(Answer { is_own, ..answer })
}

pub(super) async fn plan(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    with_task(desk, arguments, "plan").await
}

pub(super) async fn verify(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    with_task(desk, arguments, "verify").await
}

async fn with_task(desk: &Desk, arguments: &Arguments, verb: &str) -> Result<Answer, Refusal> {
    let project = desk.projects.choose(arguments.text("project")?)?;
    let words = of_task(&[verb, "--json"], arguments)?;
    let ended = desk.opal.ask(project, &words).await?;
    // 1: something is not in the desired state. Otherwise there is no plan, and the document says why.
    let is_error = !matches!(ended.code, 0 | 1);
    let answer = Answer::of(ended);
    Ok(Answer { is_error: answer.is_error || is_error, ..answer })
}
