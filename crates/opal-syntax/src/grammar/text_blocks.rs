//! `{ … }` around text that opal does not read.

use opal_core::{Code, Span};

use crate::kind::SyntaxKind::*;
use crate::lexer::TextEnd;
use crate::parser::Parser;

/// Bytes that a text may have.
const MAX_TEXT_BYTES: usize = 1024 * 1024;

// test text_blocks
// @script("python3") {
//     if x { # }
//         print("@var.x \n }")
//       }
// }
// @script("awk") { { print "}" } } | sort > f
// @script("sh") { }
// @script("sh") {
// } && echo good
// let.x = @script("sh") {
//   a
// }
// if y { @script("sh") { echo "}" } }
// echo good
// test text_block_indented
//     @script("python3") {
//   }
//     echo good
// test text_block_with_text_beside_its_brace
// @script("sh") { a
//     b
// }
// echo good
// test text_block_unclosed
// fun a() {
//     @script("sh") {
//         a
//     b
// fun c() = echo d
// test text_block_missing
// @script("sh")
// {
//     a
// }
// test text_block_of_an_unknown_decorator
// @nope.x(1) {
//     if [ "$x" ]; then '
//     for y in z; do
// }
// @nope { ' }
// echo good
/// The block of a decorator that takes text, or of one that nothing provides, if one follows on the
/// line. The call begins at `call`.
pub(crate) fn text_block(p: &mut Parser<'_>, call: usize, is_unknown: bool) {
    if p.byte_ahead() != b'{' {
        return;
    }
    let marker = p.start();
    p.peek();
    let open = p.span();
    p.bump();
    p.settle();
    let indentation = p.lexer.indentation(call);
    let end = p.lexer.block_text(indentation);
    while let Some(kind) = p.raw() {
        if kind.is_trivia() { p.pass_trivia() } else { p.bump() }
    }
    let text = p.previous();
    if is_unknown {
        p.skipped.is_any = true;
        if p.lexer.text[open.range().end..p.lexer.pos()].contains('\n') {
            p.skipped.lines.get_or_insert(Span::new(call as u32, open.end));
        }
    } else if text != open && text.range().len() > MAX_TEXT_BYTES {
        let message = "the text of this block is larger than 1 MiB";
        let help = "put it in a file, and start the program with the path of the file";
        p.error(Code::TextTooLarge, open, message).help.push(help.into());
    }
    if end == TextEnd::ClosedWithFirstLine {
        let message = "the text of a block begins on the line after its `{`";
        let help = "put the text on lines of its own, or all of it on this line: `{ text }`";
        p.error(Code::Syntax, Span::at(open.end), message).help.push(help.into());
    }
    if end == TextEnd::Open || !p.eat(RBrace) {
        let message = "the text of this block has no closing line";
        let help = "close it with a line that starts with `}`, indented no deeper than the call";
        p.error(Code::UnclosedBlock, open, message).help.push(help.into());
        p.is_text_open = true;
    }
    let _ = p.complete(marker, TextBlock);
    p.settle();
}
