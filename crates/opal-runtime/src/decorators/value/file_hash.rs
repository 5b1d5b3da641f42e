use opal_core::decorator::{Capability, Descriptor, Effect, Example, Param};

use crate::decorators::common::{PUBLIC, TEXT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.hash",
    summary: "the SHA-256 digest of a file",
    docs: "Gives the digest of the file's bytes as 64 lower-case hexadecimal digits, the same \
           text that `sha256sum` prints. The file may be of any size and need not be text.\n\n\
           Alone on a line it pins the file: a contract that was made with other content is \
           refused, although no step uses the value.",
    params: &[
        Param {
            name: "path",
            docs: "the file to digest; `~` is the home directory",
            ..Param::BASE
        },
        PUBLIC,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    capabilities: &[Capability::FilesRead],
    examples: &[
        Example {
            title: "name a cache after what it was made from",
            source: "var LOCK = @file.hash(\"Cargo.lock\", public=true)\n\n\
                     fun cache() {\n    tar czf cache-@var.LOCK().tar.gz target\n}\n",
        },
        Example {
            title: "deploy exactly the manifest that was reviewed",
            source: "fun deploy() {\n    @file.hash(\"k8s/app.yaml\")\n    \
                     kubectl apply -f k8s/app.yaml\n}\n",
        },
    ],
    ..Descriptor::BASE
};
