//! The guest of opal's own tests: it plays every part, well and badly.

use opal_plugin::actions::Acted;
use opal_plugin::policies::{Event, Verdict};
use opal_plugin::states::{Finding, Status};
use opal_plugin::wrappers::Opened;
use opal_plugin::{
    Call, Command, Error, ErrorKind, Outcome, Part, Probe, Request, Stage, actions, policies,
    states, values, wrappers,
};

struct Plugin;

/// What a decorator is about: its subject, or its argument of that name.
fn subject(call: &Call) -> String {
    call.subject.clone().unwrap_or_else(|| {
        let found = call.args.split_once("\"subject\":\"");
        found.map_or("", |(_, rest)| rest.split('"').next().unwrap_or_default()).to_owned()
    })
}

unsafe extern "C" {
    fn getentropy(bytes: *mut u8, count: usize) -> i32;
}

impl values::Guest for Plugin {
    fn resolve(call: Call, probe: Probe) -> Result<String, Error> {
        let subject = subject(&call);
        match call.decorator.as_str() {
            "guest.echo" => Ok(call.args),
            "guest.subject" => Ok(format!("{subject:?}")),
            "guest.file" => {
                let bytes = probe.read(&subject)?;
                Ok(format!("{:?}", String::from_utf8_lossy(&bytes)))
            }
            "guest.env" => match probe.env(&subject)? {
                Some(secret) => Ok(format!("{:?}", secret.reveal()?)),
                None => Ok("null".to_owned()),
            },
            "guest.ask" => {
                let args = subject.split(' ').skip(1).map(str::to_owned).collect();
                let program = subject.split(' ').next().unwrap_or_default().to_owned();
                let stdin = call.secrets.first().map(Part::Secret).into_iter().collect();
                let done = probe.ask(&Command { program, args, env: Vec::new(), stdin })?;
                Ok(format!("{:?}", String::from_utf8_lossy(&done.stdout)))
            }
            "guest.fetch" => {
                let (method, url) = subject.split_once(' ').unwrap_or(("GET", &subject));
                let token = |secret| ("X-Token".to_owned(), vec![Part::Secret(secret)]);
                let headers = call.secrets.first().map(token).into_iter().collect();
                let (method, url) = (method.to_owned(), url.to_owned());
                let answer = probe.fetch(&Request { method, url, headers, body: Vec::new() })?;
                let body = String::from_utf8_lossy(&answer.body);
                Ok(format!("{:?}", format!("{} {body}", answer.status)))
            }
            "guest.now" => Ok(probe.now()?.to_string()),
            "guest.random" => {
                let mut bytes = [0_u8; 16];
                // SAFETY: it fills so many bytes.
                unsafe { getentropy(bytes.as_mut_ptr(), bytes.len()) };
                Ok(format!("{bytes:?}"))
            }
            "guest.hash" => {
                let hashed = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 1_u8);
                Ok(format!("\"{hashed}\""))
            }
            "guest.nan" => {
                let zero = std::hint::black_box(0.0_f64);
                Ok(format!("\"{:x}\"", (zero / zero).to_bits()))
            }
            "guest.world" => Ok(format!(
                "{{\"variables\": {}, \"arguments\": {}, \"file\": {}, \"time\": {}}}",
                std::env::vars().count(),
                std::env::args().count(),
                std::fs::read("/etc/passwd").is_ok(),
                std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(0, |it| it.as_secs()),
            )),
            "guest.print" => {
                for _ in 0..10_000 {
                    println!("0123456789 {subject}");
                }
                Ok("null".to_owned())
            }
            "guest.loop" => loop {
                std::hint::spin_loop();
            },
            "guest.memory" => {
                let mut all = Vec::new();
                loop {
                    all.push(vec![1_u8; 1 << 20]);
                }
            }
            "guest.hundred" => {
                let all = vec![1_u8; 100 << 20];
                Ok(format!("\"{}\"", all.iter().map(|it| u64::from(*it)).sum::<u64>()))
            }
            "guest.large" => Ok(format!("\"{}\"", "x".repeat(9 << 20))),
            "guest.calls" => loop {
                let _ = probe.now();
            },
            "guest.panic" => panic!("on purpose"),
            "guest.exit" => std::process::exit(0),
            _ => Err(Error::new(ErrorKind::Invalid, "unknown decorator").help("use another")),
        }
    }
}

