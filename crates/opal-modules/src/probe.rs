//! Probes: what a module is seen by once it runs. Each only reads.

use std::fmt;

/// One question to the world, and how long to wait for the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    pub name: String,
    pub kind: ProbeKind,
    pub target: Vec<Part>,
    /// A text that the answer must hold.
    pub contains: Option<String>,
    /// After an apply; `verify` asks once.
    pub attempts: u32,
    pub delay_s: u32,
    /// Of one attempt.
    pub timeout_s: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// An address answers with success.
    Http,
    /// A port takes connections.
    Tcp,
    /// A file exists.
    File,
}

impl ProbeKind {
    pub const ALL: [Self; 3] = [Self::File, Self::Http, Self::Tcp];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Tcp => "tcp",
            Self::File => "file",
        }
    }
}

/// A part of what is probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    /// `{inputs.network.host}`.
    Input(String),
    /// `{outputs.url}`.
    Output(String),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Input(path) => write!(f, "{{inputs.{path}}}"),
            Self::Output(name) => write!(f, "{{outputs.{name}}}"),
        }
    }
}

/// A text in parts; else what its braces hold.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, &str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, following) = after.split_once('}').ok_or(after)?;
        parts.extend((!before.is_empty()).then(|| Part::Text(before.to_owned())));
        parts.push(match name.split_once('.') {
            Some(("inputs", path)) if path.split('.').all(is_name) => Part::Input(path.to_owned()),
            Some(("outputs", output)) if output.split('.').all(is_name) => {
                Part::Output(output.to_owned())
            }
            _ => return Err(name),
        });
        rest = following;
    }
    if let Some((_, following)) = rest.split_once('}') {
        return Err(following);
    }
    parts.extend((!rest.is_empty()).then(|| Part::Text(rest.to_owned())));
    Ok(parts)
}

/// `host:port`; an address of IPv6 is in brackets.
pub(super) fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = bare.unwrap_or(host);
    let is_host = !host.is_empty() && (bare.is_some() || !host.contains([':', '/', ' ']));
    Some((host, port.parse().ok().filter(|port| *port > 0)?)).filter(|_| is_host)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_a_host_and_a_number() {
        assert_eq!(host_and_port("db.example:5432"), Some(("db.example", 5432)));
        assert_eq!(host_and_port("[::1]:80"), Some(("::1", 80)));
        for wrong in ["db", ":80", "a:", "a:0", "a:70000", "::1:80", "http://a:80", "a b:1"] {
            assert_eq!(host_and_port(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_target_is_text_inputs_and_outputs_and_nothing_else() {
        let shown = |text: &str| {
            let parts = parts(text).map_err(str::to_owned)?;
            Ok::<_, String>(parts.iter().map(ToString::to_string).collect::<String>())
        };
        for text in ["http://a", "{inputs.a.b-c}:{outputs.p}/x", "{outputs.cap.db}", ""] {
            assert_eq!(shown(text), Ok(text.to_owned()));
        }
        assert_eq!(parts("{inputs.a}:{outputs.p}/x").unwrap().len(), 4);
        for wrong in ["{a}", "{inputs}", "{inputs.}", "{inputs.a", "a}", "{{inputs.a}}", "{env.A}"]
        {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
    }
}
