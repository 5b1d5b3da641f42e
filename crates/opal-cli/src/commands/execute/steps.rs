//! Where steps are in their source.

use std::collections::BTreeMap;

use opal_core::gather;
use opal_core::plan::{Plan, Step};
use opal_ops::source::Loaded;

use crate::ambient::Ambient;

/// The file of a step, as the workflow around opal knows it, and the line from 1.
pub(super) fn place(step: &Step, loaded: &Loaded, ambient: &Ambient) -> (String, u32) {
    let file = loaded.file_at(step.span.start);
    (ambient.in_workspace(file.path), loaded.line(step.span.start).1)
}

/// The places of all steps by their paths, with the names of files as the user knows them. One pass
/// over the text counts the lines for all of them.
pub(super) fn places<'p>(plan: &'p Plan, loaded: &Loaded) -> BTreeMap<&'p str, String> {
    let mut steps: Vec<&Step> = plan.all_steps().collect();
    gather::sort_by_key(&mut steps, |step| step.span.start);
    let (mut file, mut at, mut line) = (loaded.file_at(0), 0, 1);
    let mut places = BTreeMap::new();
    for step in steps {
        let start = step.span.start;
        if loaded.file_at(start).start != file.start {
            file = loaded.file_at(start);
            (at, line) = (0, 1);
        }
        let next = (start - file.start) as usize;
        line += file.text.as_bytes()[at..next].iter().filter(|byte| **byte == b'\n').count();
        at = next;
        places.insert(&*step.path, format!("{}:{line}", file.name));
    }
    places
}
