//! Imports: their paths and namespaces, what an imported file may hold, and calls across files.

use std::collections::BTreeMap;

use opal_core::{Code, Diagnostic, Span, Type, suggest};

use super::checker::Checker;
use super::observer::{Definition, DefinitionKind, Observer, Use};
use crate::unit::{CallKind, Import, ImportKind, Lookup, StatementKind};

impl<O: Observer> Checker<'_, O> {
    /// The imports of the file being walked, and whether it may be one itself.
    pub(super) fn check_imports(&mut self) {
        let unit = self.unit;
        let mut known: BTreeMap<&str, Span> = BTreeMap::new();
        for import in unit.imports_of(self.file) {
            if !self.import_path(import) {
                continue;
            }
            let Some(namespace) = import.namespace() else { continue };
            let span = import.alias.as_ref().map_or(import.path_span, |alias| alias.span);
            if let Some(first) = known.insert(namespace, span) {
                let message = format!("the namespace `{namespace}` is used twice");
                let error = Diagnostic::new(Code::DuplicateNamespace, span, message);
                let help = "give one of them another name with `as`: `import \"…\" as NAME`";
                self.report(error.also(first, "first here").help(help));
                continue;
            }
            let kind = DefinitionKind::Namespace;
            self.observer.define(Definition { kind, name: namespace, span, ty: &Type::Any });
        }
        if self.file > 0 {
            self.imported_steps();
        }
    }

    /// Whether the path is one, and says what the functions are called with.
    fn import_path(&mut self, import: &Import) -> bool {
        let span = import.path_span;
        let Some(path) = import.path.as_deref().filter(|path| !path.is_empty()) else {
            let message = "the path of an import must be a literal";
            let help = "imports are read before any value: write the path itself";
            self.error(Code::ImportPath, span, message, help);
            return false;
        };
        let is_variables = import.kind() == ImportKind::Variables;
        if import.optional && !is_variables {
            let message = "only a file of variables can be optional";
            let help = "write `import` without `?`; `import? \".env.local\"` is allowed";
            self.error(Code::ImportPath, import.span, message, help);
        } else if let (true, Some(alias)) = (is_variables, &import.alias) {
            let message = format!("a file of variables has no namespace: `as {}`", alias.text);
            let help = "remove it, and read the variables with `@env.NAME`";
            self.error(Code::ImportPath, alias.span, message, help);
        } else if !is_variables && import.namespace().is_none() {
            let message = format!("`{path}` does not end in a name for its functions");
            let help = format!("give it one: `import \"{path}\" as NAME`");
            self.error(Code::ImportPath, span, message, help);
        }
        true
    }

    /// Nothing runs by being imported.
    fn imported_steps(&mut self) {
        for statement in &self.unit.script_of(self.file).statements {
            if !matches!(statement.kind, StatementKind::Var { .. }) {
                let message = "an imported file has only functions and variables at top level";
                let help = "move it into a function: nothing runs by being imported";
                self.error(Code::ImportedStep, statement.span, message, help);
            }
        }
    }

    /// The function that a name means in the file being walked.
    pub(super) fn function_named(&self, name: &str) -> Option<usize> {
        self.functions.by_name.find(self.file, name).function()
    }

    /// The function that is called; says so where there is none.
    pub(super) fn callee(&mut self, kind: CallKind, name: &str, span: Span) -> Option<usize> {
        match self.functions.by_name.find(self.file, name) {
            Lookup::Function(index) => {
                self.name_of_function(name, span, index);
                return Some(index);
            }
            // The target does not get here, or what is wrong with the import has been reported.
            Lookup::Unread => {}
            Lookup::Private(index) => {
                let message = format!("`{name}` is private to its file");
                let error = Diagnostic::new(Code::PrivateFunction, span, message)
                    .also(self.unit.functions[index].name.span, "defined here")
                    .help("call a public function of that file, or rename it without the `_`");
                self.report(error);
            }
            Lookup::NoNamespace => self.unknown_namespace(name, span),
            Lookup::Nothing => self.unknown_function_call(kind, name, span),
        }
        None
    }

    /// Tells which function a name means, and which import its namespace.
    fn name_of_function(&mut self, name: &str, span: Span, index: usize) {
        let unit = self.unit;
        let (namespace, own) = match name.split_once('.') {
            Some((namespace, own)) => (Some(namespace), own),
            None => (None, name),
        };
        self.observer.refer(Use::last(span, own, unit.functions[index].name.span));
        let imports = unit.imports_of(self.file).iter();
        let mut imports = imports.filter(|it| namespace.is_some() && it.namespace() == namespace);
        if let (Some(import), Some(namespace)) = (imports.next(), namespace) {
            let definition = import.alias.as_ref().map_or(import.path_span, |alias| alias.span);
            let end = span.end.saturating_sub(own.len() as u32 + 1).max(span.start);
            let before = Span::new(span.start, end);
            self.observer.refer(Use::last(before, namespace, definition));
        }
    }

    fn unknown_namespace(&mut self, name: &str, span: Span) {
        let (namespace, function) = name.split_once('.').unwrap_or((name, ""));
        let imports = self.unit.imports_of(self.file).iter();
        let near = suggest::nearest(namespace, imports.filter_map(Import::namespace));
        let message = format!("unknown namespace `{namespace}`");
        let error = Diagnostic::new(Code::UnknownFunction, span, message);
        self.report(error.help(match near {
            Some(near) => format!("did you mean `{near}.{function}`?"),
            None => format!("import it at the top of the file: `import \"{namespace}.opl\"`"),
        }));
    }
}
