//! The world of a test: variables, files, and what hosts and programs answer. A plugin that acts changes
//! it, and nothing else.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use opal_core::data::Secret;
use opal_core::protocol::request::{
    Command, Completed, Content, Handle, HttpRequest, Millis, Named, Revealed, Service, WriteFile,
};
use opal_core::protocol::{Body, Kind, Refusal, Shape};
use opal_core::wiped::Wiped;

use crate::capability::Capability;
use crate::client::Serve;
use crate::client::grants::{Access, Grants, Use};
use crate::client::handles::Handles;
use crate::client::sites::no_file;
use crate::client::web;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct World {
    pub(super) env: BTreeMap<String, String>,
    /// By their whole paths.
    pub(super) files: BTreeMap<PathBuf, Vec<u8>>,
    pub(super) now: u64,
    pub(super) rules: Vec<Rule>,
}

/// What a host or a program answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) service: Service,
    /// `GET https://…`, or the words of a command.
    pub(super) request: String,
    /// What the request must have too.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) sends: Option<String>,
    pub(super) gives: Gives,
    /// What is answered from then on.
    pub(super) then: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    Response { status: u16, headers: Vec<(String, String)>, body: String },
    Completed { code: i32, stdout: String, stderr: String },
    Refused(Kind),
}

/// What is done to one question of a call, to see what the plugin makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twist {
    None,
    /// The question of this number is refused so.
    Refuse(usize, Kind),
    /// From this question on nobody wants the answer.
    Stop(usize),
}

/// A question of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) service: Service,
    pub(super) about: String,
}

/// A world while it serves one call.
pub(super) struct Scene<'w> {
    pub(super) world: &'w mut World,
    pub(super) grants: &'w Grants,
    pub(super) handles: Handles,
    pub(super) twist: Twist,
    pub(super) asked: Vec<Asked>,
    /// What the manifest does not allow, and what the test does not answer.
    pub(super) denied: Vec<String>,
    pub(super) unanswered: Vec<String>,
    pub(super) kept: Option<Secret>,
    /// What it logged, for the canaries.
    pub(super) logged: Vec<Secret>,
    /// Secrets that it read.
    pub(super) read: Vec<Secret>,
}

/// Where relative paths of a test are.
const HERE: &str = "/project";

pub(super) fn whole(path: &str) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in Path::new(HERE).join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

impl<'w> Scene<'w> {
    pub(super) fn new(world: &'w mut World, grants: &'w Grants, handles: Handles) -> Self {
        Self {
            world,
            grants,
            handles,
            twist: Twist::None,
            asked: Vec::new(),
            denied: Vec::new(),
            unanswered: Vec::new(),
            kept: None,
            logged: Vec::new(),
            read: Vec::new(),
        }
    }

