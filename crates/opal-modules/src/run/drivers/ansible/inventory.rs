//! The hosts: which they are, and how they are reached.
//!
//! Names and addresses become words of `ssh`, so they are held to what names and addresses are made
//! of. Variables of a host are the operator's, and go where Ansible reads them, as data.

use serde_json::{Map, Value, json};

use super::yaml::OWN_INTERPRETER;
use crate::NotFound;
use crate::run::Command;
use crate::run::driver::Request;

/// The group of all hosts that are meant.
const TARGETS: &str = "targets";
const ONE_TARGET: &str = "hyops_target";
const INTERPRETER: &str = "ansible_python_interpreter";
const CONNECTION: &str = "ansible_connection";

type Fields = Map<String, Value>;

/// The inventory for these inputs. An error names inputs, and no value.
pub(super) fn of(request: &Request<'_>, warnings: &mut Vec<String>) -> Result<Value, NotFound> {
    let inputs = Inputs(request.inputs);
    let targets = match (inputs.get("inventory_groups"), inputs.get("target_host")) {
        (Some(groups), _) => {
            let children = groups_of(groups)?;
            let is_empty = |group: &Value| group["hosts"].as_object().is_none_or(Map::is_empty);
            if children.values().all(is_empty) && request.command != Command::Validate {
                return Err(unnamed("the groups of `inventory_groups` are empty"));
            }
            json!({"children": children, "vars": access(&inputs, warnings)?})
        }
        (None, Some(host)) => {
            let address = address(host).ok_or_else(|| unfit("target_host", "an address"))?;
            let hosts = json!({ ONE_TARGET: {"ansible_host": address} });
            json!({"hosts": hosts, "vars": access(&inputs, warnings)?})
        }
        // A missing host must not become this machine; a syntax check needs none.
        (None, None) if inputs.names_hosts() && request.command != Command::Validate => {
            return Err(unnamed("`target_host` and `inventory_groups` are empty"));
        }
        (None, None) => {
            let mut vars = become_of(&inputs, false)?;
            vars.insert(CONNECTION.to_owned(), "local".into());
            vars.insert(INTERPRETER.to_owned(), OWN_INTERPRETER.into());
            json!({"hosts": {"localhost": vars}})
        }
    };
    Ok(json!({"all": {"children": { TARGETS: targets }}}))
}

/// The inputs, of which those that are empty count as not said.
struct Inputs<'i>(&'i Fields);

impl<'i> Inputs<'i> {
    fn get(&self, key: &str) -> Option<&'i Value> {
        self.0.get(key).filter(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Bool(_) | Value::Number(_) => true,
        })
    }

    fn names_hosts(&self) -> bool {
        ["target_host", "inventory_groups"].iter().any(|key| self.0.contains_key(*key))
    }

    /// A word of `ssh`.
    fn word(&self, key: &str) -> Result<Option<&'i str>, NotFound> {
        let Some(found) = self.get(key) else { return Ok(None) };
        address(found).map(Some).ok_or_else(|| unfit(key, "a name or an address"))
    }

    fn needed(&self, key: &str) -> Result<&'i str, NotFound> {
        self.word(key)?.ok_or_else(|| unfit(key, "needed for this `ssh_access_mode`"))
    }

    fn port(&self, key: &str) -> Result<u16, NotFound> {
        let port = match self.get(key) {
            None => Some(22),
            Some(Value::Number(number)) => {
                number.as_u64().and_then(|port| u16::try_from(port).ok())
            }
            Some(Value::String(text)) => text.parse().ok(),
            Some(_) => None,
        };
        port.filter(|port| *port > 0).ok_or_else(|| unfit(key, "a port number"))
    }
}

fn groups_of(groups: &Value) -> Result<Fields, NotFound> {
    let unfit = || {
        unfit(
            "inventory_groups",
            "a map of groups, each a list of hosts with a `name` and a `host`",
        )
    };
    let mut children = Fields::new();
    for (group, hosts) in groups.as_object().ok_or_else(unfit)? {
        if !is_name(group) || ["all", "ungrouped", TARGETS].contains(&group.as_str()) {
            return Err(NotFound {
                message: "invalid group name in the input `inventory_groups`".into(),
                help: "use letters, digits, `_`, `-` and `.`, but not a name that Ansible reserves"
                    .into(),
            });
        }
        let mut found = Fields::new();
        for host in hosts.as_array().ok_or_else(unfit)? {
            let (name, vars) = host_of(host).ok_or_else(unfit)?;
            found.insert(name.to_owned(), Value::Object(vars));
        }
        children.insert(group.clone(), json!({ "hosts": found }));
    }
    Ok(children)
}

