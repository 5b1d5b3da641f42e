//! How programs take their options, and which run another program.

use super::cases::{At, CASES, Case, REMOTES, Role, SHELLS};

/// How a program reads its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Options end at the first operand.
    Strict,
    /// Options may follow operands.
    Loose,
    /// Another command follows the options and so many operands.
    Wraps(u8),
    Shell,
    /// Options, a machine, and then text for its shell.
    Remote,
    /// Its words are printed and nothing else.
    Prints,
    /// `declare` and its relatives.
    Declares,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    pub(super) shape: Shape,
    /// The letters of options that take a word.
    pub(super) valued: &'static str,
    /// Long options that take the next word.
    pub(super) long: &'static [&'static str],
}

const fn program(names: &'static [&'static str], shape: Shape, valued: &'static str) -> Program {
    Program { names, shape, valued, long: &[] }
}

use Shape::{Declares, Loose, Prints, Remote, Shell, Strict, Wraps};

#[rustfmt::skip]
static PROGRAMS: &[Program] = &[
    program(&["echo"], Prints, ""),
    program(&["printf"], Prints, ""),
    program(&["eval", "alias", "trap", "let", "source", ".", "unset", "getopts", "hash", "history", "fc", "bind", "enable", "test", "["], Strict, ""),
    program(&["read"], Strict, "dinNptu"),
    program(&["mapfile", "readarray"], Strict, "cdnOsu"),
    program(&["wait"], Strict, ""),
    program(&["compgen", "complete"], Strict, "oAGPSX"),
    program(&["declare", "typeset", "local", "readonly", "export"], Declares, ""),
    program(&["cd", "pushd", "popd", "set", "shift", "true", "false", ":", "type", "kill", "umask", "ulimit"], Strict, ""),
    program(SHELLS, Shell, "oO"),
    program(REMOTES, Remote, "BbcDEeFIiJLlmOopQRSWw"),
    Program { names: &["sudo"], shape: Wraps(0), valued: "ughpCTrtUDR", long: &["--user", "--group", "--host", "--prompt", "--chdir", "--role", "--type", "--other-user", "--close-from", "--chroot", "--command-timeout"] },
    program(&["doas"], Wraps(0), "uC"),
    Program { names: &["env"], shape: Wraps(0), valued: "uCa", long: &["--unset", "--chdir", "--argv0"] },
    Program { names: &["xargs"], shape: Wraps(0), valued: "InPLdsaER", long: &["--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-lines", "--max-chars"] },
    Program { names: &["timeout"], shape: Wraps(1), valued: "ks", long: &["--kill-after", "--signal"] },
    Program { names: &["nice"], shape: Wraps(0), valued: "n", long: &["--adjustment"] },
    program(&["ionice"], Wraps(0), "cnpPut"),
    Program { names: &["stdbuf"], shape: Wraps(0), valued: "ioe", long: &["--input", "--output", "--error"] },
    program(&["sshpass"], Wraps(0), "pfdP"),
    program(&["nohup", "setsid", "chronic", "command", "builtin", "jobs", "busybox", "toybox", "eatmydata", "fakeroot", "unbuffer", "caffeinate", "winpty", "tini", "dumb-init", "torsocks", "proxychains", "proxychains4", "dbus-run-session", "catchsegv", "ltrace-run", "pkexec", "setpriv", "unshare", "firejail"], Wraps(0), ""),
    program(&["exec"], Wraps(0), "a"),
    Program { names: &["time"], shape: Wraps(0), valued: "fo", long: &["--format", "--output"] },
    program(&["strace", "ltrace"], Wraps(0), "abeEIoOpPsSuUXx"),
    program(&["chroot", "chrt", "taskset", "gosu", "su-exec", "faketime"], Wraps(1), ""),
    program(&["nsenter"], Wraps(0), "tSGrw"),
    program(&["systemd-run"], Wraps(0), "pupMHE"),
    program(&["flock"], Wraps(1), "wE"),
    program(&["su", "runuser"], Loose, "gGsTuw"),
    program(&["script"], Loose, "EIoOBmT"),
    program(&["watch"], Strict, "nq"),
    program(&["parallel"], Strict, "jPnNLIaEd"),
    program(&["at", "batch", "crontab"], Loose, "fqtu"),
    program(&["entr", "nix-shell", "vagrant", "gcloud"], Loose, ""),
    program(&["scp", "sftp"], Strict, "cDFiJlPX"),
    program(&["rsync", "tar", "find", "php", "lua", "osascript", "ansible", "split", "sort", "emacs", "gdb", "expect", "vim", "vi", "nvim"], Loose, ""),
    program(&["git", "node", "nodejs"], Strict, "Cr"),
    program(&["python", "pypy", "ruby"], Strict, "WXIr"),
    program(&["perl"], Strict, "I"),
    program(&["awk", "gawk", "mawk", "nawk"], Strict, "Fvfl"),
    program(&["psql"], Loose, "dfhopUvTFRL"),
    program(&["mysql", "mariadb"], Loose, "DhPuS"),
    program(&["tmux"], Strict, "LSfct"),
];

/// A program by the name it is called by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    pub(super) program: &'static Program,
    pub(super) name: &'static str,
}

/// The program of a name, as it is called without its folder. A version at its end does not count.
pub(super) fn find(name: &[u8]) -> Option<Called> {
    if name.is_empty() || name.len() > 32 {
        return None;
    }
    exact(name).or_else(|| {
        let end = name.iter().rposition(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-'))? + 1;
        let bare = &name[..end];
        let bare = bare.strip_suffix(b".exe").unwrap_or(bare);
        if bare.len() < name.len() { exact(bare) } else { None }
    })
}

fn exact(name: &[u8]) -> Option<Called> {
    PROGRAMS.iter().find_map(|program| {
        let mut names = program.names.iter();
        let name = names.find(|known| known.as_bytes() == name)?;
        Some(Called { program, name })
    })
}

/// Whether a name that begins so can be that of a program whose words matter.
pub(super) fn may_begin(prefix: &[u8]) -> bool {
    let begins = |name: &&str| name.as_bytes().starts_with(prefix);
    PROGRAMS.iter().any(|program| program.names.iter().any(begins))
}

/// Whether the program evaluates words, or runs a program that does: a value must not name it where
/// other values are among its words.
pub(super) fn evaluates(name: &[u8]) -> bool {
    find(name).is_some_and(|called| {
        matches!(called.program.shape, Wraps(_) | Shell | Remote | Declares)
            || called.cases().any(|case| case.role != Role::Warn)
    })
}

impl Called {
    pub(super) fn cases(self) -> impl Iterator<Item = &'static Case> {
        CASES.iter().filter(move |case| case.programs.contains(&self.name))
    }

    /// The row for a place in the words of this program.
    pub(super) fn case(self, at: At) -> Option<&'static Case> {
        self.cases().find(|case| case.at == at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_of_the_table_has_a_shape() {
        for case in &CASES {
            for name in case.programs {
                let program = find(name.as_bytes());
                assert!(program.is_some_and(|it| it.name == *name), "{name}");
            }
        }
    }

    #[test]
    fn a_version_is_no_part_of_a_name() {
        for name in ["bash", "bash-5.2", "python3.11", "ksh93", "zsh-5.9"] {
            assert!(find(name.as_bytes()).is_some(), "{name}");
        }
        assert!(find(b"bashful").is_none());
    }
}
