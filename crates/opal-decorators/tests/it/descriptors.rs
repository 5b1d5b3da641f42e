//! What holds for the descriptors of all built-in decorators.

use std::collections::BTreeSet;

use opal_core::decorator::{Cost, Descriptor, Exposure, Param, Presence, Role, Subject};
use opal_core::resource::Status;
use opal_core::{Type, Value};
use opal_decorators::{BUILT_IN, registry};

/// Gives on what it was given, so how that is shown is not its own decision.
const PASSES_ON: [&str; 3] = ["let", "raw", "var"];

const ROLES: &[(&str, &[Role])] = &[
    ("args", &[Role::Value]),
    ("as", &[Role::Wrapper, Role::Boundary]),
    ("cached", &[Role::Wrapper, Role::Resource]),
    ("cli.directory", &[Role::Value]),
    ("cmd", &[]),
    ("confirm", &[]),
    ("container.exec", &[Role::Wrapper, Role::Boundary]),
    ("container.run", &[Role::Wrapper, Role::Boundary]),
    ("crypto.generate_key", &[Role::Value]),
    ("env", &[Role::Value]),
    ("environ", &[Role::Wrapper]),
    ("fail", &[]),
    ("file.absent", &[Role::Resource]),
    ("file.copy", &[Role::Resource]),
    ("file.directory", &[Role::Resource]),
    ("file.exists", &[Role::Value]),
    ("file.fetch", &[Role::Resource]),
    ("file.glob", &[Role::Value]),
    ("file.hash", &[Role::Value]),
    ("file.line", &[Role::Resource]),
    ("file.read", &[Role::Value, Role::Endpoint]),
    ("file.symlink", &[Role::Resource]),
    ("file.template", &[Role::Resource]),
    ("file.write", &[Role::Endpoint]),
    ("git.branch", &[Role::Value]),
    ("git.commit", &[Role::Value]),
    ("git.repo", &[Role::Resource]),
    ("http.get", &[Role::Value]),
    ("k8s.exec", &[Role::Wrapper, Role::Boundary]),
    ("let", &[Role::Value]),
    ("limits", &[Role::Wrapper]),
    ("log", &[]),
    ("mysql", &[]),
    ("needs", &[]),
    ("os.arch", &[Role::Value]),
    ("os.hostname", &[Role::Value]),
    ("os.name", &[Role::Value]),
    ("parallel", &[Role::Wrapper]),
    ("pkg.install", &[Role::Resource]),
    ("print", &[]),
    ("psql", &[]),
    ("random.password", &[Role::Value]),
    ("raw", &[Role::Value]),
    ("rethrow", &[]),
    ("retry", &[Role::Wrapper]),
    ("script", &[]),
    ("secret.cmd", &[Role::Value]),
    ("secret.env", &[Role::Value]),
    ("secret.file", &[Role::Value]),
    ("service.running", &[Role::Resource]),
    ("shell", &[Role::Resource]),
    ("shell.output", &[Role::Value]),
    ("sqlite", &[]),
    ("ssh.host", &[Role::Wrapper, Role::Boundary]),
    ("ssh.hosts", &[Role::Wrapper, Role::Boundary]),
    ("target.groups", &[Role::Value]),
    ("target.host", &[Role::Value]),
    ("target.index", &[Role::Value]),
    ("target.name", &[Role::Value]),
    ("target.vars", &[Role::Value]),
    ("time.now", &[Role::Value]),
    ("timeout", &[Role::Wrapper]),
    ("to.display", &[]),
    ("user.present", &[Role::Resource]),
    ("var", &[Role::Value]),
    ("workdir", &[Role::Wrapper]),
];

fn params() -> impl Iterator<Item = (String, &'static Param)> {
    BUILT_IN.iter().flat_map(|descriptor| {
        let name = |param: &Param| format!("@{}({})", descriptor.path, param.name);
        descriptor.params.iter().map(move |param| (name(param), param))
    })
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// A phrase, as help prints it after a name.
fn is_phrase(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.ends_with('.')
        && !text.starts_with(char::is_uppercase)
}

fn paths(holds: impl Fn(&Descriptor) -> bool) -> Vec<&'static str> {
    registry().iter().filter(|descriptor| holds(descriptor)).map(|it| it.path).collect()
}

#[test]
fn the_registry_holds_every_built_in_and_each_plays_the_roles_it_should() {
    let registry = registry();
    let found: Vec<_> = registry.iter().map(|it| (it.path, it.roles())).collect();
    let expected: Vec<_> = ROLES.iter().map(|(path, roles)| (*path, roles.to_vec())).collect();
    assert_eq!(found, expected);
}

#[test]
fn paths_and_parameters_are_lower_case_names() {
    for descriptor in BUILT_IN {
        assert!(descriptor.path.split('.').all(is_name), "{}", descriptor.path);
    }
    for (at, param) in params() {
        assert_ne!(param.name, opal_core::decorator::BLOCK_TEXT, "{at}");
        assert!(is_name(param.name) && param.alias.is_none_or(is_name), "{at}");
    }
}

