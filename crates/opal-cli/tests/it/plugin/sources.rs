//! Hostile sources: each is refused with its reason and its exit code, and nothing is written.
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use opal_registry::format::{INDEX_TYPE, Index, Sha256};
use opal_trust::dsse::Envelope;
use opal_trust::keys::SigningKey;

use super::shelf::Shelf;
use crate::support::Opal;

const HI: &str = "fun hi() = @vault.hello()\n";

/// One entry of a tar file, whatever its name.
fn entry(name: &str, kind: u8, link: &str, size: u64) -> Vec<u8> {
    let mut head = [0_u8; 512];
    head[..name.len()].copy_from_slice(name.as_bytes());
    head[100..107].copy_from_slice(b"0000644");
    head[108..115].copy_from_slice(b"0000000");
    head[116..123].copy_from_slice(b"0000000");
    head[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    head[136..147].copy_from_slice(b"00000000000");
    head[148..156].copy_from_slice(b"        ");
    head[156] = kind;
    head[157..157 + link.len()].copy_from_slice(link.as_bytes());
    head[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut whole = head.to_vec();
    whole.resize(512 + usize::try_from(size.div_ceil(512) * 512).unwrap(), 0);
    whole
}

fn gzip(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len() + 1024, 0);
    let mut child = Command::new("gzip")
        .arg("-nc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(&bytes));
    let packed = child.wait_with_output().unwrap().stdout;
    writer.join().unwrap().unwrap();
    packed
}

#[test]
fn an_archive_that_could_write_elsewhere_or_fill_the_disk_is_refused() {
    let many: Vec<u8> =
        (0..10_001).flat_map(|at| entry(&format!("tests/{at}"), b'0', "", 0)).collect();
    let escape = [entry("../../escaped", b'0', "", 0)].concat();
    for (what, bytes) in [
        ("a way out", gzip(escape)),
        ("a whole path", gzip(entry("/tmp/escaped", b'0', "", 0))),
        ("a symlink", gzip(entry("decorators/x.opl", b'2', "/etc/passwd", 0))),
        ("a hard link", gzip(entry("decorators/x.opl", b'1', "/etc/passwd", 0))),
        ("a device", gzip(entry("decorators/x.opl", b'3', "", 0))),
        ("a newline in a name", gzip(entry("decorators/a\nb.opl", b'0', "", 0))),
        ("a script beside it", gzip(entry("install.sh", b'0', "", 0))),
        ("a bomb", gzip(entry("tests/large", b'0', "", 80 << 20))),
        ("more than 10,000 files", gzip(many)),
        ("not gzip", b"plain text".to_vec()),
        ("cut off", gzip(entry("opal.toml", b'0', "", 100))[..40].to_vec()),
    ] {
        let shelf = Shelf::new();
        let package = Shelf::package("acme/vault", "1.0.0", &[]);
        shelf.put_bytes("acme/vault", "1.0.0", &[], &package, bytes, |_| {});
        let opal = shelf.project(HI, &["acme"]);
        let ran = opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]);
        assert_eq!(ran.code, 65, "{what}: {ran:?}");
        ran.says("acme/vault 1.0.0 is not a package");
        assert!(!opal.path().join("opal.lock").exists(), "{what}");
        assert!(!opal.path().join(".opal/escaped").exists(), "{what}");
    }
}

fn added() -> (Shelf, Opal) {
    let shelf = Shelf::new();
    shelf.publish("acme/vault", "1.0.0", &[]);
    let opal = shelf.project(HI, &["acme"]);
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]).code(0);
    (shelf, opal)
}

fn plugins(opal: &Opal) -> PathBuf {
    opal.path().join(".opal/plugins")
}

fn kept(opal: &Opal) -> PathBuf {
    fs::read_dir(plugins(opal)).unwrap().next().unwrap().unwrap().path()
}

fn forget(opal: &Opal) {
    fs::remove_dir_all(plugins(opal)).unwrap();
}

