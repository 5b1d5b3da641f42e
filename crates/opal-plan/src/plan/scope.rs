//! From a unit to the scope-resolved form.
//!
//! The static checks of a source have passed by then; a front end that has none of its own gets its
//! errors here: whatever means nothing stops the plan, and nothing is dropped. Only what the target
//! reaches is checked.

mod expressions;
mod statements;
mod steps;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use opal_core::{Code, Diagnostic, Registry, Span, Type};
use opal_syntax::Parse;

use super::scoped::{Function, Param, Program, Slot};
use crate::unit::{self, FunctionNames, StatementKind, Unit};

/// A program to plan, with what is needed to read the commands inside its strings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'s> {
    pub(crate) unit: &'s Unit,
    pub(crate) registry: &'s Registry,
    /// The text that the unit was lowered from, if it was.
    pub(crate) text: Option<(&'s Parse, &'s str)>,
}

/// The function of this index, or the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Function(usize),
    Script,
}

pub(crate) fn scope(source: Source<'_>, entry: Entry) -> Result<Program, Vec<Diagnostic>> {
    let mut scoper = Scoper::new(source);
    scoper.declare_globals();
    match entry {
        Entry::Script => {
            let script = scoper.script();
            scoper.program.script = Some(Rc::new(script));
        }
        Entry::Function(index) => scoper.wanted.push(index),
    }
    scoper.reach();
    scoper.close_globals();
    if scoper.lost.is_empty() { Ok(scoper.program) } else { Err(scoper.lost) }
}

