//! What each value decorator gives, in a world of plain data.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::time::{Duration, SystemTime};

use opal_core::Data;
use opal_core::class::resolved;
use opal_core::context::{Context, Place};
use opal_core::resolver::{
    Host, Input, Inputs, MAX_VALUE_BYTES, Probe, Run, ScriptPart, Trouble, TroubleKind,
};
use opal_decorators::registry;
use opal_testing::{Asked, MemoryWorld};

const GIT: &str = "git --no-pager --no-optional-locks -c core.fsmonitor=false \
                   -c core.hooksPath=/dev/null";

#[derive(Default)]
struct Call(Inputs);

impl Call {
    fn subject(name: &str) -> Self {
        Self(Inputs { subject: Some(name.to_owned()), ..Inputs::default() })
    }

    fn arg(mut self, name: &'static str, data: Data) -> Self {
        self.0.args.insert(name, Input::Data(data));
        self
    }

    fn text(self, name: &'static str, text: &str) -> Self {
        self.arg(name, Data::text(text))
    }

    fn resolve(&self, path: &str, probe: &dyn Probe) -> Result<String, Trouble> {
        let registry = registry();
        let resolver = registry.get(path).unwrap().resolver.unwrap();
        resolver.resolve(&self.0, probe).map(|data| data.as_text().unwrap().to_owned())
    }
}

#[track_caller]
fn refused(answer: Result<String, Trouble>, kind: TroubleKind, words: &str) {
    let trouble = answer.unwrap_err();
    assert_eq!(trouble.kind, kind, "{trouble:?}");
    assert!(trouble.message.contains(words), "{trouble:?}");
}

#[test]
fn a_variable_is_its_value_even_when_empty_and_else_its_default() {
    let world = MemoryWorld::default().env("SET", "value").env("EMPTY", "");
    assert_eq!(Call::subject("SET").resolve("env", &world).unwrap(), "value");
    let with_default = |name| Call::subject(name).text("default", "instead");
    assert_eq!(with_default("SET").resolve("env", &world).unwrap(), "value");
    assert_eq!(with_default("EMPTY").resolve("env", &world).unwrap(), "");
    assert_eq!(with_default("UNSET").resolve("env", &world).unwrap(), "instead");
    assert_eq!(world.asked().len(), 4);
}

#[test]
fn a_variable_that_is_not_set_names_itself_and_the_default() {
    let trouble = Call::subject("REGION").resolve("env", &MemoryWorld::default()).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Missing);
    assert_eq!(trouble.message, "the environment variable `REGION` is not set");
    assert!(trouble.help[0].contains("`@env.REGION(default=\"…\")`"), "{trouble:?}");
}

#[test]
fn a_secret_variable_is_named_by_the_path_or_the_parameter() {
    let world = MemoryWorld::default().env("DEPLOY", "hunter2");
    assert_eq!(Call::subject("DEPLOY").resolve("secret.env", &world).unwrap(), "hunter2");
    let named = Call::default().text("name", "DEPLOY");
    assert_eq!(named.resolve("secret.env", &world).unwrap(), "hunter2");
    refused(Call::subject("X").resolve("secret.env", &world), TroubleKind::Missing, "`X`");
}

#[test]
fn a_file_is_its_text_trimmed_where_that_is_asked() {
    let world = MemoryWorld::default().file("VERSION", " 1.2 \r\n").file("bin", [0xff]);
    for path in ["file.read", "secret.file"] {
        let read = |trim| {
            Call::default()
                .text("path", "VERSION")
                .arg("trim", Data::Bool(trim))
                .resolve(path, &world)
        };
        assert_eq!(read(true).unwrap(), "1.2");
        assert_eq!(read(false).unwrap(), " 1.2 \r\n");
        let bin = Call::default().text("path", "bin").resolve(path, &world);
        refused(bin, TroubleKind::NotText, "`bin`");
        let gone = Call::default().text("path", "gone").resolve(path, &world);
        refused(gone, TroubleKind::Missing, "`gone`");
    }
}

#[test]
fn a_file_of_the_greatest_size_is_read_and_one_byte_more_is_not() {
    let most = usize::try_from(MAX_VALUE_BYTES).unwrap();
    let world =
        MemoryWorld::default().file("most", vec![b'x'; most]).file("more", vec![b'x'; most + 1]);
    let read = |path| Call::default().text("path", path).resolve("file.read", &world);
    assert_eq!(read("most").unwrap().len(), most);
    refused(read("more"), TroubleKind::TooLarge, "8 MiB");
}