    fn answer(&mut self, service: Service, params: &Body) -> Result<Body, Refusal> {
        match service {
            Service::ProbeEnv => {
                let name = shape::<Named>(params)?.name;
                self.grants.env(name.expose())?;
                self.note(service, name.expose())?;
                let found =
                    self.world.env.get(name.expose()).map(|text| Secret::new(text.as_str()));
                self.read.extend(found.clone());
                let secret =
                    found.map(|secret| self.handles.add(name.expose(), secret)).transpose()?;
                Ok(Body::of(&Handle { secret }))
            }
            Service::ProbeRead => {
                let path = shape::<Named>(params)?.name;
                let at = self.path(Access::Read, path.expose())?;
                self.note(service, path.expose())?;
                let found = self.world.files.get(&at).ok_or_else(|| no_file(path.expose()))?;
                Ok(Body::of(&Content { bytes: Wiped::new(found.clone()) }))
            }
            Service::ProbeNow => {
                self.grants.clock()?;
                self.note(service, "the time")?;
                Ok(Body::of(&Millis { ms: self.world.now }))
            }
            Service::Reveal => {
                let handle: Handle = shape(params)?;
                self.grants.secrets()?;
                self.note(service, "a secret")?;
                let text = self.handles.get(handle.secret.unwrap_or(u32::MAX))?.clone();
                Ok(Body::of(&Revealed { text }))
            }
            Service::ProbeAsk | Service::StageRun => self.command(service, &shape(params)?),
            Service::ProbeFetch | Service::StageSend => self.request(service, &shape(params)?),
            Service::StageWrite => {
                let write: WriteFile = shape(params)?;
                let at = self.path(Access::Write, write.path.expose())?;
                self.note(service, write.path.expose())?;
                self.world.files.insert(at, write.bytes.to_vec());
                Ok(Body::default())
            }
            Service::StageRemove => {
                let path = shape::<Named>(params)?.name;
                let at = self.path(Access::Write, path.expose())?;
                self.note(service, path.expose())?;
                match self.world.files.remove(&at) {
                    Some(_) => Ok(Body::default()),
                    None => Err(no_file(path.expose())),
                }
            }
            Service::StagePause => {
                let ms = shape::<Millis>(params)?.ms;
                self.note(service, &format!("{ms} ms"))?;
                self.world.now += ms;
                Ok(Body::default())
            }
            Service::StageKeep => {
                let token = shape::<Named>(params)?.name;
                self.note(service, "a token")?;
                self.kept = Some(token);
                Ok(Body::default())
            }
            Service::StageLog => {
                self.logged.push(shape::<Named>(params)?.name);
                Ok(Body::default())
            }
            Service::InputRead | Service::OutputWrite => {
                Err(Refusal::new(Kind::Denied, "a test has no redirections"))
            }
        }
    }

    fn path(&self, access: Access, path: &str) -> Result<PathBuf, Refusal> {
        let at = whole(path);
        self.grants.path(access, &at, &|pattern| Some(whole(pattern)))?;
        Ok(at)
    }

    fn command(&mut self, service: Service, command: &Command) -> Result<Body, Refusal> {
        let args: Vec<&str> = command.args.iter().map(|arg| arg.expose()).collect();
        let how = if service == Service::StageRun { Use::Run } else { Use::Ask };
        self.grants.command(how, &command.program, &args)?;
        for (name, part) in &command.env {
            self.grants.set(name)?;
            self.handles.text(std::slice::from_ref(part), false)?;
        }
        let stdin = self.handles.text(&command.stdin, false)?;
        let words = std::iter::once(command.program.as_str()).chain(args.iter().copied());
        let words = words.collect::<Vec<_>>().join(" ");
        self.note(service, &words)?;
        match self.rule(service, &words, &[], stdin.expose())? {
            Gives::Completed { code, stdout, stderr } => {
                let bytes = |text: &str| self.handles.masked(text.as_bytes());
                let (stdout, stderr) = (bytes(&stdout), bytes(&stderr));
                Ok(Body::of(&Completed { code, stdout, stderr }))
            }
            gives => Err(refused(&gives, &words)),
        }
    }

    fn request(&mut self, service: Service, request: &HttpRequest) -> Result<Body, Refusal> {
        let acts = service == Service::StageSend;
        let checked = web::checked(self.grants, &mut self.handles, request, acts)?;
        let line = format!("{} {}", request.method, checked.url());
        self.note(service, &line)?;
        match self.rule(service, &line, &checked.headers, checked.body.expose())? {
            Gives::Response { status, headers, body } => {
                let headers: Vec<(String, Secret)> = headers
                    .iter()
                    .map(|(name, value)| (name.clone(), Secret::new(value.as_str())))
                    .collect();
                Ok(Body::of(&web::masked(&self.handles, status, &headers, body.as_bytes())))
            }
            gives => Err(refused(&gives, &line)),
        }
    }

    /// Notes a question that is allowed; it may be the one that is refused this time.
    fn note(&mut self, service: Service, about: &str) -> Result<(), Refusal> {
        let number = self.asked.len();
        self.asked.push(Asked { service, about: about.to_owned() });
        match self.twist {
            Twist::Refuse(at, kind) if at == number => {
                let refusal = Refusal::new(kind, format!("`{about}` is refused by the test"));
                Err(refusal.with_help("this is what the test of a law asks for"))
            }
            _ => Ok(()),
        }
    }

