//! The packages that come with opal, built from their sources: their own tests, and real requests to
//! servers of ours. Each leaves its host open, so the rules of open scopes are tested with them.

mod server;

use std::path::Path;

use opal_testing::guest;

use self::server::{Asked, Server};
use super::rooted;
use crate::support::Opal;

/// A project with one of the packages, in a directory that its user trusts.
fn project(name: &str, commands: &str) -> Opal {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages").join(name);
    let mut opal = rooted(commands).file("opal.mod", "name = \"shop\"\n");
    for file in ["opal.toml".to_owned(), "dim.yaml".to_owned(), format!("tests/{name}.yaml")] {
        let text = std::fs::read_to_string(own.join(&file)).unwrap();
        opal = opal.file(&format!("packages/{name}/{file}"), text);
    }
    let opal = opal.file(&format!("packages/{name}/plugins/{name}.wasm"), guest::package(name));
    opal.call(&["plugin", "trust", "packages"]).code(0);
    opal
}

fn added(name: &str, commands: &str, server: &Server) -> Opal {
    let opal = project(name, commands);
    opal.call(&["plugin", "add", &format!("./packages/{name}"), "--allow", &server.net()]).code(0);
    opal
}

#[test]
fn the_packages_pass_their_own_tests() {
    for name in ["vault", "github", "health"] {
        let opal = project(name, "");
        opal.call(&["plugin", "verify", &format!("packages/{name}")])
            .code(0)
            .says("and all laws hold");
    }
}

#[test]
fn a_host_that_a_package_leaves_open_is_named_by_the_project() {
    let opal = project("health", "fun up() = @health.http(url=\"https://shop.example/\")\n");
    let refused = opal.call(&["plugin", "add", "./packages/health"]);
    refused.code(77).says("it reads from a host that you name, and opal.mod names none");
    refused.says("--allow net:HOST").says("allow = [\"net:HOST\"]");
    assert_eq!(opal.read("opal.mod"), "name = \"shop\"\n");
    let info = opal.call(&["plugin", "info", "packages/health"]);
    info.code(0).says("net: reads from a host that you name");
    for (allow, code, says) in [
        ("net", 2, "`--allow net` names no host"),
        ("net:", 2, "it needs a host after the colon"),
        ("net:*", 2, "invalid host"),
        ("net:https://shop.example", 2, "invalid"),
        ("shell", 77, "`shell`, which its manifest does not ask for"),
        ("query:shop.example", 77, "`query:shop.example`, which its manifest does not ask for"),
    ] {
        let refused = opal.call(&["plugin", "add", "./packages/health", "--allow", allow]);
        refused.code(code).says(says);
    }
    let fine = ["plugin", "add", "./packages/health", "--allow", "net:shop.example"];
    opal.call(&fine).code(0);
    assert!(opal.read("opal.mod").contains(
        "\"./packages/health\" = { version = \"1.0.0\", allow = [\"net:shop.example\"] }\n"
    ));
    assert!(opal.read("opal.lock").contains("capabilities = [\"net:shop.example\"]\n"));
    opal.call(&["plugin", "info", "packages/health"])
        .says("net:shop.example: reads from shop.example");
}

#[test]
fn allow_never_widens_what_a_manifest_closes() {
    let dim = |net: &str| {
        format!(
            "x-opal-plugin: {{name: opal/health, version: 1.0.0}}\nx-opal-decorators:\n\
             - name: health.http\n  summary: A service\n  params: {{type: object, properties: {{url: \
             {{type: string}}}}, required: [url], additionalProperties: false}}\n  x-opal-effect: act\n  \
             x-opal-resource: {{key: [url], yaml: health_http}}\n  x-opal-capabilities: [{net}]\n"
        )
    };
    let opal = project("health", "fun up() = @health.http(url=\"https://evil.example/\")\n");
    for (manifest, allow, says) in [
        ("\"net:shop.example\"", "net:evil.example", "`net:evil.example`, which its manifest"),
        (
            "\"net:shop.example\"",
            "net:shop.example\", \"net:evil.example",
            "`net:evil.example`, which its manifest does not ask for",
        ),
        (
            "\"net:shop.example\"",
            "net:shop.example\", \"net:shop.example private",
            "`net:shop.example private`, which its manifest does not ask for",
        ),
        ("net", "net:shop.example\", \"query:shop.example", "`query:shop.example`, which its"),
        ("net, clock", "net:shop.example", "leaves out `clock`"),
        ("query", "net:shop.example", "`net:shop.example`, which its manifest does not ask for"),
        ("query, clock", "clock", "sends questions to a host that you name"),
    ] {
        opal.write("packages/health/dim.yaml", dim(manifest));
        opal.write(
            "opal.mod",
            format!("[plugins]\n\"./packages/health\" = {{ version = \"1.0.0\", allow = [\"{allow}\"] }}\n"),
        );
        opal.call(&["plugin", "install"]).code(77).says(says);
    }
    opal.write(
        "opal.mod",
        "[plugins]\n\"./packages/health\" = { version = \"1.0.0\", allow = [\"net\"] }\n",
    );
    opal.call(&["plugin", "install"]).code(78).says("`net` in `allow` names no host");
}

