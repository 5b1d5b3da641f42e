//! What the databases of users and groups say about an account, and what follows from it.

use std::io::Read as _;
use std::path::Path;

use opal_core::Data;
use opal_core::message::Reason;
use opal_core::resolver::{Inputs, Links, MAX_VALUE_BYTES, Probe, Trouble, TroubleKind};
use opal_core::resource::{Details, Finding};

use crate::resource::paths;
use crate::resource::programs::{Program, named, reason};
use crate::resource::properties::{Property, compared, differing};

#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) uid: Option<String>,
    pub(super) groups: Vec<String>,
    pub(super) home: Option<String>,
    pub(super) shell: Option<String>,
}

impl Wanted {
    /// What a new account gets: `uid 1500, home /srv/ann, groups adm,www`.
    fn given(&self) -> String {
        let groups = Some(self.groups.join(",")).filter(|groups| !groups.is_empty());
        let all =
            [("uid", &self.uid), ("home", &self.home), ("shell", &self.shell), ("groups", &groups)];
        let all =
            all.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
        let all = all.collect::<Vec<_>>().join(", ");
        if all.is_empty() { all } else { all + "\n" }
    }
}

/// What there is of an account.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) user: Option<User>,
    /// Who else has the wanted number.
    pub(super) uid_of: Option<String>,
    /// Of the wanted groups, and of the one that is called as the user is.
    pub(super) groups: Vec<Group>,
}

/// A line of passwd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) gid: String,
    pub(super) home: String,
    pub(super) shell: String,
}

/// A line of group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) gid: String,
    pub(super) members: Vec<String>,
}

pub(super) fn wanted(inputs: &Inputs, probe: &dyn Probe) -> Result<Wanted, Trouble> {
    let uid = match inputs.data("uid") {
        Some(Data::Int(uid)) => Some(uid.to_string()),
        _ => None,
    };
    let path = |name: &str| match inputs.text(name) {
        None => Ok(None),
        Some(path) => {
            let whole = paths::path(inputs, name, probe)?;
            let whole =
                whole.to_str().filter(|it| !it.contains(|c: char| c == ':' || c.is_control()));
            whole.map(|whole| Some(whole.to_owned())).ok_or_else(|| unfit(name, path))
        }
    };
    let mut groups = Vec::new();
    if let Some(Data::Array(items)) = inputs.data("groups") {
        for group in items.iter().filter_map(Data::as_text) {
            if !is_name(group) {
                return Err(unfit("groups", group));
            }
            if !groups.iter().any(|it| it == group) {
                groups.push(group.to_owned());
            }
        }
    }
    let name = inputs.text("name").unwrap_or_default().to_owned();
    if !is_name(&name) {
        return Err(unfit("name", &name));
    }
    Ok(Wanted { name, uid, groups, home: path("home")?, shell: path("shell")? })
}

/// No number, which would be taken for an id, no option, and nothing that the databases or the
/// lists of programs separate with.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-$".contains(c))
}

fn unfit(argument: &str, text: &str) -> Trouble {
    let message = format!("invalid `{argument}` of an account: `{text}`");
    Trouble::new(TroubleKind::Invalid, message, "choose another value")
}

pub(super) fn inspect(wanted: &Wanted, probe: &dyn Probe) -> Result<Facts, Trouble> {
    let users = |key: &str| {
        let lines = entries(probe, Database::Passwd, key)?;
        Ok::<_, Trouble>(lines.into_iter().filter_map(|line| User::read(&line)))
    };
    let name = &wanted.name;
    let user = users(name)?.find(|it| it.name == *name);
    let uid_of = match &wanted.uid {
        Some(uid) => users(uid)?.find(|it| it.uid == *uid && it.name != *name).map(|it| it.name),
        None => None,
    };
    let mut groups = Vec::new();
    for key in wanted.groups.iter().chain([name]) {
        let lines = entries(probe, Database::Group, key)?;
        let found = lines.iter().filter_map(|line| Group::read(line)).find(|it| it.name == *key);
        groups.extend(found);
    }
    Ok(Facts { user, uid_of, groups })
}

#[derive(Clone, Copy, Debug)]
enum Database {
    Passwd,
    Group,
}

