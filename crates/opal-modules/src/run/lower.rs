//! From a prepared run to the unit that a source text would give.
//!
//! ```text
//! @module.run(module=…, command=…, driver=…, profile=…, policy=…, pack=…, digest=…, publish=[…],
//!             credentials=[…], dependencies=[…], hooks={…}, inputs={…}) {
//!     @retry(3) { @module.tool(label="terragrunt_init") { @timeout(900s) { terragrunt init … } } }
//!     try { … terragrunt apply … } finally { @retry(2) { … terragrunt output … } }
//!     @module.check(constraints=[…])
//!     @retry(5, delay=2s) { @module.probe(name="answers", kind="http", target="https://…") }
//!     try { @module.tool(label="hook_export_infra") { @timeout(120s) { … } } } catch {}
//! }
//! ```
//!
//! The id of the run and the directory it takes place in are not part of it: they differ every
//! time, and the plan stays the same.

use std::collections::BTreeMap;

use opal_core::{Data, Duration, Span, Value};
use opal_plan::unit::{
    self, Argument, Block, Call, Expr, ExprKind, Key, Name, Operand, Piece, Rare, Reference,
    ShellText, Statement, StatementKind, Unit, Work,
};
use opal_syntax::context::{Context, Place};

use super::hooks::Filled;
use super::prepared::Prepared;
use super::secrets::below;
use super::{Command, HookStep, ProbeStep, Tool};
use crate::Spec;
use crate::value::number;
use opal_core::gather::Gather as _;

const HERE: Span = Span::at(0);

/// So many seconds a tool that runs anyway, or may fail, has where the profile sets no limit: nobody
/// should wait for what is only beside the matter.
const LONGEST_ASIDE_S: u32 = 300;

/// How often a tool that must run is tried at least: Ctrl+C on a terminal goes to it as well,
/// though the run is not asked to leave it out.
const FEWEST_ANYWAY: i64 = 2;

/// What a shell takes for a part of its language where a program is.
const KEYWORDS: [&str; 17] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// The program of a run.
#[must_use]
pub fn lower(prepared: &Prepared) -> Unit {
    let execution = &prepared.spec.execution;
    let text =
        |name: &str, value: &str| named(name, literal(Value::String(value.to_owned().into())));
    let mut args = vec![
        text("module", prepared.spec.module_ref.as_str()),
        text("command", prepared.command.name()),
        text("driver", execution.driver.as_str()),
        text("profile", execution.profile.as_str()),
        text("policy", &prepared.policy_digest),
        text("pack", execution.pack.as_str()),
        text("digest", &format!("blake3:{}", prepared.pack.digest.hex())),
    ];
    args.extend(prepared.instance.as_ref().map(|instance| text("instance", instance.as_str())));
    args.extend(steering(&prepared.spec));
    let inputs = serde_json::Value::Object(prepared.inputs.clone());
    args.push(named("inputs", expression("", &inputs, &prepared.secrets)));
    let mut tools = in_order(prepared);
    tools.extend(check_outputs(prepared));
    tools.extend(prepared.probes.iter().map(probe));
    tools.extend(prepared.hooks.iter().map(hook));
    let run = call("module.run", args, Some(block(tools)));
    Unit { script: block(vec![run]), ..Unit::default() }
}

/// What the spec says besides that makes it another run. What it does not say is left out.
fn steering(spec: &Spec) -> Vec<Argument> {
    let modules = spec.dependencies.iter().map(|dependency| dependency.module_ref.as_str());
    let hooks = spec.execution.hooks.iter();
    let hooks = hooks.map(|hook| (hook.name.clone(), hook.settings.clone().into()));
    let said: [(&str, serde_json::Value); 4] = [
        ("credentials", spec.credentials.clone().into()),
        ("dependencies", modules.collect()),
        ("hooks", serde_json::Value::Object(hooks.gathered())),
        ("publish", spec.publish.clone().into()),
    ];
    let is_said = |value: &serde_json::Value| match value {
        serde_json::Value::Array(items) => !items.is_empty(),
        serde_json::Value::Object(map) => !map.is_empty(),
        _ => false,
    };
    let said = said.into_iter().filter(|(_, value)| is_said(value));
    said.map(|(name, value)| named(name, expression("", &value, &BTreeMap::new()))).collect()
}

