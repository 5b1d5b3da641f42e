//! `{ … }`: the statements in it, and what may appear around it.

use opal_core::{Code, Span};

use crate::kind::SyntaxKind::*;
use crate::lexer::Lexer;
use crate::parser::{Level, MAX_DEPTH, Parser};

/// `{ … }`; says so where there is none.
// test block_missing
// if x == 1
//     echo a
// }
// echo good
// test block_on_the_next_line
// if x
// {
//     echo a
// }
// test block_unclosed
// if x {
//     echo a
// test block_unclosed_before_function
// fun a() {
//     if x {
//         echo a
// }
// fun b() = echo good
// test block_empty
// if x { }
pub(crate) fn block(p: &mut Parser<'_>) {
    if p.peek() != LBrace {
        missing_block(p);
        return;
    }
    let marker = p.start();
    braces(p, "block", |p| statements(p, Level::Block));
    let _ = p.complete(marker, Block);
}

/// Passes over the rest of the line, and over the block that it may lead to.
pub(crate) fn recover(p: &mut Parser<'_>) {
    p.recover();
    if p.byte_ahead() == b'{' {
        block(p);
    }
}

/// A brace, what `inside` reads, and the brace that closes it.
pub(crate) fn braces(p: &mut Parser<'_>, what: &str, inside: impl FnOnce(&mut Parser<'_>)) {
    let open = p.span();
    p.bump();
    let (head, brackets) = (std::mem::take(&mut p.head), std::mem::take(&mut p.brackets));
    let outer = p.lexer.block.replace(open.start as usize);
    p.depth += 1;
    if p.depth > MAX_DEPTH {
        let message = format!("blocks are nested deeper than {MAX_DEPTH} levels");
        p.error(Code::TooDeep, open, message)
            .help
            .push("move the inner part into a function of its own".into());
        p.error_node(|lexer| lexer.skip_braces());
    } else {
        inside(p);
    }
    p.depth -= 1;
    p.settle();
    if !p.eat(RBrace) && !p.is_text_open {
        let next = p.span();
        let error = p.error(Code::UnclosedBlock, open, format!("this {what} has no closing `}}`"));
        if !next.is_empty() {
            *error = error.clone().also(next, "a function begins here, at top level");
        }
        error.help.push("close it; a `}` inside quotes or a comment does not count".into());
    }
    p.lexer.block = outer;
    (p.head, p.brackets) = (head, brackets);
}

/// Statements up to a `}` or the end of the file.
pub(crate) fn statements(p: &mut Parser<'_>, level: Level) {
    loop {
        p.settle();
        p.broken_string = false;
        p.lexer.between_statements();
        p.pass_tokens();
        match p.lexer.byte(0) {
            _ if p.lexer.at_end() => return,
            b'}' if level == Level::Block => return,
            b'}' => unmatched_brace(p),
            b'f' if level == Level::Block && at_top_level_function(p) => return,
            _ => {
                let before = p.lexer.pos();
                p.statement(level);
                end_of_statement(p);
                assert!(p.lexer.pos() > before, "the grammar makes no progress at byte {before}");
            }
        }
    }
}

// test unmatched_brace
// echo a
// }
// echo b
// }} echo c
// } }
/// A run of them is one error, on each line.
fn unmatched_brace(p: &mut Parser<'_>) {
    let start = p.lexer.pos() as u32;
    p.error_node(Lexer::skip_closers);
    let span = Span::new(start, p.lexer.pos() as u32);
    p.error(Code::UnmatchedBrace, span, "unmatched `}`")
        .help
        .push("delete it, or quote it if it is text: `'}'`".into());
}

/// A statement begins on a new line, after `{` or after `->`.
// test text_after_statement
// var a = 1 2
// n++ m++
// if x { } echo b
// n = 1 {
//     echo a
// }
// echo good
pub(crate) fn end_of_statement(p: &mut Parser<'_>) {
    p.settle();
    if at_top_level_function(p) {
        // A block without its end stopped here.
        return;
    }
    let mut said = false;
    while !p.at_line_end() && p.byte_ahead() != b'}' {
        p.lexer.blanks();
        p.pass_tokens();
        if !said {
            say_text_after_statement(p);
            said = true;
        }
        recover(p);
        p.settle();
    }
}

