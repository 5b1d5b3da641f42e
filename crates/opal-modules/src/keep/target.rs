//! What can be made ready: this machine, tools, and providers with their credentials.

use opal_core::suggest;

use crate::reference::{NoReference, shorten};

/// Something that modules need and that is prepared once.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    pub name: &'static str,
    pub summary: &'static str,
    /// Of each group, one program must be there.
    pub(super) tools: &'static [&'static [&'static str]],
    /// Whether it has credentials of its own name.
    pub(super) has_credentials: bool,
    pub(super) settings: &'static [Setting],
}

/// What is to be said about a target, none of it secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) about: &'static str,
    /// Its default; without one it must be given.
    pub(super) default: Option<&'static str>,
}

const fn needed(key: &'static str, about: &'static str) -> Setting {
    Setting { key, about, default: None }
}

const fn usual(key: &'static str, about: &'static str, default: &'static str) -> Setting {
    Setting { key, about, default: Some(default) }
}

const TERRAFORM: &[&str] = &["terragrunt", "tofu", "terraform"];

/// In the order of names.
const TARGETS: [Target; 10] = [
    Target {
        name: "ansible",
        summary: "playbooks of Ansible",
        tools: &[&["ansible-playbook"]],
        has_credentials: false,
        settings: &[],
    },
    Target {
        name: "aws",
        summary: "Amazon Web Services",
        tools: &[TERRAFORM],
        has_credentials: true,
        settings: &[needed("region", "the region for new resources, as in `eu-central-1`")],
    },
    Target {
        name: "azure",
        summary: "Microsoft Azure",
        tools: &[TERRAFORM],
        has_credentials: true,
        settings: &[
            needed("subscription_id", "the subscription for billing"),
            needed("tenant_id", "the directory it belongs to"),
            needed("location", "the region for new resources, as in `westeurope`"),
        ],
    },
    Target {
        name: "gcp",
        summary: "Google Cloud",
        tools: &[TERRAFORM],
        has_credentials: true,
        settings: &[
            needed("project_id", "the project to work in"),
            needed("region", "the region for new resources, as in `europe-west1`"),
        ],
    },
    Target {
        name: "hashicorp-vault",
        summary: "secrets in HashiCorp Vault",
        tools: &[],
        has_credentials: true,
        settings: &[needed("address", "its URL")],
    },
    Target {
        name: "hetzner",
        summary: "Hetzner Cloud",
        tools: &[TERRAFORM],
        has_credentials: true,
        settings: &[usual("api", "the URL of its API", "https://api.hetzner.cloud")],
    },
    Target {
        name: "local",
        summary: "scripts on this machine",
        tools: &[&["sh"]],
        has_credentials: false,
        settings: &[],
    },
    Target {
        name: "proxmox",
        summary: "virtual machines of Proxmox VE",
        tools: &[TERRAFORM, &["ssh"]],
        has_credentials: true,
        settings: &[
            needed("api_url", "as in `https://pve.example.com:8006/api2/json`"),
            needed("node", "the node to create machines on"),
        ],
    },
    Target {
        name: "terraform-cloud",
        summary: "workspaces of Terraform Cloud",
        tools: &[TERRAFORM],
        has_credentials: true,
        settings: &[
            needed("organization", "the organization of the workspaces"),
            usual("host", "where it is", "app.terraform.io"),
        ],
    },
    Target {
        name: "terragrunt",
        summary: "stacks of Terragrunt, OpenTofu or Terraform",
        tools: &[TERRAFORM],
        has_credentials: false,
        settings: &[],
    },
];

impl Target {
    /// All of them, in the order of their names.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &TARGETS
    }

    pub fn named(name: &str) -> Result<&'static Self, NoReference> {
        TARGETS.iter().find(|target| target.name == name).ok_or_else(|| {
            let names = || TARGETS.iter().map(|target| target.name);
            let known: Vec<&str> = names().collect();
            let known = format!("expected one of: `{}`", known.join("`, `"));
            let help = match suggest::nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`? {known}"),
                None => known,
            };
            NoReference { message: format!("unknown target `{}`", shorten(name)), help }
        })
    }

    /// The file of its settings, for the user to fill in.
    pub(super) fn template(&self) -> String {
        let mut text = format!("# The target `{}`: {}.\n", self.name, self.summary);
        if self.settings.iter().any(|setting| setting.default.is_none()) {
            text.push_str(&format!("# Replace each {PLACEHOLDER} with a value.\n"));
        }
        if self.has_credentials {
            let name = self.name;
            text.push_str(&format!(
                "# Do not put secrets here: they belong in the directory `credentials`, as\n# \
                 `{name}.credentials.tfvars`, `{name}.env` or `{name}.json`.\n"
            ));
        }
        for Setting { key, about, default } in self.settings {
            let value = default.unwrap_or(PLACEHOLDER);
            text.push_str(&format!("\n# {about}\n{key}: {value}\n"));
        }
        text
    }
}

/// Marks a place that the user has to fill in.
const PLACEHOLDER: &str = "CHANGE_ME";
