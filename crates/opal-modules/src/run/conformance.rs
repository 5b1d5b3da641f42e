//! The laws of drivers (see [`super::driver`]), held against one of them.
//!
//! Whoever writes a driver calls [`check`] in a test, with a stack that it can run, stacks that it
//! cannot, and inputs with secrets in them. Nothing is run here: what the tools do is for the tests of
//! the driver.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Command;
use super::driver::{Driver, Place, Request, Setting, Work};
use super::drivers::common::{RESERVED, stays};
use crate::{Execution, ModuleRef, Name, NotFound, Profile};

/// What a driver is tried with.
#[derive(Clone, Copy)]
pub struct Sample<'s> {
    /// A stack that it can run, whatever the command.
    pub fit: &'s Path,
    /// Stacks that it cannot run, whatever the command.
    pub unfit: &'s [&'s Path],
    pub inputs: &'s Map<String, Value>,
    /// What is in the inputs and must not be seen.
    pub secrets: &'s [&'s str],
    pub profile: &'s Profile,
    pub templates: &'s BTreeMap<String, String>,
}

/// The inputs hold secrets.
impl fmt::Debug for Sample<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sample").field("fit", &self.fit).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// The same request gives the same work.
    D1,
    /// No word of a command holds a secret input or a credential.
    D2,
    /// Labels are distinct, and begin with the name of the tool.
    D3,
    /// Every file it writes stays within the stack.
    D4,
    /// A stack that it cannot run is refused, in words, before anything runs.
    D5,
    /// Outputs that make no sense are an error that quotes nothing of them.
    D6,
}

/// A law that a driver does not obey.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    pub law: Law,
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.law, self.what)
    }
}

/// Every law that the driver breaks with this sample.
#[must_use]
pub fn check(driver: &dyn Driver, sample: &Sample<'_>) -> Vec<Breach> {
    let mut trial = Trial::new(driver, sample);
    for command in Command::ALL {
        // What is installed on a machine may decide which tools are taken, and no law.
        trial.command(command, &|_| None);
        trial.command(command, &|name| Some(Path::new("/programs").join(name)));
    }
    trial.outputs();
    trial.found.into_iter().collect()
}

struct Trial<'t> {
    driver: &'t dyn Driver,
    sample: &'t Sample<'t>,
    module: ModuleRef,
    execution: Execution,
    found: BTreeSet<Breach>,
}

type Find<'f> = &'f dyn Fn(&str) -> Option<PathBuf>;

impl<'t> Trial<'t> {
    fn new(driver: &'t dyn Driver, sample: &'t Sample<'t>) -> Self {
        let name = |text: &str, what| Name::parse(text, what).expect("the reference is a name");
        let execution = Execution {
            driver: name(driver.reference(), "driver"),
            profile: sample.profile.profile_ref.clone(),
            pack: name("trial", "pack"),
            hooks: Vec::new(),
        };
        let module = ModuleRef::parse("trial/module").expect("this is a reference");
        Self { driver, sample, module, execution, found: BTreeSet::new() }
    }

    fn breach(&mut self, law: Law, what: impl Into<String>) {
        self.found.insert(Breach { law, what: what.into() });
    }

