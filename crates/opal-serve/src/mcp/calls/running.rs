//! The one tool that has effects: a contract runs if people have approved it. And stopping such a run.

use std::io::{Read as _, Seek as _};
use std::time::Duration;

use opal_core::hash::Algorithm;
use opal_vault::root;

use super::super::arguments::Arguments;
use super::super::desk::Desk;
use super::super::refusal::Refusal;
use super::super::started::run_of;
use super::Answer;
use crate::child::Guarded;

/// How long to wait before the record is looked for again: first, and at most.
const FIRST: Duration = Duration::from_millis(25);
const LONGEST: Duration = Duration::from_millis(400);

/// Bytes of the document about a run that was not started.
const MOST_BYTES: u64 = 1 << 20;

/// Starts a contract, and returns when its run has begun, or was refused. Whether it may run is decided by
/// the `opal` that is started, with `--require-approval`.
pub(super) async fn run(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let digits = arguments.contract("contract")?.ok_or(Refusal::Missing("contract"))?;
    let contract = desk.projects.contract(desk.root(), digits)?;
    let failed = |error: std::io::Error| Refusal::NotStarted(error.kind());
    let limit = opal_core::contract::MAX_BYTES as u64 + 1;
    let bytes = root::read_guarded(&contract.path, limit).map_err(|_| Refusal::Changed)?;
    let digest = Algorithm::Sha256.digest(&[&bytes]);
    // Without a name: nobody has to remove it, also when this process ends before the run.
    let mut printed = tempfile::tempfile_in(desk.root().directory("mcp")?).map_err(failed)?;
    let words = ["run", "--plan", &contract.id, "--require-approval", "--json"];
    let mut command = desk.opal.command(&contract.project, &words);
    command.stdout(printed.try_clone().map_err(failed)?);
    let mut child = Guarded::spawn(command)?;
    let process = child.id().unwrap_or_default();
    let mut pause = FIRST;
    let ended = loop {
        tokio::select! {
            ended = child.wait() => break ended?,
            () = tokio::time::sleep(pause) => {}
        }
        if let Some(run) = run_of(desk.root(), process, &digest) {
            let id = run.id.as_str().to_owned();
            if let Some(child) = child.released() {
                desk.started.keep(id.clone(), child);
            }
            return Ok(Answer::default().with("contract", contract.id).with("run", id));
        }
        pause = LONGEST.min(pause * 2);
    };
    let code = ended.code().unwrap_or(-1);
    let answer = Answer::default().with("contract", contract.id).with("exit", code);
    if let Some(run) = run_of(desk.root(), process, &digest) {
        return Ok(answer.with("run", run.id.as_str()));
    }
    let mut text = String::new();
    printed.rewind().map_err(failed)?;
    let _ = printed.take(MOST_BYTES).read_to_string(&mut text);
    Ok(Answer { is_error: true, result: serde_json::from_str(&text).ok(), ..answer })
}

pub(super) fn stop(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let run = arguments.run()?.ok_or(Refusal::Missing("run"))?;
    desk.started.stop(desk.root(), run)?;
    Ok(Answer::default().with("run", run).with("stopping", true))
}
