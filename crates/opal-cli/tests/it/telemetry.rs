//! Telemetry: what leaves after a run, what never leaves, and servers that misbehave.

pub(crate) mod collector;
mod hostile;
mod python;
mod steps;

use std::fs;
use std::process::Stdio;

use opal_testing::processes::{eventually, signal};
use opentelemetry_proto::tonic::metrics::v1::AggregationTemporality;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::Value;

use crate::fleets;
use crate::needs;
use crate::support::{Opal, binary};
use collector::{Collector, Manner, errors, get, tree};

const TASKS: &str = "\
fun deploy(count = 1) {
    echo canary-output
    @retry(attempts=3, delay=1ms) {
        sh -c 'test -e again || { touch again; exit 3; }'
    }
    @file.copy(destination=\"app.conf\", content=\"port=80\\n\")
    if count > 0 {
        @cmd.inner()
    }
}

fun inner() {
    true
}

fun fails() {
    try {
        sh -c 'exit 4'
    } catch {
        echo caught
    }
    @timeout(50ms) {
        sleep 60
    }
}
";

/// A project that sends to a collector when it is asked to; none where the helper was not built.
pub(super) fn project(text: &str, collector: &Collector) -> Option<Opal> {
    let helper = binary().with_file_name("opal-serve").exists();
    if !needs::has("the helper `opal-serve` (`cargo build -p opal-serve`)", helper) {
        return None;
    }
    Some(Opal::machine(text).env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url()))
}

/// One error of a target.
fn one(target: &str, error: &str) -> (String, String, i64) {
    (target.to_owned(), error.to_owned(), 1)
}

/// The last run, as its record says.
pub(super) fn last(opal: &Opal) -> Value {
    let shown = opal.call(&["runs", "show", "last", "--json"]);
    shown.code(0).json()["run"].clone()
}

#[test]
fn a_run_leaves_as_a_trace_with_a_span_for_each_block_step_attempt_and_verification() {
    let collector = Collector::new();
    let Some(opal) = project(TASKS, &collector) else { return };
    let ran = opal.call(&["deploy", "--otlp"]);
    ran.code(0).hides("telemetry");
    let spans = collector.spans();
    let expected = "\
RUN deploy: success
  deploy.shell[0]: success
  deploy.retry[0]: success
    deploy.retry[0] attempt 1: failure (3)
      deploy.retry[0].shell[0]: failure (3)
    deploy.retry[0] attempt 2: success
      deploy.retry[0].shell[0]: success
  deploy.file.copy[0]: success
    verify deploy.file.copy[0]: missing
    verify deploy.file.copy[0]: satisfied
  deploy.if[0].inner[0]: success
    deploy.if[0].inner[0].shell[0]: success
";
    assert_eq!(tree(&spans), expected);
    let run = &spans[0];
    let record = last(&opal);
    let told = |key| get(&run.attributes, key);
    assert_eq!(told("cicd.pipeline.name").as_deref(), Some("deploy"));
    assert_eq!(told("cicd.pipeline.run.id").as_deref(), record["id"].as_str());
    assert_eq!(told("opal.plan_hash").as_deref(), record["plan_hash"].as_str());
    assert_eq!((run.kind, run.parent_span_id.len()), (SpanKind::Server as i32, 0));
    let step = spans.iter().find(|it| it.name == "deploy.shell[0]").unwrap();
    assert_eq!(get(&step.attributes, "opal.decorator").as_deref(), Some("@shell"));
    assert_eq!(get(&step.attributes, "opal.text").as_deref(), Some("echo canary-output"));
    for span in &spans {
        assert_eq!((&span.trace_id, span.trace_id.len()), (&run.trace_id, 16), "{span:?}");
        assert!(span.start_time_unix_nano >= run.start_time_unix_nano, "{span:?}");
        assert!(span.end_time_unix_nano <= run.end_time_unix_nano, "{span:?}");
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano, "{span:?}");
    }
}

