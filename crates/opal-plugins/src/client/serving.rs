//! What opal does for a plugin: after a check of its capabilities, by the probe or the stage of the step.
//!
//! There are two types. [`Reading`] has a probe and nothing else, so a value or a verification cannot
//! change anything. [`Acting`] has the stage of a step.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use opal_core::Data;
use opal_core::action::{Conditions, Halt, Level, OutputOf, Stage};
use opal_core::context::{Context, Place};
use opal_core::data::Secret;
use opal_core::files::{Attributes, EntryKind, Existing};
use opal_core::pages::Exchanges;
use opal_core::protocol::request::{
    Command, Completed, Content, Handle, HttpRequest, Millis, Named, Revealed, Service, WriteFile,
};
use opal_core::protocol::{Body, Kind, Refusal, Shape};
use opal_core::resolver::{Ask, Links, MAX_VALUE_BYTES, Probe, Run, ScriptPart};
use opal_core::wiped;
use opal_core::wiped::Wiped;

use super::Serve;
use super::grants::{Access, Grants, Use};
use super::handles::Handles;
use super::sites::{no_file, program, refusal, resolved};
use super::web::{Asking, exchange};

/// What a package was granted, and who speaks to hosts for it.
#[derive(Clone, Copy, Debug)]
pub struct Powers<'a> {
    pub grants: &'a Grants,
    pub web: &'static dyn Exchanges,
}

/// The answers of a call that reads.
pub struct Reading<'a> {
    pub probe: &'a dyn Probe,
    pub powers: Powers<'a>,
    pub handles: Handles,
}

/// Takes a token.
pub type Keep<'a> = dyn FnMut(&mut dyn Stage, &Secret) -> Result<(), Halt> + 'a;

/// The answers of a call that acts.
pub struct Acting<'a> {
    pub stage: &'a mut dyn Stage,
    pub powers: Powers<'a>,
    pub handles: Handles,
    /// Who takes the token that the plugin gives before it creates something; none where nothing is closed.
    pub keep: Option<&'a mut Keep<'a>>,
    /// Why the step does not go on.
    pub halt: Option<Halt>,
}

impl std::fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Acting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Acting").finish_non_exhaustive()
    }
}

impl Serve for Reading<'_> {
    fn serve(&mut self, service: Service, params: &Body) -> Result<Body, Refusal> {
        read(self.probe, self.powers, &mut self.handles, service, params)
    }

    fn is_stopped(&self) -> bool {
        self.probe.is_stopped()
    }

    fn masked(&self, text: &Secret) -> Secret {
        self.handles.masked_text(text)
    }
}

pub(crate) fn shape<T: Shape>(params: &Body) -> Result<T, Refusal> {
    params.read().ok_or_else(|| Refusal::new(Kind::Invalid, "the parameters have another form"))
}

/// The services of a probe, and of secrets.
fn read(
    probe: &dyn Probe,
    powers: Powers<'_>,
    handles: &mut Handles,
    service: Service,
    params: &Body,
) -> Result<Body, Refusal> {
    let grants = powers.grants;
    match service {
        Service::ProbeEnv => {
            let name = shape::<Named>(params)?.name;
            grants.env(name.expose())?;
            let found = probe.env(name.expose()).map_err(|trouble| refusal(&trouble))?;
            let secret = found.map(|it| handles.add(name.expose(), it)).transpose()?;
            Ok(Body::of(&Handle { secret }))
        }
        Service::ProbeRead => {
            let path = shape::<Named>(params)?.name;
            let bytes = read_file(probe, grants, path.expose())?;
            Ok(Body::of(&Content { bytes: handles.masked(&bytes) }))
        }
        Service::ProbeAsk => {
            let command: Command = shape(params)?;
            ask(probe, grants, handles, &command).map(|completed| Body::of(&completed))
        }
        Service::ProbeNow => {
            grants.clock()?;
            let since = probe.now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
            Ok(Body::of(&Millis { ms }))
        }
        Service::Reveal => {
            let handle: Handle = shape(params)?;
            grants.secrets()?;
            let text = handles.get(handle.secret.unwrap_or(u32::MAX))?.clone();
            Ok(Body::of(&Revealed { text }))
        }
        Service::ProbeFetch => {
            let request: HttpRequest = shape(params)?;
            let is_stopped = || probe.is_stopped();
            let asking =
                Asking { web: powers.web, probe, grants, acts: false, is_stopped: &is_stopped };
            let found = exchange(&asking, handles, &request)?;
            Ok(Body::of(&found))
        }
        _ => Err(Refusal::new(Kind::Denied, "this call only reads")),
    }
}

