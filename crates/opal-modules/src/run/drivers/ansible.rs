//! `config/ansible`: a stack with a `playbook.yml`, for the hosts that the inputs name.
//!
//! The inventory and the variables are written for each run. Inputs are data there: a `{{` in one of
//! them is text, and no host or value can add a line or an option. The keys of hosts are checked as
//! Ansible does it; whoever does not want that says so in the `env` of the profile.
//!
//! The playbook may leave its outputs, a JSON object, in the file that `hyops_outputs_file` names.
//! What Ansible did to each host it says in a file of its own (`stats`), not on the screen.

mod inventory;
mod stats;
mod yaml;

use serde_json::{Map, Value};

use super::common::{self, OUTPUTS, Section};
use crate::NotFound;
use crate::run::Command;
use crate::run::driver::{Driver, Outputs, OwnSection, Place, Request, Setting, Tool, Work};
use opal_core::Secret;
use opal_core::gather::Gather as _;

const PROGRAM: &str = "ansible-playbook";

static SECTION: OwnSection = OwnSection {
    name: "ansible",
    keys: &[
        "apply_args",
        "bin",
        "destroy_args",
        "destroy_playbook_file",
        "plan_args",
        "playbook_file",
        "validate_args",
    ],
};

const INVENTORY: &str = "hyops.inventory.yml";
const VARIABLES: &str = "hyops.inputs.yml";

/// Variables that say which hosts, tasks or files Ansible works with, and who its tasks run as: what the
/// inputs and the pack say.
const ASTRAY: [&str; 15] = [
    "ANSIBLE_BECOME",
    "ANSIBLE_BECOME_USER",
    "ANSIBLE_CHECK_MODE_MARKERS",
    "ANSIBLE_CONFIG",
    "ANSIBLE_HOSTS",
    "ANSIBLE_INVENTORY",
    "ANSIBLE_INVENTORY_ENABLED",
    "ANSIBLE_INVENTORY_IGNORE",
    "ANSIBLE_INVENTORY_IGNORE_REGEX",
    "ANSIBLE_PLAYBOOK_DIR",
    "ANSIBLE_PLAYBOOK_VARS_ROOT",
    "ANSIBLE_RUN_TAGS",
    "ANSIBLE_SKIP_TAGS",
    "ANSIBLE_STDOUT_CALLBACK",
    "ANSIBLE_TRANSPORT",
];

/// What the inventory says, and a variable of the same name would say louder.
const OF_THE_INVENTORY: [&str; 2] = ["become", "become_user"];

#[derive(Debug)]
pub(super) struct Ansible;

impl Driver for Ansible {
    fn reference(&self) -> &'static str {
        "config/ansible"
    }

    fn section(&self) -> Option<&'static OwnSection> {
        Some(&SECTION)
    }

    fn programs(&self, settings: &Map<String, Value>) -> Option<Vec<String>> {
        let section = Section::of(settings, &SECTION).ok();
        let named = section.and_then(|section| section.word("bin").ok().flatten());
        Some(vec![named.unwrap_or(PROGRAM).to_owned()])
    }

    fn fits(&self, request: &Request<'_>) -> Result<(), NotFound> {
        let section = Section::of(&request.profile.settings, &SECTION)?;
        let usual = section.file("playbook_file", "playbook.yml")?;
        if request.stack.join(usual).is_file() {
            return Ok(());
        }
        playbook(request, &section, &mut Vec::new()).map(drop)
    }

    fn work(&self, request: &Request<'_>) -> Result<Work, NotFound> {
        let section = Section::of(&request.profile.settings, &SECTION)?;
        let command = request.command.of_tools();
        let mut warnings = Vec::new();
        let playbook = playbook(request, &section, &mut warnings)?;
        inventory::of(request, &mut warnings)?;
        let program = section.word("bin")?.unwrap_or(PROGRAM);
        let variables = format!("@{VARIABLES}");
        let words = [program, &playbook, "-i", INVENTORY, "-e", &variables];
        let mut tool = Tool::new(format!("ansible_{command}"), &words);
        tool.words.extend(arguments(&section, command)?);
        let facts = Map::from_iter([("playbook".to_owned(), Value::from(playbook))]);
        let outputs = Some(OUTPUTS.to_owned());
        let report = Some(stats::FILE.to_owned());
        Ok(Work { tools: vec![tool], outputs, report, facts, warnings, ..Work::default() })
    }

    fn setting(&self, request: &Request<'_>, place: &Place<'_>) -> Result<Setting, NotFound> {
        let inventory = inventory::of(request, &mut Vec::new())?;
        let section = Section::of(&request.profile.settings, &SECTION)?;
        let playbook = playbook(request, &section, &mut Vec::new())?;
        let files = request.templates.clone().into_iter().chain([
            (stats::plugin_path(&playbook), stats::PLUGIN.to_owned()),
            (INVENTORY.to_owned(), yaml::document(&inventory)),
            (VARIABLES.to_owned(), yaml::document(&Value::Object(variables(request, place)))),
        ]);
        let temporary = place.stack.join(".ansible").join("tmp").display().to_string();
        let report = place.stack.join(stats::FILE).display().to_string();
        let environment = [
            ("ANSIBLE_CHECK_MODE_MARKERS", "0"),
            ("ANSIBLE_INVENTORY_UNPARSED_FAILED", "1"),
            ("ANSIBLE_LOCAL_TEMP", &temporary),
            ("ANSIBLE_NOCOWS", "1"),
            ("ANSIBLE_RETRY_FILES_ENABLED", "0"),
            // Evidence has the same form on every machine.
            ("ANSIBLE_STDOUT_CALLBACK", "default"),
            (stats::VARIABLE, &report),
            // Ansible runs in UTF-8 only. Without this it comes to that by itself, with `C` it gives up.
            ("LC_ALL", ""),
        ];
        let without = [("ANSIBLE_FORCE_COLOR", "0"), ("ANSIBLE_NOCOLOR", "1")];
        let without: &[(&str, &str)] = if place.colour { &[] } else { &without };
        Ok(Setting {
            files: files.map(|(path, text)| (path, Secret::new(text))).gathered(),
            variables: environment
                .into_iter()
                .chain(without.iter().copied())
                .map(|(name, value)| (name.to_owned(), Secret::new(value)))
                .gathered(),
        })
    }

    fn outputs(&self, text: &str) -> Result<Outputs, String> {
        common::object(text)
    }

    fn differs(&self, code: i32, report: Option<&str>) -> Result<bool, String> {
        match (code, report) {
            (0, Some(report)) => Ok(stats::of(report)?.has_changes()),
            // A check that left no report is not one that found nothing.
            (0, None) => Err(format!("Ansible left no `{}`", stats::FILE)),
            _ => Ok(false),
        }
    }

    fn has_missed(&self, code: i32, report: Option<&str>) -> Result<Option<&'static str>, String> {
        let (0, Some(report)) = (code, report) else { return Ok(None) };
        let is_for_nobody = !stats::of(report)?.has_hosts();
        Ok(is_for_nobody.then_some("no host of the inventory matches the playbook"))
    }

    fn is_led_astray_by(&self, variable: &str) -> bool {
        ASTRAY.contains(&variable)
    }
}

