//! Statements, and the steps they are made of.

use super::{DEEPEST, Draw};

/// Steps that fit anywhere a step fits.
const STEPS: &[&str] = &[
    "ls",
    "echo  \"a  @var.x\"   b",
    "kubectl  apply -f k8s/ --replicas=@var.n[0] && echo 'x  y' | grep -v \"#\"",
    "curl -d @file.json https://x//y",
    "X=1  make -j$(nproc  || echo 4) ${Y:-  z}",
    "( cd a;  ls ) > out.txt 2>&1",
    "echo \\@var \\# # a comment",
    "bazel build //a:b   // a comment",
    "echo @file.read( \"a\",  'b' )",
    "echo if else { for }",
    "\"quoted command\"  x",
    "echo a{1,2}b;  ls ;",
    "@env.HOME",
];

/// Steps that end in a line of their own.
const LONG_STEPS: &[&str] = &[
    "cat <<E\n  kept @var.x\n\n\n}\nE",
    "cat <<-'E' | wc -l # a comment\n\tkept  \n\tE",
    "docker run \\\n      --rm \\\n  alpine",
    "a &&\n        b  ||\n c",
    "echo \"one\n    two\"",
    "(\n  ls\n      pwd\n)",
    "case $x in\n  a) ls ;;\nesac",
];

const CHAINS: &[&str] = &[
    "@cmd.build  &&  @cmd.test( 1 ,b = 2 )|cat >x",
    "echo  a > @file.write( \"p\" )",
    "cat <  @file.read(\"p\" ,)  | @to.display( )   # a comment",
    "@cmd.a( [\n1,2\n] ) ||\n        @cmd.b;  ls",
    "@timeout( 5s ){ sleep  1 }  && echo ok>log",
    "cat <<E  | @to.display( )   # a comment\n  kept  @var.x\nE",
];

