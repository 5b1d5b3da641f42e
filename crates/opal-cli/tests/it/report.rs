//! `--report`: what is in each file, that nothing in it acts, and what happens where it cannot be written.

mod github;
pub(crate) mod hostile_texts;
mod nothing_run;
mod pages;
mod recorded;
mod schemas;

use crate::support::{Opal, Ran};

/// Every way in which a step can end.
pub(super) const ENDS: &str = "\
fun ci() {
    echo fine
    try { sh -c 'exit 9' } catch { echo dealt with }
    @retry(attempts=2, delay=1ms) { sh -c 'test -e again || { touch again; exit 3; }' }
    sh -c 'for i in $(seq 1 80); do echo \"line $i\"; done; exit 4'
    echo never
}
";

/// What python makes of an XML file: a line for each case.
#[expect(clippy::disallowed_methods, reason = "a real parser is only to be had by a program")]
#[track_caller]
pub(super) fn python(opal: &Opal, script: &str) -> String {
    let run = std::process::Command::new("python3")
        .args(["-c", script])
        .current_dir(opal.path())
        .env("PYTHONIOENCODING", "utf-8")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

pub(super) const CASES: &str = "
import xml.etree.ElementTree as E
suite = E.parse('r.xml').getroot()[0]
print(*[f'{k}={suite.get(k)}' for k in ('name', 'tests', 'failures', 'errors', 'skipped')])
for case in suite.iter('testcase'):
    end = [e.tag + ' ' + e.get('message') for e in case]
    print(' | '.join([case.get('classname'), case.get('name'), str(case.get('line'))] + end))
";

#[track_caller]
pub(super) fn reported(opal: &Opal, words: &[&str]) -> Ran {
    opal.call(&[words, &["--report", "r.xml", "--report", "r.md", "--report=r.html"]].concat())
}

#[test]
fn a_case_for_each_leaf_step_and_the_last_fifty_lines_of_a_failure() {
    let opal = Opal::machine(ENDS);
    reported(&opal, &["ci", "--report", "r.json"]).code(4);
    let expected = "\
name=ci tests=6 failures=1 errors=0 skipped=1
ci | shell[0]: echo fine | 2
ci.try[0] | shell[0]: sh -c 'exit 9' | 3
ci.try[0].catch | shell[0]: echo dealt with | 3
ci.retry[0] | shell[0]: sh -c 'test -e again || { touch again; exit 3; }' | 4
ci | shell[1]: sh -c 'for i in $(seq 1 80); do echo \"line $i\"; done; exit 4' | 5 | failure exit code 4
ci | shell[2]: echo never | 6 | skipped not run
";
    assert_eq!(python(&opal, CASES), expected);
    let text = "import xml.etree.ElementTree as E
lines = next(E.parse('r.xml').iter('failure')).text.split('\\n')
print(len(lines), lines[0], lines[-1])";
    assert_eq!(python(&opal, text), "50 line 31 line 80\n");
    let markdown = opal.read("r.md");
    assert!(markdown.starts_with("### ❌ <code>ci</code>: failed\n"), "{markdown}");
    assert!(markdown.contains("line 80\n```") && !markdown.contains("line 30\n"), "{markdown}");
    assert!(markdown.contains("| ✅ | <code>sh -c 'exit 9'</code> | caught |"), "{markdown}");
    let page = opal.read("r.html");
    assert!(page.contains(">line 1\n") && page.contains("line 80\n"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&opal.read("r.json")).unwrap();
    assert_eq!((&json["status"], &json["code"]), (&"failed".into(), &4.into()));
}

#[test]
fn a_run_that_is_done_has_no_failure_and_one_that_is_cut_off_has() {
    let opal = Opal::machine("fun ok() = echo a\nfun slow() {\n    sleep 600\n}\n");
    reported(&opal, &["ok"]).code(0);
    let done = python(&opal, CASES);
    assert_eq!(done, "name=ok tests=1 failures=0 errors=0 skipped=0\nok | shell[0]: echo a | 1\n");
    assert!(opal.read("r.md").starts_with("### ✅ <code>ok</code>: done\n"));
    reported(&opal, &["slow", "--timeout", "300ms"]).code(124);
    let cut = python(&opal, CASES);
    assert!(cut.starts_with("name=slow tests=1 failures=1 errors=0"), "{cut}");
    reported(&opal, &["slow", "--timeout=300ms", "--no-record"]).code(124);
    assert_eq!(python(&opal, CASES), cut);
}

#[test]
fn a_block_that_fails_by_itself_is_a_case() {
    let opal = Opal::machine("fun a() {\n    @workdir(\"nowhere\") { echo x }\n}\n");
    assert_ne!(reported(&opal, &["a"]).code, 0);
    let cases = python(&opal, CASES);
    assert!(cases.contains("failures=1"), "{cases}");
    assert!(cases.contains("a | workdir[0]: @workdir"), "{cases}");
}

/// Texts that would be markup, end an element, or are forbidden in XML.
const HOSTILE: &str = "]]></failure><script>alert(1)</script>&amp;&#0; <img src=x onerror=y> \
    \u{1}\u{8}\u{b}\u{c}\u{1f}\u{7f}\u{80}\u{9b}\u{202e}\u{2028}\u{feff}\u{fffe}\u{ffff} ``` ~~~ </details> | [x](http://y) \
    \" onmouseover=\"z' <!-- <![CDATA[ <?xml";

#[test]
fn whatever_steps_print_stays_text() {
    let source = "fun ci(text: String) {\n    sh -c 'cat hostile; exit 1' \"@var.text\"\n}\n";
    let mut printed = HOSTILE.as_bytes().to_vec();
    printed.extend(b"\n\xff\xfe\xc3(\x1b]8;;http://evil\x07link\x1b[31mred\x1b[0m\n````\n");
    let opal = Opal::machine(source).file("hostile", printed);
    reported(&opal, &["ci", &HOSTILE.replace('\0', "")]).code(1);
    let cases = python(&opal, CASES);
    assert!(cases.contains("failures=1") && cases.contains("<script>"), "{cases}");
    let tags = "
from html.parser import HTMLParser
seen = set()
class P(HTMLParser):
    def handle_starttag(self, tag, attrs):
        seen.add(tag)
        seen.update('@' + name for name, _ in attrs)
P().feed(open('r.html', encoding='utf-8').read())
print(*sorted(seen))";
    let known = "\
@aria-hidden @charset @class @content @height @http-equiv @lang @name @open @preserveaspectratio @viewbox @width @x \
body code dd details div dl dt h1 h2 head html main meta p pre rect span style summary svg title\n";
    assert_eq!(python(&opal, tags), known);
    let page = opal.read("r.html");
    assert!(page.contains("default-src 'none'") && !page.contains("http://evil"), "{page}");
    for name in ["r.html", "r.md", "r.xml"] {
        let is_known = |c: char| !c.is_control() || c == '\n';
        assert!(opal.read(name).chars().all(is_known), "{name}");
        assert!(!opal.read(name).contains(['\u{202e}', '\u{fffe}', '\u{ffff}']), "{name}");
    }
    let markdown = opal.read("r.md");
    let outside: String = markdown.split("`````").step_by(2).collect();
    assert!(!outside.contains("<script") && !outside.contains("[x]("), "{markdown}");
    assert_eq!(markdown.matches("`````").count(), 2, "{markdown}");
}

#[test]
fn no_report_shows_a_secret_not_even_one_that_is_captured_later() {
    let source = "\
fun ci() {
    echo \"before: canary-captured-41\"
    echo \"@env.API_TOKEN\"
    let.word = @shell(\"cat word\")
    sh -c 'echo \"got $1\"; exit 2' x \"@let.word\"
}
";
    let opal = Opal::machine(source).file("word", "canary-captured-41\n");
    let opal = opal.env("API_TOKEN", "canary-token-17");
    reported(&opal, &["ci", "--report", "r.json"]).code(2);
    for name in ["r.html", "r.md", "r.xml", "r.json"] {
        let text = opal.read(name);
        assert!(!text.contains("canary-token-17"), "{name}: {text}");
        assert!(!text.contains("canary-captured-41"), "{name}: {text}");
    }
    assert!(opal.read("r.html").contains("before: 🔒"), "{}", opal.read("r.html"));
}

#[test]
fn a_report_that_cannot_be_written_is_known_before_the_first_step() {
    let opal = Opal::machine("fun a() = touch ran\n").file("file", "").file("dir.xml/x", "");
    for name in ["r.txt", "report", "r.", "github.com"] {
        opal.call(&["a", "--report", name]).code(2).says("unknown format of a report");
    }
    opal.call(&["a", "--report", "file/r.xml"]).code(74).says("cannot be written");
    opal.call(&["a", "--report", "dir.xml"]).code(74).says("cannot be written");
    opal.call(&["a", "--report", "/proc/nowhere/r.xml"]).code(74).says("cannot be written");
    opal.call(&["plan", "a", "--report", "r.xml"]).code(2);
    opal.call(&["a", "--dry-run", "--report", "r.xml"]).code(2).says("applies to a run");
    assert!(!opal.path().join("ran").exists());
    opal.call(&["a", "--report", "new/dir/r.XML"]).code(0);
    assert!(opal.read("new/dir/r.XML").contains("tests=\"1\""));
}

#[test]
fn a_report_that_fails_afterwards_is_a_warning_and_an_exit_code_of_its_own() {
    let source =
        "fun a(code = 0) {\n    rm -rf out\n    touch out\n    sh -c 'exit $1' x @var.code\n}\n";
    let opal = Opal::machine(source);
    opal.call(&["a", "--report", "out/r.xml"])
        .code(74)
        .says("warning: the report `out/r.xml` cannot");
    std::fs::remove_file(opal.path().join("out")).unwrap();
    opal.call(&["a", "--code=3", "--report", "out/r.xml"]).code(3).says("warning: the report");
}

#[test]
fn a_report_of_an_earlier_run_does_not_outlive_it() {
    let opal = Opal::machine("fun a() {\n    test ! -e r.xml\n}\n").file("r.xml", "old");
    opal.call(&["a", "--report", "r.xml"]).code(0);
    assert!(opal.read("r.xml").starts_with("<?xml"));
}

#[test]
fn a_verification_has_a_case_for_each_resource() {
    let opal = crate::verify::chain();
    let verify = ["verify", "site.yaml", "--report", "r.json"];
    reported(&opal, &verify).code(1);
    let cases = python(&opal, CASES);
    assert!(cases.starts_with("name=site.yaml tests=3 failures=3 errors=0 skipped=0\n"), "{cases}");
    assert!(cases.contains("| None | failure "), "{cases}");
    assert!(opal.read("r.md").contains("### ❌ <code>site&#46;yaml</code>: not satisfied"));
    opal.call(&["apply", "site.yaml"]).code(0);
    reported(&opal, &verify).code(0);
    assert!(python(&opal, CASES).starts_with("name=site.yaml tests=3 failures=0"));
    let json: serde_json::Value = serde_json::from_str(&opal.read("r.json")).unwrap();
    crate::support::assert_schema("verify-1.json", &json);
    assert!(opal.read("r.html").contains("satisfied"));
}

#[test]
fn a_page_of_a_thousand_steps_is_smaller_than_a_megabyte() {
    let steps: String =
        (0..1000).map(|n| format!("    echo 'step number {n} of many'\n")).collect();
    let opal = Opal::machine(&format!("fun many() {{\n{steps}}}\n"));
    opal.call(&["many", "-q", "--report", "r.html"]).code(0);
    let bytes = opal.read("r.html").len();
    assert!(bytes < 1_000_000, "{bytes}");
}
