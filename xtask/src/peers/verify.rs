//! Verifying rendered files that are in the desired state: opal compared with a single `sha256sum`
//! over them, and with the dry runs of pyinfra and Ansible.
//!
//! The dry runs take minutes, so each happens once; what is quick takes turns.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::running::peak;
use super::tools::Tools;
use super::{medians, text, write};
use crate::say;

const FILES: usize = 1_000;

/// Ansible takes about a second for each, so with `--quick` it checks only this many.
const FEW: usize = 100;

/// Sections of the template: a few kilobytes.
const SECTIONS: usize = 25;

const ROUNDS: usize = 41;

const BAR_OF_SUM: f64 = 3.0;

const BAR_OF_PYINFRA: f64 = 0.01;

/// Peak memory of opal, in kilobytes.
const MEMORY: u64 = 30_720;

/// The same files, in both ways to describe them to opal.
const TARGETS: [&str; 2] = ["files.yaml", "main"];

/// Says how long each takes; gives the bars that are missed.
pub(super) fn compare(
    root: &Path,
    opal: &Path,
    tools: &Tools,
    quick: bool,
) -> Result<Vec<String>, String> {
    let folder = root.join("target/bench/verify");
    project(&folder)?;
    let records = folder.join("root");
    let line = |words: &[&str]| -> Result<Vec<String>, String> {
        let before = [text(opal)?, "--root", text(&records)?];
        Ok(before.iter().chain(words).copied().map(str::to_owned).collect())
    };
    medians(&folder, &[line(&["apply", TARGETS[0]])?], 1)?;

    let mut lines = vec![sum()];
    for target in TARGETS {
        lines.push(line(&["verify", target])?);
    }
    let took = medians(&folder, &lines, ROUNDS)?;
    let dry = ["@local", "deploy.py", "--dry"];
    let dry = dry_run(&folder, "pyinfra", &tools.pyinfra, &dry, FILES)?;
    let count = if quick { FEW } else { FILES };
    let some = format!("files={count}");
    dry_run(&folder, "ansible", &tools.ansible, &["--check", "-e", &some, "playbook.yml"], count)?;

    let mut missed = Vec::new();
    for (index, target) in TARGETS.into_iter().enumerate() {
        let peers = [("sha256sum", Some(took[0]), BAR_OF_SUM), ("pyinfra", dry, BAR_OF_PYINFRA)];
        let ours = took[index + 1];
        let mut row = format!("{FILES} files: verify {target:<10} opal {:.2} ms", millis(ours));
        for (peer, theirs, bar) in peers {
            let Some(theirs) = theirs else { continue };
            let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
            let _ = write!(row, "   {peer} {:.2} ms × {ratio:.4} (bar {bar})", millis(theirs));
            if ratio > bar {
                missed.push(format!("verify {target} beside {peer}: × {ratio:.4}"));
            }
        }
        let peak = peak(&folder, &lines[index + 1])?;
        say(&format!("{row}   peak memory {peak} kB (bar {MEMORY} kB)"));
        if peak > MEMORY {
            missed.push(format!("peak memory of verify {target}: {peak} kB"));
        }
    }
    Ok(missed)
}

/// One dry run of a peer that is there.
fn dry_run(
    folder: &Path,
    name: &str,
    program: &Option<PathBuf>,
    arguments: &[&str],
    count: usize,
) -> Result<Option<Duration>, String> {
    let Some(program) = program else { return Ok(None) };
    // Ansible with fewer processes for each file, which is its best.
    let quick = ["ANSIBLE_PIPELINING=1", "ANSIBLE_LOCALHOST_WARNING=0"];
    let words = ["env"].into_iter().chain(quick).chain([text(program)?]);
    let line = words.chain(arguments.iter().copied()).map(str::to_owned).collect();
    let took = medians(folder, &[line], 1)?[0];
    say(&format!("{count} files: dry run of {name}   {:.0} ms", millis(took)));
    Ok(Some(took))
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// All files at once.
fn sum() -> Vec<String> {
    let files = (1..=FILES).map(|index| format!("{index}.conf"));
    std::iter::once("sha256sum".to_owned()).chain(files).collect()
}

/// The files of all tools. Each is rendered from one template, with values of its own.
fn project(folder: &Path) -> Result<(), String> {
    let mut template = String::from("# {{ title }}\n");
    for section in 1..=SECTIONS {
        let _ = write!(
            template,
            "\n[server-{section}]\naddress = {{{{ address }}}}\nlisten = {{{{ listen }}}}\n\
             {{% if tls %}}tls = on\n{{% endif %}}# words of section {section} that do not change, \
             as there are in many a file\n"
        );
    }
    let mut yaml = String::from("version: \"1.0\"\nname: files\nsteps:\n");
    for index in 1..=FILES {
        let _ = write!(
            yaml,
            "  - id: file-{index}\n    type: template\n    source: app.conf.j2\n    \
             destination: {index}.conf\n    vars:\n      title: app-{index}\n      \
             address: 10.0.0.{index}\n      listen: {index}\n      tls: true\n"
        );
    }
    let opl = format!(
        "fun main() {{\n    for i in 1...{FILES} {{\n        @file.template(\n            \
         source=\"app.conf.j2\",\n            destination=\"@var.i().conf\",\n            \
         vars={{title: \"app-@var.i\", address: \"10.0.0.@var.i\", listen: i, tls: true}},\n        \
         )\n    }}\n}}\n"
    );
    let pyinfra = format!(
        "from pathlib import Path\n\nfrom pyinfra.operations import files\n\n\
         for i in range(1, {}):\n    files.template(\n        src=\"app.conf.j2\",\n        \
         dest=str(Path.cwd() / f\"{{i}}.conf\"),\n        title=f\"app-{{i}}\",\n        \
         address=f\"10.0.0.{{i}}\",\n        listen=i,\n        tls=True,\n    )\n",
        FILES + 1
    );
    let ansible = "- hosts: localhost\n  connection: local\n  gather_facts: false\n  vars:\n    \
         ansible_python_interpreter: \"{{ ansible_playbook_python }}\"\n  tasks:\n    - ansible.builtin.template:\n        \
         src: app.conf.j2\n        dest: \"{{ playbook_dir }}/{{ item }}.conf\"\n        \
         trim_blocks: false\n      vars:\n        title: \"app-{{ item }}\"\n        \
         address: \"10.0.0.{{ item }}\"\n        listen: \"{{ item }}\"\n        tls: true\n      \
         loop: \"{{ range(1, files | int + 1) | list }}\"\n";
    let files: [(&str, &str); 5] = [
        ("app.conf.j2", &template),
        ("files.yaml", &yaml),
        ("commands.opl", &opl),
        ("deploy.py", &pyinfra),
        ("playbook.yml", ansible),
    ];
    files.into_iter().try_for_each(|(name, content)| write(folder, name, content))
}