/// What no plugin should do, by a word; nothing for another word.
fn misbehave(how: &str) {
    match how {
        "loop" => loop {
            std::hint::spin_loop();
        },
        "memory" => {
            let mut all = Vec::new();
            loop {
                all.push(vec![1_u8; 1 << 20]);
            }
        }
        "panic" => panic!("on purpose"),
        "exit" => std::process::exit(0),
        _ => {}
    }
}

/// A file with a content: `path` is the subject, the content is the text.
impl states::Guest for Plugin {
    fn verify(call: Call, probe: Probe) -> Result<Finding, Error> {
        let path = subject(&call);
        misbehave(&path);
        let (status, message) = match probe.read(&path) {
            Ok(bytes) if Some(bytes.as_slice()) == call.text.as_deref().map(str::as_bytes) => {
                (Status::Satisfied, "has this content")
            }
            Ok(_) => (Status::Drifted, "has another content"),
            Err(error) if error.kind == ErrorKind::Missing => (Status::Missing, "is not there"),
            Err(error) => return Err(error),
        };
        // An object whose identity the world decides.
        let named = (call.decorator == "guest.object").then(|| probe.read("data/identity"));
        let named = named.and_then(Result::ok).map(|it| String::from_utf8_lossy(&it).into_owned());
        let identity = named.or(Some(path));
        Ok(Finding { status, message: message.to_owned(), details: None, identity })
    }
}

impl actions::Guest for Plugin {
    fn act(call: Call, _: Probe, stage: Stage) -> Result<Acted, Error> {
        let path = subject(&call);
        misbehave(&path);
        if call.decorator == "guest.run" {
            let args = path.split(' ').skip(1).map(str::to_owned).collect();
            let program = path.split(' ').next().unwrap_or_default().to_owned();
            let (env, stdin) = (Vec::new(), Vec::new());
            let done = stage.run(&Command { program, args, env, stdin })?;
            let output = format!("{:?}", String::from_utf8_lossy(&done.stdout));
            return Ok(Acted { output, identity: None, adopted: false });
        }
        if call.decorator == "guest.slow" {
            stage.keep(&path)?;
            stage.write("data/kept", b"", None)?;
            stage.pause(60_000)?;
        }
        stage.log("writes the file");
        stage.write(&path, call.text.unwrap_or_default().as_bytes(), None)?;
        Ok(Acted { output: "{\"changed\": true}".to_owned(), identity: Some(path), adopted: false })
    }
}

impl wrappers::Guest for Plugin {
    fn begin(call: Call, _: Probe, stage: Stage) -> Result<Opened, Error> {
        let token = subject(&call);
        misbehave(&token);
        stage.keep(&token)?;
        if call.decorator == "guest.torn" {
            panic!("on purpose");
        }
        Ok(Opened { token, env: vec![("GUEST".to_owned(), "opened".to_owned())] })
    }

    fn end(call: Call, token: String, outcome: Outcome, stage: Stage) -> Result<(), Error> {
        if call.decorator == "guest.hang" {
            loop {
                std::hint::spin_loop();
            }
        }
        let how = match outcome {
            Outcome::Done => "done".to_owned(),
            Outcome::Failed(code) => format!("failed {code}"),
            Outcome::Stopped => "stopped".to_owned(),
        };
        stage.write(&token, how.as_bytes(), None)
    }
}

impl policies::Guest for Plugin {
    fn judge(call: Call, event: Event) -> Result<Verdict, Error> {
        misbehave(&subject(&call));
        Ok(match event.outcome {
            None | Some(Outcome::Done) => Verdict::Proceed,
            Some(Outcome::Failed(_)) if event.attempt < 3 => Verdict::Retry(5),
            Some(_) => Verdict::Stop("tried enough".to_owned()),
        })
    }
}

opal_plugin::values::export_value!(Plugin with_types_in opal_plugin::values);
opal_plugin::states::export_state!(Plugin with_types_in opal_plugin::states);
opal_plugin::actions::export_action!(Plugin with_types_in opal_plugin::actions);
opal_plugin::wrappers::export_wrapper!(Plugin with_types_in opal_plugin::wrappers);
opal_plugin::policies::export_policy!(Plugin with_types_in opal_plugin::policies);
