//! What holds for every run with a profile: its `policy`.

use std::collections::BTreeMap;

use opal_core::{Code, Diagnostic, Span, suggest};
use semver::VersionReq;
use serde_json::{Value, json};

use super::pattern::Pattern;
use crate::document::{optional_list, optional_map, switch, text, unread, unused};
use crate::reference::shorten;
use opal_config::document::{Node, NodeKind};
use opal_config::report::Report;
use opal_core::gather::Gather as _;
use opal_yaml::fields::{Field, Fields};
use opal_yaml::scalar::{Meaning, meaning};

const KEYS: [&str; 5] = ["constraints", "defaults", "naming", "tool_versions", "workspace"];
const DEFAULTS: [&str; 4] = ["command_timeout_s", "min_free_disk_mb", "redact", "retries"];
const MODES: [&str; 2] = ["backend_mode", "mode"];

const UNKNOWN: &str = "opal does not know it";
pub(super) const NO_WORKSPACES: &str = "workspaces are not created or named";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub command_timeout_s: Option<u32>,
    pub retries: u32,
    pub redact: bool,
    pub min_free_disk_mb: Option<u32>,
    /// By the name of the program.
    pub tool_versions: BTreeMap<String, ToolVersion>,
    /// What the files of a credential must assign, by its identifier.
    pub credential_contracts: BTreeMap<String, Vec<String>>,
    pub workspace: Workspace,
    /// What workspaces are called.
    pub workspace_pattern: Option<Pattern>,
}

/// Which versions a tool may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolVersion {
    pub wanted: VersionReq,
    /// Where its name is.
    pub span: Span,
}

/// What `policy.workspace` says about where state is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    pub backend_mode: Option<BackendMode>,
    pub mode: Option<BackendMode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendMode {
    Local,
    Cloud,
}

impl BackendMode {
    const ALL: [Self; 2] = [Self::Local, Self::Cloud];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Cloud => "cloud",
        }
    }
}

impl Policy {
    /// `keeps_state` says whether the driver has any state to keep.
    pub(super) fn read(
        fields: &mut Fields<'_>,
        keeps_state: bool,
        report: &mut Report<'_>,
    ) -> Self {
        let mut policy = Self {
            command_timeout_s: None,
            retries: 0,
            redact: true,
            min_free_disk_mb: None,
            tool_versions: BTreeMap::new(),
            credential_contracts: BTreeMap::new(),
            workspace: Workspace::default(),
            workspace_pattern: None,
        };
        let Some(mut found) = optional_map(fields, "policy", report) else { return policy };
        if let Some(mut defaults) = optional_map(&mut found, "defaults", report) {
            policy.defaults(&mut defaults, report);
        }
        if let Some(mut tools) = optional_map(&mut found, "tool_versions", report) {
            policy.tool_versions = tool_versions(&mut tools, report);
        }
        if let Some(mut constraints) = optional_map(&mut found, "constraints", report) {
            policy.credential_contracts = credential_contracts(&mut constraints, report);
        }
        if let Some(field) = found.get_field("workspace").filter(|_| !keeps_state) {
            unused("policy.workspace", field.key, NO_WORKSPACES, report);
        }
        if let Some(mut workspace) = optional_map(&mut found, "workspace", report) {
            let [backend_mode, mode] = MODES.map(|key| backend_mode(&mut workspace, key, report));
            policy.workspace = Workspace { backend_mode, mode };
            if keeps_state {
                unread(&mut workspace, "policy.workspace.", &MODES, NO_WORKSPACES, report);
            }
        }
        if let Some(mut naming) = optional_map(&mut found, "naming", report) {
            policy.workspace_pattern = pattern(&mut naming, report);
            let why = "the inputs set the names";
            unread(&mut naming, "policy.naming.", &["workspace_pattern"], why, report);
        }
        unread(&mut found, "policy.", &KEYS, UNKNOWN, report);
        policy
    }

    fn defaults(&mut self, defaults: &mut Fields<'_>, report: &mut Report<'_>) {
        self.command_timeout_s = count(defaults, "command_timeout_s", 1, report);
        self.retries = count(defaults, "retries", 0, report).unwrap_or(0);
        let redact = defaults.get_field("redact");
        self.redact = switch(defaults, "redact", true, report);
        if let Some(field) = redact.filter(|_| !self.redact) {
            let why = "secrets are always hidden";
            unused("policy.defaults.redact: false", field.key, why, report);
        }
        self.min_free_disk_mb = count(defaults, "min_free_disk_mb", 0, report);
        astray(defaults, report);
    }

    /// What the tools get to know of it, and what must hold before they run: with other words there, a
    /// run is another one. How long and how often they run is in the steps of a plan.
    pub(crate) fn reported(&self) -> Value {
        let name = |mode: Option<BackendMode>| mode.map(BackendMode::name);
        let versions = self.tool_versions.iter().map(|(tool, it)| (tool, it.wanted.to_string()));
        json!({
            "backend_mode": name(self.workspace.backend_mode),
            "credential_contracts": self.credential_contracts,
            "min_free_disk_mb": self.min_free_disk_mb,
            "mode": name(self.workspace.mode),
            "tool_versions": versions.gathered::<BTreeMap<_, _>>(),
            "workspace_pattern": self.workspace_pattern.as_ref().map(Pattern::as_str),
        })
    }
}