#[test]
fn everything_is_documented() {
    for descriptor in BUILT_IN {
        let path = descriptor.path;
        assert!(is_phrase(descriptor.summary), "@{path}: {}", descriptor.summary);
        assert!(descriptor.docs.len() > 80 && descriptor.docs.ends_with('.'), "@{path}");
        assert!(!descriptor.docs.contains("  "), "@{path}: a gap in the text");
        if let Some(Type::Object(fields)) = descriptor.returns.as_ref().map(|it| &it.ty) {
            assert!(fields.iter().all(|field| is_phrase(field.docs)), "@{path}");
        }
    }
    for (at, param) in params() {
        assert!(is_phrase(param.docs) && !param.docs.contains("  "), "{at}: {}", param.docs);
    }
}

#[test]
fn every_resource_says_what_its_statuses_mean_in_their_order() {
    for descriptor in BUILT_IN.iter().filter(|it| it.resource.is_some()) {
        let path = descriptor.path;
        let (_, list) = descriptor.docs.split_once("\n\n## Statuses\n\n").expect(path);
        let mut reported = Vec::new();
        for line in list.lines() {
            let (name, meaning) = line.strip_prefix("- `").unwrap().split_once("`: ").unwrap();
            reported.push(Status::named(name).expect(name));
            assert!(is_phrase(meaning.strip_suffix('.').unwrap()), "@{path}: {line}");
        }
        assert!(reported.is_sorted_by(|before, after| before < after), "@{path}: {reported:?}");
        assert!(
            reported.contains(&Status::Satisfied) && reported.contains(&Status::Blocked),
            "@{path}"
        );
    }
}

#[test]
fn every_decorator_has_a_complete_example_that_uses_it() {
    for descriptor in BUILT_IN {
        let mention = format!("@{}", descriptor.path);
        assert!(!descriptor.examples.is_empty(), "{mention}");
        for example in descriptor.examples {
            let at = format!("{mention}: {}", example.title);
            assert!(is_phrase(example.title), "{at}");
            assert!(example.source.contains(&mention), "{at}");
            assert!(example.source.ends_with('\n') && !example.source.ends_with("\n\n"), "{at}");
            for line in example.source.lines() {
                let indent = line.len() - line.trim_start().len();
                assert!(indent % 4 == 0 && line.trim_end() == line, "{at}: {line:?}");
                assert!(!line.contains('\t') && line.chars().count() <= 100, "{at}: {line:?}");
            }
        }
    }
}

#[test]
fn defaults_are_values_that_a_user_could_have_given() {
    for (at, param) in params() {
        let Presence::Default(value) = &param.presence else {
            continue;
        };
        assert!(param.ty.accepts(&value.type_of()), "{at}: {value}");
        match (value, &param.ty) {
            (Value::String(text), Type::OneOf(choices)) => assert!(choices.contains(text), "{at}"),
            (Value::Int(number), _) => {
                let (least, most) = param.range.unwrap_or((i64::MIN, i64::MAX));
                assert!((least..=most).contains(number), "{at}: {number}");
            }
            (Value::Duration(length), _) => assert!(length.as_nanos() > 0, "{at}"),
            _ => {}
        }
    }
}

#[test]
fn limits_are_only_where_they_mean_something() {
    for (at, param) in params() {
        assert!(param.range.is_none_or(|(least, most)| least < most), "{at}");
        assert!(param.range.is_none() || param.ty == Type::Int, "{at}: range");
        // One that takes anything may say what a text has to look like.
        let is_text = matches!(param.ty, Type::String | Type::Any);
        assert!(param.pattern.is_none() || is_text, "{at}: pattern");
        assert!(!param.shell || param.ty == Type::String, "{at}: shell text");
        if let Type::OneOf(choices) = &param.ty {
            let distinct: BTreeSet<_> = choices.iter().collect();
            assert!(distinct.len() >= 2 && distinct.len() == choices.iter().count(), "{at}");
        }
    }
}

#[test]
fn names_and_aliases_of_one_decorator_are_distinct() {
    for descriptor in BUILT_IN {
        let names: Vec<_> =
            descriptor.params.iter().flat_map(|it| [Some(it.name), it.alias]).flatten().collect();
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "@{}: {names:?}", descriptor.path);
    }
}

#[test]
fn required_parameters_come_first() {
    // `source` keeps its place before `destination`, although `content` can be given instead.
    for descriptor in BUILT_IN.iter().filter(|it| it.path != "file.copy") {
        let required =
            descriptor.params.iter().map(|param| matches!(param.presence, Presence::Required));
        assert!(required.is_sorted_by(|before, after| before >= after), "@{}", descriptor.path);
    }
}

