//! `opal runs report`: a record says the same as the report of its run.

use super::{CASES, ENDS, python, reported};
use crate::support::Opal;

/// The cases of `r.xml`, with their lines.
fn cases(opal: &Opal) -> Vec<String> {
    python(opal, CASES).lines().map(str::to_owned).collect()
}

#[test]
fn the_plan_of_a_report_has_the_file_and_the_line_of_each_step() {
    let source = "import \"lib.opl\"\nfun ci() {\n    @needs.lib.prepare()\n    echo one\n    \
                  @retry(2) {\n        echo two &&\n            echo three\n    }\n}\n";
    let opal = Opal::machine(source).file("lib.opl", "\nfun prepare() {\n    echo prepared\n}\n");
    reported(&opal, &["ci"]);
    let live = opal.read("r.html");
    opal.call(&["runs", "report", "last", "-o", "r.html"]).code(0);
    for page in [live, opal.read("r.html")] {
        for line in [
            "  (commands.opl:3)\n",
            "└─ echo prepared  (lib.opl:3)\n",
            "├─ echo one  (commands.opl:4)\n",
            "  (commands.opl:5)\n",
            "└─ echo two &amp;&amp;\n",
            "echo three  (commands.opl:6)\n",
        ] {
            assert!(page.contains(line), "{line:?} in {page}");
        }
    }
    let runs = std::fs::read_dir(opal.path().join("home/.opal/logs/run/ci")).unwrap();
    let record = runs.flatten().next().unwrap().path();
    let plan = std::fs::read_to_string(record.join("plan.json")).unwrap();
    crate::support::assert_plan_schema(&serde_json::from_str(&plan).unwrap());
}

#[test]
fn the_report_of_a_record_has_the_cases_of_the_report_of_the_run() {
    let hidden = "fun ci() {\n    let.x = @shell(\"echo captured-value\")\n    \
                  echo \"has @let.x\"\n    exit 3\n}\n";
    let timed = "fun ci() {\n    @timeout(50ms) { sleep 60 }\n    echo never\n}\n";
    let large = "fun ci() {\n    seq 1 20000\n}\n";
    for source in [ENDS, hidden, timed, large] {
        let opal = Opal::machine(source);
        reported(&opal, &["ci"]);
        let (expected, page) = (cases(&opal), opal.read("r.html"));
        let words = ["runs", "report", "last", "-o", "r.xml", "-o=r.md", "-o=r.html", "-o=r.json"];
        opal.call(&words).code(0);
        assert_eq!(cases(&opal), expected, "{source}");
        let again = opal.read("r.html");
        assert!(!again.contains("captured-value"));
        let summary = |page: &str| page.split_once("</h1><p>").unwrap().1[..60].to_owned();
        assert_eq!(summary(&again), summary(&page));
        assert_eq!(again.matches("more lines").count(), page.matches("more lines").count());
        let json: serde_json::Value = serde_json::from_str(&opal.read("r.json")).unwrap();
        assert_eq!(json["run"]["target"], "ci");
    }
}

#[test]
fn a_run_without_a_step_has_a_report_too() {
    let source = "fun a() = echo @env.WHO(default=\"nobody\")\n";
    let opal = Opal::machine(source);
    opal.call(&["plan", "a", "-o", "c.plan"]).code(0);
    opal.write("commands.opl", "fun a() = echo other\n");
    opal.call(&["run", "--plan", "c.plan"]).code(76);
    opal.call(&["runs", "report", "-o", "r.xml"]).code(0);
    let cases = python(&opal, CASES);
    assert!(cases.contains("the run"), "{cases}");
    opal.call(&["runs", "report", "-o", "r.txt"]).code(2).says("unknown format of a report");
    opal.call(&["runs", "report"]).code(2).says("--out");
    opal.call(&["runs", "report", "gone", "-o", "r.xml"]).code(66);
}
