//! Makes accounts and corrects them, with the tools that the machine has.

use opal_core::action::{Halt, Stage};
use opal_core::resolver::{Trouble, TroubleKind};

use super::account::{Facts, User, Wanted};
use crate::resource::programs::{self, Program};

pub(super) fn make(wanted: &Wanted, facts: &Facts, stage: &mut dyn Stage) -> Result<(), Halt> {
    let tools = ["useradd", "usermod", "adduser", "addgroup"];
    let found = programs::found(&*stage.probe(), &tools).map_err(|it| stage.fail(1, it))?;
    let commands = match &facts.user {
        None => create(wanted, facts, &found),
        Some(user) => correct(wanted, facts, user, &found),
    };
    for (name, program) in commands.map_err(|trouble| stage.fail(1, trouble))? {
        let code = program.run(stage)?;
        if code != 0 {
            let message =
                format!("`{name}` has not changed `{}`: it ended with {code}", wanted.name);
            let help = "its output says why";
            return Err(stage.fail(code, Trouble::new(TroubleKind::Failed, message, help)));
        }
    }
    Ok(())
}

type Commands = Vec<(&'static str, Program)>;

fn create(wanted: &Wanted, facts: &Facts, found: &[&str]) -> Result<Commands, Trouble> {
    // A group of that name is there already: tools refuse to make it again.
    let own = facts.group(&wanted.name).map(|group| &*group.name);
    let Wanted { name, uid, groups, home, shell } = wanted;
    let options = |program: Program, options: [(&'static str, Option<&str>); 4]| {
        let given = options.into_iter().filter_map(|(option, value)| Some((option, value?)));
        given.fold(program, |program, (option, value)| program.text(option).word(value))
    };
    let (uid, home, shell) = (uid.as_deref(), home.as_deref(), shell.as_deref());
    if found.contains(&"useradd") {
        let given = [("--uid", uid), ("--home-dir", home), ("--shell", shell), ("--gid", own)];
        let mut program = options(Program::new("useradd", "--create-home"), given);
        if !groups.is_empty() {
            program = program.text("--groups").word(groups.join(","));
        }
        return Ok(vec![("useradd", program.text("--").word(&**name))]);
    }
    if found.contains(&"adduser") {
        let given = [("-u", uid), ("-h", home), ("-s", shell), ("-G", own)];
        let program = options(Program::new("adduser", "-D"), given).text("--").word(&**name);
        let joined = groups.iter().map(|group| joining(name, group));
        return Ok(std::iter::once(("adduser", program)).chain(joined).collect());
    }
    Err(no_tool("useradd"))
}

fn correct(
    wanted: &Wanted,
    facts: &Facts,
    user: &User,
    found: &[&str],
) -> Result<Commands, Trouble> {
    let Wanted { name, uid, home, shell, .. } = wanted;
    let lacking = facts.lacking(wanted, user);
    let given =
        [("--uid", uid, &user.uid), ("--home", home, &user.home), ("--shell", shell, &user.shell)];
    let changes: Vec<_> = given
        .into_iter()
        .filter_map(|(option, wanted, there)| Some((option, wanted.as_ref()?, there)))
        .filter(|(_, wanted, there)| wanted != there)
        .collect();
    if found.contains(&"usermod") {
        let mut program = Program::new("usermod", "");
        for (option, value, _) in changes {
            program = program.text(option).word(&**value);
        }
        if !lacking.is_empty() {
            program = program.text("--append --groups").word(lacking.join(","));
        }
        return Ok(vec![("usermod", program.text("--").word(&**name))]);
    }
    if changes.is_empty() && found.contains(&"addgroup") {
        return Ok(lacking.into_iter().map(|group| joining(name, group)).collect());
    }
    Err(no_tool("usermod"))
}

fn joining(name: &str, group: &str) -> (&'static str, Program) {
    ("addgroup", Program::new("addgroup", "--").word(name).word(group))
}

fn no_tool(name: &str) -> Trouble {
    let message = format!("`{name}` is not installed, but is needed to change accounts");
    let help = "install it: the package is `shadow`, `shadow-utils` or `passwd`";
    Trouble::new(TroubleKind::Missing, message, help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::user_present::account::Group;

    fn written(commands: Result<Commands, Trouble>) -> Vec<String> {
        let commands = commands.unwrap().into_iter();
        commands
            .map(|(name, program)| {
                let written = program.written();
                assert!(written.starts_with(name), "{written}");
                written
            })
            .collect()
    }

    fn wanted() -> Wanted {
        Wanted {
            name: "ann".into(),
            uid: Some("7".into()),
            groups: vec!["web".into(), "mail".into()],
            home: Some("/srv/ann".into()),
            shell: None,
        }
    }

    fn facts() -> Facts {
        let group = |name: &str, members: &[&str]| Group {
            name: name.into(),
            gid: "33".into(),
            members: members.iter().map(|&it| it.to_owned()).collect(),
        };
        Facts { groups: vec![group("web", &["ann"]), group("mail", &[])], ..Facts::default() }
    }

    fn ann() -> User {
        let [name, uid, gid] = ["ann", "7", "7"].map(str::to_owned);
        User { name, uid, gid, home: "/home/ann".into(), shell: "/bin/sh".into() }
    }

    #[test]
    fn an_account_is_made_with_the_tool_that_is_there() {
        let (wanted, facts) = (wanted(), facts());
        assert_eq!(
            written(create(&wanted, &facts, &["useradd", "adduser"])),
            ["useradd --create-home --uid 7 --home-dir /srv/ann --groups web,mail -- ann"]
        );
        let busybox =
            ["adduser -D -u 7 -h /srv/ann -- ann", "addgroup -- ann web", "addgroup -- ann mail"];
        assert_eq!(written(create(&wanted, &facts, &["adduser", "addgroup"])), busybox);
        let trouble = create(&wanted, &facts, &[]).unwrap_err();
        assert_eq!(trouble.message, "`useradd` is not installed, but is needed to change accounts");
    }

    #[test]
    fn a_group_of_the_same_name_becomes_the_main_one() {
        let wanted = Wanted { name: "web".into(), ..Wanted::default() };
        let commands = written(create(&wanted, &facts(), &["useradd"]));
        assert_eq!(commands, ["useradd --create-home --gid web -- web"]);
    }

    #[test]
    fn only_what_differs_is_changed() {
        let (wanted, facts, ann) = (wanted(), facts(), ann());
        assert_eq!(
            written(correct(&wanted, &facts, &ann, &["usermod"])),
            ["usermod  --home /srv/ann --append --groups mail -- ann"]
        );
        let trouble = correct(&wanted, &facts, &ann, &["addgroup"]).unwrap_err();
        assert_eq!(trouble.message, "`usermod` is not installed, but is needed to change accounts");
        let groups = Wanted { uid: None, home: None, ..wanted };
        let commands = written(correct(&groups, &facts, &ann, &["addgroup"]));
        assert_eq!(commands, ["addgroup -- ann mail"]);
    }
}
