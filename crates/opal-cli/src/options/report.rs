//! What was typed after `--report`: where a report goes, and in which format.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// What was typed after `--report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReportTo {
    File(PathBuf, ReportFormat),
    /// The summary of a job of GitHub.
    JobSummary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    Junit,
    Markdown,
    Html,
    Json,
}

impl ReportTo {
    pub(crate) fn new(path: PathBuf) -> Result<Self, Failure> {
        if path == Path::new("github") {
            return Ok(Self::JobSummary);
        }
        let extension = path.extension().and_then(|it| it.to_str()).map(str::to_ascii_lowercase);
        let format = match extension.as_deref() {
            Some("xml") => ReportFormat::Junit,
            Some("md") => ReportFormat::Markdown,
            Some("html") => ReportFormat::Html,
            Some("json") => ReportFormat::Json,
            _ => {
                return Err(Failure::usage(
                    format!("unknown format of a report: `{}`", path.display()),
                    "expected a file that ends in .xml (JUnit), .md, .html or .json, or `github`",
                ));
            }
        };
        Ok(Self::File(path, format))
    }
}
