//! `import "tasks/db.opl"`, `import "apps/web" as front`, `import? ".env.local"`.

use opal_core::{Code, Span};

use super::expressions;
use crate::kind::SyntaxKind::*;
use crate::lexer::is_blank;
use crate::parser::{Level, Parser};

/// Whether a statement is an import: the word before a string. `import -window root x.png` is a
/// command.
pub(crate) fn is_import(rest: &[u8]) -> bool {
    let Some(after) = rest.strip_prefix(b"import") else { return false };
    let after = after.strip_prefix(b"?").unwrap_or(after);
    let blanks = after.iter().take_while(|byte| is_blank(**byte)).count();
    blanks > 0 && matches!(after.get(blanks), Some(b'"' | b'\''))
}

// test imports
// import "tasks/db.opl"
// import 'apps/web' as front
// import? ".env.local"
// import -window root x.png
// test import_errors
// import "a.opl" as
// import "b.opl" as 1
// import "c.opl" d
// import "e.opl" as f g
// import "open
// echo good
// test import_too_late
// var a = 1
// import "b.opl"
// fun c() {
//     import "d.opl"
//     echo good
// }
pub(crate) fn import(p: &mut Parser<'_>, level: Level) {
    let marker = p.start();
    p.settle();
    let start = p.lexer.pos() as u32;
    let word = if p.lexer.rest().starts_with("import?") { "import?" } else { "import" };
    p.lexer.advance(word.len(), Ident);
    p.bump();
    let keyword = Span::new(start, start + word.len() as u32);
    if p.is_past_imports || level == Level::Block {
        let error =
            p.error(Code::ImportTooLate, keyword, "`import` must be at the top of the file");
        error.help.push("move the line above everything else in the file".into());
        error.help.push("for the program `import`, write `command import …`".into());
    }
    if matches!(p.peek(), StringOpen | RawString) {
        let _ = expressions::atom(p);
    }
    if !p.broken_string && p.at_word("as") {
        p.bump();
        if p.peek() == Ident {
            p.bump();
        } else {
            let error = p.expected("a name after `as`");
            error.help.push("write `import \"apps/web\" as front`".into());
        }
    }
    let _ = p.complete(marker, Import);
}
