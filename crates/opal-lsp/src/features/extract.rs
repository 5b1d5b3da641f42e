//! Extraction: selected steps become a function, a selected expression becomes a variable.
//!
//! Whether the result means the same is checked, not guessed: it is made in memory, and nothing may be
//! wrong in it that was not wrong before.

use std::collections::BTreeMap;

use gen_lsp_types::{CodeAction, CodeActionDisabled, CodeActionKind};
use opal_core::Span;
use opal_plan::check::observer::DefinitionKind;
use opal_plan::unit::{Block, Expr, ExprKind, Mention, Statement, StatementKind, Unit};
use opal_plan::{Words, lower};

use super::rename::newly;
use super::{Client, changed, workspace_edit};
use crate::facts::Target;
use crate::files::{Files, View};

type Edits = Vec<(Span, String)>;

pub(crate) fn of(files: &Files, client: Client, view: &View, selected: Span) -> Vec<CodeAction> {
    let text = view.text.slice(selected);
    let start = selected.start + (text.len() - text.trim_start().len()) as u32;
    let end = selected.start + text.trim_end().len() as u32;
    if start >= end {
        return Vec::new();
    }
    let selected = Span::new(start, end);
    let parse = opal_syntax::parse(&view.text.text, &Words(view.registry));
    if parse.is_broken() {
        return Vec::new();
    }
    let unit = lower::unit(&parse, &view.text.text);
    let function = self::function(view, &unit, selected);
    let variable = self::variable(view, &unit, selected);
    let titles = ["extract a function", "extract a variable"];
    let found = titles.into_iter().zip([function, variable]);
    found
        .filter_map(|(title, made)| made.map(|made| action(files, client, view, title, made)))
        .collect()
}

/// What was made, or why it cannot be.
fn action(
    files: &Files,
    client: Client,
    view: &View,
    title: &str,
    made: Result<Edits, String>,
) -> CodeAction {
    let made = made.and_then(|edits| verified(files, view, edits));
    let (edit, disabled) = match made {
        Ok(edits) => (Some(workspace_edit(files, client, vec![(view.path.clone(), edits)])), None),
        Err(reason) => (None, Some(CodeActionDisabled { reason })),
    };
    CodeAction {
        title: title.to_owned(),
        kind: Some(CodeActionKind::RefactorExtract),
        edit,
        disabled,
        ..CodeAction::default()
    }
}

fn verified(files: &Files, view: &View, edits: Edits) -> Result<Edits, String> {
    let text = changed(&view.text.text, &edits);
    let texts = BTreeMap::from([(view.path.clone(), text)]);
    let after = files.supposed(&view.path, &texts).ok_or("the file cannot be checked")?;
    match newly(&view.analysis, &after) {
        Some(error) => Err(format!("it would be an error: {}", error.message)),
        None => Ok(edits),
    }
}

