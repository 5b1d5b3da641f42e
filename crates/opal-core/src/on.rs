//! `--on`: the targets that a whole task runs on.
//!
//! | written | the block around the task |
//! |---|---|
//! | `deploy@web1:2222` | `@ssh.host("deploy@web1:2222")` |
//! | `web1,web2` | `@ssh.hosts(["web1", "web2"])` |
//! | `hosts.ini#web:!web3` | `@ssh.hosts(inventory="hosts.ini", select="web:!web3")` |

use crate::target::{AddressError, Ssh};
use crate::value::Value;

/// What plans call it among the arguments of their target; no parameter has this name.
pub const ON: &str = "--on";

/// The block around a task: the decorator, and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct On {
    pub decorator: &'static str,
    pub arguments: Vec<(&'static str, Value)>,
}

/// A text that names no target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Nothing before or after a comma or `#`.
    Empty,
    Address {
        host: String,
        why: AddressError,
    },
}

impl On {
    pub fn parse(text: &str) -> Result<Self, OnError> {
        let value = |text: &str| Value::String(text.to_owned().into());
        // No host and no user has it in its name.
        if let Some((inventory, select)) = text.split_once('#') {
            if inventory.is_empty() || select.is_empty() {
                return Err(OnError::Empty);
            }
            let arguments = vec![("inventory", value(inventory)), ("select", value(select))];
            return Ok(Self { decorator: "ssh.hosts", arguments });
        }
        let hosts: Vec<&str> = text.split(',').map(str::trim).collect();
        for host in &hosts {
            if host.is_empty() {
                return Err(OnError::Empty);
            }
            host.parse::<Ssh>()
                .map_err(|why| OnError::Address { host: (*host).to_owned(), why })?;
        }
        Ok(match hosts[..] {
            [host] => Self { decorator: "ssh.host", arguments: vec![("host", value(host))] },
            _ => {
                let hosts = Value::Array(hosts.into_iter().map(value).collect());
                Self { decorator: "ssh.hosts", arguments: vec![("hosts", hosts)] }
            }
        })
    }
}

impl std::fmt::Display for OnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("a target is empty"),
            Self::Address { host, why } => write!(f, "`{host}`: {why}"),
        }
    }
}

impl std::error::Error for OnError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_inventories_are_distinguished() {
        let shown = |text: &str| match On::parse(text) {
            Ok(On { decorator, arguments }) => {
                let arguments = arguments.iter().map(|(name, value)| format!("{name}={value}"));
                format!("{decorator} {}", arguments.collect::<Vec<_>>().join(" "))
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(shown("deploy@web1:2222"), r#"ssh.host host="deploy\@web1:2222""#);
        assert_eq!(shown("web1, web2"), "ssh.hosts hosts=[\"web1\", \"web2\"]");
        let pattern = "ssh.hosts inventory=\"hosts.ini\" select=\"web:&prod:!web3\"";
        assert_eq!(shown("hosts.ini#web:&prod:!web3"), pattern);
        for empty in ["", "web1,", ",web1", "#web", "hosts.ini#"] {
            assert_eq!(shown(empty), "a target is empty", "{empty}");
        }
        assert!(shown("-oProxyCommand=x").starts_with("`-oProxyCommand=x`: "));
    }
}