#[test]
fn metrics_say_how_long_a_run_took_and_count_its_errors() {
    let collector = Collector::new();
    let Some(opal) = project(TASKS, &collector) else { return };
    opal.call(&["fails", "--otlp"]).code(124);
    let metrics = collector.metrics();
    let Some(Data::Histogram(found)) = &metrics[0].data else { panic!("{metrics:?}") };
    let [point] = &found.data_points[..] else { panic!("{found:?}") };
    assert_eq!(
        (metrics[0].name.as_str(), metrics[0].unit.as_str()),
        ("cicd.pipeline.run.duration", "s")
    );
    assert_eq!(found.aggregation_temporality, AggregationTemporality::Delta as i32);
    assert_eq!((point.count, point.bucket_counts.iter().sum::<u64>()), (1, 1));
    assert!(point.sum.is_some_and(|seconds| seconds >= 0.05), "{point:?}");
    let told = |key| get(&point.attributes, key).unwrap_or_default();
    assert_eq!(
        (told("cicd.pipeline.name"), told("error.type")),
        ("fails".into(), "timeout".into())
    );
    assert_eq!(errors(&metrics)[0], one("", "4"), "caught, and an error all the same");
    assert!(tree(&collector.spans()).starts_with("RUN fails: timeout (timeout)\n"));
    collector.clear();
    opal.call(&["inner", "--otlp"]).code(0);
    assert!(errors(&collector.metrics()).is_empty());
}

#[test]
fn the_variables_alone_enable_nothing_and_a_setting_enables_every_run() {
    let collector = Collector::new();
    let Some(opal) = project(TASKS, &collector) else { return };
    let ran = opal.call_with(&[("TRACEPARENT", "mine")], &["inner"]);
    ran.code(0);
    assert!(collector.posts().is_empty());
    let opal = opal.file("home/.opal/config/settings.toml", "[telemetry]\notlp = true\n");
    opal.call(&["inner"]).code(0);
    assert_eq!(collector.posts().len(), 2);
    collector.clear();
    // A plan, a verification and a run without a record are no runs to send.
    opal.call(&["inner", "--dry-run"]).code(0);
    opal.call(&["verify", "deploy"]);
    opal.call(&["inner", "--no-record"]).code(0).hides("telemetry");
    assert!(collector.posts().is_empty());
    let opal = opal.file("home/.opal/config/settings.toml", "[telemetry]\notpl = true\n");
    opal.call(&["inner"]).code(78).says("unknown key `otpl`").says("did you mean `otlp`?");
}

#[test]
fn what_cannot_be_meant_is_said() {
    let opal = Opal::machine(TASKS);
    let ran = opal.call(&["inner", "--otlp", "--no-record"]);
    ran.code(2).says("`--otlp` sends the record, but `--no-record` keeps none");
    opal.call(&["plan", "inner", "--otlp"]).code(2);
    opal.call(&["inner", "--dry-run", "--otlp"]).code(2).says("`--otlp` applies to a run");
    opal.call(&["runs", "export", "--otlp"]).code(2);
    opal.call(&["runs", "export", "last"]).code(2);
    opal.call(&["runs", "export", "last", "--otlp", "--since", "2d"]).code(2);
}

#[test]
fn a_run_that_is_sent_twice_is_the_same_bytes() {
    let collector = Collector::new();
    let Some(opal) = project(TASKS, &collector) else { return };
    opal.call(&["deploy", "--otlp"]).code(0);
    let first = collector.posts();
    collector.clear();
    let sent = opal.call(&["runs", "export", "last", "--otlp"]);
    let id = last(&opal)["id"].as_str().unwrap().to_owned();
    let to = collector.url().replace("http://", "");
    sent.code(0).stdout(&format!("Sent 12 spans and 2 data points of {id} to {to}.\n"));
    let second = collector.posts();
    assert_eq!(first.len(), 2);
    for (first, second) in first.iter().zip(&second) {
        assert_eq!((&first.path, &first.body), (&second.path, &second.body));
    }
}

#[test]
fn a_target_that_failed_is_counted_as_that_target() {
    let collector = Collector::new();
    if project(TASKS, &collector).is_none() {
        return;
    }
    let block = "        test @target.name != h2\n";
    let Some(opal) = fleets::local(3, block, ", tolerate=3") else { return };
    let opal = opal.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    opal.call(&["task", "--otlp"]);
    let shown = tree(&collector.spans());
    for target in ["h1", "h2", "h3"] {
        let end = if target == "h2" { "failure (1)" } else { "success" };
        let line = format!("shell[0] on {target}: {end}\n");
        assert!(shown.contains(&line), "{line} in {shown}");
    }
    assert_eq!(errors(&collector.metrics()), [one("h2", "1")]);
}

