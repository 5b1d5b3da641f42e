//! What a runner needs, prints and refuses to start without.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use opal_testing::needs;
use opal_testing::processes::{eventually, signal};

use crate::nats::Nats;
use crate::shop::Shop;

#[test]
fn keys_stay_and_permissions_are_printed_without_a_server() {
    let Some(shop) = Shop::open(1, "", 1) else { return };
    let root = shop.name("r0");
    let keys = ["runner", "--keys", "--root", &root];
    let one = shop.opal(&keys).code(0).stdout.clone();
    assert_eq!(one, shop.opal(&keys).stdout);
    let (recipient, key) = one.trim().split_once(' ').unwrap();
    assert!(recipient.starts_with("age1") && key.starts_with("ed25519:"));
    let secret = fs::read_to_string(shop.at("r0/credentials/queue.key")).unwrap();
    assert!(!one.contains(secret.lines().nth(1).unwrap()));
    let ran = shop.opal(&["runner", "--permissions", "--pool", "eu", "--root", &root]);
    ran.code(0).says("\"opal.events.*.*\"").says("$KV.opal-claims-eu.>");
    assert!(!ran.stdout.contains("STREAM.CREATE") && !ran.stdout.contains("\">\""));
    shop.opal(&["runner", "--root", &root]).code(2).says("--pool");
}

#[test]
fn a_runner_without_dispatchers_or_a_server_does_not_start() {
    let Some(shop) = Shop::open(1, "", 1) else { return };
    let root = shop.name("r0");
    let start =
        |more: &[&str]| shop.opal(&[&["runner", "--pool", "eu", "--root", &root], more].concat());
    start(&[]).code(78).says("is not encrypted");
    start(&["--server", "nats://127.0.0.1:1", "--insecure-queue"]).code(69).says("connecting");
    let creds = shop.name("creds");
    fs::write(&creds, "user:password\n").unwrap();
    fs::set_permissions(&creds, fs::Permissions::from_mode(0o644)).unwrap();
    start(&["--creds", &creds, "--insecure-queue"]).code(77).says("chmod");
    fs::set_permissions(&creds, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&creds, "nothing\n").unwrap();
    start(&["--creds", &creds, "--insecure-queue"]).code(78).says("contains no credentials");
    shop.policy(0, "");
    start(&["--insecure-queue"]).code(78).says("dispatchers = [");
    shop.policy(0, "dispatcher = []\n");
    start(&["--insecure-queue"]).code(78).says("did you mean `dispatchers`?");
}

#[test]
fn check_says_what_is_there_and_what_is_not() {
    let Some(shop) = Shop::open(1, "", 1) else { return };
    let root = shop.name("r0");
    let check = ["runner", "--pool", "eu", "--root", &root, "--insecure-queue", "--check"];
    shop.opal(&check).code(69).says("opening the pool");
    let file = shop.contract("prod.plan", &[]);
    shop.dispatch(&file, &["--detach"]).code(0);
    let ran = shop.opal(&check);
    ran.code(0).says("ok       clock").says("nats-server").says("sync_interval: always");
}

/// A result that a server does not take would be sent again and again.
#[test]
fn a_server_that_takes_only_small_messages_is_refused_by_both_sides() {
    let Some(mut shop) = Shop::open(1, "", 1) else { return };
    let Some(small) = Nats::start("max_payload: 1000000\n") else { return };
    shop.nats = small;
    let file = shop.contract("prod.plan", &[]);
    shop.dispatch(&file, &[]).code(78).says("at most 1000000 bytes").says("max_payload: 1MB");
    assert!(!shop.nats.has("opal-eu"));
    let root = shop.name("r0");
    let start = ["runner", "--pool", "eu", "--root", &root, "--insecure-queue"];
    shop.opal(&start).code(78).says("`max_payload`");
    shop.opal(&[&start[..], &["--check"]].concat()).code(78).says("`max_payload`");
}

