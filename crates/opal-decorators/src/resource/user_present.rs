mod account;
mod make;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::resolver::{Inputs, Probe, Trouble};
use opal_core::resource::{Finding, Verify};
use opal_core::{Data, Type};

use super::programs::demand_root;
use crate::common::{DEPENDS_ON, ID, STRINGS, VERIFY_TIMEOUT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "user.present",
    summary: "a user account of the machine",
    docs: "Creates the account if it does not exist, and corrects the given properties. Other \
           properties keep their values, or get the system's default for a new account.\n\n\
           `groups` are the supplementary groups that the user must be in; other memberships are \
           kept. A new account has no password, so a login needs another method, such as a key. \
           Its home directory is created.\n\n\
           Groups must exist already, and a `uid` must be free. A new `home` only changes the \
           account: the files are not moved.\n\n\
           ## Statuses\n\n\
           - `satisfied`: the account exists, with the given properties, and in all `groups`.\n\
           - `missing`: there is no account of that name.\n\
           - `drifted`: `uid`, `home` or `shell` differ, or it is not in one of the `groups`.\n\
           - `blocked`: one of the groups does not exist, the `uid` belongs to another user, or \
           the accounts cannot be read.",
    params: &[
        Param {
            name: "name",
            pattern: Some("[a-z_][a-z0-9_-]{0,31}"),
            docs: "the login name",
            ..Param::BASE
        },
        Param {
            name: "uid",
            ty: Type::Int,
            presence: Presence::Optional,
            range: Some((0, 4_294_967_294)),
            docs: "the user id",
            ..Param::BASE
        },
        Param {
            name: "groups",
            ty: STRINGS,
            presence: Presence::Optional,
            docs: "the supplementary groups of the user",
            ..Param::BASE
        },
        Param::optional("home", "the home directory"),
        Param::optional("shell", "the login shell"),
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "user", key: &["name"], verify: &UserPresent }),
    capabilities: &[Capability::Processes, Capability::Users],
    examples: &[Example {
        title: "an account for a service",
        source: "fun account() {\n    \
                 @user.present(\"app\", home=\"/var/lib/app\", shell=\"/usr/sbin/nologin\")\n}\n",
    }],
    action: Some(&UserPresent),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct UserPresent;

impl Verify for UserPresent {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let wanted = account::wanted(inputs, probe)?;
        account::inspect(&wanted, probe)?.decide(&wanted)
    }
}

impl Action for UserPresent {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let inspected = {
            let probe = stage.probe();
            account::wanted(inputs, &*probe).and_then(|wanted| {
                let facts = account::inspect(&wanted, &*probe)?;
                facts.decide(&wanted)?;
                Ok((wanted, facts))
            })
        };
        let (wanted, facts) = inspected.map_err(|trouble| stage.fail(1, trouble))?;
        demand_root(stage, "changing accounts")?;
        make::make(&wanted, &facts, stage)?;
        Ok(Data::Null)
    }
}
