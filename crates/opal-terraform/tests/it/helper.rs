//! The helper from the outside, over its protocol, with real providers.

use std::io::BufReader;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use opal_core::data::Secret;
use opal_core::protocol::call::{Acted, Deed, Finding, Found, Intent, Invocation, Resolved};
use opal_core::protocol::request::{Handle, Revealed};
use opal_core::protocol::{Body, Call, Kind, Message, Refusal, Reply, line};

use crate::support::{directory, real};

pub(crate) struct Helper {
    child: Child,
    socket: UnixStream,
    incoming: BufReader<UnixStream>,
    next: u64,
    /// What handles stand for.
    pub(crate) secrets: Vec<Secret>,
    /// What the providers printed.
    pub(crate) log: String,
    /// What they were about to do, and what opal says to it.
    pub(crate) intents: Vec<(Deed, String)>,
    pub(crate) refusal: Option<Refusal>,
}

impl Helper {
    pub(crate) fn start(temporary: &Path) -> Self {
        let (socket, theirs) = UnixStream::pair().unwrap();
        #[expect(clippy::disallowed_methods, reason = "each test ends its helper")]
        let child = Command::new(env!("CARGO_BIN_EXE_opal-terraform"))
            .env("TMPDIR", temporary)
            .stdin(OwnedFd::from(theirs))
            .spawn()
            .unwrap();
        let incoming = BufReader::new(socket.try_clone().unwrap());
        let (secrets, log) = (Vec::new(), String::new());
        let (intents, refusal) = (Vec::new(), None);
        Self { child, socket, incoming, next: 1, secrets, log, intents, refusal }
    }

    pub(crate) fn call(&mut self, call: &str, params: Body) -> Result<Body, Refusal> {
        let id = self.begin(call, params);
        self.answer(id)
    }

    /// Asks, and does not wait.
    pub(crate) fn begin(&mut self, call: &str, params: Body) -> u64 {
        let (id, plugin) = (self.next, Some("acme".to_owned()));
        self.next += 1;
        let call = Call { id, parent: None, plugin, call: call.to_owned(), params };
        line::write(&Message::Call(call), &mut self.socket).unwrap();
        id
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        line::write(&Message::Cancel(id), &mut self.socket).unwrap();
    }

    pub(crate) fn answer(&mut self, id: u64) -> Result<Body, Refusal> {
        loop {
            if let Some(result) = self.serve(id) {
                return result;
            }
        }
    }

    /// One message: the answer, or something that the helper asks, which is answered.
    pub(crate) fn serve(&mut self, id: u64) -> Option<Result<Body, Refusal>> {
        match line::read(&mut self.incoming).unwrap() {
            Some(Message::Reply(reply)) if reply.id == id => {
                self.log.extend(reply.log.iter().map(Secret::expose));
                return Some(reply.result);
            }
            Some(Message::Call(asked)) if asked.call == "stage.keep" => {
                let intent: Intent = asked.params.read().unwrap();
                self.intents.push((intent.deed, intent.by.expose().to_owned()));
                let result = self.refusal.clone().map_or_else(|| Ok(Body::default()), Err);
                let reply = Message::Reply(Reply { id: asked.id, result, log: None });
                line::write(&reply, &mut self.socket).unwrap();
            }
            Some(Message::Call(asked)) if asked.call == "secret.reveal" => {
                assert_eq!(asked.parent, Some(id));
                let handle: Handle = asked.params.read().unwrap();
                let text = self.secrets[handle.secret.unwrap() as usize].clone();
                let result = Ok(Body::of(&Revealed { text }));
                let reply = Message::Reply(Reply { id: asked.id, result, log: None });
                line::write(&reply, &mut self.socket).unwrap();
            }
            other => panic!("{other:?}"),
        }
        None
    }

    pub(crate) fn load(&mut self, program: &Path, directory: &Path, config: &str, recipes: &str) {
        self.call("load", loading(program, directory, config, recipes)).unwrap();
    }

    pub(crate) fn ask(&mut self, call: &str, decorator: &str, args: &str) -> Result<Body, Refusal> {
        self.call(call, self.invocation(decorator, args))
    }

