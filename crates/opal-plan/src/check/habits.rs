//! Steps that would do something else than their writer expects, out of habit from another tool.

use opal_core::{Code, Diagnostic};

use super::checker::Checker;
use super::commands::commands;
use super::observer::Observer;
use crate::unit::{Piece, ShellText};

/// Stands for a reference in the text that is checked.
const VALUE: char = '\u{fffc}';

/// Which characters a step has, as far as a habit is about them.
struct Characters {
    are_reported: bool,
    /// `{{` and `$(` need these.
    may_be_foreign: bool,
}

impl Characters {
    const REPORTED: u8 = 1;
    const FOREIGN: u8 = 2;
    const KINDS: &[u8; 256] = &{
        let mut kinds = [0; 256];
        let reported = b"\n=;|&{*";
        let mut at = 0;
        while at < reported.len() {
            kinds[reported[at] as usize] = Self::REPORTED;
            at += 1;
        }
        kinds[b'{' as usize] |= Self::FOREIGN;
        kinds[b'$' as usize] |= Self::FOREIGN;
        kinds
    };

    fn of(text: &ShellText) -> Self {
        let mut kinds = 0;
        for piece in &text.pieces {
            if let Piece::Text(text) = piece {
                kinds = text.bytes().fold(kinds, |kinds, byte| kinds | Self::KINDS[byte as usize]);
            }
        }
        Self {
            are_reported: kinds & Self::REPORTED != 0,
            may_be_foreign: kinds & Self::FOREIGN != 0,
        }
    }
}

