//! Justfiles.
//!
//! | what | where |
//! |---|---|
//! | items at the top of the file; a file as it is written | here, `file` |
//! | imports and modules; where a file is | `includes`, `places` |
//! | settings and attributes | `settings` |
//! | expressions; strings; functions and constants | `expr`, `strings`, `functions`, `casing` |
//! | the lines of a body | `body` |
//! | recipes as tasks | `header`, `attributes`, `recipe`, calls of `just` in them: `calls` |

mod attributes;
mod body;
mod calls;
mod casing;
mod expr;
mod file;
mod functions;
mod header;
mod includes;
mod places;
mod recipe;
mod settings;
mod strings;

use crate::files::Folder;
use crate::form::{Expr, Leftover, Sheet, Variable};
use crate::limits::MAX_TASKS;
use crate::outcome::Unreadable;
use expr::Cursor;
use file::{Alias, Justfile, Recipe};
use settings::Attribute;

/// A justfile, by its name.
pub(crate) fn read(text: &str, name: &str, folder: Folder<'_>) -> Result<Sheet, Unreadable> {
    includes::sheet(text, name, folder)
}

/// The items of one file.
fn items(text: &str) -> Result<Justfile, Unreadable> {
    let mut file = Reader { text, at: 0, line: 1, docs: Vec::new(), attributes: Vec::new() };
    let mut justfile = Justfile::default();
    while file.at < text.len() {
        file.item(&mut justfile)?;
        if justfile.recipes.len() > MAX_TASKS {
            let message = format!("the file has more than {MAX_TASKS} tasks");
            return Err(Unreadable::new(file.line, &message));
        }
    }
    Ok(justfile)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    /// The comment lines directly above.
    docs: Vec<String>,
    attributes: Vec<Attribute>,
}

impl<'t> Reader<'t> {
    fn item(&mut self, file: &mut Justfile) -> Result<(), Unreadable> {
        let start = self.at;
        let rest = &self.text[start..];
        let line = rest.split('\n').next().unwrap_or_default();
        let words = line.trim();
        if words.is_empty() {
            self.docs.clear();
            self.advance(line.len() + 1);
            return Ok(());
        }
        if line.starts_with([' ', '\t']) {
            // A body that belongs to no recipe.
            return self.unreadable(file, line, "an indented line outside a recipe");
        }
        if let Some(comment) = words.strip_prefix('#') {
            if !(self.line == 1 && comment.starts_with('!')) {
                self.docs.push(comment.trim().to_owned());
            }
            self.advance(line.len() + 1);
            return Ok(());
        }
        if line.starts_with('[') {
            return self.attribute_line(file, line);
        }
        self.named(file, line)
    }

    fn attribute_line(&mut self, file: &mut Justfile, line: &str) -> Result<(), Unreadable> {
        let mut cursor = Cursor::new(self.text, self.at + 1);
        match settings::attributes(&mut cursor) {
            Ok(attributes) => {
                self.attributes.extend(attributes);
                let end = cursor.at;
                let rest = self.text[end..].split('\n').next().unwrap_or_default();
                self.advance(end - self.at + rest.len() + 1);
                Ok(())
            }
            Err(why) => self.unreadable(file, line, &why),
        }
    }

    /// Settings, aliases, imports, assignments and recipes.
    fn named(&mut self, file: &mut Justfile, line: &str) -> Result<(), Unreadable> {
        let mut cursor = Cursor::new(self.text, self.at);
        let first = cursor.name();
        let mark = cursor.at;
        let second = cursor.name();
        let after_second = cursor.at;
        cursor.at = mark;
        match (first, second) {
            (Some("set"), Some(_)) => match settings::setting(&mut cursor, &mut file.settings) {
                Ok(()) => self.pass(cursor.at),
                Err(why) => return self.unreadable(file, line, &why),
            },
            (Some("alias"), Some(name)) => {
                cursor.at = after_second;
                if !cursor.eat(":=") {
                    return self.recipe(file);
                }
                let target = cursor.rest().split('\n').next().unwrap_or_default().trim();
                let is_private =
                    name.starts_with('_') || self.attributes.iter().any(|it| it.name == "private");
                let (name, target) = (name.to_owned(), target.to_owned());
                file.aliases.push(Alias { line: self.line, name, target, is_private });
                self.pass(cursor.at);
            }
            (Some("export" | "eager" | "lazy"), Some(name))
                if {
                    cursor.at = after_second;
                    cursor.eat(":=")
                } =>
            {
                return self.assignment(file, cursor, name, line, first == Some("export"));
            }
            (Some("unexport"), Some(_)) => self.pass(cursor.at),
            (Some("import" | "mod"), _) if is_module(line) => {
                file.includes.push(includes::include(line, self.line));
                self.pass(cursor.at);
            }
            (Some(name), _)
                if {
                    cursor.at = mark;
                    cursor.eat(":=")
                } =>
            {
                return self.assignment(file, cursor, name, line, false);
            }
            (Some(name), _) if self.text[mark..].starts_with('(') => {
                return self.function(file, name, line);
            }
            _ => return self.recipe(file),
        }
        Ok(())
    }

