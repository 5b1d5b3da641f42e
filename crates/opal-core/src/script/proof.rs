//! A second, strict reading of the whole text of a step.
//!
//! The lexer reads shell text of every kind and says where each reference is. This reader knows a
//! small grammar only, in which bash and dash agree about where words and commands begin and end, and
//! judges every value by it once more. Where the text leaves that grammar it is lost: what follows is
//! refused, and what was before must be harmless in every place.
//!
//! | what | where |
//! |---|---|
//! | words and quotes; what is inside of them | `scan`; `dollar`, `expansion`, `sums` |
//! | commands and pipelines; `if`, `for`, `case`, `[[` | `grammar`; `compound` |
//! | heredocs | `heredocs` |
//! | what commands do with values, through variables and pipes too | `flow`, `calls`, `marks`, `assignments`, `printing`, `settings` |
//! | what words and variables hold | `held`, `variables`, `mentions` |
//! | words that are in variables | `variants`, `constants`, `outline` |
//! | variables that a step has from its environment | `environment` |
//! | texts in quotes that a command runs, and all others | `inner`; `texts`, `unquoted` |
//!
//! Deliberately not here: the table of places, which the lexer's reading uses as well.

mod assignments;
mod calls;
mod compound;
mod constants;
mod construct;
mod dollar;
mod environment;
mod expansion;
mod flow;
mod found;
mod grammar;
mod held;
mod heredocs;
mod inner;
mod letters;
mod marks;
mod mentions;
mod outline;
mod printing;
mod scan;
mod settings;
mod sums;
mod texts;
mod tree;
mod unquoted;
mod variables;
mod variants;

use super::cases::Case;
use crate::context::Context;
pub use construct::Construct;
use construct::{PASTED, VALUE};
pub use environment::prove_environment;
use found::Found;
use letters::Letters;
use outline::{names_runner, prints_variables, reads_last};
use scan::Reader;
use tree::Values;

/// A part of a text, as it is given to [`prove`].
#[derive(Clone, Copy, Debug)]
pub enum Part<'t> {
    Text(&'t str),
    /// `@NAME` that is text.
    AtWord(&'t str),
    Value(Context),
    /// `@raw(…)`: text that is not known.
    Pasted,
}

/// The places of the values, in order: those that the lexer found, made stricter where this reading of
/// the text asks for it.
#[must_use]
pub fn prove(parts: &[Part<'_>]) -> Vec<Context> {
    let contexts: Vec<Context> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Value(context) => Some(*context),
            _ => None,
        })
        .collect();
    if contexts.is_empty() {
        return contexts;
    }
    let mut src = Vec::with_capacity(64);
    let mut is_known = true;
    for part in parts {
        match part {
            Part::Text(text) | Part::AtWord(text) => {
                if matches!(part, Part::AtWord(_)) {
                    src.push(b'@');
                }
                is_known &= !text.bytes().any(|byte| matches!(byte, VALUE | PASTED));
                src.extend_from_slice(text.as_bytes());
            }
            Part::Value(_) => src.push(VALUE),
            Part::Pasted => src.push(PASTED),
        }
    }
    if !is_known {
        return contexts.into_iter().map(|it| it.hidden(Construct::Quotes)).collect();
    }
    let proof = Proof::of(&src, MAX_TEXTS);
    contexts.into_iter().enumerate().map(|(index, it)| proof.place(index, it)).collect()
}

/// Nobody writes a text that runs a text that runs a text.
const MAX_TEXTS: u32 = 2;

/// What the strict reading of a text found.
#[derive(Debug)]
struct Proof {
    found: Found,
    gap: Option<Gap>,
    /// A word of the text names a program that runs text.
    runs: bool,
    /// A program of the text prints variables as they are.
    prints_variables: bool,
}

/// Where the reader was lost.
#[derive(Debug)]
struct Gap {
    construct: Construct,
    /// How many values are in commands that ended before it, and have no way into what follows.
    settled: usize,
    /// How many values are before it.
    before: usize,
    /// A program that runs text is named after it.
    runs: bool,
}

