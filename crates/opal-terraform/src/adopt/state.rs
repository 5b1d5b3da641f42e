//! State files of Terraform and OpenTofu, version 4. They are only read.

mod numbers;
mod order;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use opal_core::data::{Data, Secret, json};
use opal_core::protocol::line;
use opal_core::wiped::Wiped;

/// The size of a file, at most.
pub const MAX_BYTES: u64 = 64 << 20;

/// What opal makes of a file.
#[derive(Clone, Debug, Default)]
pub struct StateFile {
    pub objects: Vec<Managed>,
    /// Names of outputs, sorted.
    pub outputs: Vec<String>,
    /// Objects that a failed replacement has left, by their addresses.
    pub deposed: Vec<String>,
    /// Addresses of data sources: they are read again each time.
    pub data: Vec<String>,
}

/// One object that Terraform manages.
#[derive(Clone, Debug)]
pub struct Managed {
    /// `module.net.aws_vpc.main["a"]`.
    pub address: String,
    /// The type: `aws_vpc`.
    pub of: String,
    /// The name in the configuration: `main`.
    pub name: String,
    pub version: i64,
    /// A JSON document.
    pub attributes: Secret,
    pub identity: Option<Data>,
    /// Paths that the configuration called sensitive.
    pub sensitive: Vec<String>,
    pub is_tainted: bool,
    /// Its address without keys, and those of what it depends on.
    pub place: String,
    pub after: Vec<String>,
}

impl Managed {
    /// The texts in its attributes at these paths, or below them.
    #[must_use]
    pub fn texts_of(&self, paths: &[&String]) -> Vec<Secret> {
        fn walk(data: &Data, path: &str, is_in: bool, paths: &[&String], found: &mut Vec<Secret>) {
            let is_in = is_in || paths.iter().any(|it| *it == path);
            match data {
                Data::Text(text) if is_in => found.push(text.clone()),
                Data::Array(items) => {
                    for (at, item) in items.iter().enumerate() {
                        walk(item, &format!("{path}[{at}]"), is_in, paths, found);
                    }
                }
                Data::Map(fields) => {
                    // A value whose type the schema leaves open has its type beside it.
                    if let (2, Some(value), Some(_)) =
                        (fields.len(), fields.get("value"), fields.get("type"))
                    {
                        walk(value, path, is_in, paths, found);
                    }
                    let dot = if path.is_empty() { "" } else { "." };
                    for (name, item) in fields {
                        walk(item, &format!("{path}{dot}{name}"), is_in, paths, found);
                    }
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        if paths.is_empty() {
            return found;
        }
        let long = numbers::hidden(self.attributes.expose());
        let attributes = long.as_ref().and_then(|it| std::str::from_utf8(it).ok());
        let attributes = json::read(attributes.unwrap_or(self.attributes.expose()));
        if let Ok(attributes) = attributes {
            walk(&attributes, "", false, paths, &mut found);
        }
        found.retain(|text| !text.expose().is_empty());
        found
    }
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    Io(std::io::ErrorKind),
    TooLarge,
    /// Line, column and reason, never the content.
    NotJson(usize, usize, String),
    Encrypted,
    Version(Option<i64>),
    Malformed(&'static str),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(kind) => write!(f, "cannot be read: {kind}"),
            Self::TooLarge => write!(f, "is larger than 64 MiB"),
            Self::NotJson(line, column, why) => {
                write!(f, "is not JSON: line {line}, column {column}: {why}")
            }
            Self::Encrypted => {
                write!(f, "is encrypted: decrypt it first, with `tofu state pull`")
            }
            Self::Version(Some(version)) => {
                write!(f, "has version {version}, and opal reads version 4")
            }
            Self::Version(None) => write!(f, "is not a state file: it has no `version`"),
            Self::Malformed(what) => write!(f, "is not a state file: {what}"),
        }
    }
}

/// Reads a file.
pub fn open(path: &Path) -> Result<StateFile, Unreadable> {
    let io = |error: std::io::Error| Unreadable::Io(error.kind());
    let mut bytes = Wiped::new(Vec::new());
    let file = File::open(path).map_err(io)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Unreadable::TooLarge);
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| Unreadable::Malformed("not UTF-8"))?;
    read(text)
}

