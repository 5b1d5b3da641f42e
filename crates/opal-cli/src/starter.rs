//! The first `commands.opl` of a project, from what is in its directory. Text in, text out.
//!
//! Nothing of the project's files gets into the text but names of a fixed list, so no project can
//! choose what is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use opal_core::gather::Gather as _;

/// What was found in a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// The names of its files and directories; a directory's ends in `/`.
    pub(crate) names: BTreeSet<String>,
    /// The names of the scripts in its `package.json`.
    pub(crate) scripts: BTreeSet<String>,
}

/// Tasks for one kind of project.
#[derive(Debug)]
struct Part {
    heading: &'static str,
    /// Begins the names of its tasks where there is more than one kind.
    prefix: &'static str,
    /// What it was recognized by.
    because: Option<&'static str>,
    /// Whether its tasks have the usual names, which other kinds have too.
    is_shared: bool,
    tasks: Vec<Task>,
}

#[derive(Debug)]
struct Task {
    name: &'static str,
    docs: &'static str,
    head: &'static str,
    steps: Vec<String>,
}

/// A file, and what is in it.
#[derive(Debug)]
pub(crate) struct Starter {
    pub(crate) text: String,
    pub(crate) tasks: Vec<String>,
    /// What the tasks were chosen by.
    pub(crate) because: Vec<&'static str>,
}

const HEADER: &str = "\
// The tasks of this project.
//
//     opal                   lists them
//     opal TASK -h           shows the parameters of a task
//     opal TASK --dry-run    shows what it would do, and runs nothing
//
// A task is a function. Its steps are shell commands; the comment above it is its documentation.
";

impl Found {
    fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The file for a project of this kind.
    pub(crate) fn starter(&self) -> Starter {
        let kinds =
            [self.rust(), self.node(), self.python(), self.go(), self.cluster(), self.infra()];
        let mut parts: Vec<Part> = kinds.into_iter().flatten().collect();
        let is_mixed = parts.iter().filter(|part| part.is_shared).count() > 1;
        if parts.is_empty() {
            parts.push(example());
        }
        let (mut text, mut tasks) = (HEADER.to_owned(), Vec::new());
        if is_mixed {
            text.push_str("\n// # Everything\n");
            for (name, parts) in shared(&parts) {
                all_of(&mut text, name, &parts);
                tasks.push(name.to_owned());
            }
        }
        let has_headings = parts.len() > 1;
        for part in &parts {
            if has_headings {
                let _ = write!(text, "\n// # {}\n", part.heading);
            }
            for task in &part.tasks {
                let name = part.name(task, is_mixed);
                let _ = write!(text, "\n// {}\nfun {name}{} {{\n", task.docs, task.head);
                for step in &task.steps {
                    let _ = writeln!(text, "    {step}");
                }
                text.push_str("}\n");
                tasks.push(name);
            }
        }
        Starter { text, tasks, because: parts.iter().filter_map(|part| part.because).collect() }
    }

    fn rust(&self) -> Option<Part> {
        self.has("Cargo.toml").then(|| Part {
            heading: "Rust",
            prefix: "rust",
            because: Some("Cargo.toml"),
            is_shared: true,
            tasks: vec![
                task("build", "Build everything; add `--release` for a release.")
                    .with("(release = false)")
                    .step("if release {")
                    .step("    cargo build --release")
                    .step("} else {")
                    .step("    cargo build")
                    .step("}"),
                task("test", "Run the tests; the arguments are those of `cargo test`.")
                    .with("(args...)")
                    .step("cargo test @var.args"),
                task("lint", "Check the formatting, and search for mistakes.")
                    .step("cargo fmt --check")
                    .step("cargo clippy --all-targets"),
            ],
        })
    }

    fn node(&self) -> Option<Part> {
        let manager = match () {
            () if self.has("pnpm-lock.yaml") => "pnpm",
            () if self.has("yarn.lock") => "yarn",
            () if self.has("bun.lock") || self.has("bun.lockb") => "bun",
            () => "npm",
        };
        let known = [
            ("build", "Build for production."),
            ("test", "Run the tests."),
            ("lint", "Search for mistakes."),
            ("dev", "Start the development server."),
            ("start", "Start the application."),
        ];
        let of_scripts = known.into_iter().filter(|(name, _)| self.scripts.contains(*name));
        let of_scripts =
            of_scripts.map(|(name, docs)| task(name, docs).step(&format!("{manager} run {name}")));
        let install =
            task("install", "Install the dependencies.").step(&format!("{manager} install"));
        self.has("package.json").then(|| Part {
            heading: "Node",
            prefix: "node",
            because: Some("package.json"),
            is_shared: true,
            tasks: std::iter::once(install).chain(of_scripts).collect(),
        })
    }

    fn python(&self) -> Option<Part> {
        let (within, build) = match () {
            () if self.has("uv.lock") => ("uv run ", "uv build"),
            () if self.has("poetry.lock") => ("poetry run ", "poetry build"),
            () => ("", "python3 -m build"),
        };
        self.has("pyproject.toml").then(|| Part {
            heading: "Python",
            prefix: "python",
            because: Some("pyproject.toml"),
            is_shared: true,
            tasks: vec![
                task("build", "Build the package.").step(build),
                task("test", "Run the tests; the arguments are those of `pytest`.")
                    .with("(args...)")
                    .step(&format!("{within}python3 -m pytest @var.args")),
            ],
        })
    }

