//! `if`, `when`, `for`, `while`, `try`.

use opal_core::{Code, Span};

use super::statements::{self, Level, after_block, block};
use super::{MAX_DEPTH, expressions};
use crate::kind::SyntaxKind::*;
use crate::lexer::is_name_byte;
use crate::parser::Parser;

/// An expression in the head of a construct, where `{` opens the block.
fn head(p: &mut Parser<'_>) {
    let outer = std::mem::replace(&mut p.head, true);
    expressions::expression(p);
    p.head = outer;
}

// test if_else
// if @var.A == 1 { echo one } else if A > 2 {
//     echo more
// }
// else { echo none }
pub(crate) fn r#if(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    head(p);
    block(p);
    clauses(p);
    let _ = p.complete(marker, If);
    after_block(p, Code::ConstructAsOperand);
}

/// Every `else if` and `else` that follows, also on the next line.
pub(crate) fn clauses(p: &mut Parser<'_>) {
    while let Some(word) = clause_word(p, &["else", "elif", "elsif", "elseif"]) {
        let marker = p.start();
        p.lexer.between_statements();
        p.pass_tokens();
        p.peek();
        let span = p.span();
        p.bump();
        let condition = word != "else" || p.at_word("if");
        if word != "else" {
            let error = p.error(Code::Syntax, span, format!("`{word}` is written `else if`"));
            *error = error.clone().fix("write `else if`", span, "else if");
            error.help.push("write `else if CONDITION { … }`".into());
            head(p);
        } else if condition {
            p.bump();
            head(p);
        }
        block(p);
        let _ = p.complete(marker, ElseClause);
        if !condition {
            return;
        }
    }
}

/// The word behind blanks, line feeds and comments, if it is one of `words`.
fn clause_word(p: &mut Parser<'_>, words: &[&'static str]) -> Option<&'static str> {
    p.settle();
    let rest = p.lexer.peek_past_trivia();
    let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
    let next = rest.get(length).copied().unwrap_or(b'\n');
    let ends = next.is_ascii_whitespace() || next == b'{' || next == b'(';
    words.iter().copied().find(|word| word.as_bytes() == &rest[..length] && ends)
}

// test when_arms
// when @var.ENV {
//     "prod" | "live" -> echo careful
//     r"^dev-" -> { echo relaxed }
//     1...5 -> @cmd.few()
//     else -> echo other
// }
pub(crate) fn when(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    head(p);
    if p.peek() != LBrace {
        block(p);
        let _ = p.complete(marker, When);
        return;
    }
    let open = p.span();
    p.bump();
    p.depth += 1;
    if p.depth > MAX_DEPTH {
        p.error(Code::TooDeep, open, format!("blocks nest deeper than {MAX_DEPTH} levels"))
            .help
            .push("move the inner part into a function of its own".into());
        p.lexer.skip_braces();
        p.pass_tokens();
    } else {
        arms(p);
    }
    p.depth -= 1;
    if !p.eat(RBrace) {
        p.error(Code::UnclosedBlock, open, "this `when` has no `}`")
            .help
            .push("close it behind its last arm".into());
    }
    let _ = p.complete(marker, When);
    after_block(p, Code::ConstructAsOperand);
}

fn arms(p: &mut Parser<'_>) {
    loop {
        p.settle();
        p.lexer.between_statements();
        p.pass_tokens();
        if matches!(p.peek(), RBrace | Eof) {
            return;
        }
        let marker = p.start();
        if patterns(p) {
            p.settle();
            p.lexer.blanks();
            p.pass_tokens();
            if p.at_line_end() || p.byte_ahead() == b'}' {
                p.expected("a step or a block behind `->`");
            } else if p.byte_ahead() == b'{' {
                block(p);
                after_block(p, Code::RedirectedBlock);
            } else {
                statements::statement(p, Level::Block);
            }
            p.settle();
            statements::end_of_statement(p);
        } else {
            p.recover();
            if p.byte_ahead() == b'{' {
                block(p);
            }
        }
        let _ = p.complete(marker, Arm);
    }
}

/// `pattern | pattern ->`; false where the line is to be passed over.
fn patterns(p: &mut Parser<'_>) -> bool {
    loop {
        pattern(p);
        if p.eat(Pipe) {
            p.pass_newlines();
            continue;
        }
        if p.eat(Arrow) {
            return true;
        }
        let wrong = match p.peek() {
            Colon | Eq | RParen => true,
            _ => p.token_text() == "=>",
        };
        let error = p.expected("`->`");
        error.help.push(if wrong {
            "an arm is `pattern -> step`".into()
        } else {
            "patterns are literals, joined by `|`, and end in `->`".into()
        });
        return false;
    }
}