/// The lines of a database about a name or a number; where nobody can be asked, all of them.
///
/// One at a time and without `--`: some versions of the program stop at the first name that is not
/// there, and take `--` for one.
fn entries(probe: &dyn Probe, of: Database, key: &str) -> Result<Vec<String>, Trouble> {
    let (name, path) = match of {
        Database::Passwd => ("passwd", "/etc/passwd"),
        Database::Group => ("group", "/etc/group"),
    };
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    match Program::new("getent", name).word(key).ask(probe) {
        // 2 says that it is not there.
        Ok(answer) if matches!(answer.code, 0 | 2) => Ok(lines(answer.stdout.expose())),
        Ok(answer) => {
            let said = reason(answer.stderr.expose());
            let message = format!("the accounts of this machine cannot be read: {said}");
            Err(Trouble::new(TroubleKind::Failed, message, "try `getent passwd`"))
        }
        Err(trouble) if trouble.kind == TroubleKind::Missing => {
            let mut text = String::new();
            let file = probe.read(Path::new(path), Links::Followed)?;
            file.take(MAX_VALUE_BYTES).read_to_string(&mut text).map_err(|error| {
                let message = format!("`{path}` cannot be read: {}", Reason(error.kind()));
                Trouble::new(TroubleKind::Failed, message, format!("try it with `cat {path}`"))
            })?;
            Ok(lines(&text))
        }
        Err(trouble) => Err(trouble),
    }
}

impl User {
    /// `ann:x:1000:1000:Ann:/home/ann:/bin/bash`
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<_> = line.split(':').collect();
        let [name, _, uid, gid, _, home, shell] = fields[..] else { return None };
        let [name, uid, gid, home, shell] = [name, uid, gid, home, shell].map(str::to_owned);
        Some(Self { name, uid, gid, home, shell })
    }
}

impl Group {
    /// `sudo:x:27:ann,bob`
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<_> = line.split(':').collect();
        let [name, _, gid, members] = fields[..] else { return None };
        let members = members.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        Some(Self { name: name.to_owned(), gid: gid.to_owned(), members })
    }

    fn has(&self, user: &User) -> bool {
        self.gid == user.gid || self.members.contains(&user.name)
    }
}

impl Facts {
    pub(super) fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|it| it.name == name)
    }

    /// The wanted groups that the user is not in.
    pub(super) fn lacking<'w>(&self, wanted: &'w Wanted, user: &User) -> Vec<&'w str> {
        let is_in = |name: &str| self.group(name).is_some_and(|group| group.has(user));
        wanted.groups.iter().map(String::as_str).filter(|name| !is_in(name)).collect()
    }

    pub(super) fn decide(&self, wanted: &Wanted) -> Result<Finding, Trouble> {
        self.check(wanted)?;
        let name = &wanted.name;
        let Some(user) = &self.user else {
            let missing = Finding::missing(format!("the user `{name}` does not exist"));
            let given = wanted.given();
            return Ok(if given.is_empty() {
                missing
            } else {
                missing.with_details(Details::words(given))
            });
        };
        let properties = self.properties(wanted, user);
        if !properties.iter().any(Property::differs) {
            return Ok(Finding::satisfied(format!("the user `{name}` is in the desired state")));
        }
        let different = differing(&properties);
        let finding = Finding::drifted(format!("the user `{name}` differs: {different}"));
        Ok(finding.with_details(compared(&format!("user {name}"), &properties)))
    }

    fn check(&self, wanted: &Wanted) -> Result<(), Trouble> {
        let absent = wanted.groups.iter().map(String::as_str);
        let absent: Vec<_> = absent.filter(|name| self.group(name).is_none()).collect();
        if !absent.is_empty() {
            let message = format!("unknown group: {}", named(absent));
            let help = "create it with `groupadd`, or remove it from `groups`";
            return Err(Trouble::new(TroubleKind::Missing, message, help));
        }
        if let (Some(uid), Some(other)) = (&wanted.uid, &self.uid_of) {
            let message = format!("the uid {uid} belongs to the user `{other}`");
            let help = format!("choose another `uid` for `{}`", wanted.name);
            return Err(Trouble::new(TroubleKind::Invalid, message, help));
        }
        Ok(())
    }

    fn properties(&self, wanted: &Wanted, user: &User) -> Vec<Property> {
        let given = [
            ("uid", &wanted.uid, &user.uid),
            ("home", &wanted.home, &user.home),
            ("shell", &wanted.shell, &user.shell),
        ];
        let given = given.into_iter().filter_map(|(name, expected, actual)| {
            Some(Property::new(name, expected.as_deref()?, &**actual))
        });
        let mut properties: Vec<_> = given.collect();
        if !wanted.groups.is_empty() {
            let lacking = self.lacking(wanted, user);
            let mut actual = wanted.groups.clone();
            actual.retain(|group| !lacking.contains(&&**group));
            properties.push(Property::new("groups", wanted.groups.join(","), actual.join(",")));
        }
        properties
    }
}

#[cfg(test)]
mod tests;
