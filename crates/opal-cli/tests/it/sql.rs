//! `@psql`, `@mysql`, `@sqlite`: real clients and servers, and values that try to be code.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use opal_testing::databases::{Database, PASSWORD};
use opal_testing::needs;

use crate::support::{Opal, Ran};

/// Texts that end a literal, a command or a line somewhere.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "plain",
    "it's",
    "''",
    "'; DROP TABLE t; --",
    "\"quoted\"",
    "\\",
    "\\'",
    "\\\\",
    "\\! touch ran",
    "\\q",
    "\\set x 1",
    "a\nb",
    "\n",
    "a\r\nb",
    "\t",
    "$$",
    "$(touch ran)",
    "`touch ran`",
    "${HOME}",
    ":'v'",
    ":v",
    "@v",
    "%s%n",
    ".shell touch ran",
    "x'00'",
    "/* c */ -- d # e",
    "-1",
    "--init",
    "NULL",
    "0x41",
    "ünï¢ødé 漢字 🦀",
    "\u{202e}rtl",
    "\u{1b}[2J",
    "\u{7f}",
    "delimiter //",
    "ends in backslash \\",
];

/// One server for the tests that need it at the same time; the last one stops it.
fn shared(
    server: &Mutex<Weak<Database>>,
    start: fn() -> Option<Database>,
) -> Option<Arc<Database>> {
    let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = server.upgrade() {
        return Some(running);
    }
    let new = Arc::new(start()?);
    *server = Arc::downgrade(&new);
    Some(new)
}

fn postgres() -> Option<Arc<Database>> {
    static SERVER: Mutex<Weak<Database>> = Mutex::new(Weak::new());
    shared(&SERVER, Database::postgres)
}

fn mariadb() -> Option<Arc<Database>> {
    static SERVER: Mutex<Weak<Database>> = Mutex::new(Weak::new());
    shared(&SERVER, Database::mariadb)
}

fn sqlite() -> bool {
    needs::program("sqlite3")
}

/// A call of a decorator for a server, with its password from the environment.
fn call(database: &Database, decorator: &str, name: &str, more: &str) -> String {
    let connection = database.connection();
    format!(
        "@{decorator}(connection=\"{connection}\", database=\"{name}\", password=@secret.env.PW{more})"
    )
}

fn psql(database: &Database, more: &str) -> String {
    call(database, "psql", "postgres", more)
}

fn mysql(database: &Database, more: &str) -> String {
    call(database, "mysql", "app", more)
}

/// A project with one task, and the password of the servers around it.
fn main_of(call: &str, text: &str) -> Opal {
    let text: String = text.lines().map(|line| format!("        {line}\n")).collect();
    Opal::machine(&format!("fun main() {{\n    {call} {{\n{text}    }}\n}}\n")).env("PW", PASSWORD)
}

/// Each value as the client has it, in hexadecimal digits.
#[track_caller]
fn assert_bytes(opal: &Opal) {
    for value in HOSTILE {
        let ran = opal.call_with(&[("V", value)], &["main"]);
        let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(ran.code, 0, "{value:?}: {ran:#?}");
        let found: Vec<String> = ran.stdout.lines().map(|it| it.trim().to_lowercase()).collect();
        assert!(found.contains(&format!("<{hex}>")), "{value:?}: {ran:#?}");
    }
    for left in ["ran", "x"] {
        assert!(!opal.path().join(left).exists(), "a value ran: {left}");
    }
}

#[test]
fn sqlite_gets_every_value_byte_for_byte() {
    if sqlite() {
        let call = "@sqlite(\"x.db\", vars={v: @env.V})";
        assert_bytes(&main_of(call, "SELECT '<' || hex(@v) || '>';\nSELECT typeof(@v);"));
    }
}

#[test]
fn psql_gets_every_value_byte_for_byte() {
    let Some(database) = postgres() else { return };
    let call = psql(&database, ", vars={v: @env.V}");
    assert_bytes(&main_of(&call, "SELECT '<' || encode(convert_to(:'v', 'UTF8'), 'hex') || '>';"));
}

