//! `opal plan TASK` and `opal TASK --dry-run`: options, views, mistakes.

use std::process::{Command, Stdio};

use crate::support::{Opal, Ran, assert_plan_schema, binary};

const PROJECT: &str = "\
var REPLICAS = int(@env.REPLICAS)
var YEAR = @shell.output(\"echo 2001-canary\")

// Deploys.
fun deploy(env: \"staging\" | \"production\", wait = true) {
    if env == \"production\" {
        @confirm(\"Deploy to @var.env?\")
    }
    kubectl scale --replicas=@var.REPLICAS
    echo @var.YEAR @var.wait
}
";

fn deploy() -> Opal {
    Opal::machine(PROJECT).env("REPLICAS", "31337")
}

#[test]
fn a_dry_run_shows_what_is_cheap_and_leaves_the_rest_open() {
    let opal = deploy();
    let ran = opal.call(&["deploy", "production", "--dry-run"]);
    ran.code(0).says("if env == \"production\" → yes").says("Deferred:").says("runs a command");
    ran.says("kubectl scale --replicas=<5:sha256:").says("Plan Hash: sha256:");
    ran.says("@shell.output(cmd=\"echo 2001-canary\")");
    ran.hides("31337");
    let planned = opal.call(&["plan", "deploy", "production"]);
    planned.code(0).stdout(&ran.stdout);
}

#[test]
fn everything_resolved_is_a_contract_on_a_pipe_and_a_tree_where_it_is_asked_for() {
    let opal = deploy();
    let line = ["deploy", "production", "--dry-run", "--resolve"];
    let output = opal.command().args(line).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(&output.stdout[..4], b"OPAL");
    opal.write("piped.plan", &output.stdout);
    opal.call(&["run", "--plan", "piped.plan", "--dry-run"]).code(0).says("the current plan");
    let tree = opal.call(&["deploy", "production", "--dry-run", "--resolve", "--format", "tree"]);
    tree.code(0).says("Resolved:").says("echo ¹<11:sha256:").hides("Deferred:");
}

#[test]
fn on_a_terminal_bytes_are_never_written_but_the_tree_and_how_to_keep_it() {
    let opal = deploy();
    let ran = on_a_terminal(&opal, "deploy production --dry-run --resolve");
    ran.code(0).says("Resolved:").says("-o FILE").hides("OPAL");
    assert!(ran.stdout.contains("\u{1b}["), "colours: {ran:?}");
    on_a_terminal(&opal, "--color never plan deploy production").code(0).hides("\u{1b}[");
}

/// What is printed where standard output is a terminal. Its two streams are one.
#[expect(clippy::disallowed_methods, reason = "a terminal is made around the binary under test")]
fn on_a_terminal(opal: &Opal, line: &str) -> Ran {
    let plain = opal.command();
    let mut command = Command::new("script");
    let env = plain.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.env_clear().envs(env).env("TERM", "xterm").current_dir(opal.path());
    let line = format!("{} {line}", binary().display());
    Ran::from(command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_contract_goes_where_it_is_told() {
    let opal = deploy();
    let ran = opal.call(&["plan", "deploy", "production", "-o", "prod.plan"]);
    ran.code(0).stdout("").says("wrote prod.plan: 3 steps, 2 values").says("Plan Hash: sha256:");
    assert_eq!(&opal.bytes("prod.plan")[..4], b"OPAL");
    for line in [
        &["plan", "deploy", "production", "-o", "-"][..],
        &["plan", "-o", "-", "deploy", "production"],
        &["-o", "-", "--dry-run", "deploy", "production"],
        &["plan", "deploy", "production", "--out=-", "--hash-algo", "blake3"],
    ] {
        let output = opal.command().args(line).output().unwrap();
        assert!(output.status.success() && output.stdout.starts_with(b"OPAL"), "{line:?}");
    }
}

#[test]
fn a_contract_and_its_view_can_be_had_in_one_go() {
    let opal = Opal::machine("fun a() {\n    mysql --password=@random.password(length=20)\n}\n");
    let shown = opal.call(&["plan", "a", "-o", "a.plan", "--json"]);
    let document = shown.code(0).says("wrote a.plan").json();
    assert_plan_schema(&document);
    let kept = opal.call(&["plan", "show", "a.plan", "--json"]).code(0).json();
    assert_eq!(document["values"], kept["values"]);
    assert_eq!(document["notes"], serde_json::json!([]));
    let both = opal.call(&["plan", "a", "-o", "-", "--json"]);
    both.code(2).says("standard output").says("-o FILE");
    let fleeting = opal.call(&["plan", "a", "--resolve", "--format", "tree"]);
    fleeting.code(0).says("for this plan only").says("-o FILE");
    opal.call(&["plan", "a"]).code(0).hides("for this plan only");
    on_a_terminal(&opal, "plan a -o -").code(0).says("Plan Hash").hides("OPAL");
}

#[test]
fn views_are_json_of_the_published_schema_or_a_program_of_your_own() {
    let opal = deploy();
    let line = ["plan", "deploy", "production"];
    for more in [&["--json"][..], &["--format=json"], &["--resolve", "--json"]] {
        let document = opal.call(&[&line, more].concat()).code(0).json();
        assert_plan_schema(&document);
        assert_eq!(document["target"], "deploy");
        assert_eq!(document["arguments"]["env"], "production");
        let mode = if more.len() == 2 { "resolved" } else { "quick" };
        assert_eq!(document["header"]["mode"], mode);
    }
    let piped = opal.call(&[&line[..], &["--format", "cmd:grep -c kubectl"]].concat());
    piped.code(0).stdout("1\n");
    let failed = opal.call(&[&line[..], &["--format", "cmd:exit 3"]].concat());
    failed.code(69).says("`exit 3` ended with exit status: 3").says("--json | PROGRAM");
    let missing = opal.call(&[&line[..], &["--format", "cmd:no-such-program"]].concat());
    missing.code(69).says("exit status: 127");
    for wrong in ["xml", "cmd:", "cmd: ", "JSON"] {
        let ran = opal.call(&[&line[..], &["--format", wrong]].concat());
        ran.code(2).says("unknown plan format").says("tree, json, json-compact, html, cmd:PROGRAM");
    }
}

#[test]
fn the_other_hash_is_used_throughout() {
    let opal = deploy();
    let ran = opal.call(&["plan", "deploy", "production", "--hash-algo", "blake3"]);
    ran.code(0).says("Plan Hash: blake3:").says("<5:blake3:").hides("sha256");
    opal.call(&["plan", "deploy", "production", "--hash-algo", "md5"]).code(2).says("blake3");
    opal.call(&["--hash-algo=blake3", "plan", "deploy", "production", "-o", "b.plan"]).code(0);
    opal.call(&["run", "--plan", "b.plan", "--dry-run"]).code(0);
    opal.call(&["plan", "show", "b.plan"]).code(0).says("Plan Hash: blake3:");
}

#[test]
fn options_stand_before_the_name_or_behind_it() {
    let opal = deploy();
    let untimed = |ran: &Ran| {
        let mut document = ran.code(0).json();
        assert!(document["header"]["timestamp"].take().is_string());
        document
    };
    let expected = untimed(&opal.call(&["plan", "deploy", "production", "--json"]));
    for line in [
        &["--json", "plan", "deploy", "production"][..],
        &["plan", "--json", "deploy", "production"],
        &["plan", "--format", "json", "deploy", "production"],
        &["plan", "-f", "commands.opl", "--json", "deploy", "production"],
        &["-f", "commands.opl", "plan", "deploy", "--json", "production"],
        &["--dry-run", "--json", "deploy", "production"],
        &["--dry-run", "deploy", "production", "--format=json"],
        &["run", "deploy", "production", "--dry-run", "--json"],
        &["run", "--dry-run", "--json", "deploy", "production"],
        &["self", "plan", "deploy", "production", "--json"],
    ] {
        assert_eq!(untimed(&opal.call(line)), expected, "{line:?}");
    }
}

const OWN: &str = "\
fun own(format = \"f\", resolve = false, json = false, output = \"o\", help = \"h\") {
    echo @var.format @var.resolve @var.json @var.output @var.help
}
";

#[test]
fn a_functions_own_flag_wins_behind_its_name_and_opals_stands_before_it() {
    let opal = Opal::machine(OWN);
    let own = ["--format", "xml", "--resolve", "--json", "--output", "x", "--help", "me"];
    for before in [&["plan", "own"][..], &["--dry-run", "own"], &["run", "--dry-run", "own"]] {
        let ran = opal.call(&[before, &own].concat());
        ran.code(0).says("└─ echo xml true true x me").says("own:");
    }
    for before in [
        &["plan", "--json", "own"][..],
        &["--json", "plan", "own"],
        &["--format=json", "--dry-run", "own"],
        &["run", "--dry-run", "--format", "json", "own"],
    ] {
        let document = opal.call(&[before, &own].concat()).code(0).json();
        assert_eq!(document["arguments"]["format"], "xml");
    }
    opal.call(&["plan", "-o", "own.plan", "own", "--output", "x"]).code(0).says("wrote own.plan");
    opal.call(&["run", "--plan", "own.plan", "--dry-run"]).code(0);
}

#[test]
fn everything_behind_a_script_is_its_arguments() {
    let opal = Opal::machine("").file("s.opl", "echo @args\nfor one in @args { echo @var.one }\n");
    for words in [&["a", "b c", "--json", "-o"][..], &["--json", "a"], &["--", "-x"], &["--help"]] {
        for before in [&["plan", "--json", "s.opl"][..], &["--json", "--dry-run", "./s.opl"]] {
            let document = opal.call(&[before, words].concat()).code(0).json();
            assert_eq!(document["arguments"]["args"], serde_json::json!(words), "{before:?}");
            assert_plan_schema(&document);
        }
    }
    opal.call(&["plan", "-o", "s.plan", "s.opl", "-v", "it's"]).code(0);
    opal.call(&["run", "--plan", "s.plan", "--dry-run"]).code(0);
    opal.call(&["plan", "s.opl"]).code(0).says("args = []");
}

const TYPES: &str = "\
fun types(s: String, n: Int, f = 1.5, d = 5s, b = false, a: Array = [], m: Map = {}, c: \"x\" | \"y\" = \"x\", rest...) {
    echo @var.s @var.n @var.f @var.d @var.b @var.c
    echo @var.rest
    for one in a { echo @var.one }
    for k, v in m { echo \"@var.k is @var.v\" }
}
";

#[test]
fn arguments_of_every_type_arrive_as_constants() {
    let opal = Opal::machine(TYPES);
    let line = "plan types --json hello -3 --f 2.5 --d 1h --b --a p,q\\,r --m k=v,w= --c y r1 r2";
    let words: Vec<&str> = line.split(' ').collect();
    let document = opal.call(&words).code(0).json();
    assert_plan_schema(&document);
    let expected = serde_json::json!({
        "s": "hello", "n": -3, "f": 2.5, "d": "1h", "b": true, "a": ["p", "q,r"],
        "m": {"k": "v", "w": ""}, "c": "y", "rest": ["r1", "r2"],
    });
    assert_eq!(document["arguments"], expected);
    let given = "plan types --no-b --f 1.5 --d 1s --a= --m= --c x -- -x -3 --json";
    let words: Vec<&str> = given.split(' ').collect();
    let ran = opal.call(&words);
    ran.code(0).says("s = \"-x\"").says("rest = [\"--json\"]").says("b = false");
}

#[test]
fn wrong_arguments_are_usage_errors_that_lead_on() {
    let opal = Opal::machine(TYPES);
    for (line, hint) in [
        (&["plan", "types"][..], "`types` needs `s` and `n`"),
        (&["plan", "types", "a", "x"], "expects an Int, as in `3`"),
        (&["plan", "types", "a", "99999999999999999999"], "at most 64 bits"),
        (&["plan", "types", "a", "1", "--c", "z"], "expects one of \"x\" | \"y\", got `z`"),
        (&["plan", "types", "a", "1", "--d", "5"], "as in `1m30s`"),
        (&["plan", "types", "a", "1", "--a", "[p]"], "without brackets"),
        (&["plan", "types", "a", "1", "--m", "k"], "has no `=`"),
        (&["plan", "types", "a", "1", "--m", "k=1,k=2"], "has a duplicate key `k`"),
        (&["plan", "types", "a", "1", "--formt", "json"], "`--format`"),
        (&["plan", "typse", "a", "1"], "did you mean `opal plan types`?"),
        (&["run", "typse", "--dry-run"], "did you mean `opal run types`?"),
        (&["plan", "--resolv", "types"], "`--resolve`"),
        (&["plan"], "<TASK|FILE.opl|CONFIG.yaml>"),
        (&["types", "a", "1", "--resolve"], "add `--dry-run`"),
        (&["types", "a", "1", "--sign", "k"], "`--sign` applies to a plan"),
        (&["plan", "types", "a", "1", "--once"], "`--once` applies to a contract"),
        (&["plan", "types", "a", "1", "-o", "x", "--expires", "5x"], "unknown unit of time"),
        (&["plan", "types", "a", "1", "-o", "x", "--expires", "0s"], "`24h`"),
    ] {
        opal.call(line).code(2).stdout("").says(hint);
    }
    assert!(!opal.path().join("x").exists());
}

#[test]
fn a_missing_variable_names_itself_its_place_and_the_default() {
    let opal = Opal::machine(PROJECT);
    let ran = opal.call(&["plan", "deploy", "staging"]);
    ran.code(65).stdout("").says("the environment variable `REPLICAS` is not set");
    ran.says("commands.opl:1:20").says("@env.REPLICAS(default=");
    let document = opal.call(&["plan", "deploy", "staging", "--json"]).code(65).json();
    let found = &document["files"][0]["diagnostics"][0];
    assert_eq!(found["span"]["start"]["line"], 1);
    assert!(found["help"][0].as_str().unwrap().contains("default="), "{found}");
}

#[test]
fn mistakes_that_the_target_does_not_reach_are_a_warning() {
    let text = "fun a() = echo a\nfun b() = echo @var.NOPE\nfun c() { @cmd.b() }\n";
    let opal = Opal::machine(text);
    for line in [&["plan", "a"][..], &["a", "--dry-run"]] {
        let ran = opal.call(line);
        ran.code(0).says("└─ echo a").says("1 error in parts that `a` does not reach");
    }
    opal.call(&["plan", "a", "-o", "a.plan"]).code(0).says("wrote a.plan");
    opal.call(&["plan", "b"]).code(65).stdout("").says("E0401").says("commands.opl:2:16");
    opal.call(&["plan", "c", "-o", "c.plan"]).code(65).says("E0401");
    assert!(!opal.path().join("c.plan").exists());
}

#[test]
fn a_mistake_of_syntax_stops_everything() {
    let opal = Opal::machine("fun a() = echo a\nfun b( {\n");
    for line in [&["plan", "a"][..], &["a", "--dry-run"], &["plan", "a", "-o", "x"]] {
        opal.call(line).code(65).stdout("").says("commands.opl:2:8");
    }
    assert!(!opal.path().join("x").exists());
}

#[test]
fn a_source_that_cannot_be_read_exits_with_66() {
    let opal = Opal::machine(PROJECT).file("folder/x", "");
    opal.call(&["plan", "gone.opl"]).code(66).says("the file `gone.opl` does not exist");
    opal.call(&["plan", "-f", "gone.opl", "deploy"])
        .code(66)
        .says("the file `gone.opl` does not exist");
    opal.call(&["plan", "-f", "folder", "deploy"]).code(66).says("`folder` is a directory");
    let alone = Opal::new();
    alone.call(&["plan", "deploy"]).code(66).says("commands.opl");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let text =
        format!("fun a() {{\n{}}}\n", "    echo a long line of a long plan\n".repeat(20_000));
    let opal = Opal::machine(&text).args(["plan", "a"]);
    let mut child = opal.command().spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_full_disk_is_said_and_exits_with_74() {
    for line in [&["plan", "a"][..], &["plan", "a", "--json"], &["plan", "a", "-o", "-"]] {
        let opal = Opal::machine("fun a() = echo a\n").args(line);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = opal.command().stdout(Stdio::from(full)).output().unwrap();
        assert_eq!(output.status.code(), Some(74), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
    }
}

#[test]
fn a_device_or_a_pipe_is_written_to_and_never_replaced() {
    // Through a link, so that a rename could only ever replace the link.
    let opal = Opal::machine("fun a() = echo a\n");
    let link = opal.path().join("full");
    std::os::unix::fs::symlink("/dev/full", &link).unwrap();
    opal.call(&["plan", "a", "-o", "full"])
        .code(74)
        .says("`full` cannot be written")
        .hides("as it was");
    assert!(link.is_symlink());
    opal.write("real.plan", "old");
    let link = opal.path().join("link.plan");
    std::os::unix::fs::symlink("real.plan", &link).unwrap();
    opal.call(&["plan", "a", "-o", "link.plan"]).code(0);
    assert!(link.is_symlink());
    assert!(opal.bytes("real.plan").starts_with(b"OPAL"));
}

#[test]
fn an_old_contract_is_replaced_as_a_whole_or_left_alone() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let opal = deploy().file("old.plan", "old");
    let before = std::fs::metadata(opal.path().join("old.plan")).unwrap().ino();
    let mut reader = std::fs::File::open(opal.path().join("old.plan")).unwrap();
    opal.call(&["plan", "deploy", "staging", "-o", "old.plan"]).code(0);
    let after = std::fs::metadata(opal.path().join("old.plan")).unwrap();
    assert_ne!(before, after.ino());
    assert_eq!(after.permissions().mode() & 0o777, 0o644);
    let mut still = String::new();
    std::io::Read::read_to_string(&mut reader, &mut still).unwrap();
    assert_eq!(still, "old", "who has it open sees the old one in full");
    let good = opal.bytes("old.plan");
    opal.call_with(&[("REPLICAS", "x")], &["plan", "deploy", "staging", "-o", "old.plan"]).code(65);
    assert_eq!(opal.bytes("old.plan"), good);
    let ran = opal.call(&["plan", "deploy", "staging", "-o", "gone/new.plan"]);
    ran.code(74).stdout("").says("`gone/new.plan` cannot be written").hides(".opal-");
    opal.call(&["plan", "deploy", "staging", "-o", "home"]).code(74).says("`home` cannot");
    let left: Vec<_> =
        std::fs::read_dir(opal.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".opal-")), "{left:?}");
}

#[test]
fn help_has_opals_options_under_a_heading_of_their_own() {
    let opal = deploy();
    let plan = opal.call(&["plan", "--help"]);
    for word in ["show", "diff", "verify", "--out", "--recipient", "--expires", "Examples:"] {
        plan.code(0).says(word);
    }
    for line in [&["deploy", "--help"][..], &["plan", "deploy", "--help"], &["help", "deploy"]] {
        let ran = opal.call(line);
        let (own, opals) = ran.code(0).stdout.split_once("Options of opal:").unwrap();
        assert!(own.contains("--no-wait") && opals.contains("--dry-run"), "{}", ran.stdout);
        assert!(!opals.contains("--wait") && !own.contains("--dry-run"), "{}", ran.stdout);
    }
    let own = Opal::machine(OWN).call(&["help", "own"]);
    let (_, opals) = own.code(0).stdout.split_once("Options of opal:").unwrap();
    assert!(!opals.contains("--format") && opals.contains("--dry-run"), "{}", own.stdout);
    for command in ["show", "diff", "verify"] {
        opal.call(&["plan", command, "--help"]).code(0).says("Example");
    }
}

#[test]
fn an_option_behind_the_task_wins_over_one_before_it() {
    let opal = Opal::machine("fun a() {\n    echo @env.X\n}\n").env("X", "31337");
    for (before, behind) in [("blake3", "sha256"), ("sha256", "blake3")] {
        let line = ["--hash-algo", before, "--dry-run", "a", "--json", "--hash-algo", behind];
        let plan = opal.call(&line).code(0).json();
        assert!(plan["header"]["plan_hash"].as_str().unwrap().starts_with(behind), "{plan}");
    }
}

#[test]
fn the_file_of_a_contract_may_be_attached_to_its_option() {
    let opal = Opal::machine("fun a() {\n    echo 1\n}\n");
    opal.call(&["-oone.plan", "--dry-run", "a"]).code(0);
    opal.call(&["plan", "-otwo.plan", "a"]).code(0);
    assert!(opal.path().join("one.plan").exists() && opal.path().join("two.plan").exists());
}

#[test]
fn a_contract_and_its_run_count_the_same_steps() {
    let opal = Opal::machine(
        "fun build() = echo built\nfun a() {\n    @cmd.build()\n    @retry(2) {\n        @timeout(1m) {\n            \
         echo one\n        }\n    }\n    if true {\n        echo two\n    }\n}\n",
    );
    opal.call(&["plan", "a", "-o", "a.plan"]).code(0).says("wrote a.plan: 3 steps, 0 values");
    opal.call(&["run", "--plan", "a.plan"]).code(0).says("done: 3 steps in ");
}