fn read_file(probe: &dyn Probe, grants: &Grants, path: &str) -> Result<Wiped<Vec<u8>>, Refusal> {
    let named = path;
    let path = granted(probe, grants, Access::Read, path)?;
    let entry = probe.stat(&path).map_err(|trouble| refusal(&trouble))?;
    match entry.map(|entry| entry.kind) {
        Some(EntryKind::File) => {}
        Some(_) => return Err(Refusal::new(Kind::Denied, "it is not a file")),
        None => return Err(no_file(named)),
    }
    // The path has no symlink any more: one that appears meanwhile is not followed.
    let links = Links::FollowedTo(Path::new("/"));
    let mut file = probe.read(&path, links).map_err(|trouble| refusal(&trouble))?;
    let bytes = wiped::read(&mut *file, MAX_VALUE_BYTES + 1)
        .map_err(|error| Refusal::new(Kind::Failed, error.kind().to_string()))?;
    if bytes.len() as u64 > MAX_VALUE_BYTES {
        return Err(Refusal::new(Kind::TooLarge, "the file is larger than 8 MiB"));
    }
    Ok(bytes)
}

/// A path that may be used so, without symlinks.
fn granted(
    probe: &dyn Probe,
    grants: &Grants,
    access: Access,
    path: &str,
) -> Result<std::path::PathBuf, Refusal> {
    let path = resolved(probe, path)?;
    grants.path(access, &path, &|pattern| probe.place(pattern).ok())?;
    Ok(path)
}

/// A command that may be run so: its words, its variables and its input.
struct Checked {
    words: Vec<Secret>,
    environment: BTreeMap<String, Secret>,
    stdin: Secret,
    hides_agent: bool,
}

fn check(
    probe: &dyn Probe,
    grants: &Grants,
    handles: &mut Handles,
    how: Use,
    command: &Command,
) -> Result<Checked, Refusal> {
    let args: Vec<&str> = command.args.iter().map(|arg| arg.expose()).collect();
    grants.command(how, &command.program, &args)?;
    if args.iter().any(|arg| arg.contains('\0')) {
        return Err(Refusal::new(Kind::Invalid, "an argument has a NUL character"));
    }
    let is_target = probe.origin().is_some();
    let mut environment = BTreeMap::new();
    for (name, part) in &command.env {
        grants.set(name)?;
        let value = handles.text(std::slice::from_ref(part), is_target)?;
        environment.insert(name.clone(), value);
    }
    let path = program(probe, &command.program)?;
    let words = std::iter::once(Secret::new(path)).chain(command.args.iter().cloned()).collect();
    let stdin = handles.text(&command.stdin, is_target)?;
    Ok(Checked { words, environment, stdin, hides_agent: !grants.has_agent() })
}

impl Checked {
    /// As text of the shell in which every word is data.
    fn script(&self) -> Vec<ScriptPart> {
        let word = |word: &Secret| {
            let place = Context::new(Place::Word).whole_word(true);
            [ScriptPart::Text(" ".to_owned()), ScriptPart::Data(Data::Text(word.clone()), place)]
        };
        let mut parts = Vec::new();
        // In a shell of its own: what is unset here stays set elsewhere.
        let unset = if self.hides_agent { "(unset SSH_AUTH_SOCK; " } else { "(" };
        parts.push(ScriptPart::Text(unset.to_owned()));
        let is_silent = self.stdin.expose().is_empty();
        if !is_silent {
            parts.push(ScriptPart::Text("printf %s".to_owned()));
            parts.extend(word(&self.stdin));
            parts.push(ScriptPart::Text(" |".to_owned()));
        }
        parts.extend(self.words.iter().flat_map(word));
        parts.push(ScriptPart::Text(if is_silent { " </dev/null)" } else { ")" }.to_owned()));
        parts
    }
}

fn ask(
    probe: &dyn Probe,
    grants: &Grants,
    handles: &mut Handles,
    command: &Command,
) -> Result<Completed, Refusal> {
    let checked = check(probe, grants, handles, Use::Ask, command)?;
    let script = checked.script();
    let run = Run::Script(&script);
    let ask = Ask { run, environment: &checked.environment, ..Ask::program(&[]) };
    let answer = probe.ask(&ask).map_err(|trouble| refusal(&trouble))?;
    Ok(completed(handles, answer.code, &answer.stdout, &answer.stderr))
}

fn completed(handles: &Handles, code: i32, stdout: &Secret, stderr: &Secret) -> Completed {
    let bytes = |text: &Secret| handles.masked(text.expose().as_bytes());
    Completed { code, stdout: bytes(stdout), stderr: bytes(stderr) }
}

