//! What specs and blueprints name, held against the directories that were given: what lies outside of
//! them may be there all the same, and is not missed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::schema::Schemas;
use opal_core::{Diagnostic, Span};

use super::{Blueprint, Profile, Spec};
use crate::named::{self, Part};
use crate::run::drivers;
use crate::{Hints, Places, load};

/// The directories that are looked through, without links.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) roots: Vec<PathBuf>,
    pub(super) schemas: Arc<dyn Schemas>,
}

impl Seen {
    fn places(&self, modules: &Path) -> Option<Places> {
        Places::find(&Hints { module_root: Some(modules), ..Hints::none(&self.schemas) }).ok()
    }

    fn has(&self, folder: &Path) -> bool {
        folder.is_dir() && self.roots.iter().any(|root| folder.starts_with(root))
    }

    /// What a spec names and is not where it would be looked for; `folder` is its directory.
    pub(super) fn spec(&self, folder: &Path, spec: &Spec) -> Vec<Diagnostic> {
        let Some(places) = above(folder, &spec.module_ref.path()).and_then(|it| self.places(it))
        else {
            return Vec::new();
        };
        let beside = |name: &str| self.has(&places.modules.with_file_name(name));
        let is_known = |part: Part| match part {
            Part::Driver => true,
            Part::Profile => beside("drivers") || beside("hyops"),
            // Reported once, for the profile itself.
            Part::Template => false,
            Part::Pack | Part::Stack => beside("packs"),
            Part::Dependency { .. } => self.has(&places.modules),
        };
        let lacking = named::lacking(&places, spec).into_iter();
        lacking.filter(|one| is_known(one.part)).map(named::Lacking::warning).collect()
    }

    /// The modules of a blueprint that are not in `modules/` beside `blueprints/`.
    pub(super) fn blueprint(&self, folder: &Path, blueprint: &Blueprint) -> Vec<Diagnostic> {
        let root = above(folder, &blueprint.blueprint_ref.path());
        let modules = root.map(|root| root.with_file_name("modules"));
        let Some(places) = modules.filter(|it| self.has(it)).and_then(|it| self.places(&it)) else {
            return Vec::new();
        };
        let missing = |step: &crate::Step| {
            let missing = load::place(&places, &step.module_ref).err()?;
            Some(named::warning(step.span, missing))
        };
        blueprint.steps.iter().filter_map(missing).collect()
    }

    /// A template of a profile that is not in `templates/` beside `profiles/`.
    pub(super) fn profile(&self, path: &Path, profile: &Profile) -> Option<Diagnostic> {
        let levels = profile.profile_ref.path().components().count() + 1;
        let templates = path.ancestors().nth(levels)?.join("templates");
        let missing = drivers::templates(profile, path).err().filter(|_| self.has(&templates))?;
        Some(named::warning(Span::at(0), missing))
    }
}

/// The root that something is in, by its directory and its reference.
fn above<'p>(folder: &'p Path, reference: &Path) -> Option<&'p Path> {
    let root = folder.ancestors().nth(reference.components().count())?;
    folder.ends_with(reference).then_some(root)
}
