//! What bash does, and the shell of Task does not. That one reads the language of bash.

use super::command::Command;
use super::found::MISSING;
use super::lexer::Reader;

/// Programs that are built into bash; Task refuses them.
const REFUSED: [&str; 16] = [
    "bind", "caller", "compgen", "complete", "disown", "enable", "fc", "hash", "help", "history",
    "jobs", "kill", "logout", "suspend", "ulimit", "umask",
];
/// The signals that `trap` knows there.
const SIGNALS: [&str; 2] = ["ERR", "EXIT"];

/// `-` and some of the letters.
pub(super) fn is_option(text: &str, letters: &str) -> bool {
    text.strip_prefix('-').is_some_and(|it| it.chars().all(|c| letters.contains(c)))
}

impl Reader<'_> {
    pub(super) fn task_rules(&mut self, command: &Command, name: &str) {
        let arguments = command.arguments();
        let first = arguments.first().map_or("", String::as_str);
        match name {
            name if REFUSED.contains(&name) => self.found.bash(format!("`{name}`"), MISSING),
            "echo" if first.len() > 2 && is_option(first, "neE") => {
                self.found.bash(format!("`echo {first}`"), "prints the option");
            }
            "printf" => {
                let refused = ["%q", "%(", "%e", "%g", "%f", "%F", "%G", "%Q"];
                if let Some(what) = refused.into_iter().find(|it| first.contains(it)) {
                    self.found.bash(format!("`{what}` in `printf`"), MISSING);
                }
                if first == "-v" {
                    self.found.bash("`printf -v`", "prints it");
                }
                if arguments.iter().skip(1).any(|it| it.starts_with(['\'', '"'])) {
                    self.found.bash("`printf` of the number of a character", "prints 0");
                }
            }
            "[" | "test" => {
                if let Some(what) = arguments.iter().find(|it| matches!(it.as_str(), "<" | ">")) {
                    self.found.bash(format!("`{what}` in `{name}`"), MISSING);
                }
            }
            "trap" => {
                let other = arguments.iter().skip(1).find(|it| !SIGNALS.contains(&it.as_str()));
                if let Some(signal) = other {
                    self.found.bash(format!("`trap … {signal}`"), "does not know that name");
                }
            }
            "declare" | "typeset" | "local" if arguments.iter().any(|it| it == "-i") => {
                self.found.bash(format!("`{name} -i`"), MISSING);
            }
            "read" if first == "-p" => {
                self.found.bash("`read -p`", "also prints the prompt where there is no terminal");
            }
            "wait" if first == "-n" => self.found.bash("`wait -n`", MISSING),
            "shift" => self.found.bash("`shift`", "never fails"),
            _ => {}
        }
    }

    /// The last command of a pipe runs in the shell itself there, and keeps the variables that it sets.
    pub(super) fn pipe_rules(&mut self) {
        let Some(start) = self.piped.filter(|_| self.is_task()) else { return };
        let text = String::from_utf8_lossy(&self.text[start..]).into_owned();
        let ends = ["done", "}", "fi", ";", "\n"].into_iter().find_map(|it| text.rfind(it));
        let after = ends.map_or("", |at| &text[at..]);
        let reads =
            |it: &&String| after.contains(&format!("${it}")) || after.contains(&format!("${{{it}"));
        if self.found.sets.iter().any(|it| reads(&it)) {
            self.found.bash("a loop at the end of a pipe", "keeps the variables that it sets");
        }
    }
}
