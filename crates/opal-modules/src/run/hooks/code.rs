//! Where the value of a variable may appear in the command of a hook: nowhere where a program could
//! read it as code.
//!
//! Nobody knows what every program does with its words. So the value is a word of its own, what is
//! said after a `=`, or the beginning of a path; and it is neither after an option that usually
//! takes code nor where one of the usual interpreters looks for its program.

use opal_plan::Words;
use opal_plan::lower;
use opal_plan::unit::{Piece as Part, StatementKind, Work};

use super::step::Filled;

/// Options that take code, as they are typed. Their names may end so, too.
const OPTIONS: [&str; 13] = [
    "--code",
    "--print",
    "--program",
    "--rsh",
    "--run",
    "--script",
    "-E",
    "-c",
    "-e",
    "-ex",
    "-execdir",
    "-ok",
    "-r",
];
const ENDINGS: [&str; 6] = ["cmd", "command", "eval", "exec", "execute", "expression"];

/// Programs whose first operand is a program in their own language, without the versions in their names.
const INTERPRETERS: [&str; 34] = [
    "ash",
    "awk",
    "bash",
    "bun",
    "csh",
    "dash",
    "deno",
    "fish",
    "gawk",
    "gsed",
    "jq",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "mawk",
    "mksh",
    "nawk",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "pypy",
    "python",
    "ruby",
    "sed",
    "sh",
    "tclsh",
    "tcsh",
    "yq",
    "zsh",
];

/// Programs whose first operand is another program.
const RUNNERS: [&str; 12] = [
    "doas", "env", "nice", "nohup", "parallel", "setsid", "stdbuf", "sudo", "time", "timeout",
    "watch", "xargs",
];

/// Options of those with a word after them that is not a program: with one, and with two.
const ONE_VALUE: [&str; 9] = ["-F", "-I", "-L", "-W", "-X", "-d", "-i", "-l", "-v"];
const ONE_VALUE_OF_RUNNERS: [&str; 3] = ["-g", "-s", "-u"];
const TWO_VALUES: [&str; 4] = ["--arg", "--argjson", "--rawfile", "--slurpfile"];

/// A word, as far as it matters where the value of a variable is in it.
enum Word<'w> {
    Plain(&'w str),
    /// The value, with at most a name and a `=` before it, and a path after.
    Value {
        before: &'w str,
    },
    Mixed,
}

/// What is known of an interpreter among the words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interpreter {
    None,
    /// Its program is still to come, after this many values of options.
    Waits {
        values: usize,
        runs: bool,
    },
    HasProgram,
}

pub(super) fn reads_as_code(words: &[Vec<Filled>]) -> bool {
    let variables = words.iter().filter(|word| has_variable(word)).count();
    variables > 0 && (is_out_of_place(words) || is_code_to_lexer(words, variables))
}

fn has_variable(parts: &[Filled]) -> bool {
    parts.iter().any(|part| matches!(part, Filled::Variable { .. }))
}

fn is_out_of_place(words: &[Vec<Filled>]) -> bool {
    let (mut interpreter, mut previous) = (Interpreter::None, "");
    for parts in words {
        match word(parts) {
            Word::Mixed => return true,
            Word::Value { before } => {
                let is_named = before.split('=').any(is_for_code);
                let follows = takes_code(previous, interpreter);
                if is_named || follows || matches!(interpreter, Interpreter::Waits { .. }) {
                    return true;
                }
                previous = "";
            }
            Word::Plain(text) => {
                interpreter = interpreter.with(text);
                previous = text;
            }
        }
    }
    false
}

fn word(parts: &[Filled]) -> Word<'_> {
    use Filled::{Text, Variable};
    let (before, after) = match parts {
        [] => return Word::Plain(""),
        [Text(text)] => return Word::Plain(text),
        [Variable { .. }] => ("", ""),
        [Text(before), Variable { .. }] => (before.as_str(), ""),
        [Variable { .. }, Text(after)] => ("", after.as_str()),
        [Text(before), Variable { .. }, Text(after)] => (before.as_str(), after.as_str()),
        _ => return Word::Mixed,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/=-".contains(c);
    let is_alone = (before.is_empty() || before.ends_with('='))
        && (after.is_empty() || after.starts_with('/'))
        && before.chars().chain(after.chars()).all(is_plain);
    if is_alone { Word::Value { before } } else { Word::Mixed }
}

/// Whether what is called that is usually code.
fn is_for_code(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    OPTIONS.contains(&name) || ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// Whether a word is an option with code after it. Interpreters take several in one word, as `-ne`.
fn takes_code(word: &str, interpreter: Interpreter) -> bool {
    let Some(letters) = word.strip_prefix('-') else { return false };
    let is_one_of_several = interpreter != Interpreter::None
        && letters.ends_with(['c', 'e', 'E'])
        && letters.chars().all(|c| c.is_ascii_alphanumeric());
    is_one_of_several || is_for_code(word)
}

impl Interpreter {
    fn with(self, word: &str) -> Self {
        let name = word.rsplit('/').next().unwrap_or(word);
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c));
        let is_option = word.len() > 1 && word.starts_with('-');
        match self {
            _ if INTERPRETERS.contains(&name) => Self::Waits { values: 0, runs: false },
            _ if RUNNERS.contains(&name) => Self::Waits { values: 0, runs: true },
            Self::Waits { runs, .. } if is_option => {
                Self::Waits { values: values(word, runs), runs }
            }
            Self::Waits { values, runs } if values > 0 || is_not_a_program(word) => {
                Self::Waits { values: values.saturating_sub(1), runs }
            }
            Self::Waits { .. } => Self::HasProgram,
            Self::None | Self::HasProgram => self,
        }
    }
}

