//! What the checks of one program share: the program, what was found, and which scopes are open.

use std::cell::OnceCell;

use opal_core::resolver::ScriptPart;
use opal_core::{Code, Diagnostic, LineIndex, Registry, Span};
use opal_syntax::Parse;

use super::dependencies::Dependencies;
use super::found::Found;
use super::functions::Functions;
use super::lets::Lets;
use super::names::Names;
use super::observer::Observer;
use crate::unit::{FunctionNames, Unit};

/// A text that a shell will get, with a stand-in for each value.
#[derive(Debug)]
pub struct CommandText {
    /// Where it is written.
    pub span: Span,
    pub parts: Vec<ScriptPart>,
}

pub(super) struct Checker<'a, O> {
    pub(super) text: &'a str,
    pub(super) registry: &'a Registry,
    pub(super) parse: &'a Parse,
    pub(super) unit: &'a Unit,
    pub(super) out: Found,
    pub(super) functions: Functions<'a>,
    pub(super) names: Names,
    pub(super) lets: Lets,
    /// The file being walked: the source, or one that is imported.
    pub(super) file: usize,
    /// The function being walked; none in the script.
    pub(super) function: Option<usize>,
    /// Blocks that are open inside the function or the script.
    pub(super) depth: u32,
    /// `catch` clauses that are open.
    pub(super) catches: u32,
    pub(super) dependencies: Dependencies,
    /// What surrounding decorators set, the innermost last.
    pub(super) environment: Vec<Variable>,
    /// Made when a line is named: mostly never.
    pub(super) lines: OnceCell<LineIndex>,
    /// So many names may still be compared with a wrong one.
    pub(super) comparisons: usize,
    /// Whether texts of commands are kept.
    pub(super) collects: bool,
    pub(super) texts: Vec<CommandText>,
    pub(super) observer: O,
}

/// A variable of the environment of the steps that are being walked.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    /// Where it is set to a value from the world; none for other values.
    pub(super) span: Option<Span>,
}

/// Nobody reads more suggestions than this gives, and a file full of wrong names stays linear.
const MAX_COMPARISONS: usize = 1_000_000;

impl<'a, O: Observer> Checker<'a, O> {
    pub(super) fn new(
        text: &'a str,
        registry: &'a Registry,
        parse: &'a Parse,
        unit: &'a Unit,
        names: &'a FunctionNames<'a>,
        observer: O,
    ) -> Self {
        Self {
            text,
            registry,
            parse,
            unit,
            out: Found::default(),
            functions: Functions::new(names),
            names: Names::default(),
            lets: Lets::default(),
            file: 0,
            function: None,
            depth: 0,
            catches: 0,
            dependencies: Dependencies::default(),
            environment: Vec::new(),
            lines: OnceCell::new(),
            comparisons: MAX_COMPARISONS,
            collects: false,
            texts: Vec::new(),
            observer,
        }
    }

    /// What the file that is being walked may name.
    pub(super) fn registry(&self) -> &'a Registry {
        self.registry.of(self.unit.package_of(self.file))
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }

    pub(super) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.out.push(Diagnostic::new(code, span, message).help(help));
    }

    pub(super) fn line(&self, offset: u32) -> u32 {
        let lines = self.lines.get_or_init(|| LineIndex::new(self.text));
        // Lines are counted from the beginning of their file.
        lines.line(offset) + 1 - lines.line(self.unit.start_of_file(offset))
    }

    /// Whether a wrong name may be compared with `candidates` names.
    pub(super) fn may_suggest(&mut self, candidates: usize) -> bool {
        self.comparisons = self.comparisons.saturating_sub(candidates.max(1));
        self.comparisons > 0
    }
}