#[test]
fn mysql_gets_every_value_byte_for_byte() {
    let Some(database) = mariadb() else { return };
    let call = mysql(&database, ", vars={v: @env.V}");
    assert_bytes(&main_of(&call, "SELECT CONCAT('<', HEX(@v), '>') AS x;"));
}

#[test]
fn numbers_and_bools_keep_their_types() {
    let vars = ", vars={n: 3, m: -4, f: 1.5, yes: true, no: false}";
    if let Some(database) = postgres() {
        let text = "SELECT :n + 1, :m, :f * 2, :yes AND NOT :no, 'x' LIMIT :n;";
        let ran =
            main_of(&psql(&database, vars), &format!("\\t on\n\\a\n{text}")).args(["main"]).run();
        ran.code(0).says("4|-4|3.0|t|x");
    }
    if let Some(database) = mariadb() {
        let ran = main_of(&mysql(&database, vars), "SELECT @n + 1, @m, @f * 2, @yes, @no;")
            .args(["main"])
            .run();
        ran.code(0).says("4\t-4\t3.0").says("\t1\t0\n");
    }
    if sqlite() {
        let call = format!("@sqlite(\":memory:\"{vars})");
        let ran = main_of(&call, "SELECT @n + 1, typeof(@m), @f, @yes, @no;").args(["main"]).run();
        ran.code(0).stdout("4|integer|1.5|1|0\n");
    }
}

#[test]
fn the_first_error_fails_the_step_with_the_line_of_the_text() {
    let text = "SELECT 'first';\nSELECT\n  nothing;\nSELECT 'never';";
    let vars = ", vars={a: \"x\", b: 2}";
    let (postgres, mariadb) = (postgres(), mariadb());
    let postgres = postgres.as_deref().map(|it| psql(it, vars));
    let mariadb = mariadb.as_deref().map(|it| mysql(it, vars));
    let sqlite = sqlite().then(|| format!("@sqlite(\"x.db\"{vars})"));
    for (call, said) in [
        (postgres, ["psql:<stdin>:3: ERROR", "LINE 2:"]),
        (mariadb, ["at line 2", "Unknown column"]),
        (sqlite, ["near line 2", "nothing"]),
    ] {
        let Some(call) = call else { continue };
        let ran = main_of(&call, text).args(["main"]).run();
        assert_ne!(ran.code, 0, "{call}: {ran:#?}");
        assert!(ran.stdout.contains("first") && !ran.stdout.contains("never"), "{call}: {ran:#?}");
        for it in said {
            ran.says(it);
        }
    }
}

#[test]
fn a_file_of_options_cannot_have_errors_of_sql_pass() {
    let text = "SELECT 'first';\nSELECT nothing;\nSELECT 'never';";
    let forced = |opal: Opal| opal.file("home/.my.cnf", "[client]\n[mysql]\nforce\n");
    if let Some(server) = mariadb() {
        let ran = forced(main_of(&mysql(&server, ""), text)).args(["main"]).run();
        assert_ne!(ran.code, 0, "{ran:#?}");
        assert!(ran.stdout.contains("first") && !ran.stdout.contains("never"), "{ran:#?}");
    }
    // What any client is told, after the file with the password.
    let client = "#!/bin/sh\ncat >/dev/null; echo \"$*\"\n";
    let opal = main_of("@mysql(password=@secret.env.PW)", text).file("bin/mysql", client);
    let bin = opal.path().join("bin");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("mysql"), mode).unwrap();
    let ran = opal.env("PATH", &format!("{}:/usr/bin:/bin", bin.display())).call(&["main"]);
    let words: Vec<&str> = ran.code(0).stdout.split_whitespace().collect();
    assert!(words[0].starts_with("--defaults-extra-file="), "{words:?}");
    assert!(words[1..].contains(&"--skip-force"), "{words:?}");
}

#[test]
fn a_wrong_password_fails_without_a_question_and_is_not_shown() {
    let (postgres, mariadb) = (postgres(), mariadb());
    let postgres = postgres.as_deref().map(|it| psql(it, ""));
    let mariadb = mariadb.as_deref().map(|it| mysql(it, ""));
    for call in [&postgres, &mariadb].into_iter().flatten() {
        let ran = main_of(call, "SELECT 1;").call_with(&[("PW", "wrong-password")], &["main"]);
        assert_ne!(ran.code, 0, "{call}");
        ran.hides("wrong-password");
    }
    if let Some(call) = postgres {
        let ran = main_of(&call, "SELECT 1;").call_with(&[("PW", "ends in a blank ")], &["main"]);
        ran.code(1).says("~/.pgpass");
    }
}

