//! Files of which a task is made: what `@cached` compares.

use globset::{GlobBuilder, GlobSetBuilder};

use super::Sheet;

/// Patterns, seen from the directory of the file.
#[derive(Clone, Debug)]
pub(crate) struct Cached {
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
}

impl Cached {
    /// None where `@cached` would refuse them: nothing to compare, files that may be outside the
    /// project, or outputs that may be inputs.
    pub(crate) fn new(inputs: Vec<String>, outputs: Vec<String>) -> Option<Self> {
        let is_inside = |pattern: &String| {
            let parts = pattern.trim_start_matches("./").split('/');
            !pattern.is_empty()
                && !pattern.starts_with(['/', '~'])
                && !pattern.contains(|c: char| c.is_control() || "\\$`\"'".contains(c))
                && parts.clone().all(|part| part != "..")
                && parts.clone().skip(1).all(|part| !matches!(part, "" | "."))
        };
        let is_clear = !inputs.is_empty()
            && inputs.iter().chain(&outputs).all(is_inside)
            && !overlap(&inputs, &outputs)?;
        is_clear.then_some(Self { inputs, outputs })
    }
}

impl Sheet {
    /// Where perhaps no file matches, the program itself is one of the files: the other tool just runs
    /// such a task, and `@cached` refuses it.
    pub(crate) fn complete_inputs(&mut self, program: &str) {
        let is_there = |it: &String| {
            !it.contains(['*', '?', '[', '{']) && !it.trim_start_matches("./").starts_with('.')
        };
        for files in self.tasks.iter_mut().filter_map(|it| it.cached.as_mut()) {
            if !files.inputs.iter().any(is_there) {
                files.inputs.push(program.to_owned());
            }
        }
    }
}

/// Whether an input may be an output; none where a pattern is invalid.
fn overlap(inputs: &[String], outputs: &[String]) -> Option<bool> {
    let mut set = GlobSetBuilder::new();
    for input in inputs {
        let input = input.trim_start_matches("./").trim_end_matches('/');
        for pattern in [input.to_owned(), format!("{input}/**")] {
            set.add(GlobBuilder::new(&pattern).literal_separator(true).build().ok()?);
        }
    }
    let set = set.build().ok()?;
    let may_match = |output: &String| {
        let output = output.trim_start_matches("./").trim_end_matches('/');
        let is_wild = output.contains(['*', '?', '[', '{']);
        // What a directory or a pattern will hold is not known.
        let inside = inputs.iter().any(|input| input.trim_start_matches("./").starts_with(output));
        is_wild || inside || set.is_match(output) || set.is_match(format!("{output}/x"))
    };
    Some(outputs.iter().any(may_match))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_decorator_would_refuse_is_not_written() {
        let is_written = |inputs: &[&str], outputs: &[&str]| {
            let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
            Cached::new(owned(inputs), owned(outputs)).is_some()
        };
        assert!(is_written(&["src/**/*.go", "go.mod"], &["bin/app"]));
        assert!(is_written(&["**/*.go"], &["app"]));
        assert!(is_written(&["./a.md"], &[]));
        for (inputs, outputs) in [
            (&[][..], &["app"][..]),
            (&["../x"], &["app"]),
            (&["/etc/x"], &["app"]),
            (&["~/x"], &[]),
            (&["**/*.go"], &["gen.go"]),
            (&["src/**"], &["src/out"]),
            (&["src"], &["src/out"]),
            (&["src/a"], &["src"]),
            (&["**"], &["dist"]),
            (&["a/*"], &["b/*.o"]),
            (&["a[", "b"], &["c"]),
            (&["a/../b"], &["c"]),
            (&["$HOME"], &["c"]),
        ] {
            assert!(!is_written(inputs, outputs), "{inputs:?} {outputs:?}");
        }
    }
}
