//! `opal convert`: a configuration as source of the language.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_ops::source::Form;

use super::{apply, plan};
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::branch_output;
use crate::source::NotLoaded;
use crate::{source, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    apply::of_config(convert(context, matches))
}

fn convert(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    if let Some(text) = matches.get_one::<String>("output") {
        branch_output(text)?;
        return Err(Failure::usage(
            "`--output` belongs to a run, and `opal convert` runs nothing",
            "omit it; to write a file: `-o FILE`",
        ));
    }
    let path = apply::given(matches)?;
    let loaded = source::read(path, &context.registry).map_err(NotLoaded::into_failure)?;
    let text = match &loaded.form {
        Form::Config(Ok(found)) => {
            if found.settings.dry_run {
                view::check::dry_run_unconverted(&loaded.name);
            }
            opal_config::convert(found, &context.registry)
        }
        Form::Config(Err(errors)) => {
            view::check::unconverted(&loaded, errors.clone(), context)?;
            return Ok(Exit::Source);
        }
        Form::Language(_) | Form::Module(_) => loaded.text,
    };
    match matches.get_one::<PathBuf>("out").filter(|path| *path != Path::new("-")) {
        Some(out) => write(path, out, &text, matches.get_flag("force")),
        None => view::print(&text),
    }
}

/// What is there may have been worked on since: it stays, unless somebody says otherwise.
fn write(source: &Path, output: &Path, text: &str, force: bool) -> Result<Exit, Failure> {
    let shown = output.display();
    let same = |path: &Path| path.canonicalize().ok();
    if same(source).is_some_and(|source| same(output) == Some(source)) {
        return Err(Failure::usage(
            format!("`{shown}` is the configuration itself"),
            "write to a file of its own: `-o FILE.opl`",
        ));
    }
    if !force && output.symlink_metadata().is_ok() {
        return Err(Failure::new(
            Exit::Write,
            format!("`{shown}` is there already"),
            "name another file, or write over it with `--force`",
        ));
    }
    plan::write_file(output, text.as_bytes())?;
    view::say(&format!("wrote {shown}\n"));
    Ok(Exit::Done)
}