/// Keys that are left: a typo of one that is known is an error, any other is for another tool.
fn astray(defaults: &mut Fields<'_>, report: &mut Report<'_>) {
    let others: Vec<&str> = defaults.keys().collect();
    for key in others {
        if suggest::nearest(key, DEFAULTS).is_none() {
            continue;
        }
        let Some(field) = defaults.take(key) else { continue };
        let message = format!("unknown key `{}` in `policy.defaults`", shorten(key));
        let error = Diagnostic::new(Code::ConfigUnknownKey, field.key, message);
        report.unknown(error, key, DEFAULTS.into_iter());
    }
    unread(defaults, "policy.defaults.", &DEFAULTS, UNKNOWN, report);
}

pub(super) fn count(
    fields: &mut Fields<'_>,
    key: &str,
    least: u32,
    report: &mut Report<'_>,
) -> Option<u32> {
    let node = fields.take(key)?.value;
    if let NodeKind::Scalar { text, plain: true } = &node.kind
        && let Meaning::Int(number) = meaning(text)
        && let Ok(number) = u32::try_from(number)
        && number >= least
    {
        return Some(number);
    }
    let message = format!("`{key}` must be a whole number of at least {least}");
    report.error(
        Code::ConfigValue,
        node.head(),
        message,
        format!("write `{key}: {}`", least.max(1)),
    );
    None
}

fn tool_versions(tools: &mut Fields<'_>, report: &mut Report<'_>) -> BTreeMap<String, ToolVersion> {
    let names: Vec<&str> = tools.keys().collect();
    let mut found = BTreeMap::new();
    for name in names {
        let Some(Field { key: span, value }) = tools.take(name) else { continue };
        if name.is_empty() || name.contains('/') {
            let message = format!("invalid program name `{}`", shorten(name));
            let help = "write only the name, without its path, as in `terraform: \">=1.6.0\"`";
            report.error(Code::ConfigValue, span, message, help);
            continue;
        }
        // A number is one as it is written: `1.10` is not `1.1`.
        let wanted = match &value.kind {
            NodeKind::Scalar { text, .. } => VersionReq::parse(text).ok(),
            NodeKind::List(_) | NodeKind::Map(_) => None,
        };
        match wanted {
            Some(wanted) => drop(found.insert(name.to_owned(), ToolVersion { wanted, span })),
            None => {
                let name = shorten(name);
                let message = format!("invalid version range in `policy.tool_versions.{name}`");
                let help = format!(
                    "write `{name}: \">=1.6.0, <2.0.0\"`; `^1.6`, `~1.6.2` and `=1.6.2` are \
                     accepted too, and `,` means that both must hold"
                );
                report.error(Code::ConfigValue, value.head(), message, help);
            }
        }
    }
    found
}

fn credential_contracts(
    constraints: &mut Fields<'_>,
    report: &mut Report<'_>,
) -> BTreeMap<String, Vec<String>> {
    const CONTRACTS: &str = "credential_contracts";
    const REQUIRED: &str = "required_tfvars";
    if let Some(field) = constraints.take("inputs") {
        let message = "the constraints of a profile apply to tools and workspaces, not to inputs";
        let error = Diagnostic::new(Code::SpecLeak, field.key, message);
        report.push(error.help("move it to `inputs.schema.json` next to the spec of the module"));
    }
    let mut found = BTreeMap::new();
    if let Some(mut contracts) = optional_map(constraints, CONTRACTS, report) {
        let credentials: Vec<&str> = contracts.keys().collect();
        for id in credentials {
            let Some(mut contract) = optional_map(&mut contracts, id, report) else { continue };
            let items = optional_list(&mut contract, REQUIRED, report);
            let names = items.into_iter().filter_map(|item| text(item, REQUIRED, report));
            found.insert(id.to_owned(), names.map(|name| name.text.to_owned()).collect());
            let prefix = format!("policy.constraints.{CONTRACTS}.{}.", shorten(id));
            unread(&mut contract, &prefix, &[REQUIRED], UNKNOWN, report);
        }
    }
    let why = "nothing is checked against it";
    unread(constraints, "policy.constraints.", &[CONTRACTS], why, report);
    found
}

fn backend_mode(
    workspace: &mut Fields<'_>,
    key: &str,
    report: &mut Report<'_>,
) -> Option<BackendMode> {
    let node = workspace.take(key)?.value;
    let named =
        scalar(node).and_then(|text| BackendMode::ALL.into_iter().find(|mode| mode.name() == text));
    if named.is_none() {
        let message = format!("`policy.workspace.{key}` must be `local` or `cloud`");
        report.error(Code::ConfigValue, node.head(), message, format!("write `{key}: local`"));
    }
    named
}

fn pattern(naming: &mut Fields<'_>, report: &mut Report<'_>) -> Option<Pattern> {
    let node = naming.take("workspace_pattern")?.value;
    let pattern = Pattern::parse(text(node, "workspace_pattern", report)?.text);
    if pattern.is_none() {
        report.error(
            Code::ConfigValue,
            node.head(),
            "`policy.naming.workspace_pattern` must be a text with names in braces",
            "write `workspace_pattern: \"{name_prefix}-{module}\"`",
        );
    }
    pattern
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar { text, .. } => Some(text),
        NodeKind::List(_) | NodeKind::Map(_) => None,
    }
}
