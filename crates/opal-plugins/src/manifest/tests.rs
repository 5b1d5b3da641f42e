//! Manifests: every keyword, and every way in which one is refused. The pages of the errors have more.

use opal_core::decorator::{Block, Cost, Effect, Exposure, Presence, Role};
use opal_core::{Registry, Type, Value};

use super::*;
use crate::package::Mode;

const TOML: &str =
    "[package]\nname = \"acme/house\"\nversion = \"1.0.0\"\n[plugins]\nwasm = \"plugins/a.wasm\"\n";
const HEAD: &str = "x-opal-plugin: {name: acme/house, version: 1.0.0}\nx-opal-decorators:\n";

fn package(files: &[(&str, &str)]) -> Package {
    let mut package = Package::default();
    for (path, text) in files {
        package.add(path.parse().unwrap(), Mode::Plain, text.as_bytes().to_vec()).unwrap();
    }
    package
}

fn built_in() -> Registry {
    opal_decorators::registry()
}

/// A package with these decorators in its `dim.yaml`.
fn dim(decorators: &str) -> Result<Manifest, Vec<Faulty>> {
    let text = format!("{HEAD}{decorators}");
    Manifest::read(
        &package(&[("opal.toml", TOML), ("dim.yaml", &text), ("plugins/a.wasm", "")]),
        &built_in(),
    )
}

fn codes(read: Result<Manifest, Vec<Faulty>>) -> Vec<&'static str> {
    let faulty = read.err().into_iter().flatten();
    let all = faulty.flat_map(|it| it.diagnostics).map(|it| {
        assert!(!it.help.is_empty(), "{}", it.message);
        it.code.as_str()
    });
    all.collect()
}

/// One parameter with this schema.
fn param(schema: &str) -> Result<Manifest, Vec<Faulty>> {
    dim(&format!("  - name: house.x\n    params: {{properties: {{p: {schema}}}}}\n"))
}

#[test]
fn a_manifest_asks_for_64_to_512_mib() {
    let read = |memory: &str| {
        let head = HEAD.replace("1.0.0}", &format!("1.0.0{memory}}}"));
        let text = format!("{head}  - name: house.x\n");
        let files = [("opal.toml", TOML), ("dim.yaml", &*text), ("plugins/a.wasm", "")];
        Manifest::read(&package(&files), &built_in())
    };
    for (memory, mib) in [("", 64), (", memory_mib: 64", 64), (", memory_mib: 512", 512)] {
        assert_eq!(read(memory).unwrap().memory_mib, mib);
    }
    for memory in
        [", memory_mib: 63", ", memory_mib: 513", ", memory_mib: -1", ", memory_mib: 1 GB"]
    {
        assert_eq!(codes(read(memory)), ["E1305"], "{memory}");
    }
}

#[test]
fn each_schema_becomes_a_type_of_the_language() {
    for (schema, expected) in [
        ("{type: string}", Type::String),
        ("{type: integer}", Type::Int),
        ("{type: number}", Type::Float),
        ("{type: boolean}", Type::Bool),
        ("{type: string, x-opal-duration: true}", Type::Duration),
        ("{type: string, format: ipv4}", Type::String),
        ("{type: string, x-opal-format: semver}", Type::String),
        ("{type: array, items: {type: integer}}", Type::array(Type::Int)),
        ("{type: [string, \"null\"]}", Type::Any),
    ] {
        let found = param(schema).unwrap();
        assert_eq!(found.decorators[0].descriptor.params[0].ty, expected, "{schema}");
    }
    let choice = param("{enum: [a, b]}").unwrap();
    assert_eq!(choice.decorators[0].descriptor.params[0].ty.to_string(), "\"a\" | \"b\"");
    let map = param("{type: object, additionalProperties: {type: integer}}").unwrap();
    let expected = Type::Map(opal_core::types::TypeRef::Static(&Type::Int));
    assert_eq!(map.decorators[0].descriptor.params[0].ty, expected);
}

