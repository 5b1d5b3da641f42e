//! Registries, git repositories and requests of plugins over https, with an authority of our own; OCI registries
//! that give tokens, and programs that keep passwords.
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use super::publish::Author;
use super::publish::servers::DockerRegistry;
use super::rooted;
use super::secure::{Secure, run};
use super::shelf::Shelf;
use super::wasm::{decorator, project};
use crate::support::Opal;

const HI: &str = "fun hi() = @tool.hello()\n";

#[test]
fn a_registry_over_https_is_trusted_by_the_authority_that_the_user_names() {
    let shelf = Shelf::new();
    shelf.publish("acme/tool", "1.0.0", &[]);
    let Some(server) = Secure::start(&shelf.path()) else { return };
    let (list, authority) = (shelf.list(), server.authority());
    let opal =
        rooted(HI).file("opal.mod", format!("[registries]\nacme = \"https://{}\"\n", server.host));
    let add = ["plugin", "add", "acme/tool@1.0.0", "--accept", &list];
    opal.call(&add).code(69).says("invalid certificate").says("SSL_CERT_FILE");
    for (file, says) in [
        (server.file("names"), "has no certificate"),
        (server.file("none"), "cannot be read"),
        (server.file(""), "cannot be read"),
    ] {
        let file = file.display().to_string();
        opal.call_with(&[("SSL_CERT_FILE", &file)], &add).code(69).says(says);
    }
    let other = Secure::start(&shelf.path()).unwrap();
    let another = [("SSL_CERT_FILE", &*other.authority())];
    opal.call_with(&another, &add).code(69).says("invalid certificate");
    let env = [("SSL_CERT_FILE", authority.as_str())];
    opal.call_with(&env, &add).code(0).says("added acme/tool 1.0.0");
    opal.call(&["hi"]).code(0).stdout("acme/tool 1.0.0\n");
    opal.call_with(&env, &["plugin", "info", "acme/tool"]).code(0).says("1.0.0");
}

#[test]
fn pages_and_requests_of_plugins_use_the_same_authorities() {
    let served = tempfile::tempdir().unwrap();
    fs::write(served.path().join("page"), "from the page").unwrap();
    let Some(server) = Secure::start(served.path()) else { return };
    let host = &server.host;
    let fetch = format!(
        "  returns: {{version: 1.0.0, type: string}}\n  x-opal-capabilities: [\"net:{host} private\"]\n"
    );
    let opal = project();
    opal.write("guest/dim.yaml", opal.read("guest/dim.yaml") + &decorator("fetch", &fetch));
    opal.write(
        "commands.opl",
        format!(
            "fun page() = echo @http.get(\"https://{host}/page\", public=true)\n\
             fun package() = echo @guest.fetch(\"GET https://{host}/page\")\n"
        ),
    );
    opal.call(&["plugin", "install"]).code(0);
    let authority = server.authority();
    for task in ["page", "package"] {
        opal.call(&[task]).code(65).says("invalid certificate");
        let ran = opal.call_with(&[("SSL_CERT_FILE", &authority)], &[task]);
        ran.code(0);
        assert!(ran.stdout.contains("from the page"), "{task}: {}", ran.stdout);
    }
}

fn git(folder: &std::path::Path, words: &[&str]) {
    let own =
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"];
    run(folder, &[&own[..], words].concat());
}

#[test]
fn a_directory_of_a_repository_is_fetched_over_https() {
    let served = tempfile::tempdir().unwrap();
    let Some(server) = Secure::start(served.path()) else { return };
    let work = served.path().join("work");
    let package = Shelf::package("acme/tool", "1.0.0", &[]);
    for (path, _, bytes) in package.files() {
        let file = work.join("extra/deep").join(path.as_str());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    fs::write(work.join("README"), "not a package").unwrap();
    git(&work, &["init", "--quiet", "--initial-branch=main", "."]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "--quiet", "-m", "first"]);
    git(&work, &["tag", "v1.0.0"]);
    fs::create_dir(served.path().join("git")).unwrap();
    git(served.path(), &["clone", "--quiet", "--bare", "work", "git/tools"]);
    let shelf = Shelf::new();
    fs::create_dir_all(shelf.path()).unwrap();
    let list = shelf.list_of("acme/tool", "1.0.0", &package);
    let opal = rooted(HI).file("opal.mod", "name = \"shop\"\n");
    let place = format!("{}/git/tools/extra/deep@v1.0.0", server.host);
    let add = ["plugin", "add", &place, "--accept", &list];
    opal.call(&add).code(69).says("cannot be fetched");
    let authority = server.authority();
    let env = [("GIT_SSL_CAINFO", authority.as_str())];
    opal.call_with(&env, &add).code(0).says("added acme/tool 1.0.0");
    let lock = opal.read("opal.lock");
    let source = format!("git+https://{}/git/tools?dir=extra/deep&tag=v1.0.0#", server.host);
    assert!(lock.contains(&source), "{lock}");
    opal.call(&["hi"]).code(0).stdout("acme/tool 1.0.0\n");
    opal.call(&["-n", "hi"]).code(0).says(&format!("git:{}/git/tools", server.host));
    let missing = format!("{}/git/tools/none@v1.0.0", server.host);
    let other = rooted(HI).file("opal.mod", "name = \"shop\"\n");
    let ran = other.call_with(&env, &["plugin", "add", &missing, "--accept", &list]);
    ran.code(69).says("has no directory `none`");
}