impl<O: Observer> Checker<'_, O> {
    pub(super) fn habits(&mut self, text: &ShellText) {
        let characters = Characters::of(text);
        self.foreign_words(text, characters.may_be_foreign);
        if !characters.are_reported && self.is_plain(text) {
            return;
        }
        let mut flat = String::new();
        for piece in &text.pieces {
            match piece {
                Piece::Text(text) => flat.push_str(text),
                _ => flat.push(VALUE),
            }
        }
        let commands = commands(&flat);
        if self.unknown_construct(&flat, text)
            || self.recipe(&flat, text)
            || self.foreign_declaration(&commands, text)
        {
            return;
        }
        let compound = ["if", "for", "while", "until", "select", "case", "do", "then"];
        if commands.iter().any(|words| words.first().is_some_and(|word| compound.contains(word))) {
            return;
        }
        self.lost_state(&commands, text);
        self.lost_jump(&commands, text);
        self.function_as_command(&commands, text);
        self.comment_as_glob(&commands, text);
    }

    /// Whether a step without characters that are reported is one command of several words, none of
    /// which any habit is about: most are, and are not worth taking apart.
    fn is_plain(&self, text: &ShellText) -> bool {
        if self.function.is_none() && self.depth == 0 {
            return false;
        }
        let mut words = text.leading().split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        words.next().is_some() && !is_special(first)
    }

    /// `rm -rf build /* old */`: a comment elsewhere, a glob of the root here.
    fn comment_as_glob(&mut self, commands: &[Vec<&str>], text: &ShellText) {
        let mut words = commands.iter().flatten();
        let opens = words.any(|word| *word == "/*");
        if opens && words.any(|word| word.ends_with("*/")) {
            let message = "`/*` is a glob here: the shell replaces it with everything in `/`";
            let help =
                "a comment inside a step begins with `#`; to pass the text `/*`, quote it: `'/*'`";
            self.error(Code::CommentAsGlob, text.span, message, help);
        }
    }

    /// State of a shell that ends with its step.
    fn lost_state(&mut self, commands: &[Vec<&str>], text: &ShellText) {
        if commands.is_empty() || !commands.iter().all(|words| is_state(words)) {
            return;
        }
        let first = commands[0].first().copied().unwrap_or_default();
        let (name, value) = first.split_once('=').unwrap_or((first, ""));
        let message = format!("`{name}` ends with its step: the next step does not see it");
        let variable = (first.contains('=') && !value.contains(['$', '`', VALUE])).then(|| {
            format!(
                "for the following steps, write `var {name} = …` and read it with `@var.{name}`"
            )
        });
        let captured = (first.contains('=') && value.contains("$(")).then(|| {
            format!("to keep the output of a command, write `var {name} = @shell.output(\"…\")`")
        });
        self.report(
            Diagnostic::new(Code::LostAssignment, text.span, message)
                .maybe_help(variable)
                .maybe_help(captured)
                .help(
                    "share values between steps with `var`, `let`, `@environ(NAME=…) { … }` or \
                     `--env-file FILE`, or put everything on one line with `&&`",
                ),
        );
    }

    /// `exit`, `return`, `break`, `continue`: they leave the step, and nothing else.
    fn lost_jump(&mut self, commands: &[Vec<&str>], text: &ShellText) {
        let jump = commands.iter().find_map(|words| match words.first().copied() {
            Some(word @ ("break" | "continue")) => Some(word),
            Some(word @ ("exit" | "return")) if self.depth > 0 => Some(word),
            _ => None,
        });
        let Some(word) = jump else { return };
        let help = match word {
            "break" | "continue" => "loops are unrolled in the plan: use `if … { }` inside",
            _ => "a step that fails ends the block: write `false`; to stop early, use `if … { }`",
        };
        let message = format!("`{word}` ends its own step, not the block around it");
        self.error(Code::ExitInBlock, text.span, message, help);
    }

    /// A step that is nothing but the name of a function.
    fn function_as_command(&mut self, commands: &[Vec<&str>], text: &ShellText) {
        let [words] = commands else { return };
        let [word] = words.as_slice() else { return };
        let Some(function) = self.function_named(word) else { return };
        // A label whose body is only names has had its error.
        let label = self.function.is_some_and(|own| self.unit.functions[own].label);
        if self.function == Some(function) || text.literal().is_none() || label {
            return;
        }
        let message = format!("`{word}` runs a program of that name, not the function");
        let error = Diagnostic::new(Code::FunctionAsCommand, text.span, message)
            .help(format!("call the function with `@cmd.{word}()`"))
            .help(format!("to run the program, write `command {word}`"));
        self.report(error);
    }

    /// `build { … }` over several lines: no shell and no opal would read it as a block.
    fn unknown_construct(&mut self, flat: &str, text: &ShellText) -> bool {
        let Some((head, _)) = flat.split_once('\n') else { return false };
        let head = head.trim_end();
        let block = head.ends_with(" {")
            && !head.starts_with(VALUE)
            && !head.contains(['|', '&', ';', '"', '\'', '`', '<']);
        if !block {
            return false;
        }
        let mut words = head.trim_end_matches('{').split_whitespace();
        let first = words.next().unwrap_or_default();
        let name = words.next().unwrap_or("NAME").trim_end_matches("()");
        let help = match first {
            "switch" | "match" | "case" => "write `when VALUE { \"a\" -> … }`".to_owned(),
            "func" | "fn" | "def" | "function" | "task" | "recipe" | "job" | "sub" | "proc" => {
                format!("write a function as `fun {name}() {{ … }}`")
            }
            "parallel" | "retry" | "timeout" | "workdir" => {
                format!("a decorator begins with `@`: `@{first}(…) {{ … }}`")
            }
            "unless" => "write `if !CONDITION { … }`".to_owned(),
            "loop" | "repeat" | "foreach" => "write a loop as `for NAME in LIST { … }`".to_owned(),
            _ => format!("write a function as `fun {first}() {{ … }}`"),
        };
        self.report(
            Diagnostic::new(Code::Syntax, text.span, format!("`{first}` is not a keyword of opal"))
                .help(help)
                .help("the keywords are var, fun, if, when, for, while, try and let"),
        );
        true
    }

    /// `x := 1`, `const x = 1`, and an assignment to a variable that lacks a blank.
    fn foreign_declaration(&mut self, commands: &[Vec<&str>], text: &ShellText) -> bool {
        if let Some(name) = foreign_function(text.leading()) {
            let message = format!("this does not define a function `{name}`");
            let help = format!("write `fun {name}(PARAMETERS) {{ … }}`");
            self.error(Code::Syntax, text.span, message, help);
            return true;
        }
        let words = commands.first().map_or(&[][..], Vec::as_slice);
        let (name, form) = match words {
            [name, ":=" | "?=" | "::=", ..] => (*name, "declare"),
            ["const" | "final" | "my" | "local" | "set", name, "=", ..] => (*name, "declare"),
            [name, value, ..] if value.starts_with('=') && self.is_visible(name) => {
                (*name, "assign")
            }
            [name, _, ..] if name.strip_suffix('=').is_some_and(|name| self.is_visible(name)) => {
                (name.trim_end_matches('='), "assign")
            }
            [path, "=", ..] if path.split(['.', '[']).next() == Some("var") => (*path, "assign"),
            _ => return false,
        };
        let name = name.trim_start_matches("var.");
        let (message, help) = if form == "declare" {
            (format!("this does not declare `{name}`"), format!("write `var {name} = …`"))
        } else {
            (
                format!("this is a command, not an assignment to `{name}`"),
                format!("write `{name} = …`, with a blank on both sides of `=`"),
            )
        };
        self.error(Code::Syntax, text.span, message, help);
        true
    }

    /// `.PHONY: all`, `build target:` and their like at top level.
    fn recipe(&mut self, flat: &str, text: &ShellText) -> bool {
        if self.function.is_some() || self.depth > 0 {
            return false;
        }
        let first = flat.split_whitespace().next().unwrap_or_default();
        if first == ".PHONY:" {
            let message = "functions are never files, so `.PHONY` is not needed";
            self.error(Code::LabelWithoutBody, text.span, message, "delete the line");
            return true;
        }
        if is_recipe(flat) {
            let first = first.trim_end_matches(':');
            let message = format!("`{first}` looks like a recipe, but has no body on its line");
            let help = format!("write `fun {first}(PARAMETERS) {{ … }}`");
            self.error(Code::LabelWithoutBody, text.span, message, help);
            return true;
        }
        false
    }
}