/// Server and credentials of a runner and of a dispatcher, each from their own settings.
#[test]
fn settings_name_the_server_and_the_credentials() {
    let Some(mut shop) = Shop::open(2, "", 1) else { return };
    let Some(()) = guarded(&mut shop, "\"nothing\"") else { return };
    for (root, creds) in [("d", "boss"), ("r0", "work")] {
        let path = shop.at(&format!("{root}/config/settings.toml"));
        let known = fs::read_to_string(&path).unwrap_or_default();
        let (server, creds) = (shop.nats.address(), shop.name(creds));
        let queue = format!("[queue]\nserver = \"{server}\"\ncreds = \"{creds}\"\n\n{known}");
        fs::write(path, queue).unwrap();
    }
    let file = shop.contract("prod.plan", &[]);
    let run = |words: &[&str]| {
        let mut command = shop.command(words);
        command.env("NATS_URL", "nats://127.0.0.1:1").output().unwrap()
    };
    let root = shop.name("d");
    let words =
        ["dispatch", &file, "--pool", "eu", "--insecure-queue", "--detach", "--root", &root];
    let done = run(&words);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let root = shop.name("r0");
    let check = ["runner", "--check", "--pool", "eu", "--insecure-queue", "--root", &root];
    let done = run(&check);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(violations(&shop), [""; 0]);
}

/// A server that lets a runner do what is printed, and a boss everything but what is named.
fn guarded(shop: &mut Shop, denied: &str) -> Option<()> {
    let root = shop.name("r0");
    let printed = shop.opal(&["runner", "--permissions", "--pool", "eu", "--root", &root]).stdout;
    let config = format!(
        "authorization {{\n  users = [\n    {{ user: boss, password: secret, permissions: {{ publish: {{ deny: [{denied}] }} }} }}\n    {{ user: runner, password: work\n{printed}\n    }}\n  ]\n}}\n"
    );
    shop.nats = Nats::start(&config)?;
    for (file, text) in [("boss", "boss:secret\n"), ("work", "runner:work\n")] {
        fs::write(shop.at(file), text).unwrap();
        fs::set_permissions(shop.at(file), fs::Permissions::from_mode(0o600)).unwrap();
    }
    Some(())
}

fn violations(shop: &Shop) -> Vec<String> {
    let log = fs::read_to_string(shop.nats.folder().join("log")).unwrap();
    log.lines().filter(|it| it.contains("Permissions Violation")).map(str::to_owned).collect()
}

/// With exactly the permissions that are printed everything works, and nothing else does.
#[test]
fn the_printed_permissions_are_enough_and_nothing_else_is_allowed() {
    let Some(mut shop) = Shop::open(60, ", batch=30", 1) else { return };
    // Large enough for the flow control of the server.
    let large: Vec<u8> =
        (0..4_000_000_u32).flat_map(|it| it.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    fs::write(shop.at("project/large"), &large).unwrap();
    let Some(()) = guarded(&mut shop, "\"nothing\"") else { return };
    let file = shop.contract("prod.plan", &[]);
    let (boss, work, root) = (shop.name("boss"), shop.name("work"), shop.name("r0"));
    let dispatching = shop.dispatching(&file, &["--creds", &boss]);
    dispatching.wait_for("60 targets in 2 shares");
    let creds = serde_json::json!({"creds": work});
    let runner = shop.runner_with(0, &shop.nats.address(), &creds);
    let ran = dispatching.end();
    ran.code(0).says("60 of 60 targets have ended");
    let own = ["--pool", "eu", "--root", &root, "--insecure-queue", "--creds", &work];
    shop.opal(&[&["runner", "--check"], &own[..]].concat()).code(0).says("ok       pool");
    let id = ran.stderr.split_whitespace().nth(1).unwrap().trim_end_matches(':');
    for words in [id, &id[..8]] {
        let tail = [&["runs", "tail", words], &own[..]].concat();
        shop.opal(&tail).code(0).says("t60: ok");
    }
    assert_eq!(violations(&shop), [""; 0]);
    signal(&runner.child, "TERM");
    runner.end().code(0).says("its shares go back to the pool");
    // What is not in the list is denied.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let denied = [
        "opal.shares.us.x.1",
        "$JS.API.STREAM.DELETE.opal-eu",
        "$JS.API.STREAM.PURGE.KV_opal-claims-eu",
        "$JS.API.CONSUMER.DELETE.opal-eu.runners",
        "$O.opal-objects-eu.M.x",
        "$KV.opal-claims-us.x",
    ];
    runtime.block_on(async {
        let how =
            async_nats::ConnectOptions::with_user_and_password("runner".into(), "work".into());
        let client = how.connect(shop.nats.address()).await.unwrap();
        for subject in denied {
            client.publish(subject, "x".into()).await.unwrap();
        }
        client.flush().await.unwrap();
    });
    for subject in denied {
        eventually(subject, || violations(&shop).iter().any(|it| it.contains(subject)));
    }
}

