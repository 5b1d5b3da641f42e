//! `--otlp` and a real OpenTelemetry collector, which `cargo xtask test --long` builds from its Go modules.

#![expect(
    clippy::disallowed_methods,
    reason = "the collector is a program; it ends with its standard input"
)]

use std::fs;
use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use opal_testing::guest;
use opal_testing::processes::eventually;

use crate::needs;
use crate::support::Opal;

/// It writes all that it is sent to `log` in its directory.
struct Collector {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Collector {
    /// None where it could not be built.
    fn start() -> Option<Self> {
        let program = guest::build_directory().join("tools/otelcol/otelcol");
        if !needs::has("`otelcol` in target/tools/otelcol", program.is_file()) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "receivers: {{otlp: {{protocols: {{http: {{endpoint: 127.0.0.1:{port}}}}}}}}}\n\
             exporters: {{debug: {{verbosity: detailed}}}}\n\
             service:\n  telemetry: {{metrics: {{level: none}}}}\n  pipelines:\n    \
             traces: {{receivers: [otlp], exporters: [debug]}}\n    \
             metrics: {{receivers: [otlp], exporters: [debug]}}\n"
        );
        fs::write(folder.path().join("config.yaml"), config).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let child = Command::new(program)
            .args(["--config", "file:config.yaml"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let collector = Self { child, port, folder };
        eventually("the collector is ready", || collector.log().contains("Everything is ready"));
        Some(collector)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// What follows a name in what it wrote.
    fn all(&self, name: &str) -> Vec<String> {
        let log = self.log();
        let lines = log.lines().filter_map(|line| line.trim_start().strip_prefix(name));
        lines
            .filter_map(|rest| rest.trim_start().strip_prefix(':'))
            .map(|it| it.trim().to_owned())
            .collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn seen(path: &Path) -> String {
    fs::read_to_string(path).unwrap().trim().to_owned()
}

#[test]
fn a_real_collector_takes_traces_and_metrics() {
    let Some(collector) = Collector::start() else { return };
    let source = "fun task() {\n    sh -c 'echo $TRACEPARENT > seen'\n    @retry(attempts=2, delay=1ms) {\n        \
                  sh -c 'test -e again || { touch again; exit 3; }'\n    }\n    sh -c 'exit 4'\n}\n";
    let url = format!("http://127.0.0.1:{}", collector.port);
    let opal = Opal::machine(source).env("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    opal.call_with(&[("TRACEPARENT", parent)], &["task", "--otlp"]).code(4).hides("telemetry");
    eventually("both were taken", || {
        let log = collector.log();
        log.contains("cicd.pipeline.run.errors") && log.contains("RUN task")
    });
    let names = [
        "RUN task",
        "task.shell[0]",
        "task.retry[0]",
        "task.retry[0] attempt 1",
        "task.retry[0].shell[0]",
        "task.retry[0] attempt 2",
        "task.retry[0].shell[0]",
        "task.shell[1]",
    ];
    let found = collector.all("Name");
    assert_eq!(found, names, "{}", collector.log());
    let traces = collector.all("Trace ID");
    assert!(traces.iter().all(|it| it == "4bf92f3577b34da6a3ce929d0e0e4736"), "{traces:?}");
    assert_eq!(collector.all("Parent ID")[0], "00f067aa0ba902b7");
    let own = &collector.all("ID")[1];
    assert!(seen(&opal.path().join("seen")).contains(own.as_str()), "{own}");
    assert!(collector.log().contains("-> Name: cicd.pipeline.run.duration"));
    // Sent twice: the same spans.
    opal.call(&["runs", "export", "last", "--otlp"]).code(0);
    eventually("it came again", || collector.all("Name").len() == 2 * found.len());
    let ids = collector.all("ID");
    assert_eq!(ids[..names.len()], ids[names.len()..]);
}
