//! `TRACEPARENT`: the span around a run, and the spans that steps run in.

use std::fs;

use super::collector::{Collector, get};
use super::{last, project};
use crate::fleets;
use crate::servers::servers;
use crate::support::Opal;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const TASKS: &str = "\
fun task() {
    sh -c 'echo $TRACEPARENT >> seen'
    @retry(attempts=2, delay=1ms) {
        sh -c 'echo $TRACEPARENT >> seen; test -e again || { touch again; exit 3; }'
    }
    @parallel {
        sh -c 'echo $TRACEPARENT > branch'
        true
    }
    @environ(TRACEPARENT=\"own\") {
        sh -c 'echo $TRACEPARENT >> seen'
    }
}
";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn seen(opal: &Opal, name: &str) -> Vec<String> {
    let text = fs::read_to_string(opal.path().join(name)).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn each_step_and_attempt_gets_the_span_that_it_runs_in() {
    let collector = Collector::new();
    let Some(opal) = project(TASKS, &collector) else { return };
    opal.call(&["task", "--otlp"]).code(0);
    let spans = collector.spans();
    let of = |name: &str| {
        let all = spans.iter().filter(|it| it.name == name);
        let text = |span: &opentelemetry_proto::tonic::trace::v1::Span| {
            format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id))
        };
        all.map(text).collect::<Vec<_>>()
    };
    let mut expected = of("task.shell[0]");
    expected.extend(of("task.retry[0].shell[0]"));
    // What the source sets is meant.
    expected.push("own".to_owned());
    assert_eq!(expected.len(), 4);
    assert_eq!(seen(&opal, "seen"), expected);
    let branch = spans
        .iter()
        .find(|it| get(&it.attributes, "opal.text").is_some_and(|it| it.contains("> branch")));
    assert_eq!(seen(&opal, "branch"), of(&branch.unwrap().name));
}

#[test]
fn without_telemetry_steps_keep_the_variable_that_opal_got() {
    let opal = Opal::machine(TASKS);
    opal.call_with(&[("TRACEPARENT", PARENT)], &["task"]).code(0);
    assert_eq!(seen(&opal, "branch"), [PARENT]);
    opal.call(&["task"]).code(0);
    assert_eq!(seen(&opal, "branch"), [""]);
}

#[test]
fn a_run_is_part_of_the_trace_around_it_also_when_it_is_sent_again() {
    let collector = Collector::new();
    let Some(opal) = project(TASKS, &collector) else { return };
    let unsampled = PARENT.replace("-01", "-00");
    opal.call_with(&[("TRACEPARENT", &unsampled)], &["task", "--otlp"]).code(0);
    let spans = collector.spans();
    assert_eq!(hex(&spans[0].trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(hex(&spans[0].parent_span_id), "00f067aa0ba902b7");
    let own = seen(&opal, "branch").remove(0);
    assert!(
        own.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && own.ends_with("-00"),
        "{own}"
    );
    assert_eq!(last(&opal)["traceparent"], unsampled);
    collector.clear();
    opal.call(&["runs", "export", "last", "--otlp"]).code(0);
    assert_eq!(collector.spans(), spans);
}

#[test]
fn a_variable_of_another_form_is_ignored() {
    let collector = Collector::new();
    let Some(opal) = project("fun task() { true }\n", &collector) else { return };
    for wrong in [
        "x",
        &PARENT.to_uppercase(),
        &PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
    ] {
        collector.clear();
        opal.call_with(&[("TRACEPARENT", wrong)], &["task", "--otlp"]).code(0);
        let run = &collector.spans()[0];
        assert_eq!(run.parent_span_id.len(), 0, "{wrong}");
        assert!(last(&opal).get("traceparent").is_none(), "{wrong}");
    }
}

#[test]
fn steps_on_targets_get_their_span_too() {
    let collector = Collector::new();
    if project("", &collector).is_none() {
        return;
    }
    let block = "        printenv TRACEPARENT > @var.folder/@target.name\n";
    let Some(opal) = fleets::local(2, block, "") else { return };
    let source = opal.read("commands.opl");
    let folder = opal.path().display().to_string();
    opal.write("commands.opl", format!("var folder = \"{folder}\"\n{source}"));
    let opal = opal.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    opal.call(&["task", "--otlp"]).code(0);
    let spans = collector.spans();
    for target in ["h1", "h2"] {
        let is_of = |span: &&opentelemetry_proto::tonic::trace::v1::Span| {
            get(&span.attributes, "opal.target").as_deref() == Some(target)
                && get(&span.attributes, "opal.decorator").as_deref() == Some("@shell")
        };
        let span = spans.iter().find(is_of).unwrap();
        let expected = format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
        assert_eq!(seen(&opal, target), [expected]);
    }
}

#[test]
fn steps_of_a_host_behind_ssh_get_their_span_too() {
    let collector = Collector::new();
    if project("", &collector).is_none() {
        return;
    }
    let source =
        "fun task() {\n    @ssh.host(\"web1\") {\n        printenv TRACEPARENT\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1"], source) else { return };
    let opal = opal.args(["--root", "root"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let ran = opal.call(&["task", "--otlp"]);
    ran.code(0).hides("warning: telemetry");
    let spans = collector.spans();
    let step = spans.iter().find(|it| it.name == "task.ssh.host[0].shell[0]");
    let step = step.unwrap_or_else(|| panic!("{spans:#?}"));
    assert_eq!(get(&step.attributes, "opal.target").as_deref(), Some("web1"));
    assert_eq!(ran.stdout, format!("00-{}-{}-01\n", hex(&step.trace_id), hex(&step.span_id)));
    // Without telemetry a host has the variables of its own account only.
    opal.call_with(&[("TRACEPARENT", PARENT)], &["task"]).code(1).stdout("");
}

/// A policy that names the only variables of a contract run says nothing about what opal itself sets.
#[test]
fn under_a_policy_with_environment_steps_get_their_span_and_no_variable_of_opals() {
    let collector = Collector::new();
    let source = "fun task() {\n    env\n}\n";
    let Some(opal) = project(source, &collector) else { return };
    let opal = opal.env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=canary-header");
    opal.call(&["plan", "task", "-o", "t.plan"]).code(0);
    let folder = opal.path().join("home/.opal/config");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("policy.toml"), "environment = [\"HOME\"]\n").unwrap();
    let run = |more: &[&str]| {
        let words = [&["run", "--plan", "t.plan"], more].concat();
        opal.call_with(&[("TRACEPARENT", PARENT), ("OTHER", "x")], &words)
    };
    let ran = run(&["--otlp"]);
    ran.code(0).hides("warning").hides("OTEL_").hides("OTHER=");
    let spans = collector.spans();
    assert_eq!(hex(&spans[0].parent_span_id), "00f067aa0ba902b7", "the run is part of the trace");
    let step = spans.iter().find(|it| it.name == "task.shell[0]").unwrap();
    let own = format!("TRACEPARENT=00-{}-{}-01", hex(&step.trace_id), hex(&step.span_id));
    assert!(ran.stdout.lines().any(|line| line == own), "{own}: {ran:#?}");
    // Without telemetry the policy decides about it, as about every variable.
    collector.clear();
    run(&[]).code(0).hides("TRACEPARENT=").hides("OTHER=");
    fs::write(folder.join("policy.toml"), "environment = [\"TRACEPARENT\"]\n").unwrap();
    let ran = run(&[]);
    ran.code(0).says(&format!("TRACEPARENT={PARENT}")).hides("HOME=");
    assert!(collector.posts().is_empty());
}