#[test]
fn a_run_that_is_interrupted_is_sent_and_one_that_is_killed_can_be_sent_later() {
    let source = "fun waits() {\n    sh -c 'touch begun; exec sleep 600'\n}\n";
    let collector = Collector::new();
    let Some(opal) = project(source, &collector) else { return };
    let start = || {
        let _ = fs::remove_file(opal.path().join("begun"));
        let mut command = opal.interruptible();
        let child = command.args(["waits", "--otlp"]).stderr(Stdio::null()).spawn().unwrap();
        eventually("the step runs", || opal.path().join("begun").exists());
        child
    };
    let mut child = start();
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let expected =
        "RUN waits: cancellation (interrupted)\n  waits.shell[0]: cancellation (stopped)\n";
    assert_eq!(tree(&collector.spans()), expected);
    collector.clear();
    let mut child = start();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(collector.posts().is_empty());
    opal.call(&["runs", "export", "last", "--otlp"]).code(0);
    let expected = "RUN waits: error (crashed)\n  waits.shell[0]: error (unfinished)\n";
    assert_eq!(tree(&collector.spans()), expected);
    assert_eq!(errors(&collector.metrics()), [one("", "crashed")]);
}

#[test]
fn a_run_that_goes_on_is_not_sent() {
    let source = "fun waits() {\n    sh -c 'touch begun; exec sleep 600'\n}\n";
    let collector = Collector::new();
    let Some(opal) = project(source, &collector) else { return };
    let mut child = opal.interruptible().arg("waits").spawn().unwrap();
    eventually("the step runs", || opal.path().join("begun").exists());
    opal.call(&["runs", "export", "last", "--otlp"]).code(2).says("has not ended");
    signal(&child, "TERM");
    child.wait().unwrap();
    assert!(collector.posts().is_empty());
}

#[test]
fn a_contract_that_is_refused_is_sent_as_skipped() {
    let collector = Collector::new();
    let Some(opal) = project(TASKS, &collector) else { return };
    opal.call(&["plan", "inner", "-o", "inner.plan"]).code(0);
    fs::write(opal.path().join("commands.opl"), TASKS.replace("    true\n", "    false\n"))
        .unwrap();
    opal.call(&["run", "--plan", "inner.plan", "--otlp"]).code(76);
    assert_eq!(tree(&collector.spans()), "RUN inner: skip\n");
    let contract = get(&collector.spans()[0].attributes, "opal.contract");
    assert_eq!(contract.as_deref(), last(&opal)["contract"]["file_digest"].as_str());
}

#[test]
fn text_is_cut_and_output_and_secrets_never_leave() {
    let long = "é".repeat(2_000);
    let source = format!(
        "fun task() {{\n    echo {long}\n    echo @env.TOKEN canary-output\n    sh -c 'exit 3'\n}}\n"
    );
    let collector = Collector::new();
    let Some(opal) = project(&source, &collector) else { return };
    let opal = opal.env("TOKEN", "canary-secret-1");
    opal.call(&["task", "--otlp"]).code(3);
    let spans = collector.spans();
    let text = get(&spans[1].attributes, "opal.text").unwrap();
    assert!(text.len() <= 1024 && text.len() > 1018 && text.ends_with('…'), "{}", text.len());
    let posts = collector.posts();
    let all: Vec<u8> = posts.iter().flat_map(|post| post.body.clone()).collect();
    let all = String::from_utf8_lossy(&all);
    assert!(!all.contains("canary-secret-1"));
    // The text of the step has it, and nothing else.
    assert_eq!(all.matches("canary-output").count(), 1);
}

#[test]
fn a_server_for_traces_only_gets_traces_without_a_warning() {
    let collector = Collector::of(Manner::NoMetrics(404));
    let Some(opal) = project(TASKS, &collector) else { return };
    opal.call(&["inner", "--otlp"]).code(0).hides("telemetry");
    opal.call(&["runs", "export", "last", "--otlp"]).code(0).says("and 0 data points");
}
