//! The templates of packages in code: `crates/opal-plugin-api/templates`, packed into the binary.

use miniz_oxide::inflate::decompress_to_vec;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/templates.packed"));

const LENGTHS: &[(&str, usize)] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// The files of a package, with their paths.
pub(super) fn package(
    language: &str,
    kind: &str,
    name: &str,
    segment: &str,
) -> Vec<(String, String)> {
    let world = format!("{kind}s");
    let of = |path: &str| format!("templates/{language}/{path}");
    let mut parts = vec![
        ("README.md", vec!["templates/README.md".to_owned()]),
        (".gitignore", vec!["templates/gitignore".to_owned()]),
        ("dim.yaml", vec![format!("templates/{kind}/dim.yaml")]),
        ("wit/plugin.wit", vec!["wit/plugin.wit".to_owned()]),
        ("build.sh", vec![of("build.sh")]),
    ];
    let tests = format!("tests/{kind}.yaml");
    parts.push((&tests, vec![format!("templates/{kind}/tests.yaml")]));
    match language {
        "rust" => {
            parts.push(("Cargo.toml", vec![of("cargo.toml")]));
            parts.push(("src/lib.rs", vec![of("head.rs"), of(&format!("{kind}.rs"))]));
        }
        "javascript" => parts.push(("src/plugin.js", vec![of(&format!("{kind}.js"))])),
        "python" => parts.push(("src/plugin.py", vec![of(&format!("{kind}.py"))])),
        _ => {
            parts.push(("src/plugin.c", vec![of(&format!("{kind}.c"))]));
            parts.push(("src/json.h", vec![of("json.h")]));
            parts.push(("component.mjs", vec![of("component.mjs")]));
            parts.push(("src/opal.c", vec![of("opal.c")]));
            parts.push(("src/opal.h", vec![of("opal.h")]));
        }
    }
    let all = texts();
    let text = |path: &String| all.iter().find(|(name, _)| name == path).map_or("", |(_, it)| it);
    let shown = match language {
        "rust" => "Rust",
        "javascript" => "JavaScript",
        "python" => "Python",
        _ => "C",
    };
    let filled = |text: &str| {
        text.replace("__NAME__", name)
            .replace("__SEGMENT__", segment)
            .replace("__WORLD__", &world)
            .replace("__LANGUAGE__", shown)
    };
    let toml = format!(
        "[package]\nname = \"local/{name}\"\nversion = \"0.1.0\"\n\n[plugins]\nwasm = \"plugins/{name}.wasm\"\n\n\
         [build]\ncommand = \"sh build.sh\"\n"
    );
    let file = |(path, parts): (&str, Vec<String>)| {
        let whole: String = parts.iter().map(text).collect();
        (path.to_owned(), filled(&whole))
    };
    let mut files: Vec<(String, String)> = parts.into_iter().map(file).collect();
    files.push(("opal.toml".to_owned(), toml));
    files.sort();
    files
}

/// All templates, unpacked.
fn texts() -> Vec<(&'static str, String)> {
    let all = decompress_to_vec(PACKED).unwrap_or_default();
    let mut all = String::from_utf8(all).unwrap_or_default();
    let one = |(name, length): &(&'static str, usize)| {
        let rest = all.split_off((*length).min(all.len()));
        (*name, std::mem::replace(&mut all, rest))
    };
    LENGTHS.iter().map(one).collect()
}