    /// `name(a, b) := expression`.
    fn function(&mut self, file: &mut Justfile, name: &str, line: &str) -> Result<(), Unreadable> {
        let mut cursor = Cursor::new(self.text, self.at + name.len() + 1);
        let read = cursor.arguments().and_then(|_| {
            cursor.expect(":=")?;
            cursor.expression()
        });
        let why = "functions of justfiles are not converted";
        if read.is_err() {
            return self.unreadable(file, line, why);
        }
        let source = self.text[self.at..cursor.at].to_owned();
        let name = format!("{name}()");
        file.leftovers.push(Leftover {
            line: self.line,
            name,
            source,
            why: why.to_owned(),
            ..Leftover::default()
        });
        self.pass(cursor.at);
        Ok(())
    }

    fn assignment(
        &mut self,
        file: &mut Justfile,
        mut cursor: Cursor<'t>,
        name: &str,
        line: &str,
        export: bool,
    ) -> Result<(), Unreadable> {
        match cursor.expression() {
            Ok(value) => {
                let docs = std::mem::take(&mut self.docs);
                self.attributes.clear();
                // Assigned twice, where the file allows that: the last one counts.
                file.variables.retain(|it| it.name != name);
                file.variables.push(Variable { name: name.to_owned(), value, docs });
                if export {
                    file.exported.push(name.to_owned());
                }
                self.finish(cursor.at);
                Ok(())
            }
            Err(why) => {
                let value = Expr::Unsupported(format!("the variable `{name}`: {why}"));
                file.variables.push(Variable { name: name.to_owned(), value, docs: Vec::new() });
                self.unreadable(file, line, &why)
            }
        }
    }

    fn recipe(&mut self, file: &mut Justfile) -> Result<(), Unreadable> {
        let (start, line) = (self.at, self.line);
        let mut cursor = Cursor::new(self.text, self.at);
        cursor.eat("@");
        let Some(name) = cursor.name() else {
            let rest = self.text[start..].split('\n').next().unwrap_or_default();
            return self.unreadable(file, rest, "not an item of a justfile");
        };
        let header = header::header(&mut cursor);
        if header.is_err()
            && !self.text[start..].split('\n').next().unwrap_or_default().contains(':')
        {
            let rest = self.text[start..].split('\n').next().unwrap_or_default();
            return self.unreadable(file, rest, "not an item of a justfile");
        }
        self.finish(cursor.at);
        let body = self.body();
        let recipe = Recipe {
            line,
            file: None,
            name: name.to_owned(),
            source: self.text[start..self.at].trim_end().to_owned(),
            docs: std::mem::take(&mut self.docs),
            attributes: std::mem::take(&mut self.attributes),
            header,
            body,
        };
        file.recipes.push(recipe);
        Ok(())
    }

    /// The indented lines that follow, and the empty lines between them.
    fn body(&mut self) -> Vec<String> {
        let mut lines: Vec<&str> = Vec::new();
        let mut end = self.at;
        let mut at = self.at;
        while at < self.text.len() {
            let line = self.text[at..].split('\n').next().unwrap_or_default();
            let is_blank = line.trim().is_empty();
            if !is_blank && !line.starts_with([' ', '\t']) {
                break;
            }
            at = (at + line.len() + 1).min(self.text.len());
            lines.push(line);
            if !is_blank {
                end = at;
            }
        }
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        let lines = body::dedented(&lines);
        self.advance(end - self.at);
        lines
    }

    /// The same, and what was above belongs to nothing else.
    fn pass(&mut self, at: usize) {
        self.docs.clear();
        self.attributes.clear();
        self.finish(at);
    }

    /// To the line after the place.
    fn finish(&mut self, at: usize) {
        let rest = self.text[at..].split('\n').next().unwrap_or_default();
        self.advance(at - self.at + rest.len() + 1);
    }

    fn advance(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        self.line += self.text[self.at..end].matches('\n').count();
        self.at = end;
    }

    /// A line that is not understood: the file may be another kind of file, unless a recipe was read.
    fn unreadable(&mut self, file: &mut Justfile, line: &str, why: &str) -> Result<(), Unreadable> {
        if file.recipes.is_empty() && file.leftovers.len() >= 20 {
            return Err(Unreadable::new(self.line, "this is not a justfile"));
        }
        let shown: String = line.trim().chars().take(60).collect();
        let source = line.trim_end().to_owned();
        file.leftovers.push(Leftover {
            line: self.line,
            name: shown,
            source,
            why: why.to_owned(),
            ..Leftover::default()
        });
        self.docs.clear();
        self.attributes.clear();
        self.advance(line.len() + 1);
        Ok(())
    }
}

/// `import 'x'`, `import? 'x'`, `mod x`, `mod? x 'y'`; not a recipe of that name.
fn is_module(line: &str) -> bool {
    let line = line.split('#').next().unwrap_or_default().trim_end();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let rest = rest.strip_prefix('?').unwrap_or(rest).trim_start();
    !line.contains(':') && !rest.is_empty() || rest.starts_with(['\'', '"'])
}
