//! Servers that misbehave, helpers that are missing, and secrets that must not leave.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use super::collector::{Collector, Manner};
use super::{last, project};
use crate::plugin::secure::Secure;
use crate::support::{Opal, Ran, binary};

const TASK: &str = "fun task() {\n    env\n    echo done\n}\n";

const CANARY: &str = "canary-header-value";

/// A run with a secret header, against an address.
fn run(url: &str) -> Option<(Opal, Ran)> {
    let opal = project(TASK, &Collector::new())?;
    let headers = format!("authorization=Bearer%20{CANARY}");
    let opal =
        opal.env("OTEL_EXPORTER_OTLP_ENDPOINT", url).env("OTEL_EXPORTER_OTLP_HEADERS", &headers);
    let ran = opal.call(&["task", "--otlp"]);
    Some((opal, ran))
}

/// The run went well, one warning says why nothing was sent, and the header is nowhere.
#[track_caller]
fn warns(opal: &Opal, ran: &Ran, why: &str) {
    ran.code(0).says("done\n").says(&format!("warning: telemetry was not sent: {why}"));
    assert_eq!(ran.stderr.matches("warning:").count(), 1, "{ran:#?}");
    ran.says("send it again with `opal runs export run-").hides(CANARY);
    assert_eq!(last(opal)["status"], "executed");
    no_canary(&opal.path().join("home"));
    let again = opal.call(&["runs", "export", "last", "--otlp"]);
    again.code(69).says(why).hides(CANARY);
}

fn no_canary(folder: &std::path::Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path().is_dir() {
            true => no_canary(&entry.path()),
            false => {
                let text = fs::read(entry.path()).unwrap();
                let text = String::from_utf8_lossy(&text).into_owned();
                assert!(!text.contains(CANARY), "{}", entry.path().display());
            }
        }
    }
}

#[test]
fn headers_reach_the_server_and_nobody_else() {
    let collector = Collector::new();
    let Some((opal, ran)) = run(&collector.url()) else { return };
    // The step has the variable, and prints it.
    ran.code(0).says("OTEL_EXPORTER_OTLP_HEADERS=").hides(CANARY).hides("warning");
    no_canary(&opal.path().join("home"));
    let posts = collector.posts();
    assert_eq!(posts.len(), 2);
    for post in posts {
        assert!(post.headers.contains(&format!("authorization: bearer {CANARY}")), "{post:?}");
        assert!(post.headers.contains("content-type: application/x-protobuf"), "{post:?}");
        assert!(!String::from_utf8_lossy(&post.body).contains(CANARY));
    }
}

#[test]
fn passwords_in_the_address_are_hidden() {
    let collector = Collector::new();
    let url = collector.url().replace("//", &format!("//ann:{CANARY}@"));
    let Some((opal, ran)) = run(&url) else { return };
    ran.code(0).hides(CANARY).hides("warning");
    no_canary(&opal.path().join("home"));
    assert_eq!(collector.posts().len(), 2);
}

#[test]
fn nobody_there_is_a_warning() {
    // Bound, so that nobody else gets the port, and not listened to for longer.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some((opal, ran)) = run(&format!("http://127.0.0.1:{port}")) else { return };
    warns(&opal, &ran, "traces: `127.0.0.1:");
}

#[test]
fn a_server_that_hangs_is_left_after_two_seconds() {
    let Some((opal, ran)) = run(&Collector::of(Manner::Hangs).url()) else { return };
    warns(&opal, &ran, "");
    ran.says("answer within 2");
}

#[test]
fn an_answer_of_ten_gigabytes_is_read_at_its_beginning_only() {
    let collector = Collector::of(Manner::Endless);
    let Some((_, ran)) = run(&collector.url()) else { return };
    // Its status is good, and the rest is for nobody.
    ran.code(0).hides("warning").hides(CANARY);
    assert_eq!(collector.posts().len(), 2);
}

#[test]
fn redirections_are_not_followed() {
    let other = Collector::new();
    let first = Collector::of(Manner::Redirects(format!("{}/v1/traces", other.url())));
    let Some((opal, ran)) = run(&first.url()) else { return };
    warns(&opal, &ran, "traces: `127.0.0.1:");
    ran.says("answered with status 307");
    assert!(other.posts().is_empty());
}

