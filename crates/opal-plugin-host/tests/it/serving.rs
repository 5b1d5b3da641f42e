//! A decorator of a package, planned like a built-in: what it reads of this machine, and what it is
//! refused.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use opal_core::Data;
use opal_core::decorator::Block;
use opal_core::resolver::{Input, Inputs, Resolver as _};
use opal_core::resource::{Status, Verify as _};
use opal_core::types::Type;
use opal_http::Exchanger;
use opal_plugins::adapt::{Adapter, Code, Runtime};
use opal_plugins::client::Hosts;
use opal_plugins::client::compiled::Cache;
use opal_session::world::{OsWorld, Surroundings};
use opal_vault::root::Root;

use super::fixtures::{guest, program};

struct Bench {
    folder: tempfile::TempDir,
    code: &'static Code,
}

impl Bench {
    fn new(capabilities: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self { code: code(root(), capabilities), folder }
    }

    fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn world(&self) -> OsWorld {
        let variables = [
            ("PATH", "/usr/bin:/bin:relative"),
            ("SET", "canary-5150"),
            ("SSH_AUTH_SOCK", "/none/agent"),
        ];
        OsWorld::new(Surroundings {
            start: self.project(),
            environment: Arc::new(
                variables.map(|(name, value)| (name.into(), value.into())).into(),
            ),
            ..Surroundings::default()
        })
    }

    fn adapter(&self, decorator: &str, returns: Option<Type>) -> Adapter {
        Adapter {
            code: self.code,
            decorator: decorator.to_owned(),
            secrets: vec!["token"],
            gives_secrets: false,
            returns,
            shape: None,
            block: Block::Forbidden,
            attempts: None,
            is_resource: false,
            opens: false,
            has_targets: false,
            is_expensive: false,
            steering: &[],
        }
    }

    /// The value of a decorator, or why there is none.
    fn value(&self, decorator: &str, subject: &str) -> Result<String, String> {
        let inputs = Inputs { subject: Some(subject.to_owned()), ..Inputs::default() };
        self.value_of(decorator, &inputs)
    }

    fn value_of(&self, decorator: &str, inputs: &Inputs) -> Result<String, String> {
        let adapter = self.adapter(decorator, Some(Type::Any));
        match adapter.resolve(inputs, &self.world()) {
            Ok(Data::Text(text)) => Ok(text.expose().to_owned()),
            Ok(data) => Ok(opal_core::protocol::line::json(&data).expose().to_owned()),
            Err(trouble) => Err(trouble.message.to_string()),
        }
    }
}

/// One for all tests, so that the guest is compiled once.
fn root() -> &'static Path {
    static ROOT: OnceLock<tempfile::TempDir> = OnceLock::new();
    ROOT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        cache_of(folder.path()).open(program(), guest()).unwrap().unwrap();
        folder
    })
    .path()
}

fn code(root: &Path, capabilities: &[&str]) -> &'static Code {
    let runtime = Runtime {
        cache: cache_of(root),
        hosts: Hosts::at(program().to_owned()),
        web: Arc::new(Exchanger::default()),
        native: opal_plugins::adapt::native::NativeRules::default(),
    };
    let exports = ["action", "policy", "state", "value", "wrapper"].map(str::to_owned).into();
    Box::leak(Box::new(Code {
        capabilities: capabilities.iter().map(|it| it.parse().unwrap()).collect(),
        runtime: Box::leak(Box::new(OnceLock::from(runtime))),
        ..Code::new("acme/guest", "1.2.3", guest().to_vec(), exports)
    }))
}

fn cache_of(root: &Path) -> Cache {
    Cache::new(Some(Root::new(root)))
}

#[test]
fn without_a_runtime_nothing_runs() {
    let code = Box::leak(Box::new(Code::new("acme/guest", "1.2.3", Vec::new(), Vec::new())));
    let bench = Bench { folder: tempfile::tempdir().unwrap(), code };
    fs::create_dir(bench.project()).unwrap();
    let said = bench.value("guest.subject", "").unwrap_err();
    assert!(said.ends_with("the code of packages does not run here"), "{said}");
}

#[test]
fn files_are_read_where_a_grant_covers_them_after_all_symlinks() {
    let bench = Bench::new(&["read:data/**"]);
    let project = bench.project();
    fs::create_dir(project.join("data")).unwrap();
    fs::write(project.join("data/a"), "inside").unwrap();
    fs::write(project.join("b"), "outside").unwrap();
    fs::write(project.join("data/x.opl"), "source").unwrap();
    symlink("../b", project.join("data/out")).unwrap();
    symlink("a", project.join("data/in")).unwrap();
    symlink("loop", project.join("data/loop")).unwrap();
    assert_eq!(bench.value("guest.file", "data/a").unwrap(), "inside");
    assert_eq!(bench.value("guest.file", "data/in").unwrap(), "inside");
    for (path, reason) in [
        ("b", "not granted"),
        ("data/out", "not granted"),
        ("data/../b", "not granted"),
        ("/etc/passwd", "not granted"),
        ("data/x.opl", "never for plugins"),
        ("data/loop", "too many symlinks"),
        ("data/none", "does not exist"),
        ("data", "it is not a file"),
    ] {
        let said = bench.value("guest.file", path).unwrap_err();
        assert!(said.starts_with("acme/guest says: ") && said.contains(reason), "{path}: {said}");
    }
}

