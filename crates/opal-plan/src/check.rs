//! All that can be said about a program without any value.
//!
//! One walk over the unit, in source order, with a stack of scopes:
//!
//! | what | where |
//! |---|---|
//! | what all of them share | `checker` |
//! | statements, blocks, which scope is open | `walk` |
//! | variables: declared, visible, used | `names` |
//! | `let`: bound once, before it is read, where the plan does not depend on it | `lets` |
//! | decorator calls and their arguments, against the registry | `calls`, `arguments`, `binding` |
//! | references inside expressions and text | `references`, `text` |
//! | all of that, reported to an editor | [`observer`] |
//! | types, where they are known | `types`, `operators` |
//! | imports: paths, namespaces, what an imported file may hold | `imports` |
//! | functions: unique, acyclic, called with what they take | `functions`, `cycles`, `run_time_values` |
//! | `@needs`: before the steps, and in nothing that runs | `dependencies` |
//! | files with a million mistakes | `found` |
//! | what concerns one target, and what does not | `reach` |
//! | what Make, just and bash would do with a line, and opal does not | `habits`, `commands`, `foreign` |
//!
//! A type or a fact that is not known is given the benefit of the doubt; the planner looks again
//! when it has the value. So nothing reported here can turn out to have been fine.

mod arguments;
mod binding;
mod block_rules;
mod calls;
mod checker;
mod commands;
mod cycles;
mod dependencies;
mod environment;
mod foreign;
mod found;
mod functions;
mod habits;
mod imports;
mod lets;
mod lowered;
mod names;
pub mod observer;
mod operators;
mod reach;
mod references;
mod run_time_values;
mod text;
mod types;
mod walk;

use std::collections::BTreeSet;

use opal_core::{Code, Diagnostic, LineIndex, Registry, Span, diagnostic};
use opal_syntax::{Foreign, Parse, SyntaxKind};

use crate::lower::{self, Proofs};
use crate::unit::{FunctionNames, Links, Name, Unit};
use crate::words::Words;
use checker::Checker;
use observer::Observer;

pub use checker::CommandText;
pub use lowered::texts;
pub use reach::Findings;

pub(crate) use binding::{
    Bound, bind, bind_subject, decorator_error, foreign, function_error, repeated,
};

/// A source text that has been read, with everything wrong with it.
#[derive(Debug)]
pub struct Checked {
    unit: Unit,
    /// In the order of their places, so many of each code.
    pub diagnostics: Vec<Diagnostic>,
    /// Where the others are, in order.
    places: Vec<(Code, Span)>,
    /// Where they were asked for.
    pub texts: Vec<CommandText>,
    reach: reach::Reach,
}

/// Reads and checks `text`.
#[must_use]
pub fn check(text: &str, registry: &Registry) -> Checked {
    check_parsed(&opal_syntax::parse(text, &Words(registry)), text, registry)
}

/// The same, and collects every command text on the way, for the shell's parser.
#[must_use]
pub fn check_with_texts(parse: &Parse, text: &str, links: &Links, registry: &Registry) -> Checked {
    run(parse, text, links, registry, true)
}

/// Checks `text`, which has been parsed.
#[must_use]
pub fn check_parsed(parse: &Parse, text: &str, registry: &Registry) -> Checked {
    run(parse, text, &Links::default(), registry, false)
}

/// The same for a text with the files that it imports.
#[must_use]
pub fn check_linked(parse: &Parse, text: &str, links: &Links, registry: &Registry) -> Checked {
    run(parse, text, links, registry, false)
}

/// The same, and tells `observer` what each name means. Texts of steps that `proofs` knows are not read
/// again.
pub fn check_observed<O: Observer>(
    parse: &Parse,
    text: &str,
    links: &Links,
    registry: &Registry,
    proofs: &mut Proofs,
    observer: O,
) -> (Checked, O) {
    let unit = lower::edited(parse, text, proofs);
    run_on(unit, parse, text, links, registry, false, observer)
}

fn run(parse: &Parse, text: &str, links: &Links, registry: &Registry, collects: bool) -> Checked {
    run_on(lower::unit(parse, text), parse, text, links, registry, collects, ()).0
}

