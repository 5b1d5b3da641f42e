//! `opal convert`: a configuration or the tasks of another tool as source of the language, a Go
//! template as a Jinja template.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_convert::{Conversion, Files, Format, Grade, Options, wire};
use opal_helper::{EXTRA, Parcel, Unusable};
use opal_ops::source::Form;
use serde_json::{Value, json};

use super::config_file;
use super::plan::file::write_file;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::branch_output;
use crate::project::Chosen;
use crate::source::NotLoaded;
use crate::{builtins, helpers, project, source, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    config_file::exit_of(convert(context, matches))
}

fn convert(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    if let Some(text) = matches.get_one::<String>("output") {
        branch_output(text)?;
        return Err(Failure::usage(
            "`--output` applies to a run, but `opal convert` runs nothing",
            "omit it; to write a file: `-o FILE`",
        ));
    }
    if let Some((path, format)) = tasks(matches) {
        return convert_tasks(context, matches, path, format);
    }
    if matches.get_flag("json") {
        return Err(Failure::usage(
            "`--json` applies to task files of other tools",
            "omit it for a configuration or a template",
        ));
    }
    if let Some(path) = template(matches) {
        let converted = converted(context, path)?;
        return converted.map_or(Ok(Exit::Source), |text| out(matches, path, &text));
    }
    let path = config_file::given(context, matches)?;
    let loaded =
        source::read(&Chosen::named(path), &context.registry).map_err(NotLoaded::into_failure)?;
    let text = match &loaded.form {
        Form::Config(Ok(found)) => {
            if found.settings.dry_run {
                view::check::dry_run_unconverted(&loaded.name);
            }
            opal_config::convert(found, &context.registry)
        }
        Form::Config(Err(errors)) => {
            view::check::unconverted(&loaded, errors.clone(), context.err())?;
            return Ok(Exit::Source);
        }
        Form::Language(_) | Form::Module(_) => loaded.text,
    };
    out(matches, path, &text)
}

fn out(matches: &ArgMatches, path: &Path, text: &str) -> Result<Exit, Failure> {
    match matches.get_one::<PathBuf>("out").filter(|path| *path != Path::new("-")) {
        Some(out) => write(path, out, text, matches.get_flag("force")),
        None => view::print(text),
    }
}

/// The file and its format, where it has tasks of another tool.
fn tasks(matches: &ArgMatches) -> Option<(&Path, Format)> {
    let path = matches.get_one::<PathBuf>("config")?;
    let format = match matches.get_one::<String>("from") {
        Some(name) => Format::named(name)?,
        None => Format::of_file(path.file_name()?.to_str()?)?,
    };
    Some((path, format))
}