/// `{name, host, …}`: the rest are variables of the host.
fn host_of(host: &Value) -> Option<(&str, Fields)> {
    let fields = host.as_object()?;
    let name = fields.get("name")?.as_str().filter(|name| is_name(name))?;
    let mut vars = fields.clone();
    vars.remove("name");
    if let Some(host) = vars.remove("host") {
        vars.entry("ansible_host").or_insert(host);
    }
    if let Some(host) = vars.get("ansible_host") {
        address(host)?;
    }
    if vars.get(CONNECTION).and_then(Value::as_str) == Some("local") {
        vars.entry(INTERPRETER).or_insert(OWN_INTERPRETER.into());
    }
    Some((name, vars))
}

/// How the hosts are reached.
fn access(inputs: &Inputs<'_>, warnings: &mut Vec<String>) -> Result<Fields, NotFound> {
    let mut vars = become_of(inputs, true)?;
    let user = inputs.word("target_user")?.unwrap_or("root");
    vars.insert("ansible_user".to_owned(), user.into());
    vars.insert("ansible_port".to_owned(), inputs.port("target_port")?.into());
    vars.insert(INTERPRETER.to_owned(), "auto_silent".into());
    match inputs.get("ssh_private_key_file") {
        Some(Value::String(path)) => {
            vars.insert("ansible_ssh_private_key_file".to_owned(), path.as_str().into());
        }
        Some(_) => return Err(unfit("ssh_private_key_file", "the path of a file")),
        None if inputs.get("ssh_private_key_env").is_some() => {
            let warning =
                "`ssh_private_key_env` is ignored: name the file with `ssh_private_key_file`";
            warnings.push(warning.to_owned());
        }
        None => {}
    }
    if let Some(arguments) = way(inputs)? {
        vars.insert("ansible_ssh_common_args".to_owned(), arguments.into());
    }
    Ok(vars)
}

fn become_of(inputs: &Inputs<'_>, usual: bool) -> Result<Fields, NotFound> {
    let mut vars = Fields::new();
    let becomes = match inputs.get("become") {
        None => usual,
        Some(Value::Bool(becomes)) => *becomes,
        Some(_) => return Err(unfit("become", "`true` or `false`")),
    };
    if becomes {
        vars.insert("ansible_become".to_owned(), true.into());
        if let Some(user) = inputs.word("become_user")? {
            vars.insert("ansible_become_user".to_owned(), user.into());
        }
    }
    Ok(vars)
}

/// What leads `ssh` to hosts that cannot be reached at once. Every word in it was checked.
fn way(inputs: &Inputs<'_>) -> Result<Option<String>, NotFound> {
    let jump = inputs.word("ssh_proxy_jump_host")?;
    let mode = match inputs.get("ssh_access_mode") {
        None if jump.is_some() => "bastion-explicit",
        None => "direct",
        Some(mode) => mode.as_str().unwrap_or_default(),
    };
    match mode {
        "direct" => Ok(None),
        "bastion-explicit" => {
            let host = inputs.needed("ssh_proxy_jump_host")?;
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            let user = inputs.word("ssh_proxy_jump_user")?.unwrap_or("root");
            let port = inputs.port("ssh_proxy_jump_port")?;
            Ok(Some(format!("-o ProxyJump={user}@{host}:{port}")))
        }
        "gcp-iap" => {
            let instance = inputs.needed("gcp_iap_instance")?;
            let project = inputs.needed("gcp_iap_project_id")?;
            let zone = inputs.needed("gcp_iap_zone")?;
            Ok(Some(format!(
                "-o ProxyCommand='gcloud compute start-iap-tunnel {instance} %p --listen-on-stdin \
                 --project={project} --zone={zone} --verbosity=warning'"
            )))
        }
        _ => Err(unfit("ssh_access_mode", "`direct`, `bastion-explicit` or `gcp-iap`")),
    }
}

/// A name of a host or group: Ansible reads ranges, lists and options in other signs.
fn is_name(text: &str) -> bool {
    text.len() <= 253
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// A name, an address of IPv4 or IPv6, or a user.
fn address(value: &Value) -> Option<&str> {
    let text = value.as_str()?;
    let is_known = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
    let is_address = text.len() <= 253 && !text.starts_with(['-', '.']) && !text.is_empty();
    (is_address && text.chars().all(is_known)).then_some(text)
}

fn unnamed(why: &str) -> NotFound {
    NotFound {
        message: format!("no host given: {why}"),
        help: "set one of them with `--inputs FILE` or `HYOPS_INPUT_target_host`".to_owned(),
    }
}

fn unfit(key: &str, what: &str) -> NotFound {
    NotFound {
        message: format!("the input `{key}` must be {what}"),
        help: "fix it, or omit it".to_owned(),
    }
}

#[cfg(test)]
mod tests;
