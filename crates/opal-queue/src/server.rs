//! The NATS server: where it is, the credentials for it, and that the connection is encrypted.

use std::path::Path;
use std::time::Duration;

use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions};
use opal_trust::policy::Settings;
use opal_vault::root;

use crate::options::Options;
use crate::trouble::Trouble;

/// How long the server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the address is if nothing else names it.
const VARIABLE: &str = "NATS_URL";

/// Bytes of a file of credentials.
const MAX_CREDS: u64 = 64 * 1024;

/// How far the clock of this machine may be from the server's.
pub(crate) const MAX_SKEW: Duration = Duration::from_secs(60);

/// A connection.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) client: Client,
    pub(crate) stream: Context,
}

/// Opens a connection, under a prefix of inboxes that permissions can name.
pub(crate) async fn connect(options: &Options, settings: &Settings) -> Result<Server, Trouble> {
    let address = address(options, settings)?;
    let is_clear = options.is("insecure");
    let address = checked(&address, is_clear)?;
    let creds = options.path("creds").or_else(|| settings.queue.creds.clone());
    let mut how = ConnectOptions::new()
        .name("opal")
        .require_tls(!is_clear)
        // A server that is found in the answer of another could be anywhere.
        .ignore_discovered_servers()
        .connection_timeout(PATIENCE)
        .request_timeout(Some(PATIENCE))
        .custom_inbox_prefix(INBOX)
        .reconnect_delay_callback(|attempt| Duration::from_millis(50 << attempt.min(5)));
    if let Some(creds) = creds {
        how = authorized(how, &creds)?;
    }
    let client =
        how.connect(address).await.map_err(|error| Trouble::server("connecting", error))?;
    let mut stream = jetstream::new(client.clone());
    stream.set_timeout(PATIENCE);
    Ok(Server { client, stream })
}

/// What answers to this program begin with.
pub(crate) const INBOX: &str = "_INBOX_opal";

#[expect(clippy::disallowed_methods, reason = "`NATS_URL` is read in this helper only")]
fn address(options: &Options, settings: &Settings) -> Result<String, Trouble> {
    let named = options.text("server").map(str::to_owned).or_else(|| settings.queue.server.clone());
    let named = named.or_else(|| std::env::var(VARIABLE).ok().filter(|it| !it.is_empty()));
    named.ok_or(Trouble::NoServer)
}

/// An address without a password in it, which is encrypted unless a test says otherwise.
fn checked(address: &str, is_clear: bool) -> Result<String, Trouble> {
    let (scheme, rest) = address.split_once("://").unwrap_or(("tls", address));
    let wrong = || Trouble::Address(opal_core::view::visible::brief(address, 80));
    if rest.is_empty() || rest.contains(['@', '/', ' ']) {
        return Err(wrong());
    }
    match scheme {
        "tls" => Ok(format!("tls://{rest}")),
        "nats" if is_clear => Ok(format!("nats://{rest}")),
        "nats" => Err(Trouble::InClear(format!("nats://{rest}"))),
        _ => Err(wrong()),
    }
}

fn authorized(how: ConnectOptions, path: &Path) -> Result<ConnectOptions, Trouble> {
    let bytes = root::read_private(path, MAX_CREDS).map_err(Trouble::Creds)?;
    let wrong = || Trouble::NotCreds(path.to_owned());
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong())?.trim();
    if text.contains("BEGIN NATS USER JWT") {
        return how.credentials(text).map_err(|_| wrong());
    }
    if text.starts_with("SU") && text.bytes().all(|it| it.is_ascii_alphanumeric()) {
        return Ok(how.nkey(text.to_owned()));
    }
    match text.split_once(':') {
        Some((user, password)) if !text.contains('\n') && !user.is_empty() => {
            Ok(how.user_and_password(user.to_owned(), password.to_owned()))
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_encrypted_and_has_no_password() {
        let checked = |address, is_clear| checked(address, is_clear).map_err(|it| it.code());
        assert_eq!(checked("queue.example:4222", false), Ok("tls://queue.example:4222".into()));
        assert_eq!(checked("tls://queue.example", false), Ok("tls://queue.example".into()));
        assert_eq!(checked("nats://127.0.0.1:4222", true), Ok("nats://127.0.0.1:4222".into()));
        for (address, is_clear) in [
            ("nats://queue.example", false),
            ("ws://queue.example", false),
            ("http://queue.example", true),
            ("tls://user:secret@queue.example", false),
            ("tls://", false),
            ("", false),
            ("tls://queue.example/x", false),
        ] {
            assert_eq!(checked(address, is_clear), Err(78), "{address}");
        }
    }
}
