//! What the shell on a target does where there is no helper: one command, or ending one.
//!
//! ```text
//! opal                              shell
//!            ◀── NONCE run PID START UID .ID   so that it can be ended, and who it is
//! SIZE, and so many bytes ──▶                 the text of the command, with its values, and NONCE:
//!                                             nothing of a text runs that has not come to its end
//!            ◀── what the command prints
//!            ◀── NONCE end CODE               without it the command was lost
//! ```
//!
//! One line without `'`, `\` and `!`, as the script for a helper is.

use super::Nonce;
use opal_core::shell::Shell;

/// What is there.
const FACTS: &str = r#"c=sh; command -v bash >/dev/null 2>&1 && c=bash; m=; read -r m </etc/machine-id; echo "$a$b facts $c $(id -u) $(uname -s) $(uname -m) .$m"; echo "$a$b start $(pwd)""#;

/// Runs what comes. Whoever has no `/proc` prints `-` for the start, and nobody hears about it.
const RUN: &str = r#"unset IFS; l=; m=; { read -r l </proc/$$/stat; read -r m </etc/machine-id; i=$(id -u); } 2>/dev/null; l=${l##*) }; set -- $l; echo "$a$b run $$ ${20:--} $i .$m"; read -r n; s=$(head -c "$n"); case $s in *"$a$b") s=${s%"$a$b"};; *) exit 1;; esac; set --; ( unset a b i l m n; eval "$s" ) </dev/null; echo "$a$b end $?""#;

fn halves(nonce: &Nonce) -> String {
    let text = nonce.text();
    let (first, second) = text.split_at(text.len() / 2);
    format!("a={first} b={second}; ")
}

/// For a login shell: what there is on the target.
#[must_use]
pub fn facts(nonce: &Nonce) -> String {
    format!("exec sh -c '{}{{ {FACTS}; }} 2>/dev/null'", halves(nonce))
}

/// For a login shell: runs a command.
#[must_use]
pub fn run(nonce: &Nonce, shell: Shell) -> String {
    let shell = match shell {
        Shell::Bash => "bash",
        Shell::Sh => "sh",
    };
    format!("exec {shell} -c '{}{RUN}'", halves(nonce))
}

/// For a login shell: signals the process group of a command, if the process that led it is still the
/// one that began at `start`. Numbers of processes are used again.
#[must_use]
pub fn signal(pid: u32, start: u64, is_last: bool) -> String {
    let signal = if is_last { "KILL" } else { "TERM" };
    format!(
        "exec sh -c 'unset IFS; read -r l </proc/{pid}/stat || exit 3; l=${{l##*) }}; set -- $l; \
         [ \"${{20}}\" = {start} ] || exit 4; kill -s {signal} -- -{pid}'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_login_shell_passes_the_commands_on_as_they_are() {
        let nonce = Nonce([0xa5; 16]);
        for command in [facts(&nonce), run(&nonce, Shell::Sh), signal(12, 34, true)] {
            let inner = command.split('\'').nth(1).unwrap();
            assert_eq!(command.matches('\'').count(), 2, "{command}");
            assert!(!inner.contains(['\\', '!', '\n']), "{command}");
            assert!(!inner.contains(&nonce.text()), "{command}");
        }
    }
}