/// Plain words, of which some may have defaults, with a `:` at the end of the last one. What prints
/// them is a command.
fn is_recipe(flat: &str) -> bool {
    let is_name = |word: &str| {
        !word.is_empty()
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    let is_word = |word: &str| match word.split_once('=') {
        Some((name, default)) => is_name(name) && is_name(default.trim_matches(['\'', '"'])),
        None => is_name(word),
    };
    let Some(line) = flat.strip_suffix(':').filter(|it| !it.contains('\n')) else { return false };
    let mut words = line.split_whitespace();
    !line.ends_with(char::is_whitespace)
        && words.next().is_some_and(|first| is_name(first) && !matches!(first, "echo" | "printf"))
        && words.all(is_word)
}

/// First words that some habit is about.
fn is_special(word: &str) -> bool {
    matches!(
        word,
        "." | "alias"
            | "break"
            | "case"
            | "const"
            | "continue"
            | "declare"
            | "do"
            | "eval"
            | "exit"
            | "export"
            | "final"
            | "for"
            | "if"
            | "local"
            | "my"
            | "readonly"
            | "return"
            | "select"
            | "set"
            | "shopt"
            | "source"
            | "then"
            | "trap"
            | "typeset"
            | "umask"
            | "unalias"
            | "unset"
            | "until"
            | "while"
    )
}

/// Whether a command changes only the shell that runs it.
fn is_state(words: &[&str]) -> bool {
    let rest = words.get(1..).unwrap_or_default();
    match words.first().copied().unwrap_or_default() {
        "export" | "declare" | "typeset" | "readonly" | "source" | "." | "alias" | "unalias"
        | "unset" | "shopt" | "umask" => !rest.is_empty(),
        "eval" | "trap" => !rest.iter().any(|word| word.contains(VALUE)),
        "set" => !rest.is_empty() && !rest.iter().all(|word| is_safety(word)),
        _ => words.iter().all(|word| is_assignment(word)),
    }
}

/// `-e`, `-u`, `-o pipefail` in any spelling: what opal does anyway.
fn is_safety(word: &str) -> bool {
    word == "pipefail"
        || word.strip_prefix('-').is_some_and(|flags| flags.chars().all(|c| "euoE".contains(c)))
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.trim_end_matches('+');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The name of a function in the spelling of another language: `func deploy(…`.
fn foreign_function(text: &str) -> Option<&str> {
    let after =
        ["func ", "fn ", "def ", "task "].iter().find_map(|word| text.strip_prefix(word))?;
    let (name, _) = after.trim_start().split_once('(')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (!name.is_empty() && name.chars().all(is_part)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_quotes_are_one_word() {
        let found = commands("X=$(a; b | c) \"d ; e\" && f 'g h'; i");
        assert_eq!(found, [vec!["X=$(a; b | c)", "\"d ; e\""], vec!["f", "'g h'"], vec!["i"]]);
    }

    #[test]
    fn the_text_of_a_heredoc_is_not_a_command() {
        let found = commands("cat <<'A' <<-B > x; ls\nexit 1\nA\n\tX=1\n\tB\necho z\n");
        assert_eq!(found[2], ["echo", "z"], "{found:?}");
        assert_eq!(commands("grep x <<< y\nexit 1")[1], ["exit", "1"]);
    }

    #[test]
    fn the_shells_own_safety_is_not_a_lost_state() {
        assert!(!is_state(&["set", "-euo", "pipefail"]));
        assert!(is_state(&["set", "-x"]));
        assert!(is_state(&["A=1", "B=2"]));
        assert!(!is_state(&["A=1", "make"]));
    }
}