/// Reads a document.
pub fn read(text: &str) -> Result<StateFile, Unreadable> {
    let long = numbers::hidden(text);
    let text = long.as_ref().and_then(|it| std::str::from_utf8(it).ok()).unwrap_or(text);
    let document =
        json::read(text).map_err(|it| Unreadable::NotJson(it.line, it.column, it.reason))?;
    let Data::Map(top) = document else { return Err(Unreadable::Version(None)) };
    if top.contains_key("encrypted_data") {
        return Err(Unreadable::Encrypted);
    }
    match top.get("version") {
        Some(Data::Int(4)) => {}
        Some(Data::Int(other)) => return Err(Unreadable::Version(Some(*other))),
        _ => return Err(Unreadable::Version(None)),
    }
    let mut file = StateFile::default();
    if let Some(Data::Map(outputs)) = top.get("outputs") {
        file.outputs = outputs.keys().cloned().collect();
    }
    let none = Vec::new();
    let resources = match top.get("resources") {
        Some(Data::Array(resources)) => resources,
        None | Some(Data::Null) => &none,
        Some(_) => return Err(Unreadable::Malformed("`resources` is not a list")),
    };
    for resource in resources {
        file.add(resource)?;
    }
    file.objects = order::ordered(file.objects);
    Ok(file)
}

type Fields = BTreeMap<String, Data>;

fn text(fields: &Fields, name: &str) -> Option<String> {
    fields.get(name).and_then(Data::as_text).map(str::to_owned)
}

impl StateFile {
    fn add(&mut self, resource: &Data) -> Result<(), Unreadable> {
        let malformed = Unreadable::Malformed;
        let Data::Map(fields) = resource else {
            return Err(malformed("a resource is not an object"));
        };
        let of = text(fields, "type").ok_or(malformed("a resource has no type"))?;
        let name = text(fields, "name").ok_or(malformed("a resource has no name"))?;
        let is_data = match fields.get("mode").and_then(Data::as_text) {
            Some("managed") => false,
            Some("data") => true,
            _ => return Err(malformed("a resource is neither managed nor data")),
        };
        let module = text(fields, "module").map(|module| format!("{module}."));
        let module = module.unwrap_or_default();
        let place = format!("{}{of}.{name}", order::without_keys(&module));
        let data = if is_data { "data." } else { "" };
        let Some(Data::Array(instances)) = fields.get("instances") else {
            return Err(malformed("a resource has no instances"));
        };
        for instance in instances {
            let Data::Map(instance) = instance else {
                return Err(malformed("an instance is not an object"));
            };
            let key = match instance.get("index_key") {
                None | Some(Data::Null) => String::new(),
                Some(Data::Int(number)) => format!("[{number}]"),
                Some(Data::Text(key)) => format!("[{:?}]", key.expose()),
                Some(_) => return Err(malformed("an instance has an invalid key")),
            };
            let address = format!("{module}{data}{of}.{name}{key}");
            if is_data {
                self.data.push(address);
            } else if instance.contains_key("deposed") {
                self.deposed.push(address);
            } else {
                self.objects.push(managed((address, &place), (&of, &name), instance)?);
            }
        }
        Ok(())
    }
}

