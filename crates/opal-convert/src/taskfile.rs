//! Taskfiles.
//!
//! | what | where |
//! |---|---|
//! | a file with those that it includes | `source` |
//! | what all tasks share; variables from outside | `globals`, `outside` |
//! | one task; the tasks of all files | `task`, `drafts` |
//! | which variables are parameters, what calls pass | `parameters` |
//! | YAML nodes as texts, lists and maps; options of the shell | `nodes`, `options` |
//! | `{{…}}` | `template`, its functions in `functions`, `dates` |

mod dates;
mod drafts;
mod files;
mod functions;
mod globals;
mod nodes;
mod options;
mod outside;
mod parameters;
mod source;
mod status;
mod task;
mod template;

use std::collections::BTreeSet;

use crate::files::Folder;
use crate::form::{Expr, HERE, MAIN, Sheet};
use crate::outcome::Unreadable;
use globals::Shared;
use source::Source;

/// A Taskfile, by its name, with the files that it includes.
pub(crate) fn read(text: &str, name: &str, files: Folder<'_>) -> Result<Sheet, Unreadable> {
    let source = Source::load(text, name, files)?;
    let shared = Shared::of(&source);
    let mut leftovers = Vec::new();
    let drafts = drafts::drafts(&source, &shared, &mut leftovers);
    if drafts.is_empty() {
        return Err(Unreadable::new(1, "all tasks are in included files, which cannot be read"));
    }
    let tasks = parameters::decided(drafts, &shared.variables);
    let has_pipefail = options::has(&source.root, &["pipefail"]);
    let mut sheet = Sheet {
        variables: shared.variables,
        tasks,
        leftovers,
        environment: shared.environment,
        imports: shared.dotenv.unwrap_or_default(),
        repeats_dependencies: true,
        has_pipefail,
        ..Sheet::default()
    };
    let of_environment: BTreeSet<String> =
        sheet.environment.iter().map(|(name, _)| name.clone()).collect();
    sheet.drop_unread(&of_environment);
    sheet.run_in_bash(&options::runner(&source.root));
    Ok(sheet)
}

impl Sheet {
    /// Drops the directory of the file and the variables of the environment where nothing reads them.
    fn drop_unread(&mut self, environment: &BTreeSet<String>) {
        loop {
            let mut read: BTreeSet<String> = BTreeSet::new();
            let mut look = |it: &Expr| {
                if let Expr::Name(name) = it {
                    read.insert(if name == MAIN { HERE.to_owned() } else { name.clone() });
                }
            };
            self.tasks.iter().for_each(|it| it.visit(&mut look));
            self.variables.iter().for_each(|it| it.value.visit(&mut look));
            let before = self.variables.len();
            let may_go = |name: &str| name == HERE || environment.contains(name);
            self.variables.retain(|it| !may_go(&it.name) || read.contains(&it.name));
            if self.variables.len() == before {
                return;
            }
        }
    }
}