/// A client that says what it was given, and keeps what it reads.
const CLIENT: &str = "#!/bin/sh\ntr '\\0' '\\n' < /proc/self/cmdline > given\ntr '\\0' '\\n' < /proc/self/environ >> given\n\
                      cat > input\n[ -e /dev/fd/4 ] && cat /dev/fd/4 > options\nls \"${TMPDIR:-/tmp}\" > files\nexit 0\n";

#[test]
fn what_is_given_as_a_password_is_hidden_wherever_it_is_shown() {
    use std::os::unix::fs::PermissionsExt as _;
    let source = "fun main() {\n    @psql(program=\"./client\", password=\"pre-@env.LETTERS\") {\n        \
                  SELECT 1;\n    }\n    echo \"<@env.LETTERS>\"\n    @log(\"it was @env.LETTERS\")\n}\n\
                  fun other() {\n    echo \"<@env.LETTERS>\"\n}\n\
                  fun open() {\n    @psql(program=\"./client\", password=@env.LETTERS(public=true)) {\n        \
                  SELECT 1;\n    }\n    echo \"<@env.LETTERS>\"\n}\n";
    let opal = Opal::machine(source).file("client", CLIENT).env("LETTERS", "plain-4711-word");
    let client = opal.path().join("client");
    std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).unwrap();
    opal.call(&["main"]).code(0).hides("plain-4711-word");
    assert!(opal.read("options").contains("pre-plain-4711-word"));
    // Nothing else says that it is a secret.
    opal.call(&["other"]).code(0).says("<plain-4711-word>");
    opal.call(&["open"]).code(0).says("<plain-4711-word>");
    let short = opal.call_with(&[("LETTERS", "")], &["main"]);
    short.code(0);
    let short = opal.call_with(&[("LETTERS", "abc")], &["open"]);
    short.code(0);
}

#[test]
fn no_value_is_an_argument_a_variable_or_a_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let canary = "canary-4711-value";
    for (decorator, first) in [("psql", ""), ("mysql", ""), ("sqlite", "\"x.db\", ")] {
        let password = if decorator == "sqlite" { "" } else { ", password=@secret.env.PW" };
        let call = format!(
            "@{decorator}({first}vars={{v: @secret.env.V}}, program=\"./client\"{password})"
        );
        let opal = main_of(&call, "SELECT 1;").file("client", CLIENT).file("tmp/.keep", "");
        let client = opal.path().join("client");
        std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).unwrap();
        let tmp = opal.path().join("tmp").display().to_string();
        let opal = opal.env("TMPDIR", &tmp);
        // The variables of the process that starts opal are not opal's to hide: the step unsets them.
        let source =
            opal.read("commands.opl").replace("    @", "    @environ(V=\"-\", PW=\"-\") {\n    @");
        opal.write("commands.opl", source + "}\n");
        opal.call(&["fmt"]);
        let ran = opal.call_with(&[("V", canary), ("PW", "pass-4711-word")], &["main"]);
        ran.code(0);
        let hex: String = canary.bytes().map(|byte| format!("{byte:02x}")).collect();
        for (file, has_value) in [("given", false), ("files", false)] {
            let text = opal.read(file);
            for secret in [canary, &hex, "pass-4711-word"] {
                assert_eq!(text.contains(secret), has_value, "{decorator} {file}: {text}");
            }
        }
        assert_eq!(opal.read("files"), "", "{decorator}: a file is left while the client runs");
        if decorator != "sqlite" {
            assert!(opal.read("options").contains("pass-4711-word"), "{decorator}");
        }
        let plan = opal.call_with(
            &[("V", canary), ("PW", "pass-4711-word")],
            &["plan", "main", "--resolve", "--format=tree"],
        );
        plan.code(0).hides(canary).hides("pass-4711-word").says("SELECT 1;");
    }
}