#[test]
fn what_a_server_says_is_never_shown() {
    for (manner, why) in [
        (Manner::Says(500), "answered with status 500"),
        (Manner::Says(401), "answered with status 401"),
        (Manner::Says(404), "answered with status 404"),
        (Manner::Rejects, "rejected 1 of them"),
        (Manner::Babbles, "is not HTTP"),
        (Manner::NoMetrics(500), "metrics: `127.0.0.1:"),
    ] {
        let Some((opal, ran)) = run(&Collector::of(manner).url()) else { return };
        warns(&opal, &ran, "");
        ran.says(why).hides("too old").hides("SSH-2.0");
    }
}

#[test]
fn a_server_without_the_right_certificate_gets_nothing() {
    let collector = Collector::new();
    let url = collector.url().replace("http:", "https:");
    let Some((opal, ran)) = run(&url) else { return };
    warns(&opal, &ran, "traces: ");
    assert!(collector.posts().is_empty());
}

/// A server whose certificate nobody here has vouched for gets nothing, and is named; with the authority it is
/// spoken to.
#[test]
fn a_certificate_of_an_unknown_authority_is_a_warning() {
    let served = tempfile::tempdir().unwrap();
    let Some(server) = Secure::start(served.path()) else { return };
    let Some((opal, ran)) = run(&format!("https://{}", server.host)) else { return };
    warns(&opal, &ran, "traces: ");
    ran.says("invalid certificate");
    let other = Secure::start(served.path()).unwrap();
    for (file, says) in [
        (other.authority(), "invalid certificate"),
        (server.file("names").display().to_string(), "has no certificate"),
        (server.file("none").display().to_string(), "cannot be read"),
        // It is a server of files: what is sent arrives, and has no place there.
        (server.authority(), "answered with status"),
    ] {
        let env = [("OTEL_EXPORTER_OTLP_CERTIFICATE", file.as_str())];
        let ran = opal.call_with(&env, &["task", "--otlp"]);
        ran.code(0).says("warning: telemetry was not sent: ").says(says).hides(CANARY);
    }
    // The name must be the one in the certificate, too.
    let elsewhere = format!("https://127.0.0.2:{}", server.host.rsplit_once(':').unwrap().1);
    let env = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", elsewhere.as_str()),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", &server.authority()),
    ];
    opal.call_with(&env, &["task", "--otlp"]).code(0).says("warning: telemetry was not sent: ");
}

#[test]
fn variables_of_another_form_are_named_without_their_values() {
    let collector = Collector::new();
    let Some(opal) = project(TASK, &collector) else { return };
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "canary-header-value"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "canary-header-value"),
    ] {
        let ran = opal.call_with(&[(name, value)], &["task", "--otlp"]);
        ran.code(0).says("warning: telemetry was not sent").says(&format!("`{name}`"));
        assert!(!ran.stderr.contains(CANARY), "{ran:#?}");
        assert!(collector.posts().is_empty());
    }
}

#[test]
fn a_project_cannot_say_where_telemetry_goes() {
    let (meant, other) = (Collector::new(), Collector::new());
    let Some(opal) = project(TASK, &meant) else { return };
    let env = format!("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT={}/v1/traces\n", other.url());
    let opal = opal.file("own.env", env);
    opal.call(&["task", "--otlp", "--env-file", "own.env"]).code(0);
    assert_eq!((meant.posts().len(), other.posts().len()), (2, 0));
}

#[test]
fn a_missing_helper_is_a_warning() {
    let opal =
        Opal::machine("fun task() {\n    echo done\n    sh -c 'exit 3'\n}\n").file("bin/.keep", "");
    let own = opal.path().join("bin/opal");
    fs::copy(binary(), &own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = opal.started_by(&[own.as_os_str()]).args(["task", "--otlp"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(3), "{said}");
    assert!(said.contains("warning: telemetry was not sent: "), "{said}");
    assert!(said.contains("opal-serve"), "{said}");
}
