//! What `opal runner` prints instead of running: its keys, the permissions it needs, and whether all is in
//! order.

use opal_trust::keys::SigningKey;
use opal_trust::policy::Settings;

use super::Own;
use crate::notice::print;
use crate::options::Options;
use crate::pool::{self, Names, Pool};
use crate::server::connect;
use crate::trouble::Trouble;

/// The line of this runner for `[queue.pools]` of who sends it contracts.
pub(super) fn keys(own: &Own) -> Result<u8, Trouble> {
    print(&format!("{} {}", own.runner.recipient(), own.key.public()));
    Ok(0)
}

/// A name that only this runner uses, of its public key.
pub(super) fn short(key: &SigningKey) -> String {
    use std::fmt::Write as _;
    let bytes = key.public();
    bytes.as_bytes()[..8].iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// What the server must allow a runner of a pool, as its configuration has it.
pub(super) fn permissions(options: &Options) -> Result<u8, Trouble> {
    let name = pool::named(options.text("pool"))?;
    let (publish, subscribe) = Names(&name).permissions();
    let list = |all: &[String]| {
        let all: Vec<String> = all.iter().map(|it| format!("      \"{it}\"")).collect();
        all.join(",\n")
    };
    print(&format!(
        "# A runner of the pool `{name}` needs these permissions, and no others.\npermissions: {{\n  publish: \
         {{\n    allow: [\n{}\n    ]\n  }}\n  subscribe: {{\n    allow: [\n{}\n    ]\n  }}\n}}",
        list(&publish),
        list(&subscribe)
    ));
    Ok(0)
}

/// Says of each thing that a runner needs whether it is there. The first that is missing is the error.
pub(super) async fn check(
    options: &Options,
    settings: &Settings,
    own: &Own,
    name: &str,
    dispatchers: usize,
) -> Result<u8, Trouble> {
    print(&format!("ok       keys: {} {}", own.runner.recipient(), own.key.public()));
    print(&format!("ok       policy: {dispatchers} keys may dispatch"));
    let server = connect(options, settings).await?;
    let info = server.client.server_info();
    let secret = if options.is("insecure") { "not encrypted" } else { "TLS" };
    print(&format!("ok       server: nats-server {}, {secret}", info.version));
    let pool = Pool::open(server, name).await?;
    pool.consumer().await?;
    Pool::events(&pool.server).await?;
    print(&format!("ok       pool: `{name}`"));
    pool.check_clock(&short(&own.key)).await?;
    print("ok       clock: at most 60 s from the server's");
    print(
        "ask      storage: the server can lose acknowledged writes when its machine crashes; set \
         `sync_interval: always` in `jetstream` of its configuration",
    );
    Ok(0)
}
