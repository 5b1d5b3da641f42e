//! The packages that are asked for, known to be names and nothing else to every manager.

use opal_core::Data;
use opal_core::resolver::{Inputs, Trouble, TroubleKind};

use super::manager::Manager;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) version: Option<String>,
}

/// Each once, in the order in which they are named.
pub(super) fn read(inputs: &Inputs, manager: Manager) -> Result<Vec<Wanted>, Trouble> {
    let Some(Data::Array(items)) = inputs.data("packages") else { return Ok(Vec::new()) };
    let mut all: Vec<Wanted> = Vec::with_capacity(items.len());
    for item in items.iter().filter_map(Data::as_text) {
        let wanted = Wanted::new(item, manager)?;
        match all.iter().find(|it| it.name == wanted.name) {
            None => all.push(wanted),
            Some(same) if *same == wanted => {}
            Some(_) => return Err(twice(&wanted.name)),
        }
    }
    Ok(all)
}

impl Wanted {
    fn new(text: &str, manager: Manager) -> Result<Self, Trouble> {
        let (name, version) = match text.split_once('=') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        if !is_word(name, manager.punctuation()) || name.ends_with('-') {
            return Err(no_name(text, manager));
        }
        if version.is_some_and(|version| !is_word(version, "+.:~^_-")) {
            return Err(no_name(text, manager));
        }
        Ok(Self { name: name.to_owned(), version: version.map(str::to_owned) })
    }
}

/// Begins with a letter or a digit, so no program takes it for an option; and none of the signs
/// that make a manager look for more than one package, or remove one.
fn is_word(text: &str, punctuation: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || punctuation.contains(c))
}

fn no_name(text: &str, manager: Manager) -> Trouble {
    let message = format!("invalid package name `{text}` for `{}`", manager.program());
    let help = "write `name` or `name=version`, without patterns, groups and options";
    Trouble::new(TroubleKind::Invalid, message, help)
}

fn twice(name: &str) -> Trouble {
    let message = format!("`{name}` is given twice, in different versions");
    Trouble::new(TroubleKind::Invalid, message, "remove one of them")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_texts(texts: &[&str], manager: Manager) -> Result<Vec<Wanted>, Trouble> {
        let items = texts.iter().map(|text| Data::text(*text)).collect();
        let mut inputs = Inputs::default();
        inputs.args.insert("packages", opal_core::resolver::Input::Data(Data::Array(items)));
        read(&inputs, manager)
    }

    #[test]
    fn names_and_versions_of_every_manager_are_understood() {
        for (text, manager) in [
            ("g++", Manager::Apt),
            ("libc6:i386", Manager::Apt),
            ("nginx=1.22.1-9+deb12u1~bpo", Manager::Apt),
            ("vim=2:9.0.1378-2", Manager::Apt),
            ("java-17-openjdk.x86_64=1:17.0.9-2.el9", Manager::Dnf),
            ("py3-pip=23.1.2-r0", Manager::Apk),
            ("user/tap/python@3.12", Manager::Brew),
        ] {
            let wanted = read_texts(&[text], manager).unwrap();
            let (name, version) = text.split_once('=').unwrap_or((text, ""));
            assert_eq!(wanted[0].name, name);
            assert_eq!(wanted[0].version.as_deref().unwrap_or_default(), version);
        }
    }

    #[test]
    fn nothing_becomes_an_option_a_pattern_a_group_or_a_removal() {
        for text in [
            "",
            "-y",
            "--help",
            "nginx*",
            "nginx?",
            "nginx-",
            "~nstate",
            "?installed",
            "task^",
            "@core",
            "nginx/sid",
            "./local.deb",
            "/tmp/local.deb",
            "a b",
            "a;b",
            "!nginx",
            "a\nb",
            "nginx=",
            "nginx=-1",
            "nginx=1 2",
            "nginx=*",
            "nginx>1",
            "näh",
        ] {
            for manager in [Manager::Apt, Manager::Dnf, Manager::Apk, Manager::Pacman] {
                let trouble = read_texts(&[text], manager).expect_err(text);
                assert_eq!(trouble.kind, TroubleKind::Invalid, "{text}");
            }
        }
    }

    #[test]
    fn a_name_is_asked_for_once() {
        let wanted = read_texts(&["a", "b", "a"], Manager::Apt).unwrap();
        assert_eq!(wanted.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["a", "b"]);
        let trouble = read_texts(&["a=1", "a=2"], Manager::Apt).unwrap_err();
        assert!(trouble.message.contains("`a` is given twice"), "{}", trouble.message);
    }
}
