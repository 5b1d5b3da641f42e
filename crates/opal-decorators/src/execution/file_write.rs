use opal_core::action::{Halt, Pending, Replace, Sink, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::Inputs;

use crate::common::OCTAL;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.write",
    summary: "write the output of a step to a file, whole or not at all",
    docs: "Stands behind `>` or `>>`. The file is replaced in one move after the step has \
           succeeded: a step that fails half-way leaves the old content, and a reader never sees \
           a part of the new one. Behind `>>`, or with `append=true`, the output comes after \
           what the file holds.\n\n\
           Bytes are written as they come and secrets are not hidden, since a file is a \
           destination of your choice; pipe through `@to.display()` first where they should be.",
    params: &[
        Param::required("path", "the file to write; `~` is the home directory"),
        Param {
            name: "mode",
            presence: Presence::Optional,
            pattern: Some(OCTAL),
            docs: "the permissions in octal, such as `0644`; without it those the file has, or \
                   the usual ones of a new file",
            ..Param::BASE
        },
        Param::flag("append", "keep what the file holds and write after it"),
    ],
    writes: true,
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[
        Example {
            title: "a file that is never half written",
            source: "fun stamp() {\n    \
                     git describe --always > @file.write(\"dist/VERSION\", mode=\"0644\")\n}\n",
        },
        Example {
            title: "add to a file",
            source: "fun note() {\n    \
                     date --iso-8601 > @file.write(\"deployments.log\", append=true)\n}\n",
        },
    ],
    sink: Some(&FileWrite),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileWrite;

impl Sink for FileWrite {
    fn open(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Box<dyn Pending>, Halt> {
        stage.replace(&Replace {
            path: inputs.text("path").unwrap_or_default(),
            mode: inputs.text("mode").and_then(|mode| u32::from_str_radix(mode, 8).ok()),
            append: inputs.is_true("append"),
        })
    }
}