    pub(crate) fn invocation(&self, decorator: &str, args: &str) -> Body {
        let invocation = Invocation {
            decorator: decorator.to_owned(),
            subject: None,
            args: Secret::new(args),
            secrets: u32::try_from(self.secrets.len()).unwrap(),
            text: None,
            seed: String::new(),
            token: None,
            outcome: None,
            event: None,
        };
        Body::of(&invocation)
    }

    pub(crate) fn verify(&mut self, decorator: &str, args: &str) -> (Found, String) {
        let finding: Finding = self.ask("state.verify", decorator, args).unwrap().read().unwrap();
        (finding.status, finding.message.expose().to_owned())
    }

    pub(crate) fn refused(&mut self, call: &str, decorator: &str, args: &str) -> String {
        self.ask(call, decorator, args).unwrap_err().message.expose().to_owned()
    }

    pub(crate) fn end(mut self) -> ExitStatus {
        self.socket.shutdown(std::net::Shutdown::Both).unwrap();
        self.child.wait().unwrap()
    }
}

/// What `load` says about a provider.
pub(crate) fn loading(program: &Path, directory: &Path, config: &str, recipes: &str) -> Body {
    let text = |text: &str| text.to_owned();
    Body::default()
        .with("name", &text("acme 1.0.0"))
        .with("program", &text(program.to_str().unwrap()))
        .with("directory", &text(directory.to_str().unwrap()))
        .with("environment", &Vec::<(String, Secret)>::new())
        .with("config", &text(config))
        .with("recipes", &text(recipes))
        .with("project", &Some(text("shop")))
}

