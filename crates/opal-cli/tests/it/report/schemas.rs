//! The JSON documents of runs, lists and checks are what their schemas say.

use crate::report::ENDS;
use crate::support::{Opal, assert_schema};
use crate::verify::chain;

#[test]
fn runs_are_as_their_schema_says() {
    let opal = Opal::machine(ENDS);
    for words in [&["ci", "--json"][..], &["ci", "--json", "--no-record"], &["nothing", "--json"]] {
        assert_schema("run-1.json", &opal.call(words).json());
    }
    let opal = chain();
    assert_schema("run-1.json", &opal.call(&["apply", "site.yaml", "--json"]).json());
    opal.write("app.conf", "port=81\n");
    let again = opal.call(&["apply", "site.yaml", "--json", "--skip", "link"]).json();
    assert_schema("run-1.json", &again);
    let opal = Opal::machine("fun a() {\n    echo \"@env.API_TOKEN\"\n    sleep 600\n}\n");
    let cut =
        opal.call_with(&[("API_TOKEN", "canary-17-token")], &["a", "--json", "--timeout=300ms"]);
    assert_schema("run-1.json", &cut.json());
}

#[test]
fn lists_are_as_their_schema_says() {
    let source = "\
// # Release
// Deploys.
// env: where to
fun deploy(env: \"staging\" | \"production\", replicas = 3, force = false, tags...) = echo x
fun _private() = echo y
fun check() = echo z
";
    let opal = Opal::machine(source);
    let list = opal.call(&["list", "--json"]).json();
    assert_eq!(list["tasks"].as_array().map(Vec::len), Some(3), "{list:#}");
    assert_schema("list-1.json", &list);
    assert_schema("list-1.json", &opal.call(&["list", "--json", "-f", "nowhere.opl"]).json());
    assert_schema("list-1.json", &Opal::machine("").call(&["list", "--json"]).json());
}

#[test]
fn checks_are_as_their_schema_says() {
    let many: String = (0..150).map(|n| format!("fun f{n}() = echo @var.x{n}\n")).collect();
    let fixable = "fun a() = echo @vra.b\nfun a() = echo b\nvar X = 1\n";
    let sources = ["fun a() = echo a\n", fixable, &many, "fun a( {\n", "\u{202e}"];
    for source in sources {
        assert_schema("check-1.json", &Opal::machine(source).call(&["check", "--json"]).json());
    }
    let missing = Opal::machine("").call(&["check", "--json", "nowhere.opl"]);
    assert_schema("check-1.json", &missing.json());
}

/// A schema that lets everything pass would prove nothing.
#[test]
#[should_panic(expected = "is not valid")]
fn another_document_is_not_a_run() {
    let mut run = Opal::machine("fun a() = echo a\n").call(&["a", "--json"]).json();
    run["status"] = "fine".into();
    assert_schema("run-1.json", &run);
}
