//! Pages of runs, plans and differences, read by a parser of HTML. Browsers read them in the long tests.

use super::{hostile_texts, python};
use crate::gate::Gate;
use crate::support::Opal;

/// The names of elements and attributes of a page, and its text as one JSON string.
const PARSED: &str = "
import json
from html.parser import HTMLParser
seen, text = set(), []
class P(HTMLParser):
    def handle_starttag(self, tag, attrs):
        seen.add(tag)
        seen.update('@' + name for name, _ in attrs)
    def handle_data(self, data):
        text.append(data)
P(convert_charrefs=True).feed(open('page.html', encoding='utf-8', newline='').read())
print(json.dumps([sorted(seen), ''.join(text)]))";

struct Parsed {
    names: Vec<String>,
    text: String,
}

fn parsed(opal: &Opal) -> Parsed {
    let (names, text) = serde_json::from_str(&python(opal, PARSED)).unwrap();
    Parsed { names, text }
}

/// What a command prints that ends with this code.
#[track_caller]
fn printed(opal: &Opal, env: &[(&str, &str)], words: &[&str], code: i32) -> String {
    let ran = opal.call_with(env, words);
    ran.code(code);
    ran.stdout
}

/// All that a page may be made of: nothing that runs, loads or leads anywhere.
const KNOWN: &str = "@aria-hidden @charset @class @content @height @http-equiv @lang @name @open \
    @preserveaspectratio @viewbox @width @x @y b body code dd del details div dl dt h1 h2 h3 head html ins li \
    main meta p pre rect section span style summary svg table td th title tr ul";

