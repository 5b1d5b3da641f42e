//! Completion in bash, which cuts words where other shells do not.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::engine;
use clap_complete::env::EnvCompleter;

/// What bash sources once. It passes the words up to the cursor, the last as the person sees it. Bash cuts
/// after a leading `@`, and still calls the whole the last word.
/// Candidates come one a line. Those with characters that the shell would read get quoted, unless the
/// person has begun to quote.
const SCRIPT: &str = r#"_NAME_complete() {
    local word begun=${COMP_WORDS[COMP_CWORD]}
    local words=("${COMP_WORDS[@]:0:COMP_CWORD}")
    [[ $begun == [=:] ]] && words+=("$begun")
    [[ $2 == @?* ]] && words=("${COMP_WORDS[@]:0:COMP_CWORD-1}")
    COMPREPLY=()
    while IFS= read -r word; do
        [[ $begun == [\"\']* ]] || printf -v word %q "$word"
        COMPREPLY+=("$word")
    done < <(VAR=bash COMPLETER -- "${words[@]}" "$2" 2> /dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=/] ]]; then
        compopt -o nospace
    fi
}
complete -o nosort -F _NAME_complete BIN
"#;

/// Where bash cuts words, beside blanks, unless `COMP_WORDBREAKS` says otherwise.
const CUTS: [&str; 2] = ["=", ":"];

#[derive(Clone, Copy, Debug)]
pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let script = SCRIPT.replace("NAME", name).replace("COMPLETER", completer);
        buf.write_all(script.replace("BIN", bin).replace("VAR", var).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        here: Option<&Path>,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let (words, cut) = joined(&words);
        let last = words.len().saturating_sub(1);
        for candidate in engine::complete(command, words, last, here)? {
            let value = candidate.get_value().to_string_lossy();
            // A line feed in the name of a file would make two candidates of it.
            if !value.contains('\n') {
                writeln!(buf, "{}", value.strip_prefix(&cut).unwrap_or(&value))?;
            }
        }
        Ok(())
    }
}

/// The words as they were typed, and the part of the last one that bash keeps to itself: of `--env=dev`
/// it makes three words, and replaces the third.
fn joined(words: &[OsString]) -> (Vec<OsString>, String) {
    let is_cut = |word: &OsString| CUTS.iter().any(|cut| word == cut);
    let mut whole: Vec<OsString> = Vec::new();
    let mut kept = OsString::new();
    let mut is_open = false;
    for word in words {
        let goes_on = whole.len() > 1 && (is_open || is_cut(word));
        is_open = is_cut(word);
        kept.clear();
        match whole.last_mut().filter(|_| goes_on) {
            Some(before) => {
                kept.push(&*before);
                before.push(word);
            }
            None => whole.push(word.clone()),
        }
    }
    (whole, kept.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_bash_has_cut_are_whole_again() {
        for (cut, whole, kept) in [
            ("opal deploy d", "opal deploy d", ""),
            ("opal deploy --env = d", "opal deploy --env=d", "--env="),
            ("opal deploy --env = dev --x", "opal deploy --env=dev --x", ""),
            ("opal deploy a : b = c", "opal deploy a:b=c", "a:b="),
            ("opal = d", "opal =d", "="),
        ] {
            let words: Vec<OsString> = cut.split(' ').map(OsString::from).collect();
            let expected: Vec<OsString> = whole.split(' ').map(OsString::from).collect();
            assert_eq!(joined(&words), (expected, kept.to_owned()), "{cut}");
        }
    }
}
