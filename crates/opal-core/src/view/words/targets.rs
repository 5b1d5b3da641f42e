//! Where a block runs.

use super::Words;
use super::constructs::steered_by;
use crate::crossing::{PLACES, TARGETS, Target};
use crate::data::Data;
use crate::plan::{Arg, Step};
use crate::target::Hop;
use crate::value::Value;
use crate::view::ink::{Ink, Style};

/// Names in a line.
const MAX_NAMES: usize = 12;

/// Arguments of a block on targets that its line says in another way.
const SAID: [&str; 4] = ["by", "roots", TARGETS, PLACES];

impl Words<'_> {
    /// Whether an argument is said after the call.
    pub(super) fn is_said_after(&self, step: &Step, name: &str) -> bool {
        self.for_reader && step.arg(TARGETS).is_some() && SAID.contains(&name)
    }

    /// ` → web1 web2 web3`, where the call itself does not say it.
    pub(super) fn targets(&self, step: &Step, ink: &mut Ink) {
        let written: Vec<&str> = step.targets().collect();
        if written.is_empty() || !self.for_reader {
            return;
        }
        let means = self.means(step);
        if !means.is_empty() {
            ink.write(" → ");
            names(&means.iter().map(String::as_str).collect::<Vec<_>>(), self.is_whole, ink);
            return steered_by(step, ink);
        }
        let is_plain = match written.as_slice() {
            [only] => step.args.iter().any(|(_, arg)| says(arg, only)),
            _ => false,
        };
        if !is_plain {
            ink.write(" → ");
            names(&written, self.is_whole, ink);
        }
        steered_by(step, ink);
    }

    /// `web1 (by tool connect web1; ready: test -e /run/up, within 5m)`, of targets that a package gives: what
    /// leads there, runs the steps and is waited for is code that it chose.
    fn means(&self, step: &Step) -> Vec<String> {
        let Some(Arg::Const(Value::Array(targets))) = step.arg(TARGETS) else { return Vec::new() };
        let targets: Vec<Target> =
            targets.iter().filter_map(|it| Target::from_data(&Data::from(it))).collect();
        let is_of_package =
            self.defaults.and_then(|it| it.get(step.node.path()?)?.plugin).is_some();
        let is_special = |it: &Target| {
            matches!(it.hop, Hop::Program(_)) || it.interpreter.is_some() || it.ready.is_some()
        };
        match is_of_package || targets.iter().any(is_special) {
            true => targets.iter().map(described).collect(),
            false => Vec::new(),
        }
    }

    /// `on web1 web3`.
    pub(super) fn variant(&self, step: &Step, ink: &mut Ink) {
        ink.styled(Style::Bold, "on ");
        names(&step.targets().collect::<Vec<_>>(), self.is_whole, ink);
    }
}

fn described(target: &Target) -> String {
    let mut parts = vec![match &target.hop {
        Hop::Ssh(ssh) => format!("by ssh {ssh}"),
        Hop::Program(carrier) => format!("by {}", carrier.program),
        other => other.to_string(),
    }];
    parts.extend(target.interpreter.iter().map(|it| format!("interpreter: {it}")));
    let ready = target.ready.iter();
    parts.extend(ready.map(|it| format!("ready: {}, within {}", it.program, it.within)));
    format!("{} ({})", target.name, parts.join("; "))
}

/// Whether an argument is a text that ends with the name of the target: `deploy@web1`.
fn says(arg: &Arg, name: &str) -> bool {
    let Arg::Const(Value::String(text)) = arg else { return false };
    let host = text.rsplit('@').next().unwrap_or(text);
    host == name || host.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
}

fn names(all: &[&str], is_whole: bool, ink: &mut Ink) {
    let most = if is_whole { usize::MAX } else { MAX_NAMES };
    ink.styled(Style::Value, &all[..all.len().min(most)].join(" "));
    if all.len() > most {
        ink.write(&format!(" … ({} targets)", all.len()));
    }
}