    fn go(&self) -> Option<Part> {
        self.has("go.mod").then(|| Part {
            heading: "Go",
            prefix: "go",
            because: Some("go.mod"),
            is_shared: true,
            tasks: vec![
                task("build", "Build everything.").step("go build ./..."),
                task("test", "Run the tests; the arguments are those of `go test`.")
                    .with("(args...)")
                    .step("go test ./... @var.args"),
                task("lint", "Search for mistakes.").step("go vet ./..."),
            ],
        })
    }

    fn cluster(&self) -> Option<Part> {
        self.has("k8s/").then(|| Part {
            heading: "Kubernetes",
            prefix: "k8s",
            because: Some("k8s/"),
            is_shared: false,
            tasks: vec![
                task("k8s-diff", "Show what `k8s-apply` would change; exit code 1 if anything.")
                    .step("kubectl diff -f k8s/"),
                task("k8s-apply", "Apply the manifests to the current cluster.")
                    .step("@confirm(\"Apply k8s/ to the current cluster?\")")
                    .step("kubectl apply -f k8s/"),
            ],
        })
    }

    fn infra(&self) -> Option<Part> {
        let is_terraform = self.names.iter().any(|name| name.ends_with(".tf"));
        is_terraform.then(|| Part {
            heading: "Infrastructure",
            prefix: "infra",
            because: Some("*.tf"),
            is_shared: false,
            tasks: vec![
                task("infra-plan", "Show what `infra-apply` would change, and keep that plan.")
                    .step("terraform init -input=false")
                    .step("terraform plan -input=false -out=infra.tfplan"),
                task("infra-apply", "Apply the plan of `infra-plan`, and nothing else.")
                    .step("@confirm(\"Apply infra.tfplan?\")")
                    .step("terraform apply -input=false infra.tfplan"),
            ],
        })
    }
}

/// Where nothing says what the project is.
fn example() -> Part {
    Part {
        heading: "Example",
        prefix: "example",
        because: None,
        is_shared: false,
        tasks: vec![
            task("hello", "Say hello, to the world or to somebody.")
                .with("(name = \"world\")")
                .step("echo \"hello, @var.name\""),
        ],
    }
}

fn task(name: &'static str, docs: &'static str) -> Task {
    Task { name, docs, head: "()", steps: Vec::new() }
}

impl Task {
    fn with(self, head: &'static str) -> Self {
        Self { head, ..self }
    }

    fn step(mut self, step: &str) -> Self {
        self.steps.push(step.to_owned());
        self
    }
}

impl Part {
    fn name(&self, task: &Task, is_mixed: bool) -> String {
        match is_mixed && self.is_shared {
            true => format!("{}-{}", self.prefix, task.name),
            false => task.name.to_owned(),
        }
    }
}

/// The names that several kinds have, each with its kinds.
fn shared(parts: &[Part]) -> BTreeMap<&'static str, Vec<&'static str>> {
    let own = parts.iter().filter(|part| part.is_shared);
    let pairs = own.flat_map(|part| part.tasks.iter().map(|task| (task.name, part.prefix)));
    let pairs: Vec<(&str, &str)> = pairs.collect();
    let kinds = |name: &str| -> Vec<&'static str> {
        pairs.iter().filter(|(other, _)| *other == name).map(|(_, prefix)| *prefix).collect()
    };
    let all = pairs.iter().map(|(name, _)| (*name, kinds(name)));
    all.filter(|(_, kinds)| kinds.len() > 1).gathered()
}

/// One task for all kinds that have it.
fn all_of(text: &mut String, name: &str, prefixes: &[&str]) {
    let _ = write!(text, "\n// Run `{name}` of every part.\nfun {name}() {{\n");
    for prefix in prefixes {
        let _ = writeln!(text, "    @needs.{prefix}-{name}()");
    }
    text.push_str("}\n");
}

#[cfg(test)]
mod tests {
    use opal_plan::check;
    use opal_syntax::Style;

    use super::*;

    const KINDS: [&str; 6] =
        ["Cargo.toml", "package.json", "pyproject.toml", "go.mod", "k8s/", "main.tf"];

    fn every_project() -> impl Iterator<Item = Found> {
        let locks = ["", "yarn.lock", "uv.lock"];
        (0..1_u32 << KINDS.len()).flat_map(move |chosen| {
            locks.into_iter().map(move |lock| {
                let kinds = KINDS.iter().enumerate().filter(|(bit, _)| chosen & (1 << bit) != 0);
                let mut names: BTreeSet<String> = kinds.map(|(_, it)| (*it).to_owned()).collect();
                names.insert(lock.to_owned());
                let scripts = ["build", "test", "dev"].map(str::to_owned).into();
                Found { names, scripts }
            })
        })
    }

    #[test]
    fn every_project_gets_a_formatted_file_without_mistakes_and_names_that_can_be_called() {
        let registry = opal_decorators::registry();
        for found in every_project() {
            let Starter { text, tasks, .. } = found.starter();
            let words = opal_plan::Words(&registry);
            let formatted = opal_syntax::format(&text, &words, Style::default());
            assert_eq!(formatted.as_deref(), Some(text.as_str()), "{found:?}");
            let wrong = check::check(&text, &registry).diagnostics;
            assert!(wrong.is_empty(), "{found:?}: {wrong:?}\n{text}");
            let unique: BTreeSet<&String> = tasks.iter().collect();
            assert_eq!(unique.len(), tasks.len(), "{tasks:?}");
            assert!(!tasks.iter().any(|name| crate::builtins::is_reserved(name)), "{tasks:?}");
        }
    }
}
