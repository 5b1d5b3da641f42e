//! `opal plugin verify`: the tests of a package, and the laws that every decorator must obey.

use opal_testing::guest;

use super::rooted;
use crate::support::Opal;

const TOML: &str = "[package]\nname = \"acme/guest\"\nversion = \"1.2.3\"\n\
                    [plugins]\nwasm = \"plugins/guest.wasm\"\n";

const HEAD: &str = "x-opal-plugin: {name: acme/guest, version: 1.2.3}\nx-opal-decorators:\n";

const VALUE: &str = "  returns: {version: 1.0.0, type: string}\n";

/// What a package has that plays all parts of the guest, so that its exports are those of the manifest.
const PARTS: [(&str, &str); 4] = [
    ("subject", VALUE),
    (
        "text",
        "  x-opal-block: text\n  x-opal-effect: act\n  \
         x-opal-resource: {key: [subject], yaml: guest_text}\n  \
         x-opal-capabilities: [\"read:data/**\", \"write:data/**\"]\n",
    ),
    (
        "wrap",
        "  x-opal-block: required\n  x-opal-effect: act\n  \
         x-opal-capabilities: [\"write:data/**\", \"set:GUEST\"]\n",
    ),
    ("policy", "  x-opal-block: required\n  x-opal-effect: act\n  x-opal-attempts: 3\n"),
];

