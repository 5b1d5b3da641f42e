//! Registries on servers.

use std::fs;

use super::servers::{DockerRegistry, Puts, WebServer};
use super::{Author, files};

#[test]
fn a_web_server_that_takes_files_has_the_same_registry_as_a_directory() {
    let author = Author::new();
    author.version("1.0.0+build.1");
    let folder = author.opal.path().join("web");
    let server = WebServer::start(&folder, Puts::Take);
    author.publish_to(&server.address, &[]).code(0).says("published acme/vault 1.0.0+build.1");
    author.publish_to(&server.address, &[]).code(78).says("already has");
    author.version("1.1.0");
    author.publish_to(&server.address, &[]).code(0);
    let to = server.address.as_str();
    author.opal.call(&["plugin", "yank", "acme/vault@1.1.0", "--to", to]).code(0);
    let author = Author { registry: folder, ..author };
    assert_eq!(author.index(&author.key("signing")).number, 3);
    assert!(author.vouched("1.0.0+build.1").publishers.contains(&author.key("signing")));
    assert!(author.versions().all()[1].yanked.is_some());
    // Whoever can write to the server could have removed the signature.
    let file = author.registry.join("index.json");
    let text = fs::read_to_string(&file).unwrap();
    let (start, _) = text.split_once("\"signatures\":").unwrap();
    fs::write(&file, format!("{start}\"signatures\":[]}}\n")).unwrap();
    author.version("1.2.0");
    author.publish_to(&server.address, &[]).code(77).says("is not signed");
}

#[test]
fn a_server_that_takes_no_files_says_what_to_do_and_has_no_new_version() {
    for (puts, code, said) in [
        (Puts::Refuse, 69, "--to file:DIR"),
        (Puts::Deny, 77, "does not let you write"),
        (Puts::Conflict, 69, "run the command again"),
    ] {
        let author = Author::new();
        let folder = author.opal.path().join("web");
        fs::create_dir(&folder).unwrap();
        let server = WebServer::start(&folder, puts);
        author.publish_to(&server.address, &[]).code(code).says(said);
        assert!(files(&folder).iter().all(|(path, _)| !path.ends_with("versions.json")));
    }
    let author = Author::new();
    author.publish_to("http://127.0.0.1:1", &[]).code(69);
    author.publish_to("http://reg.example", &[]).code(2).says("is not the address of a registry");
}

#[test]
fn docker_registry_takes_versions_reports_and_yanks() {
    let Some(server) = DockerRegistry::start("") else { return };
    let author = Author::new();
    author.version("1.0.0+build.1");
    let to = format!("oci://{}/opal", server.host);
    let said = author.publish_to(&to, &["--json"]).code(0).json();
    assert_eq!(said["registry"], to);
    author.publish_to(&to, &[]).code(78).says("already has acme/vault 1.0.0+build.1");
    author.opal.call(&["plugin", "verify", "vault", "--report", "report.json"]).code(0);
    author.publish_to(&to, &["--attest", "--report", "report.json"]).code(0);
    let yank = |more: &[&str]| {
        let own = ["plugin", "yank", "acme/vault@1.0.0+build.1", "--to", &to];
        author.opal.call(&[&own[..], more].concat())
    };
    yank(&["--reason", "broken"]).code(0).says("yanked acme/vault");
    yank(&[]).code(0).says("was yanked already");
    yank(&["--undo"]).code(0).says("can be used again");
    yank(&["--undo"]).code(0).says("was not yanked");
    author.opal.call(&["plugin", "yank", "acme/vault@9.0.0", "--to", &to]).code(69);
    author.opal.call(&["plugin", "publish", "--refresh", "--to", &to]).code(78).says("no index");
    let tags = get(&server.host, "/v2/opal/acme/vault/tags/list");
    for tag in ["\"1.0.0_build.1\"", "\"attest-1.0.0_build.1\"", "\"yanked-1.0.0_build.1\""] {
        assert!(tags.contains(tag), "{tags}");
    }
}

#[test]
fn an_oci_registry_that_is_read_only_says_so() {
    let more = "  maintenance:\n    readonly:\n      enabled: true\n";
    let Some(server) = DockerRegistry::start(more) else { return };
    let author = Author::new();
    let to = format!("oci://{}/opal", server.host);
    author.publish_to(&to, &[]).code(69).says("is read-only");
}

fn get(host: &str, path: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}