fn run_on<O: Observer>(
    mut unit: Unit,
    parse: &Parse,
    text: &str,
    links: &Links,
    registry: &Registry,
    collects: bool,
    observer: O,
) -> (Checked, O) {
    unit.link(links);
    let names = FunctionNames::new(&unit);
    let mut checker = Checker::new(text, registry, parse, &unit, &names, observer);
    checker.collects = collects;
    let (found, mut texts, reach, observer) = checker.run();
    let (mut diagnostics, mut places) = found.into_parts();
    places.sort_unstable_by_key(|(code, span)| (*span, *code));
    places.dedup();
    diagnostics.extend(parse.errors.iter().cloned());
    diagnostics.extend(opal_syntax::source::characters(text));
    diagnostic::sort(&mut diagnostics);
    diagnostics.dedup();
    without_errors(&mut texts, &diagnostics, parse);
    if diagnostics.iter().any(Diagnostic::is_error) {
        // There are more important things to say.
        diagnostics.retain(|found| found.code != Code::TopLevelStep);
        places.retain(|(code, _)| *code != Code::TopLevelStep);
    }
    // A text in braces may be read as a block of commands.
    let is_doubtful =
        || diagnostics.iter().any(Diagnostic::is_error) || text.trim_start().starts_with('{');
    if let Some(foreign) = is_doubtful().then(|| Foreign::of(text)).flatten() {
        diagnostics = vec![foreign.diagnostic(text)];
        places.clear();
        texts.clear();
    }
    (Checked { unit, diagnostics, places, texts, reach }, observer)
}

/// Functions that are defined twice: nobody may choose between them.
#[must_use]
pub fn duplicates(unit: &Unit) -> Vec<Diagnostic> {
    functions::duplicates(unit, &FunctionNames::new(unit)).collect()
}

/// Functions of the source whose names the command line keeps; `opal` is the command that runs them.
#[must_use]
pub fn reserved(unit: &Unit, opal: &str) -> Vec<Diagnostic> {
    let own = unit.functions[unit.functions_of(0)].iter().map(|it| &it.name);
    let reserved = own.filter(|name| opal_core::reserved::is_reserved(&name.text));
    let said = reserved.map(|Name { text: name, span }| {
        let message = format!("`opal {name}` is a built-in command and never runs this function");
        Diagnostic::new(Code::ReservedName, *span, message)
            .label("a reserved name")
            .help(format!("run it with `{opal} run {name}`, or rename it"))
    });
    said.collect()
}

/// Leaves out the texts that have an error already: the parser would only repeat it.
fn without_errors(texts: &mut Vec<CommandText>, sorted: &[Diagnostic], parse: &Parse) {
    let errors = sorted.iter().filter(|found| found.is_error());
    let starts: Vec<u32> = errors.map(|found| found.primary.span.start).collect();
    texts.retain(|text| {
        let first = starts.partition_point(|start| *start < text.span.start);
        starts.get(first).is_none_or(|start| *start > text.span.end)
    });
    if parse.is_broken() {
        texts.clear();
    }
}

impl<O: Observer> Checker<'_, O> {
    fn run(mut self) -> (found::Found, Vec<CommandText>, reach::Reach, O) {
        self.declare_functions();
        self.unit.files().for_each(|file| self.walk_file(file));
        self.check_cycles();
        self.check_run_time_parameters();
        self.top_level_steps();
        if self.parse.is_broken() {
            self.forgive();
        } else if self.parse.skipped.is_any {
            // Whatever is unused may be used in a block that was not read.
            self.out.retain(|code, _| {
                !matches!(code, Code::UnusedVariable | Code::UnusedParameter | Code::UnusedLet)
            });
        }
        (self.out, self.texts, reach::Reach::new(self.functions), self.observer)
    }

    /// Drops what a syntax error may have caused: text that was passed over may declare or use any
    /// name that is in it.
    fn forgive(&mut self) {
        let (tokens, text) = (self.parse.tokens(), self.text);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut lost: BTreeSet<&str> = (0..tokens.len())
            .filter(|index| tokens.kind(*index) == SyntaxKind::ErrorText)
            .flat_map(|index| text[tokens.span(index).range()].split(|c| !is_name(c)))
            .collect();
        // A line that could not be read in full has had its error.
        let errors = self.parse.errors.iter().filter(|error| error.is_error());
        let lines = self.lines.get_or_init(|| LineIndex::new(text));
        let broken: BTreeSet<u32> = errors.map(|e| lines.line(e.primary.span.start)).collect();
        for line in &broken {
            lost.extend(text[lines.line_range(text, *line)].split(|c| !is_name(c)));
        }
        self.out.retain(|_, span| !broken.contains(&lines.line(span.start)));
        self.out.retain(|code, span| match code {
            Code::UnusedVariable | Code::UnusedParameter | Code::UnusedLet => false,
            Code::UndeclaredVariable
            | Code::UsedBeforeDeclaration
            | Code::UnknownFunction
            | Code::LetUnbound
            | Code::LetOutOfScope
            | Code::LetUndeclared => {
                let name = &text[span.range()];
                let name = name.rsplit('.').next().unwrap_or(name);
                !lost.contains(name)
            }
            _ => true,
        });
    }
}