/// Which playbook of the stack is meant.
fn playbook(
    request: &Request<'_>,
    section: &Section<'_>,
    warnings: &mut Vec<String>,
) -> Result<String, NotFound> {
    let is_there = |name: &str| request.stack.join(name).is_file();
    let pack = &request.execution.pack;
    let usual = section.file("playbook_file", "playbook.yml")?;
    if request.command == Command::Destroy {
        let name = section.file("destroy_playbook_file", "destroy.playbook.yml")?;
        return if is_there(name) {
            Ok(name.to_owned())
        } else {
            Err(NotFound {
                message: format!("the pack `{pack}` cannot be destroyed: it has no `{name}`"),
                help: format!("write a playbook that undoes what `{usual}` does"),
            })
        };
    }
    let mode = request.inputs.get("apply_mode").unwrap_or(&Value::Null);
    let name = match mode {
        Value::Null => usual.to_owned(),
        Value::String(mode) if ["", "bootstrap", "deploy"].contains(&mode.as_str()) => {
            usual.to_owned()
        }
        Value::String(mode) if mode == "auto" => {
            warnings.push(format!(
                "`apply_mode: auto` runs `{usual}`: earlier state is not considered"
            ));
            usual.to_owned()
        }
        Value::String(mode) if is_mode(mode) && is_there(&format!("playbook.{mode}.yml")) => {
            format!("playbook.{mode}.yml")
        }
        _ => {
            return Err(NotFound {
                message: format!(
                    "the input `apply_mode` does not match a playbook of the pack `{pack}`"
                ),
                help:
                    "a mode `m` needs a file `playbook.m.yml` in its stack; `deploy` is the default"
                        .to_owned(),
            });
        }
    };
    if is_there(&name) {
        return Ok(name);
    }
    Err(NotFound {
        message: format!("the pack `{pack}` has no `{name}`"),
        help: "a pack of `config/ansible` needs a `playbook.yml` in its `stack/`".to_owned(),
    })
}

fn is_mode(text: &str) -> bool {
    let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    text.len() <= 40 && text.chars().all(is_known)
}

/// What the command adds; a profile may say more, and never less.
fn arguments(section: &Section<'_>, command: Command) -> Result<Vec<String>, NotFound> {
    let (key, needed): (_, &[&str]) = match command {
        Command::Apply | Command::Deploy => ("apply_args", &[]),
        Command::Plan | Command::Verify => ("plan_args", &["--check", "--diff"]),
        Command::Validate => ("validate_args", &["--syntax-check"]),
        Command::Destroy => ("destroy_args", &[]),
    };
    let mut words = section.words(key)?.unwrap_or_default();
    needed.iter().for_each(|argument| common::ensure(&mut words, argument));
    Ok(words)
}

/// The variables of the playbook: the inputs, and what the run is.
fn variables(request: &Request<'_>, place: &Place<'_>) -> Map<String, Value> {
    let inputs = request.inputs.iter().filter(|(key, _)| !OF_THE_INVENTORY.contains(&key.as_str()));
    let mut variables: Map<String, Value> =
        inputs.map(|(key, value)| (key.clone(), value.clone())).gathered();
    let outputs = place.stack.join(OUTPUTS).display().to_string();
    for (name, value) in [
        ("hyops_lifecycle_command", request.command.of_tools().name()),
        ("hyops_module_ref", request.module.as_str()),
        ("hyops_outputs_file", &outputs),
        ("hyops_run_id", place.run_id),
        ("hyops_runtime_root", &place.root.display().to_string()),
    ] {
        variables.insert(name.to_owned(), value.into());
    }
    variables
}
