//! Whether the tools of a run have the versions that its profile wants.
//!
//! A tool is asked with `--version`, in the stack, where it will run: whoever keeps several versions of a
//! program often says there which one is meant. Nothing is asked that no run with the driver starts.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use opal_core::Secret;
use opal_core::resolver::{Ask, Probe};
use regex::Regex;
use semver::{BuildMetadata, Prerelease, Version, VersionReq};

use super::preflight::{Check, Fault, located};
use super::prepared::Prepared;
use crate::programs::program_name;
use crate::{CheckKind, ToolVersion};

/// Terraform would ask for newer versions of itself.
static ENVIRONMENT: LazyLock<BTreeMap<String, Secret>> =
    LazyLock::new(|| BTreeMap::from([("CHECKPOINT_DISABLE".to_owned(), Secret::new("1"))]));

/// `1.11.4`, `5.2`, `1.7.0-rc1+g3fc9`, and as Python writes it `2.19.0rc1`.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:^|[^0-9.])(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?",
        r"(?:-([0-9A-Za-z][0-9A-Za-z.-]{0,60})|((?:a|b|rc|dev)\d{1,9}))?",
        r"(?:\+([0-9A-Za-z.-]{1,60}))?",
    ))
    .expect("the expression is a constant")
});

/// Asks every tool that the profile names, that a run may start and that this machine has.
pub(super) fn checks(prepared: &Prepared, probe: &dyn Probe) -> Vec<Check> {
    let wanted = &prepared.profile.policy.tool_versions;
    if wanted.is_empty() {
        return Vec::new();
    }
    let programs = prepared.driver.programs(&prepared.profile.settings);
    let program = |tool: &str| match &programs {
        None => Some(tool.to_owned()),
        Some(programs) => programs.iter().find(|program| program_name(program) == tool).cloned(),
    };
    let check = |(tool, version): (&String, &ToolVersion)| {
        let program = program(tool)?;
        let found = located(prepared, &program)?.to_string_lossy().into_owned();
        // A path is seen from the stack, as it will be in the run.
        let asked = if program.contains('/') { program } else { found };
        let fault = unfit(tool, &version.wanted, said(prepared, &asked, probe));
        Some(Check::new(CheckKind::Version(tool.clone()), fault))
    };
    wanted.iter().filter_map(check).collect()
}

/// The version that a program says it has; why it does not say one.
fn said(prepared: &Prepared, program: &str, probe: &dyn Probe) -> Result<Version, String> {
    let stack = prepared.pack.stack.to_string_lossy();
    let words = [program, "--version"];
    let ask = Ask {
        directory: Some(&stack),
        environment: &ENVIRONMENT,
        drops_excess: true,
        ..Ask::program(&words)
    };
    let answer = probe.ask(&ask).map_err(|trouble| trouble.message)?;
    // A program that cannot run may name the version of something else that it misses.
    if answer.code != 0 {
        return Err(format!("`{program} --version` ended with {}", answer.code));
    }
    let printed = [&answer.stdout, &answer.stderr];
    let found = printed.into_iter().find_map(|text| version(text.expose()));
    found.ok_or_else(|| format!("`{program} --version` does not print a version"))
}

fn unfit(tool: &str, wanted: &VersionReq, said: Result<Version, String>) -> Option<Fault> {
    let or_change = "or change `policy.tool_versions` of the profile";
    match said {
        Ok(found) if wanted.matches(&found) => None,
        Ok(found) => {
            let hint = match found.pre.is_empty() {
                true => "",
                false => "; a pre-release fits only a range that names one",
            };
            Some((
                format!("`{tool}` is version {found}, but `{wanted}` is required"),
                format!("install a version of `{tool}` that fits, {or_change}{hint}"),
            ))
        }
        Err(why) => Some((
            format!("unknown version of `{tool}`: {why}"),
            format!("reinstall `{tool}`, {or_change}"),
        )),
    }
}

/// The first version in what a program has printed. What is not said is 0.
fn version(printed: &str) -> Option<Version> {
    let found = NUMBER.captures(printed)?;
    let number = |group| found.get(group).map_or(Some(0), |it| it.as_str().parse().ok());
    let text = |group| found.get(group).map_or("", |it| it.as_str());
    let pre = if text(4).is_empty() { text(5) } else { text(4) };
    Some(Version {
        major: number(1)?,
        minor: number(2)?,
        patch: number(3)?,
        pre: Prerelease::new(pre.trim_end_matches(['.', '-'])).unwrap_or_default(),
        build: BuildMetadata::new(text(6).trim_end_matches(['.', '-'])).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_version_that_is_printed_counts() {
        for (printed, expected) in [
            ("Terraform v1.11.4\non linux_amd64\n+ provider x v9.9.9\n", "1.11.4"),
            ("terragrunt version v0.67.1\n", "0.67.1"),
            ("ansible-playbook [core 2.19.14]\n  python version = 3.11.2\n", "2.19.14"),
            ("ansible-playbook [core 2.19.0rc1]\n", "2.19.0-rc1"),
            ("OpenTofu v1.8.0-beta2\n", "1.8.0-beta2"),
            ("v3.14.0+g3fc9f4b.\n", "3.14.0+g3fc9f4b"),
            ("v1.2.3-rc.1+b.2 (x)\n", "1.2.3-rc.1+b.2"),
            ("tool 5.2\n", "5.2.0"),
            ("jq-1.7.1\n", "1.7.1"),
            ("go version go1.22.1 linux/amd64\n", "1.22.1"),
            ("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n", "5.2.15"),
            ("released 2024.01.05\n", "2024.1.5"),
            ("1.2.3-01\n", "1.2.3"),
            ("1.2.3-\n", "1.2.3"),
        ] {
            assert_eq!(version(printed).unwrap().to_string(), expected, "{printed}");
        }
        for printed in
            ["", "none", "version 5", "unknown option --version", "1.", ".5", "99999999999.1"]
        {
            assert_eq!(version(printed), None, "{printed}");
        }
    }

    #[test]
    fn a_version_that_does_not_fit_is_reported_with_what_is_required() {
        let wanted = VersionReq::parse(">=1.6.0,<2.0.0").unwrap();
        let fault = |version| unfit("tofu", &wanted, Ok(Version::parse(version).unwrap()));
        assert_eq!(fault("1.6.0"), None);
        assert_eq!(fault("1.6.0+build"), None);
        let (message, help) = fault("2.0.0").unwrap();
        assert_eq!(message, "`tofu` is version 2.0.0, but `>=1.6.0, <2.0.0` is required");
        assert!(!help.contains("a pre-release"), "{help}");
        assert!(fault("1.7.0-rc1").unwrap().1.contains("a pre-release"));
    }

    proptest! {
        #[test]
        fn any_text_has_a_version_or_none(text in "\\PC{0,40}|[0-9a-z.+-]{0,60}") {
            let _ = version(&text);
        }
    }
}
