//! Pairs of sources that are the same plan.

use crate::plan_hash::Row;

pub(crate) const ROWS: &[Row] = &[
    ("comments", "echo a\n", "// why\necho a  # and how\n/* or\nwhere */\n"),
    ("layout", "if true { echo a }\n", "if   true   {\n\n\n        echo a\n}\n\n"),
    ("line ends", "echo a\necho b\n", "echo a\r\necho b\r\n"),
    ("a first line for the shell", "echo a\n", "#!/usr/bin/env opal\necho a\n"),
    ("a byte order mark", "echo a\n", "\u{feff}echo a\n"),
    ("a renamed variable", "var a = 1\necho @var.a\n", "var other = 1\necho @var.other\n"),
    (
        "a renamed variable that holds a value",
        "//@ env HOST h\nvar a = @env.HOST\necho @var.a\n",
        "//@ env HOST h\nvar target_host = @env.HOST\necho @var.target_host\n",
    ),
    (
        "a renamed parameter",
        "//@ target main\nfun main() = @cmd.f(1)\nfun f(x) { echo @var.x }\n",
        "//@ target main\nfun main() = @cmd.f(1)\nfun f(count) { echo @var.count }\n",
    ),
    (
        "a variable or its value",
        "var a = \"x\"\necho @var.a\n",
        "var a = \"x\"\nvar b = a\necho @var.b\n",
    ),
    ("a computed constant", "var a = 3\necho @var.a\n", "var a = 1 + 2\necho @var.a\n"),
    (
        "a constant in parts",
        "var a = \"ab\"\necho @var.a\n",
        "var a = \"a\" + \"b\"\necho @var.a\n",
    ),
    (
        "a constant as an argument",
        "//@ target f\n//@ arg x 3\nfun f(x: Int) { echo @var.x }\n",
        "//@ target f\nfun f(x = 3) { echo @var.x }\n",
    ),
    (
        "functions in another order",
        "//@ target a\nfun a() = @cmd.b()\nfun b() { echo b }\nfun c() { echo c }\n",
        "//@ target a\nfun c() { echo c }\nfun b() { echo b }\nfun a() = @cmd.b()\n",
    ),
    (
        "functions that are not reached",
        "//@ target a\nfun a() { echo a }\n",
        "//@ target a\nfun z() { rm -rf / }\nfun a() { echo a }\nvar unused = @env.NOWHERE\n",
    ),
    (
        "a variable that nothing reads",
        "//@ target a\nvar x = 1\nfun a() { echo @var.x }\n",
        "//@ target a\nvar y = @file.read(\"nowhere\")\nvar x = 1\nfun a() { echo @var.x }\n",
    ),
    ("the label form", "//@ target a\nfun a() { echo a }\n", "//@ target a\na: echo a\n"),
    ("an argument by its name", "@retry(5) { echo a }\n", "@retry(attempts=5) { echo a }\n"),
    (
        "an argument by its other name",
        "@retry(attempts=5) { echo a }\n",
        "@retry(times=5) { echo a }\n",
    ),
    (
        "arguments in another order",
        "@retry(attempts=5, delay=2s) { echo a }\n",
        "@retry(delay=2s, attempts=5) { echo a }\n",
    ),
    (
        "an argument that says the default",
        "@retry(2) { echo a }\n",
        "@retry(2, delay=1s) { echo a }\n",
    ),
    (
        "a duration in another spelling",
        "@timeout(90s) { echo a }\n",
        "@timeout(1m30s) { echo a }\n",
    ),
    (
        "a map in another order",
        "for k, v in ({a: 1, b: 2}) { echo @var.k }\n",
        "for k, v in ({b: 2, a: 1}) { echo @var.k }\n",
    ),
    (
        "an untaken branch",
        "if 1 > 2 { echo a } else { echo b }\n",
        "if 1 > 2 { rm -rf / } else { echo b }\n",
    ),
    (
        "an untaken branch, by a value",
        "//@ env A x\nif @env.A == \"x\" { echo a } else { echo b }\n",
        "//@ env A x\nif @env.A == \"x\" { echo a } else { echo c }\n",
    ),
    (
        "an arm that does not match",
        "when \"a\" {\n  \"a\" -> echo a\n  else -> echo b\n}\n",
        "when \"a\" {\n  \"a\" -> echo a\n  \"c\" -> echo c\n}\n",
    ),
    (
        "another value that does not steer",
        "//@ env A 1\necho @env.A\n",
        "//@ env A two\necho @env.A\n",
    ),
    (
        "another file and another answer",
        "//@ file F 1\n//@ run date => 1\necho @file.read(\"F\") @shell.output(\"date\")\n",
        "//@ file F 2\n//@ run date => 2\necho @file.read(\"F\") @shell.output(\"date\")\n",
    ),
    (
        "a value that steers the same way",
        "//@ env N 5\nif int(@env.N) > 3 { echo a }\n",
        "//@ env N 6\nif int(@env.N) > 3 { echo a }\n",
    ),
    (
        "other values of a list of the same length",
        "//@ env L a,b\nfor x in split(@env.L, \",\") { echo @var.x }\n",
        "//@ env L c,d\nfor x in split(@env.L, \",\") { echo @var.x }\n",
    ),
    (
        "another locale and time zone",
        "//@ env A 1\n//@ env LANG C\n//@ env TZ UTC\necho @env.A\n",
        "//@ env A 1\n//@ env LANG tr_TR.UTF-8\n//@ env TZ Asia/Tokyo\necho @env.A\n",
    ),
    (
        "another user",
        "//@ env A 1\n//@ env USER a\n//@ env HOME /a\necho @env.A\n",
        "//@ env A 1\n//@ env USER b\n//@ env HOME /home/b\necho @env.A\n",
    ),
];
