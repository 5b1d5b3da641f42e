//! How resources ask the programs of a machine, and let them act.
//!
//! A program is written as constant text, and every value after it is a word of data: no value
//! becomes code of a shell. What a program takes for an option is its own affair, so whoever names
//! a value here has seen to it that none begins with `-`, or that it follows `--`.

use std::collections::BTreeMap;

use opal_core::action::{Command, Completed, Conditions, Halt, OutputOf, Stage};
use opal_core::context::{Context, Place};
use opal_core::resolver::{Answer, Ask, Probe, Run, ScriptPart, Trouble, TroubleKind};
use opal_core::{Data, Secret};

/// The `PATH` of a user, a timer or a CI job often leaves out where administrators' programs are.
const PATH: &str = "PATH=\"$PATH:/usr/sbin:/sbin\"";

/// What a shell ends with where there is no such program.
const NO_PROGRAM: i32 = 127;

/// What a step ends with that only root may do.
const DENIED: i32 = 126;

#[derive(Debug)]
pub(super) struct Program {
    name: &'static str,
    parts: Vec<ScriptPart>,
    environment: BTreeMap<String, Secret>,
}

impl Program {
    pub(super) fn new(name: &'static str, words: &'static str) -> Self {
        Self::after("", name, words)
    }

    /// With shell text before it, in the same shell.
    pub(super) fn after(before: &str, name: &'static str, words: &str) -> Self {
        let text = format!("{before}{PATH} {name} {words}");
        Self { name, parts: vec![ScriptPart::Text(text)], environment: BTreeMap::new() }
    }

    pub(super) fn set(mut self, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| (*name, Secret::new(*value)));
        self.environment.extend(variables.map(|(name, value)| (name.to_owned(), value)));
        self
    }

    pub(super) fn text(mut self, words: &'static str) -> Self {
        self.parts.push(ScriptPart::Text(format!(" {words}")));
        self
    }

    pub(super) fn word(mut self, word: impl Into<String>) -> Self {
        let place = Context::new(Place::Word).whole_word(true);
        self.parts.push(ScriptPart::Text(" ".to_owned()));
        self.parts.push(ScriptPart::Data(Data::text(word), place));
        self
    }

    pub(super) fn words(self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        words.into_iter().fold(self, Self::word)
    }

    /// What it says, in the words it has without any language, whatever it ends with.
    pub(super) fn ask(self, probe: &dyn Probe) -> Result<Answer, Trouble> {
        let Self { name, parts, environment } = self.set(&[("LC_ALL", "C")]);
        let run = Run::Script(&parts);
        let ask = Ask { run, environment: &environment, ..Ask::program(&[]) };
        let answer = probe.ask(&ask)?;
        if answer.code == NO_PROGRAM { Err(absent(name)) } else { Ok(answer) }
    }

    /// Lets it act, to its end. It reads nothing, so it cannot wait for an answer.
    pub(super) fn run(mut self, stage: &mut dyn Stage) -> Result<i32, Halt> {
        self.parts.push(ScriptPart::Text(" </dev/null".to_owned()));
        self.give(stage, OutputOf::Shown).map(|completed| completed.code)
    }

    /// The same, and all that it says is kept back: it may name what nobody should read.
    pub(super) fn run_quietly(mut self, stage: &mut dyn Stage) -> Result<Completed, Halt> {
        self.parts.push(ScriptPart::Text(" </dev/null 2>&1".to_owned()));
        self.give(stage, OutputOf::Captured)
    }

    /// Its text with the values in it, as a person would write it.
    #[cfg(test)]
    pub(super) fn written(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            ScriptPart::Text(text) => text.as_str(),
            ScriptPart::Data(data, _) => data.as_text().unwrap_or("{}"),
            ScriptPart::Raw(_) => "{raw}",
        });
        let text: String = parts.collect();
        text.split_once(PATH).map_or("", |(_, text)| text).trim().to_owned()
    }

    fn give(self, stage: &mut dyn Stage, output: OutputOf) -> Result<Completed, Halt> {
        let under = Conditions { environment: self.environment, ..Conditions::default() };
        stage.command(&Command { script: &self.parts, interpreter: None, under, output })
    }
}

/// Which of these programs there are.
pub(super) fn found(
    probe: &dyn Probe,
    programs: &[&'static str],
) -> Result<Vec<&'static str>, Trouble> {
    let script = format!(
        "{PATH}; for it in {}; do command -v \"$it\" >/dev/null 2>&1 && echo \"$it\"; done; :",
        programs.join(" ")
    );
    let ask = Ask { run: Run::Script(&[ScriptPart::Text(script)]), ..Ask::program(&[]) };
    let answer = probe.ask(&ask)?;
    let is_found = |name: &&&str| answer.stdout.expose().lines().any(|line| line == **name);
    Ok(programs.iter().filter(is_found).copied().collect())
}

fn is_root(probe: &dyn Probe) -> Result<bool, Trouble> {
    Ok(Program::new("id", "-u").ask(probe)?.stdout.expose().trim() == "0")
}

/// Fails where the user who runs opal may not do this.
pub(super) fn demand_root(stage: &dyn Stage, what: &str) -> Result<(), Halt> {
    let is_root = is_root(&*stage.probe()).map_err(|trouble| stage.fail(1, trouble))?;
    if is_root {
        return Ok(());
    }
    let message = format!("{what} requires root");
    let help = "run opal as root: `sudo opal …`";
    Err(stage.fail(DENIED, Trouble::new(TroubleKind::Denied, message, help)))
}

fn absent(name: &str) -> Trouble {
    let message = format!("`{name}` is not installed");
    let help = format!("install `{name}`, or add its directory to `PATH`");
    Trouble::new(TroubleKind::Missing, message, help)
}

/// What a program has to say about its failure, in one line: the last that it wrote.
pub(super) fn reason(said: &str) -> &str {
    said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it gave no reason")
}

/// Names in backticks, at most a handful.
pub(super) fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    const MOST: usize = 8;
    let names: Vec<_> = names.into_iter().collect();
    let shown = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opal_testing::MemoryWorld;

    #[test]
    fn values_are_in_the_text_as_data() {
        let program = Program::new("tool", "--flag --").word("$(x)").text("end");
        let texts = program.parts.iter().map(|part| match part {
            ScriptPart::Text(text) => text.as_str(),
            _ => "{}",
        });
        assert_eq!(texts.collect::<String>(), format!("{PATH} tool --flag -- {{}} end"));
    }

    #[test]
    fn what_was_found_comes_in_the_order_of_the_question() {
        let world = MemoryWorld::default().otherwise("b\na\nother\n");
        assert_eq!(found(&world, &["a", "c", "b"]).unwrap(), ["a", "b"]);
    }

    #[test]
    fn the_last_line_is_the_reason() {
        assert_eq!(reason("warning: x\nfatal: no\n\n"), "fatal: no");
        assert_eq!(reason("\n"), "it gave no reason");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(named(["a", "b"]), "`a`, `b`");
        assert!(named(["n"; 10]).ends_with("`n` and 2 more"));
    }
}
