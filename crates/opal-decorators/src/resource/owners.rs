//! Users and groups, by name or number.

use std::io::Read;
use std::path::Path;

use opal_core::resolver::{Ask, Links, MAX_VALUE_BYTES, Probe, Trouble, TroubleKind};

pub(super) fn user(name: &str, probe: &dyn Probe) -> Result<u32, Trouble> {
    number(name, "user", "passwd", probe)
}

pub(super) fn group(name: &str, probe: &dyn Probe) -> Result<u32, Trouble> {
    number(name, "group", "group", probe)
}

/// The file of the machine is asked first, which needs no process; then all its other databases.
fn number(name: &str, what: &str, database: &str, probe: &dyn Probe) -> Result<u32, Trouble> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let is_name = !name.is_empty() && !name.starts_with('-') && !name.contains([':', '\0', '\n']);
    let known = is_name.then(|| in_file(name, database, probe));
    let asked = || if is_name { in_databases(name, database, probe) } else { Ok(None) };
    known.flatten().map_or_else(asked, |number| Ok(Some(number)))?.ok_or_else(|| {
        Trouble::new(
            TroubleKind::Missing,
            format!("unknown {what} `{name}`"),
            format!("create the {what} first, or give its number"),
        )
    })
}

/// None as well where the file cannot be read.
fn in_file(name: &str, database: &str, probe: &dyn Probe) -> Option<u32> {
    let file = probe.read(&Path::new("/etc").join(database), Links::Followed).ok()?;
    let mut text = Vec::new();
    file.take(MAX_VALUE_BYTES).read_to_end(&mut text).ok()?;
    line_of(name, &String::from_utf8_lossy(&text))
}

fn in_databases(name: &str, database: &str, probe: &dyn Probe) -> Result<Option<u32>, Trouble> {
    match probe.ask(&Ask::program(&["getent", database, name])) {
        Ok(answer) => Ok(line_of(name, answer.stdout.expose())),
        Err(trouble) if trouble.kind == TroubleKind::Missing => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

/// `name:password:number:…`, in both databases.
fn line_of(name: &str, text: &str) -> Option<u32> {
    let of_line = |line: &str| {
        let mut fields = line.split(':');
        fields.next().filter(|first| *first == name)?;
        fields.nth(1)?.parse().ok()
    };
    text.lines().find_map(of_line)
}

#[cfg(test)]
mod tests {
    use opal_core::Secret;
    use opal_core::resolver::Answer;

    use super::*;
    use opal_testing::{Asked, MemoryWorld};

    fn answer(code: i32, stdout: &str) -> Answer {
        Answer { code, stdout: Secret::new(stdout), stderr: Secret::new("") }
    }

    fn world() -> MemoryWorld {
        MemoryWorld::default()
            .file("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nweb:x:33:33::/:/bin/false\n")
            .answer("getent passwd ann", answer(0, "ann:*:70001:70001::/home/ann:/bin/sh\n"))
            .answer("getent group web", answer(0, "web:x:34:\n"))
            .answer("getent passwd bob", answer(2, ""))
    }

    #[test]
    fn a_name_is_looked_up_in_the_file_and_then_everywhere() {
        let world = world();
        assert_eq!(user("web", &world).unwrap(), 33);
        assert!(!world.asked().iter().any(|it| matches!(it, Asked::Ask(_))));
        assert_eq!(user("ann", &world).unwrap(), 70_001);
        assert_eq!(group("web", &world).unwrap(), 34);
        assert_eq!(user("1234", &MemoryWorld::default()).unwrap(), 1234);
    }

    #[test]
    fn a_name_that_nobody_has_is_named() {
        for name in ["bob", "nobody-here", "-x", "a:b", ""] {
            let trouble = user(name, &world()).unwrap_err();
            assert_eq!(trouble.kind, TroubleKind::Missing);
            assert_eq!(trouble.message, format!("unknown user `{name}`"));
        }
    }
}