#[test]
fn opal_verifies_acts_and_reads_over_the_protocol() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let path = home.path().join("greeting");
    let mut helper = Helper::start(home.path());
    helper.load(&program, home.path(), "{}", "{}");
    assert!(std::fs::read_dir(home.path()).unwrap().next().is_none(), "a load starts nothing");
    let args = format!(r#"{{"filename":"{}","content":"hello"}}"#, path.display());
    assert_eq!(helper.verify("local_file", &args).0, Found::Missing);
    let acted: Acted = helper.ask("action.act", "local_file", &args).unwrap().read().unwrap();
    assert!(acted.output.expose().contains(r#""content":"hello""#) && !acted.adopted);
    assert_eq!(helper.verify("local_file", &args).0, Found::Satisfied);
    let named = format!(r#"{{"filename":"{}"}}"#, path.display());
    let read: Resolved = helper.ask("value.resolve", "local_file", &named).unwrap().read().unwrap();
    assert!(read.value.expose().contains(r#""content":"hello""#));
    assert_eq!(helper.verify("local_file.absent", &args).0, Found::Drifted);
    helper.ask("action.act", "local_file.absent", &args).unwrap();
    assert_eq!(helper.verify("local_file.absent", &args).0, Found::Satisfied);
    assert!(!path.exists());
    assert!(helper.end().success());
    assert!(std::fs::read_dir(home.path()).unwrap().next().is_none(), "nothing is left");
}

#[test]
fn what_cannot_be_asked_is_refused_with_the_name_of_the_provider() {
    let Some(program) = real("box") else { return };
    let home = directory();
    let mut helper = Helper::start(home.path());
    assert_eq!(helper.refused("state.verify", "box_thing", "{}"), "the provider is not loaded");
    let config = format!(r#"{{"directory":"{}"}}"#, home.path().display());
    helper.load(&program, home.path(), &config, "{}");
    for (call, decorator, args, why) in [
        ("state.verify", "box_other", "{}", "acme 1.0.0: it has no resource `box_other`"),
        ("value.resolve", "box_thing", "{}", "acme 1.0.0: it has no data source `box_thing`"),
        ("state.verify", "box_thing", r#"{"nam":"a"}"#, "acme 1.0.0: it has no `nam`"),
        ("state.verify", "box_thing", r#"{"name":1}"#, "acme 1.0.0: `name`: expected a String"),
        ("action.act", "box_net", r#"{"name":"a"}"#, "acme 1.0.0: cannot identify `box_net`"),
        ("wrapper.begin", "box_thing", r#"{"name":"a"}"#, "acme 1.0.0: an unknown call"),
    ] {
        assert_eq!(helper.refused(call, decorator, args), why);
    }
    assert!(helper.end().success());
}

#[test]
fn drift_is_reported_by_attribute() {
    let Some(program) = real("box") else { return };
    let home = directory();
    let mut helper = Helper::start(home.path());
    let config = format!(r#"{{"directory":"{}"}}"#, home.path().display());
    helper.load(&program, home.path(), &config, "{}");
    let red = r#"{"name":"a","color":"red","secret":"canary-77"}"#;
    helper.ask("action.act", "box_thing", red).unwrap();
    let blue = r#"{"name":"a","color":"blue","secret":"canary-77"}"#;
    let (status, message) = helper.verify("box_thing", blue);
    assert_eq!(
        (status, message.as_str()),
        (Found::Drifted, "color: expected \"blue\", actual \"red\"")
    );
    assert!(helper.end().success());
}

#[test]
fn a_read_is_repeated_once_after_a_crash_and_an_apply_never() {
    let Some(program) = real("box") else { return };
    let home = directory();
    let mut helper = Helper::start(home.path());
    let config = format!(r#"{{"directory":"{}"}}"#, home.path().display());
    helper.load(&program, home.path(), &config, "{}");
    let once = r#"{"name":"crash-once"}"#;
    assert_eq!(helper.verify("box_thing", once).0, Found::Missing);
    let always = helper.refused("state.verify", "box_thing", r#"{"name":"crash"}"#);
    assert!(always.contains("the provider ended (exit code 3)"), "{always}");
    std::fs::remove_file(home.path().join("crashed")).unwrap();
    let act = helper.refused("action.act", "box_thing", once);
    assert!(act.contains("the provider ended (exit code 3)"), "{act}");
    // The next call has a process of its own.
    assert_eq!(helper.verify("box_thing", once).0, Found::Missing);
    assert!(helper.end().success());
}

#[test]
fn a_line_that_is_not_a_message_ends_the_helper() {
    use std::io::Write as _;
    let home = directory();
    let mut helper = Helper::start(home.path());
    helper.socket.write_all(b"{\"id\":1}\n").unwrap();
    assert_eq!(helper.child.wait().unwrap().code(), Some(76));
}

#[test]
fn what_is_about_to_be_done_is_announced_before_and_can_be_refused() {
    let Some(program) = real("box") else { return };
    let home = directory();
    let mut helper = Helper::start(home.path());
    let config = format!(r#"{{"directory":"{}"}}"#, home.path().display());
    let recipes = r#"{"box_net":{"mark":{"in":"tags","list":{}}}}"#;
    helper.load(&program, home.path(), &config, recipes);
    let steps = [
        ("box_thing", r#"{"name":"a"}"#, Some((Deed::Create, r#"{name: "a"}"#))),
        ("box_thing", r#"{"name":"a"}"#, None),
        ("box_thing", r#"{"name":"a","color":"red"}"#, Some((Deed::Change, r#"{name: "a"}"#))),
        ("box_net", r#"{"name":"a","mark":"net"}"#, Some((Deed::Create, "tag opal=shop/net"))),
        (
            "box_net",
            r#"{"name":"b","adopt":"net-2","replace":true,"ignore":["tags"]}"#,
            Some((Deed::Replace, "net-2")),
        ),
        ("box_thing.absent", r#"{"name":"a"}"#, Some((Deed::Remove, r#"{name: "a"}"#))),
        ("box_thing.absent", r#"{"name":"a"}"#, None),
    ];
    for (of, args, expected) in &steps {
        helper.refusal = Some(Refusal::new(Kind::Denied, "not today"));
        let refused = helper.ask("action.act", of, args);
        assert_eq!(refused.is_err(), expected.is_some(), "{of} {args}: {refused:?}");
        helper.refusal = None;
        let _ = helper.ask("action.act", of, args);
        let found = std::mem::take(&mut helper.intents);
        let expected: Vec<_> =
            expected.iter().map(|(deed, by)| (*deed, (*by).to_owned())).collect();
        // Once refused, once done: nothing is announced twice.
        assert_eq!(found, [expected.clone(), expected].concat(), "{of} {args}");
    }
    assert!(helper.end().success());
}
