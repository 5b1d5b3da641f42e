use opal_core::action::{Halt, KeptSink, Pending, Replace, Sink, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::Inputs;

use crate::common::OCTAL;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.write",
    summary: "write the output of a step to a file atomically",
    docs: "Use it after `>` or `>>`. The file is replaced atomically after the step has \
           succeeded: a step that fails leaves the old content, and a reader never sees a partial \
           file. After `>>`, or with `append=true`, the output is appended to the file.\n\nBytes \
           are written unchanged and secrets are not hidden, because you choose the destination; \
           to hide them, pipe the output through `@to.display()` first.",
    params: &[
        Param::required("path", "the file to write; `~` is the home directory"),
        Param {
            name: "mode",
            presence: Presence::Optional,
            pattern: Some(OCTAL),
            docs: "the permissions in octal, such as `0644`; by default those of the existing \
                   file, or the usual ones for a new file",
            ..Param::BASE
        },
        Param::flag("append", "append to the file instead of replacing it"),
    ],
    writes: true,
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[
        Example {
            title: "a file that is never partially written",
            source: "fun stamp() {\n    \
                     git describe --always > @file.write(\"dist/VERSION\", mode=\"0644\")\n}\n",
        },
        Example {
            title: "add to a file",
            source: "fun note() {\n    \
                     date --iso-8601 > @file.write(\"deployments.log\", append=true)\n}\n",
        },
    ],
    sink: Some(Sink::Kept(&FileWrite)),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileWrite;

impl KeptSink for FileWrite {
    fn open(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Box<dyn Pending>, Halt> {
        stage.replace(&Replace {
            path: inputs.text("path").unwrap_or_default(),
            mode: inputs.text("mode").and_then(|mode| u32::from_str_radix(mode, 8).ok()),
            append: inputs.is_true("append"),
        })
    }
}