pub(super) struct Scoper<'s> {
    source: Source<'s>,
    program: Program,
    /// The unit's declaration of each global, and its file.
    declarations: Vec<(usize, &'s unit::Expr)>,
    /// For each file every top-level declaration of a name, ascending.
    globals: Vec<BTreeMap<&'s str, Vec<u32>>>,
    /// The file that is being scoped.
    file: usize,
    /// Only declarations before this one are seen: in the script, and in the value of a global.
    horizon: Option<u32>,
    /// Made for the first call: most targets have none.
    by_name: OnceCell<FunctionNames<'s>>,
    /// Open scopes of variables and of `let`s, the innermost last.
    scopes: Vec<BTreeMap<(Space, &'s str), Slot>>,
    next_slot: u32,
    /// The script's own block is being scoped: a `var` there is a global.
    top: bool,
    /// Globals read by what is being scoped.
    read: BTreeSet<u32>,
    wanted: Vec<usize>,
    /// What means nothing.
    lost: Vec<Diagnostic>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Space {
    Var,
    Let,
}

impl<'s> Scoper<'s> {
    fn new(source: Source<'s>) -> Self {
        let mut program = Program::default();
        program.functions.resize_with(source.unit.functions.len(), || None);
        Self {
            source,
            program,
            declarations: Vec::new(),
            globals: Vec::new(),
            file: 0,
            horizon: None,
            by_name: OnceCell::new(),
            scopes: Vec::new(),
            next_slot: 0,
            top: false,
            read: BTreeSet::new(),
            wanted: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// A global for each top-level declaration; their values are scoped when something reads them.
    fn declare_globals(&mut self) {
        let unit = self.source.unit;
        for file in unit.files() {
            let mut globals: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
            for statement in &unit.script_of(file).statements {
                if let StatementKind::Var { name, value } = &statement.kind {
                    let index = self.declarations.len() as u32;
                    self.declarations.push((file, value));
                    globals.entry(&name.text).or_default().push(index);
                    self.program.globals.push(None);
                }
            }
            self.globals.push(globals);
        }
    }

    /// Scopes the wanted functions and all that they call.
    fn reach(&mut self) {
        while let Some(index) = self.wanted.pop() {
            if self.program.functions[index].is_none() {
                self.file = self.source.unit.file_of(index);
                let function = self.function(index);
                self.program.functions[index] = Some(Rc::new(function));
            }
        }
    }

    fn function(&mut self, index: usize) -> Function {
        let function = &self.source.unit.functions[index];
        self.begin();
        let mut params = Vec::new();
        for param in &function.params {
            let default = param.default.as_ref().map(|default| self.expression(default));
            self.declare(Space::Var, &param.name.text);
            params.push(Param {
                name: param.name.text.as_str().into(),
                ty: parameter_type(param),
                default,
                rest: param.rest,
            });
        }
        let body = self.block(&function.body);
        let directory = self.source.unit.own_directory(index).map(Rc::from);
        let home = self.source.unit.directory_of(self.file).map(Rc::from);
        Function { directory, home, ..self.end(function.name.text.as_str().into(), params, body) }
    }

    fn script(&mut self) -> Function {
        self.begin();
        self.top = true;
        self.horizon = Some(0);
        let body = self.statements(&self.source.unit.script);
        self.horizon = None;
        self.top = false;
        // The script sets its variables itself, as it comes to them.
        self.read.clear();
        self.end(opal_core::plan::Target::SCRIPT.into(), Vec::new(), body)
    }

    fn begin(&mut self) {
        self.scopes = vec![BTreeMap::new()];
        self.next_slot = 0;
        self.read.clear();
    }

    fn end(&mut self, name: Rc<str>, params: Vec<Param>, body: super::scoped::Block) -> Function {
        let globals = std::mem::take(&mut self.read).into_iter().collect();
        Function { name, params, slots: self.next_slot, body, directory: None, home: None, globals }
    }

    /// Scopes the values of the globals that are read, and lists for each function all it needs.
    fn close_globals(&mut self) {
        let mut needs: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let reached = self.program.functions.iter().flatten();
        let mut wanted: Vec<u32> = reached.flat_map(|f| f.globals.iter().copied()).collect();
        while let Some(index) = wanted.pop() {
            if needs.contains_key(&index) {
                continue;
            }
            let (file, value) = self.declarations[index as usize];
            self.begin();
            self.file = file;
            self.horizon = Some(index);
            let value = self.expression(value);
            let read: Vec<u32> = std::mem::take(&mut self.read).into_iter().collect();
            self.program.globals[index as usize] = Some(Rc::new(value));
            wanted.extend(&read);
            needs.insert(index, read);
        }
        self.horizon = None;
        for function in self.program.functions.iter_mut().flatten() {
            let function = Rc::get_mut(function).expect("nothing else holds it yet");
            let mut all: BTreeSet<u32> = BTreeSet::new();
            let mut open = function.globals.clone();
            while let Some(index) = open.pop() {
                if all.insert(index) {
                    open.extend(needs.get(&index).into_iter().flatten());
                }
            }
            function.globals = all.into_iter().collect();
        }
    }

    /// Something that cannot be planned, because it means nothing.
    fn lost(&mut self, span: Span, what: &str) {
        let message = format!("{what} has no meaning here");
        self.lost.push(
            Diagnostic::new(Code::UndeclaredVariable, span, message)
                .help("`opal check` says more about it"),
        );
    }

    fn declare(&mut self, space: Space, name: &'s str) -> Slot {
        let slot = Slot::Local(self.next_slot);
        self.next_slot += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert((space, name), slot);
        }
        slot
    }

    fn lookup(&mut self, space: Space, name: &str) -> Option<Slot> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(&(space, name)).copied());
        if local.is_some() || space == Space::Let {
            return local;
        }
        let declared = self.globals.get(self.file)?.get(name)?;
        let index = match self.horizon {
            Some(horizon) => *declared[..declared.partition_point(|d| *d < horizon)].last()?,
            // What functions read is declared once.
            None => *declared.first()?,
        };
        self.read.insert(index);
        Some(Slot::Global(index))
    }
}

fn parameter_type(param: &unit::Param) -> Type {
    if param.rest { Type::array(Type::Any) } else { param.declared_type() }
}