const TESTS: &str = r#"
- name: says what it is about
  call: guest.subject
  args: {subject: it's $HOME}
  result: it's $HOME

- name: a file that is not there
  call: guest.text
  args: {subject: data/out}
  text: content
  finding: missing

- name: a file with another content
  call: guest.text
  args: {subject: data/out}
  text: content
  world: {files: {data/out: other}}
  finding: drifted

- name: a file outside
  call: guest.text
  args: {subject: /etc/passwd}
  text: content
  error: denied
  says: was not granted `read:/etc/passwd`

- name: opens and closes
  call: guest.wrap
  args: {subject: data/token}
  env: {GUEST: opened}

- name: tries again
  call: guest.policy
  args: {subject: x}
  event: {attempt: 1, outcome: failed 7}
  verdict: retry
"#;

fn manifest(parts: &[(&str, &str)]) -> String {
    let one = |(name, rest): &(&str, &str)| {
        format!(
            "- name: guest.{name}\n  summary: a decorator of the tests\n  params:\n    type: object\n    \
             properties: {{subject: {{type: string}}}}\n    required: [subject]\n    \
             additionalProperties: false\n{rest}"
        )
    };
    std::iter::once(HEAD.to_owned()).chain(parts.iter().map(one)).collect()
}

fn package(dim: String, tests: &str) -> Opal {
    rooted("")
        .file("guest/opal.toml", TOML)
        .file("guest/dim.yaml", dim)
        .file("guest/plugins/guest.wasm", guest::wasm())
        .file("guest/tests/all.yaml", tests)
}

/// The tests of the guest without the one of a file outside, which asks for what was not granted.
fn tests() -> String {
    let outside = TESTS.find("- name: a file outside").unwrap();
    let next = TESTS.find("- name: opens and closes").unwrap();
    format!("{}{}", &TESTS[..outside], &TESTS[next..])
}

/// Who ran the tests here knows that they pass; nobody else has to believe it.
#[test]
fn what_passed_on_this_machine_is_local_only() {
    let opal = super::added();
    let verification = || {
        let info = opal.call(&["plugin", "info", "plugins/house", "--json"]).code(0).json();
        info["verification"].as_str().unwrap().to_owned()
    };
    assert_eq!(verification(), "none");
    opal.call(&["plugin", "verify", "plugins/house"]).code(0);
    assert_eq!(verification(), "local-only");
    opal.call(&["-n", "hi"]).code(0).says("local-only");
    opal.write("opal.mod", opal.read("opal.mod") + "[policy.plugins]\nverification = \"passed\"\n");
    opal.call(&["hi"]).code(77).says("the verification is `local-only`");
    let text = opal.read("plugins/house/decorators/greet.opl");
    opal.write("plugins/house/decorators/greet.opl", text + "# More.\n");
    assert_eq!(verification(), "none");
}

#[test]
fn a_package_that_keeps_its_word_is_verified() {
    let opal = package(manifest(&PARTS), &tests());
    let verified = opal.call(&["plugin", "verify", "guest", "--report", "report.json"]);
    verified.code(0).says("verified: 5 tests, and all laws hold");
    let laws = ["package", "tests", "L1", "L2", "L4", "L5", "L6", "L7", "L8", "L9", "L10", "L11"];
    for law in laws.into_iter().chain(["R1", "R2", "R3", "R4", "R5", "end"]) {
        verified.says(&format!("{law:7}  ok "));
    }
    let report = opal.read("report.json");
    for part in [
        "\"name\":\"acme/guest\"",
        "\"package_version\":\"1.2.3\"",
        "\"passed\":true",
        "\"checksum\":\"sha256:",
        "\"rebuild\":\"not described\"",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    // It is the same twice, to the byte, and `--json` prints it.
    let again = opal.call(&["plugin", "verify", "guest", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&again.code(0).stdout).unwrap();
    assert_eq!(shown, serde_json::from_str::<serde_json::Value>(&report).unwrap());
    // Nothing was accepted and nothing of this machine was touched.
    assert!(!opal.path().join("data").exists() && !opal.path().join("guest/data").exists());
}

/// Each mistake is found by the law that it breaks, in words that name it.
#[test]
fn each_mistake_breaks_its_law() {
    let more = |name: &'static str, rest: &'static str| {
        let mut parts = PARTS.to_vec();
        parts.push((name, rest));
        manifest(&parts)
    };
    let call = |name: &str, subject: &str, rest: &str| {
        format!(
            "{}\n- name: one more\n  call: guest.{name}\n  args: {{subject: {subject}}}\n{rest}",
            tests()
        )
    };
    let clock = "  returns: {version: 1.0.0, type: string}\n  x-opal-capabilities: [\"clock\"]\n";
    let env = "  returns: {version: 1.0.0, type: string}\n  \
               x-opal-capabilities: [\"env:TOKEN\", \"secrets\"]\n";
    let file = "  returns: {version: 1.0.0, type: string}\n  \
                x-opal-capabilities: [\"read:data/**\", \"read:/etc/**\"]\n";
    // One machine: the code is compiled once.
    let opal = package(manifest(&PARTS), TESTS);
    let result = |text: &str| format!("  result: {text}\n");
    for (law, says, dim, tests) in [
        (
            "tests",
            "expected result \"other\"; it gave result \"it's $HOME\"",
            manifest(&PARTS),
            tests().replace("result: it's $HOME", "result: other"),
        ),
        ("tests", "@guest.file: no test calls it", more("file", VALUE), tests()),
        ("L1", "panic", more("panic", VALUE), call("panic", "x", &result("x"))),
        (
            "L1",
            "its result is not what its manifest promises: expects a String, got an Int",
            more("now", clock),
            call("now", "x", "  world: {now: 12}\n  result: 12\n"),
        ),
        (
            "L4",
            "the text of a secret appears in its result",
            more("env", env),
            call(
                "env",
                "TOKEN",
                "  world: {env: {TOKEN: canary-73-abc}}\n  result: canary-73-abc\n",
            ),
        ),
        (
            "L6",
            "the manifest declares `read:/etc/**`, and no test needs it",
            more("file", file),
            call("file", "data/in", "  world: {files: {data/in: x}}\n  result: x\n"),
        ),
        (
            "L6",
            "was not granted `read:/project/x`",
            manifest(&PARTS),
            TESTS.replace("/etc/passwd", "x"),
        ),
        (
            "L10",
            "it sets `GUEST`, and the manifest does not declare `set:GUEST`",
            manifest(&PARTS).replace(", \"set:GUEST\"", ""),
            tests(),
        ),
        (
            "end",
            "the file `data/token` is Some(\"done\"), not None",
            manifest(&PARTS),
            tests().replace(
                "  env: {GUEST: opened}\n",
                "  env: {GUEST: opened}\n  after: {files: {data/token: null}}\n",
            ),
        ),
        (
            "package",
            "the code exports action, policy, state, value, wrapper, and the manifest needs value",
            manifest(&PARTS[..1]),
            TESTS[..TESTS.find("- name: a file that").unwrap()].to_owned(),
        ),
    ] {
        opal.write("guest/dim.yaml", dim);
        opal.write("guest/tests/all.yaml", tests);
        let verified = opal.call(&["plugin", "verify", "guest"]);
        verified.code(1).says("not verified").says(&format!("{law:7}  FAILED")).says(says);
        assert!(!verified.stdout.contains("canary"), "{}", verified.stdout);
    }
}

#[test]
fn what_is_wrong_with_a_test_is_shown_with_its_place() {
    let opal = package(manifest(&PARTS), TESTS);
    for (test, says) in [
        ("- name: a\n  call: guest.subjec\n  result: x\n", "is not a decorator in code"),
        ("- name: a\n  call: guest.subject\n  result: x\n", "the argument `subject` is missing"),
        ("- name: a\n  call: guest.subject\n  args: {subject: x}\n", "needs one of"),
        (
            "- name: a\n  call: guest.subject\n  args: {subject: x}\n  finding: missing\n",
            "does not give this",
        ),
        ("- call: guest.subject\n", "needs `name`"),
        ("- name: a\n  call: guest.subject\n  args: {subject: x}\n  reslt: x\n", "`reslt`"),
        ("name: a\n", "expects a list"),
        ("- {", "guest/tests/all.yaml"),
    ] {
        opal.write("guest/tests/all.yaml", test);
        let verified = opal.call(&["plugin", "verify", "guest"]);
        verified.code(65).says(says).says("guest/tests/all.yaml:");
    }
    opal.write("guest/dim.yaml", "x-opal-plugin: 1\n");
    opal.call(&["plugin", "verify", "guest"]).code(65).says("guest/dim.yaml:1");
    opal.call(&["plugin", "verify", "nowhere"]).code(66).says("`nowhere` cannot be used");
}
