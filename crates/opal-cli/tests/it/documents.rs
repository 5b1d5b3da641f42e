//! Every block of the documents behaves as it says.
//!
//! ` ```opl ` blocks are whole files: nothing is reported for them, or exactly the codes that stand
//! behind `opl`. With `plan` between the two a block is planned with everything resolved, and the
//! codes are those of planning; with `run` it is run. ` ```yaml ` blocks are whole configurations or
//! specs of modules, with the codes that reading them reports. ` ```dim ` and ` ```package ` blocks are
//! manifests and whole packages of decorators. ` ```sh ` blocks run with `opal` on the path. ` ```rust PATH `
//! blocks of the guide are parts of the file they name.

pub(crate) mod block;
mod places;
mod reference;
mod shell;

use std::fs;
use std::path::Path;

use opal_core::{Code, Diagnostic};

use crate::support::{Opal, Ran, repository};
use block::{blocks, pages};
use shell::{bash, shell_blocks};

/// The only function of a file, or its script.
fn target(text: &str) -> &str {
    let mut functions = text.lines().filter_map(|line| line.strip_prefix("fun ")?.split_once('('));
    match (functions.next(), functions.next()) {
        (Some((name, _)), None) => name,
        _ => "./commands.opl",
    }
}

/// Plans it with everything resolved.
fn planned(text: &str) -> Ran {
    Opal::machine(text).args(["plan", target(text), "--resolve", "--format", "tree"]).run()
}

/// Runs it.
fn run(text: &str) -> Ran {
    Opal::machine(text).args(["run", target(text)]).run()
}

/// The codes that were reported, each once; nothing is planned or run with an error.
fn reported(ran: &Ran) -> Vec<String> {
    let lines = ran.stderr.lines().filter_map(|line| line.split_once("]: "));
    let mut codes: Vec<String> = lines
        .filter_map(|(start, _)| {
            start.strip_prefix("error[").or_else(|| start.strip_prefix("warning["))
        })
        .map(str::to_owned)
        .collect();
    codes.sort();
    codes.dedup();
    // A server that does not answer is not a fault of the source.
    let failed = if codes == ["E0821"] { 69 } else { 65 };
    ran.code(if codes.iter().any(|code| code.starts_with('E')) { failed } else { 0 });
    codes
}

/// What is wrong with a configuration, or with a spec of a module, a profile or a blueprint.
fn config_faults(text: &str) -> Vec<Diagnostic> {
    if text.starts_with("api_version:") {
        return spec_faults(text);
    }
    let read = opal_config::read(text, &opal_decorators::registry());
    read.err().unwrap_or_default()
}

fn spec_faults(text: &str) -> Vec<Diagnostic> {
    use opal_modules::{Blueprint, Profile, Spec};
    if text.contains("\nkind: BlueprintSpec\n") {
        return Blueprint::read(text).diagnostics;
    }
    if text.contains("\nkind: DriverProfile\n") {
        return Profile::read(text).diagnostics;
    }
    let read = Spec::read(text);
    let unknown = read.found.iter().flat_map(|spec| spec.unknown_hooks(None));
    read.diagnostics.iter().cloned().chain(unknown).collect()
}

/// The codes of diagnostics, each once.
fn config_codes(text: &str) -> Vec<String> {
    codes(&config_faults(text))
}

