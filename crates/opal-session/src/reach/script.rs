//! What the shell on a target does: find the helper or receive it, and become it.
//!
//! ```text
//! opal                                   shell
//!            ◀── NONCE helper                       it becomes the helper: frames follow
//!            ◀── NONCE need Linux x86_64 gzip       there is none
//! SIZE gzip DIGEST, and so many bytes ──▶           stored, tried, started
//!            ◀── NONCE need …                       it could not be stored or started there
//!            ◀── NONCE none                         nor anywhere else
//! ```
//!
//! The text is one line without `'`, `\` and `!`, so that every login shell passes it on as it is. It
//! uses what POSIX has, and `head -c`. It has half of the nonce in two places: what repeats the
//! command does not print the nonce.
//!
//! A helper is used where it and every directory above it belong to root or to the user, and nobody
//! else can write them. `t` checks a file or a directory, `o` a directory and all above it, `y` also
//! accepts one like `/tmp`, where nobody can replace what another user has made.

use std::time::Duration;

use super::Dialling;
use crate::wire::BUILD;

/// Where a package puts the helper.
pub const INSTALLED: &str = "/usr/libexec/opal/opal-target";

/// Programs without which a helper cannot be checked or stored.
pub const NEEDED: [&str; 8] = ["id", "ls", "uname", "head", "cat", "mkdir", "chmod", "rm"];

/// The functions, and the home of the user, in `$h`. A helper that does not say which one it is in time is
/// not used: `x` has a limit where there is a `timeout` that knows `-s`.
///
/// `go` becomes the helper only where somebody hears that: whoever cannot say so removes what it made.
const BEGIN: &str = r#"set -f; trap "" HUP INT TERM; trap : PIPE; j=; g=$(umask); umask 077; unset CDPATH IFS; p=$PATH; PATH=/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin:$p; say() { echo "$a$b $*"; }; go() { say helper 2>/dev/null || return 1; trap - HUP INT PIPE TERM; PATH=$p; umask "$g"; exec "$@"; }; i=$(id -u 2>/dev/null); t() { set -- $(ls -ldn "$1" 2>/dev/null); case "$1" in l*|?????w*|????????w*) return 1;; esac; [ -n "$i" ] || return 1; [ "$3" = 0 ] || [ "$3" = "$i" ]; }; o() { d=$(cd -P "$1" 2>/dev/null && pwd -P) || return 1; while :; do t "${d:-/}" || return 1; case "$d" in ""|/) return 0;; esac; d=${d%/*}; done; }; y() { o "$1" && return; set -- $(ls -ldn "$1" 2>/dev/null); case "$1" in d????????t*) [ "$3" = 0 ];; *) return 1;; esac; }; x() { timeout -s KILL 10 "$1" --check "$v" </dev/null >/dev/null 2>&1; case $? in 0) ;; 137) return 1;; *) "$1" --check "$v" </dev/null >/dev/null 2>&1;; esac; }; f() { [ -f "$1" ] && t "$1" && o "${1%/*}" && x "$1"; }; e=$(getent passwd "$i" 2>/dev/null) || e=$(while IFS=: read -r n w u q; do [ "$u" = "$i" ] && printf "%s:%s:%s:%s" "$n" "$w" "$u" "$q" && break; done </etc/passwd); IFS=:; set -- $e; unset IFS; h=$6; "#;

/// Goes home. Who changes the user stays where the other user was, which may be closed to this one.
const GO_HOME: &str = r#"cd "${h:-/}" 2>/dev/null || cd /; "#;

/// The search for a helper that is there.
const FIND: &str = r#"f "$l" && go "$l" $r; for s in $k; do f "$h/.cache/opal/opal-target-$s" && go "$h/.cache/opal/opal-target-$s" $r; done; "#;

/// Which of [`NEEDED`] are not there, in `$m`.
const LACKING: &str = r#"m=; for c in id ls uname head cat mkdir chmod rm; do command -v $c >/dev/null 2>&1 || m="$m $c"; done; [ -z "$m" ] || { say none$m; exit 1; }; "#;

