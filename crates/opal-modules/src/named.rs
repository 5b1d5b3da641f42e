//! What a spec names: its driver, its profile, its pack, and what it builds on; and whether that is
//! there and fits.
//!
//! `opal module validate` and `opal module lint` look with the same eyes. How grave it is that
//! something is missing is for each of them to say.

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::{Code, Diagnostic, Span};

use super::lint::{Linted, cycles};
use super::load::{self, Read};
use super::run::{Command, Request, drivers};
use super::{ModuleRef, NotFound, Places, Profile, Spec};

/// No module builds on more.
const MOST_MODULES: usize = 1_000;

/// Something that a spec names, and that cannot be used.
#[derive(Clone, Debug)]
pub struct Lacking {
    pub part: Part,
    /// Where it is named.
    pub span: Span,
    pub missing: NotFound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Driver,
    Profile,
    /// A template of the profile.
    Template,
    Pack,
    /// A file of the pack without which its driver cannot run it.
    Stack,
    Dependency {
        required: bool,
    },
}

impl Part {
    /// Whether a module is of no use without it. What the machine that runs it may still have, or its
    /// driver may still get, is not a fault of the spec.
    #[must_use]
    pub fn is_needed(self) -> bool {
        match self {
            Self::Profile | Self::Pack => true,
            Self::Driver | Self::Template | Self::Stack => false,
            Self::Dependency { required } => required,
        }
    }
}

impl Lacking {
    #[must_use]
    pub fn warning(self) -> Diagnostic {
        warning(self.span, self.missing)
    }
}

/// A warning: what is not here may be elsewhere.
pub(super) fn warning(span: Span, missing: NotFound) -> Diagnostic {
    Diagnostic::new(Code::SpecLacking, span, missing.message).help(missing.help)
}

/// Everything that a spec names and that cannot be used.
#[must_use]
pub fn lacking(places: &Places, spec: &Spec) -> Vec<Lacking> {
    let (execution, spans) = (&spec.execution, spec.spans);
    let mut found = Vec::new();
    let mut push = |part, span, missing| found.push(Lacking { part, span, missing });
    if let Err(missing) = drivers::find(&execution.driver) {
        push(Part::Driver, spans.driver, missing);
    }
    let profile = load::profile(places, spec);
    let stack = places.stack(&execution.driver, &execution.pack);
    match (profile, stack) {
        (Ok(read), Ok(stack)) => {
            // The errors of a profile are reported for the profile.
            if let Some(profile) = read.checked.found
                && let Err((part, missing)) = fits(spec, &profile, &read.path, &stack)
            {
                let span = if part == Part::Template { spans.profile } else { spans.pack };
                push(part, span, missing);
            }
        }
        (profile, stack) => {
            profile.err().into_iter().for_each(|it| push(Part::Profile, spans.profile, it));
            stack.err().into_iter().for_each(|it| push(Part::Pack, spans.pack, it));
        }
    }
    for dependency in &spec.dependencies {
        if let Err(missing) = load::place(places, &dependency.module_ref) {
            push(Part::Dependency { required: dependency.required }, dependency.span, missing);
        }
    }
    found
}

/// The first cycle among a module and all that it builds on, reported for the file that closes it.
#[must_use]
pub fn cycle(places: &Places, read: Read<Spec>) -> Option<Linted> {
    let mut found: BTreeSet<ModuleRef> = BTreeSet::new();
    let (mut files, mut specs, mut left) = (Vec::new(), Vec::new(), vec![read]);
    while let Some(Read { path, text, checked, .. }) = left.pop() {
        let Some(spec) = checked.found else { continue };
        found.insert(spec.module_ref.clone());
        for dependency in &spec.dependencies {
            if found.len() < MOST_MODULES && found.insert(dependency.module_ref.clone()) {
                left.extend(load::spec(places, &dependency.module_ref).ok());
            }
        }
        specs.push((files.len(), spec));
        files.push((path, text));
    }
    let (file, cycle) = cycles::find(&specs).into_iter().next()?;
    let (path, text) = files.swap_remove(file);
    Some(Linted { path, text, diagnostics: vec![cycle] })
}

/// Whether the driver takes the stack, as far as that is known without inputs.
fn fits(
    spec: &Spec,
    profile: &Profile,
    profile_path: &Path,
    stack: &Path,
) -> Result<(), (Part, NotFound)> {
    let execution = &spec.execution;
    let Ok(driver) = drivers::find(&execution.driver) else { return Ok(()) };
    // A template may be the very file that the pack lacks: without them there is nothing to say.
    let templates =
        drivers::templates(profile, profile_path).map_err(|missing| (Part::Template, missing))?;
    let request = Request {
        command: Command::Apply,
        module: &spec.module_ref,
        instance: None,
        inputs: &spec.defaults,
        execution,
        credentials: &spec.credentials,
        profile,
        templates: &templates,
        stack,
        find: &|_| None,
    };
    driver.fits(&request).map_err(|missing| (Part::Stack, missing))
}