#[test]
fn programs_run_only_as_granted() {
    let bench = Bench::new(&["ask:echo one", "ask:relative"]);
    fs::create_dir(bench.project().join("relative")).unwrap();
    assert_eq!(bench.value("guest.ask", "echo one $HOME;`id`").unwrap(), "one $HOME;`id`\n");
    for (command, reason) in [
        ("echo two", "not granted"),
        ("echo", "not granted"),
        ("/bin/echo one", "not granted"),
        ("id", "not granted"),
        ("relative", "is not installed"),
    ] {
        let said = bench.value("guest.ask", command).unwrap_err();
        assert!(said.contains(reason), "{command}: {said}");
    }
}

#[test]
fn programs_reach_the_agent_of_the_user_only_as_granted() {
    let agent = |capabilities: &[&str]| {
        Bench::new(capabilities).value("guest.ask", "printenv SSH_AUTH_SOCK").unwrap()
    };
    assert_eq!(agent(&["ask:printenv"]), "");
    assert_eq!(agent(&["ask:printenv", "env:SSH_AUTH_SOCK"]), "/none/agent\n");
}

#[test]
fn the_runtime_root_is_never_read_also_through_a_symlink() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink(root(), &link).unwrap();
    let mut bench = Bench::new(&[]);
    for named in [root(), &link] {
        bench.code = code(named, &["read:/**"]);
        for place in [root(), &link] {
            let path = place.join("credentials/none");
            let said = bench.value("guest.file", path.to_str().unwrap()).unwrap_err();
            assert!(said.contains("never for plugins"), "{said}");
        }
    }
}

#[test]
fn a_secret_reaches_a_program_and_its_echo_is_hidden() {
    let bench = Bench::new(&["ask:cat", "ask:base64"]);
    let secret = "canary-5150-canary";
    let token = Input::Data(Data::text(secret));
    let inputs = |subject: &str| Inputs {
        subject: Some(subject.to_owned()),
        args: BTreeMap::from([("token", token.clone())]),
        ..Inputs::default()
    };
    for command in ["cat", "base64"] {
        let found = bench.value_of("guest.ask", &inputs(command)).unwrap();
        assert!(
            !found.is_empty() && !found.contains("canary") && !found.contains("Y2FuYX"),
            "{found}"
        );
    }
    // The plugin itself has a number.
    let found = bench.value_of("guest.echo", &inputs("")).unwrap();
    assert_eq!(found, "{\"token\":{\"$secret\":0}}");
}

#[test]
fn variables_and_time_need_a_grant_and_so_does_the_text_of_a_secret() {
    let none = Bench::new(&[]);
    for (decorator, subject) in
        [("guest.env", "SET"), ("guest.now", ""), ("guest.fetch", "https://a.example")]
    {
        let said = none.value(decorator, subject).unwrap_err();
        assert!(said.contains("not granted"), "{said}");
    }
    let handle = Bench::new(&["env:SET"]);
    assert!(handle.value("guest.env", "SET").unwrap_err().contains("`secrets`"));
    let all = Bench::new(&["env:SE*", "clock", "secrets"]);
    assert_eq!(all.value("guest.env", "SET").unwrap(), "canary-5150");
    assert_eq!(all.value("guest.env", "SE_UNSET").unwrap(), "null");
    assert!(all.value("guest.env", "PATH").unwrap_err().contains("env:PATH"));
    assert!(all.value("guest.now", "").unwrap().parse::<u64>().unwrap() > 1_600_000_000_000);
}

/// A server that answers each request with its first line and its token.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            let token = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
            let token: String = token.filter(|line| line.starts_with("x-token")).collect();
            let body = format!("{first} {token}");
            let head = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n";
            let answer = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    port
}