impl Serve for Acting<'_> {
    fn serve(&mut self, service: Service, params: &Body) -> Result<Body, Refusal> {
        match service {
            Service::StageRun => self.run(&shape(params)?).map(|completed| Body::of(&completed)),
            Service::StageSend => {
                let request: HttpRequest = shape(params)?;
                let Powers { grants, web } = self.powers;
                let (probe, is_stopped) = (self.stage.probe(), || self.stage.go_on().is_err());
                let asking =
                    Asking { web, probe: &*probe, grants, acts: true, is_stopped: &is_stopped };
                let found = exchange(&asking, &mut self.handles, &request)?;
                Ok(Body::of(&found))
            }
            Service::StageWrite => self.write(&shape(params)?),
            Service::StageRemove => self.remove(shape::<Named>(params)?.name.expose()),
            Service::StagePause => self.pause(shape::<Millis>(params)?.ms),
            Service::StageKeep => {
                let token = shape::<Named>(params)?.name;
                self.keep(&token)
            }
            Service::StageLog => {
                let message = self.handles.masked_text(&shape::<Named>(params)?.name);
                self.done(|stage| stage.log(Level::Info, &message))
            }
            _ => {
                let probe = self.stage.probe();
                read(&*probe, self.powers, &mut self.handles, service, params)
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.halt.is_some() || self.stage.go_on().is_err()
    }

    fn masked(&self, text: &Secret) -> Secret {
        self.handles.masked_text(text)
    }
}

impl Acting<'_> {
    /// Puts a token into the record. Where nothing is closed later, it is for whoever cleans up by hand.
    fn keep(&mut self, token: &Secret) -> Result<Body, Refusal> {
        match self.keep.take() {
            Some(keep) => {
                let kept = self.done(|stage| keep(stage, token));
                self.keep = Some(keep);
                kept
            }
            None => {
                let text = Secret::new(format!("to be closed: {}", token.expose()));
                self.done(|stage| stage.log(Level::Debug, &text))
            }
        }
    }

    /// Does something; what halts the step halts the plugin too.
    fn done<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Stage) -> Result<T, Halt>,
    ) -> Result<Body, Refusal> {
        self.or_halt(work).map(|_| Body::default())
    }

    fn or_halt<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Stage) -> Result<T, Halt>,
    ) -> Result<T, Refusal> {
        work(self.stage).map_err(|halt| {
            let refused = match &halt {
                Halt::Failed(failure) => failure.trouble.as_ref().map(refusal),
                Halt::Stopped(_) | Halt::Unrecorded => None,
            };
            // A failure is for the plugin to judge; everything else ends the step.
            if !matches!(halt, Halt::Failed(_)) {
                self.halt = Some(halt);
            }
            refused.unwrap_or_else(|| Refusal::new(Kind::Failed, "the step was stopped"))
        })
    }

    fn run(&mut self, command: &Command) -> Result<Completed, Refusal> {
        let checked = {
            let probe = self.stage.probe();
            check(&*probe, self.powers.grants, &mut self.handles, Use::Run, command)?
        };
        let script = checked.script();
        let under = Conditions { environment: checked.environment, ..Conditions::default() };
        let command = opal_core::action::Command {
            script: &script,
            interpreter: None,
            under,
            output: OutputOf::Captured,
        };
        let done = self.or_halt(|stage| stage.command(&command))?;
        Ok(completed(&self.handles, done.code, &done.stdout, &done.stderr))
    }

    fn write(&mut self, write: &WriteFile) -> Result<Body, Refusal> {
        let path = {
            let probe = self.stage.probe();
            granted(&*probe, self.powers.grants, Access::Write, write.path.expose())?
        };
        if write.mode.is_some_and(|mode| mode & !0o777 != 0) {
            return Err(Refusal::new(Kind::Invalid, "a mode has nine bits"));
        }
        let attributes = Attributes { mode: write.mode, ..Attributes::default() };
        let files = self.stage.files();
        let pending = files.write(&path, &attributes, Existing::Replaced);
        let mut pending = pending.map_err(|trouble| refusal(&trouble))?;
        let written = pending.write_all(&write.bytes);
        written.map_err(|error| Refusal::new(Kind::Failed, error.kind().to_string()))?;
        pending.keep().map_err(|trouble| refusal(&trouble))?;
        Ok(Body::default())
    }

    fn remove(&mut self, path: &str) -> Result<Body, Refusal> {
        let probe = self.stage.probe();
        let path = granted(&*probe, self.powers.grants, Access::Write, path)?;
        drop(probe);
        self.stage.files().remove(&path, false).map_err(|trouble| refusal(&trouble))?;
        Ok(Body::default())
    }

    fn pause(&mut self, ms: u64) -> Result<Body, Refusal> {
        const MOST: u64 = 60_000;
        if ms > MOST {
            return Err(Refusal::new(Kind::Invalid, "a pause has at most 60 s"));
        }
        self.done(|stage| stage.wait(std::time::Duration::from_millis(ms)))
    }
}