/// The project chooses the host, and the person who accepted it accepted that one.
#[test]
fn another_host_has_to_be_accepted_again() {
    let server = Server::start(|_, _| (200, "ok".to_owned()));
    let url = server.url();
    let opal = added(
        "health",
        &format!("fun up() = @health.http(url=\"{url}/\", verify_timeout=10m)\n"),
        &server,
    );
    let list = opal.call(&["plugin", "accepted"]).stdout;
    assert!(list.contains(&server.net()) && !list.contains("\"net\""), "{list}");
    // Nobody trusts the directory any more: only the list counts.
    opal.write(".opal/config/accepted.toml", &list);
    opal.call(&["up"]).code(0);
    for file in ["opal.mod", "opal.lock"] {
        let other = opal.read(file).replace(&server.net(), "net:evil.example");
        opal.write(file, other);
    }
    opal.call(&["up"]).code(77).says("accepted");
    // Only the run before asked for anything.
    assert_eq!(server.asked().len(), 1);
}

/// Vault's answers: a store with one secret that can be written once.
fn vault(asked: &Asked, _: usize) -> (u16, String) {
    if asked.header("x-vault-token") != "s.canary-token" {
        return (403, "{\"errors\":[\"permission denied\"]}".to_owned());
    }
    match asked.line.as_str() {
        "GET /v1/secret/data/app/database" => (
            200,
            "{\"data\":{\"data\":{\"user\":\"app\",\"password\":\"canary-5150\"},\
             \"metadata\":{\"version\":3}}}"
                .to_owned(),
        ),
        "POST /v1/secret/data/app/database" => (200, "{\"data\":{\"version\":4}}".to_owned()),
        _ => (404, "{\"errors\":[]}".to_owned()),
    }
}

#[test]
fn a_secret_of_vault_is_read_and_never_shown() {
    let server = Server::start(vault);
    let url = server.url();
    let source = format!(
        "fun length() {{\n    echo -n @vault.kv(\"app/database\", server=\"{url}\", \
         field=\"password\") | wc -c\n}}\n\
         fun shown() {{\n    echo \"it is @vault.kv(\"app/database\", server=\"{url}\", \
         field=\"password\")\"\n}}\n\
         fun gone() {{\n    echo @vault.kv(\"gone\", server=\"{url}\")\n}}\n\
         fun elsewhere() {{\n    echo @vault.kv(\"app\", server=\"http://127.0.0.1:9\")\n}}\n\
         fun rotate() {{\n    let.r = @vault.put(\"app/database\", value=@env.NEW, \
         server=\"{url}\", field=\"password\")\n    echo \"@let.r.version\" > version\n}}\n"
    );
    let opal = added("vault", &source, &server)
        .env("VAULT_TOKEN", "s.canary-token")
        .env("NEW", "canary-\"new\"-6160");
    let info = opal.call(&["plugin", "info", "packages/vault"]);
    info.code(0).says("can send secrets to 127.0.0.1").says("without encryption");
    opal.call(&["length"]).code(0).says("11");
    for args in [&["shown"][..], &["-n", "shown"], &["plan", "shown", "-o", "c.plan"]] {
        let ran = opal.call(args);
        ran.code(0);
        ran.hides("canary");
    }
    opal.call(&["gone"]).code(65).says("there is no secret `secret/gone`");
    let refused = opal.call(&["elsewhere"]);
    refused.code(65).says("was not granted `net:http://127.0.0.1:9`").says("`allow` in opal.mod");
    // Nothing but the parameter says that it is a secret.
    opal.call(&["rotate"]).code(0).hides("canary");
    assert_eq!(opal.read("version"), "4\n");
    let record = opal.call(&["runs", "show", "--json"]);
    record.code(0).hides("canary");
    let short = opal.call_with(&[("NEW", "abc")], &["rotate"]);
    short.code(65).says("E0812").says("`value` takes a secret, and `env.NEW` has fewer than 4");
    let asked = server.asked();
    assert!(asked.iter().all(|it| it.header("x-vault-token") == "s.canary-token"));
    let written = asked.iter().find(|it| it.line.starts_with("POST")).unwrap();
    let body: serde_json::Value = serde_json::from_str(&written.body).unwrap();
    assert_eq!(body["data"]["password"], "canary-\"new\"-6160");
    assert_eq!((&body["data"]["user"], &body["options"]["cas"]), (&"app".into(), &3.into()));
    let wrong = opal.env("VAULT_TOKEN", "s.canary-other");
    let denied = wrong.call(&["shown"]);
    denied.code(65).says("the token may not use `secret/app/database`: permission denied");
    denied.hides("canary");
}

