//! Every reference and every bare name of a program, wherever it is written.
//!
//! What asks whether a program reads something asks here, and so cannot forget a place.

use super::{
    Access, Argument, Block, Call, Expr, ExprKind, Operand, Piece, Redirect, Reference, ShellText,
    StatementKind, StrPiece, Target, Unit, Work,
};

/// One place that names something.
#[derive(Clone, Copy, Debug)]
pub enum Mention<'u> {
    /// `@path.name(…)`.
    Reference(&'u Reference),
    /// A bare name: the variable of that name.
    Name(&'u str),
    /// A decorator where a command is, or the target of a redirection.
    Call(&'u Call),
    /// Text of the shell: a step or a part of one.
    Shell(&'u ShellText),
}

type Visit<'v, 'u> = &'v mut dyn FnMut(Mention<'u>);

impl Unit {
    /// Whether anything in the file, functions included, reads the arguments of the script.
    #[must_use]
    pub fn reads_script_arguments(&self) -> bool {
        let mut reads = false;
        self.mentions(&mut |mention| {
            reads |= matches!(mention, Mention::Reference(found) if found.path.text == "args");
        });
        reads
    }

    /// The paths of all decorators that the source names.
    #[must_use]
    pub fn paths(&self) -> Vec<&str> {
        let mut paths = Vec::new();
        self.mentions(&mut |mention| match mention {
            Mention::Reference(found) => paths.push(found.path.text.as_str()),
            Mention::Call(found) => paths.push(found.path.text.as_str()),
            Mention::Name(_) | Mention::Shell(_) => {}
        });
        paths
    }

    /// Every mention in the program.
    pub fn mentions<'u>(&'u self, visit: Visit<'_, 'u>) {
        for function in &self.functions {
            for default in function.params.iter().filter_map(|param| param.default.as_ref()) {
                default.mentions(visit);
            }
            block(&function.body, visit);
        }
        block(&self.script, visit);
    }
}

impl Expr {
    /// Every mention in the expression, in the arguments and indices of references too.
    pub fn mentions<'u>(&'u self, visit: Visit<'_, 'u>) {
        match &self.kind {
            ExprKind::Missing | ExprKind::Literal(_) | ExprKind::Regex(_) => {}
            ExprKind::Name(name) => visit(Mention::Name(name)),
            ExprKind::Str(pieces) => {
                for piece in pieces {
                    match piece {
                        StrPiece::Text(_) | StrPiece::AtWord(_) => {}
                        StrPiece::Reference(found) => reference(found, visit),
                    }
                }
            }
            ExprKind::Array(items) => items.iter().for_each(|item| item.mentions(visit)),
            ExprKind::Map(fields) => fields.iter().for_each(|(_, field)| field.mentions(visit)),
            ExprKind::Function { args, .. } => arguments(args, visit),
            ExprKind::Reference(found) => reference(found, visit),
            ExprKind::Access { base, access: parts } => {
                base.mentions(visit);
                access(parts, visit);
            }
            ExprKind::Unary { operand, .. } => operand.mentions(visit),
            ExprKind::Binary { first, rest } => {
                first.mentions(visit);
                rest.iter().for_each(|(_, _, operand)| operand.mentions(visit));
            }
        }
    }
}

fn reference<'u>(found: &'u Reference, visit: Visit<'_, 'u>) {
    visit(Mention::Reference(found));
    arguments(&found.args, visit);
    access(&found.access, visit);
}

fn arguments<'u>(args: &'u [Argument], visit: Visit<'_, 'u>) {
    args.iter().for_each(|arg| arg.value.mentions(visit));
}

fn access<'u>(parts: &'u [Access], visit: Visit<'_, 'u>) {
    for part in parts {
        match part {
            Access::Field(_) | Access::All(_) => {}
            Access::Index(index) => index.mentions(visit),
        }
    }
}

