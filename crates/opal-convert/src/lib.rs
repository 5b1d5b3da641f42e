//! Task files of other tools as programs of the language: `opal convert`.
//!
//! ```text
//! justfile ─┐
//! Makefile ─┤
//! Taskfile ─┼─read──▶ Sheet ──emit──▶ text ──prove──▶ text, and an outcome for each task
//! npm      ─┘
//! ```
//!
//! | stage | what it does | where |
//! |---|---|---|
//! | read | one reader for each format; nothing is executed | [`Format`], `just`, `taskfile`, `makefile`, `package` |
//! | – | the form that every reader produces | `form` |
//! | – | what bash reads in another way than the shell of the other tool | `dialect` |
//! | names | names of the language for names of the other tool | `names` |
//! | emit | the form as source text | `emit` |
//! | prove | the text is parsed and checked; what does not hold is written in another way, or omitted | `prove` |
//!
//! [`wire`] is the same for whoever asks another process.
//!
//! Text of the input appears in the result in three ways only: as a literal whose value is the input
//! byte for byte, as the text of a shell step, or as a comment in which characters that cannot be seen
//! are escaped. Every shell step and every text of a script is parsed again, and must contain exactly
//! the references that the reader put there.
//!
//! Files that a file names (imports, modules, includes) become part of the same program. The caller reads
//! them (`files`).
//!
//! Deliberately not here: files, processes and the environment. A reader that cannot start a program
//! cannot run the file that it reads.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")
)]

mod commands;
mod comment;
mod dialect;
mod emit;
mod files;
mod form;
mod format;
mod just;
mod limits;
mod makefile;
mod names;
mod outcome;
mod package;
mod prove;
mod quotes;
mod taskfile;
pub mod wire;

use form::{CHECKS, Sheet};
use limits::MAX_TASKS;
use opal_core::text::MAX_SOURCE_BYTES;

pub use files::Files;
pub use format::{Format, Options};
pub use outcome::{Conversion, Grade, Outcome, Unreadable};

/// The tasks of a file as a program.
///
/// # Errors
///
/// A file that cannot be read as this format at all.
pub fn convert(text: &str, format: Format, options: Options<'_>) -> Result<Conversion, Unreadable> {
    let text = &text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    if text.len() > MAX_SOURCE_BYTES {
        return Err(Unreadable::new(1, "the file is larger than 16 MiB"));
    }
    if let Some(line) = text.split('\n').position(|line| line.contains('\0')) {
        return Err(Unreadable::new(line + 1, "the file contains a NUL byte, so it is not text"));
    }
    let opened = std::cell::Cell::new(0);
    let folder = files::Folder::new(options.files, &opened);
    let mut sheet = match format {
        Format::Just => just::read(text, options.name, folder)?,
        Format::Task => taskfile::read(text, options.name, folder)?,
        Format::Make => makefile::read(text, folder)?,
        Format::Package => package::read(text, options)?,
    };
    if sheet.tasks.len() > MAX_TASKS || sheet.variables.len() > MAX_TASKS {
        let message = format!("the file has more than {MAX_TASKS} tasks or variables");
        return Err(Unreadable::new(1, &message));
    }
    sheet.name_the_file(options.name);
    sheet.complete_inputs(options.output);
    sheet.separate_defaults();
    sheet.keep_pipes();
    sheet.set_path_in_steps();
    sheet.complete(format.tool());
    let prove = |sheet: &Sheet| prove::prove(sheet, format, options);
    let conversion = prove(&sheet);
    let drops = conversion.why_omitted(CHECKS).is_some()
        && sheet.drop_checks(&|alone| prove(alone).why_omitted(CHECKS));
    Ok(if drops { prove(&sheet) } else { conversion })
}