#[track_caller]
fn wrong(call: &str, text: &str) -> Ran {
    main_of(call, text).args(["check"]).run()
}

#[test]
fn a_value_where_it_would_be_code_or_nothing_is_an_error_in_the_source() {
    let psql = "@psql(vars={name: \"x\", n: 1})";
    wrong(psql, "SELECT 1;\n  SELECT :name;")
        .code(65)
        .says("E1521")
        .says("commands.opl:4:18")
        .says(":'name'");
    wrong(psql, "SELECT ':name';").code(65).says("E1522").says("'…' || :'name'");
    wrong(psql, "\\! echo :'name'").code(65).says("E1522").says("`\\!`");
    wrong(psql, "SELECT :'name' LIMIT :n;").code(0);
    wrong("@psql(vars={Name: 1})", "SELECT 1;").code(65).says("E1523").says("write `name`");
    wrong("@psql(vars={a: [1]})", "SELECT 1;").code(65).says("E1523").says("an Array");
    wrong("@mysql(vars={name: \"x\"})", "SELECT '@name';").code(65).says("CONCAT('…', @name)");
    wrong("@sqlite(\"x\", {name: \"x\"})", "SELECT @name, @other;")
        .code(65)
        .says("unknown variable `@other`");
    wrong("@sqlite(\"x\", {name: \"x\"})", "SELECT @name;").code(0);
    wrong("@psql(connection=\"-h x\")", "SELECT 1;").code(65).says("connection");
    wrong("@psql(database=\"host=x\")", "SELECT 1;").code(65).says("database");
}

#[test]
fn a_type_that_only_the_run_knows_is_checked_by_the_run() {
    let opal = Opal::machine(
        "var all = {v: @env.V}\nfun main() {\n    @psql(vars=all, program=\"cat\") {\n        SELECT :v;\n    }\n}\n",
    );
    opal.call(&["check"]).code(0);
    opal.call_with(&[("V", "1; DROP TABLE t")], &["main"]).code(1).says("psql pastes `:v` as SQL");
}

#[test]
fn a_client_that_is_not_installed_is_an_error_before_the_first_step() {
    let source = "fun main() {\n    touch ran\n    @psql(program=\"no-such-psql\") {\n        SELECT 1;\n    }\n}\n";
    let opal = Opal::machine(source);
    opal.call(&["main"]).code(65).says("E1215").says("no-such-psql");
    assert!(!opal.path().join("ran").exists());
}

#[test]
fn a_client_that_ends_early_does_not_fail() {
    if !sqlite() {
        return;
    }
    let rest = "SELECT 'x';\n".repeat(20_000);
    main_of("@sqlite(\":memory:\")", &format!("SELECT 'first';\n.quit\n{rest}"))
        .args(["main"])
        .run()
        .code(0)
        .stdout("first\n");
}

#[test]
fn a_shell_that_is_not_bash_feeds_a_client_too() {
    if !sqlite() {
        return;
    }
    let call = "@sqlite(\":memory:\", vars={v: @env.V})";
    let opal = main_of(call, "SELECT '<' || hex(@v) || '>';");
    let bin = opal.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, program) in [("sh", "/bin/sh"), ("sqlite3", "/usr/bin/sqlite3")] {
        std::os::unix::fs::symlink(program, bin.join(name)).unwrap();
    }
    let path = bin.display().to_string();
    assert_bytes(&opal.env("PATH", &path));
}

#[test]
fn a_client_on_a_host_gets_every_value_byte_for_byte() {
    let helper = crate::support::binary().with_file_name("opal-target");
    let has_helper =
        needs::has("the target helper (`cargo build -p opal-target`)", helper.exists());
    if !has_helper || !sqlite() {
        return;
    }
    let Some(mut sshd) = opal_testing::sshd::Sshd::start() else { return };
    sshd.name_hosts(&["db1"]);
    let source = "var V = @env.V\n\nfun main() {\n    @ssh.host(\"db1\") {\n        \
                  @sqlite(\":memory:\", vars={v: V}) {\n            SELECT '<' || hex(@v) || '>';\n        }\n    \
                  }\n}\n";
    let opal = Opal::project(source).env("PATH", sshd.path().to_str().unwrap());
    assert_bytes(&opal);
}