#[test]
fn what_refers_to_a_parameter_names_one_that_exists() {
    for descriptor in BUILT_IN {
        let exists = |name: &str| descriptor.params.iter().any(|param| param.name == name);
        if let Subject::OrParam(name) = descriptor.subject {
            assert!(exists(name), "@{}: {name}", descriptor.path);
        }
        if let Some(resource) = &descriptor.resource {
            assert!(!resource.key.is_empty(), "@{}", descriptor.path);
            assert!(resource.key.iter().all(|name| exists(name)), "@{}", descriptor.path);
        }
    }
}

/// A command is the same thing only where it runs in the same way: one text in two directories is
/// two things.
#[test]
fn a_resource_key_is_made_of_what_is_always_given_unless_it_is_a_command() {
    for descriptor in BUILT_IN.iter().filter(|it| it.path != "shell" && it.path != "cached") {
        for name in descriptor.resource.iter().flat_map(|resource| resource.key) {
            let presence = descriptor.param(name).map(|param| &param.presence);
            assert!(matches!(presence, Some(Presence::Required)), "@{}: {name}", descriptor.path);
        }
    }
    let shell = registry().get("shell").and_then(|it| it.resource.as_ref()).map(|it| it.key);
    assert_eq!(shell, Some(&["cmd", "workdir", "shell", "env", "check"][..]));
}

#[test]
fn every_resource_is_a_yaml_step_of_its_own_and_can_limit_its_verification() {
    // A block cannot be written in YAML.
    let is_step = |it: &&&Descriptor| it.is_step_type();
    let resources: Vec<_> = BUILT_IN.iter().filter(is_step).collect();
    let types: BTreeSet<_> =
        resources.iter().flat_map(|it| &it.resource).map(|it| it.yaml).collect();
    let documented = [
        "absent",
        "command",
        "copy",
        "directory",
        "line_in_file",
        "package",
        "repo",
        "service",
        "symlink",
        "template",
        "user",
    ];
    assert_eq!(types, BTreeSet::from(documented));
    assert_eq!(resources.len(), documented.len());
    for resource in resources {
        let limit = resource.param("verify_timeout").map(|param| &param.ty);
        assert_eq!(limit, Some(&Type::Duration), "@{}", resource.path);
    }
}

#[test]
fn secrets_and_random_values_are_declared_secret() {
    let secret = paths(|it| it.exposure == Exposure::Secret);
    let expected =
        ["crypto.generate_key", "random.password", "secret.cmd", "secret.env", "secret.file"];
    assert_eq!(secret, expected);
}

#[test]
fn only_constants_and_facts_about_machine_files_and_repository_are_public() {
    let public = paths(|it| it.exposure == Exposure::Public);
    let expected = [
        "args",
        "cli.directory",
        "file.exists",
        "file.glob",
        "git.branch",
        "git.commit",
        "os.arch",
        "os.hostname",
        "os.name",
        "target.groups",
        "target.host",
        "target.index",
        "target.name",
        "time.now",
    ];
    assert_eq!(public, expected);
}

#[test]
fn variables_and_digests_are_plain() {
    assert_eq!(paths(|it| it.exposure == Exposure::Plain), ["env", "file.hash", "target.vars"]);
}

#[test]
fn exactly_the_values_that_are_placeholders_can_be_made_public() {
    for descriptor in BUILT_IN {
        let is_placeholder = matches!(descriptor.exposure, Exposure::Resolved | Exposure::Plain);
        let hidden = descriptor.is_value() && is_placeholder;
        let gives_output = descriptor.path == "shell";
        let expected = gives_output || hidden && !PASSES_ON.contains(&descriptor.path);
        assert_eq!(descriptor.param("public").is_some(), expected, "@{}", descriptor.path);
    }
}

#[test]
fn only_processes_network_and_randomness_are_deferred_in_quick_plans() {
    let expensive = paths(|it| it.cost == Cost::Expensive);
    let expected =
        ["crypto.generate_key", "http.get", "random.password", "secret.cmd", "shell.output"];
    assert_eq!(expensive, expected);
}

#[test]
fn only_the_clock_is_kept_out_of_contracts() {
    assert_eq!(paths(|it| !it.repeatable), ["time.now"]);
}

#[test]
fn exactly_the_command_arguments_are_compiled_as_shell_text() {
    let shell: Vec<_> = params().filter(|(_, param)| param.shell).map(|(at, _)| at).collect();
    assert_eq!(shell, ["@shell.output(cmd)", "@secret.cmd(cmd)", "@shell(cmd)", "@shell(check)"]);
}

#[test]
fn capabilities_are_listed_once_and_in_order() {
    for descriptor in BUILT_IN {
        let capabilities = descriptor.capabilities;
        assert!(capabilities.is_sorted_by(|before, after| before < after), "@{}", descriptor.path);
    }
}