#[test]
fn values_are_held_against_all_that_a_schema_says() {
    use opal_core::parameter::check;
    let text = |text: &str| Value::String(text.to_owned().into());
    let map = |fields: &[(&str, Value)]| {
        Value::Map(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    };
    let union = "{x-opal-union: {discriminator: type, cases: {ssh: {properties: {type: {const: ssh, type: string}, \
                 user: {type: string}}, required: [type, user]}, ssm: {properties: {profile: {type: string}}}}}}";
    for (schema, value, fits) in [
        ("{type: string, pattern: \"^[a-z]+$\"}", text("abc"), true),
        ("{type: string, pattern: \"^[a-z]+$\"}", text("a1"), false),
        ("{type: string, pattern: \"b\"}", text("abc"), true),
        ("{type: string, minLength: 2, maxLength: 3}", text("ä"), false),
        ("{type: string, minLength: 2, maxLength: 3}", text("äö"), true),
        ("{type: integer, minimum: 1, maximum: 3}", Value::Int(4), false),
        ("{type: number, minimum: 0.5}", Value::Float(0.25), false),
        ("{type: number, minimum: 0.5}", Value::Float(1.0), true),
        ("{type: number}", Value::Int(1), false),
        ("{type: string}", Value::Int(1), false),
        ("{type: string, format: ipv4}", text("10.0.0.256"), false),
        ("{type: string, format: cidr}", text("10.0.0.0/8"), true),
        ("{type: string, format: cidr}", text("10.0.0.0/33"), false),
        ("{type: string, format: hostname}", text("a.example"), true),
        ("{type: string, format: hostname}", text("-a"), false),
        ("{type: string, format: uri}", text("no uri"), false),
        ("{type: string, format: date-time}", text("2026-01-01T00:00:00Z"), true),
        ("{type: string, format: date-time}", text("yesterday"), false),
        ("{type: string, x-opal-format: semver}", text("1.2"), false),
        ("{enum: [a, b]}", text("c"), false),
        (
            "{type: array, items: {type: integer, maximum: 2}}",
            Value::Array(vec![Value::Int(3)]),
            false,
        ),
        ("{type: object, additionalProperties: {type: integer}}", map(&[("a", text("x"))]), false),
        ("{type: object, properties: {a: {type: integer}}, required: [a]}", map(&[]), false),
        ("{type: object, properties: {a: {type: integer}}}", map(&[("b", Value::Int(1))]), false),
        (
            "{type: object, properties: {a: {type: integer}}, required: [a]}",
            map(&[("a", Value::Int(1))]),
            true,
        ),
        (union, map(&[("type", text("ssh")), ("user", text("me"))]), true),
        (union, map(&[("type", text("ssh"))]), false),
        (union, map(&[("type", text("ftp"))]), false),
        (union, map(&[("type", text("ssm")), ("user", text("me"))]), false),
        (union, map(&[]), false),
        ("{type: [integer, \"null\"]}", Value::Null, true),
        ("{type: integer}", Value::Null, false),
    ] {
        let found = param(schema).unwrap_or_else(|it| panic!("{schema}: {it:?}"));
        let checked = check(&found.decorators[0].descriptor.params[0], &value);
        assert_eq!(checked.is_ok(), fits, "{schema} {value}: {checked:?}");
    }
}

#[test]
fn what_opal_would_not_check_is_refused() {
    for schema in [
        "{oneOf: [{type: string}]}",
        "{anyOf: [{type: string}]}",
        "{allOf: [{type: string}]}",
        "{type: array, prefixItems: [{type: string}], items: {type: string}}",
        "{type: [string, integer]}",
        "{type: string, $ref: \"#/$defs/a\"}",
        "{$ref: \"other.yaml#/a\"}",
        "{type: string, minimum: 1}",
        "{type: integer, pattern: a}",
        "{type: integer, multipleOf: 2}",
        "{type: object, properties: {}, additionalProperties: true}",
        "{type: object, properties: {a: {type: string}}, patternProperties: {}}",
        "{type: string, format: email}",
        "{type: string, x-opal-format: ipv4}",
    ] {
        assert_eq!(codes(param(schema)), ["E1306"], "{schema}");
    }
    for schema in [
        "{type: text}",
        "{type: string, pattern: \"(\"}",
        "{type: string, pattern: \"(?=a)\"}",
        "{type: integer, default: a}",
        "{type: integer, maximum: 3, default: 4}",
        "{type: integer, minimum: \"1\"}",
        "{type: object, properties: {a: {type: string}}, required: [b]}",
        "{enum: a}",
        "{$ref: \"#/$defs/none\"}",
    ] {
        assert_eq!(codes(param(schema)), ["E1305"], "{schema}");
    }
}

#[test]
fn a_decorator_is_what_its_manifest_says() {
    let found = dim("  - name: house.read\n    summary: read it\n    description: all of it\n\
                     \x20   params:\n      type: object\n      additionalProperties: false\n\
                     \x20     properties:\n        to: {type: string, default: x, description: where}\n\
                     \x20       key: {type: string, x-opal-secret: true}\n      required: [key]\n\
                     \x20   returns: {$id: r, version: 1.2.0, type: object, properties: {size: {type: integer}}, required: [size]}\n\
                     \x20   x-opal-capabilities: [\"net:house.example\", clock]\n\
                     \x20   examples: [{title: one, source: \"echo @house.read(\\\"a\\\")\"}]\n\
                     \x20 - name: house.wrap\n    x-opal-block: required\n    x-opal-attempts: 3\n\
                     \x20 - name: house.text\n    x-opal-block: text\n\
                     \x20 - name: house.put\n    x-opal-io: {redirect_out: true}\n\
                     \x20 - name: house.on\n    x-opal-block: required\n    x-opal-transport: true\n\
                     \x20 - name: house.token\n    returns: {version: 1.0.0, type: string, x-opal-secret: true}\n\
                     \x20 - name: house.state\n    params: {properties: {name: {type: string}}, required: [name]}\n\
                     \x20   x-opal-resource: {key: [name], yaml: house_state}\n");
    let found = found.unwrap_or_else(|it| panic!("{it:?}"));
    let of = |path: &str| &found.decorators.iter().find(|it| it.path == path).unwrap().descriptor;
    let read = of("house.read");
    assert_eq!(read.roles(), [Role::Value]);
    assert_eq!(
        (read.effect, read.cost, read.exposure),
        (Effect::Read, Cost::Expensive, Exposure::Plain)
    );
    // What must be given comes first.
    let names: Vec<&str> = read.params.iter().map(|param| param.name).collect();
    assert_eq!(names, ["key", "to"]);
    assert!(matches!(read.params[1].presence, Presence::Default(_)));
    assert!(read.params[0].shape.is_some_and(|shape| shape.secret));
    assert_eq!(of("house.wrap").roles(), [Role::Wrapper]);
    assert_eq!(of("house.text").block, Block::Text);
    assert_eq!(of("house.put").roles(), [Role::Endpoint]);
    assert_eq!(of("house.on").roles(), [Role::Wrapper, Role::Boundary]);
    assert_eq!(of("house.token").exposure, Exposure::Secret);
    assert_eq!(of("house.state").roles(), [Role::Resource]);
    let capabilities: Vec<String> = found.capabilities.iter().map(ToString::to_string).collect();
    assert_eq!(capabilities, ["net:house.example", "clock"]);
}

#[test]
fn a_manifest_that_is_not_understood_is_refused() {
    for (decorators, code) in [
        ("  - name: house.x\n    x-opal-block: maybe\n", "E1305"),
        ("  - name: house.x\n    x-opal-effect: write\n", "E1305"),
        ("  - name: house.x\n    x-opal-cost: free\n", "E1305"),
        ("  - name: house.x\n    x-opal-transport: true\n", "E1305"),
        ("  - name: house.x\n    x-opal-resource: {key: [none]}\n", "E1305"),
        ("  - name: house.x\n    x-opal-io: {redirect: true}\n", "E1302"),
        ("  - name: house.x\n    returns: {type: string}\n", "E1304"),
        ("  - name: house.x\n    kind: exec\n", "E1302"),
        ("  - name: house.x\n    params: {properties: {\"a b\": {type: string}}}\n", "E1305"),
        ("  - name: House.x\n", "E1307"),
        ("  - name: house\n", "E1307"),
        ("  - name: house.x\n  - name: house.x\n", "E1309"),
        ("  - name: house.x\n  - name: garden.x\n", "E1309"),
        ("  - name: house.x\n    x-opal-capabilities: [\"ask:/bin/sh\"]\n", "E1308"),
    ] {
        assert_eq!(codes(dim(decorators)), [code], "{decorators}");
    }
    for (toml, code) in [
        ("", "E1304"),
        ("[package]\nname = \"house\"\nversion = \"1.0.0\"\n", "E1305"),
        ("[package]\nname = \"acme/house\"\nversion = \"1\"\n", "E1305"),
        ("[package]\nname = \"acme/house\"\nversion = 1\n", "E1305"),
        ("[package]\nname = \"acme/house\"\nversion = \"1.0.0\"\nscripts = []\n", "E1302"),
        ("[package]\nname = \"a/b\"\nname = \"a/c\"\nversion = \"1.0.0\"\n", "E1303"),
        ("[package\n", "E1301"),
        ("[package]\nname = \"a/b\"\nversion = \"1.0.0\"\n[plugins]\nwasm = \"../x\"\n", "E1305"),
        (
            "[package]\nname = \"a/b\"\nversion = \"1.0.0\"\n[plugins]\nwasm = \"plugins/x\"\n",
            "E1309",
        ),
        ("[package]\nname = \"a/b\"\nversion = \"1.0.0\"\n[dependencies]\nx = \"1\"\n", "E1305"),
        (
            "[package]\nname = \"a/b\"\nversion = \"1.0.0\"\n[dependencies]\n\"x/y\" = \"*\"\n",
            "E1305",
        ),
    ] {
        let files = [("opal.toml", toml), ("decorators/a.opl", "fun house.a() = id\n")];
        assert_eq!(codes(Manifest::read(&package(&files), &built_in())), [code], "{toml}");
    }
    assert_eq!(codes(Manifest::read(&package(&[]), &built_in())), ["E1309"]);
}

#[test]
fn a_source_that_cannot_be_read_is_refused() {
    for source in [
        "fun house.a( {\n",
        "fun house.a() {\n",
        "fun house.a(x: ) = id\n",
        "fun house.a() { echo \"x }\n",
        "fun house.a() = id\nfun helper( {\n",
    ] {
        let toml = "[package]\nname = \"acme/house\"\nversion = \"1.0.0\"\n";
        let files = [("opal.toml", toml), ("decorators/a.opl", source)];
        let faulty = Manifest::read(&package(&files), &built_in()).unwrap_err();
        assert_eq!(faulty[0].diagnostics[0].code.as_str(), "E1301", "{source}");
    }
}

#[test]
fn comments_and_signatures_are_the_manifest_of_what_is_written_in_opal() {
    let source = "# Check a house.\n#\n# All of it, or one room.\n# room: where to look\n\
                  fun house.check(room: String, times = 2, deep: Bool = @var.d) = id\nvar d = true\n";
    let toml = "[package]\nname = \"acme/house\"\nversion = \"1.0.0\"\n";
    let files = [("opal.toml", toml), ("decorators/deep/a.opl", source)];
    let found = Manifest::read(&package(&files), &built_in()).unwrap_or_else(|it| panic!("{it:?}"));
    let check = &found.decorators[0].descriptor;
    assert_eq!((check.summary, check.docs), ("Check a house", "All of it, or one room."));
    assert_eq!(check.params[0].docs, "where to look");
    assert_eq!(check.params[1].ty, Type::Int);
    assert!(matches!(check.params[2].presence, Presence::Optional));
    assert_eq!(found.shell_lines[0].line, 5);
}

/// Programs run what such variables hold, so whoever may set one can do what the user can do.
#[test]
fn a_variable_that_programs_run_is_as_much_as_a_shell() {
    let asking = |name: &str| {
        let one = format!(
            "- name: house.x\n  x-opal-block: required\n  x-opal-capabilities:\n  - set:{name}\n"
        );
        dim(&one).unwrap_or_else(|it| panic!("{it:?}"))
    };
    for name in [
        "LD_PRELOAD",
        "PATH",
        "BASH_ENV",
        "NODE_OPTIONS",
        "JAVA_TOOL_OPTIONS",
        "GIT_SSH_COMMAND",
        "GIT_AUTHOR_NAME",
        "SSH_AUTH_SOCK",
        "PYTHONSTARTUP",
    ] {
        let found = asking(name);
        assert!(found.capabilities.contains(&Capability::Shell), "{name}");
        let line = &found.shell_lines[0];
        let expected = format!("- set:{name}");
        assert_eq!((line.file.as_str(), line.line, &line.text), ("dim.yaml", 6, &expected));
    }
    for name in ["VAULT_ADDR", "KUBECONFIG", "AWS_PROFILE", "MY_PATH"] {
        let found = asking(name);
        assert!(!found.capabilities.contains(&Capability::Shell), "{name}");
        assert!(found.shell_lines.is_empty(), "{name}");
    }
}

#[test]
fn a_decorator_that_could_take_secrets_to_a_target_has_the_parameter_that_allows_it() {
    let one = |params: &str, capabilities: &str| {
        dim(&format!(
            "- name: house.x\n  x-opal-effect: act\n  params: {{properties: {{{params}}}}}\n  \
             x-opal-capabilities: [{capabilities}]\n"
        ))
    };
    let has = |params: &str, capabilities: &str| {
        let found = one(params, capabilities).unwrap_or_else(|it| panic!("{it:?}"));
        let params = found.decorators[0].descriptor.params;
        params.iter().any(|param| param.name == "to_target")
    };
    let secret = "token: {type: string, x-opal-secret: true}";
    assert!(has(secret, "\"run:psql\"") && has(secret, "\"ask:psql -l\""));
    assert!(!has(secret, "\"net:a.example\"") && !has("token: {type: string}", "\"run:psql\""));
    // Nobody else gives it another meaning.
    assert_eq!(codes(one("to_target: {type: boolean, default: true}", "")), ["E1305"]);
}
