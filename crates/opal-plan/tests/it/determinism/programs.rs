//! Random programs that are valid: every name is declared, every type fits, every loop ends.
//!
//! Numbers that are assigned stay small, so that nothing overflows; what comes from the world
//! never begins a word.

use std::fmt::Write as _;

use opal_testing::MemoryWorld;

use crate::determinism::random::Random;

/// The world that all programs see.
pub(crate) fn world(world: MemoryWorld) -> MemoryWorld {
    let mut world =
        world.env("HOST", "example.com").env("STAGE", "production").env("LIST", "a,b,c");
    world = world.env("COUNT", "3").env("SIZE", "12");
    world = world.file("VERSION", "1.2.3\n").file("NAMES", "ann\nbob\n");
    for (index, output) in ["red", "green", "blue"].into_iter().enumerate() {
        world = world.command(&format!("ask {index}"), output);
        world = world.command(&format!("ask {index} {{}}"), output);
    }
    world.page("https://example.com/tag", "v7")
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Int,
    Text,
    Texts,
    /// Unknown while planning: only steps may use it.
    Random,
}

struct Writer {
    random: Random,
    out: String,
    indent: usize,
    /// What is in scope, the innermost last.
    names: Vec<(String, Kind)>,
    /// Those of `names` that may be assigned: not what functions read from the top level.
    fixed: usize,
    next: usize,
    /// Functions that may be called from here, by number, and how many there are.
    callable: std::ops::Range<usize>,
    /// Inside `if`, `when`, `try` or `@parallel` nothing is bound.
    may_bind: bool,
    budget: usize,
}

