//! Variables that a shell, a loader or opal itself interprets.

/// A variable whose value is more than data.
#[derive(Debug)]
pub struct InterpretedName {
    /// The name, or the beginning of names and `*`.
    pub name: &'static str,
    pub why: &'static str,
    /// The shell computes what is assigned to it.
    is_computed: bool,
}

const fn row(name: &'static str, why: &'static str) -> InterpretedName {
    InterpretedName { name, why, is_computed: false }
}

const fn integer(name: &'static str) -> InterpretedName {
    InterpretedName { name, why: "bash computes what is assigned to it", is_computed: true }
}

const PROMPT: &str = "the shell expands it as a prompt, commands included";

/// One table, in order.
pub static INTERPRETED: &[InterpretedName] = &[
    row("BASHOPTS", "bash takes its options from it"),
    integer("BASHPID"),
    row("BASH_ALIASES", "bash runs what it holds in place of a command"),
    row("BASH_CMDS", "bash looks up programs in it"),
    row("BASH_ENV", "bash expands it and runs the file it names"),
    row("BASH_FUNC_*", "bash takes functions from it"),
    row("BASH_LOADABLES_PATH", "bash loads builtins from the directories in it"),
    row("BASH_XTRACEFD", "bash writes its trace to the descriptor it names"),
    row("CDPATH", "the shell looks for directories in it"),
    row("DYLD_*", "the loader takes libraries from it"),
    row("ENV", "a shell expands it and runs the file it names"),
    integer("EUID"),
    row("EXECIGNORE", "bash looks up programs by it"),
    row("FCEDIT", "the shell runs it as an editor"),
    row("FPATH", "ksh and zsh run functions from the directories in it"),
    row("GCONV_PATH", "the C library loads code from the directories in it"),
    row("GLIBC_TUNABLES", "the loader takes settings from it"),
    row("GLOBIGNORE", "bash leaves out files by it"),
    integer("HISTCMD"),
    row("IFS", "the shell splits words by it"),
    row("LD_*", "the loader takes libraries from it"),
    row("MAILPATH", "the shell expands the messages in it"),
    row("OPAL_*", "opal itself reads it"),
    integer("OPTIND"),
    row("PATH", "programs are looked up in it"),
    integer("PPID"),
    row("PROMPT_COMMAND", "bash runs it before each prompt"),
    row("PS0", PROMPT),
    row("PS1", PROMPT),
    row("PS2", PROMPT),
    row("PS4", PROMPT),
    integer("RANDOM"),
    integer("SECONDS"),
    row("SHELL", "programs start it as a shell"),
    row("SHELLOPTS", "bash takes its options from it"),
    integer("SRANDOM"),
    row("TEXTDOMAIN", "bash expands the translations it names"),
    row("TEXTDOMAINDIR", "bash expands the translations it names"),
    integer("UID"),
    row("ZDOTDIR", "zsh runs the files in the directory it names"),
];

/// Variables that only a program interprets: it runs what they hold, or takes options from them that
/// can. In order.
#[rustfmt::skip]
static RUN_BY_PROGRAMS: &[&str] = &[
    "AWS_PAGER", "BAT_PAGER", "BROWSER", "CARGO_BUILD_RUSTC_WRAPPER", "CVS_RSH", "EDITOR", "EXINIT", "FZF_DEFAULT_COMMAND", "FZF_DEFAULT_OPTS", "GH_BROWSER", "GH_EDITOR", "GH_PAGER", "GIT_ASKPASS",
    "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM", "GIT_EDITOR", "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_TEMPLATE_DIR",
    "GNUMAKEFLAGS", "GOFLAGS", "HGEDITOR", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "KUBECTL_EXTERNAL_DIFF", "KUBE_EDITOR", "LESSCLOSE", "LESSOPEN", "LUA_INIT", "MAKEFILES", "MAKEFLAGS",
    "MANPAGER", "NODE_OPTIONS", "NODE_PATH", "PAGER", "PERL5DB", "PERL5LIB", "PERL5OPT", "PSQL_EDITOR", "PSQL_PAGER", "PYTHONBREAKPOINT",
    "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "RSYNC_CONNECT_PROG", "RSYNC_RSH", "RUBYLIB", "RUBYOPT", "RUSTC_WRAPPER", "SSH_ASKPASS",
    "SUDO_ASKPASS", "SUDO_EDITOR", "SVN_EDITOR", "SVN_SSH", "SYSTEMD_EDITOR", "SYSTEMD_PAGER", "TAR_OPTIONS", "VIMINIT", "VISUAL", "_JAVA_OPTIONS",
];

/// Whether a program runs what the variable holds.
#[must_use]
pub fn is_run_by_program(name: &str) -> bool {
    // `GIT_CONFIG_VALUE_0` and the like.
    let is_setting = name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_");
    is_setting || RUN_BY_PROGRAMS.binary_search(&name).is_ok()
}

/// The row of a variable that is interpreted.
#[must_use]
pub fn interpreted(name: &str) -> Option<&'static InterpretedName> {
    // Most names have nothing in common with the table.
    let first = name.as_bytes().first();
    let mut near = INTERPRETED.iter().filter(|row| row.name.as_bytes().first() == first);
    near.find(|row| match row.name.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => row.name == name,
    })
}

/// Whether the shell computes what is assigned to the variable.
pub(super) fn is_computed(name: &str) -> bool {
    interpreted(name).is_some_and(|row| row.is_computed)
}

/// Whether a name that begins so can be that of a variable that is interpreted.
pub(super) fn may_be_interpreted(prefix: &str) -> bool {
    interpreted(prefix).is_some() || INTERPRETED.iter().any(|row| row.name.starts_with(prefix))
}

/// Whether a shell runs the value, or what it names, before the text that it is given.
#[must_use]
pub fn runs_at_start(name: &str) -> bool {
    matches!(name, "BASH_ENV" | "ENV") || name.starts_with("BASH_FUNC_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whole_and_by_their_beginning() {
        for name in ["PATH", "BASH_ENV", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "OPAL_ROOT", "PS4"]
        {
            assert!(interpreted(name).is_some(), "{name}");
        }
        for name in ["HOME", "PATHS", "MY_PATH", "LDFLAGS", "GIT_SSH_COMMAND", "PS3", "KUBECONFIG"]
        {
            assert!(interpreted(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(INTERPRETED.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(RUN_BY_PROGRAMS.is_sorted());
        assert!(RUN_BY_PROGRAMS.iter().all(|name| interpreted(name).is_none()));
    }
}