/// The user may not send shares: what was sent of an order is stopped.
#[test]
fn an_order_that_cannot_be_sent_completely_is_stopped() {
    let Some(mut shop) = Shop::open(2, "", 1) else { return };
    let Some(()) = guarded(&mut shop, "\"opal.shares.>\"") else { return };
    let file = shop.contract("prod.plan", &[]);
    let dispatching = shop.dispatching(&file, &["--creds", &shop.name("boss")]);
    // Its name is known before anything is sent.
    dispatching.wait_for("2 targets in 1 share ");
    eventually("the share is denied", || {
        violations(&shop).iter().any(|it| it.contains("opal.shares.eu"))
    });
    signal(&dispatching.child, "INT");
    let ran = dispatching.end();
    ran.code(130).says("interrupted while the order was sent").says("none of its targets starts");
    assert!(shop.nats.has(".stop"));
}

/// An authority of our own, which nobody else trusts.
#[test]
fn a_server_over_tls_is_trusted_by_its_authority_only() {
    let Some(mut shop) = Shop::open(2, "", 1) else { return };
    let keys = shop.at("keys");
    fs::create_dir(&keys).unwrap();
    fs::write(keys.join("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n").unwrap();
    let run = |line: &str| {
        let done =
            Command::new("openssl").args(line.split(' ')).current_dir(&keys).output().unwrap();
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    };
    run("req -newkey rsa:2048 -nodes -days 2 -x509 -subj /CN=ours -keyout ca.key -out ca.pem");
    run("req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout key.pem -out asks.pem");
    run(
        "x509 -req -days 2 -in asks.pem -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out cert.pem",
    );
    let place = keys.display();
    let config =
        format!("tls {{\n  cert_file: \"{place}/cert.pem\"\n  key_file: \"{place}/key.pem\"\n}}\n");
    let Some(nats) = Nats::start(&config) else { return };
    shop.nats = nats;
    let server = shop.nats.address().replace("nats://", "tls://");
    let file = shop.contract("prod.plan", &[]);
    let root = shop.name("d");
    let words =
        ["dispatch", &file, "--pool", "eu", "--root", &root, "--server", &server, "--detach"];
    shop.opal(&words).code(69).says("connecting");
    let trusting = |words: &[&str]| {
        let mut command = shop.command(words);
        let done = command.env("SSL_CERT_FILE", keys.join("ca.pem")).output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (code, said) = trusting(&words);
    assert_eq!(code, Some(0), "{said}");
    // A server that offers no encryption is not spoken to.
    let Some(plain) = Nats::start("") else { return };
    let server = plain.address().replace("nats://", "tls://");
    let words = ["runner", "--pool", "eu", "--root", &shop.name("r0"), "--server", &server];
    let (code, said) = trusting(&words);
    assert_eq!(code, Some(69), "{said}");
}

/// The unit of the guide, as systemd reads it.
#[test]
fn systemd_accepts_the_unit_of_the_guide() {
    let program = Path::new("/usr/bin/systemd-analyze");
    if !needs::has("systemd", program.exists()) {
        return;
    }
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/runners.md");
    let guide = fs::read_to_string(guide).unwrap();
    let unit = guide.split("```ini\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let said = |unit: &str| {
        let file = folder.path().join("opal-runner.service");
        // The program must be on this machine.
        fs::write(&file, unit.replace("/usr/local/bin/opal ", "/bin/true ")).unwrap();
        let done = Command::new(program).args(["verify", "--man=no"]).arg(&file).output().unwrap();
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    assert!(!said(unit).contains("opal-runner.service"), "{}", said(unit));
    let wrong = unit.replace("RestartPreventExitStatus=2", "RestartPreventExitStatus=2000");
    assert!(wrong != unit && said(&wrong).contains("opal-runner.service"));
}
