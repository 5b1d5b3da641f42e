//! Expressions in a configuration: conditions, and texts with references to variables.
//!
//! They are written as in the language and read by its own parser, so that both mean the same. All of
//! an expression has the place of the YAML value it is in.

use opal_core::{Code, Diagnostic, Registry, Span};
use opal_plan::Words;
use opal_plan::lower;
use opal_plan::unit::{Access, Expr, ExprKind, Mention, Reference, StatementKind, StrPiece, Unit};

use super::report::Report;

/// How a reference to a variable begins.
pub(super) const VARIABLE: &str = "@var.";

/// What a condition may read.
const READS: [&str; 3] = ["var", "os", "env"];

/// The expression that a text of the language is; the faults of the text where it is none.
pub(super) fn parse(text: &str, registry: &Registry, span: Span) -> Result<Expr, String> {
    let source = format!("var it = {text}\n");
    let parse = opal_syntax::parse(&source, &Words(registry));
    if let Some(error) = parse.errors.first() {
        return Err(error.message.clone());
    }
    let Unit { functions, script, .. } = lower::unit(&parse, &source);
    let mut statements = script.statements.into_iter().map(|it| it.kind);
    match (statements.next(), statements.next()) {
        (Some(StatementKind::Var { value: mut expr, .. }), None) if functions.is_empty() => {
            place(&mut expr, span);
            Ok(*expr)
        }
        _ => Err("it has more than one expression".to_owned()),
    }
}

/// Whether a text is nothing but a reference to a variable: the value itself is meant.
pub(super) fn is_reference(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(VARIABLE) else { return false };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = rest.strip_suffix("()").unwrap_or(rest);
    rest.split('.').all(|part| !part.is_empty() && part.chars().all(is_word))
}

/// Reports what an expression must not read, and variables that do not exist.
pub(super) fn check(expr: &Expr, known: &[&str], report: &mut Report<'_>) {
    expr.mentions(&mut |mention| match mention {
        Mention::Call(_) | Mention::Shell(_) => {}
        Mention::Name(name) => {
            if !known.contains(&name) {
                unknown(name, expr.span, known, report);
            }
        }
        Mention::Reference(reference) => {
            let path = reference.path.text.as_str();
            let (space, name) = path.split_once('.').unwrap_or((path, ""));
            if !READS.contains(&space) {
                let message = format!("`@{path}` cannot be used here");
                let help = "use `@var.NAME`, `@os.name` or `@env.NAME`";
                report.error(Code::ConfigValue, reference.span, message, help);
            } else if space == "var" && !known.contains(&name) {
                unknown(name, reference.span, known, report);
            }
        }
    });
}

fn unknown(name: &str, span: Span, known: &[&str], report: &mut Report<'_>) {
    let message = format!("undeclared variable `{name}`");
    let error = Diagnostic::new(Code::ConfigValue, span, message);
    let near = opal_core::suggest::nearest(name, known.iter().copied());
    let error = error.maybe_help(near.map(|near| format!("did you mean `{near}`?")));
    report.push(error.help("declare it in `vars`; `item` is the element of `for_each`"));
}

/// Gives all of an expression one place.
fn place(expr: &mut Expr, span: Span) {
    expr.span = span;
    match &mut expr.kind {
        ExprKind::Missing | ExprKind::Literal(_) | ExprKind::Regex(_) | ExprKind::Name(_) => {}
        ExprKind::Str(pieces) => pieces.iter_mut().for_each(|piece| match piece {
            StrPiece::Text(_) => {}
            StrPiece::AtWord(name) => name.span = span,
            StrPiece::Reference(reference) => place_reference(reference, span),
        }),
        ExprKind::Array(items) => items.iter_mut().for_each(|item| place(item, span)),
        ExprKind::Map(fields) => fields.iter_mut().for_each(|(key, field)| {
            key.name.span = span;
            place(field, span);
        }),
        ExprKind::Function { name, args } => {
            name.span = span;
            args.iter_mut().for_each(|arg| {
                arg.span = span;
                place(&mut arg.value, span);
            });
        }
        ExprKind::Reference(reference) => place_reference(reference, span),
        ExprKind::Access { base, access } => {
            place(base, span);
            place_access(access, span);
        }
        ExprKind::Unary { operand, .. } => place(operand, span),
        ExprKind::Binary { first, rest } => {
            place(first, span);
            rest.iter_mut().for_each(|(_, at, operand)| {
                *at = span;
                place(operand, span);
            });
        }
    }
}

fn place_reference(reference: &mut Reference, span: Span) {
    (reference.span, reference.path.span) = (span, span);
    for arg in reference.args.iter_mut() {
        arg.span = span;
        place(&mut arg.value, span);
    }
    place_access(&mut reference.access, span);
}

fn place_access(access: &mut [Access], span: Span) {
    for part in access {
        match part {
            Access::Field(name) => name.span = span,
            Access::Index(index) => place(index, span),
            Access::All(at) => *at = span,
        }
    }
}