/// What is wrong with a package: of a `dim` block its `dim.yaml`, of a `package` block all of its files,
/// each after a line `# PATH`.
fn package_faults(block: &block::Block) -> Vec<Diagnostic> {
    use opal_plugins::manifest::Manifest;
    use opal_plugins::package::{Mode, Package};
    let mut files: Vec<(String, String)> = Vec::new();
    if block.info.starts_with("dim") {
        let toml = "[package]\nname = \"acme/house\"\nversion = \"1.0.0\"\n\
                    [plugins]\nwasm = \"plugins/house.wasm\"\n";
        files.push(("opal.toml".into(), toml.into()));
        files.push(("plugins/house.wasm".into(), String::new()));
        files.push(("dim.yaml".into(), block.text.clone()));
    }
    for line in block.text.lines().filter(|_| block.info.starts_with("package")) {
        match line.strip_prefix("# ").filter(|path| path.contains('.') && !path.contains(' ')) {
            Some(path) => files.push((path.into(), String::new())),
            None => {
                let (_, text) = files.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    let mut package = Package::default();
    for (path, text) in files {
        package.add(path.parse().unwrap(), Mode::Plain, text.into_bytes()).unwrap();
    }
    let read = Manifest::read(&package, &opal_decorators::registry());
    read.err().into_iter().flatten().flat_map(|faulty| faulty.diagnostics).collect()
}

fn is_package(block: &block::Block) -> bool {
    ["dim", "package"].contains(&block.info.split_whitespace().next().unwrap_or_default())
}

fn codes(faults: &[Diagnostic]) -> Vec<String> {
    let mut codes: Vec<String> = faults.iter().map(|one| one.code.as_str().to_owned()).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// Checks the `opl` and `yaml` blocks of a page; returns what went wrong, one line each.
fn check_page(path: &Path) -> Vec<String> {
    let markdown = fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    let mut files: Vec<(usize, String, String)> = Vec::new();
    let is_checked =
        |block: &&block::Block| block.is_source() || block.is_config() || is_package(block);
    // What needs a provider is checked where it runs.
    let is_here = |block: &&block::Block| is_checked(block) && !block.needs_providers();
    for block in blocks(&markdown).iter().filter(is_here) {
        if let Some(name) = block.file() {
            files.push((block.section, name.to_owned(), block.text.clone()));
            continue;
        }
        let mut compare = |what: &str, expected: &[String], found: &[String]| {
            if found != expected {
                let place = path.strip_prefix(repository()).unwrap().display();
                let line = block.line;
                wrong.push(format!(
                    "{place}:{line}: {what}: expected {expected:?}, found {found:?}"
                ));
            }
        };
        if is_package(block) {
            compare("read", &block.expected(), &codes(&package_faults(block)));
            continue;
        }
        if block.is_config() {
            compare("read", &block.expected(), &config_codes(&block.text));
            continue;
        }
        let is_later = block.is_planned() || block.is_run();
        let in_source = if is_later { Vec::new() } else { block.expected() };
        let mut opal = Opal::project(&block.text);
        for (_, name, text) in files.iter().filter(|(section, ..)| *section == block.section) {
            opal = opal.file(name, text);
        }
        compare("check", &in_source, &opal.codes_of());
        if block.is_planned() {
            compare("plan", &block.expected(), &reported(&planned(&block.text)));
        }
        if block.is_run() {
            compare("run", &block.expected(), &reported(&run(&block.text)));
        }
    }
    wrong
}

#[test]
fn blocks_of_the_language_reference_behave_as_they_say() {
    let wrong: Vec<String> =
        pages("docs/language").iter().flat_map(|page| check_page(page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn blocks_of_the_guide_behave_as_they_say() {
    let wrong: Vec<String> = pages("docs/guide").iter().flat_map(|page| check_page(page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rust_blocks_of_the_guide_are_taken_from_the_files_they_name() {
    let mut count = 0;
    for page in pages("docs/guide") {
        for block in blocks(&fs::read_to_string(&page).unwrap()) {
            let Some(path) = block.info.strip_prefix("rust ") else { continue };
            let file = fs::read_to_string(repository().join(path)).unwrap();
            let place = format!("{}:{}", page.display(), block.line);
            assert!(file.contains(&block.text), "{place} is not in {path}:\n{}", block.text);
            count += 1;
        }
    }
    assert!(count > 0, "no page shows code");
}

#[test]
fn examples_of_error_pages_behave_as_they_say() {
    let wrong: Vec<String> =
        pages("docs/errors").iter().flat_map(|page| check_page(page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_is_provoked_by_its_page_and_comes_with_a_hint() {
    for code in Code::ALL {
        // No built-in has a deprecated parameter; `opal-plan/tests/it/plugins.rs` provokes it. Pods
        // need a cluster: `pods.rs` has one. Many values need many targets: `fleets/values.rs` has them.
        // Secrets for code of packages: `plugin.rs`. Providers: `plugin/providers.rs`.
        if matches!(
            code,
            Code::DeprecatedParameter
                | Code::PackageSecret
                | Code::UnexpectedTargets
                | Code::Unidentified
                | Code::StateOnly
                | Code::InvalidRecipe
                | Code::NumberTooLarge
                | Code::TooManyTargetValues
        ) {
            continue;
        }
        let page = repository().join(format!("docs/errors/{}.md", code.as_str()));
        let markdown = fs::read_to_string(&page).unwrap();
        let wrong = blocks(&markdown)
            .into_iter()
            .find(|block| block.info.split_whitespace().any(|word| word == code.as_str()));
        let wrong = wrong.unwrap_or_else(|| panic!("{} has no wrong example", page.display()));
        if wrong.is_config() || is_package(&wrong) {
            let faults = match wrong.is_config() {
                true => config_faults(&wrong.text),
                false => package_faults(&wrong),
            };
            let found: Vec<&Diagnostic> = faults.iter().filter(|one| one.code == *code).collect();
            assert!(!found.is_empty(), "{} does not provoke its code", page.display());
            assert!(found.iter().all(|one| !one.help.is_empty()), "{} has no hint", code.as_str());
            continue;
        }
        if wrong.is_planned() {
            planned(&wrong.text).says(&format!("[{}]: ", code.as_str())).says("= help: ");
            continue;
        }
        if wrong.is_run() {
            run(&wrong.text).says(&format!("[{}]: ", code.as_str())).says("= help: ");
            continue;
        }
        let found = if wrong.info.starts_with("sh") {
            let output = bash(&wrong.text.replace("opal check", "opal check --json"));
            serde_json::from_str(&output.1).unwrap()
        } else {
            Opal::project(&wrong.text).args(["self", "check", "--json"]).run().json()
        };
        let files = found["files"].as_array().unwrap().iter();
        let found: Vec<&serde_json::Value> = files
            .flat_map(|file| file["diagnostics"].as_array().unwrap())
            .filter(|one| one["code"] == code.as_str())
            .collect();
        assert!(!found.is_empty(), "{} does not provoke its code", page.display());
        for one in found {
            assert_ne!(one["help"].as_array().unwrap().len(), 0, "{} has no hint", code.as_str());
        }
    }
}

#[test]
fn shell_blocks_of_error_pages_behave_as_they_say() {
    for page in pages("docs/errors") {
        for block in blocks(&fs::read_to_string(&page).unwrap()) {
            let mut words = block.info.split_whitespace();
            if words.next() != Some("sh") {
                continue;
            }
            let (code, stdout, stderr) = bash(&block.text);
            let expected: Vec<&str> = words.collect();
            for word in &expected {
                assert!(stdout.contains(word), "{}: {word} in {stdout} {stderr}", page.display());
            }
            let fails = expected.iter().any(|word| word.starts_with('E'));
            assert_eq!(code != 0, fails, "{}:{}: {stdout}{stderr}", page.display(), block.line);
        }
    }
}

#[test]
fn shell_blocks_of_the_language_reference_print_what_they_show() {
    shell_blocks("docs/language");
}

#[test]
fn shell_blocks_of_the_guide_print_what_they_show() {
    shell_blocks("docs/guide");
}

#[test]
fn examples_of_every_decorator_pass_the_check_and_are_formatted() {
    for descriptor in opal_decorators::registry().iter() {
        for example in descriptor.examples {
            let place = format!("@{}, {}", descriptor.path, example.title);
            let codes = Opal::codes(example.source);
            assert_eq!(codes, [""; 0], "{place}:\n{}", example.source);
            let ran =
                Opal::project(example.source).args(["self", "fmt", "--check", "--diff"]).run();
            assert_eq!(ran.code, 0, "{place}: {}", ran.stdout);
        }
    }
}

#[test]
fn shipped_examples_pass_the_check_and_are_formatted() {
    let mut count = 0;
    for entry in fs::read_dir(repository().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "opl") {
            continue;
        }
        count += 1;
        let file = path.to_str().unwrap();
        Opal::new().args(["check", file]).run().code(0).says("no problems found");
        Opal::new().args(["fmt", "--check", file]).run().code(0);
    }
    assert!(count >= 3, "{count} examples");
}

#[test]
fn shipped_examples_can_be_planned() {
    let plan = |file: &str, args: &[&str]| {
        let file = repository().join("examples").join(file);
        let opal = Opal::machine("").env("BACKUP_TOKEN", "canary-7d1f");
        let line = ["--dry-run", "-f", file.to_str().unwrap(), "run"];
        opal.args(line.iter().chain(args)).run().code(0).hides("canary-7d1f").says("Plan Hash: ");
    };
    plan("deploy.opl", &["deploy", "production"]);
    plan("deploy.opl", &["restart-workers"]);
    plan("hello.opl", &["hello", "--loud"]);
    let script = repository().join("examples/backup.opl");
    plan("backup.opl", &[script.to_str().unwrap(), "shop", "billing"]);
}

#[test]
fn the_blocks_of_the_readme_behave_as_they_say() {
    let path = repository().join("README.md");
    let wrong = check_page(&path);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let blocks = blocks(&fs::read_to_string(path).unwrap());
    let of = |info: &str| &blocks.iter().find(|block| block.info == info).unwrap().text;
    let opal = Opal::machine(of("opl")).file("VERSION", "1.4.0");
    let ran = opal.call(&["deploy", "staging", "--dry-run"]);
    assert!(ran.code(0).stdout.starts_with(of("text")), "{ran:#?}");
    opal.call(&["deploy", "staging"]).code(0).stdout("shop 1.4.0 with 2 replicas\n");
    opal.call(&["plan", "deploy", "production", "-o", "production.plan"]).code(0);
    opal.write("VERSION", "1.4.1");
    opal.call(&["run", "--plan", "production.plan"]).code(76).says("value_changed");
    for scene in ["first", "refused"] {
        let text =
            fs::read_to_string(in_repository(&format!("docs/pictures/{scene}.txt"))).unwrap();
        assert!(text.contains(of("opl").trim_end()), "the scene `{scene}` shows another file");
    }
    let command = of("sh").split_once(" -- ").unwrap().1.split_whitespace();
    let words: Vec<String> =
        command.map(|word| word.replace("examples/", &in_repository("examples/"))).collect();
    Opal::machine("").args(words).run().code(0).stdout("HELLO, WORLD!\n");
}

fn in_repository(path: &str) -> String {
    format!("{}/{path}", repository().display())
}

#[test]
fn every_picture_of_the_documents_exists_for_dark_and_light_and_has_a_scene() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let quoted = readme.split('"').filter(|part| part.ends_with(".svg"));
    let mut names: Vec<&str> = quoted.collect();
    assert!(names.len() >= 4, "{names:?}");
    names.retain(|name| !Path::new(&in_repository(name)).is_file());
    assert_eq!(names, Vec::<&str>::new());
    for entry in fs::read_dir(in_repository("docs/pictures")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let scene = stem.trim_end_matches("-dark").trim_end_matches("-light");
        let script = path.with_file_name(format!("{scene}.txt"));
        let text = fs::read_to_string(&script).unwrap_or_else(|_| panic!("{}", script.display()));
        // A browser takes pictures in pixels.
        let is_page = text.lines().any(|line| line.starts_with("page: "));
        for theme in ["dark", "light"] {
            let file = format!("{scene}-{theme}.{}", if is_page { "png" } else { "svg" });
            let wanted = path.with_file_name(file);
            assert!(wanted.is_file(), "{}", wanted.display());
        }
    }
}

#[test]
fn the_readme_names_two_commands_and_ci_calls_the_second() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let commands: Vec<String> =
        blocks(&readme).into_iter().filter(|b| b.info == "sh").map(|b| b.text).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let ci = fs::read_to_string(repository().join(".ci/run")).unwrap();
    assert!(ci.contains(commands[1].trim()), "{ci}");
}

#[test]
fn the_projects_own_tasks_pass_the_check_and_are_formatted() {
    let file = repository().join("commands.opl");
    let file = file.to_str().unwrap();
    Opal::new().args(["check", file]).run().code(0);
    Opal::new().args(["fmt", "--check", file]).run().code(0);
}
