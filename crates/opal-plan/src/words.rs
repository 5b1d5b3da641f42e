//! What the lexer must know of the registry.

use opal_core::Registry;
use opal_core::decorator::{Block, Subject};
use opal_syntax::{PathKind, Vocabulary};

/// A registry, seen as the paths that exist.
#[derive(Clone, Copy, Debug)]
pub struct Words<'r>(pub &'r Registry);

impl Vocabulary for Words<'_> {
    fn lookup(&self, path: &str) -> Option<PathKind> {
        let descriptor = self.0.get(path)?;
        // `@env` without a name is text; the lexer itself knows `@env.NAME`.
        if matches!(path, "var" | "env" | "let") {
            return None;
        }
        Some(PathKind {
            value: descriptor.is_value(),
            action: descriptor.is_action(),
            endpoint: descriptor.reads || descriptor.writes,
            text: descriptor.block == Block::Text,
            named: descriptor.subject != Subject::None,
        })
    }
}

/// The same for the files of packages: a function with dots in its name is a decorator.
#[derive(Clone, Copy, Debug)]
pub struct PackageWords<'r>(pub &'r Registry);

impl Vocabulary for PackageWords<'_> {
    fn lookup(&self, path: &str) -> Option<PathKind> {
        Words(self.0).lookup(path)
    }

    fn has_dotted_functions(&self) -> bool {
        true
    }
}
