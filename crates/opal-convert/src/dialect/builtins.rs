//! Commands that `sh` has, and that are not the same there.

use super::command::{Command, Kind, Unit, Word};
use super::found::MISSING;
use super::lexer::Reader;
use super::task::is_option;

/// What `set -o` and the letters of `set` know in `sh`.
const OPTIONS: [&str; 17] = [
    "allexport",
    "debug",
    "emacs",
    "errexit",
    "ignoreeof",
    "interactive",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "stdin",
    "verbose",
    "vi",
    "xtrace",
];
const LETTERS: &str = "abCefhIimnsuvVExo";
const SIGNALS: [&str; 3] = ["DEBUG", "ERR", "RETURN"];

impl Reader<'_> {
    pub(super) fn builtin_rules(
        &mut self,
        command: &Command,
        name: &str,
        arguments: &[String],
        next: &str,
    ) {
        let has = |flags: &[&str]| arguments.iter().any(|it| flags.contains(&it.as_str()));
        let first = arguments.first().map_or("", String::as_str);
        match name {
            // These are programs then, and bash does what they do.
            "printf" if self.is_direct && first.contains("%q") => {
                self.found.bash("`%q` in `printf`", "quotes in another way");
            }
            "echo" | "printf" if self.is_direct => {}
            "echo" => self.echo(command),
            "printf" => self.printf(command, first),
            "[" | "test" => {
                for what in ["==", "-v", "-R", "-N"].into_iter().filter(|it| has(&[*it])) {
                    self.found.bash(format!("`{what}` in `{name}`"), MISSING);
                }
            }
            "read" => self.read_rules(arguments),
            "set" => self.set_rules(arguments),
            "trap" => {
                let is_bash = |it: &&String| {
                    SIGNALS.contains(&it.as_str()) || it.len() > 3 && it.starts_with("SIG")
                };
                if let Some(signal) = arguments.iter().skip(1).find(is_bash) {
                    self.found.bash(format!("`trap … {signal}`"), "does not know that name");
                }
            }
            "kill" if arguments.iter().any(|it| it.trim_start_matches('-').starts_with("SIG")) => {
                self.found.bash("`kill -SIG…`", "does not know that name");
            }
            "." => self.dot_rules(command, first, next),
            "type" if arguments.iter().any(|it| it.starts_with('-')) => {
                self.found.bash(format!("`type {first}`"), "reads it as a name");
            }
            "type" => self.found.sh("`type`", "answers in another way"),
            "ulimit" if ["-n", "-s", "-t", "-v"].contains(&first) => {}
            "ulimit" => self.found.sh("`ulimit`", "has other options"),
            "alias" => self.found.sh("`alias`", "uses it in scripts, too"),
            "eval" => self.eval_rules(command),
            "shift" if !matches!(first, "" | "1") => {
                self.found.sh("`shift`", "ends where there is nothing to shift");
            }
            "wait" if has(&["-n", "-p", "-f"]) => {
                self.found.bash(format!("`wait {first}`"), MISSING)
            }
            "exec" if has(&["-a", "-c", "-l"]) => {
                self.found.bash(format!("`exec {first}`"), MISSING)
            }
            "exit" | "return" if first.starts_with('-') => {
                self.found.bash(format!("`{name} {first}`"), "refuses negative numbers");
            }
            "export" | "readonly" | "local" => {
                let flag =
                    arguments.iter().find(|it| it.starts_with('-') && *it != "-p" && it.len() > 1);
                if let Some(flag) = flag {
                    self.found.bash(format!("`{name} {flag}`"), MISSING);
                }
                let is_element =
                    |it: &Word| it.assigned().is_some_and(|(_, operator)| operator != "=");
                if command.words.iter().skip(1).any(is_element) {
                    self.found.bash("arrays", MISSING);
                }
            }
            "unset" if has(&["-n"]) => self.found.bash("`unset -n`", MISSING),
            "cd" if has(&["-e", "-@"]) => self.found.bash(format!("`cd {first}`"), MISSING),
            "hash" if arguments.iter().any(|it| it.starts_with('-') && it != "-r") => {
                self.found.bash(format!("`hash {first}`"), MISSING);
            }
            "jobs" | "fg" | "bg" | "times" => {
                self.found.sh(format!("`{name}`"), "answers in another way");
            }
            _ => {}
        }
    }

    /// `sh` reads `\n` in what it prints, and knows `-n` only.
    fn echo(&mut self, command: &Command) {
        let Some(first) = command.words.get(1) else { return };
        let text = first.literal().unwrap_or_default();
        if text.len() > 1 && text != "-n" && is_option(&text, "neE") {
            self.found.bash(format!("`echo {text}`"), "prints the option");
            return;
        }
        let escapes: Vec<u8> =
            command.words.iter().skip(1).flat_map(|it| escapes(&it.units)).collect();
        // Those of bash alone are text for both.
        if escapes.iter().all(|c| b"xuUE".contains(c)) {
            return;
        }
        // `-e` reads more than `sh` does.
        let is_same = escapes.iter().all(|c| b"abcefnrtv\\0".contains(c));
        let is_text = |it: &Unit| it.kind != Kind::Computed && !b"-neE".contains(&it.c);
        let is_certain = first.literal().is_some() || first.units.iter().any(is_text);
        match is_same && is_certain {
            true => self.found.insert(command.words[0].end, " -e"),
            false => self.found.sh("`echo` with `\\`", "reads `\\n` and the like as characters"),
        }
    }

    fn printf(&mut self, command: &Command, first: &str) {
        if first == "-v" {
            return self.found.bash("`printf -v`", MISSING);
        }
        let Some(format) = command.words.get(1).and_then(Word::literal) else { return };
        for what in ["%q", "%(", "%Q"].into_iter().filter(|it| format.contains(it)) {
            self.found.bash(format!("`{what}` in `printf`"), MISSING);
        }
        if let Some(what) = ["\\x", "\\u", "\\U", "\\E"].into_iter().find(|it| format.contains(it))
        {
            self.found.bash(format!("`{what}` in `printf`"), "prints it as it is");
        }
    }

    fn read_rules(&mut self, arguments: &[String]) {
        let flags = arguments.iter().filter(|it| it.starts_with('-') && it.len() > 1);
        let other = flags.into_iter().find(|it| !is_option(it, "rp"));
        if let Some(flag) = other {
            self.found.bash(format!("`read {flag}`"), MISSING);
        }
        let has_prompt = arguments.iter().any(|it| it.starts_with('-') && it.ends_with('p'));
        let names = arguments.iter().filter(|it| !it.starts_with('-')).count();
        if names <= usize::from(has_prompt) && !arguments.iter().any(String::is_empty) {
            self.found.bash("`read` without a name", "expects one");
        }
    }

    fn set_rules(&mut self, arguments: &[String]) {
        let mut is_name = false;
        for argument in arguments {
            if std::mem::take(&mut is_name) {
                if !argument.is_empty() && !OPTIONS.contains(&argument.as_str()) {
                    self.found.bash(format!("`set -o {argument}`"), "refuses that option");
                }
                continue;
            }
            let Some(letters) = argument.strip_prefix(['-', '+']) else { return };
            if letters.is_empty() || letters == "-" {
                return;
            }
            if let Some(letter) = letters.chars().find(|it| !LETTERS.contains(*it)) {
                self.found.bash(format!("`set -{letter}`"), "refuses that option");
            }
            is_name = letters.ends_with('o');
        }
    }

    fn dot_rules(&mut self, command: &Command, file: &str, next: &str) {
        let is_known = command.words.get(1).is_some_and(|it| it.literal().is_some());
        if is_known && !file.contains('/') {
            self.found.bash("`. FILE` without a `/`", "does not look in the directory");
        } else if matches!(next, "||" | ";" | "\n" | "&") {
            self.found.sh("`.`", "ends where there is no such file");
        }
        if command.words.len() > 2 {
            self.found.bash("`. FILE` with arguments", "does not pass them on");
        }
    }

    /// Its text is a command; what is computed in it is not known.
    fn eval_rules(&mut self, command: &Command) {
        let shown = |word: &Word| {
            let units =
                word.units.iter().map(|it| if it.kind == Kind::Computed { b'x' } else { it.c });
            String::from_utf8_lossy(&units.collect::<Vec<u8>>()).into_owned()
        };
        let words: Vec<String> = command.words.iter().skip(1).map(shown).collect();
        let text = words.join(" ");
        if !self.enter() {
            return;
        }
        let depth = self.depth;
        let mut inner = Reader::new(text.as_bytes(), self.shell);
        inner.depth = depth;
        inner.all();
        self.depth -= 1;
        if !inner.found.edits.is_empty() {
            self.found.sh("`eval`", "reads its text in another way");
        }
        self.found.bash.extend(inner.found.bash);
        self.found.sh.extend(inner.found.sh);
    }
}

/// What follows each `\` that reaches the command.
fn escapes(units: &[Unit]) -> Vec<u8> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < units.len() {
        let is_escape = units[index].c == b'\\' && units[index].kind == Kind::Quoted;
        match units.get(index + 1) {
            Some(next) if is_escape && b"abcefnrtv\\0xuUE".contains(&next.c) => {
                found.push(next.c);
                index += 2;
            }
            // What is computed may go on with anything.
            Some(next) if is_escape && next.kind == Kind::Computed => {
                found.push(b'?');
                index += 2;
            }
            _ => index += 1,
        }
    }
    found
}