    /// What is answered to a request; what it changes is changed.
    fn rule(
        &mut self,
        service: Service,
        request: &str,
        headers: &[(String, Secret)],
        sent: &str,
    ) -> Result<Gives, Refusal> {
        let has = |(name, value): (&String, &String)| {
            let is_it = |it: &(String, Secret)| it.0.eq_ignore_ascii_case(name);
            headers.iter().any(|it| is_it(it) && it.1.expose() == value)
        };
        let is_it = |rule: &&Rule| {
            rule.service == service
                && rule.request == request
                && rule.headers.iter().all(has)
                && rule.sends.as_ref().is_none_or(|sends| is_same(sends, sent))
        };
        let Some(rule) = self.world.rules.iter().find(is_it).cloned() else {
            self.unanswered.push(request.to_owned());
            let message = format!("the test has no answer to `{request}`");
            return Err(Refusal::new(Kind::Failed, message).with_help("add it to `answers`"));
        };
        for new in rule.then {
            let is_other = |old: &Rule| old.service != new.service || old.request != new.request;
            self.world.rules.retain(is_other);
            self.world.rules.push(new);
        }
        Ok(rule.gives)
    }
}

/// The same text, or the same JSON.
fn is_same(wanted: &str, sent: &str) -> bool {
    use opal_core::data::json;
    let canonical =
        |text: &str| json::read(text).ok().map(|it| opal_core::protocol::line::json(&it));
    wanted == sent
        || match (canonical(wanted), canonical(sent)) {
            (Some(wanted), Some(sent)) => wanted.expose() == sent.expose(),
            _ => false,
        }
}

fn refused(gives: &Gives, what: &str) -> Refusal {
    let kind = if let Gives::Refused(kind) = gives { *kind } else { Kind::Invalid };
    let refusal = Refusal::new(kind, format!("`{what}` does not answer"));
    refusal.with_help("try again later")
}

fn shape<T: Shape>(params: &Body) -> Result<T, Refusal> {
    params.read().ok_or_else(|| Refusal::new(Kind::Invalid, "the parameters have another form"))
}

impl Serve for Scene<'_> {
    fn serve(&mut self, service: Service, params: &Body) -> Result<Body, Refusal> {
        let before = self.asked.len();
        let answer = self.answer(service, params);
        if let Err(refusal) = &answer
            && refusal.kind == Kind::Denied
            && self.asked.len() == before
        {
            self.denied.push(refusal.message.expose().to_owned());
        }
        answer
    }

    fn is_stopped(&self) -> bool {
        matches!(self.twist, Twist::Stop(at) if self.asked.len() > at)
    }
}

impl World {
    /// Which of these capabilities a question needs.
    pub(super) fn uses(asked: &Asked, capability: &Capability) -> bool {
        let grants = Grants::pretended([capability.clone()]);
        let words: Vec<&str> = asked.about.split(' ').collect();
        match asked.service {
            Service::ProbeEnv => grants.env(&asked.about).is_ok(),
            Service::ProbeNow => grants.clock().is_ok(),
            Service::Reveal => grants.secrets().is_ok(),
            Service::ProbeRead | Service::StageWrite | Service::StageRemove => {
                let reads = asked.service == Service::ProbeRead;
                let access = if reads { Access::Read } else { Access::Write };
                grants.path(access, &whole(&asked.about), &|it| Some(whole(it))).is_ok()
            }
            Service::ProbeAsk => grants.command(Use::Ask, words[0], &words[1..]).is_ok(),
            Service::StageRun => grants.command(Use::Run, words[0], &words[1..]).is_ok(),
            Service::ProbeFetch | Service::StageSend => {
                let acts = asked.service == Service::StageSend;
                let (method, url) = asked.about.split_once(' ').unwrap_or_default();
                let address = web::Address::parse(url);
                address.is_some_and(|it| grants.host(&it, method, acts).is_ok())
            }
            _ => false,
        }
    }
}
