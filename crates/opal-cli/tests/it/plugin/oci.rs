//! Packages of an OCI registry: the real `docker-registry`, with and without a password.
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use opal_registry::archive;
use opal_registry::format::oci::{self, EMPTY, OciManifest};
use opal_registry::format::{PackageName, Sha256, VersionEntry, Visible, Yank};
use opal_testing::processes::eventually;

use super::shelf::Shelf;
use crate::support::Opal;

const HI: &str = "fun hi() = @vault.hello()\n";
const SPACE: &str = "opal/acme/vault";

/// It ends when it is dropped.
struct Server {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
    user: Option<&'static str>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(user: Option<&'static str>) -> Option<Self> {
        let program = Path::new("/usr/bin/docker-registry");
        let has_all = program.exists() && Path::new("/usr/bin/curl").exists();
        if !opal_testing::needs::has("docker-registry and curl", has_all) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut config = format!(
            "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: 127.0.0.1:{port}\n",
            folder.path().join("data").display()
        );
        if user.is_some() {
            // `user` and `pass`, as htpasswd writes it.
            let line = Command::new("perl")
                .args([
                    "-e",
                    r#"print "user:", crypt("pass", '$2b$05$abcdefghijklmnopqrstuu'), "\n""#,
                ])
                .output()
                .unwrap();
            fs::write(folder.path().join("htpasswd"), line.stdout).unwrap();
            config.push_str(&format!(
                "auth:\n  htpasswd:\n    realm: test\n    path: {}\n",
                folder.path().join("htpasswd").display()
            ));
        }
        fs::write(folder.path().join("config.yml"), config).unwrap();
        let child = Command::new(program)
            .arg("serve")
            .arg(folder.path().join("config.yml"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, port, folder, user };
        eventually("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(server)
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
        let url = format!("http://127.0.0.1:{}/v2/{SPACE}/blobs/uploads/", self.port);
        let head = self.curl(&["-X", "POST", "-D", "-", "-o", "/dev/null", &url]);
        let line = head.lines().find(|it| it.to_lowercase().starts_with("location:")).unwrap();
        let place = line.split_once(':').unwrap().1.trim();
        let place = format!("{place}&digest={}", Sha256::of(bytes));
        let type_ = "Content-Type: application/octet-stream";
        self.curl(&["-X", "PUT", "-H", type_, "--data-binary", &self.file(bytes), &place]);
    }

    fn tag(&self, tag: &str, manifest: &OciManifest) {
        let url = format!("http://127.0.0.1:{}/v2/{SPACE}/manifests/{tag}", self.port);
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
        let text = format!("[registries]\nacme = \"oci://127.0.0.1:{}/opal\"\n", self.port);
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
    let port = server.port;
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
    let host = format!("127.0.0.1:{}", server.port);
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