/// Receiving one into the file `$1`, and trying it. Where nobody is there any more, `$j` says so: what
/// was made is removed all the same.
///
/// Nobody hears of a connection that is half open, so both waits have a limit, `$L` seconds and what the
/// bytes need on a slow network, where there is a `timeout` that knows `-s`. `$D` is a dollar that the
/// inner shell shall see.
const RECEIVE: &str = r#"z=raw; command -v gzip >/dev/null 2>&1 && z=gzip; D="$"; T=$(timeout -s KILL 9 echo timeout -s KILL 2>/dev/null); u() { say need $(uname -s) $(uname -m) $z; if [ -n "$T" ]; then set -- "$1" $($T $L sh -c "read -r n c s; echo ${D}n ${D}c ${D}s"); n=$2 c=$3 s=$4; else read -r n c s; fi; case "$n" in none|"") j=1; return 1;; esac; case "$c" in gzip) c="gzip -dc";; *) c=cat;; esac; j=$({ { ${T:+$T $((L+n/32768))} head -c "$n" || echo 1 >&3; } | { $c >"$1" || cat >/dev/null; } 2>/dev/null; } 3>&1); [ -z "$j" ] && chmod 700 "$1" 2>/dev/null && x "$1"; }; "#;

/// What `$L` is at least: a busy machine may take that long to answer.
const LEAST_WAIT: Duration = Duration::from_secs(10);

/// Into the cache.
const KEEP: &str = r#"case "$h" in /*) if [ -d "$h" ] && o "$h" && mkdir -p "$h/.cache/opal" 2>/dev/null && o "$h/.cache/opal"; then w=$h/.cache/opal/.new-$a$b; u "$w" && mv -f "$w" "$h/.cache/opal/opal-target-$s" && go "$h/.cache/opal/opal-target-$s" --digest $r; rm -f "$w"; [ -z "$j" ] || exit 1; fi;; esac; "#;

/// Into a directory that is used once. The helper removes it as soon as it runs.
const ONCE: &str = r#"for q in "$XDG_RUNTIME_DIR" /dev/shm /tmp; do case "$q" in /*) m=$q/opal-$a$b; if y "$q" && mkdir "$m" 2>/dev/null; then u "$m/opal-target" && go "$m/opal-target" --once "$m" --digest $r; rm -rf "$m"; [ -z "$j" ] || exit 1; fi;; esac; done; say none"#;

/// The text for `sh -c`, where the way there leads into a directory for steps to start in.
#[must_use]
pub fn script(dialling: &Dialling) -> String {
    text(dialling, "")
}

/// The same for another user of a machine: steps start in its home, or in `/` if it cannot enter that.
#[must_use]
pub fn for_user(dialling: &Dialling) -> String {
    text(dialling, GO_HOME)
}

fn text(dialling: &Dialling, go: &str) -> String {
    let nonce = dialling.nonce.text();
    let (first, second) = nonce.split_at(nonce.len() / 2);
    let digests: Vec<String> = dialling.digests.iter().map(opal_core::hash::Digest::hex).collect();
    let digests = digests.join(" ");
    let arguments = arguments(dialling).join(" ");
    let wait = dialling.timing.lost.max(LEAST_WAIT).as_secs();
    let keep = if dialling.is_read_only { "" } else { KEEP };
    format!(
        "a={first} b={second} v={BUILD} l={INSTALLED} k=\"{digests}\" r=\"{arguments}\" L={wait}; \
         {BEGIN}{go}{FIND}{LACKING}{RECEIVE}{keep}{ONCE}"
    )
}

/// The script as one command for a login shell of any kind.
#[must_use]
pub fn login_command(dialling: &Dialling) -> String {
    format!("exec sh -c '{}'", script(dialling))
}

/// Of the helper, however it was found.
#[must_use]
pub fn arguments(dialling: &Dialling) -> Vec<String> {
    let timing = &dialling.timing;
    let mut arguments = Vec::new();
    if dialling.is_read_only {
        arguments.push("--read-only".to_owned());
    }
    for (option, time) in [("--ping", timing.ping), ("--lost", timing.lost)] {
        arguments.extend([option.to_owned(), time.as_millis().to_string()]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use opal_core::hash::Digest;

    use super::*;
    use crate::reach::Nonce;
    use crate::wire::Timing;

    #[test]
    fn every_login_shell_passes_the_command_on_as_it_is() {
        for is_read_only in [false, true] {
            let digests = vec![Digest([7; 32]), Digest([9; 32])];
            let (nonce, timing) = (Nonce([0xa5; 16]), Timing::default());
            let dialling = Dialling { nonce, digests, is_read_only, timing };
            let script = script(&dialling);
            assert!(!script.contains(['\'', '\\', '!', '\n']), "{script}");
            assert!(
                !script.contains(&nonce.text()),
                "what repeats it would be taken for the shell"
            );
            assert_eq!(script.contains(".new-"), !is_read_only, "who only reads fills no cache");
            assert!(script.len() < 4096, "{}", script.len());
            assert!(script.contains(&format!("for c in {};", NEEDED.join(" "))), "{script}");
        }
    }
}