pub(crate) fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let functions = random.below(4);
    let mut writer = Writer {
        random,
        out: String::new(),
        indent: 0,
        names: Vec::new(),
        fixed: 0,
        next: 0,
        callable: 0..functions,
        may_bind: true,
        budget: 8,
    };
    for _ in 0..3 {
        writer.declaration();
    }
    writer.fixed = writer.names.len();
    let globals = writer.names.clone();
    writer.block_of(5);
    for function in 0..functions {
        writer.names.clone_from(&globals);
        writer.callable = function + 1..functions;
        writer.budget = 3;
        writer.may_bind = true;
        writer.function(function);
    }
    writer.out
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = self.indent * 4);
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// A name of a kind, if one is in scope.
    fn name(&mut self, kind: Kind) -> Option<String> {
        let known: Vec<usize> =
            (0..self.names.len()).filter(|index| self.names[*index].1 == kind).collect();
        if known.is_empty() {
            return None;
        }
        let chosen = known[self.random.below(known.len())];
        Some(self.names[chosen].0.clone())
    }

    fn int(&mut self, depth: usize) -> String {
        let choice = if depth == 0 { self.random.below(3) } else { self.random.below(8) };
        match choice {
            1 => self.name(Kind::Int).unwrap_or_else(|| "4".into()),
            2 => self.random.pick(&["int(@env.COUNT)", "int(@env.SIZE)", "2"]).into(),
            3 | 4 => {
                let op = self.random.pick(&["+", "-", "*"]);
                format!("({} {op} {})", self.int(depth - 1), self.int(depth - 1))
            }
            5 => format!("({}).length", self.text(depth - 1)),
            6 => format!("({} / 3)", self.int(depth - 1)),
            7 => format!("-{}", self.int(0)),
            _ => self.random.below(10).to_string(),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        let choice = if depth == 0 { self.random.below(4) } else { self.random.below(11) };
        match choice {
            1 => self.name(Kind::Text).unwrap_or_else(|| "'lone'".into()),
            2 | 3 => {
                let known = [
                    "@env.HOST",
                    "@env.STAGE(default=\"none\")",
                    "@file.read(\"VERSION\")",
                    "@shell.output(\"ask 0\")",
                    "@http.get(\"https://example.com/tag\")",
                    "@os.name",
                    "@secret.env.HOST",
                    "@env.HOST(public=true)",
                ];
                self.random.pick(&known).into()
            }
            4 | 5 => format!("({} + {})", self.text(depth - 1), self.text(depth - 1)),
            6 => format!("str({})", self.int(depth - 1)),
            7 => format!("join({}, \"-\")", self.texts(depth - 1)),
            8 => format!("trim({})", self.text(depth - 1)),
            9 => match self.name(Kind::Text) {
                Some(name) => format!("\"<@var.{name}> and @env.STAGE\""),
                None => "\"<@env.HOST>\"".into(),
            },
            10 => match self.name(Kind::Text) {
                Some(name) => format!("@shell.output(\"ask 1 @var.{name}()\")"),
                None => "@shell.output(\"ask 2\")".into(),
            },
            _ => format!("\"{}\"", self.random.pick(&["one", "two", "three", "a,b"])),
        }
    }

    fn texts(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => self.name(Kind::Texts).unwrap_or_else(|| "['x']".into()),
            1 => "split(@env.LIST, \",\")".into(),
            2 => "lines(@file.read(\"NAMES\"))".into(),
            3 => format!("[{}, {}]", self.text(depth), self.text(0)),
            _ => "[]".into(),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(5) {
            0 => format!("{} == {}", self.text(1), self.text(0)),
            1 => format!("{} > {} && true", self.int(1), self.int(1)),
            2 => format!("!({} <= {})", self.int(1), self.int(0)),
            3 => format!("{} != \"one\" || {} < 3", self.text(0), self.int(0)),
            _ => self.random.pick(&["true", "false", "1 < 2"]).into(),
        }
    }

    fn declaration(&mut self) {
        let name = self.fresh("v");
        let (value, kind) = match self.random.below(8) {
            0..=2 => (format!("{} % 97", self.int(2)), Kind::Int),
            3 | 4 => (self.text(2), Kind::Text),
            5 => (self.texts(1), Kind::Texts),
            6 => (format!("{{a: {}, b: {}}}.a", self.text(1), self.int(0)), Kind::Text),
            _ => ("@random.password(length=12)".into(), Kind::Random),
        };
        self.line(&format!("var {name} = {value}"));
        self.names.push((name, kind));
    }

    fn assignment(&mut self) {
        let local = self.names.len() - self.fixed;
        if local == 0 {
            return self.declaration();
        }
        let (name, kind) = self.names[self.fixed + self.random.below(local)].clone();
        // What counts a loop down is left alone.
        let value = match kind {
            _ if name.starts_with("left") => return self.declaration(),
            Kind::Int => format!("{} % 97", self.int(1)),
            Kind::Text => self.text(1),
            Kind::Texts => self.texts(1),
            Kind::Random => return self.step(),
        };
        self.line(&format!("{name} = {value}"));
    }

    /// A word of a command that cannot be taken for an option.
    fn word(&mut self) -> String {
        let kind = [Kind::Int, Kind::Text, Kind::Texts, Kind::Random][self.random.below(4)];
        match (self.name(kind), kind) {
            (Some(name), Kind::Texts) => format!("@var.{name}"),
            (Some(name), _) if self.random.chance(2) => format!("\"k=@var.{name}\""),
            (Some(name), _) => format!("--key=@var.{name}()"),
            (None, _) => "plain".into(),
        }
    }

    fn step(&mut self) {
        let (one, two) = (self.word(), self.word());
        match self.random.below(9) {
            0 => self.line(&format!("tool {one} > @file.write(\"out\")")),
            1 => {
                let message = self.name(Kind::Text).unwrap_or_else(|| "'done'".into());
                self.line(&format!("@log({message})"));
            }
            2 if !self.callable.is_empty() => {
                let call = self.call();
                self.line(&format!("tool {one} && {call} || echo failed"));
            }
            3 if !self.callable.is_empty() => {
                let call = self.call();
                self.line(&call);
            }
            4 if self.may_bind => {
                let name = self.fresh("r");
                let given = self.name(Kind::Text).map_or_else(String::new, |n| format!("@var.{n}"));
                self.line(&format!("let.{name} = @shell(\"tool x={given}\")"));
                self.line(&format!("use @let.{name} \"@let.{name}.stdout\""));
            }
            5 => self.line("@file.hash(\"VERSION\")"),
            _ => self.line(&format!("tool {one} -- {two} | sort")),
        }
    }

    fn call(&mut self) -> String {
        let function = self.callable.start + self.random.below(self.callable.len());
        let (first, second) = (self.int(1), self.text(1));
        match self.random.below(3) {
            0 => format!("@cmd.f{function}({first})"),
            1 => format!("@cmd.f{function}({first}, more={second})"),
            _ => format!("@cmd.f{function}({first}, {second})"),
        }
    }

    fn function(&mut self, number: usize) {
        self.line(&format!("fun f{number}(count: Int, more: String = \"m-@env.STAGE\") {{"));
        self.names.push(("count".into(), Kind::Int));
        self.names.push(("more".into(), Kind::Text));
        self.block_of(3);
        self.line("}");
    }

    fn block_of(&mut self, statements: usize) {
        let outer = self.names.len();
        self.indent += 1;
        self.step();
        for _ in 0..self.random.below(statements) {
            self.statement();
        }
        self.indent -= 1;
        self.names.truncate(outer);
    }

    /// A block in which nothing may be bound.
    fn branch(&mut self, statements: usize) {
        let before = std::mem::replace(&mut self.may_bind, false);
        self.block_of(statements);
        self.may_bind = before;
    }

    fn statement(&mut self) {
        if self.budget == 0 || self.indent > 4 {
            return self.step();
        }
        self.budget -= 1;
        match self.random.below(12) {
            0 | 1 => self.declaration(),
            2 => self.assignment(),
            3 => {
                let condition = self.condition();
                self.line(&format!("if {condition} {{"));
                self.branch(3);
                self.line("} else {");
                self.branch(2);
                self.line("}");
            }
            4 => self.when(),
            5 => self.r#for(),
            6 => {
                let name = self.fresh("left");
                let rounds = self.random.below(3);
                self.line(&format!("var {name} = {rounds}"));
                self.names.push((name.clone(), Kind::Int));
                self.line(&format!("while {name} > 0 {{"));
                self.block_of(2);
                self.line(&format!("    {name}--"));
                self.line("}");
            }
            7 => {
                self.line("try {");
                self.branch(2);
                self.line("} catch {");
                self.branch(1);
                self.line("} finally {");
                self.branch(1);
                self.line("}");
            }
            8 | 9 => {
                let heads =
                    ["@retry(2) {", "@timeout(5s) {", "@environ(A=\"x\") {", "@parallel {", "{"];
                let head = self.random.pick(&heads);
                self.line(head);
                // Branches do not see each other's bindings.
                if head == "@parallel {" {
                    self.branch(3)
                } else {
                    self.block_of(3)
                }
                self.line("}");
            }
            _ => self.step(),
        }
    }

    fn when(&mut self) {
        if self.random.chance(2) {
            let subject = self.int(1);
            self.line(&format!("when {subject} {{"));
            self.line("    0 | 1 -> echo few");
            self.line("    2...9 -> {");
        } else {
            let subject = self.text(1);
            self.line(&format!("when {subject} {{"));
            self.line("    \"one\" -> echo one");
            self.line("    r\"^[a-m]\" -> {");
        }
        self.indent += 1;
        self.branch(2);
        self.indent -= 1;
        self.line("    }");
        if self.random.chance(2) {
            self.line("    else -> echo other");
        }
        self.line("}");
    }

    fn r#for(&mut self) {
        let name = self.fresh("item");
        let outer = self.names.len();
        match self.random.below(3) {
            0 => {
                let rounds = self.random.below(3);
                self.line(&format!("for {name} in 1...{rounds} {{"));
                self.names.push((name, Kind::Int));
            }
            1 => {
                let over = self.texts(1);
                self.line(&format!("for {name} in {over} {{"));
                self.names.push((name, Kind::Text));
            }
            _ => {
                let value = self.text(0);
                self.line(&format!("for key, {name} in ({{b: {value}, a: 'x'}}) {{"));
                self.names.push((name, Kind::Text));
            }
        }
        self.block_of(3);
        self.names.truncate(outer);
        self.line("}");
    }
}
