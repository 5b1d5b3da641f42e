//! `opal runs tail`: a run while it goes on.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::Duration;

use clap::ArgMatches;
use opal_vault::record::reader::{self, Events, Following, Found, Printed, Run, State};
use opal_vault::root::Root;
use serde_json::Value;

use super::stored::found;
use crate::context::Context;
use crate::failure::record::{unclear, unreadable};
use crate::failure::{Exit, Failure};
use crate::view;
use crate::view::ink::Ink;
use crate::view::runs::{Page, Screen};

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) fn run(
    context: &Context<'_>,
    root: &Root,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let runs = context.opal_runs(matches.get_one("root"));
    let all = found(root)?;
    let name = matches.get_one::<String>("run").map(String::as_str);
    let one = match name.or_else(|| all.is_empty().then_some("last")) {
        Some(name) => reader::find(&all, name).map_err(|why| unclear(name, &why, &runs))?,
        None => all.iter().find(|found| is_running(found)).unwrap_or(&all[0]),
    };
    let events = Events::open(&one.folder).map_err(unreadable)?;
    let mut tail = Tail {
        found: one,
        events,
        own: BTreeMap::new(),
        told: BTreeMap::new(),
        json: matches.get_flag("json"),
        ink: context.err(),
        screen: Screen::new(context.ambient.stdout_is_terminal, context.out().colour),
    };
    loop {
        // Asked first: what is written until then is read below.
        let goes_on = is_running(one);
        tail.catch_up()?;
        if !goes_on {
            break;
        }
        thread::sleep(PAUSE);
    }
    let run = Run::load(one).map_err(unreadable)?;
    if !tail.json {
        view::runs::tail_end(&run, tail.ink);
    }
    Ok(Exit::Done)
}

fn is_running(found: &Found) -> bool {
    Run::load(found).is_ok_and(|run| run.state == State::Running)
}

struct Tail<'f> {
    found: &'f Found,
    events: Events,
    /// Outputs that have files of their own, and how far each has been shown.
    own: BTreeMap<u64, Following>,
    /// How much of the other outputs has been shown.
    told: BTreeMap<u64, u64>,
    json: bool,
    ink: Ink,
    screen: Screen,
}

impl Tail<'_> {
    /// Shows everything there is by now.
    fn catch_up(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.events.next_event().map_err(unreadable)? {
            if self.json {
                let mut page = Page::default();
                page.json(&event)?;
                page.end()?;
            } else {
                self.show(&event)?;
            }
        }
        self.own.keys().copied().collect::<Vec<_>>().into_iter().try_for_each(|n| self.follow(n))
    }

    fn show(&mut self, event: &Value) -> Result<(), Failure> {
        match Printed::of(event, &self.found.folder) {
            Some(Printed::Bytes { number, bytes }) => {
                *self.told.entry(number).or_default() += bytes.len() as u64;
                self.print(&bytes)
            }
            Some(Printed::File { number, path, left_out }) => self.begin(number, &path, left_out),
            None => {
                if event["kind"] == "step_finished"
                    && let Some(number) = event["number"].as_u64()
                {
                    self.follow(number)?;
                    self.own.remove(&number);
                    self.told.remove(&number);
                }
                view::runs::tail_event(event, self.ink);
                Ok(())
            }
        }
    }

    /// The file has what was shown before as well.
    fn begin(&mut self, number: u64, path: &Path, left_out: Option<u64>) -> Result<(), Failure> {
        if !self.own.contains_key(&number) {
            let told = self.told.remove(&number).unwrap_or_default();
            self.own.insert(number, Following::open(path, told).map_err(unreadable)?);
        }
        if let (Some(output), Some(left_out)) = (self.own.get_mut(&number), left_out) {
            output.ended(left_out);
        }
        Ok(())
    }

    /// What has been added to the output of a step.
    fn follow(&mut self, number: u64) -> Result<(), Failure> {
        while let Some(output) = self.own.get_mut(&number) {
            let added = output.more().map_err(unreadable)?;
            if added.is_empty() {
                break;
            }
            self.print(&added)?;
        }
        Ok(())
    }

    fn print(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        view::print_bytes(&self.screen.shown(bytes)).map(drop)
    }
}