/// Which package manager a project uses is known by these.
const LOCK_FILES: [&str; 4] = ["pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];

fn convert_tasks(
    context: &Context<'_>,
    matches: &ArgMatches,
    path: &Path,
    format: Format,
) -> Result<Exit, Failure> {
    let (name, text) = project::read_foreign(path)?;
    let is_beside = |name: &&str| path.with_file_name(name).exists();
    let siblings: Vec<&str> = LOCK_FILES.into_iter().filter(is_beside).collect();
    let options = Options {
        registry: &context.registry,
        name: file_name(Some(path)),
        output: file_name(matches.get_one::<PathBuf>("out").map(PathBuf::as_path)),
        reserved: &builtins::RESERVED,
        siblings: &siblings,
        files: Files(&|other| beside(path, other)),
        inline: matches.get_flag("inline"),
    };
    let converted = ask(&text, format, options, &name)?;
    let is_json = matches.get_flag("json");
    if is_json {
        view::convert::json(&name, format, &converted)?;
    }
    let is_file = matches.get_one::<PathBuf>("out").is_some_and(|it| it != Path::new("-"));
    if is_file || !is_json {
        out(matches, path, &converted.source)?;
    }
    view::convert::report(&name, &converted, context.err());
    Ok(if converted.count(Grade::Omitted) > 0 { Exit::Differs } else { Exit::Done })
}

/// The conversion, made in the helper. It reads no files itself: it asks for those that the text names.
fn ask(
    text: &str,
    format: Format,
    options: Options<'_>,
    name: &str,
) -> Result<Conversion, Failure> {
    let request = json!({"convert": wire::request(format, &options)});
    let request = Parcel::new(request).with(text.as_bytes());
    let file = |question: &Parcel| {
        let path = question.head.pointer("/asks/file").and_then(Value::as_str);
        match path.map(options.files.0) {
            Some(Ok(Some(text))) => Parcel::default().with(text.as_bytes()),
            Some(Err(reason)) => Parcel::new(json!({"refused": reason})),
            Some(Ok(None)) | None => Parcel::default(),
        }
    };
    let answer = helpers::extra().ask(&request, &mut { file });
    let answer = answer.map_err(|unusable| helpers::failure(&unusable))?;
    let silent = || helpers::failure(&Unusable::Silent { name: EXTRA });
    wire::read(&answer.head).ok_or_else(silent)?.map_err(|found| {
        let message = format!("{name}:{}: {}", found.line, found.message);
        Failure::usage(message, "nothing was converted; `--from` names another format")
    })
}

/// The name of a file, where it has one that can be written.
fn file_name(path: Option<&Path>) -> &str {
    let name = path.and_then(Path::file_name).and_then(|it| it.to_str());
    name.filter(|it| *it != "-").unwrap_or("commands.opl")
}

/// The text of a file that the converted file names, below the directory of that file.
fn beside(path: &Path, other: &str) -> Result<Option<String>, String> {
    if path == Path::new("-") {
        return Err("the file comes from standard input".to_owned());
    }
    let folder = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let found = folder.join(other);
    if !found.is_file() {
        return Ok(None);
    }
    let inside = |path: &Path| path.canonicalize().ok();
    let is_inside = match (inside(&found), inside(folder)) {
        (Some(found), Some(folder)) => found.starts_with(folder),
        _ => false,
    };
    if !is_inside {
        return Err("a symlink leads out of this directory".to_owned());
    }
    project::read_foreign(&found).map(|(_, text)| Some(text)).map_err(|failure| failure.message)
}

/// The file, where it is a template: by its name, or because `--from` says so.
fn template(matches: &ArgMatches) -> Option<&Path> {
    let path = matches.get_one::<PathBuf>("config")?;
    let is_named = |name: &str| path.extension().is_some_and(|it| it == name);
    let is_template = match matches.get_one::<String>("from") {
        Some(format) => format == "go-template",
        None => ["tmpl", "gotmpl", "tpl"].into_iter().any(is_named),
    };
    is_template.then_some(path)
}

/// The template in Jinja's spelling; none where it cannot be converted, which is then reported.
fn converted(context: &Context<'_>, path: &Path) -> Result<Option<String>, Failure> {
    let source = project::read(path)?;
    let text = match source.text {
        Ok(text) => text,
        Err(found) => {
            view::check::not_text(source.name, *found, context.err())?;
            return Ok(None);
        }
    };
    match opal_template::convert_template(&text) {
        Ok(converted) => {
            for note in &converted.notes {
                view::convert::note("warning", &source.name, note);
            }
            Ok(Some(converted.text))
        }
        Err(note) => {
            view::convert::note("error", &source.name, &note);
            Ok(None)
        }
    }
}

/// What is there may have been worked on since: it stays, unless somebody says otherwise.
pub(super) fn write(
    source: &Path,
    output: &Path,
    text: &str,
    force: bool,
) -> Result<Exit, Failure> {
    may_write(source, output, force)?;
    write_file(output, text.as_bytes())?;
    view::say(&format!("wrote {}\n", output.display()));
    Ok(Exit::Done)
}

/// Refuses to overwrite the source, and a file that nobody gave up.
pub(super) fn may_write(source: &Path, output: &Path, force: bool) -> Result<(), Failure> {
    let shown = output.display();
    let same = |path: &Path| path.canonicalize().ok();
    if same(source).is_some_and(|source| same(output) == Some(source)) {
        return Err(Failure::usage(
            format!("`{shown}` is the source itself"),
            "write to another file with `-o`",
        ));
    }
    if !force && output.symlink_metadata().is_ok() {
        return Err(Failure::new(
            Exit::Write,
            format!("`{shown}` already exists"),
            "name another file, or overwrite it with `--force`",
        ));
    }
    Ok(())
}
