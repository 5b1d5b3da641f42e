//! What begins with `$`.

use super::command::{Kind, Unit};
use super::found::MISSING;
use super::lexer::{End, Reader};

/// Variables that bash sets, and `sh` does not.
const OF_BASH: [&str; 20] = [
    "BASHPID",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COPROC",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HOSTNAME",
    "HOSTTYPE",
    "OSTYPE",
    "PIPESTATUS",
    "RANDOM",
    "SECONDS",
    "UID",
];
/// Those that Task sets, too.
const OF_TASK: [&str; 4] = ["BASH_REMATCH", "EUID", "RANDOM", "UID"];

impl Reader<'_> {
    /// Something that is computed, or a `$` that is only that.
    pub(super) fn dollar(&mut self, units: &mut Vec<Unit>, is_quoted: bool) {
        let at = self.at;
        let kind = if is_quoted { Kind::Quoted } else { Kind::Bare };
        match self.peek(1) {
            b'\'' if !is_quoted => {
                self.bashism("`$'…'`", "reads the `$` as text");
                self.at += 2;
                while self.at < self.text.len() && self.peek(0) != b'\'' {
                    self.at += 1 + usize::from(self.peek(0) == b'\\');
                }
                self.at += 1;
            }
            b'"' if !is_quoted => {
                self.bashism("`$\"…\"`", "reads the `$` as text");
                self.at += 2;
                self.double(&mut Vec::new(), b'"');
            }
            b'(' => self.brackets(),
            b'[' if self.square_end().is_none() => {
                self.at += 1;
                units.push(Unit { c: b'$', at, kind });
                return;
            }
            b'[' => {
                self.bashism("`$[…]`", "reads it as text");
                self.at += self.square_end().unwrap_or_default() + 1;
            }
            b'{' => {
                units.push(Unit { c: b'$', at, kind: Kind::Computed });
                return self.braces(units, is_quoted);
            }
            c if c.is_ascii_alphabetic() || c == b'_' => {
                self.at += 1;
                let name = self.name();
                self.variable(&name);
                self.found.reads.insert(name);
            }
            c if c.is_ascii_digit() || b"@*#?-$!".contains(&c) => {
                self.at += 2;
                if c.is_ascii_digit() && c != b'0' {
                    self.found.reads.insert(char::from(c).to_string());
                }
                if c == b'-' {
                    self.other("`$-`", "has other options");
                }
            }
            _ => {
                self.at += 1;
                units.push(Unit { c: b'$', at, kind });
                return;
            }
        }
        self.at = self.at.min(self.text.len());
        units.push(Unit { c: b'$', at, kind: Kind::Computed });
    }

    /// Where a `]` is, not far away.
    fn square_end(&self) -> Option<usize> {
        self.text[self.at..].iter().take(256).position(|it| *it == b']')
    }

    /// `$(…)` or `$((…))`.
    fn brackets(&mut self) {
        self.at += 1;
        if self.is_at("((")
            && let Some(inner) = self.arithmetic()
        {
            return self.calculation(&inner);
        }
        self.at += 1;
        let rest = self.text[self.at..].trim_ascii_start();
        if rest.starts_with(b"<") && !rest.starts_with(b"<<") && !rest.starts_with(b"<(") {
            let closes = rest.iter().position(|it| *it == b')').unwrap_or_default();
            let is_only_word =
                !rest[1..closes.max(1)].trim_ascii().iter().any(|it| b" ;|&\n".contains(it));
            if is_only_word {
                self.bashism("`$(<FILE)`", "gives nothing");
            }
        }
        self.value(End::Bracket);
    }

    fn calculation(&mut self, text: &str) {
        let text = text.replace("${#", "").replace("$#", "");
        let operators = ["**", "++", "--", ",", "#"];
        if let Some(operator) = operators.into_iter().find(|it| text.contains(it)) {
            self.bashism(format!("`{operator}` in `$((…))`"), MISSING);
        }
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            self.variable(word);
        }
    }

    fn name(&mut self) -> String {
        let is_name = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
        let length = self.text[self.at..].iter().take_while(|it| is_name(it)).count();
        let name = String::from_utf8_lossy(&self.text[self.at..self.at + length]).into_owned();
        self.at += length;
        name
    }

    fn variable(&mut self, name: &str) {
        if OF_BASH.contains(&name) {
            self.bashism(format!("`${name}`"), "does not set it");
            if !OF_TASK.contains(&name) {
                self.not_in_task(format!("`${name}`"), "does not set it");
            }
        }
        if name == "_" {
            self.other("`$_`", "sets it to something else");
        }
    }

    /// `${…}`.
    fn braces(&mut self, units: &mut Vec<Unit>, is_quoted: bool) {
        self.at += 2;
        if self.peek(0) == b'!' {
            self.bashism("`${!x}`", MISSING);
        }
        // `${#x}` is a length, `${#}` and `${#-x}` are a parameter.
        let is_length = self.peek(0) == b'#' && !b"}-=?+:%".contains(&self.peek(1));
        self.at += usize::from(is_length || self.peek(0) == b'!');
        let name = self.name();
        match name.is_empty() {
            // A special parameter.
            true => self.at += 1,
            false => self.variable(&name),
        }
        let (first, second) = (self.peek(0), self.peek(1));
        let what = match (first, second) {
            (b'}', _) | (b'-' | b'=' | b'?' | b'+' | b'%' | b'#', _) => None,
            (b':', b'-' | b'=' | b'?' | b'+') => None,
            (b':', _) => Some("`${x:1:2}`"),
            (b'/', _) => Some("`${x/a/b}`"),
            (b'^' | b',', _) => Some("`${x^^}`"),
            (b'@', _) => {
                self.not_in_task("`${x@Q}`", "does not quote");
                Some("`${x@Q}`")
            }
            (b'[', _) => Some("arrays"),
            _ => None,
        };
        if let Some(what) = what {
            self.bashism(what, MISSING);
        }
        let has_default = b"-=?+".contains(&first) || first == b':' && what.is_none();
        if !has_default && !name.is_empty() && name != "0" {
            self.found.reads.insert(name);
        }
        if self.enter() {
            self.until_brace(units, is_quoted);
            self.depth -= 1;
        }
    }

    /// The word of `${x:-…}`, up to and with the bracket.
    fn until_brace(&mut self, units: &mut Vec<Unit>, is_quoted: bool) {
        let mut unused = Vec::new();
        while self.at < self.text.len() {
            match self.peek(0) {
                b'}' => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    // In quotes it reaches the command, with what follows it.
                    let pair = self.text[self.at..].iter().zip(self.at..).take(2);
                    let pair = pair.map(|(c, at)| Unit { c: *c, at, kind: Kind::Quoted });
                    units.extend(pair.filter(|_| is_quoted));
                    self.at += 2;
                }
                b'"' => {
                    self.at += 1;
                    self.double(&mut unused, b'"');
                }
                b'$' => self.dollar(&mut unused, true),
                b'`' if !self.in_tick => {
                    self.at += 1;
                    self.value(End::Tick);
                }
                b'\n' if self.in_tick => return,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.text.len());
    }
}
