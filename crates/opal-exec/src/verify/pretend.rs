//! A stage on which nothing happens: it shows what would hold for the steps of a block.

use std::sync::Arc;

use opal_core::Secret;
use opal_core::action::{
    BranchOutput, Command, Completed, Conditions, Failure, Fleet, Halt, Level, Object, OnFailure,
    OpenObject, Pause, Pending, Replace, Stage, TextFile,
};
use opal_core::files::{Attributes, Existing, Files};
use opal_core::inventory::EntryStore;
use opal_core::plan::Step;
use opal_core::resolver::{Probe, Trouble};
use opal_core::target::Hop;
use std::path::Path;

use super::rehearse::{Here, Rehearsal};
use crate::error::StepError;

const NOT_YET: &str = "the container is created when the block runs";

pub(super) struct Pretend<'r, 'p> {
    pub(super) rehearsal: &'r mut Rehearsal<'p>,
    pub(super) step: &'p Step,
    pub(super) here: &'r Here,
    /// Whether the block has been gone through: once is enough.
    pub(super) is_walked: bool,
}

impl Pretend<'_, '_> {
    fn walk(&mut self, under: &Conditions) {
        if std::mem::replace(&mut self.is_walked, true) {
            return;
        }
        let mut here = self.here.clone();
        if let Some(project) = &under.project {
            here.spot.sources = self.rehearsal.survey.base.join(project).into();
        }
        if let Some(crossing) = &under.crossing
            && let Hop::NewContainer(_) = crossing.target.hop
        {
            // It is not there before, and gone after: nothing in it can be verified.
            self.rehearsal.sight(&here, crossing, None);
            return self.rehearsal.lost(&self.step.block, &here, NOT_YET.into());
        }
        if let Some(crossing) = &under.crossing {
            let name = crossing.target.name.as_str();
            let crossed = self.rehearsal.cross((self.step, &here), crossing, false);
            self.rehearsal.sight(&here, crossing, crossed.as_ref().err());
            here.go_to(name, crossed);
        }
        if let Some(project) = under.project.as_ref().filter(|_| here.target.is_none()) {
            self.rehearsal.enter(&mut here, project);
        }
        if let Some(directory) = &under.directory {
            self.rehearsal.go(&mut here, &directory.path);
        }
        if !under.environment.is_empty() {
            let more = under.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
            Arc::make_mut(&mut here.spot.environment).extend(more);
        }
        self.rehearsal.block(&self.step.block, here);
    }
}

impl Stage for Pretend<'_, '_> {
    fn block(&mut self, under: &Conditions) -> Result<(), Halt> {
        self.walk(under);
        Ok(())
    }

    fn branches(
        &mut self,
        _: Option<usize>,
        _: OnFailure,
        _: Option<BranchOutput>,
    ) -> Result<(), Halt> {
        // Each branch has a directory of its own.
        if !std::mem::replace(&mut self.is_walked, true) {
            for branch in &self.step.block {
                self.rehearsal.block(std::slice::from_ref(branch), self.here.clone());
            }
        }
        Ok(())
    }

    fn fleet(&mut self, fleet: &Fleet) -> Result<(), Halt> {
        if !std::mem::replace(&mut self.is_walked, true) {
            self.rehearsal.fleet(self.step, self.here, fleet);
        }
        Ok(())
    }

    fn command(&mut self, _: &Command<'_>) -> Result<Completed, Halt> {
        Ok(Completed { code: 0, stdout: Secret::new(""), stderr: Secret::new("") })
    }

    fn is_captured(&self) -> bool {
        self.step.binding.is_some()
    }

    fn pause(&mut self, _: &Pause) -> Result<(), Halt> {
        Ok(())
    }

    fn go_on(&self) -> Result<(), Halt> {
        Ok(())
    }

    fn wait(&mut self, _: std::time::Duration) -> Result<(), Halt> {
        Ok(())
    }

    /// Nothing was opened.
    fn cleaning(
        &mut self,
        _: std::time::Duration,
        _: &mut dyn FnMut(&mut dyn Stage) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        Ok(())
    }

    fn is_pretended(&self) -> bool {
        true
    }

    fn hides(&self, _: &Secret) -> bool {
        true
    }

    fn log(&mut self, _: Level, _: &Secret) -> Result<(), Halt> {
        Ok(())
    }

    fn opened(&mut self, _: &OpenObject<'_>) -> Result<(), Halt> {
        Ok(())
    }

    fn object(&mut self, _: &Object<'_>) -> Result<(), Halt> {
        Ok(())
    }

    fn closed(&mut self, _: &str) -> Result<(), Halt> {
        Ok(())
    }

    fn print(&mut self, _: &Secret) -> Result<(), Halt> {
        Ok(())
    }

    fn pass_on(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn replace(&mut self, _: &Replace<'_>) -> Result<Box<dyn Pending>, Halt> {
        Err(self.fail(1, refused()))
    }

    fn text_file(&mut self, _: &str, _: &str) -> Result<Box<dyn TextFile>, Halt> {
        Err(self.fail(1, refused()))
    }

    fn probe(&self) -> Box<dyn Probe + '_> {
        let survey = &self.rehearsal.survey;
        let spot = &self.here.spot;
        spot.session(&**survey.session).probe(&spot.place(survey.stop))
    }

    fn files(&self) -> Box<dyn Files + '_> {
        Box::new(Untouched)
    }

    fn origin_files(&self) -> Box<dyn Files + '_> {
        Box::new(Untouched)
    }

    fn entries(&self) -> Option<&dyn EntryStore> {
        None
    }

    fn random(&mut self) -> u64 {
        0
    }

    fn exit(&self, code: i32) -> Halt {
        Halt::Failed(Box::new(Failure::new(self.step.path.clone(), code, None)))
    }

    fn caught(&self) -> Option<Failure> {
        None
    }

    fn is_under_contract(&self) -> bool {
        false
    }

    fn fail(&self, code: i32, trouble: Trouble) -> Halt {
        Halt::Failed(Box::new(Failure::new(self.step.path.clone(), code, Some(trouble))))
    }
}

/// Files that cannot be changed during a verification.
struct Untouched;

fn refused() -> Trouble {
    StepError::ReadOnly.into()
}

impl Files for Untouched {
    fn write(&self, _: &Path, _: &Attributes, _: Existing) -> Result<Box<dyn Pending>, Trouble> {
        Err(refused())
    }

    fn make_directory(&self, _: &Path, _: &Attributes) -> Result<(), Trouble> {
        Err(refused())
    }

    fn make_link(&self, _: &Path, _: &Path, _: bool) -> Result<(), Trouble> {
        Err(refused())
    }

    fn set(&self, _: &Path, _: &Attributes) -> Result<(), Trouble> {
        Err(refused())
    }

    fn remove(&self, _: &Path, _: bool) -> Result<(), Trouble> {
        Err(refused())
    }

    fn within<'f>(&'f self, _: &Path) -> Result<Box<dyn Files + 'f>, Trouble> {
        Err(refused())
    }
}
