//! The programs, by the way they take their options.

use super::super::cases::{REMOTES, SHELLS};

/// How a program reads its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::script) enum Shape {
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
pub(in crate::script) struct Program {
    pub(in crate::script) names: &'static [&'static str],
    pub(in crate::script) shape: Shape,
    /// The letters of options that take a word.
    pub(in crate::script) valued: &'static str,
    /// The letters of options that take the rest of their word, and no other.
    pub(in crate::script) attached: &'static str,
    /// Long options that take the next word.
    pub(in crate::script) long: &'static [&'static str],
}

const fn program(names: &'static [&'static str], shape: Shape, valued: &'static str) -> Program {
    Program { names, shape, valued, attached: "", long: &[] }
}

use Shape::{Declares, Loose, Prints, Remote, Shell, Strict, Wraps};

#[rustfmt::skip]
pub(super) const PROGRAMS: &[Program] = &[
    program(&["echo"], Prints, ""),
    program(&["printf"], Prints, ""),
    program(&["eval", "alias", "trap", "let", "source", ".", "unset", "getopts", "hash", "history", "fc", "bind", "enable", "test", "["], Strict, ""),
    program(&["read"], Strict, "dinNptu"),
    program(&["mapfile", "readarray"], Strict, "cdnOsu"),
    program(&["wait"], Strict, ""),
    program(&["compgen", "complete"], Strict, "oAGPSX"),
    program(&["declare", "typeset", "local", "readonly", "export"], Declares, ""),
    program(&["cd", "pushd", "popd", "set", "shift", "true", "false", ":", "type", "kill", "umask", "ulimit"], Strict, ""),
    Program { names: SHELLS, shape: Shell, valued: "oO", attached: "", long: &["--rcfile", "--init-file", "--emulate", "--init-command", "--features", "--debug-output", "--profile"] },
    program(REMOTES, Remote, "BbcDEeFIiJLlmOoPpQRSWw"),
    Program { names: &["sudo"], shape: Wraps(0), valued: "ughpCTrtUDR", attached: "", long: &["--user", "--group", "--host", "--prompt", "--chdir", "--role", "--type", "--other-user", "--close-from", "--chroot", "--command-timeout"] },
    program(&["doas"], Wraps(0), "uC"),
    Program { names: &["env"], shape: Wraps(0), valued: "uCa", attached: "", long: &["--unset", "--chdir", "--argv0"] },
    Program { names: &["xargs"], shape: Wraps(0), valued: "IJnPLdsaER", attached: "", long: &["--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-chars"] },
    Program { names: &["timeout"], shape: Wraps(1), valued: "ks", attached: "", long: &["--kill-after", "--signal"] },
    Program { names: &["nice"], shape: Wraps(0), valued: "n", attached: "", long: &["--adjustment"] },
    program(&["ionice"], Wraps(0), "cnpPut"),
    program(&["choom"], Wraps(0), "np"),
    Program { names: &["stdbuf"], shape: Wraps(0), valued: "ioe", attached: "", long: &["--input", "--output", "--error"] },
    program(&["sshpass"], Wraps(0), "pfdP"),
    program(&["nohup", "setsid", "chronic", "command", "builtin", "jobs", "busybox", "toybox", "eatmydata", "fakeroot", "unbuffer", "caffeinate", "winpty", "tini", "dumb-init", "torsocks", "proxychains", "proxychains4", "dbus-run-session", "catchsegv", "ltrace-run", "pkexec", "setpriv", "unshare", "firejail", "systemd-inhibit", "linux32", "linux64", "i386", "i486", "i586", "i686", "x86_64", "uname26", "xvfb-run", "ssh-agent", "prlimit", "setarch", "numactl", "bwrap", "proot", "runcon"], Wraps(0), ""),
    program(&["exec"], Wraps(0), "a"),
    Program { names: &["time"], shape: Wraps(0), valued: "fo", attached: "", long: &["--format", "--output"] },
    program(&["strace", "ltrace"], Wraps(0), "abeEIoOpPsSuUXx"),
    program(&["chroot", "arch-chroot", "chrt", "taskset", "gosu", "su-exec", "faketime"], Wraps(1), ""),
    program(&["nsenter"], Wraps(0), "tSGrw"),
    program(&["lxc-attach", "systemd-nspawn"], Wraps(0), "abDEeiMnpPSuv"),
    program(&["systemd-run"], Wraps(0), "pupMHE"),
    Program { names: &["flock"], shape: Wraps(1), valued: "wE", attached: "", long: &["--timeout", "--wait", "--conflict-exit-code"] },
    program(&["su", "runuser"], Loose, "gGsTuw"),
    program(&["script"], Loose, "EIoOBmT"),
    Program { names: &["watch"], shape: Strict, valued: "nq", attached: "d", long: &["--interval", "--equexit"] },
    Program { names: &["parallel"], shape: Strict, valued: "jPnNLIaEd", attached: "", long: &["--jobs", "--max-procs", "--max-args", "--max-lines", "--max-chars", "--arg-file", "--delimiter", "--colsep", "--delay", "--timeout", "--retries", "--results", "--joblog", "--tmpdir", "--halt", "--load", "--memfree", "--nice"] },
    program(&["at", "batch", "crontab"], Loose, "fqtu"),
    program(&["entr", "nix-shell", "vagrant", "gcloud", "az", "colima", "minikube", "fly", "flyctl", "npm", "npx", "pnpm", "sg", "newgrp", "capsh", "nodemon", "sops", "doppler", "yarn", "limactl", "lima", "multipass"], Loose, ""),
    program(&["docker", "podman", "nerdctl", "buildah", "devbox", "docker-machine"], Loose, ""),
    Program { names: &["cf", "civo", "doctl", "eb", "hcloud", "scw", "virtctl"], shape: Loose, valued: "ilnpu", attached: "", long: &["--ssh-key-path", "--ssh-user", "--ssh-port", "--identity-file", "--namespace", "--user", "--username", "--region", "--number"] },
    program(&["lerna", "sbatch", "consul", "infisical", "mise", "qsub", "machinectl", "guix", "poetry", "pipenv", "hatch", "nix", "pct", "toolbox", "distrobox", "fab", "ftp", "lftp", "openstack"], Loose, ""),
    program(&["bsub"], Strict, "aceEfFgGiJkLmMnoOpPqQRSTuvwWZ"),
    Program { names: &["wsl"], shape: Strict, valued: "du", attached: "", long: &["--distribution", "--user", "--cd", "--shell-type"] },
    Program { names: &["tsh"], shape: Loose, valued: "lpAJi", attached: "", long: &["--login", "--port", "--proxy", "--cluster", "--user", "--ttl", "--identity", "--jumphost"] },
    program(&["gh"], Loose, "cR"),
    program(&["adb"], Loose, "stHPL"),
    Program { names: &["aws"], shape: Loose, valued: "", attached: "", long: &["--region", "--profile", "--output", "--query", "--endpoint-url"] },
    program(&["cross-env-shell", "cmd"], Strict, ""),
    Program { names: &["heroku"], shape: Loose, valued: "ars", attached: "", long: &["--app", "--remote", "--size"] },
    Program { names: &["hyperfine"], shape: Loose, valued: "wmMrspcnLPSiu", attached: "", long: &["--export-json", "--export-markdown", "--export-csv", "--export-asciidoc", "--export-orgmode", "--warmup", "--min-runs", "--max-runs", "--runs", "--command-name", "--parameter-list", "--shell", "--time-unit", "--style", "--sort", "--input", "--output"] },
    program(&["concurrently"], Strict, "nclmpr"),
    program(&["watchexec"], Strict, "weifosd"),
    program(&["pdsh", "dsh"], Strict, "wxglRtufm"),
    program(&["pssh", "parallel-ssh", "clush"], Strict, "hHlpoetOwgxXfR"),
    program(&["scp", "sftp", "sshfs"], Strict, "cDFiJlPX"),
    program(&["wget"], Loose, "oaiBtTwQOPUlADRXI"),
    program(&["tar"], Loose, "CTXbf"),
    program(&["rsync", "find", "php", "lua", "osascript", "ansible", "split", "sort", "emacs", "gdb", "expect", "less", "ed", "erl", "deno", "mongo", "mongosh", "cqlsh", "duckdb", "usql", "lldb", "salt", "salt-call", "salt-ssh", "ansible-playbook", "ansible-pull", "fd", "fdfind", "rg", "fzf", "man", "cargo", "go", "helm", "apt", "apt-get", "aptitude", "hg", "svn", "nc", "ncat", "netcat", "tcpdump", "rpm", "rpmbuild", "rpmspec", "m4", "nginx", "xterm", "konsole", "alacritty", "screen", "guile", "sqlcmd", "snowsql", "clickhouse-client"], Loose, ""),
    program(&["vim", "vi", "nvim", "ex", "view", "gvim"], Loose, "SsuUwWTti"),
    program(&["bun", "clojure", "elixir", "ghc", "gnuplot", "groovy", "julia", "ocaml", "R", "Rscript", "racket", "raku", "sbcl", "scala", "swift", "octave", "bpftrace", "stap", "dc"], Strict, ""),
    Program { names: &["make", "gmake", "bmake"], shape: Loose, valued: "CfIjlo", attached: "", long: &["--directory", "--file", "--makefile", "--include-dir"] },
    Program { names: &["sed", "gsed"], shape: Loose, valued: "fl", attached: "i", long: &["--file", "--line-length"] },
    Program { names: &["jq"], shape: Loose, valued: "fL", attached: "", long: &["--arg", "--argjson", "--slurpfile", "--rawfile", "--from-file", "--indent"] },
    Program { names: &["yq"], shape: Loose, valued: "opI", attached: "", long: &["--output-format", "--input-format", "--indent", "--from-file"] },
    program(&["sqlite3"], Loose, ""),
    program(&["socat"], Strict, "dlL"),
    program(&["git", "node", "nodejs", "tsx", "ts-node"], Strict, "Cr"),
    program(&["python", "pypy", "ipython"], Strict, "WX"),
    program(&["ruby", "tclsh"], Strict, "Ir"),
    program(&["perl"], Strict, "I"),
    program(&["awk", "gawk", "mawk", "nawk"], Strict, "Fvfl"),
    program(&["psql"], Loose, "dfhopUvTFRL"),
    Program { names: &["mysql", "mariadb"], shape: Loose, valued: "DhPuS", attached: "p", long: &[] },
    program(&["tmux"], Loose, "LSfctsnxyF"),
];