fn pattern(p: &mut Parser<'_>) {
    let outer = std::mem::replace(&mut p.head, true);
    match p.peek() {
        Ident if !matches!(p.token_text(), "true" | "false" | "null" | "else") => {
            let (span, word) = (p.span(), p.token_text().to_owned());
            let catch_all = matches!(word.as_str(), "_" | "default" | "otherwise");
            let error = p.error(
                Code::Syntax,
                span,
                format!("`{word}` is a name; the patterns of a `when` are literals"),
            );
            if catch_all {
                *error = error.clone().fix("write `else`", span, "else");
                error.help.push("what matches everything else is `else ->`".into());
            } else {
                *error = error.clone().fix("quote it", span, format!("\"{word}\""));
                error.help.push(format!("for the text, write `\"{word}\"`"));
            }
            p.bump();
        }
        Star => {
            p.expected("a pattern").help.push("what matches everything else is `else ->`".into());
            p.bump();
        }
        Ident | Int | Float | Duration | StringOpen | RawString | Regex | Minus | RefPath
        | LParen => expressions::pattern(p),
        _ => {
            p.expected("a pattern").help.push(
                "patterns are strings, numbers, true, false, null, ranges, r\"…\" and `else`"
                    .into(),
            );
        }
    }
    p.head = outer;
}

// test for_forms
// for x in [1, 2] { echo @var.x }
// for k, v in {a: 1}.b {
//     echo @var.k
// }
pub(crate) fn r#for(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    let good = loop_variables(p);
    if good {
        head(p);
        let listed = matches!(p.peek(), Ident | Int | StringOpen | Comma);
        if listed {
            p.expected("`{`").help.push("a list is written `[\"a\", \"b\"]`".into());
            p.recover();
        }
    } else {
        p.recover();
    }
    block(p);
    let _ = p.complete(marker, For);
    after_block(p, Code::ConstructAsOperand);
}

fn loop_variables(p: &mut Parser<'_>) -> bool {
    if !p.eat(Ident) {
        p.expected("a name").help.push("a loop is `for NAME in LIST { … }`".into());
        return false;
    }
    if p.eat(Comma) && !p.eat(Ident) {
        p.expected("a second name").help.push("over a map: `for KEY, VALUE in MAP { … }`".into());
        return false;
    }
    if !p.at_word("in") {
        p.expected("`in`").help.push("a loop is `for NAME in LIST { … }`".into());
        return false;
    }
    p.bump();
    true
}

// test while_loop
// var n = 0
// while n < 3 { n++ }
pub(crate) fn r#while(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    head(p);
    block(p);
    let _ = p.complete(marker, While);
    after_block(p, Code::ConstructAsOperand);
}

// test try_catch
// try { false } catch {
//     echo failed
// } finally { echo done }
pub(crate) fn r#try(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    let keyword = p.span();
    p.bump();
    block(p);
    let mut clauses = 0;
    for (word, kind) in [("catch", CatchClause), ("finally", FinallyClause)] {
        if clause_word(p, &[word]).is_none() {
            continue;
        }
        clauses += 1;
        let clause = p.start();
        p.lexer.between_statements();
        p.pass_tokens();
        p.peek();
        p.bump();
        if word == "catch" && matches!(p.peek(), Ident | LParen) {
            p.expected("`{`")
                .help
                .push("`catch` takes no name: what failed is in the record".into());
            p.recover();
        }
        block(p);
        let _ = p.complete(clause, kind);
    }
    if clauses == 0 {
        p.error(Code::Syntax, keyword, "this `try` has neither `catch` nor `finally`")
            .help
            .push("add `catch { … }` for what to do on failure, or `finally { … }`".into());
    }
    let _ = p.complete(marker, Try);
    after_block(p, Code::ConstructAsOperand);
}

/// `else`, `catch`, `finally` where nothing came before them.
pub(crate) fn stray(p: &mut Parser<'_>, word: &[u8]) {
    let start = p.lexer.pos() as u32;
    let span = Span::new(start, start + word.len() as u32);
    let word = p.lexer.slice(span).to_owned();
    let construct = if matches!(word.as_str(), "else" | "elif") { "if" } else { "try" };
    p.error(Code::StrayClause, span, format!("this `{word}` belongs to no `{construct}`"))
        .help
        .push(format!("it follows the `}}` of its `{construct}`, on the same or on the next line"));
    let marker = p.start();
    p.recover();
    if p.byte_ahead() == b'{' {
        block(p);
    }
    let _ = p.complete(marker, Error);
}
