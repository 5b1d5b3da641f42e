//! Programs that are in several rows together.

pub(in crate::script) const SHELLS: &[&str] = &[
    "sh",
    "ash",
    "bash",
    "csh",
    "dash",
    "elvish",
    "fish",
    "hush",
    "ksh",
    "mksh",
    "nu",
    "oksh",
    "osh",
    "posh",
    "powershell",
    "pwsh",
    "rbash",
    "tcsh",
    "xonsh",
    "yash",
    "ysh",
    "zsh",
];

pub(in crate::script) const REMOTES: &[&str] =
    &["ssh", "autossh", "dbclient", "mosh", "plink", "rsh", "slogin"];

pub(super) const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "ipython",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "tsx",
    "ts-node",
    "php",
    "lua",
    "tclsh",
    "expect",
    "osascript",
    "bun",
    "julia",
    "octave",
    "guile",
];

pub(super) const EDITORS: &[&str] = &["vim", "vi", "nvim", "ex", "view", "gvim"];

/// Programs that start a shell on a machine that they have made.
pub(super) const CLOUDS: &[&str] = &["cf", "civo", "doctl", "eb", "hcloud", "scw", "virtctl"];
