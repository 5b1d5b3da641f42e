//! From a configuration to the unit that a source text would give.
//!
//! ```text
//! var NAME = …
//! @parallel(max=N, on_failure="wait") {
//!     for item in LIST { if CONDITION { @timeout(T) { @RESOURCE(…, id="a.@var.item") } } }
//!     …
//! }
//! VALIDATION
//! ```

use opal_core::{Registry, Span, Value};
use opal_plan::unit::{
    self, Block, Branch, Call, Expr, ExprKind, Name, Operand, Piece, Rare, Reference, ShellText,
    Statement, StatementKind, Unit, Work,
};

use super::given::Given;
use super::repeats::ITEM;
use super::{
    Argument, Config, ForEach, ProviderSettings, Step, Variable, When, expressions, shell,
};

/// The program of a configuration: a script without functions. Its places are those of the YAML
/// text, so a plan is asked for with no text beside it.
#[must_use]
pub fn lower(config: &Config, registry: &Registry) -> Unit {
    let mut statements: Vec<Statement> = config.variables.iter().map(variable).collect();
    let branch = |step| branch(config, step, registry);
    let steps: Vec<Statement> = config.enabled().map(branch).collect();
    if let Some(first) = steps.first() {
        let span = first.span;
        let mut args = vec![named("max", Value::Int(config.settings.parallel), span)];
        if config.settings.continue_on_error {
            args.push(named("on_failure", Value::text("wait"), span));
        }
        let all = call("parallel", args, Some(Block { statements: steps, span }), span);
        // The settings of each provider hold for all steps.
        let around = |inner: Statement, provider: &ProviderSettings| {
            let arguments = provider.arguments.iter();
            let args = arguments.map(|it| argument(it, None, registry)).collect();
            call(provider.descriptor.path, args, Some(block(inner)), provider.span)
        };
        statements.push(config.providers.iter().rev().fold(all, around));
    }
    for validation in &config.validations {
        let pieces = vec![Piece::Text(shell::validation(&validation.check))];
        let text = ShellText { pieces, span: validation.span };
        statements.push(statement(Work::Shell(text), validation.span));
    }
    Unit { script: Block { statements, span: Span::at(0) }, ..Unit::default() }
}

fn variable(variable: &Variable) -> Statement {
    let Variable { name, value, span } = variable;
    let name = Name { text: name.clone(), span: *span };
    let value = Expr { kind: ExprKind::Literal(value.clone()), span: *span };
    Statement { kind: StatementKind::Var { name, value: Box::new(value) }, span: *span }
}

fn branch(config: &Config, step: &Step, registry: &Registry) -> Statement {
    let args = step.arguments.iter().map(|it| argument(it, Some(step), registry)).collect();
    let mut inner = call(step.descriptor.path, args, None, step.span);
    if let Some(timeout) = config.settings.timeout {
        let limit = named("duration", Value::Duration(timeout), step.span);
        inner = call("timeout", vec![limit], Some(block(inner)), step.span);
    }
    if let Some(When { source, span }) = &step.when {
        let condition = Some(expression(source, registry, *span));
        let kind = StatementKind::If(vec![Branch { condition, body: block(inner) }]);
        inner = Statement { kind, span: *span };
    }
    if let Some(ForEach { source, items, span, .. }) = &step.for_each {
        let over = match source {
            Some(source) => expression(source, registry, *span),
            None => Expr { kind: ExprKind::Literal(Value::Array(items.clone())), span: *span },
        };
        let names = vec![Name { text: ITEM.to_owned(), span: *span }];
        let kind = StatementKind::For { names, over: Box::new(over), body: Box::new(block(inner)) };
        inner = Statement { kind, span: *span };
    }
    inner
}

fn block(statement: Statement) -> Block {
    Block { span: statement.span, statements: vec![statement] }
}

/// Reading has seen that it is one.
fn expression(source: &str, registry: &Registry, span: Span) -> Expr {
    let missing = Expr { kind: ExprKind::Missing, span };
    expressions::parse(source, registry, span).unwrap_or(missing)
}

fn argument(argument: &Argument, step: Option<&Step>, registry: &Registry) -> unit::Argument {
    let span = argument.span;
    let kind = match &argument.value {
        Given::Data(value) => match step.filter(|it| it.for_each.is_some()) {
            Some(step) if argument.param.name == "id" => {
                expression(&step.id_source(), registry, span).kind
            }
            _ => ExprKind::Literal(value.clone()),
        },
        Given::Open { .. } => expression(&argument.value.to_string(), registry, span).kind,
        Given::Regex(text) => ExprKind::Regex(text.clone()),
        Given::Command { text, plain: true } => literal(text),
        Given::Command { text, plain: false } => ExprKind::Reference(Box::new(Reference {
            path: Name { text: "raw".to_owned(), span },
            args: vec![unit::Argument {
                name: None,
                value: Expr { kind: literal(text), span },
                span,
            }]
            .into(),
            called: true,
            access: Rare::default(),
            span,
        })),
    };
    let name = Name { text: argument.param.name.to_owned(), span };
    unit::Argument { name: Some(name), value: Expr { kind, span }, span }
}

fn literal(text: &str) -> ExprKind {
    ExprKind::Literal(Value::String(text.to_owned().into()))
}

fn named(name: &str, value: Value, span: Span) -> unit::Argument {
    let name = Name { text: name.to_owned(), span };
    unit::Argument { name: Some(name), value: Expr { kind: ExprKind::Literal(value), span }, span }
}

fn call(path: &str, args: Vec<unit::Argument>, block: Option<Block>, span: Span) -> Statement {
    let path = Name { text: path.to_owned(), span };
    statement(Work::Call(Box::new(Call { path, args, block, text: None, span })), span)
}

fn statement(work: Work, span: Span) -> Statement {
    let first = Operand { work, redirects: Rare::default() };
    Statement { kind: StatementKind::Step(unit::Step { first, rest: Rare::default() }), span }
}