    fn request<'r>(&'r self, command: Command, stack: &'r Path, find: Find<'r>) -> Request<'r> {
        Request {
            command,
            module: &self.module,
            instance: None,
            inputs: self.sample.inputs,
            execution: &self.execution,
            credentials: &[],
            profile: self.sample.profile,
            templates: self.sample.templates,
            stack,
            find,
        }
    }

    fn command(&mut self, command: Command, find: Find<'_>) {
        for stack in self.sample.unfit {
            if self.driver.fits(&self.request(command, stack, find)).is_ok() {
                self.breach(Law::D5, format!("a stack that is unfit seems to fit {command}"));
            }
            match self.driver.work(&self.request(command, stack, find)) {
                Ok(_) => {
                    self.breach(Law::D5, format!("a stack that is unfit is taken by {command}"))
                }
                Err(refusal) => self.refusal(&refusal),
            }
        }
        let request = self.request(command, self.sample.fit, find);
        let fits = self.driver.fits(&request);
        let works = [self.driver.work(&request), self.driver.work(&request)];
        let place = Place {
            run_id: "trial-1",
            stack: Path::new("/root/work/trial__module/trial-1/stack"),
            memory: Path::new("/root/state/tools/trial__module"),
            root: Path::new("/root"),
            colour: false,
        };
        let settings =
            [self.driver.setting(&request, &place), self.driver.setting(&request, &place)];
        if let Err(refusal) = fits {
            self.refusal(&refusal);
            self.breach(Law::D5, format!("a stack that is fit seems not to fit {command}"));
        }
        match works {
            [Ok(work), Ok(again)] => {
                if work != again {
                    self.breach(Law::D1, format!("two works of {command} differ"));
                }
                self.work(command, &work);
            }
            [first, second] => {
                for refusal in [first, second].into_iter().filter_map(Result::err) {
                    self.refusal(&refusal);
                }
                self.breach(Law::D5, format!("a stack that is fit is refused by {command}"));
            }
        }
        match settings {
            [Ok(setting), Ok(again)] => {
                if exposed(&setting) != exposed(&again) {
                    self.breach(Law::D1, format!("two settings of {command} differ"));
                }
                self.setting(&setting);
            }
            [first, second] => {
                for refusal in [first, second].into_iter().filter_map(Result::err) {
                    self.refusal(&refusal);
                }
                self.breach(Law::D5, format!("what was taken is refused later by {command}"));
            }
        }
    }

    fn work(&mut self, command: Command, work: &Work) {
        let tools = || work.tools.iter();
        let facts = Value::Object(work.facts.clone()).to_string();
        // Everything of a work is shown to people; a place of one machine would make another plan.
        let shown =
            tools().flat_map(|tool| tool.words.iter().chain([&tool.label]).chain(&tool.stdout));
        let shown: Vec<&String> =
            shown.chain(work.files_of_outputs()).chain(&work.warnings).chain([&facts]).collect();
        if shown.iter().any(|text| self.holds_secret(text)) {
            self.breach(Law::D2, format!("the work of {command} shows a secret"));
        }
        let stack = self.sample.fit.display().to_string();
        if shown.iter().any(|text| text.contains(&stack)) {
            self.breach(Law::D1, format!("the work of {command} names where the pack is"));
        }
        let parts: Vec<&str> = self.driver.reference().split('/').collect();
        let is_named = |label: &str| {
            let parts = parts.iter().any(|part| {
                let step = label.strip_prefix(part).and_then(|rest| rest.strip_prefix('_'));
                step.is_some_and(|step| !step.is_empty())
            });
            parts && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        if let Some(tool) = tools().find(|tool| !is_named(&tool.label)) {
            self.breach(
                Law::D3,
                format!("`{}` does not begin with the name of the tool", tool.label),
            );
        }
        if tools().map(|tool| &tool.label).collect::<BTreeSet<_>>().len() < work.tools.len() {
            self.breach(Law::D3, format!("two tools of {command} have one label"));
        }
        if work.tools.is_empty()
            || tools().any(|tool| tool.words.first().is_none_or(String::is_empty))
        {
            self.breach(Law::D5, format!("the work of {command} names no program"));
        }
        for path in tools()
            .filter_map(|tool| tool.stdout.as_ref())
            .chain(work.files_of_outputs())
            .chain(&work.report)
        {
            self.file(path);
        }
    }

    fn setting(&mut self, setting: &Setting) {
        let is_shown = setting.files.keys().chain(setting.variables.keys());
        if is_shown.into_iter().any(|name| self.holds_secret(name)) {
            self.breach(Law::D2, "a file or a variable is called after a secret");
        }
        if self.holds_secret(&format!("{setting:?}")) {
            self.breach(Law::D2, "a setting shows a secret");
        }
        for path in setting.files.keys() {
            self.file(path);
        }
    }

    fn file(&mut self, path: &str) {
        if !stays(path) {
            self.breach(Law::D4, format!("`{path}` leads out of the stack"));
        } else if RESERVED.contains(&path) {
            self.breach(Law::D4, format!("`{path}` is a file of the runtime"));
        }
    }

    fn refusal(&mut self, refusal: &NotFound) {
        if refusal.message.is_empty() || refusal.help.is_empty() {
            self.breach(Law::D5, "a stack is refused without words");
        }
        if self.holds_secret(&format!("{refusal:?}")) {
            self.breach(Law::D2, "a refusal shows a secret");
        }
    }

    /// Texts that are the outputs of no tool.
    fn outputs(&mut self) {
        const CANARY: &str = "canary-in-outputs";
        let texts = ["", "null", "{", "7", "[\"$\"]", "\"$\"", "{\"$\": \"$\"", "$", "{} $"];
        for text in texts.map(|text| text.replace('$', CANARY)) {
            match self.driver.outputs(&text) {
                Ok(_) => self.breach(Law::D6, "outputs that make no sense are taken"),
                Err(error) if error.contains(CANARY) => {
                    self.breach(Law::D6, "an error quotes the outputs");
                }
                Err(error) if error.is_empty() => self.breach(Law::D6, "an error says nothing"),
                Err(_) => {}
            }
        }
    }

    fn holds_secret(&self, text: &str) -> bool {
        self.sample.secrets.iter().any(|secret| text.contains(secret))
    }
}

/// All of a setting, to be compared and dropped.
fn exposed(setting: &Setting) -> Vec<(&str, &str)> {
    let all = setting.files.iter().chain(&setting.variables);
    all.map(|(name, value)| (name.as_str(), value.expose())).collect()
}
