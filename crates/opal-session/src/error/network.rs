#[cfg(feature = "origin")]
use std::io::ErrorKind;
#[cfg(feature = "origin")]
use std::time::Duration;

#[cfg(feature = "origin")]
use opal_core::message;
use opal_core::resolver::TroubleKind;

use super::said::Said;

#[cfg(feature = "origin")]
const CHECK: &str = "check the name, the port and the network";

/// Pages are read on opal's own machine, and this is another one.
#[derive(Debug)]
pub(crate) struct NoPages;

impl NoPages {
    pub(super) fn said(&self) -> Said {
        (
            TroubleKind::Failed,
            "this process opens no connection to another machine".into(),
            "read pages and ports on the machine that runs opal".into(),
        )
    }
}

/// A port that takes no connection.
#[cfg(feature = "origin")]
#[derive(Debug)]
pub(crate) struct PortError {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) timeout: Duration,
    /// None where the name of the host is not known.
    pub(crate) why: Option<ErrorKind>,
}

#[cfg(feature = "origin")]
impl PortError {
    pub(super) fn said(&self) -> Said {
        let name = format!("{}:{}", self.host, self.port);
        let (kind, message) = match self.why {
            None => (TroubleKind::Missing, message!("the host of `", name, "` was not found")),
            Some(ErrorKind::TimedOut | ErrorKind::WouldBlock) => (
                TroubleKind::TimedOut,
                message!("`", name, "` did not answer within ", self.timeout),
            ),
            Some(ErrorKind::ConnectionRefused) => {
                (TroubleKind::Failed, message!("`", name, "` refused the connection"))
            }
            Some(other) => {
                (TroubleKind::Failed, message!("`", name, "` cannot be reached: ", other))
            }
        };
        (kind, message, CHECK.into())
    }
}