/// A name that nothing in the file has.
fn fresh(view: &View, base: &str) -> String {
    let facts = &view.analysis.facts;
    let is_taken = |name: &str| facts.definitions.iter().any(|it| it.name == name);
    let more = (2..).map(|number| format!("{base}{number}"));
    let mut names = std::iter::once(base.to_owned()).chain(more);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// The innermost block with statements that fill the selection.
fn filled(block: &Block, selected: Span) -> Option<&[Statement]> {
    let mut inner = None;
    for statement in &block.statements {
        statement.kind.blocks(&mut |block| inner = inner.or(filled(block, selected)));
    }
    let first = block.statements.iter().position(|it| it.span.start == selected.start);
    let last = block.statements.iter().rposition(|it| it.span.end == selected.end);
    match (inner, first, last) {
        (Some(inner), ..) => Some(inner),
        (None, Some(first), Some(last)) if first <= last => Some(&block.statements[first..=last]),
        _ => None,
    }
}

fn function(view: &View, unit: &Unit, selected: Span) -> Option<Result<Edits, String>> {
    let own = unit.functions_of(0).map(|index| &unit.functions[index]);
    let mut bodies = own.map(|it| (it.body.span.end, &it.body));
    let end = view.text.text.len() as u32;
    let around = bodies
        .find(|(_, body)| body.span.start <= selected.start && selected.end <= body.span.end)
        .unwrap_or((end, &unit.script));
    let statements = filled(around.1, selected)?;
    Some(extracted(view, selected, statements, around.0))
}

fn extracted(
    view: &View,
    selected: Span,
    statements: &[Statement],
    end: u32,
) -> Result<Edits, String> {
    let facts = &view.analysis.facts;
    let is_inside = |span: Span| selected.start <= span.start && span.end <= selected.end;
    let mut params: Vec<&str> = Vec::new();
    for used in &facts.uses {
        let Target::Own(index) = used.target else { continue };
        let definition = &facts.definitions[index];
        let (uses_here, defines_here) = (is_inside(used.span), is_inside(definition.span));
        let name = definition.name.as_str();
        match definition.kind {
            DefinitionKind::Function | DefinitionKind::Namespace => {}
            DefinitionKind::Let if uses_here != defines_here => {
                return Err(format!(
                    "`let.{name}` would be bound in one function and read in another"
                ));
            }
            _ if defines_here && !uses_here => {
                return Err(format!("`{name}` is declared here and used after the selection"));
            }
            _ if uses_here && !defines_here && used.writes => {
                return Err(format!("`{name}` is changed here and declared outside the selection"));
            }
            DefinitionKind::Let => {}
            _ if uses_here && !defines_here && !params.contains(&name) => params.push(name),
            _ => {}
        }
    }
    let needs = |it: &Statement| matches!(&it.kind, StatementKind::Step(step) if step.dependency().is_some());
    if statements.iter().any(needs) {
        return Err("`@needs` belongs to the function that is called".to_owned());
    }
    let name = fresh(view, "extracted");
    let line = view.text.line_of(selected.start);
    let indent = selected.start - view.text.line_start(line);
    // Lines keep what they have: the text of a heredoc must not move.
    let body = format!("{}{}", " ".repeat(indent.max(4) as usize), view.text.slice(selected));
    let arguments = params.join(", ");
    let new = format!("\n\nfun {name}({arguments}) {{\n{body}\n}}");
    let after = match end as usize == view.text.text.len() {
        true => (Span::at(view.text.text.trim_end().len() as u32), new),
        false => (Span::at(end), new),
    };
    Ok(vec![(selected, format!("@cmd.{name}({arguments})")), after])
}

/// The expression that fills the selection, and the statement that it is in.
fn variable(view: &View, unit: &Unit, selected: Span) -> Option<Result<Edits, String>> {
    let bodies = unit.functions.iter().map(|it| &it.body).chain([&unit.script]);
    let mut found = None;
    for body in bodies {
        find(body, selected, &mut found);
    }
    let (statement, is_text) = found?;
    let written = view.text.slice(selected);
    let name = fresh(view, "extracted");
    let line = view.text.line_of(statement.start);
    let start = view.text.line_start(line);
    let indent = view.text.slice(Span::new(start, statement.start));
    if !indent.trim().is_empty() {
        return Some(Err("the statement does not begin its line".to_owned()));
    }
    let declared = format!("{indent}var {name} = {written}\n");
    let instead = if is_text { format!("@var.{name}") } else { name };
    Some(Ok(vec![(Span::at(start), declared), (selected, instead)]))
}

/// Looks for an expression at a place: the statement with it, and whether it is in text.
fn find(block: &Block, selected: Span, found: &mut Option<(Span, bool)>) {
    for statement in &block.statements {
        let is_here = statement.span.start <= selected.start && selected.end <= statement.span.end;
        if !is_here {
            continue;
        }
        let before = found.take();
        statement.kind.blocks(&mut |inner| find(inner, selected, found));
        if found.is_some() {
            return;
        }
        *found =
            before.or_else(|| own(statement, selected).map(|is_text| (statement.span, is_text)));
    }
}

/// Whether the expression is one of a statement itself, and if so whether it is in text.
fn own(statement: &Statement, selected: Span) -> Option<bool> {
    let value = match &statement.kind {
        StatementKind::Var { value, .. } => Some(&**value),
        StatementKind::Assign { value, .. } => value.as_deref(),
        StatementKind::If(branches) => branches.first().and_then(|it| it.condition.as_ref()),
        StatementKind::When { subject, .. } => Some(&**subject),
        StatementKind::For { over, .. } => Some(&**over),
        StatementKind::Step(_) => return in_text(statement, selected),
        _ => None,
    };
    is_expression(value?, selected).then_some(false)
}

fn is_expression(expr: &Expr, selected: Span) -> bool {
    if expr.span == selected {
        return true;
    }
    match &expr.kind {
        ExprKind::Array(items) => items.iter().any(|it| is_expression(it, selected)),
        ExprKind::Map(entries) => entries.iter().any(|(_, it)| is_expression(it, selected)),
        ExprKind::Function { args, .. } => args.iter().any(|it| is_expression(&it.value, selected)),
        ExprKind::Reference(found) => {
            found.args.iter().any(|it| is_expression(&it.value, selected))
        }
        ExprKind::Access { base, .. } => is_expression(base, selected),
        ExprKind::Unary { operand, .. } => is_expression(operand, selected),
        ExprKind::Binary { first, rest } => {
            is_expression(first, selected)
                || rest.iter().any(|(.., it)| is_expression(it, selected))
        }
        _ => false,
    }
}

/// A reference in the text of a step.
fn in_text(statement: &Statement, selected: Span) -> Option<bool> {
    let StatementKind::Step(step) = &statement.kind else { return None };
    let operands = std::iter::once(&step.first).chain(step.rest.iter().map(|(_, it)| it));
    let mut found = None;
    for operand in operands {
        if let opal_plan::unit::Work::Shell(text) = &operand.work {
            for piece in &text.pieces {
                if let opal_plan::unit::Piece::Reference(reference, _) = piece
                    && reference.span == selected
                {
                    found = Some(true);
                }
            }
        }
        if let opal_plan::unit::Work::Call(call) = &operand.work {
            for arg in &call.args {
                if is_expression(&arg.value, selected) {
                    found = found.or(Some(false));
                }
                arg.value.mentions(&mut |mention| {
                    if let Mention::Reference(reference) = mention
                        && reference.span == selected
                    {
                        found = found.or(Some(false));
                    }
                });
            }
        }
    }
    found
}