fn block<'u>(all: &'u Block, visit: Visit<'_, 'u>) {
    for statement in &all.statements {
        match &statement.kind {
            StatementKind::Var { value, .. } => value.mentions(visit),
            StatementKind::Assign { value, .. } => {
                value.iter().for_each(|value| value.mentions(visit));
            }
            StatementKind::If(branches) => {
                for branch in branches {
                    branch.condition.iter().for_each(|condition| condition.mentions(visit));
                    block(&branch.body, visit);
                }
            }
            StatementKind::When { subject, arms } => {
                subject.mentions(visit);
                for arm in arms {
                    arm.patterns.iter().for_each(|pattern| pattern.mentions(visit));
                    block(&arm.body, visit);
                }
            }
            StatementKind::For { over: value, body, .. }
            | StatementKind::While { condition: value, body } => {
                value.mentions(visit);
                block(body, visit);
            }
            StatementKind::Try { body, catch, finally } => {
                let rest = catch.iter().chain(finally);
                std::iter::once(body).chain(rest).for_each(|body| block(body, visit));
            }
            StatementKind::Block(body) => block(body, visit),
            StatementKind::Let { source, access: parts, .. } => {
                call(source, visit);
                access(parts, visit);
            }
            StatementKind::Require(found) => reference(found, visit),
            StatementKind::Step(step) => {
                operand(&step.first, visit);
                step.rest.iter().for_each(|(_, next)| operand(next, visit));
            }
        }
    }
}

fn operand<'u>(all: &'u Operand, visit: Visit<'_, 'u>) {
    match &all.work {
        Work::Shell(text) => shell(text, visit),
        Work::Call(found) => call(found, visit),
    }
    for Redirect { target, .. } in &all.redirects {
        match target {
            Target::Decorator(found) => call(found, visit),
            Target::Text(text) => shell(text, visit),
        }
    }
}

fn call<'u>(found: &'u Call, visit: Visit<'_, 'u>) {
    visit(Mention::Call(found));
    arguments(&found.args, visit);
    found.block.iter().for_each(|body| block(body, visit));
}

fn shell<'u>(text: &'u ShellText, visit: Visit<'_, 'u>) {
    visit(Mention::Shell(text));
    for piece in &text.pieces {
        match piece {
            Piece::Text(_) | Piece::AtWord(_) => {}
            Piece::Reference(found, _) => reference(found, visit),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Words;

    /// Each place in which a reference can be written, and texts that only look like one.
    #[test]
    fn arguments_of_the_script_are_found_wherever_they_are_read_and_nowhere_else() {
        let rows = [
            ("echo @args\n", true),
            ("echo \"a @args[0] b\"\n", true),
            ("echo $(wc -l @args)\n", true),
            ("echo > @args.0\n", true),
            ("cat <<X\n@args\nX\n", true),
            ("var a = @args\n", true),
            ("var a = [1, {b: @args.0}]\n", true),
            ("var a = \"@args.0\"\n", true),
            ("var a = 1\na = @args.length\n", true),
            ("var a = [1]\nvar b = @var.a[@args.length]\n", true),
            ("var a = [1]\nvar b = a[@args.length]\n", true),
            ("var a = -(1 + @args.length)\n", true),
            ("var a = join(@args, \" \")\n", true),
            ("if @args.length == 0 { echo }\n", true),
            ("if true { echo } else if @args.length == 0 { echo }\n", true),
            ("if true { echo } else { echo @args }\n", true),
            ("when @args.0 {\n\"a\" -> { echo }\nelse -> { echo }\n}\n", true),
            ("for a in @args { echo }\n", true),
            ("for a in [1] { echo @args }\n", true),
            ("while @args.length == 9 { echo }\n", true),
            ("try { echo } catch { echo @args } finally { echo }\n", true),
            ("try { echo } finally { echo @args }\n", true),
            ("@retry(times=@args.length) { echo }\n", true),
            ("@retry(times=2) { echo @args }\n", true),
            ("@shell(\"echo @args\")\n", true),
            ("let.a = @shell(\"echo @args\")\n", true),
            ("echo a && @shell(\"echo @args\")\n", true),
            ("fun f(a: Int = @args.length) { echo }\necho\n", true),
            ("fun f() { echo @args }\n@cmd.f()\n", true),
            ("fun f(a) { echo }\n@cmd.f(@args.0)\n", true),
            ("# takes no @args\necho\n", false),
            ("// takes no @args\necho\n", false),
            ("echo \\@args\n", false),
            ("var a = 'no @args'\n", false),
            ("@shell('echo @args')\n", false),
            ("echo @argsort\n", false),
            ("var args = [1]\necho @var.args\n", false),
            ("echo\n", false),
        ];
        let registry = opal_decorators::registry();
        for (text, expected) in rows {
            let parse = opal_syntax::parse(text, &Words(&registry));
            assert!(parse.errors.is_empty(), "{text}: {:?}", parse.errors);
            let unit = crate::lower::unit(&parse, text);
            assert_eq!(unit.reads_script_arguments(), expected, "{text}");
        }
    }
}