fn managed(
    (address, place): (String, &str),
    (of, name): (&str, &str),
    instance: &Fields,
) -> Result<Managed, Unreadable> {
    let attributes = match instance.get("attributes") {
        Some(attributes @ Data::Map(_)) => numbers::shown(line::json(attributes)),
        _ => return Err(Unreadable::Malformed("an instance has no attributes")),
    };
    let version = match instance.get("schema_version") {
        Some(Data::Int(version)) => *version,
        None => 0,
        Some(_) => return Err(Unreadable::Malformed("an instance has an invalid version")),
    };
    let sensitive = match instance.get("sensitive_attributes") {
        Some(Data::Array(paths)) => paths.iter().filter_map(path).collect(),
        _ => Vec::new(),
    };
    Ok(Managed {
        address,
        of: of.to_owned(),
        name: name.to_owned(),
        version,
        attributes,
        identity: instance.get("identity").filter(|it| matches!(it, Data::Map(_))).cloned(),
        sensitive,
        is_tainted: instance.get("status").and_then(Data::as_text) == Some("tainted"),
        place: place.to_owned(),
        after: match instance.get("dependencies") {
            Some(Data::Array(all)) => {
                all.iter().filter_map(Data::as_text).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        },
    })
}

/// `[{"type": "get_attr", "value": "tags"}, …]` as `tags.x[0]`. What cannot be read covers all that is
/// before it.
fn path(steps: &Data) -> Option<String> {
    let Data::Array(steps) = steps else { return None };
    let mut path = String::new();
    for step in steps {
        let Data::Map(step) = step else { break };
        match (step.get("type").and_then(Data::as_text), step.get("value")) {
            (Some("get_attr"), Some(Data::Text(name))) => {
                let dot = if path.is_empty() { "" } else { "." };
                path = format!("{path}{dot}{}", name.expose());
            }
            (Some("index"), Some(value)) => {
                let value = match value {
                    Data::Map(typed) => typed.get("value").unwrap_or(value),
                    value => value,
                };
                match value {
                    Data::Int(number) => path = format!("{path}[{number}]"),
                    Data::Text(key) => path = format!("{path}.{}", key.expose()),
                    _ => break,
                }
            }
            _ => break,
        }
    }
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = r#"{"version": 4, "terraform_version": "1.12.0", "outputs": {"ip": {"value": "x"}},
        "resources": [
          {"mode": "managed", "type": "local_file", "name": "a", "provider": "x", "instances": [
            {"schema_version": 1, "attributes": {"content": "x"}, "index_key": "k\"1",
             "sensitive_attributes": [[{"type": "get_attr", "value": "tags"},
               {"type": "index", "value": {"value": "x", "type": "string"}}]], "status": "tainted"},
            {"index_key": 0, "deposed": "ab12", "attributes": {}}]},
          {"module": "module.m", "mode": "data", "type": "http", "name": "d", "instances": [{}]}]}"#;

    #[test]
    fn objects_outputs_data_and_what_was_left_are_distinguished() {
        let file = read(STATE).unwrap();
        let [one] = &file.objects[..] else { panic!("{file:?}") };
        assert_eq!(one.address, r#"local_file.a["k\"1"]"#);
        assert_eq!((one.version, one.is_tainted), (1, true));
        assert_eq!(one.sensitive, ["tags.x"]);
        assert_eq!(one.attributes.expose(), r#"{"content":"x"}"#);
        assert_eq!(file.outputs, ["ip"]);
        assert_eq!(file.deposed, ["local_file.a[0]"]);
        assert_eq!(file.data, ["module.m.data.http.d"]);
    }

    #[test]
    fn a_number_that_64_bits_cannot_hold_is_kept_as_it_is() {
        let state = r#"{"version": 4, "resources": [{"mode": "managed", "type": "a_b", "name": "c",
            "instances": [{"attributes": {"serial": 18446744073709551616, "text": "x"},
            "sensitive_attributes": [[{"type": "get_attr", "value": "text"}]]}]}]}"#;
        let file = read(state).unwrap();
        let [one] = &file.objects[..] else { panic!("{file:?}") };
        let expected = r#"{"serial":18446744073709551616,"text":"x"}"#;
        assert_eq!(one.attributes.expose(), expected);
        let texts = one.texts_of(&[&"text".to_owned()]);
        assert_eq!(texts.iter().map(Secret::expose).collect::<Vec<_>>(), ["x"]);
    }

    #[test]
    fn other_files_are_refused_without_what_they_hold() {
        for (text, why) in [
            ("canary", "is not JSON: line 1, column 1: expected a value"),
            ("[1]", "is not a state file: it has no `version`"),
            (r#"{"version": 3}"#, "has version 3, and opal reads version 4"),
            (
                r#"{"encrypted_data": "x"}"#,
                "is encrypted: decrypt it first, with `tofu state pull`",
            ),
            (
                r#"{"version": 4, "resources": {}}"#,
                "is not a state file: `resources` is not a list",
            ),
            (
                r#"{"version": 4, "resources": [{"type": "a", "name": "b", "mode": "c"}]}"#,
                "is not a state file: a resource is neither managed nor data",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), why, "{text}");
        }
    }
}
