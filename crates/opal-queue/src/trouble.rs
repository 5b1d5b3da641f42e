//! Why something is not possible, what to do about it, and the exit code. All messages of this crate.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use opal_core::keys::KeyError;
use opal_helper::Unusable;
use opal_trust::policy::PolicyError;
use opal_vault::root::RootError;

use crate::bundle::BundleError;
use crate::fleet::FleetError;

/// What to do about a server that takes only small messages.
const PAYLOAD: &str =
    "set `max_payload: 1MB` in the configuration of the server, or remove it there";

#[derive(Debug)]
pub(crate) enum Trouble {
    NoPart,
    /// No option, setting or variable names a server.
    NoServer,
    /// It is neither `tls://` nor an address in clear with `--insecure-queue`.
    InClear(String),
    Address(String),
    Creds(RootError),
    NotCreds(PathBuf),
    /// The server does not answer, or not as it should.
    Server {
        doing: &'static str,
        why: String,
    },
    /// How far the clock is from the server's.
    Clock(Duration),
    NoPool,
    PoolName(String),
    /// Its stream would be that of events.
    PoolReserved(String),
    /// A stream, a bucket or a consumer with another setting than opal gives it.
    Settings {
        name: String,
        setting: &'static str,
    },
    /// The server takes only smaller messages than runners send.
    Payload(usize),
    /// A pool whose runners are not all different.
    DoubledRunner(String),
    /// Nobody whom this machine trusts has signed the order: whose key did.
    ForeignOrder(String),
    /// Ctrl+C while an order was sent.
    Interrupted,
    UnknownPool {
        pool: String,
        known: Vec<String>,
    },
    Policy(PolicyError),
    Key(KeyError),
    /// The machine has no key of its own that lasts.
    NoLastingKey(String),
    /// `--sign` is missing, and there is no only key.
    NoSigningKey,
    NoDispatchers,
    File(RootError),
    /// It is not a contract.
    NotAContract(String),
    Fleet(FleetError),
    OnceWithoutExpiry,
    Expired,
    /// `@confirm`, and nobody has approved.
    Unconfirmed,
    End(String),
    Bundle(BundleError),
    Order(opal_trust::order::Refused),
    Helper(Unusable),
    UnknownRun(String),
    SystemSignals(std::io::Error),
}

impl Trouble {
    pub(crate) fn server(doing: &'static str, why: impl fmt::Display) -> Self {
        Self::Server { doing, why: why.to_string() }
    }