#[track_caller]
fn only_known(page: &Parsed) {
    let known: Vec<&str> = KNOWN.split_whitespace().collect();
    for name in &page.names {
        assert!(known.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn two_hundred_hostile_texts_stay_text_in_what_is_printed_and_in_what_is_typed() {
    let texts = hostile_texts::all().join("\n");
    let source = "fun ci(text: String) {\n    sh -c 'cat hostile; exit 1' x @var.text\n}\n";
    let opal = Opal::machine(source).file("hostile", texts.clone() + "\n");
    opal.call(&["ci", &format!("--text={texts}"), "--report", "page.html"]).code(1);
    let page = parsed(&opal);
    only_known(&page);
    for hostile in hostile_texts::all() {
        assert!(page.text.contains(&hostile_texts::shown(&hostile)), "{hostile:?}");
    }
    let raw = opal.read("page.html");
    assert!(raw.chars().all(|c| c == '\n' || !opal_core::view::visible::is_hidden(c)));
}

#[test]
fn a_plan_and_what_differs_hold_hostile_texts_as_text() {
    let hostile = hostile_texts::all().join("\n");
    let source =
        "fun ci(text: String) {\n    sh -c \"cat x\" @var.text\n    echo @env.HOSTILE\n}\n";
    let opal = Opal::machine(source).env("HOSTILE", "<b>1</b>");
    let text = format!("--text={hostile}");
    opal.call(&["plan", "ci", &text, "-o", "c.plan"]).code(0);
    let shown = printed(&opal, &[], &["plan", "show", "c.plan", "--format", "html"], 0);
    let other = [("HOSTILE", "<script>2</script>")];
    let differs = printed(&opal, &other, &["plan", "diff", "c.plan", "--format", "html"], 1);
    for page in [shown, differs] {
        opal.write("page.html", page);
        let page = parsed(&opal);
        only_known(&page);
        assert!(page.text.contains("hostile-0-0: <script>"), "{}", page.text);
    }
}

#[test]
fn branches_have_lanes_attempts_have_bars_and_pauses_lines() {
    let source = "\
fun ci() {
    echo first
    @parallel {
        @timeout(1m) {
            echo a
            echo b
        }
        echo c
    }
    @retry(attempts=2, delay=20ms) { sh -c 'test -e again || { touch again; exit 3; }' }
}
";
    let opal = Opal::machine(source);
    opal.call(&["ci", "--report", "page.html"]).code(0);
    let live = opal.read("page.html");
    opal.call(&["runs", "report", "last", "-o", "page.html"]).code(0);
    for page in [live, opal.read("page.html")] {
        let lanes = page.split_once("<h2>Timeline</h2>").unwrap().1;
        let lanes = lanes.split_once("<h2>Steps</h2>").unwrap().0;
        // Of the run itself, of a branch with two steps, of a branch that is one step, and the axis.
        assert_eq!(lanes.matches("<div class=\"lane\">").count(), 3, "{lanes}");
        assert!(
            lanes.contains("<code>ci</code>") && lanes.contains("<code>echo c</code>"),
            "{lanes}"
        );
        let own = lanes.split("<div class=\"lane\">").nth(1).unwrap();
        assert_eq!(own.matches("height=\"10\"").count(), 3, "two attempts and a step: {own}");
        assert!(own.matches("class=\"p\"").count() == 1 && own.contains("class=\"x\""), "{own}");
    }
}

#[test]
fn a_verification_has_its_status_and_the_lines_that_differ() {
    let source = "fun site() {\n    @file.copy(destination=\"app.conf\", content=\"port=80\\nhost=a\\n\", overwrite=true)\n}\n";
    let opal = Opal::machine(source).file("app.conf", "port=81\nhost=a\n");
    opal.call(&["verify", "site", "--report", "page.html"]).code(1);
    let verified = opal.read("page.html");
    assert!(verified.contains("<span class=\"bad\">drifted</span>"), "{verified}");
    opal.call(&["site", "--report", "page.html"]).code(0);
    let run = opal.read("page.html");
    assert!(run.contains("<span class=\"bad\">drifted</span>"), "{run}");
    assert!(run.contains("<span class=\"good\">satisfied</span>"), "{run}");
    // A run shows what it writes, a verification what it found.
    for (page, gone, new) in [(verified, "80", "81"), (run, "81", "80")] {
        assert!(page.contains(&format!("<span class=\"c1\">-port={gone}</span>")), "{page}");
        assert!(page.contains(&format!("<span class=\"c2\">+port={new}</span>")), "{page}");
    }
}

#[test]
fn a_plan_has_its_steps_its_values_and_its_hash() {
    let source = "fun ci() {\n    @retry(attempts=2) {\n        echo build @env.WHO\n    }\n    test -e a && echo b\n}\n";
    let opal = Opal::machine(source).env("WHO", "ann");
    opal.call(&["plan", "ci", "-o", "c.plan"]).code(0);
    let tree = printed(&opal, &[], &["plan", "show", "c.plan"], 0);
    let hash = tree.split_once("Plan Hash: ").unwrap().1.lines().next().unwrap();
    let words = ["plan", "show", "c.plan", "--format", "html"];
    opal.write("page.html", printed(&opal, &[], &words, 0));
    let page = parsed(&opal);
    only_known(&page);
    for part in [
        "ci: plan",
        "Plan Hash",
        hash,
        "echo build",
        "ci.retry[0].shell[0]",
        "Values",
        "env.WHO = ",
    ] {
        assert!(page.text.contains(part), "{part:?} in {}", page.text);
    }
    let quick = printed(&opal, &[], &["plan", "ci", "--format", "html"], 0);
    assert!(quick.starts_with("<!DOCTYPE html>") && quick.contains("<h2>Steps</h2>"), "{quick}");
    opal.call(&["plan", "ci", "--format", "htm"]).code(2).says("html");
}

#[test]
fn what_differs_is_side_by_side_with_its_reason_and_the_rest_is_folded() {
    let source =
        "fun ci() {\n    echo scale @env.REPLICAS(public=true)\n    echo same\n    echo old\n}\n";
    let opal = Opal::machine(source).env("REPLICAS", "3");
    opal.call(&["plan", "ci", "-o", "c.plan"]).code(0);
    let changed = [("REPLICAS", "12")];
    let words = ["plan", "diff", "c.plan", "--format", "html"];
    opal.write("page.html", printed(&opal, &changed, &words, 1));
    let page = opal.read("page.html");
    assert!(page.contains("<code>env_changed</code> by <code>env.REPLICAS</code>"), "{page}");
    assert!(page.contains("<del>3</del>") && page.contains("<ins>12</ins>"), "{page}");
    let (_, folded) = page.split_once("<h2>The same in both</h2><details>").unwrap();
    assert!(folded.contains("echo same") && folded.contains("Show 2 steps"), "{page}");
    opal.write("commands.opl", source.replace("echo old", "echo new"));
    opal.write("page.html", printed(&opal, &[], &words, 1));
    let page = opal.read("page.html");
    assert!(page.contains("source_changed") && page.contains("echo <ins>new</ins>"), "{page}");
    opal.write("commands.opl", source);
    let same = printed(&opal, &[], &words, 0);
    assert!(same.contains("<span class=\"good\">no differences</span>"), "{same}");
    only_known(&parsed(&opal));
}

#[test]
fn the_page_of_a_contract_run_says_who_approved_it() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\n");
    gate.plan(&["deploy", "-o", "c.plan"]);
    gate.approve("c.plan", "ann");
    gate.opal.call(&["run", "--plan", "c.plan", "--report", "live.html"]).code(0);
    gate.opal.call(&["runs", "report", "last", "-o", "page.html"]).code(0);
    for name in ["live.html", "page.html"] {
        let page = gate.opal.read(name);
        assert!(page.contains("<dt>contract</dt><dd>c.plan</dd>"), "{page}");
        assert!(page.contains("<dt>approved</dt><dd>by ann at "), "{page}");
    }
}