#[test]
fn what_was_changed_after_it_was_locked_is_refused() {
    type Change = dyn Fn(&Shelf, &Opal);
    let cases: [(&str, &[&str], i32, &str, &Change); 7] = [
        ("a cached file", &["hi"], 77, "its files have changed", &|_, opal| {
            fs::write(kept(opal).join("decorators/hello.opl"), "fun vault.hello() = id\n").unwrap();
        }),
        ("a file more in the cache", &["hi"], 77, "its files have changed", &|_, opal| {
            fs::write(kept(opal).join("decorators/more.opl"), "fun vault.more() = id\n").unwrap();
        }),
        ("the archive", &["plugin", "install"], 77, "the archive has changed", &|shelf, opal| {
            forget(opal);
            let file = shelf.path().join("acme/vault/1.0.0/plugin.tar.gz");
            let mut bytes = fs::read(&file).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(file, bytes).unwrap();
        }),
        ("the version", &["plugin", "install"], 77, "another checksum", &|shelf, opal| {
            forget(opal);
            fs::remove_file(shelf.path().join("acme/vault/versions.json")).unwrap();
            let other = Shelf::package("acme/vault", "1.0.0", &[("acme/more", "1")]);
            shelf.put("acme/vault", "1.0.0", &[], &other, |_| {});
        }),
        ("the checksum in the lock", &["hi"], 69, "is not installed", &|_, opal| {
            let lock = opal.read("opal.lock");
            let at = lock.find("sha256:").unwrap() + 7;
            opal.write("opal.lock", [&lock[..at], &"0".repeat(64), &lock[at + 64..]].concat());
        }),
        (
            "the version in the lock",
            &["hi"],
            77,
            "its files are of acme/vault 1.0.0",
            &|_, opal| {
                opal.write("opal.lock", opal.read("opal.lock").replace("\"1.0.0\"", "\"1.0.1\""));
            },
        ),
        ("the registry in opal.mod", &["hi"], 78, "belongs to", &|_, opal| {
            let text = opal.read("opal.mod").replace("acme = \"file:", "acme = \"file:/elsewhere");
            opal.write("opal.mod", text);
        }),
    ];
    for (what, words, code, says, change) in cases {
        let (shelf, opal) = added();
        change(&shelf, &opal);
        let ran = opal.call(words);
        assert_eq!(ran.code, code, "{what}: {ran:?}");
        ran.says(says);
    }
}

#[test]
fn a_lock_that_was_changed_together_with_the_list_accepts_nothing() {
    let (shelf, opal) = added();
    shelf.publish("acme/vault", "1.1.0", &[]);
    let old = shelf.list_of("acme/vault", "1.0.0", &Shelf::package("acme/vault", "1.0.0", &[]));
    let evil = Shelf::package("acme/vault", "1.1.0", &[]).checksum().hex();
    let lock = opal.read("opal.lock").replace("1.0.0", "1.1.0");
    let at = lock.find("sha256:").unwrap() + 7;
    opal.write("opal.lock", [&lock[..at], &evil, &lock[at + 64..]].concat());
    fs::remove_dir_all(opal.path().join(".opal")).unwrap();
    let ran = opal.call(&["plugin", "install", "--accept", &old]);
    ran.code(77).says("the list does not accept acme/vault 1.1.0");
    // A list that came with the checkout does not count.
    opal.write("accepted.toml", fs::read_to_string(shelf.list()).unwrap());
    let ran = opal.call(&["plugin", "install", "--accept", "accepted.toml"]);
    ran.code(77).says("is in the checkout whose packages it would accept");
    opal.call(&["hi"]).code(77);
}

#[test]
fn a_dependency_comes_from_no_registry_that_the_project_did_not_name_for_it() {
    let shelf = Shelf::new();
    shelf.publish("base/text", "1.0.0", &[]);
    shelf.publish("acme/vault", "1.0.0", &[("base/text", "1")]);
    let opal = shelf.project(HI, &["acme", "default"]);
    let ran = opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]);
    ran.code(78).says("acme/vault 1.0.0 needs base/text, and opal.mod has no registry for `base`");
    let opal = shelf.project(HI, &["other"]);
    let ran = opal.call(&["plugin", "add", "acme/vault@1"]);
    ran.code(78).says("opal.mod has no registry for `acme/vault`");
}

#[test]
fn a_registry_of_the_policy_wins_over_that_of_the_project() {
    let (bound, own) = (Shelf::new(), Shelf::new());
    bound.publish("acme/vault", "1.0.0", &[]);
    own.publish("acme/vault", "1.9.0", &[]);
    let opal = own.project(HI, &["acme"]);
    let policy = format!("[plugins.registries]\nacme = \"{}\"\n", bound.address());
    fs::create_dir_all(opal.path().join(".opal/config")).unwrap();
    opal.write(".opal/config/policy.toml", &policy);
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &bound.list()]).code(0).says("1.0.0");
    opal.call(&["hi"]).code(0).stdout("acme/vault 1.0.0\n");
    // Locked from elsewhere: refused.
    let elsewhere = own.project(HI, &["acme"]);
    elsewhere.call(&["plugin", "add", "acme/vault@1", "--accept", &own.list()]).code(0);
    elsewhere.write(".opal/config/policy.toml", &policy);
    elsewhere.call(&["hi"]).code(78).says("belongs to");
}

/// A registry with a signed index.
fn sign(shelf: &Shelf, key: &SigningKey, number: u64, expires: u64) {
    let versions = fs::read(shelf.path().join("acme/vault/versions.json"));
    let packages = versions.map(|bytes| {
        serde_json::json!([{
            "name": "acme/vault", "versions": Sha256::of(&bytes).to_string(), "latest": "1.0.0",
            "summary": "Reads secrets", "decorators": ["vault.hello"],
        }])
    });
    let index = serde_json::json!({
        "format": "opal-index-v1", "number": number, "issued": 1, "expires": expires, "verifiers": [],
        "packages": packages.unwrap_or_else(|_| serde_json::json!([])),
    });
    let index = Index::parse(index.to_string().as_bytes()).unwrap();
    let mut envelope = Envelope::new(INDEX_TYPE, index.to_bytes());
    envelope.sign(key);
    fs::write(shelf.path().join("index.json"), envelope.to_line()).unwrap();
}

