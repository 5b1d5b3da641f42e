//! A `let` where the plan is decided: either the value is read before anything runs, or the shell decides
//! while it runs.

use opal_core::{Diagnostic, Span};
use opal_plan::unit::{Block, Expr, ExprKind, Statement, StatementKind, Work};
use opal_plan::{Words, lower};

use super::Edits;
use crate::files::View;

pub(super) fn of(view: &View, found: &Diagnostic) -> Vec<(String, Edits)> {
    let text = &view.text.text;
    let written = view.text.slice(found.primary.span);
    let Some(name) = written.strip_prefix("@let.").or_else(|| written.strip_prefix("let.")) else {
        return Vec::new();
    };
    let name = name.split('.').next().unwrap_or(name);
    let parse = opal_syntax::parse(text, &Words(view.registry));
    let unit = lower::unit(&parse, text);
    let mut bodies = unit.functions.iter().map(|it| &it.body).chain([&unit.script]);
    let around = bodies.find(|it| contains(it.span, found.primary.span));
    let Some(around) = around else { return Vec::new() };
    let mut all = Vec::new();
    all.extend(before(view, around, name));
    all.extend(inside(view, around, found.primary.span));
    all
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Every statement of a block and of the blocks in it.
fn statements<'u>(block: &'u Block, visit: &mut dyn FnMut(&'u Statement)) {
    for statement in &block.statements {
        visit(statement);
        statement.kind.blocks(&mut |inner| statements(inner, visit));
    }
}

/// `var NAME = @shell.output("…")` in place of the `let`, and `@var.NAME` in place of each use.
fn before(view: &View, around: &Block, name: &str) -> Option<(String, Edits)> {
    let mut found = None;
    statements(around, &mut |statement| {
        if let StatementKind::Let { name: bound, source, access } = &statement.kind
            && bound.text == name
            && source.path.text == "shell"
            && access.is_empty()
            && let [argument] = source.args.as_slice()
            && argument.name.is_none()
        {
            found = Some((statement.span, argument.value.span));
        }
    });
    let (whole, command) = found?;
    let facts = &view.analysis.facts;
    let mut edits: Edits =
        vec![(whole, format!("var {name} = @shell.output({})", view.text.slice(command)))];
    // A use with a field, or one that is refused, has no fact: the text says where they are.
    let body = view.text.slice(around.span);
    let written = format!("@let.{name}");
    for (at, _) in body.match_indices(&written) {
        let start = around.span.start + at as u32;
        let end = start + written.len() as u32;
        let next = view.text.text[end as usize..].chars().next();
        match next {
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => continue,
            // A field of the result says more than the output.
            Some('.')
                if facts.types[facts.types.partition_point(|(span, _)| span.start < start)..]
                    .iter()
                    .take_while(|(span, _)| span.start == start)
                    .any(|(span, _)| span.end > end) =>
            {
                return None;
            }
            _ => edits.push((Span::new(start, end), format!("@var.{name}"))),
        }
    }
    Some((format!("read it at plan time: `var {name} = @shell.output(…)`"), edits))
}

/// `if` of the shell in place of that of the plan, where it compares with a text and runs only commands.
fn inside(view: &View, around: &Block, place: Span) -> Option<(String, Edits)> {
    let mut found = None;
    statements(around, &mut |statement| {
        if let StatementKind::If(branches) = &statement.kind
            && let [branch] = branches.as_slice()
            && let Some(condition) = &branch.condition
            && contains(condition.span, place)
        {
            found = Some((statement.span, condition, &branch.body));
        }
    });
    let (whole, condition, body) = found?;
    let test = shell_test(view, condition)?;
    let line = |statement: &Statement| match &statement.kind {
        StatementKind::Step(step) if step.rest.is_empty() && step.first.redirects.is_empty() => {
            let is_shell = matches!(step.first.work, Work::Shell(_));
            let text = view.text.slice(statement.span);
            // What follows a comment or a command in the background would not follow it.
            let is_whole = !text.contains(['\n', '#']) && !text.ends_with(['&', ';', '\\']);
            (is_shell && is_whole).then(|| text.to_owned())
        }
        _ => None,
    };
    let commands: Option<Vec<String>> = body.statements.iter().map(line).collect();
    let commands = commands.filter(|it| !it.is_empty())?;
    // A step that fails ends the run: the next command needs the one before.
    // In brackets, because an `if` at the start of a step is that of the plan.
    let new = format!("( if {test}; then {}; fi )", commands.join(" && "));
    Some(("let the shell decide while it runs".to_owned(), vec![(whole, new)]))
}

/// `[ "@let.NAME" = "text" ]` of `@let.NAME == "text"`.
fn shell_test(view: &View, condition: &Expr) -> Option<String> {
    let ExprKind::Binary { first, rest } = &condition.kind else { return None };
    let [(op, _, right)] = rest.as_slice() else { return None };
    let is_let = |it: &Expr| matches!(&it.kind, ExprKind::Reference(found) if found.path.text.starts_with("let."));
    let is_text = |it: &Expr| {
        let text = view.text.slice(it.span);
        let inner = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        inner.is_some_and(|it| !it.contains(['"', '\\', '$', '`', '@', '\n']))
    };
    let op = match op {
        opal_plan::unit::BinaryOp::Equal => "=",
        opal_plan::unit::BinaryOp::NotEqual => "!=",
        _ => return None,
    };
    (is_let(first) && is_text(right)).then(|| {
        format!("[ \"{}\" {op} {} ]", view.text.slice(first.span), view.text.slice(right.span))
    })
}
