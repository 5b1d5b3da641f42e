//! Packages of an OCI registry: the real `docker-registry`, with and without a password.
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

use std::fs;
use std::process::Command;

use opal_registry::archive;
use opal_registry::format::oci::{self, EMPTY, OciManifest};
use opal_registry::format::{PackageName, Sha256, VersionEntry, Visible, Yank};
use opal_testing::needs;

use super::publish::servers::DockerRegistry;
use super::shelf::Shelf;
use crate::support::Opal;

const HI: &str = "fun hi() = @vault.hello()\n";
const SPACE: &str = "opal/acme/vault";

struct Server {
    registry: DockerRegistry,
    folder: tempfile::TempDir,
    user: Option<&'static str>,
}

impl Server {
    fn start(user: Option<&'static str>) -> Option<Self> {
        if !needs::program("curl") {
            return None;
        }
        let registry = match user {
            Some(_) => DockerRegistry::with_password()?,
            None => DockerRegistry::start("")?,
        };
        Some(Self { registry, folder: tempfile::tempdir().unwrap(), user })
    }

    fn curl(&self, words: &[&str]) -> String {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--fail"]);
        if let Some(user) = self.user {
            command.args(["--user", user]);
        }
        let ran = command.args(words).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    fn file(&self, bytes: &[u8]) -> String {
        let file = self.folder.path().join("upload");
        fs::write(&file, bytes).unwrap();
        format!("@{}", file.display())
    }

    fn blob(&self, bytes: &[u8]) {
        let url = format!("http://{}/v2/{SPACE}/blobs/uploads/", self.registry.host);
        let head = self.curl(&["-X", "POST", "-D", "-", "-o", "/dev/null", &url]);
        let line = head.lines().find(|it| it.to_lowercase().starts_with("location:")).unwrap();
        let place = line.split_once(':').unwrap().1.trim();
        let place = format!("{place}&digest={}", Sha256::of(bytes));
        let type_ = "Content-Type: application/octet-stream";
        self.curl(&["-X", "PUT", "-H", type_, "--data-binary", &self.file(bytes), &place]);
    }

    fn tag(&self, tag: &str, manifest: &OciManifest) {
        let url = format!("http://{}/v2/{SPACE}/manifests/{tag}", self.registry.host);
        let type_ = format!("Content-Type: {}", oci::MANIFEST_TYPE);
        let file = self.file(&manifest.to_bytes());
        self.curl(&["-X", "PUT", "-H", &type_, "--data-binary", &file, &url]);
    }

    fn publish(&self, version: &str) {
        let package = Shelf::package("acme/vault", version, &[]);
        let bytes = archive::write(&package);
        let entry = VersionEntry {
            version: version.parse().unwrap(),
            checksum: Sha256(package.checksum()),
            archive: Sha256::of(&bytes),
            size: bytes.len() as u64,
            published: 1,
            min_core: None,
            requires: Vec::new(),
            yanked: None,
        };
        let name: PackageName = "acme/vault".parse().unwrap();
        for blob in [&bytes[..], EMPTY] {
            self.blob(blob);
        }
        self.tag(&oci::tag(&entry.version), &OciManifest::of_version(&name, &entry, EMPTY));
    }

    fn yank(&self, version: &str) {
        let yank = Yank { reason: "broken".parse::<Visible>().unwrap(), at: 2 };
        self.tag(&oci::yanked_tag(&version.parse().unwrap()), &OciManifest::of_yank(Some(&yank)));
    }

    fn project(&self) -> Opal {
        let text = format!("[registries]\nacme = \"oci://{}/opal\"\n", self.registry.host);
        super::rooted(HI).file("opal.mod", text)
    }
}

fn list(versions: &[&str]) -> (Shelf, String) {
    let shelf = Shelf::new();
    versions.iter().for_each(|version| shelf.publish("acme/vault", version, &[]));
    let list = shelf.list();
    (shelf, list)
}

#[test]
fn a_package_of_an_oci_registry_is_locked_and_used_without_it() {
    let Some(server) = Server::start(None) else { return };
    ["1.0.0", "1.1.0", "1.2.0"].into_iter().for_each(|version| server.publish(version));
    server.yank("1.2.0");
    let (_shelf, list) = list(&["1.0.0", "1.1.0", "1.2.0"]);
    let opal = server.project();
    let ran = opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]);
    ran.code(0).says("added acme/vault 1.1.0");
    let port = server.registry.port().to_owned();
    assert!(opal.read("opal.lock").contains(&format!("\"registry+oci://127.0.0.1:{port}/opal\"")));
    opal.call(&["plugin", "info", "acme/none"]).code(69);
    drop(server);
    opal.call(&["hi"]).code(0).stdout("acme/vault 1.1.0\n");
    opal.call(&["-n", "hi"]).code(0).says(&format!("(registry:127.0.0.1:{port})"));
}

#[test]
fn credentials_of_a_host_come_from_docker_a_variable_or_a_command() {
    let Some(server) = Server::start(Some("user:pass")) else { return };
    server.publish("1.0.0");
    let (_shelf, list) = list(&["1.0.0"]);
    let host = server.registry.host.clone();
    let add = |opal: &Opal| opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]);
    add(&server.project()).code(77).says("asks for credentials");
    let settings = |opal: &Opal, line: &str| {
        fs::create_dir_all(opal.path().join(".opal/config")).unwrap();
        let text = format!("[credentials.\"{host}\"]\n{line}\n");
        opal.write(".opal/config/registries.toml", text);
    };
    let opal = server.project().env("REG", "user:pass");
    settings(&opal, "environment = \"REG\"");
    add(&opal).code(0);
    let opal = server.project();
    settings(&opal, "command = \"echo user:pass\"");
    add(&opal).code(0);
    let opal = server.project();
    settings(&opal, "command = \"echo user:wrong\"");
    add(&opal).code(77).hides("user:wrong");
    let home = tempfile::tempdir().unwrap();
    let docker = format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"dXNlcjpwYXNz\"}}}}}}");
    fs::write(home.path().join("config.json"), docker).unwrap();
    let opal = server.project().env("DOCKER_CONFIG", home.path().to_str().unwrap());
    add(&opal).code(0);
}