impl Draw<'_> {
    pub(super) fn top_level(&mut self) {
        let kind = self.below(6);
        match kind {
            4 => self.function(),
            5 => self.label(),
            _ => self.statement(),
        }
        self.line_end();
        if kind == 5 {
            // An indented line directly below a label is an error.
            self.text("\n");
        }
    }

    fn function(&mut self) {
        self.text("fun");
        self.blank();
        self.new_name();
        self.blanks();
        self.text("(");
        self.list(Self::parameter);
        self.text(")");
        self.blanks();
        if self.one_in(2) {
            self.block();
            self.trailing();
        } else {
            self.text("=");
            self.blanks();
            self.step();
        }
    }

    fn label(&mut self) {
        self.new_name();
        self.text("-x:");
        if self.one_in(2) {
            self.blanks();
            self.block();
            self.trailing();
        } else {
            self.blank();
            self.step();
        }
    }

    fn parameter(&mut self) {
        self.new_name();
        self.wide_gap();
        match self.below(5) {
            0 => {}
            1 => self.text("..."),
            2 => self.text(":  Array [ String ]"),
            3 => self.text(":\"a\"|\"b\"=\"a\""),
            _ => {
                self.text("=");
                self.wide_gap();
                self.expression();
            }
        }
    }

    fn step(&mut self) {
        match self.below(4) {
            2 => self.pick(LONG_STEPS),
            3 => self.pick(CHAINS),
            _ => self.pick(STEPS),
        }
    }

    fn statement(&mut self) {
        let kinds = if self.depth < DEEPEST { 13 } else { 5 };
        match self.below(kinds) {
            0 | 1 => return self.step(),
            2 => self.declaration(),
            3 => self.assignment(),
            4 => self.binding(),
            5 => self.conditional(),
            6 => self.when(),
            7 => self.r#for(),
            8 => self.r#while(),
            9 => self.r#try(),
            10 => self.group(),
            11 => self.block(),
            _ => self.call_with_block(),
        }
        self.trailing();
    }

    fn declaration(&mut self) {
        self.text("var");
        self.blank();
        self.new_name();
        self.gap();
        self.text("=");
        self.gap();
        self.expression();
    }

    fn group(&mut self) {
        self.text("var");
        self.blanks();
        self.text("(");
        self.wide_gap();
        for index in 0..self.below(3) {
            if index > 0 {
                self.line_end();
            }
            self.new_name();
            self.blanks();
            self.text("=");
            self.gap();
            self.expression();
        }
        self.wide_gap();
        self.text(")");
    }

    fn assignment(&mut self) {
        self.text("x");
        if self.one_in(3) {
            return self.pick(&["++", "--"]);
        }
        self.blank();
        self.pick(&["=", "+=", "-=", "*=", "/=", "%="]);
        self.blank();
        self.expression();
    }

    fn binding(&mut self) {
        self.text("let.");
        self.new_name();
        self.blanks();
        self.text("=");
        self.blanks();
        self.text("@shell");
        self.arguments();
        self.pick(&["", ".stdout", "[ 0 ]"]);
    }

    /// Statements between braces; a heredoc or a comment needs the line feed before the `}`.
    fn block(&mut self) {
        self.depth += 1;
        self.text("{");
        match self.below(4) {
            0 => self.blanks(),
            1 => {
                self.blanks();
                self.pick(&["ls", "curl -f  $URL", "x++", "@cmd.a( 1 )", "/* c */ ls"]);
                self.blank();
            }
            _ => {
                if !self.one_in(4) {
                    self.trailing();
                    self.line_end();
                }
                for _ in 0..=self.below(3) {
                    self.statement();
                    self.line_end();
                }
            }
        }
        self.text("}");
        self.depth -= 1;
    }

    fn conditional(&mut self) {
        self.text("if");
        self.head();
        self.block();
        for _ in 0..self.below(3) {
            self.clause("else");
            self.blank();
            self.text("if");
            self.head();
            self.block();
        }
        if self.one_in(2) {
            self.clause("else");
            self.blanks();
            self.block();
        }
    }

    /// A word that follows a `}`, on its line or on another.
    fn clause(&mut self, word: &str) {
        match self.below(3) {
            0 => self.blanks(),
            1 => self.text("\n\n  "),
            _ => {
                self.trailing();
                self.line_end();
            }
        }
        self.text(word);
    }

    /// A condition. It begins with a name, because `if [ ` and `while ((` are the shell's.
    fn head(&mut self) {
        self.blank();
        self.pick(&["x", "!x", "(x)", "@var.x"]);
        if self.one_in(2) {
            self.gap();
            self.pick(&["==", "!=", "&&", "||", "<", ">="]);
            self.wide_gap();
            self.operand(true);
        }
        self.gap();
    }

    fn when(&mut self) {
        self.depth += 1;
        self.text("when");
        self.head();
        self.text("{");
        if self.below(4) > 0 {
            for _ in 0..self.below(4) {
                self.line_end();
                self.arm();
            }
            self.line_end();
        }
        self.text("}");
        self.depth -= 1;
    }

    fn arm(&mut self) {
        self.pick(&["\"a\"", "1...5", "-1 ... 3", "r\"^a\"", "else", "true", "1h"]);
        while self.one_in(3) {
            self.gap();
            self.text("|");
            self.wide_gap();
            self.pick(&["\"b\"", "2", "null"]);
        }
        self.gap();
        self.text("->");
        self.blanks();
        if self.one_in(2) {
            self.block();
        } else {
            self.step();
        }
    }

    fn r#for(&mut self) {
        self.text("for");
        self.blank();
        self.pick(&["k", "k,v", "k /* c */ , v"]);
        self.blank();
        self.text("in");
        self.blank();
        self.operand(true);
        self.gap();
        self.block();
    }

    fn r#while(&mut self) {
        self.text("while");
        self.head();
        self.block();
    }

    fn r#try(&mut self) {
        self.text("try");
        self.blanks();
        self.block();
        self.clause("catch");
        self.blanks();
        self.block();
        if self.one_in(2) {
            self.clause("finally");
            self.blanks();
            self.block();
        }
    }

    /// Lines of anything; what closes them is at the margin, so it is not deeper than the call.
    fn text_block(&mut self) {
        self.text("{");
        self.blanks();
        self.text("\n");
        for _ in 0..self.below(5) {
            self.pick(&["", "  ", "\t", "      ", "        "]);
            self.pick(&[
                "",
                "a { b",
                "it's \"",
                "@var.x",
                "# }",
                "x  ",
                "if y; then",
                "<<EOF",
                "/*",
            ]);
            self.text("\n");
        }
        self.text("}");
    }

    fn call_with_block(&mut self) {
        let is_text = self.one_in(3);
        self.text(if is_text { "@script" } else { "@retry" });
        self.arguments();
        self.blanks();
        if is_text {
            self.text_block()
        } else {
            self.block()
        }
        if self.one_in(3) {
            self.pick(&["  && echo ok", " > out.txt", "|cat"]);
        }
    }
}