fn github(asked: &Asked, before: usize) -> (u16, String) {
    let host = asked.header("host");
    let release = format!(
        "{{\"id\":7,\"tag_name\":\"v1.2.0\",\"html_url\":\"http://{host}/7\",\"assets\":[],\
         \"upload_url\":\"http://{host}/upload/7/assets{{?name,label}}\"}}"
    );
    match asked.line.as_str() {
        "GET /repos/team/shop/releases/latest" => (200, release),
        "GET /repos/team/shop/releases/tags/v1.2.0" if before == 0 => (404, "{}".to_owned()),
        "GET /repos/team/shop/releases/tags/v1.2.0" => (200, release),
        "POST /repos/team/shop/releases" => (201, release),
        "POST /upload/7/assets?name=SHA256SUMS" => {
            (201, format!("{{\"browser_download_url\":\"http://{host}/SHA256SUMS\"}}"))
        }
        _ => (404, "{\"message\":\"Not Found\"}".to_owned()),
    }
}

#[test]
fn releases_are_made_adopted_and_get_files() {
    let server = Server::start(github);
    let url = server.url();
    let source = format!(
        "fun release() {{\n    let.r = @github.release(\"team/shop\", tag=\"v1.2.0\", \
         notes=\"faster\", server=\"{url}\")\n    echo \"@let.r.url @let.r.created\" > made\n}}\n\
         fun upload() {{\n    @github.upload(\"team/shop\", tag=\"v1.2.0\", \
         file=\"dist/SHA256SUMS\", server=\"{url}\")\n}}\n\
         fun latest() {{\n    echo \"@github.latest(\"team/shop\", server=\"{url}\")\"\n}}\n\
         fun other() {{\n    echo \"@github.latest(\"team/other\", server=\"{url}\")\"\n}}\n"
    );
    let opal = added("github", &source, &server)
        .file("dist/SHA256SUMS", "aa  shop\n")
        .env("GITHUB_TOKEN", "canary-token");
    opal.call(&["release"]).code(0);
    assert_eq!(opal.read("made"), format!("{url}/7 true\n"));
    opal.call(&["release"]).code(0);
    assert_eq!(opal.read("made"), format!("{url}/7 false\n"));
    opal.call(&["upload"]).code(0);
    opal.call(&["latest"]).code(0).says("v1.2.0");
    opal.call(&["other"]).code(65).says("`team/other` has no release");
    let asked = server.asked();
    assert!(asked.iter().all(|it| it.header("authorization") == "Bearer canary-token"));
    let posts: Vec<&Asked> = asked.iter().filter(|it| it.line.starts_with("POST")).collect();
    assert_eq!(posts.len(), 2, "{posts:?}");
    let body: serde_json::Value = serde_json::from_str(&posts[0].body).unwrap();
    assert_eq!((&body["tag_name"], &body["body"]), (&"v1.2.0".into(), &"faster".into()));
    assert_eq!(posts[1].body, "aa  shop\n");
}

#[test]
fn a_run_waits_until_a_service_answers() {
    // The first request is that of `verify`, the second that of the run before it acts.
    let server = Server::start(|_, before| match before {
        0..=3 => (503, "starting".to_owned()),
        _ => (200, "all ok".to_owned()),
    });
    let url = server.url();
    let source = format!(
        "fun up() = @health.http(url=\"{url}/health\", contains=\"ok\", delay=10ms, verify_timeout=10m)\n\
         fun never() = @health.http(url=\"{url}/health\", status=418, attempts=2, delay=10ms, verify_timeout=10m)\n\
         fun gone() = @health.http(url=\"http://127.0.0.1:1/\", attempts=1, verify_timeout=10m)\n"
    );
    let opal = added("health", &source, &server);
    opal.call(&["verify", "up"]).code(1).says("answers 503, not 200");
    opal.call(&["up"]).code(0);
    opal.call(&["verify", "up"]).code(0).says("answers as it should");
    opal.call(&["never"]).says("answers 200, not 418").says("asked 2 times");
    opal.call(&["verify", "gone"]).says("was not granted `net:http://127.0.0.1:1`");
}

/// The page of the guide: its commands and tasks, as they are written there.
#[test]
fn the_tasks_of_the_guide_are_checked_and_planned() {
    let page = crate::support::repository().join("docs/guide/packages.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 6);
    for pair in blocks.chunks(2) {
        let (add, tasks) = (pair[0], pair[1]);
        let words: Vec<&str> = add.split_whitespace().skip(1).collect();
        let name = words[2].strip_prefix("./packages/").unwrap();
        let opal = project(name, tasks).env("NEW_PASSWORD", "a-new-password");
        opal.call(&words).code(0);
        opal.call(&["check"]).code(0);
        for task in tasks.lines().filter_map(|it| it.strip_prefix("fun ")?.split_once('(')) {
            let needs = if task.1.starts_with("version") { vec!["1.2.0"] } else { Vec::new() };
            let args = [vec!["-n", task.0], needs].concat();
            opal.call(&args).code(0).says(&format!("@{name}."));
        }
    }
}