/// The tools, one after the other. What a tool fails with stays what the run fails with, also where
/// another one runs anyway.
fn in_order(prepared: &Prepared) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    for tool in &prepared.work.tools {
        let step = branch(prepared, tool);
        let step = if tool.may_fail { caught(step) } else { step };
        let before = if tool.runs_anyway { statements.pop() } else { None };
        statements.push(match before {
            Some(before) => {
                let [body, finally] = [before, step].map(|it| Box::new(block(vec![it])));
                let kind = StatementKind::Try { body, catch: None, finally: Some(finally) };
                Statement { kind, span: HERE }
            }
            None => step,
        });
    }
    statements
}

fn branch(prepared: &Prepared, tool: &Tool) -> Statement {
    let policy = &prepared.profile.policy;
    let is_aside = tool.runs_anyway || tool.may_fail;
    let limit = policy.command_timeout_s.or(is_aside.then_some(LONGEST_ASIDE_S));
    let mut inner = labelled(&tool.label, limit, command(tool));
    let usual = i64::from(policy.retries) + 1;
    let attempts = match prepared.command {
        // A difference is what a check may find, and another check would find it again.
        Command::Verify => 1,
        _ if tool.may_fail => 1,
        _ if tool.runs_anyway => usual.max(FEWEST_ANYWAY),
        _ => usual,
    };
    if attempts > 1 {
        let attempts = named("attempts", literal(Value::Int(attempts)));
        inner = call("retry", vec![attempts], Some(block(vec![inner])));
    }
    inner
}

/// A command with its limit of time and the name of its evidence.
fn labelled(label: &str, seconds: Option<u32>, mut inner: Statement) -> Statement {
    if let Some(seconds) = seconds {
        let limit = Value::Duration(Duration::from_secs(i64::from(seconds)));
        inner = call("timeout", vec![named("duration", literal(limit))], Some(block(vec![inner])));
    }
    let label = named("label", literal(Value::String(label.to_owned().into())));
    call("module.tool", vec![label], Some(block(vec![inner])))
}

/// The step that checks what was put out, where there is a constraint on it.
fn check_outputs(prepared: &Prepared) -> Option<Statement> {
    let constraints = prepared.output_constraints();
    let all: serde_json::Value = constraints.iter().map(|one| one.json()).collect();
    let given = named("constraints", expression("", &all, &BTreeMap::new()));
    (!constraints.is_empty()).then(|| call("module.check", vec![given], None))
}

fn probe(probe: &ProbeStep) -> Statement {
    let text = |name: &str, value: String| named(name, literal(Value::String(value.into())));
    let seconds = |count: u32| Value::Duration(Duration::from_secs(i64::from(count)));
    let mut args = vec![
        text("name", probe.name.clone()),
        text("kind", probe.kind.name().to_owned()),
        text("target", probe.shown()),
        named("timeout", literal(seconds(probe.timeout_s))),
    ];
    args.extend(probe.contains.clone().map(|wanted| text("contains", wanted)));
    let asked = call("module.probe", args, None);
    if probe.attempts == 1 {
        return asked;
    }
    let attempts = named("attempts", literal(Value::Int(i64::from(probe.attempts))));
    let delay = named("delay", literal(seconds(probe.delay_s)));
    let steady = text("strategy", "constant".to_owned());
    call("retry", vec![attempts, delay, steady], Some(block(vec![asked])))
}

/// What a hook fails with is caught, unless it is strict. An interrupt never is.
fn hook(hook: &HookStep) -> Statement {
    let mut pieces = Vec::new();
    for (index, word) in hook.words.iter().enumerate() {
        let between = if index > 0 { " " } else { "" };
        pieces.push(Piece::Text(between.to_owned()));
        match word.as_slice() {
            [] => pieces.push(Piece::Text(word_of(""))),
            [Filled::Text(program)] if index == 0 => pieces.push(Piece::Text(program_of(program))),
            parts => pieces.extend(parts.iter().enumerate().map(|(at, part)| match part {
                Filled::Text(text) => Piece::Text(word_of(text)),
                Filled::Variable { name, default } => {
                    let place = Context::new(Place::Word).starts_word(at == 0);
                    let reference = Box::new(variable(name, default));
                    Piece::Reference(reference, place.whole_word(parts.len() == 1))
                }
            })),
        }
    }
    let command = statement(Work::Shell(ShellText { pieces: joined(pieces), span: HERE }));
    let tool = labelled(&hook.label(), hook.timeout_s, command);
    if hook.strict { tool } else { caught(tool) }
}

