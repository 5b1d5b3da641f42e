//! Settings that a program takes as the value of an option: which are commands.

use super::super::programs::Called;

/// Settings of ssh that name a program, a library or another file of settings.
const RUN_BY_SSH: [&[u8]; 8] = [
    b"include",
    b"knownhostscommand",
    b"localcommand",
    b"pkcs11provider",
    b"proxycommand",
    b"remotecommand",
    b"securitykeyprovider",
    b"xauthlocation",
];

/// `git -c user.name=…`, `ssh -o User=…`: most settings are not commands. One that is not
/// known may be.
pub(super) fn may_run(called: Called, name: &[u8], text: &[u8]) -> bool {
    let is_git = called.name == "git" && name == b"c";
    let is_ssh =
        name == b"o" && matches!(called.name, "ssh" | "autossh" | "scp" | "sftp" | "sshfs");
    // `-oNAME=…`, `-4oNAME=…`
    let letter = name.first().and_then(|letter| text.iter().position(|byte| byte == letter));
    let text = match letter {
        Some(at) if text.starts_with(b"-") => &text[at + 1..],
        _ => text,
    };
    // `-e @FILE`
    if called.name.starts_with("ansible") && matches!(name, b"e" | b"--extra-vars") {
        return !text.starts_with(b"@");
    }
    let end = text.iter().position(|byte| matches!(byte, b'=' | b' '));
    match end {
        Some(end) if is_git => is_run(&text[..end]),
        Some(end) if is_ssh => RUN_BY_SSH.contains(&text[..end].to_ascii_lowercase().as_slice()),
        _ => true,
    }
}

/// Whether a setting of git is a command.
pub(super) fn is_run(name: &[u8]) -> bool {
    let text = name.to_ascii_lowercase();
    let ends: [&[u8]; 10] = [
        b".cmd",
        b".command",
        b".driver",
        b".helper",
        b".process",
        b".program",
        b".receivepack",
        b".textconv",
        b".update",
        b".uploadpack",
    ];
    let starts: [&[u8]; 6] =
        [b"alias.", b"difftool.", b"filter.", b"mergetool.", b"pager.", b"browser."];
    let whole: [&[u8]; 13] = [
        b"core.askpass",
        b"core.editor",
        b"core.fsmonitor",
        b"core.gitproxy",
        b"core.hookspath",
        b"core.pager",
        b"core.sshcommand",
        b"diff.external",
        b"include.path",
        b"init.templatedir",
        b"interactive.difffilter",
        b"sequence.editor",
        b"uploadpack.packobjectshook",
    ];
    ends.iter().any(|end| text.ends_with(end))
        || starts.iter().any(|start| text.starts_with(start))
        || whole.contains(&text.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::programs::find;

    #[test]
    fn an_option_of_ssh_that_is_a_command_is_found_after_other_letters() {
        let ssh = find(b"ssh").unwrap();
        for text in ["ProxyCommand=x", "-oProxyCommand=x", "-4oProxyCommand=x"] {
            assert!(may_run(ssh, b"o", text.as_bytes()), "{text}");
        }
        for text in ["BatchMode=yes", "-oBatchMode=yes", "-4oBatchMode=yes"] {
            assert!(!may_run(ssh, b"o", text.as_bytes()), "{text}");
        }
    }
}
