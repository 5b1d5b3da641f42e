//! Why a page cannot be had: all messages of this crate.

use std::io::ErrorKind;
use std::time::Duration;

use opal_core::message;
use opal_core::message::Message;
use opal_core::pages::AUTHORITIES;
use opal_core::resolver::{MAX_VALUE_BYTES, Trouble, TroubleKind};

const TRY: &str = "try the address with `curl -v`";
const CHECK: &str = "check the name, the port and the network";

/// The server that was asked for, and no other: where an answer leads to is a part of that answer,
/// which nobody may see.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// With its port. Without a user and a password, and without the path, which may hold a token.
    pub(crate) name: String,
    /// Whether it redirected to the server in question.
    pub(crate) has_redirected: bool,
}

/// A page that cannot be had.
#[derive(Debug)]
pub(crate) enum PageError {
    InvalidAddress,
    InvalidHeader,
    /// The file of certificates that the user names.
    Authorities {
        file: String,
        why: &'static str,
    },
    Failed {
        server: Server,
        why: ServerError,
    },
}

/// What a server did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerError {
    NotFound,
    Unreachable(ErrorKind),
    TimedOut(Option<Duration>),
    /// TLS does not accept it.
    NotTrusted,
    BrokenProxy,
    NotHttp,
    Status(u16),
    TooManyRedirects(usize),
    /// From `https` to `http`.
    Downgrade,
    TooLarge,
    NotText,
    /// An address of this machine or its network, where only public ones are meant.
    Private,
}

impl From<PageError> for Trouble {
    fn from(error: PageError) -> Self {
        let invalid = |message: &'static str, help: &'static str| {
            Self::new(TroubleKind::Invalid, message, help)
        };
        match error {
            PageError::InvalidAddress => invalid(
                "invalid URL",
                "write it like `https://example.com/path`, with blanks as `%20`",
            ),
            PageError::InvalidHeader => invalid(
                "invalid name or value of a header",
                "remove line ends and characters outside ASCII",
            ),
            PageError::Authorities { file, why } => Self::new(
                TroubleKind::Failed,
                message!("`", AUTHORITIES, "` names `", file, "`, which ", why),
                "name a file with certificates in PEM, or unset the variable",
            ),
            PageError::Failed { server, why } => {
                let (kind, message, help) = why.said(&server.said());
                Self::new(kind, message, help)
            }
        }
    }
}

impl Server {
    fn said(&self) -> Message {
        match self.has_redirected {
            false => message!("`", self.name, "`"),
            true => message!("the server that `", self.name, "` redirects to"),
        }
    }
}

impl ServerError {
    fn said(self, server: &Message) -> (TroubleKind, Message, &'static str) {
        use TroubleKind::{Denied, Failed, NotText, TooLarge, Unreachable};
        const IN_A_STEP: &str = "fetch it in a step, with `curl`, and keep it in a file";
        const REALLY: &str = "use the final URL";
        match self {
            Self::NotFound => {
                (Unreachable, message!(server, " was not found"), "check the name and the network")
            }
            Self::Unreachable(why) => {
                (Unreachable, message!(server, " cannot be reached: ", why), CHECK)
            }
            Self::TimedOut(Some(limit)) => {
                (Unreachable, message!(server, " did not answer within ", limit), TRY)
            }
            Self::TimedOut(None) => (Unreachable, message!(server, " did not answer in time"), TRY),
            Self::NotTrusted => (
                Denied,
                message!("invalid certificate of ", server),
                "check its certificate, and whether the port speaks `https`; the authorities of your own \
                 servers belong in the file that `SSL_CERT_FILE` names",
            ),
            Self::BrokenProxy => (
                Unreachable,
                message!("the proxy to ", server, " does not work"),
                "check `https_proxy`, `http_proxy` and `no_proxy`",
            ),
            Self::NotHttp => (Failed, message!("the response of ", server, " is not HTTP"), TRY),
            Self::Status(status) => {
                let (kind, help) = of_status(status);
                (kind, message!(server, " answered with status ", status), help)
            }
            Self::TooManyRedirects(most) => {
                (Failed, message!(server, " redirects more than ", most, " times"), REALLY)
            }
            Self::Downgrade => (
                Denied,
                message!(server, " redirects from `https` to `http`, which is not secure"),
                REALLY,
            ),
            Self::TooLarge => (
                TooLarge,
                message!(
                    "the response of ",
                    server,
                    " is larger than ",
                    MAX_VALUE_BYTES >> 20,
                    " MiB"
                ),
                IN_A_STEP,
            ),
            Self::Private => (
                Denied,
                message!(server, " has a private address"),
                "ask for the capability with `private` at its end: `net:HOST private`",
            ),
            Self::NotText => {
                (NotText, message!("the response of ", server, " is not UTF-8 text"), IN_A_STEP)
            }
        }
    }
}

fn of_status(status: u16) -> (TroubleKind, &'static str) {
    match status {
        404 | 410 => (TroubleKind::Missing, "check the address"),
        401 | 403 | 407 => (TroubleKind::Denied, "this page requires authentication"),
        502..=504 => (TroubleKind::Unreachable, "the server is unavailable: try again later"),
        _ => (TroubleKind::Failed, TRY),
    }
}