impl Proof {
    /// Texts in quotes that it runs are read too, and those in them, so many times.
    fn of(src: &[u8], depth: u32) -> Self {
        let letters = Letters::of(src);
        let mut reader = Reader::new(src);
        let (list, lost) = reader.text();
        let count = |end: usize| src[..end].iter().filter(|byte| **byte == VALUE).count();
        let lost_at = lost.map(|lost| lost.at);
        let gap = lost.map(|lost| Gap {
            construct: lost.construct,
            settled: reader.settled,
            before: count(lost.at),
            runs: names_runner(&src[lost.at..]),
        });
        let nothing = Gap { construct: Construct::Syntax, settled: 0, before: 0, runs: true };
        let (found, gap) = match flow::judge(src, letters, &reader.heredocs.bodies, &list, depth) {
            Some(found) => {
                let reads_last = lost_at.is_some_and(|at| reads_last(&src[at..]));
                let leaks = found.leaks || reads_last;
                let settled =
                    |gap: Gap| Gap { settled: if leaks { 0 } else { gap.settled }, ..gap };
                (found, gap.map(settled))
            }
            None => (Found::new(), Some(nothing)),
        };
        let runs = found.setting.is_some() && names_runner(src);
        Self { found, gap, runs, prints_variables: prints_variables(src, letters) }
    }

