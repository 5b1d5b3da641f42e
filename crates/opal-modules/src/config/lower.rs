//! From a configuration to the unit that a source text would give.
//!
//! ```text
//! @parallel(max=N, on_failure="wait") {
//!     @timeout(T) { @RESOURCE(…, id="a") }
//!     …
//! }
//! VALIDATION
//! ```

use opal_core::{Span, Value};
use opal_runtime::unit::{
    self, Block, Call, Expr, ExprKind, Name, Operand, Piece, Reference, ShellText, Statement,
    StatementKind, Unit, Work,
};

use super::given::Given;
use super::{Argument, Config, Step, shell};

/// The program of a configuration: a script without functions. Its places are those of the YAML
/// text, so a plan is asked for with no text beside it.
#[must_use]
pub fn lower(config: &Config) -> Unit {
    let mut statements = Vec::new();
    let steps: Vec<Statement> = config.enabled().map(|step| branch(config, step)).collect();
    if let Some(first) = steps.first() {
        let span = first.span;
        let mut args = vec![named("max", Value::Int(config.settings.parallel), span)];
        if config.settings.continue_on_error {
            args.push(named("on_failure", Value::text("wait"), span));
        }
        statements.push(call("parallel", args, Some(Block { statements: steps, span }), span));
    }
    for validation in &config.validations {
        let pieces = vec![Piece::Text(shell::validation(&validation.check))];
        let text = ShellText { pieces, span: validation.span };
        statements.push(statement(Work::Shell(text), validation.span));
    }
    Unit { functions: Vec::new(), script: Block { statements, span: Span::at(0) } }
}

fn branch(config: &Config, step: &Step) -> Statement {
    let args = step.arguments.iter().map(argument).collect();
    let inner = call(step.descriptor.path, args, None, step.span);
    let Some(timeout) = config.settings.timeout else { return inner };
    let limit = named("duration", Value::Duration(timeout), step.span);
    let block = Block { statements: vec![inner], span: step.span };
    call("timeout", vec![limit], Some(block), step.span)
}

fn argument(argument: &Argument) -> unit::Argument {
    let span = argument.span;
    let kind = match &argument.value {
        Given::Data(value) => ExprKind::Literal(value.clone()),
        Given::Regex(text) => ExprKind::Regex(text.clone()),
        Given::Command { text, plain: true } => literal(text),
        Given::Command { text, plain: false } => ExprKind::Reference(Reference {
            path: Name { text: "raw".to_owned(), span },
            args: vec![unit::Argument {
                name: None,
                value: Expr { kind: literal(text), span },
                span,
            }],
            called: true,
            access: Vec::new(),
            span,
        }),
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
    statement(Work::Call(Call { path, args, block, span }), span)
}

fn statement(work: Work, span: Span) -> Statement {
    let first = Operand { work, redirects: Vec::new() };
    Statement { kind: StatementKind::Step(unit::Step { first, rest: Vec::new() }), span }
}