/// What may precede a program, as in `env A=b`, `timeout 5s` and `sed -i ''`.
fn is_not_a_program(word: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.is_empty()
        || word.starts_with(|c: char| c.is_ascii_digit())
        || word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// How many words after an option of an interpreter belong to it, and are not the program.
fn values(option: &str, runs: bool) -> usize {
    let is_long = option.len() > 2 && option.starts_with("--") && !option.contains('=');
    match option {
        _ if TWO_VALUES.contains(&option) => 2,
        _ if ONE_VALUE.contains(&option) => 1,
        _ if runs && ONE_VALUE_OF_RUNNERS.contains(&option) => 1,
        _ => usize::from(is_long && !is_for_code(option)),
    }
}

/// The lexer knows shells and what hands its words on to one; it sees the same command with nothing
/// special in its words.
fn is_code_to_lexer(words: &[Vec<Filled>], variables: usize) -> bool {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-/=".contains(c) { c } else { 'x' };
    let word = |parts: &Vec<Filled>| match has_variable(parts) {
        true => "@env.X()".to_owned(),
        false => parts
            .iter()
            .flat_map(|part| part.shown().chars().map(plain).collect::<Vec<_>>())
            .collect(),
    };
    let source = words.iter().map(word).collect::<Vec<String>>().join(" ") + "\n";
    let registry = opal_decorators::registry();
    let parse = opal_syntax::parse(&source, &Words(&registry));
    let unit = lower::unit(&parse, &source);
    let steps = unit.script.statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Step(step) => Some(&step.first.work),
        _ => None,
    });
    let pieces = steps.flat_map(|work| match work {
        Work::Shell(text) => text.pieces.as_slice(),
        Work::Call(_) => &[],
    });
    let is_data = |piece: &&Part| match piece {
        Part::Reference(_, context) => context.refused().is_none() && !context.is_command(),
        Part::Text(_) | Part::AtWord(_) => false,
    };
    pieces.filter(is_data).count() != variables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(command: &str) -> bool {
        let word = |word: &str| {
            let mut parts = Vec::new();
            for (index, text) in word.split("{}").enumerate() {
                let variable = Filled::Variable { name: "R".into(), default: ".".into() };
                parts.extend((index > 0).then_some(variable));
                parts.extend((!text.is_empty()).then(|| Filled::Text(text.replace('~', " "))));
            }
            parts
        };
        reads_as_code(&command.split(' ').map(word).collect::<Vec<_>>())
    }

    #[test]
    fn a_value_may_be_a_word_a_named_value_or_the_beginning_of_a_path() {
        for command in [
            "inventory export --target a --from {} b",
            "inventory --from={} root={} {}/a/b.yml --in={}/x",
            "cp -a {} to",
            "mkdir -p {}",
            "sh there.sh {}",
            "python3 -u export.py --root {}",
            "python3 -c print(1) {}",
            "perl -i -pe s/a/b/ {}/file",
            "awk -F , -v a=b p {}",
            "sed -n p {}/file",
            "jq --arg a b . {}/file",
            "env A=b inventory {}",
            "timeout 5s inventory --from {}",
        ] {
            assert!(!reads(command), "{command}");
        }
    }

    #[test]
    fn what_could_be_code_is_not_a_place_for_a_value() {
        for command in [
            "{}",
            "{}/bin/tell",
            "env A=b {}",
            "env LD_PRELOAD={} inventory",
            "timeout -s KILL 5s {}",
            "sudo -u me {}",
            "sh -c {}",
            "sh -c -- {}",
            "sh -c cd~{}",
            "sh -ec {}/x",
            "python3 -c print(1)~#{}",
            "python3.12 -Bc {}",
            "/usr/bin/python3 {}/x.py",
            "perl -e {}",
            "perl -e 1 -ne {}",
            "perl -lane {}",
            "ruby -E {}",
            "node --eval {}",
            "node --eval={}",
            "php -r {}",
            "awk {}",
            "awk -F , {}",
            "gawk -i inplace {}",
            "sed {} file",
            "sed -i  {}",
            "sed -e p -e {}",
            "sed --expression={} file",
            "jq --arg a b {}",
            "docker exec it python3 {}",
            "box exec it unknown -c {}",
            "git -c core.pager={} log",
            "ssh -o ProxyCommand={} host",
            "tar -x --checkpoint-action=exec={}",
            "find . -exec {} +",
            "tool a{}",
            "tool {}b",
            "tool {}{}",
            "tool --a;b={}",
            "tool {}/$(id)",
            "tool {}/a~b",
        ] {
            assert!(reads(command), "{command}");
        }
    }
}
