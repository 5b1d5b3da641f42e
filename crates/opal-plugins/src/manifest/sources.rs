//! `decorators/*.opl`: decorators that are written in opal. Their signatures and comments are their
//! manifest.
//!
//! A file has functions and constants. A function with dots in its name is a decorator; any other is a
//! helper of its file. A package has `shell` when anything here can do what the user can do.

use std::collections::BTreeSet;

use opal_core::decorator::{Descriptor, Param, Presence};
use opal_core::{Code, Diagnostic, LineIndex, Registry, Span, Type};
use opal_plan::unit::{Expr, ExprKind, Function, Mention, StatementKind, Unit};
use opal_plan::{PackageWords, lower};

use super::paths::path_problem;
use super::schema::leak;
use super::{Body, Declared, Faulty, fault, text};
use crate::capability::Capability;
use crate::engine::EXPANDED;
use crate::package::Package;

/// A line that makes a package able to do whatever the user can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellLine {
    pub file: String,
    /// From 1.
    pub line: u32,
    pub text: String,
}

#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) decorators: Vec<Declared>,
    pub(super) shell_lines: Vec<ShellLine>,
}

impl Sources {
    pub(super) fn capabilities(&self) -> BTreeSet<Capability> {
        let shell = (!self.shell_lines.is_empty()).then_some(Capability::Shell);
        shell.into_iter().collect()
    }
}

pub(super) fn read(package: &Package, built_in: &Registry) -> Result<Sources, Vec<Faulty>> {
    let mut sources = Sources::default();
    let mut faulty = Vec::new();
    let files = package.paths().map(|path| path.as_str().to_owned());
    for file in files.filter(|file| file.starts_with("decorators/") && file.ends_with(".opl")) {
        match text(package, &file) {
            Ok(text) => {
                let errors = source(&file, &text, built_in, &mut sources);
                if !errors.is_empty() {
                    faulty.push(fault(&file, text, errors));
                }
            }
            Err(it) => faulty.push(it),
        }
    }
    if faulty.is_empty() { Ok(sources) } else { Err(faulty) }
}

fn source(file: &str, text: &str, built_in: &Registry, into: &mut Sources) -> Vec<Diagnostic> {
    let parse = opal_syntax::parse(text, &PackageWords(built_in));
    let broken = parse.errors.iter().filter(|error| error.is_error()).cloned();
    let mut errors: Vec<Diagnostic> =
        broken.map(|error| Diagnostic { code: Code::PackageSyntax, ..error }).collect();
    let unit = lower::unit(&parse, text);
    let mut refuse = |span: Span, message: &str, help: &str| {
        errors.push(Diagnostic::new(Code::PackageStatement, span, message).help(help));
    };
    for import in &unit.imports {
        let help = "write what it needs into the package, or name a package under `[dependencies]`";
        refuse(import.span, "a file of a package imports nothing", help);
    }
    for statement in &unit.script.statements {
        if !matches!(statement.kind, StatementKind::Var { .. }) {
            let help = "move it into a function: `fun NAME.NAME() { … }`";
            refuse(
                statement.span,
                "only functions and variables are at the top of a package",
                help,
            );
        }
    }
    for function in unit.functions.iter().filter(|function| function.name.text.contains('.')) {
        if let Some(rest) = function.params.iter().find(|param| param.rest) {
            let help = "take a list instead: `NAME: Array[String]`";
            refuse(rest.name.span, "a decorator of a package has no `NAME...`", help);
        }
    }
    let decorators = unit.functions.iter().filter(|function| function.name.text.contains('.'));
    for function in decorators {
        let (path, span) = (&function.name.text, function.name.span);
        errors.extend(path_problem(path, span, built_in));
        into.decorators.push(Declared {
            path: path.clone(),
            descriptor: descriptor(function),
            body: Body::Opal { file: file.to_owned(), function: path.clone() },
            is_exported: false,
            attempts: None,
            opens: false,
            returns: None,
        });
    }
    into.shell_lines.extend(shell_lines(file, text, &unit, built_in));
    opal_core::diagnostic::sort(&mut errors);
    errors
}

fn descriptor(function: &Function) -> Descriptor {
    let said = function.documentation();
    let (summary, docs) = said.text.split_once('\n').unwrap_or((&said.text, ""));
    let param = |(param, docs): (&opal_plan::unit::Param, Option<&str>)| {
        let presence = match &param.default {
            None => Presence::Required,
            Some(Expr { kind: ExprKind::Literal(value), .. }) => Presence::Default(value.clone()),
            Some(_) => Presence::Optional,
        };
        let ty = if param.rest { Type::array(Type::Any) } else { param.declared_type() };
        Param {
            name: leak(&param.name.text),
            ty,
            presence,
            docs: leak(docs.unwrap_or("")),
            ..Param::BASE
        }
    };
    let params: Vec<Param> = function.params.iter().zip(said.params).map(param).collect();
    Descriptor {
        summary: leak(summary.trim().trim_end_matches('.')),
        docs: leak(docs.trim()),
        params: Box::leak(params.into_boxed_slice()),
        action: Some(&EXPANDED),
        ..Descriptor::BASE
    }
}

/// Every line with a shell step, or with a decorator that runs commands, reads secrets or variables,
/// changes the machine or leaves it.
fn shell_lines(file: &str, text: &str, unit: &Unit, built_in: &Registry) -> Vec<ShellLine> {
    let mut found = Vec::new();
    unit.mentions(&mut |mention| {
        let span = match mention {
            Mention::Shell(shell) => Some(shell.span),
            Mention::Reference(it) => is_powerful(&it.path.text, built_in).then_some(it.span),
            Mention::Call(it) => is_powerful(&it.path.text, built_in).then_some(it.span),
            Mention::Name(_) => None,
        };
        found.extend(span);
    });
    lines(file, text, &found)
}

/// The lines in which these places are, each once.
pub(super) fn lines(file: &str, text: &str, places: &[Span]) -> Vec<ShellLine> {
    let index = LineIndex::new(text);
    let found: BTreeSet<u32> = places.iter().map(|span| index.line(span.start)).collect();
    let line = |line: u32| ShellLine {
        file: file.to_owned(),
        line,
        text: text.lines().nth(line as usize - 1).unwrap_or("").trim().to_owned(),
    };
    found.into_iter().map(line).collect()
}

/// Only what computes, decides or talks to people is harmless. Every other built-in counts, those of later
/// versions too.
fn is_powerful(path: &str, built_in: &Registry) -> bool {
    const HARMLESS: [&str; 20] = [
        "args",
        "cli",
        "cmd",
        "confirm",
        "fail",
        "let",
        "limits",
        "log",
        "needs",
        "os",
        "parallel",
        "print",
        "random",
        "raw",
        "rethrow",
        "retry",
        "time",
        "timeout",
        "to_display",
        "var",
    ];
    let first = path.split('.').next().unwrap_or(path);
    built_in.has_segment(first) && !HARMLESS.contains(&first)
}
