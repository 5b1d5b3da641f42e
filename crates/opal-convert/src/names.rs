//! Names of the language for names of another tool.

use std::collections::BTreeSet;

/// Words that are not names in expressions or parameter lists.
const RESERVED: [&str; 16] = [
    "true", "false", "null", "if", "else", "when", "for", "in", "while", "try", "catch", "finally",
    "fun", "var", "let", "import",
];

/// Names that are taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// The name of a variable or a parameter.
    pub(crate) fn variable(&mut self, name: &str) -> String {
        self.free(name, |c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
    }

    /// The name of a task, which may contain `-`.
    pub(crate) fn task(&mut self, name: &str) -> String {
        self.free(name, |c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
    }

    pub(crate) fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    fn free(&mut self, name: &str, safe: impl Fn(char) -> char) -> String {
        let mut base: String = name.chars().map(safe).collect();
        let trimmed = base.trim_matches('-');
        base = if trimmed.is_empty() { "task".to_owned() } else { trimmed.to_owned() };
        if base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        if RESERVED.contains(&base.as_str()) {
            base.push('_');
        }
        let numbered = (2_usize..).map(|number| format!("{base}_{number}"));
        let found =
            std::iter::once(base.clone()).chain(numbered).find(|it| !self.taken.contains(it));
        let found = found.unwrap_or(base);
        self.taken.insert(found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_name_and_its_own() {
        let mut names = Names::default();
        for (name, expected) in [
            ("tf:init", "tf-init"),
            ("tf-init", "tf-init_2"),
            ("x()\n{ rm -rf / }", "x-----rm--rf"),
            ("1st", "_1st"),
            ("$(…)", "task"),
            ("for", "for_"),
        ] {
            assert_eq!(names.task(name), expected);
        }
        assert_eq!(Names::default().variable("my-var"), "my_var");
    }
}