/// A step that the run goes on after, however it ends.
fn caught(step: Statement) -> Statement {
    let [body, catch] = [vec![step], Vec::new()].map(|it| Box::new(block(it)));
    Statement { kind: StatementKind::Try { body, catch: Some(catch), finally: None }, span: HERE }
}

/// Texts that follow each other, as one.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

fn variable(variable: &str, default: &str) -> Reference {
    Reference {
        path: name(&format!("env.{variable}")),
        args: vec![named("default", literal(Value::String(default.to_owned().into())))].into(),
        called: true,
        access: Rare::default(),
        span: HERE,
    }
}

fn command(tool: &Tool) -> Statement {
    let mut text = tool.words.iter().map(|word| word_of(word)).collect::<Vec<_>>().join(" ");
    if let Some(file) = &tool.stdout {
        text.push_str(" > ");
        text.push_str(&word_of(file));
    }
    statement(Work::Shell(ShellText { pieces: vec![Piece::Text(text)], span: HERE }))
}

/// A program that is one, whatever the shell would make of its name: `if`, `A=b`.
fn program_of(program: &str) -> String {
    let word = word_of(program);
    let is_special = KEYWORDS.contains(&program) || program.contains('=');
    if is_special && word == program { format!("'{word}'") } else { word }
}

/// One word of shell that is this text, whatever is in it.
fn word_of(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:,@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('@') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A value of JSON; what is secret in it only by its name.
fn expression(at: &str, value: &serde_json::Value, secrets: &BTreeMap<String, Data>) -> Expr {
    use serde_json::Value as Json;
    if secrets.contains_key(at) {
        return secret(at);
    }
    let kind = match value {
        Json::Null => ExprKind::Literal(Value::Null),
        Json::Bool(value) => ExprKind::Literal(Value::Bool(*value)),
        Json::Number(value) => ExprKind::Literal(match number(value) {
            Data::Int(value) => Value::Int(value),
            Data::Float(value) => Value::Float(value),
            _ => Value::Null,
        }),
        Json::String(value) => ExprKind::Literal(Value::String(value.clone().into())),
        Json::Array(items) => {
            let item = |(index, item)| expression(&format!("{at}/{index}"), item, secrets);
            ExprKind::Array(items.iter().enumerate().map(item).collect())
        }
        Json::Object(map) => ExprKind::Map(
            map.iter()
                .map(|(key, value)| {
                    let below = below(at, key);
                    (Key { name: name(key) }, expression(&below, value, secrets))
                })
                .collect(),
        ),
    };
    Expr { kind, span: HERE }
}

fn secret(at: &str) -> Expr {
    let place =
        Argument { name: None, value: literal(Value::String(at.to_owned().into())), span: HERE };
    let reference = Reference {
        path: name("module.input"),
        args: vec![place].into(),
        called: true,
        access: Rare::default(),
        span: HERE,
    };
    Expr { kind: ExprKind::Reference(Box::new(reference)), span: HERE }
}

fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: HERE }
}

fn literal(value: Value) -> Expr {
    Expr { kind: ExprKind::Literal(value), span: HERE }
}

fn named(text: &str, value: Expr) -> Argument {
    Argument { name: Some(name(text)), value, span: HERE }
}

fn block(statements: Vec<Statement>) -> Block {
    Block { statements, span: HERE }
}

fn call(path: &str, args: Vec<Argument>, block: Option<Block>) -> Statement {
    let call = Call { path: name(path), args, block, text: None, span: HERE };
    statement(Work::Call(Box::new(call)))
}

fn statement(work: Work) -> Statement {
    let first = Operand { work, redirects: Rare::default() };
    Statement { kind: StatementKind::Step(unit::Step { first, rest: Rare::default() }), span: HERE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_word_whatever_is_in_it() {
        assert_eq!(word_of("-auto-approve"), "-auto-approve");
        for (program, word) in
            [("if", "'if'"), ("A=b", "'A=b'"), ("a b", "'a b'"), ("./run", "./run")]
        {
            assert_eq!(program_of(program), word);
        }
        for hostile in ["", "a b", "$(x)", "a'b", "@raw", "a;b", "*", "~", "\n"] {
            let word = word_of(hostile);
            assert!(word.starts_with('\'') && word.ends_with('\''), "{word}");
        }
    }
}
