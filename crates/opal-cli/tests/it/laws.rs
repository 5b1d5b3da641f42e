//! The decisions of the language, one small program each, with exactly the codes it gives.

use crate::support::Opal;

/// What is claimed, the program, the codes.
type Law = (&'static str, &'static str, &'static [&'static str]);

#[track_caller]
fn laws(cases: &[Law]) {
    let mut wrong = Vec::new();
    for (claim, program, expected) in cases {
        let found = Opal::codes(program);
        if found != *expected {
            wrong.push(format!("{claim}: expected {expected:?}, found {found:?}\n{program}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

const SHELL_TEXT_IS_VERBATIM: &[Law] = &[
    ("a url", "curl https://example.com/a?b=c&d=e\n", &[]),
    ("a glob", "ls /tmp/* **/*.rs\n", &[]),
    ("parameter expansion", "echo ${HOME:-/root} ${x%%.*} ${#x} ${x//a/b}\n", &[]),
    ("command substitution", "echo $(date +%s) `date`\n", &[]),
    ("nested quotes in a substitution", "echo \"$(echo \"a $(echo \"b\")\")\"\n", &[]),
    ("brace expansion", "mkdir -p src/{a,b}/{c,d}\n", &[]),
    ("find with braces", "find . -name '*.tmp' -exec rm {} \\;\n", &[]),
    ("awk in single quotes", "ps aux | awk '{print $1}' | sort -u\n", &[]),
    ("a go template", "docker ps --format '{{.Names}}' && docker ps --format {{.ID}}\n", &[]),
    ("a heredoc", "cat <<EOF\n} else { fun var @x.y\nEOF\n", &["N0412"]),
    ("a quoted heredoc is literal", "cat <<'EOF'\n$(rm) @var.X @a.b.c \"\nEOF\n", &[]),
    ("a heredoc with tabs", "cat <<-EOF\n\thi\n\tEOF\necho x\n", &[]),
    ("two heredocs on a line", "diff <(cat <<A\na\nA\n) <(cat <<B\nb\nB\n)\n", &[]),
    ("line continuation", "docker run \\\n  --rm \\\n  alpine true\n", &[]),
    ("trailing operators", "true &&\n  echo a ||\n  echo b |\n  cat\n", &[]),
    ("a comment after a trailing operator", "true && # why\n  # more\n  echo a\n", &[]),
    ("comments at the end of a step", "echo a # don't\necho b // it's\n", &[]),
    ("a bazel label is no comment", "bazel build //a:b //c/...\n", &[]),
    ("quotes over lines", "echo \"a\nb\" 'c\nd'\n", &[]),
    ("an e-mail address", "mail ops@example.com\n", &[]),
    ("an npm scope", "npm install @scope/pkg @types/node\n", &[]),
    ("an npm scope with a version", "npm install @scope/pkg@1.2.3 left-pad@^1\n", &[]),
    ("curl with a file", "curl -d @file.json https://x\n", &["N0412"]),
    ("a version behind an at", "go install example.com/cmd@v1.2.3\n", &[]),
    ("an ssh url", "git clone git@git.company.com:a/b\n", &[]),
    ("an image digest", "docker pull alpine@sha256:abcdef\n", &[]),
    ("case over lines", "case $1x in\n  a) echo a ;;\n  *) echo b ;;\nesac\n", &["W0703"]),
    ("until over lines", "until curl -f x; do\n  sleep 1\ndone\n", &[]),
    ("while behind a pipe", "cat f | while read l; do\n  echo $l\ndone\n", &[]),
    ("a subshell", "( cd x && make )\n", &[]),
    ("shell loops in a subshell", "( for i in 1 2; do echo $i; done )\n", &[]),
    ("shell arrays", "a=(1 2 3); echo \"${a[@]}\" ${#a[@]}\n", &[]),
    ("git refs", "git show HEAD@{1} stash@{0} HEAD^{tree}\n", &[]),
    ("keywords are ordinary words", "echo if else for while when try fun var let\n", &[]),
    ("bash's let", "let y=1+2\n", &[]),
    ("a shell assignment", "X=1 make && Y=2\n", &[]),
    ("set alone", "set -euo pipefail\n", &[]),
    ("here strings", "grep x <<< \"$VALUE\"\n", &[]),
    ("ansi quotes", "printf $'a\\'b\\n'\n", &[]),
    ("arithmetic", "echo $((1 << 2)) $(( (1+2) * 3 ))\n", &[]),
    ("escaped characters", "echo \\\" \\' \\{ \\} \\( \\) \\# \\@ \\\\\n", &[]),
    ("a negated command", "! grep -q x file\n", &[]),
    ("a test", "[ -f x ] || echo no; [[ $a == b* ]] && echo yes\n", &[]),
    ("crlf", "var a = 1\r\ncat <<EOF\r\n@var.a\r\nEOF\r\necho b\r\n", &[]),
    ("a hash inside a word", "echo a#b c#\n", &[]),
    ("jq and sed", "jq '.a[] | {b: .c}' f.json | sed -e 's/x/y/g' -e \"s#/#_#\"\n", &[]),
];

#[test]
fn shell_text_is_verbatim() {
    laws(SHELL_TEXT_IS_VERBATIM);
}

const REFERENCES_IN_TEXT: &[Law] = &[
    ("bare and in quotes", "var X = \"a\"\necho @var.X \"@var.X\" --x=@var.X pre@var.X\n", &[]),
    ("never in single quotes", "echo '@var.X @a.b.c'\n", &[]),
    ("an escaped at", "echo \\@var.X \"\\@var.Y\"\n", &[]),
    ("a literal at and a reference", "var H = \"h\"\nssh user@@var.H uptime\n", &[]),
    ("an explicit end", "var s = \"a\"\nls @var.s()_backup @var.s().bak\n", &[]),
    ("a trailing dot is text", "var s = \"a\"\necho Hello @var.s.\n", &[]),
    ("a missing field", "var s = \"a\"\nls @var.s.bak\n", &["E0513"]),
    ("fields and indices", "var m = {a: [1, 2]}\necho @var.m.a.0 @var.m[\"a\"][1]\n", &[]),
    ("bracket that is no index", "var s = \"a\"\nls @var.s[ab]*\n", &[]),
    ("an unknown path of three parts", "echo --token=@vault.db.password\n", &["E0406"]),
    ("a slip of var", "echo @vra.X\n", &["E0406"]),
    ("a slip of env", "echo @evn.HOME\n", &["E0406"]),
    ("a slip of a path", "echo @git.comit\n", &["E0406"]),
    ("an unknown path with arguments", "echo @foo(\"x\")\n", &["E0406"]),
    ("an unknown word is noted", "echo @foo.bar\n", &["N0412"]),
    ("a lone at", "echo @ a@ @@\n", &[]),
    ("a registered path", "echo @git.commit @os.name @file.read(\"VERSION\")\n", &[]),
    ("arguments nest quotes", "echo \"v@file.read(\"my file\")\"\n", &[]),
    ("an array as a word", "var L = [\"a\", \"b\"]\nls @var.L @var.L.*\n", &[]),
    ("an array inside a word", "var L = [\"a\"]\nls x@var.L\n", &["E0512"]),
    ("an array in quotes", "var L = [\"a\"]\nls \"@var.L\"\n", &["E0512"]),
    ("a map in text", "var M = {a: 1}\nls @var.M\n", &["E0512"]),
    ("an action is no value", "echo @retry(3)\n", &["E0511"]),
    ("a function is no value", "fun a() = echo a\necho x @cmd.a()\n", &["E0511"]),
    ("raw pastes", "var X = \"a\"\nbash -c \"@raw(@var.X)\"\n@raw(X)\n", &[]),
    ("script arguments", "echo @args @args.0\n", &[]),
    ("script arguments in a function", "fun f() = echo @args\n", &["W0413"]),
];

#[test]
fn references_in_text() {
    laws(REFERENCES_IN_TEXT);
}

const VALUES_ARE_DATA: &[Law] = &[
    ("text in arithmetic", "echo $(( @env.N + 1 ))\n", &["E0702"]),
    ("an Int in arithmetic", "var n = 2\necho $(( @var.n + 1 ))\n", &[]),
    ("an index of a shell array", "var i = 1\necho ${a[@var.i]}\n", &["E0702"]),
    ("a captured text in arithmetic", "let.a = @shell(\"x\")\necho $((@let.a + 1))\n", &["E0702"]),
    ("a captured text as a command", "let.a = @shell(\"x\")\n@shell(@let.a)\n", &["E0701"]),
    (
        "a variable from the world as a command",
        "var X = @env.X\n@shell(\"ls \" + X)\n@shell(X)\n",
        &["E0701"],
    ),
    ("a constant as a command", "var X = \"ls\"\n@shell(X)\n", &[]),
    ("a command in parentheses", "@shell((\"rm @env.X\"))\n", &[]),
    ("a command from a function", "@shell(trim(\"@env.X\"))\n", &["E0701"]),
    ("a command from joined texts", "@shell(\"ls \" + \"@env.X\")\n", &["E0701"]),
    ("an assigned command", "var c = \"ls\"\nc = @env.X\n@shell(c)\n", &["E0701"]),
    ("commands from a list", "for x in split(@env.X, \",\") { @shell(x) }\n", &["E0701"]),
    ("no operand in the text of a command", "@shell(\"echo @file.read(-)\")\n", &["E0301"]),
    ("a quote without end in a literal command", "@shell('echo \"a')\n", &["E0205"]),
    ("a value in another language", "@shell(\"print(@env.X)\", shell=\"python3\")\n", &["E0701"]),
    ("a value in zsh", "@shell(\"[ @env.X -eq 1 ]\", shell=\"zsh\")\n", &["E0701"]),
    ("a value in ksh", "@shell(\"echo @env.X\", shell=\"/bin/ksh\")\n", &["E0701"]),
    ("a value in dash", "@shell(\"echo @env.X\", shell=\"/bin/dash\")\n", &[]),
    ("quotes of another language", "@shell(\"print('@env.X')\", shell=\"python3\")\n", &["E0701"]),
    ("a text that looks like one", "@shell(\"print('\\@env.X')\", shell=\"python3\")\n", &[]),
    ("another language", "@environ(X=@env.X) { @shell(\"print(1)\", shell=\"python3\") }\n", &[]),
    ("another shell", "@shell(\"echo @env.X\", shell=\"/bin/dash\")\n", &[]),
    ("a computed command", "@shell(\"ls \" + @env.X)\n", &["E0701"]),
];

#[test]
fn values_are_data() {
    let bad = |line: &str| format!("var X = \"a\"\n{line}\n");
    for line in [
        "eval @var.X",
        "bash -c \"echo @var.X\"",
        "sh -ec \"@var.X\"",
        "bash -euo pipefail -c \"echo @var.X\"",
        "ssh host \"echo @var.X\"",
        "ssh -p 22 -i key host echo @var.X",
        "su -c \"echo @var.X\" root",
        "trap \"rm @var.X\" EXIT",
        "sudo -u root bash -c \"echo @var.X\"",
        "env A=b sh -c \"@var.X\"",
        "xargs -I{} sh -c \"echo {} @var.X\"",
        "docker exec app sh -c \"@var.X\"",
        "ls ${HOME/root/@var.X}",
        "ls ${HOME/root/\"@var.X\"}",
        "@shell(\"ls ${HOME/root/@var.X}\")",
        "@shell(\"eval @var.X\")",
        "@shell(\"bash -c \\\"echo @var.X\\\"\")",
    ] {
        assert_eq!(Opal::codes(&bad(line)), ["E0701"], "{line}");
    }
    for line in [
        "ssh @var.X uptime",
        "ssh -i @var.X host uptime",
        "bash -c 'echo \"$1\"' _ @var.X",
        "bash script.sh @var.X",
        "echo $(cat @var.X) `ls @var.X`",
        "bash -c \"$(cat @var.X)\"",
        "cat > @var.X < @var.X",
        "A=@var.X make",
        "B=${HOME/root/@var.X} ls \"${HOME/root/@var.X}\" ${HOME/@var.X}",
        "cat <<EOF\n@var.X $(ls @var.X)\nEOF",
        "@shell(\"echo @var.X '@var.nothing'\")",
        "sudo ls @var.X && git log --grep=@var.X",
    ] {
        assert_eq!(Opal::codes(&bad(line)), [""; 0], "{line}");
    }
    laws(VALUES_ARE_DATA);
}

const STATEMENTS_AND_BLOCKS: &[Law] = &[
    ("one-line blocks", "@retry(3) { curl -f $URL }\nif true { echo a } else { echo b }\n", &[]),
    ("else on the next line", "if true {\n    echo a\n}\nelse {\n    echo b\n}\n", &[]),
    ("text after a block", "if true { echo a } echo b\n", &["E0305"]),
    ("a construct as an operand", "if true { echo a } && echo b\n", &["E0306"]),
    ("a plain block", "{\n    var a = 1\n    echo @var.a\n}\n", &[]),
    ("a redirected block", "{ echo a } > f\n", &["E0307"]),
    (
        "a decorator block with operators",
        "@retry(3) { true } && echo ok > log 2>&1 || false\n",
        &[],
    ),
    ("a chain", "fun a() = true\nfun b() = true\n@cmd.a && @cmd.b() || echo no; @cmd.a\n", &[]),
    ("redirections to decorators", "echo a > @file.write(\"p\")\ncat < @file.read(\"p\")\n", &[]),
    ("a pipe into a decorator", "echo a | @to.display() > f\n", &[]),
    ("a stray else", "else { echo a }\n", &["E0304"]),
    ("a stray catch", "catch {\n    echo a\n}\n", &["E0304"]),
    ("shell if", "if [ -f x ]; then\n  echo a\nfi\n", &["E0308"]),
    ("shell for", "for f in *.txt; do echo $f; done\n", &["E0308"]),
    ("shell while", "while true; do\n  sleep 1\ndone\n", &["E0308"]),
    ("shell while with do below", "while read x\ndo\n  echo $x\ndone\n", &["E0308"]),
    ("a shell function", "f() {\n  echo a\n}\n", &["E0309"]),
    ("a shell function, long form", "function f {\n  echo a\n}\n", &["E0309"]),
    ("a leading operator", "echo a\n  && echo b\n", &["E0313"]),
    (
        "decorator arguments without parentheses",
        "fun a(x) = echo @var.x\n@cmd.a prod\n",
        &["E0314"],
    ),
    ("a decorator in a subshell", "fun a() = true\n( @cmd.a )\n", &["E0314"]),
    ("a requirement", "@env.HOME\n@file.read(\"VERSION\")\n", &[]),
    ("a value as a command", "@env.EDITOR notes.txt\n", &[]),
    ("a value with a block", "@env.HOME {\n    echo a\n}\n", &["E0510"]),
    ("unclosed block", "fun a() {\n    echo a\n", &["E0302"]),
    ("unmatched brace", "echo a\n}\n", &["E0303"]),
    ("unterminated quote", "echo \"a\n", &["E0205"]),
    ("unterminated bracket", "echo $(ls\n", &["E0206"]),
    ("unterminated heredoc", "cat <<EOF\nhi\n", &["E0207"]),
    (
        "an indented end of a heredoc",
        "fun a() {\n    cat <<EOF\n    hi\n    EOF\n    echo x\n}\n",
        &["E0207"],
    ),
    ("unterminated case", "case x in\n  a) echo ;;\n", &["E0208"]),
    ("make's quiet prefix", "@echo hi\n", &["E0406"]),
    ("export alone", "export A=1\nsource .env\n. venv/bin/activate\n", &["W0704"]),
    ("a shell variable alone", "VERSION=1.2\nNAME=\"a b\"\n", &["W0704"]),
    ("a shell variable for a command", "A=1 make\n", &[]),
    (
        "what a command prints",
        "fun f() {\n    VERSION=$(git describe)\n    echo $VERSION\n}\n",
        &["W0704"],
    ),
    ("other lost state", "set -x\n", &["W0704"]),
    ("several at once", "export A=1; export B=2\n", &["W0704"]),
    ("break", "for x in [1, 2] {\n    echo @var.x\n    break\n}\n", &["W0705"]),
    ("exit behind a test", "fun f() {\n    [ -f x ] && exit 0\n    make\n}\n", &["W0705"]),
    ("break in a shell's own loop", "until false; do break; done\n", &[]),
    ("a function as a command", "fun build() = make\nfun all() {\n    build\n}\n", &["W0414"]),
    ("other tools' constructs", "task build {\n    make\n}\n", &["E0301"]),
    ("other tools' choices", "switch x {\n  a\n}\n", &["E0301"]),
    ("make's assignment", "X := 1\n", &["E0301"]),
    ("a constant", "const X = 1\n", &["E0301"]),
    ("a blank too few", "var A = 1\nA =2\necho @var.A\n", &["E0301"]),
    ("a makefile's rule", "build: deps\n\tmake\n", &["E0310"]),
    ("a makefile's list", "fun a() = make\nfun b() = make\nc: a && b\n", &["E0310"]),
    ("binding through a reference", "@let.x = @shell(\"ls\")\n", &["E0301"]),
    ("phony", ".PHONY: all\n", &["E0310"]),
    ("a recipe with parameters", "build target:\n    make\n", &["E0310"]),
    ("a command that does nothing", "false || :\nrm -f x; :\ntest -f x || :\n", &[]),
    ("a command that prints a colon", "echo a: b:\necho done:\nprintf x:\n", &[]),
    ("a name with an operator in it", "@print(\"x\") > 'a<b'\n@print(\"x\") > \"a<\"b\n", &[]),
    ("assigning through a reference", "var A = 1\n@var.A = 2\n", &["E0301"]),
    ("a name that is missing", "echo @env(\"HOME\")\n", &["E0406"]),
    (
        "a name that is missing in an expression",
        "var X = @env(\"HOME\")\necho @var.X\n",
        &["E0406"],
    ),
    ("an endpoint as a command", "@file.write(\"p\")\n", &["E0314"]),
    ("a glob of the root", "ls /*\n", &[]),
    ("a comment that is a glob", "rm -rf build /* old */\n", &["W0415"]),
    ("export with more", "export A=1 && make\n", &[]),
    ("exit in a block", "fun a() {\n    exit 1\n}\n", &["W0705"]),
    (
        "comments everywhere",
        "/* a */ echo b\n// c\n# d\nvar x = 1 /* e */ + 2 // f\necho @var.x\n",
        &[],
    ),
];

#[test]
fn statements_and_blocks() {
    laws(STATEMENTS_AND_BLOCKS);
}

const DECLARATIONS_AND_CALLS: &[Law] = &[
    (
        "functions in every form",
        "fun a() = echo a\nfun b() { echo b }\nc: echo c\nd: {\n    echo d\n}\n",
        &[],
    ),
    ("a function without parentheses", "fun a {\n    echo a\n}\nfun b = echo b\n", &[]),
    ("a nested function", "fun a() {\n    fun b() = echo b\n}\n", &["E0311"]),
    ("an arrow for a body", "fun a() => echo hi\n", &["E0301"]),
    ("a duplicate", "fun a() = echo a\nfun a() = echo b\n", &["E0404"]),
    ("a label without body", "build:\n    cargo build\n", &["E0310"]),
    ("a makefile's dependencies", "fun build() = make\ntest: build\n", &["E0310"]),
    ("dashes in names", "fun build-all() = make\n@cmd.build-all\n", &[]),
    ("a dot in a name", "fun a.b() = make\n", &["E0319"]),
    (
        "parameter types",
        "fun a(b: String, c: Int = 1, d: \"x\" | \"y\" = \"x\", e: Array[String] = [], f...) = echo @var.b @var.c @var.d @var.e @var.f\n",
        &[],
    ),
    ("an unknown type", "fun a(b: Strng) = echo @var.b\n", &["E0318"]),
    ("a default of the wrong type", "fun a(b: Int = \"x\") = echo @var.b\n", &["E0505"]),
    ("a default outside its set", "fun a(b: \"x\" | \"y\" = \"z\") = echo @var.b\n", &["E0506"]),
    ("the rest is not last", "fun a(b..., c) = echo @var.b @var.c\n", &["E0315"]),
    ("a parameter twice", "fun a(b, b) = echo @var.b\n", &["E0315"]),
    ("a wrong name is one mistake", "fun a(name) = echo @var.name\n@cmd.a(nmae=1)\n", &["E0503"]),
    ("a missing argument", "fun a(b) = echo @var.b\n@cmd.a()\n", &["E0501"]),
    ("too many", "fun a() = true\n@cmd.a(1)\n", &["E0502"]),
    ("an unknown argument", "fun a(b = 1) = echo @var.b\n@cmd.a(c=1)\n", &["E0503"]),
    ("given twice", "fun a(b) = echo @var.b\n@cmd.a(1, b=2)\n", &["E0504"]),
    ("positional after named", "fun a(b, c) = echo @var.b @var.c\n@cmd.a(b=1, 2)\n", &["E0316"]),
    ("an unknown function", "fun deploy() = true\n@cmd.deplyo()\n", &["E0403"]),
    ("a cycle", "fun a() = @cmd.b()\nfun b() = @cmd.c()\nfun c() = @cmd.a()\n", &["E0405"]),
    ("itself", "fun a() = @cmd.a()\n", &["E0405"]),
    ("variables of the top are visible in functions", "fun a() = echo @var.X\nvar X = 1\n", &[]),
    ("but not above in the script", "echo @var.X\nvar X = 1\n", &["E0402"]),
    (
        "a block's variable does not leak",
        "if true {\n    var a = 1\n    echo @var.a\n}\necho @var.a\n",
        &["E0401"],
    ),
    (
        "assignment to an outer variable",
        "var n = 0\nfor i in 1...3 {\n    n += i\n}\necho @var.n\n",
        &[],
    ),
    ("assignment to nothing", "n = 1\n", &["E0401"]),
    ("counting", "var n = 0\nn++\nn--\necho @var.n\n", &[]),
    ("a changed global", "var X = 1\nX = 2\nfun a() = echo @var.X\n", &["E0408"]),
    (
        "a redeclared global that no function reads",
        "var X = 1\necho @var.X\nvar X = 2\necho @var.X\n",
        &[],
    ),
    (
        "a global changed in a block",
        "var X = 1\nif true {\n    X = 2\n}\nfun a() = echo @var.X\n",
        &["E0408"],
    ),
    ("a default that reads a global", "fun a(b = D) = echo @var.b\nvar D = 3\n", &[]),
    ("a default that reads a parameter", "fun a(b = 1, c = b) = echo @var.b @var.c\n", &[]),
    ("a default that reads nothing", "fun a(b = nope) = echo @var.b\n", &["E0401"]),
    ("an unused variable", "var X = 1\n", &["W0410"]),
    ("an unused parameter", "fun a(x) = true\n", &["W0411"]),
    ("on purpose", "fun a(_x) = true\n", &[]),
    ("a variable called var", "var var = 1\necho @var.var\n", &[]),
    ("a group", "var (\n    A = 1\n    B = \"@var.A\"\n)\necho @var.B\n", &[]),
    ("no type on a var", "var x: Int = 1\n", &["E0301"]),
];

#[test]
fn declarations_and_calls() {
    laws(DECLARATIONS_AND_CALLS);
}

const DECORATORS_AND_THEIR_ARGUMENTS: &[Law] = &[
    (
        "retry in every form",
        "@retry { true }\n@retry(3) { true }\n@retry(times=3, delay=1s, strategy=\"linear\") { true }\n",
        &[],
    ),
    ("no block", "@retry(3)\n", &["E0509"]),
    ("a block too many", "@log(\"x\") {\n    true\n}\n", &["E0510"]),
    ("the brace on the next line", "@retry(3)\n{\n    true\n}\n", &["E0509"]),
    ("a closed set", "@retry(3, strategy=\"liner\") { true }\n", &["E0506"]),
    ("an unquoted member", "@retry(3, strategy=linear) { true }\n", &["E0401"]),
    ("a number for a duration", "@timeout(5) { true }\n", &["E0505"]),
    ("a string for a duration", "@timeout(\"5s\") { true }\n", &["E0505"]),
    ("bad durations", "@timeout(30m1h) { true }\n", &["E0204"]),
    ("a fraction", "@timeout(1.5h) { true }\n", &["E0204"]),
    ("out of range", "@retry(0) { true }\n", &["E0507"]),
    ("an unknown argument", "@retry(3, dealy=1s) { true }\n", &["E0503"]),
    ("a missing argument", "@timeout() { true }\n", &["E0501"]),
    ("an unknown decorator", "@retyr(3) { true }\n", &["E0406"]),
    ("no endpoint", "echo a > @retry(3)\n", &["E0517"]),
    ("a redirected block", "@retry(3) { true } > f\n", &["E0519"]),
    ("a redirected call", "fun f() = true\n\nfun g() {\n    @cmd.f() 2>&1\n}\n", &["E0519"]),
    ("another shell, redirected", "@shell(\"a\", shell=\"dash\") > f\n", &["E0519"]),
    ("input of a decorator", "echo a | @to.display() < f\n", &["E0519"]),
    ("a redirected decorator", "@print(\"a\") > f 2>&1\n@shell(\"a\") < f\n", &[]),
    ("a mode that is none", "echo a > @file.write(\"p\", mode=\"9999\")\n", &["E0508"]),
    ("environment variables for a block", "@environ(A=\"1\", B=@env.C) { make }\n", &[]),
    (
        "secrets",
        "var T = @secret.env.TOKEN\nvar U = @secret.env(\"TOKEN\")\ncurl -H @var.T -H @var.U x\n",
        &[],
    ),
    (
        "arguments behind a name",
        "var T = @secret.env.TOKEN(dash=true)\ncurl -H @var.T \"@secret.env.A(dash=true)\" x\n",
        &[],
    ),
    ("a wrong argument behind a name", "echo @secret.env.TOKEN(public=true)\n", &["E0503"]),
    ("text before a decorator", "fun a() = true\n! @cmd.a\n", &["E0314"]),
    ("variables before a decorator", "fun a() = true\nX=1 @cmd.a\n", &["E0314"]),
    ("a blank before the arguments", "@retry (3) { true }\n", &["E0314"]),
    ("arguments without parentheses", "@retry 3 { true }\n", &["E0314"]),
    ("a command behind a decorator", "@retry(3) curl x\n", &["E0314"]),
    ("text behind a decorator's block", "@retry(3) { true } echo y\n", &["E0305"]),
    ("catch behind a decorator's block", "@retry(3) { true } catch { echo y }\n", &["E0304"]),
    ("a resource", "@file.directory(path=\"/srv/app\", mode=\"0755\")\n", &[]),
    (
        "arguments over lines",
        "@file.line(\n    file=\"/etc/hosts\",\n    line=\"127.0.0.1 x\",\n)\n",
        &[],
    ),
];

#[test]
fn decorators_and_their_arguments() {
    laws(DECORATORS_AND_THEIR_ARGUMENTS);
}

/// The codes of a file whose first line declares the value of `expr`.
fn value(expr: &str) -> Vec<String> {
    Opal::codes(&format!("var x = {expr}\nvar y = x\nif y != null {{ echo a }}\n"))
}

#[test]
fn expressions_and_types() {
    for good in [
        "1 + 2 * 3",
        "1.5 + 2",
        "\"a\" + \"b\"",
        "1h30m + 5m",
        "2s * 3",
        "1...5",
        "[1, \"a\", true,]",
        "{a: 1, \"b c\": 2,}",
        "!true && false || 1 < 2",
        "int(\"3\") + 1",
        "split(\"a,b\", \",\")",
        "join([\"a\"], \"-\")",
        "\"abc\".length",
        "[1, 2].length > 1",
        "[1, 2][0] + 1",
        "{a: 1}.a",
        "r\"^a+$\"",
        "-9223372036854775808",
        "1 == 1.0",
        "null == 1",
        "\"\"\"\n    a\n    \"\"\"",
        "'a\\b'",
        "\"\\u{1F600}\\t\\\"\\\\\\@\"",
        "(1 +\n  2)",
        "1 +\n  2",
        "1e9",
        "trim(lines(\"a\")[0])",
        "{}",
        "[]",
        "@env.X(default=\"y\")",
        "-5 + 3",
        "(({a: 1}))",
    ] {
        assert_eq!(value(good), [""; 0], "{good}");
    }
}

#[test]
fn expressions_that_cannot_work() {
    for (bad, code) in [
        ("1..5", "E0211"),
        ("\"a", "E0201"),
        ("\"a\\d\"", "E0202"),
        ("9223372036854775808", "E0203"),
        ("0x1f", "E0203"),
        ("1_000", "E0203"),
        ("5parsecs", "E0204"),
        ("reverse(\"a\")", "E0407"),
        ("\"a\" + 1", "E0514"),
        ("1 < \"2\"", "E0514"),
        ("@env.PORT + 1", "E0514"),
        ("true + 1", "E0514"),
        ("1 / 0", "E0514"),
        ("!1", "E0515"),
        ("1 && true", "E0515"),
        ("r\"(\"", "E0212"),
        ("\"a\".foo", "E0513"),
        ("[1][\"a\"]", "E0505"),
        ("int()", "E0501"),
        ("trim(1)", "E0505"),
        ("split(\"a\")", "E0501"),
        ("$HOME", "E0210"),
        ("[1, 2", "E0301"),
        ("", "E0301"),
        ("1 +", "E0301"),
        ("\"@var.nope\"", "E0401"),
        ("{\"@env.X\": 1}", "E0301"),
        ("-!true", "E0514"),
        ("1 + 2 && true", "E0515"),
        ("nope", "E0401"),
        ("{a: 1, a: 2}", "E0504"),
    ] {
        assert_eq!(value(bad), [code], "{bad}");
    }
}

const CONTROL_FLOW: &[Law] = &[
    ("if with a string", "if @env.DEBUG {\n    echo a\n}\n", &["E0515"]),
    ("if with a comparison", "if @env.A(default=\"x\") == \"x\" && !false { echo a }\n", &[]),
    ("one equals sign", "var a = 1\nif a = 1 {\n    echo a\n}\n", &["E0301"]),
    ("and, or", "var a = true\nif a and a {\n    echo a\n}\n", &["E0301"]),
    ("elif", "var a = 1\nif a == 1 {\n    echo a\n} elif a == 2 {\n    echo b\n}\n", &["E0301"]),
    (
        "when",
        "when @env.E {\n    \"a\" | \"b\" -> echo x\n    r\"^c\" -> { echo y }\n    else -> echo z\n}\n",
        &[],
    ),
    (
        "when over numbers",
        "var n = 3\nwhen n {\n    1...5 -> echo few\n    -1 -> echo neg\n    else -> echo many\n}\n",
        &[],
    ),
    ("a pattern of another type", "when @env.E {\n    1 -> echo a\n}\n", &["E0514"]),
    ("a bare pattern", "when @env.E {\n    prod -> echo a\n}\n", &["E0301"]),
    ("a default arm", "when @env.E {\n    _ -> echo a\n}\n", &["E0301"]),
    (
        "an arm behind else",
        "when @env.E {\n    else -> echo a\n    \"b\" -> echo b\n}\n",
        &["E0301"],
    ),
    ("assignment in an arm", "var n = 1\nwhen @env.E {\n    \"a\" -> n = 2\n}\necho @var.n\n", &[]),
    ("for over a list", "for x in [\"a\", \"b\"] {\n    echo @var.x\n}\n", &[]),
    ("for over a map", "for k, v in {a: 1} {\n    echo @var.k @var.v\n}\n", &["E0301"]),
    ("for over a map in parentheses", "for k, v in ({a: 1}) {\n    echo @var.k @var.v\n}\n", &[]),
    ("for over text", "for x in @env.LIST {\n    echo @var.x\n}\n", &["E0516"]),
    ("for over words", "for x in a b c {\n    echo x\n}\n", &["E0301"]),
    ("the loop variable ends", "for x in 1...2 { echo @var.x }\necho @var.x\n", &["E0401"]),
    ("while", "var n = 0\nwhile n < 3 {\n    n++\n}\n", &[]),
    ("try", "try { false } catch { echo a } finally { echo b }\n", &[]),
    ("try alone", "try {\n    false\n}\n", &["E0301"]),
    ("catch with a name", "try {\n    false\n} catch e {\n    echo a\n}\n", &["E0301"]),
    ("the brace on the next line", "if true\n{\n    echo a\n}\n", &["E0301"]),
];

#[test]
fn control_flow() {
    laws(CONTROL_FLOW);
}

const RUN_TIME_BINDINGS: &[Law] = &[
    (
        "bind and read",
        "let.r = @shell(\"id\")\necho @let.r @let.r.stdout \"@let.r.exit_code\"\n",
        &[],
    ),
    ("an unknown field", "let.r = @shell(\"id\")\necho @let.r.output\n", &["E0513"]),
    ("a condition", "let.r = @shell(\"id\")\nif @let.r == \"a\" { echo a }\n", &["E0601"]),
    (
        "a loop",
        "let.r = @shell(\"id\")\nfor x in split(@let.r, \",\") { echo @var.x }\n",
        &["E0601"],
    ),
    ("a subject", "let.r = @shell(\"id\")\nwhen @let.r { \"a\" -> echo a }\n", &["E0601"]),
    ("a variable", "let.r = @shell(\"id\")\nvar x = @let.r\necho @var.x\n", &["E0601"]),
    ("an argument of a value", "let.r = @shell(\"id\")\necho @file.read(@let.r)\n", &["E0601"]),
    ("an argument of an action", "let.r = @shell(\"id\")\n@log(@let.r)\n", &[]),
    ("twice", "let.r = @shell(\"a\")\nlet.r = @shell(\"b\")\necho @let.r\n", &["E0602"]),
    ("hiding", "let.r = @shell(\"a\")\n{\n    let.r = @shell(\"b\")\n}\necho @let.r\n", &["E0603"]),
    ("in an if", "if true {\n    let.r = @shell(\"a\")\n    echo @let.r\n}\n", &["E0604"]),
    (
        "in a try",
        "try {\n    let.r = @shell(\"a\")\n    echo @let.r\n} catch { echo b }\n",
        &["E0604"],
    ),
    (
        "in a loop",
        "for x in 1...2 {\n    let.r = @shell(\"echo @var.x\")\n    echo @let.r\n}\n",
        &[],
    ),
    ("in a retry", "@retry(3) {\n    let.r = @shell(\"a\")\n    echo @let.r\n}\n", &[]),
    ("too early", "echo @let.r\nlet.r = @shell(\"a\")\n", &["E0605"]),
    (
        "outside",
        "@retry(3) {\n    let.r = @shell(\"a\")\n    echo @let.r\n}\necho @let.r\n",
        &["E0606"],
    ),
    ("another branch", "@parallel {\n    let.r = @shell(\"a\")\n    echo @let.r\n}\n", &["E0606"]),
    (
        "one branch",
        "@parallel {\n    {\n        let.r = @shell(\"a\")\n        echo @let.r\n    }\n    echo b\n}\n",
        &[],
    ),
    (
        "a captured text for a number",
        "fun g(n: Int) = echo @var.n\nlet.x = @shell(\"x\")\n@cmd.g(@let.x)\n",
        &["E0505"],
    ),
    ("a question", "let.x = @shell(\"x\")\n@confirm(\"ok @let.x?\")\n", &["E0601"]),
    (
        "a broken binding is one mistake",
        "let.c = git rev-parse HEAD\necho @let.c\necho @let.c\n",
        &["E0317"],
    ),
    ("nowhere", "echo @let.r\n", &["E0607"]),
    ("nothing returned", "let.r = @log(\"a\")\necho @let.r\n", &["E0608"]),
    ("a value decorator", "let.r = @env.HOME\necho @let.r\n", &["E0608"]),
    ("a literal", "let.r = 5\n", &["E0317"]),
    ("a command", "let.r = git rev-parse HEAD\n", &["E0317"]),
    ("let with a blank", "let x = 5\n", &["E0317"]),
    (
        "a parameter that shapes the plan",
        "fun f(p) {\n    if p == \"a\" { echo a }\n}\nlet.r = @shell(\"id\")\n@cmd.f(@let.r)\n",
        &["E0609"],
    ),
    (
        "handed on",
        "fun g(q) {\n    for x in split(q, \",\") { echo @var.x }\n}\nfun f(p) = @cmd.g(@var.p)\nlet.r = @shell(\"id\")\n@cmd.f(@let.r)\n",
        &["E0609"],
    ),
    (
        "a parameter in text",
        "fun f(p) = echo @var.p\nlet.r = @shell(\"id\")\n@cmd.f(@let.r)\n",
        &[],
    ),
    (
        "not in functions",
        "let.r = @shell(\"id\")\necho @let.r\nfun f() = echo @let.r\n",
        &["E0607"],
    ),
    ("never read", "let.r = @shell(\"id\")\n", &["W0610"]),
];

#[test]
fn run_time_bindings() {
    laws(RUN_TIME_BINDINGS);
}
