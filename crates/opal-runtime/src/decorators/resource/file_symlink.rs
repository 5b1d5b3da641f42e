use opal_core::Type;
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};

use crate::decorators::common::{NO, VERIFY_TIMEOUT};

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.symlink",
    summary: "a symbolic link",
    docs: "Keeps a link that points where it should. The order is that of `ln -s`: first what \
           is pointed to, then the link. A link that points elsewhere is turned round.\n\n\
           Where a file or directory stands in the place of the link, the step is blocked, \
           because making the link would destroy it; `force=true` says that this is meant.",
    params: &[
        Param { name: "source", docs: "what the link points to", ..Param::BASE },
        Param { name: "target", docs: "the link itself", ..Param::BASE },
        Param {
            name: "force",
            ty: Type::Bool,
            presence: NO,
            docs: "replace what stands in the place of the link",
            ..Param::BASE
        },
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "symlink", key: &["target"] }),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[Example {
        title: "link a configuration into the home directory",
        source: "fun dotfiles() {\n    @file.symlink(\"~/dotfiles/vimrc\", \"~/.vimrc\")\n}\n",
    }],
    ..Descriptor::BASE
};