    /// The exit code, as `sysexits.h` and opal have it.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::NoPart
            | Self::NoPool
            | Self::PoolName(_)
            | Self::PoolReserved(_)
            | Self::End(_) => 2,
            Self::Interrupted => 130,
            Self::NoServer
            | Self::InClear(_)
            | Self::Address(_)
            | Self::NotCreds(_)
            | Self::UnknownPool { .. }
            | Self::DoubledRunner(_)
            | Self::Settings { .. }
            | Self::Payload(_)
            | Self::NoDispatchers => 78,
            Self::Policy(error) => {
                if error.is_unsafe() {
                    77
                } else {
                    78
                }
            }
            Self::Creds(error) => {
                if error.is_unsafe() {
                    77
                } else {
                    78
                }
            }
            Self::File(_) => 66,
            Self::Server { .. } | Self::Clock(_) => 69,
            Self::Helper(unusable) => {
                if unusable.is_unsafe() {
                    77
                } else {
                    69
                }
            }
            Self::Key(_)
            | Self::NoLastingKey(_)
            | Self::NoSigningKey
            | Self::ForeignOrder(_)
            | Self::Unconfirmed => 77,
            Self::NotAContract(_) | Self::Expired => 76,
            Self::Order(refused) => {
                if refused.is_trust() {
                    77
                } else {
                    76
                }
            }
            Self::Fleet(_) | Self::OnceWithoutExpiry | Self::Bundle(_) => 65,
            Self::UnknownRun(_) => 66,
            Self::SystemSignals(_) => 70,
        }
    }

    /// The way forward.
    pub(crate) fn help(&self) -> String {
        let help = match self {
            Self::NoPart => "see `opal --help`",
            Self::NoServer => {
                "name it with `--server tls://HOST:4222`, or with `server` in `[queue]` of \
                 config/settings.toml"
            }
            Self::InClear(_) => {
                "use `tls://`; for tests on one machine there is `--insecure-queue`"
            }
            Self::Address(_) => "write `tls://HOST:4222`",
            Self::Creds(error) => return error.help(),
            Self::NotCreds(_) => {
                "expected a `.creds` file, the seed of an nkey, or one line `USER:PASSWORD`"
            }
            Self::Server { .. } => {
                "check the address, the credentials and that JetStream is on; `opal runner --permissions` \
                 prints what the server must allow"
            }
            Self::Clock(_) => "set the clock of this machine, or that of the server",
            Self::NoPool => "name it with `--pool NAME`",
            Self::PoolName(_) => "use letters, digits, `-` and `_`, at most 64",
            Self::PoolReserved(_) => "use another name",
            Self::Settings { .. } => {
                "set it back, or remove it from the server while nothing runs: the next `opal dispatch` makes it"
            }
            Self::Payload(_) => PAYLOAD,
            Self::DoubledRunner(_) => "remove one of them from config/settings.toml",
            Self::ForeignOrder(_) => {
                "if you know the key, add it to `dispatchers` in the policy of this machine"
            }
            Self::Interrupted => "dispatch it again when it should run",
            Self::UnknownPool { pool, known } => {
                let known = known.join("`, `");
                return match known.is_empty() {
                    true => format!(
                        "write `{pool} = [\"age1… ed25519:…\"]` below `[queue.pools]` of config/settings.toml; \
                         `opal runner --keys` prints the text of a runner"
                    ),
                    false => format!("config/settings.toml has these pools: `{known}`"),
                };
            }
            Self::Policy(error) => return error.help(),
            Self::Key(error) => return error.help.clone(),
            Self::NoLastingKey(_) => {
                "make the runtime root writable, or name another with `--root`"
            }
            Self::NoSigningKey => {
                "name one with `--sign KEY`, or make one with `opal keys generate NAME --sign`"
            }
            Self::NoDispatchers => {
                "write `dispatchers = [\"ed25519:…\"]` into the policy of this machine: whose orders it takes"
            }
            Self::File(error) => return error.help(),
            Self::NotAContract(_) => "make one with `opal plan TASK -o FILE`",
            Self::Fleet(error) => return error.help(),
            Self::OnceWithoutExpiry => {
                "make the contract again with `--expires`, such as `--expires 24h`"
            }
            Self::Expired => "make a new contract",
            Self::Unconfirmed => "approve it first: `opal plan approve FILE`",
            Self::End(_) => "write a duration of at most 30 days, such as `--end 24h`",
            Self::Bundle(error) => return error.help(),
            Self::Order(refused) => refused.help(),
            Self::Helper(unusable) => return unusable.help(),
            Self::UnknownRun(_) => {
                "`opal dispatch` prints the id; events stay for 31 days after the order"
            }
            Self::SystemSignals(_) => "try again",
        };
        help.to_owned()
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPart => f.write_str("`opal-queue` has no such part"),
            Self::NoServer => f.write_str("no queue: it is not known which NATS server to use"),
            Self::InClear(address) => {
                write!(f, "`{address}` is not encrypted: passwords and subjects would be readable")
            }
            Self::Address(address) => write!(f, "`{address}` is not the address of a NATS server"),
            Self::Creds(error) => write!(f, "the credentials for the queue cannot be used: {error}"),
            Self::NotCreds(path) => write!(f, "`{}` contains no credentials", path.display()),
            Self::Server { doing, why } => write!(f, "the queue failed while {doing}: {why}"),
            Self::Clock(off) => write!(
                f,
                "the clock of this machine is {} s from the server's; at most 60 s are accepted",
                off.as_secs()
            ),
            Self::NoPool => f.write_str("no pool was named"),
            Self::PoolName(pool) => write!(f, "`{pool}` is not the name of a pool"),
            Self::PoolReserved(pool) => {
                write!(f, "a pool cannot be called `{pool}`: its stream would be that of the events")
            }
            Self::Settings { name, setting } => {
                write!(f, "`{name}` on the server has another `{setting}` than opal sets, and shares could be lost")
            }
            Self::Payload(bytes) => write!(
                f,
                "the server takes messages of at most {bytes} bytes (`max_payload`), and runners send up to 1 MiB"
            ),
            Self::DoubledRunner(pool) => write!(f, "the pool `{pool}` has a runner twice"),
            Self::ForeignOrder(key) => {
                write!(f, "the order is signed by `{key}`, whose orders this machine does not trust")
            }
            Self::Interrupted => f.write_str("interrupted while the order was sent"),
            Self::UnknownPool { pool, .. } => write!(f, "the pool `{pool}` is not known on this machine"),
            Self::Policy(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
            Self::NoLastingKey(why) => write!(f, "this machine has no key of its own: {why}"),
            Self::NoSigningKey => {
                f.write_str("no key to sign the order with: there is not exactly one in `opal keys`")
            }
            Self::NoDispatchers => f.write_str("the policy names nobody whose orders a runner takes"),
            Self::File(error) => error.fmt(f),
            Self::NotAContract(why) => write!(f, "not a contract: {why}"),
            Self::Fleet(error) => error.fmt(f),
            Self::OnceWithoutExpiry => f.write_str(
                "the contract runs once and has no expiry: runners that have not seen it could run it at any time",
            ),
            Self::Expired => f.write_str("the contract has expired"),
            Self::Unconfirmed => {
                f.write_str("the contract asks with `@confirm`, and nobody is there to answer on a runner")
            }
            Self::End(text) => write!(f, "`--end {text}` is not a time in which an order can be done"),
            Self::Bundle(error) => error.fmt(f),
            Self::Order(refused) => refused.fmt(f),
            Self::Helper(unusable) => unusable.fmt(f),
            Self::UnknownRun(run) => write!(f, "the queue has no events of `{run}`"),
            Self::SystemSignals(why) => write!(f, "signals cannot be received: {why}"),
        }
    }
}

impl From<KeyError> for Trouble {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<PolicyError> for Trouble {
    fn from(error: PolicyError) -> Self {
        Self::Policy(error)
    }
}

impl From<BundleError> for Trouble {
    fn from(error: BundleError) -> Self {
        Self::Bundle(error)
    }
}

impl From<FleetError> for Trouble {
    fn from(error: FleetError) -> Self {
        Self::Fleet(error)
    }
}

impl From<opal_trust::order::Refused> for Trouble {
    fn from(refused: opal_trust::order::Refused) -> Self {
        Self::Order(refused)
    }
}