#[test]
fn a_digest_is_that_of_sha256sum_whatever_the_size() {
    let world = MemoryWorld::default()
        .file("abc", "abc")
        .file("large", vec![0; usize::try_from(MAX_VALUE_BYTES).unwrap() + 1]);
    let digest = |path| Call::default().text("path", path).resolve("file.hash", &world);
    assert_eq!(
        digest("abc").unwrap(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(digest("large").unwrap().len(), 64);
}

#[test]
fn the_line_ends_of_a_command_are_dropped_at_its_end_only() {
    let world = MemoryWorld::default().command("look {}", "\n a \nb\r\n\n");
    let value = ScriptPart::Data(Data::text("x"), Context::new(Place::Word));
    let script = Input::Script(vec![ScriptPart::Text("look ".into()), value]);
    for path in ["shell.output", "secret.cmd"] {
        let mut call = Call::default();
        call.0.args.insert("cmd", script.clone());
        assert_eq!(call.resolve(path, &world).unwrap(), "\n a \nb");
    }
}

#[test]
fn a_repository_gives_its_commit_and_its_branch() {
    let world = MemoryWorld::default()
        .command(&format!("{GIT} rev-parse --verify --end-of-options HEAD^{{commit}}"), "0a1b\n")
        .command(&format!("{GIT} branch --show-current"), "main\n");
    assert_eq!(Call::default().resolve("git.commit", &world).unwrap(), "0a1b");
    assert_eq!(Call::default().resolve("git.branch", &world).unwrap(), "main");
    let detached = MemoryWorld::default().command(&format!("{GIT} branch --show-current"), "\n");
    refused(Call::default().resolve("git.branch", &detached), TroubleKind::Missing, "no branch");
}

#[test]
fn facts_about_the_machine_need_nothing_else() {
    let host = Host { os: "macos".into(), arch: "aarch64".into(), name: "mini".into() };
    let world = MemoryWorld::default().on(host);
    let facts = ["os.name", "os.arch", "os.hostname"]
        .map(|path| Call::default().resolve(path, &world).unwrap());
    assert_eq!(facts, ["macos", "aarch64", "mini"]);
    assert_eq!(world.asked(), [Asked::Host, Asked::Host, Asked::Host]);
}

#[test]
fn the_directory_of_the_call_is_a_text_or_trouble() {
    let world = MemoryWorld::default().called_in("/home/op/my project");
    let here = Call::default().resolve("cli.directory", &world).unwrap();
    assert_eq!(here, "/home/op/my project");
    assert_eq!(world.asked(), [Asked::Caller]);
    let name = OsString::from_vec(b"/home/\xff".to_vec());
    let world = MemoryWorld::default().called_in(name);
    refused(Call::default().resolve("cli.directory", &world), TroubleKind::NotText, "UTF-8");
}

#[test]
fn the_time_is_written_in_each_format() {
    let at = |seconds| {
        let world = MemoryWorld::default().at(SystemTime::UNIX_EPOCH + seconds);
        ["rfc3339", "date", "compact", "unix"]
            .map(|format| Call::default().text("format", format).resolve("time.now", &world))
            .map(Result::unwrap)
    };
    let expected = ["2025-01-31T14:05:00Z", "2025-01-31", "20250131T140500Z", "1738332300"];
    assert_eq!(at(Duration::from_millis(1_738_332_300_999)), expected);
    assert_eq!(at(Duration::ZERO)[0], "1970-01-01T00:00:00Z");
    let never = MemoryWorld::default().at(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40));
    let call = Call::default().text("format", "date");
    refused(call.resolve("time.now", &never), TroubleKind::Failed, "clock");
}

#[test]
fn a_page_is_its_body_unchanged() {
    let url = "https://example.com/stable.txt";
    let world = MemoryWorld::default().page(url, "1.2\n");
    let call = Call::default().text("url", url);
    assert_eq!(call.resolve("http.get", &world).unwrap(), "1.2\n");
    assert_eq!(world.asked(), [Asked::Get(url.to_owned())]);
}

#[test]
fn a_declared_secret_has_four_characters_unless_the_source_says_it() {
    let registry = registry();
    let check = |path: &str, call: &Call, value: &str| {
        resolved::check(registry.get(path).unwrap(), &call.0, &Data::text(value))
    };
    let declared = |call: Call| call.arg("secret", Data::Bool(true));
    let pin = declared(Call::subject("PIN"));
    assert!(check("env", &pin, "four").is_ok());
    let trouble = check("env", &pin, "äöü").unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Invalid);
    assert!(trouble.message.contains("`@env.PIN`"), "{trouble:?}");
    assert!(trouble.help[1].contains("`secret=true`"), "{trouble:?}");
    assert!(!format!("{trouble:?}").contains("äöü"));
    for (name, value) in [("REGION", "eu"), ("API_TOKEN", "abc"), ("GIT_AUTHOR_NAME", "Bo")] {
        assert!(check("env", &Call::subject(name), value).is_ok(), "{name} is not declared");
    }
    let fallback = declared(Call::subject("PIN")).text("default", "");
    assert!(check("env", &fallback, "").is_ok());
    assert!(check("env", &fallback, "abc").is_err());
    let secret = check("secret.env", &Call::subject("DEPLOY"), "abc").unwrap_err();
    assert_eq!(secret.help, ["use a longer secret"]);
}

#[test]
fn a_value_is_not_public_and_secret() {
    let call = Call::subject("A").arg("public", Data::Bool(true)).arg("secret", Data::Bool(true));
    let trouble = resolved::agrees(registry().get("env").unwrap(), &call.0).unwrap_err();
    assert!(trouble.message.contains("`@env.A`"), "{trouble:?}");
}

#[test]
fn a_world_of_plain_data_counts_what_happens_at_once() {
    let script = [ScriptPart::Text("look".to_owned())];
    // A busy machine may start the threads one after another: then each takes longer.
    let mut seen = (0..8).map(|round| {
        let delay = Duration::from_millis(50 << round);
        let world = MemoryWorld::default().command("look", "x").slow(delay);
        world.run(&Run::Script(&script)).unwrap();
        assert_eq!(world.most_at_once(), 1);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| world.run(&Run::Script(&script)).unwrap());
            }
        });
        world.most_at_once()
    });
    assert!(seen.any(|most| most == 3));
}

#[test]
fn a_world_of_plain_data_shows_names_and_no_content() {
    let world = MemoryWorld::default().env("NAME", "canary-1").file("path", "canary-2");
    let shown = format!("{:?}", world.command("look", "canary-3").page("url", "canary-4"));
    assert!(["NAME", "path", "look", "url"].iter().all(|name| shown.contains(name)), "{shown}");
    assert!(!shown.contains("canary"), "{shown}");
}