fn say_text_after_statement(p: &mut Parser<'_>) {
    let start = p.lexer.pos() as u32;
    let rest = p.lexer.rest();
    let line = rest.lines().next().unwrap_or(rest).trim_end();
    let shown: String = line.chars().take(30).collect();
    let span = Span::new(start, start + line.len() as u32);
    let message = format!("unexpected `{shown}` after the end of a statement");
    let help = match line.as_bytes() {
        [b'?', ..] => "opal has no `? :`; use `if … { NAME = … }`",
        [b'(', ..] => {
            "values have no methods; the functions include int, float, str, split, join, lines \
             and trim"
        }
        [b'^' | b'~', ..] => "the operators are + - * / % == != < <= > >= && || ! and `...`",
        [b';', ..] => "write one statement on each line, without a `;` after it",
        _ => "begin each statement on its own line",
    };
    p.error(Code::TextAfterStatement, span, message).help.push(help.into());
}

/// Whether a function begins here, at the very start of a line: then a `}` was forgotten above.
pub(crate) fn at_top_level_function(p: &Parser<'_>) -> bool {
    let at = p.lexer.pos();
    let line_start = at == 0 || p.lexer.text.as_bytes()[at - 1] == b'\n';
    line_start && p.lexer.rest().starts_with("fun ")
}

// test block_words
// if a and b { echo x }
// if a or b { echo x }
// if a = b { echo x }
// if a; b { echo x }
// if a b { echo x }
fn missing_block(p: &mut Parser<'_>) {
    let head = p.previous().start as usize;
    let found = p.peek();
    let word = if found == Ident { p.token_text() } else { "" };
    let on_next_line = found == Newline && {
        p.settle();
        p.lexer.peek_past_trivia().first() == Some(&b'{')
    };
    let error = p.expected(if on_next_line { "`{` on this line" } else { "`{`" });
    error.help.push(match word {
        _ if on_next_line => "put the opening brace on the line of its construct".into(),
        _ if found == Eq => "write a comparison with `==`".into(),
        "and" => "write `&&` for `and`".into(),
        "or" => "write `||` for `or`".into(),
        _ if matches!(found, Unknown | Semicolon) => {
            "a condition is an expression, not a command: compare values with `==`, `<`, `!`".into()
        }
        _ => "put the body of a construct in `{ … }`".into(),
    });
    if on_next_line {
        p.pass_newlines();
        block(p);
        return;
    }
    p.recover_head();
    if p.byte_ahead() == b'{' {
        block(p);
    } else if p.at_line_end() && p.lexer.is_block_below(head) && p.depth < MAX_DEPTH {
        let marker = p.start();
        p.depth += 1;
        statements(p, Level::Block);
        p.depth -= 1;
        p.settle();
        p.eat(RBrace);
        let _ = p.complete(marker, Block);
    }
}

/// What may follow the `}` of a construct on its line: nothing that `code` forbids.
// test after_construct
// if x { echo a } && echo b
// for x in xs { echo a } | sort
// while x { echo a } > file
// if x { echo a } 2> file
// if x { echo a } echo b
// if x { echo a } # comment
// if x { echo a } /* comment */
// test after_plain_block
// { echo a } > file
// { echo a } | sort
pub(crate) fn after_block(p: &mut Parser<'_>, code: Code) {
    p.settle();
    let rest = p.lexer.peek_past_blanks();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let width = rest[digits..].iter().take_while(|byte| b"&|;<>".contains(byte)).count();
    if width == 0 {
        return;
    }
    p.lexer.blanks();
    p.pass_tokens();
    let start = p.lexer.pos() as u32;
    let span = Span::new(start, start + (digits + width) as u32);
    let operator = p.lexer.slice(span).to_owned();
    let error = if code == Code::RedirectedBlock {
        p.error(code, span, format!("`{operator}` cannot follow a plain block"))
    } else {
        p.error(
            code,
            span,
            format!("`{operator}` cannot follow a construct: a construct is not an operand"),
        )
    };
    error.help.push(if code == Code::RedirectedBlock {
        "to group commands for the shell, write `( … )`".into()
    } else {
        "put the rest on its own line, or inside the block".into()
    });
    p.recover();
}