const LATER: u64 = 9_999_999_999;

#[test]
fn an_index_that_is_old_expired_incomplete_or_not_signed_is_refused() {
    type Change = dyn Fn(&Shelf, &SigningKey);
    let cases: [(&str, &str, &Change); 7] = [
        ("rolled back", "has index 4, and this machine has seen 5", &|shelf, key| {
            sign(shelf, key, 4, LATER);
        }),
        ("expired", "has an index that has expired", &|shelf, key| sign(shelf, key, 6, 2)),
        (
            "a hidden yank",
            "has other versions of acme/vault than its index lists",
            &|shelf, key| {
                shelf.yank("acme/vault", "1.0.0");
                sign(shelf, key, 6, LATER);
                shelf.change("acme/vault", |versions| {
                    versions.get_mut(&"1.0.0".parse().unwrap()).unwrap().yanked = None;
                });
            },
        ),
        ("not listed", "which its index does not list", &|shelf, key| {
            let file = shelf.path().join("acme/vault/versions.json");
            let bytes = fs::read(&file).unwrap();
            fs::remove_file(&file).unwrap();
            sign(shelf, key, 6, LATER);
            fs::write(file, bytes).unwrap();
        }),
        ("another key", "is not signed by ed25519:", &|shelf, _| {
            sign(shelf, &SigningKey::generate(), 6, LATER);
        }),
        ("no index", "has no index, and a key is known for it", &|shelf, _| {
            fs::remove_file(shelf.path().join("index.json")).unwrap();
        }),
        ("not an index", "is not signed by", &|shelf, _| {
            fs::write(shelf.path().join("index.json"), "{}").unwrap();
        }),
    ];
    for (what, says, change) in cases {
        let key = SigningKey::generate();
        let shelf = Shelf::new();
        shelf.publish("acme/vault", "1.0.0", &[]);
        sign(&shelf, &key, 5, LATER);
        let opal = shelf.project(HI, &["acme"]);
        let policy = format!("[plugins.keys]\n\"{}\" = \"{}\"\n", shelf.address(), key.public());
        fs::create_dir_all(opal.path().join(".opal/config")).unwrap();
        opal.write(".opal/config/policy.toml", policy);
        let ran = opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]);
        ran.code(0).hides("freshness not checked");
        let search = opal.call(&["plugin", "search", "secrets"]);
        search.code(0).stdout("acme/vault 1.0.0  Reads secrets\n");
        change(&shelf, &key);
        let ran = opal.call(&["plugin", "update"]);
        assert_eq!(ran.code, 77, "{what}: {ran:?}");
        ran.says(says);
        opal.call(&["hi"]).code(0);
    }
}

#[test]
fn a_registry_that_a_project_names_gets_no_credentials_of_another_host() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let mut heads = Vec::new();
        for stream in listener.incoming().take(2) {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> =
                lines.map_while(Result::ok).take_while(|it| !it.is_empty()).collect();
            let is_last = head.first().is_some_and(|line| line.contains("stop"));
            heads.push(head.join("\n"));
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                          Content-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            if is_last {
                break;
            }
        }
        heads
    });
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".docker")).unwrap();
    let docker = r#"{"auths": {"reg.example": {"auth": "dXNlcjpjYW5hcnk="}}}"#;
    fs::write(home.path().join(".docker/config.json"), docker).unwrap();
    let opal = super::rooted(HI).env("HOME", home.path().to_str().unwrap()).env("TOKEN", "canary");
    let opal =
        opal.file("opal.mod", format!("[registries]\nacme = \"oci://127.0.0.1:{port}/opal\"\n"));
    fs::create_dir_all(opal.path().join(".opal/config")).unwrap();
    opal.write(
        ".opal/config/registries.toml",
        "[credentials.\"reg.example\"]\nenvironment = \"TOKEN\"\n[credentials.\"other.example\"]\ncommand = \"echo canary\"\n",
    );
    let ran = opal.call(&["plugin", "add", "acme/vault@1"]);
    ran.code(77).says("asks for credentials");
    let _ = std::net::TcpStream::connect(("127.0.0.1", port))
        .map(|mut stream| stream.write_all(b"GET /stop HTTP/1.1\r\n\r\n"));
    let heads = server.join().unwrap().join("\n");
    assert!(!heads.to_lowercase().contains("authorization"), "{heads}");
    assert!(
        !heads.contains("canary") && heads.contains("/v2/opal/acme/vault/tags/list"),
        "{heads}"
    );
    // And a project cannot name any.
    for text in [
        "[registries]\nacme = \"https://user:pass@acme.example\"\n",
        "[registries]\nacme = { url = \"https://acme.example\", token = \"x\" }\n",
    ] {
        opal.write("opal.mod", text);
        opal.call(&["plugin", "add", "acme/vault@1"]).code(78);
    }
}