    fn place(&self, index: usize, context: Context) -> Context {
        let mut place = context;
        // The lexer does not know the command, and this reading does.
        let is_unknown = matches!(context.refused(), Some(case) if case == Case::UNKNOWN);
        if is_unknown && self.found.resolved.has(index) && self.gap.is_none() {
            place = place.without_case();
            place = self.found.reader(index).map_or(place, |reader| place.read_by(reader));
        }
        if let Some(case) = self.found.case(index).filter(|_| place.refused().is_none()) {
            place = place.case(case);
        }
        if place.refused().is_some() {
            return place;
        }
        let of = |values: &Values| values.has(index);
        let differs = of(&self.found.read) && place.reader().is_none() && context.is_word_start()
            || of(&self.found.programs) && !context.is_program()
            || of(&self.found.declared) && !context.is_declared();
        if differs {
            place = place.followed(Construct::Reading);
        }
        if let Some(reader) = self.found.begins(index) {
            place = place.starts_word(true).read_by(reader).before_dashes();
        }
        if let Some(construct) = self.found.soft(index) {
            let is_printed = self.prints_variables && construct == Construct::Output;
            let is_hidden = self.found.hidden.has(index) || is_printed;
            place = if is_hidden { place.hidden(construct) } else { place.followed(construct) };
        }
        if let Some(construct) = self.found.setting {
            place = if self.runs { place.hidden(construct) } else { place.followed(construct) };
        }
        match &self.gap {
            Some(gap) if index >= gap.before => place.hidden(gap.construct),
            Some(gap) if index < gap.settled => place,
            Some(gap) if gap.runs => place.hidden(gap.construct),
            Some(gap) => place.followed(gap.construct),
            None => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Place;

    /// The place of the last value of a text in which `@` stands for one.
    fn last(text: &str) -> Context {
        let at = Context::new(Place::Word);
        let mut parts = Vec::new();
        for (index, piece) in text.split('@').enumerate() {
            if index > 0 {
                parts.push(Part::Value(at));
            }
            parts.push(Part::Text(piece));
        }
        prove(&parts).pop().unwrap()
    }

    const FOLLOWED: &[&str] = &[
        "echo @",
        "if [ -f a ]; then echo @; elif b; then c; else d; fi",
        "for i in 1 2; do echo \"$i\" @; done",
        "while read -r l; do echo \"$l\"; done < f; echo @",
        "until false; do break; done; echo @",
        "case \"$1\" in (a|b) echo a ;; *) echo @ ;; esac",
        "case x in esac; echo @",
        "select i in a; do break; done; echo @",
        "(cd a && ls); { b; }; echo @",
        "f() { echo a; }; function g { b; }; function h() ( c ); echo @",
        "[[ -f a && ! ( b == c* || $d =~ ^v[0-9]+(\\.[0-9]+)*$ ) ]] && echo @",
        "(( i++ )); for ((i = 0; i < 3; i++)); do a; done; echo $((1 + 2)) @",
        "a=(1 \"2 3\" [4]=5 $(b)); a+=(c); m[x]=1; echo \"${a[@]}\" \"${m[\"x\"]}\" ${#a[@]} @",
        "echo ${a:-b} \"${a:-\"$b\"}\" ${a#*/} ${a%%.*} ${a//\\//-} ${a:1:2} ${a^^} ${!a} ${a:-${b:-c}} @",
        "cat <<E > f\n$a $(b \"c\")\nE\necho @",
        "cat <<-'E' | sort\n\t$a `\n\tE\necho @",
        "x=$(cat <<E\na\nE\n); echo @",
        "a && b || c; d & wait; ! e | f |& g; time h; echo @ # it's",
        "a > b 2>&1 < c >> d &> e >| f <<< \"g\" {fd}> h; echo @",
        "diff <(a) <(b @)",
        "echo `date +%Y` \"`b \"c\"`\" @",
        "docker run \\\n  --rm a \\\n  @",
        "echo $'a\\n' $1 $@ \"$*\" $# $? $$ $! $- ~ *.txt {} a{b @",
        "eval \"$(ssh-agent -s)\"; trap 'rm -f x' EXIT; set -euo pipefail; shopt -s nullglob; ls @",
        "local x=1; declare -A m; readonly Y=2; export Z; read -r a b < f; echo @",
    ];

    #[test]
    fn ordinary_text_is_followed_to_its_end() {
        for text in FOLLOWED {
            let place = last(text);
            assert_eq!((place.construct(), place.refused()), (None, None), "{text}");
        }
    }

    #[test]
    fn text_that_ends_anywhere_is_read_without_a_panic() {
        for text in FOLLOWED {
            for (end, _) in text.char_indices() {
                let rest = &text[end..];
                last(&format!("{}@", &text[..end].replace('@', "")));
                last(&format!("{rest}@"));
            }
        }
    }

    #[test]
    fn what_is_not_followed_is_named() {
        for (text, construct) in [
            ("a=`b \\`c\\``; echo @", Construct::Backtick),
            ("coproc a; echo @", Construct::Syntax),
            ("echo ${a:-\\}} @", Construct::Expansion),
            ("echo ${a[{b}]} @", Construct::Index),
            ("echo $[1] @", Construct::Sum),
            ("echo $\\\n(a) @", Construct::Continuation),
            ("cat <<$E\n$E\necho @", Construct::Heredoc),
            ("echo $\"a\" @", Construct::Quotes),
            ("ls a+(b|c) @", Construct::Syntax),
        ] {
            let place = last(text);
            assert!(place.is_hidden(), "{text}");
            assert_eq!(place.construct(), Some(construct), "{text}");
        }
    }

    #[test]
    fn a_variable_that_is_used_before_it_is_set_counts() {
        for text in [
            "while a; do eval \"$x\"; x=@; done",
            "while a; do eval \"$_\"; ls @; done",
            "while a; do b=$x; eval \"$b\"; x=@; done",
            "while a; do eval \"$y\"; y=$x; x=@; done",
            "f() { eval \"$1\"; }; f @",
            "while a; do $c -c \"$d\"; d=@; c=bash; done",
            "while a; do echo $((n)); n=m; m=@; done",
            "while a; do eval \"$(cat)\"; done <<< @",
        ] {
            assert!(last(text).refused().is_some(), "{text}");
        }
    }

    #[test]
    fn text_of_any_depth_is_read_in_bounded_stack() {
        for (open, close) in [("$(", ")"), ("(", ")"), ("${a:-", "}"), ("{ ", "; }"), ("$((", "))")]
        {
            let text = format!("echo {}a{} @", open.repeat(50_000), close.repeat(50_000));
            assert!(last(&text).is_hidden());
        }
    }
}
