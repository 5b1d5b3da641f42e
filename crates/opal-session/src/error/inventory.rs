use std::io::ErrorKind;

use opal_core::inventory::MAX_FILES;
use opal_core::message;
use opal_core::message::{Message, Reason, Words};
use opal_core::resolver::{Trouble, TroubleKind};

/// Files of patterns that cannot be compared.
#[derive(Debug)]
pub(crate) enum InventoryError {
    Pattern(String),
    /// The pattern or the file, and the project.
    Outside {
        name: String,
        project: String,
    },
    /// A symlink, and the project that it leads out of.
    LeadsOutside {
        name: String,
        project: String,
    },
    Special {
        name: String,
        found: &'static str,
    },
    NotText(String),
    TooMany,
    Unreadable {
        name: String,
        why: ErrorKind,
    },
    Stopped,
}

impl From<InventoryError> for Trouble {
    fn from(error: InventoryError) -> Self {
        use InventoryError as Error;
        use TroubleKind::{Denied, Failed, Invalid, NotText, TimedOut, TooLarge};
        let (kind, message, help) = match &error {
            Error::Pattern(pattern) => (
                Invalid,
                message!("invalid pattern `", pattern, "`"),
                "write a path, or a glob such as `src/**/*.rs`; `..` comes first",
            ),
            Error::Outside { name, project } => (
                Invalid,
                message!("`", name, "` is outside the project `", project, "`"),
                "name files of the project",
            ),
            Error::LeadsOutside { name, project } => (
                Invalid,
                message!("`", name, "` is a symlink out of the project `", project, "`"),
                "copy what it leads to into the project, or name other files",
            ),
            Error::Special { name, found } => (
                Invalid,
                message!("`", name, "` is ", Words(found), ", not a file"),
                "remove it, or write a pattern that does not match it",
            ),
            Error::NotText(name) => (
                NotText,
                message!("the name `", name, "` is not UTF-8"),
                "rename the file, or write a pattern that does not match it",
            ),
            Error::TooMany => {
                let message = format!("the patterns match more than {MAX_FILES} files");
                (TooLarge, message.into(), "write narrower patterns")
            }
            Error::Unreadable { name, why } => (
                if *why == ErrorKind::PermissionDenied { Denied } else { Failed },
                message!("`", name, "` cannot be read: ", Words(&Reason(*why).to_string())),
                "give this user read permission, or write a pattern that does not match it",
            ),
            Error::Stopped => (
                TimedOut,
                Message::from("the files were not compared in time"),
                "write narrower patterns, or set `verify_timeout`",
            ),
        };
        Self::new(kind, message, help)
    }
}
