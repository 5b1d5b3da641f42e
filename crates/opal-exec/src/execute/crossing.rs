//! A block that runs on a target.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use opal_core::Secret;
use opal_core::action::{Halt, Level, Limits, Pending, Stage as _};
use opal_core::crossing::Crossing;
use opal_core::files::{Attributes, EntryKind, Existing};
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Links, ScriptPart, Trouble, TroubleKind};
use opal_core::shell;
use opal_session::Place;
use opal_vault::event::Kind;

use super::actor::Actor;
use super::context::Context;
use super::halts::{UNAVAILABLE, go_on};
use crate::error::StepError;
use crate::spot::{Folder, Site};

/// A host that ssh refuses, and a user who may not.
const NO_PERMISSION: i32 = 77;

/// Another machine answers than the one that is meant.
const MUTATED: i32 = 76;

/// Where steps find the files that were sent for their block.
const FILES: &str = "OPAL_FILES";

/// Of a file that was sent.
const PRIVATE: u32 = 0o600;
const EXECUTABLE: u32 = 0o100;

impl<'p> Actor<'_, 'p> {
    /// What holds for the block on its target. Nothing that holds around it crosses.
    pub(super) fn cross(
        &self,
        crossing: &Crossing,
        is_member: bool,
        here: Context<'p>,
    ) -> Result<Context<'p>, Halt> {
        let crossed = self.cross_when_ready(crossing, is_member, &here);
        if crossed.is_err() {
            // A connection that was not made because of it has not failed.
            go_on(&here.stop)?;
        }
        let failed = |trouble: Trouble| self.fail(code(&trouble), trouble);
        let (mut site, start) = crossed.map_err(failed)?;
        if crossing.target.interpreter.is_none() {
            self.read_texts(&site)?;
        }
        if let Some(note) = site.session.note() {
            let (path, level) = (&*self.begun.step.path, Level::Warn);
            let message = self.walk.job.vault.scrub(&note).into_owned();
            self.walk.tell(Kind::Log { path, level, message }, &here)?;
        }
        let mut environment = BTreeMap::new();
        if !crossing.settings.files.is_empty() {
            let folder = self.send(&crossing.settings.files, &site, &here);
            if folder.is_err() {
                go_on(&here.stop)?;
            }
            let folder = folder.map_err(|trouble| self.failed_there(trouble))?;
            environment.insert(FILES.to_owned(), Secret::new(folder.0.path()));
            site = Arc::new(Site { folder: Some(folder), ..Site::clone(&site) });
        }
        Ok(Context {
            site: Some(site),
            directory: Arc::clone(&start),
            base: start,
            previous: None,
            moved_by: None,
            environment: Arc::new(environment),
            limits: Limits::default(),
            ..here
        })
    }

    /// Where the connection was lost, the step has another one, and the files of its block again.
    pub(super) fn reconnect(&mut self) -> Result<(), Halt> {
        let Some(site) = self.here.site.clone() else { return Ok(()) };
        let Some(again) = site.again(self.walk.job.reach, &self.here.stop) else { return Ok(()) };
        if again.is_err() {
            go_on(&self.here.stop)?;
        }
        let mut again = again.map_err(|trouble| self.fail(code(&trouble), trouble))?;
        let files = again.way.last().map(|crossing| Arc::clone(&crossing.settings));
        if let Some(settings) = files.filter(|settings| !settings.files.is_empty()) {
            let sent = self.send(&settings.files, &again, self.here);
            if sent.is_err() {
                go_on(&self.here.stop)?;
            }
            let folder = sent.map_err(|trouble| self.fail(code(&trouble), trouble))?;
            let environment = Arc::make_mut(&mut self.here.environment);
            environment.insert(FILES.to_owned(), Secret::new(folder.0.path()));
            again.folder = Some(folder);
        }
        self.here.site = Some(Arc::new(again));
        Ok(())
    }

    /// Sends files of opal's machine into a new directory of the target, and compares their digests.
    fn send(
        &self,
        files: &BTreeMap<String, String>,
        site: &Site,
        here: &Context<'p>,
    ) -> Result<Folder, Trouble> {
        let job = self.walk.job;
        let (base, none) = (&*here.sources, BTreeMap::new());
        let place = |base| Place {
            base,
            directory: base,
            environment: &none,
            sources: None,
            stop: &here.stop,
        };
        let (origin, there) = (job.session.probe(&place(base)), site.session.probe(&place(base)));
        let folder = site.session.folder(&here.stop)?;
        for (name, source) in files {
            let (from, to) = (origin.place(source)?, Path::new(folder.path()).join(name));
            let entry = origin.stat(&from)?.filter(|entry| entry.kind != EntryKind::Link);
            // What only its owner executes here is executed by the owner there.
            let mode = entry.map_or(PRIVATE, |entry| PRIVATE | entry.mode & EXECUTABLE);
            let attributes = Attributes { mode: Some(mode), ..Attributes::default() };
            let mut file = origin.open(source)?;
            let files = site.session.files(&here.stop);
            let mut pending = files.write(&to, &attributes, Existing::Refused)?;
            let unsent = |why: io::Error| StepError::FileNotSent { path: source, why: why.kind() };
            let digest = copied(&mut *file, &mut *pending).map_err(unsent)?;
            pending.keep()?;
            if there.digest(&to, Links::followed_above(&to))? != digest {
                let why = io::ErrorKind::InvalidData;
                return Err(StepError::FileNotSent { path: source, why }.into());
            }
        }
        Ok(Folder(Arc::from(folder)))
    }

    /// What a target that was reached cannot do for the block. A file that may not be read is not a
    /// refused login.
    fn failed_there(&self, mut trouble: Trouble) -> Halt {
        let code = code(&trouble);
        if trouble.kind == TroubleKind::Denied {
            trouble.kind = TroubleKind::Failed;
        }
        self.fail(code, trouble)
    }

    /// Lets the shell of the target read all commands of the block before the first of them runs.
    fn read_texts(&self, site: &Site) -> Result<(), Halt> {
        let texts = shell::texts_within(self.begun.step);
        let scripts: Vec<&[ScriptPart]> = texts.iter().map(|text| text.parts.as_slice()).collect();
        if scripts.is_empty() {
            return Ok(());
        }
        let faults = site.session.check(&scripts, &self.here.stop);
        let faults = faults.map_err(|trouble| self.failed_there(trouble))?;
        let fault = faults.into_iter().find_map(|fault| {
            let path = texts.get(fault.text)?.path;
            Some(StepError::TargetSyntax { path, line: fault.line, said: fault.message }.into())
        });
        fault.map_or(Ok(()), |trouble| Err(self.fail(1, trouble)))
    }
}

/// Copies all of it: the digest of what was read.
fn copied(from: &mut dyn Read, to: &mut dyn Pending) -> io::Result<Digest> {
    let mut hasher = Algorithm::Sha256.hasher();
    let mut bytes = vec![0; 512 * 1024];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(count) => {
                hasher.update(&bytes[..count]);
                to.write_all(&bytes[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether a block did not begin because nobody who may be asked answers there.
pub(super) fn is_unreachable(trouble: &Trouble) -> bool {
    matches!(
        trouble.kind,
        TroubleKind::Unreachable | TroubleKind::Lost | TroubleKind::TimedOut | TroubleKind::Denied
    )
}

/// What the step ends with.
pub(super) fn code(trouble: &Trouble) -> i32 {
    match trouble.kind {
        TroubleKind::Unreachable | TroubleKind::Lost | TroubleKind::TimedOut => UNAVAILABLE,
        TroubleKind::Denied => NO_PERMISSION,
        TroubleKind::Mutated => MUTATED,
        _ => 1,
    }
}
