//! Which runs `opal runs list` lists.

use std::io::Read;

use clap::ArgMatches;
use memchr::memmem::Finder;
use opal_core::Duration;
use opal_core::view::time_text;
use opal_vault::event::Status;
use opal_vault::record::reader::{self, Outputs, Printed, Run, State, Unread, Unreadable};

use crate::clock::unix_time;
use crate::failure::Failure;

/// Bytes of output that are read at a time.
const CHUNK: usize = 64 * 1024;

/// `2026-11-18T15:43:52`: as far as times are compared.
const SECONDS: usize = 19;

/// What was asked for; all of it must hold.
pub(super) struct Filter<'f> {
    target: Option<&'f str>,
    status: Option<State>,
    failed: bool,
    /// As text that sorts like time.
    since: Option<String>,
    until: Option<String>,
    host: Option<&'f str>,
    commit: Option<&'f str>,
    contract: Option<&'f str>,
    step: Option<&'f str>,
    grep: Option<&'f str>,
}

impl<'f> Filter<'f> {
    pub(super) fn from(matches: &'f ArgMatches) -> Result<Self, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        Ok(Self {
            target: text("target"),
            status: text("status").and_then(State::named),
            failed: matches.get_flag("failed"),
            since: text("since").map(|it| moment("--since", it)).transpose()?,
            until: text("until").map(|it| moment("--until", it)).transpose()?,
            host: text("host"),
            commit: text("commit"),
            contract: text("contract"),
            step: text("step"),
            grep: text("grep").filter(|it| !it.is_empty()),
        })
    }

    /// Whether everything is listed, also what cannot be read.
    pub(super) fn is_open(&self) -> bool {
        let texts = [self.target, self.host, self.commit, self.contract, self.step, self.grep];
        texts.iter().all(Option::is_none)
            && self.status.is_none()
            && !self.failed
            && self.since.is_none()
            && self.until.is_none()
    }

    /// What takes longest comes last.
    pub(super) fn holds(&self, run: &Run) -> Result<bool, Unreadable> {
        Ok(self.fits(run) && self.has_step(run)? && self.printed(run)?)
    }

    fn fits(&self, run: &Run) -> bool {
        use Status::{Crashed, Failed, Interrupted};
        let begins = |name: &str, with: Option<&str>| {
            with.is_none_or(|with| run.text(name).is_some_and(|it| it.starts_with(with)))
        };
        let at = run.started_at().and_then(|at| at.get(..SECONDS));
        let is_failed = matches!(run.state, State::Ended(Failed | Interrupted | Crashed));
        self.target.is_none_or(|target| run.target() == target)
            && self.status.is_none_or(|status| run.state == status)
            && (!self.failed || is_failed)
            && self.since.as_deref().is_none_or(|since| at.is_some_and(|at| at >= since))
            && self.until.as_deref().is_none_or(|until| at.is_some_and(|at| at < until))
            && self.host.is_none_or(|host| run.text("host") == Some(host))
            && begins("commit", self.commit)
            && self.contract.is_none_or(|wanted| is_of(run, wanted))
    }

    /// A step with this path, or one inside it.
    fn has_step(&self, run: &Run) -> Result<bool, Unreadable> {
        let Some(wanted) = self.step else { return Ok(true) };
        let is_meant = |path: &str| {
            path.strip_prefix(wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        Ok(reader::steps(&run.folder)?.iter().any(|step| is_meant(&step.path)))
    }

    /// Whether a step printed the text.
    fn printed(&self, run: &Run) -> Result<bool, Unreadable> {
        let Some(wanted) = self.grep else { return Ok(true) };
        let mut search = Search { wanted: Finder::new(wanted), seen: Vec::new() };
        let mut of = None;
        for printed in Outputs::open(&run.folder, None)? {
            let printed = printed?;
            if of != Some(printed.number()) {
                search.seen.clear();
                of = Some(printed.number());
            }
            let is_there = match printed {
                Printed::Bytes { bytes, .. } => search.finds(&bytes),
                file @ Printed::File { .. } => search.finds_in(&mut file.read()?, run)?,
            };
            if is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Looks for a text in output that comes in pieces.
struct Search<'f> {
    wanted: Finder<'f>,
    /// What may be the beginning of it.
    seen: Vec<u8>,
}

impl Search<'_> {
    fn finds(&mut self, more: &[u8]) -> bool {
        self.seen.extend_from_slice(more);
        if self.wanted.find(&self.seen).is_some() {
            return true;
        }
        let keep = self.seen.len().min(self.wanted.needle().len() - 1);
        self.seen.drain(..self.seen.len() - keep);
        false
    }

    fn finds_in(&mut self, output: &mut dyn Read, run: &Run) -> Result<bool, Unreadable> {
        let mut chunk = vec![0; CHUNK];
        loop {
            match output.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(count) if self.finds(&chunk[..count]) => return Ok(true),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let (path, why) = (run.folder.clone(), Unread::Io(error));
                    return Err(Unreadable { path, why });
                }
            }
        }
    }
}

/// By the beginning of its digest, or by its file.
fn is_of(run: &Run, wanted: &str) -> bool {
    let Some(contract) = run.get("contract") else { return false };
    let text = |name: &str| contract[name].as_str().unwrap_or_default();
    let digits = wanted.strip_prefix("sha256:").unwrap_or(wanted);
    text("path") == wanted || digits.len() >= 8 && text("file_digest").starts_with(digits)
}

/// `2d` ago, the beginning of a day in UTC, or a time in UTC, as text that sorts like time.
pub(in crate::commands) fn moment(option: &str, text: &str) -> Result<String, Failure> {
    if let Ok(ago) = Duration::parse(text) {
        let at = unix_time().saturating_sub(ago.as_nanos() / 1_000_000_000);
        let at = time_text(at).unwrap_or_default();
        return Ok(at.get(..SECONDS).unwrap_or("0000").to_owned());
    }
    let shape: String = text.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
    match shape.as_str() {
        "0000-00-00" => Ok(format!("{text}T00:00:00")),
        "0000-00-00T00:00:00Z" => Ok(text[..SECONDS].to_owned()),
        _ => Err(Failure::usage(
            format!("`{option}` expects a duration or a time, got `{text}`"),
            "write `2d`, `2026-11-18` or `2026-11-18T15:00:00Z`; days begin in UTC",
        )),
    }
}