/// A registry that sends whoever has no token to our server.
fn tokens(server: &Secure) -> Option<DockerRegistry> {
    DockerRegistry::start(&format!(
        "auth:\n  token:\n    realm: https://{}/token\n    service: packages\n    issuer: tests\n    \
         rootcertbundle: {}\n",
        server.host,
        server.authority()
    ))
}

fn with_password(opal: &Opal, host: &str, line: &str) {
    fs::create_dir_all(opal.path().join(".opal/config")).unwrap();
    let text = format!("[credentials.\"{host}\"]\n{line}\n");
    opal.write(".opal/config/registries.toml", text);
}

#[test]
fn an_oci_registry_that_gives_tokens_gets_them_for_the_users_password() {
    let served = tempfile::tempdir().unwrap();
    let Some(server) = Secure::start(served.path()) else { return };
    let Some(registry) = tokens(&server) else { return };
    let to = format!("oci://{}/opal", registry.host);
    let author = Author::new();
    let authority = server.authority();
    let env = [("SSL_CERT_FILE", authority.as_str())];
    let publish = ["plugin", "publish", "vault", "--to", &to];
    author.opal.call_with(&env, &publish).code(77).says("asks for credentials");
    with_password(&author.opal, &registry.host, "command = \"echo user:wrong\"");
    author.opal.call_with(&env, &publish).code(77).hides("user:wrong");
    with_password(&author.opal, &registry.host, "command = \"echo user:pass\"");
    // The server of tokens is asked over https, and its certificate counts.
    author.opal.call(&publish).code(69).says("invalid certificate");
    author.opal.call_with(&env, &publish).code(0).says("published acme/vault");
    let opal = rooted("").file("opal.mod", format!("[registries]\nacme = \"{to}\"\n"));
    opal.call_with(&env, &["plugin", "info", "acme/vault"]).code(77);
    with_password(&opal, &registry.host, "command = \"echo user:pass\"");
    opal.call_with(&env, &["plugin", "info", "acme/vault"]).code(0).says("1.0.0");
}

#[test]
fn a_password_is_not_sent_to_a_server_of_tokens_without_https() {
    use std::io::{Read as _, Write as _};
    let thief = TcpListener::bind("127.0.0.1:0").unwrap();
    thief.set_nonblocking(true).unwrap();
    let realm = format!("http://{}/token", thief.local_addr().unwrap());
    let registry = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = registry.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in registry.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let head = format!(
                "HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer realm=\"{realm}\",service=\"x\"\r\n\
                 Content-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(head.as_bytes());
        }
    });
    let opal = rooted("").file("opal.mod", format!("[registries]\nacme = \"oci://{host}/opal\"\n"));
    with_password(&opal, &host, "command = \"echo user:pass\"");
    opal.call(&["plugin", "info", "acme/vault"]).code(77).says("asks for credentials");
    assert!(thief.accept().is_err());
}

#[test]
fn a_program_of_dockers_configuration_keeps_the_password() {
    let Some(registry) = DockerRegistry::with_password() else { return };
    let to = format!("oci://{}/opal", registry.host);
    let author = Author::new();
    with_password(&author.opal, &registry.host, "command = \"echo user:pass\"");
    author.publish_to(&to, &[]).code(0);
    let home = tempfile::tempdir().unwrap();
    let program = home.path().join("docker-credential-safe");
    let path = format!("{}:{}", home.path().display(), std::env::var("PATH").unwrap());
    let config = home.path().display().to_string();
    let answers = |text: &str| {
        fs::write(&program, format!("#!/bin/sh\ncat > {config}/asked\n{text}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let right = "echo '{\"ServerURL\":\"x\",\"Username\":\"user\",\"Secret\":\"pass\"}'";
    let host = &registry.host;
    for (file, text, code) in [
        (format!("{{\"credHelpers\":{{\"{host}\":\"safe\"}}}}"), right, 0),
        (format!("{{\"credsStore\":\"safe\",\"auths\":{{\"{host}\":{{}}}}}}"), right, 0),
        // For another host it is not asked, and neither is one that fails.
        ("{\"credHelpers\":{\"reg.example\":\"safe\"}}".to_owned(), right, 77),
        (format!("{{\"credHelpers\":{{\"{host}\":\"safe\"}}}}"), "exit 1", 77),
        (format!("{{\"credHelpers\":{{\"{host}\":\"none\"}}}}"), right, 69),
    ] {
        answers(text);
        fs::write(home.path().join("config.json"), &file).unwrap();
        let opal = rooted("").file("opal.mod", format!("[registries]\nacme = \"{to}\"\n"));
        let env = [("DOCKER_CONFIG", config.as_str()), ("PATH", path.as_str())];
        let ran = opal.call_with(&env, &["plugin", "info", "acme/vault"]);
        assert_eq!(ran.code, code, "{file}: {}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(home.path().join("asked")).unwrap(), *host);
}