#[test]
fn hosts_are_asked_as_granted_and_redirections_are_returned() {
    let port = server();
    let url = format!("http://127.0.0.1:{port}/x");
    let bench = Bench::new(&[&format!("net:http://127.0.0.1:{port} private")]);
    assert_eq!(bench.value("guest.fetch", &url).unwrap(), "302 GET /x HTTP/1.1 ");
    for (subject, reason) in [
        (format!("POST {url}"), "not granted `query:http://127.0.0.1:"),
        (format!("DELETE {url}"), "not granted"),
        (format!("http://127.0.0.1:{}/", port ^ 1), "not granted"),
        (format!("https://127.0.0.1:{port}/"), "not granted"),
        (format!("http://user@127.0.0.1:{port}/"), "invalid URL"),
        ("CONNECT http://127.0.0.1/".to_owned(), "invalid method"),
    ] {
        let said = bench.value("guest.fetch", &subject).unwrap_err();
        assert!(said.contains(reason), "{subject}: {said}");
    }
    // The same host without `private`.
    let public = Bench::new(&[&format!("net:http://127.0.0.1:{port}")]);
    let said = public.value("guest.fetch", &url).unwrap_err();
    assert!(said.contains("has a private address"), "{said}");
}

#[test]
fn a_name_that_leads_inside_is_refused() {
    let bench = Bench::new(&["net:localhost"]);
    let said = bench.value("guest.fetch", "https://localhost/").unwrap_err();
    assert!(said.contains("has a private address"), "{said}");
    let metadata = Bench::new(&["net:http://169.254.169.254"]);
    let said = metadata.value("guest.fetch", "http://169.254.169.254/latest").unwrap_err();
    assert!(said.contains("has a private address"), "{said}");
}

#[test]
fn a_secret_reaches_a_host_and_its_echo_is_hidden() {
    let port = server();
    let bench = Bench::new(&[&format!("net:http://127.0.0.1:{port} private")]);
    let token = Input::Data(Data::text("canary-5150-canary"));
    let inputs = Inputs {
        subject: Some(format!("http://127.0.0.1:{port}/")),
        args: BTreeMap::from([("token", token)]),
        ..Inputs::default()
    };
    let found = bench.value_of("guest.fetch", &inputs).unwrap();
    assert!(found.contains("x-token: ") && !found.contains("canary"), "{found}");
}

#[test]
fn a_result_has_the_type_that_the_manifest_says() {
    let bench = Bench::new(&[]);
    let inputs = Inputs { subject: Some("text".to_owned()), ..Inputs::default() };
    let value = |returns| {
        let adapter = bench.adapter("guest.subject", Some(returns));
        adapter.resolve(&inputs, &bench.world())
    };
    assert_eq!(value(Type::String).unwrap().as_text(), Some("text"));
    let said = value(Type::Int).unwrap_err().message.to_string();
    assert!(said.contains("its manifest promises Int"), "{said}");
}

#[test]
fn a_state_is_verified_with_a_probe() {
    let bench = Bench::new(&["read:*"]);
    fs::write(bench.project().join("here"), "content").unwrap();
    let status = |path: &str, text: &str| {
        let open = BTreeMap::from([("block_text".to_owned(), Data::text(text))]);
        let inputs = Inputs { subject: Some(path.to_owned()), open, ..Inputs::default() };
        bench.adapter("guest.text", None).verify(&inputs, &bench.world()).map(|it| it.status)
    };
    assert_eq!(status("here", "content").unwrap(), Status::Satisfied);
    assert_eq!(status("here", "other").unwrap(), Status::Drifted);
    assert_eq!(status("gone", "content").unwrap(), Status::Missing);
    assert!(status("/etc/passwd", "").is_err());
}

#[test]
fn compiled_code_is_kept_and_whatever_was_changed_is_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let cache = cache_of(&root);
    let open = |cache: &Cache| cache.open(program(), guest()).unwrap().unwrap();
    let first = open(&cache);
    let compiled = root.join("plugins/compiled");
    let named = |end: &str| {
        let found = fs::read_dir(&compiled).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<_> = found.filter(|it| it.extension().unwrap() == end).collect();
        assert_eq!(found.len(), 1);
        found.remove(0)
    };
    let (code, seal) = (named("code"), named("seal"));
    let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&code).unwrap());
    let before = inode();
    assert_eq!(open(&cache).exports, first.exports);
    // Another process of this machine has the same key.
    open(&cache_of(&root));
    assert_eq!(inode(), before);
    let whole = fs::read(&code).unwrap();
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    // The same size, in place.
    fs::write(&code, &changed).unwrap();
    open(&cache);
    assert_ne!(inode(), before);
    assert_eq!(fs::read(&code).unwrap(), whole);
    // A seal with other exports, and one that is not there.
    let text = fs::read_to_string(&seal).unwrap();
    fs::write(&seal, text.replace("value", "sink")).unwrap();
    assert_eq!(open(&cache).exports, first.exports);
    fs::remove_file(&seal).unwrap();
    assert_eq!(open(&cache).exports, first.exports);
    // The key of another machine.
    fs::remove_dir_all(root.join("credentials")).unwrap();
    let before = inode();
    assert_eq!(open(&cache_of(&root)).exports, first.exports);
    assert_ne!(inode(), before);
}
