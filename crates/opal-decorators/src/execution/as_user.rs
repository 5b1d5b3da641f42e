use opal_core::boundary::{Boundary, Member};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::{Inputs, Probe, Trouble};
use opal_core::target::{Hop, User, Via};
use opal_core::types::Choices;
use opal_core::{Type, Value};

use super::crossings::{self, ENV, FILES, LOST, OnOne};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "as",
    summary: "run a block as another user",
    docs: "The steps of the block run as this user, on the machine of the block: opal starts its \
           helper program there by `sudo` or `doas`, once for the whole block. The block starts in \
           the home directory of the user, with the environment that `sudo` gives.\n\nWithout \
           `password`, the user that opal runs as must be allowed to use `sudo` without one \
           (`NOPASSWD`). A password is written only after the prompt of `sudo`, once; it is never \
           an argument or a variable. Whoever controls the account that opal logs in as can read \
           it.",
    params: &[
        Param::required("user", "the user, such as `root`"),
        Param::optional("password", "the password that `sudo` asks for: a secret"),
        Param {
            name: "via",
            ty: Type::OneOf(Choices::Static(&["sudo", "doas"])),
            presence: Presence::Default(Value::text("sudo")),
            docs: "the program that changes the user; `doas` must not ask for a password",
            ..Param::BASE
        },
        ENV,
        FILES,
        LOST,
    ],
    block: Block::Required,
    capabilities: &[Capability::Processes],
    boundary: Some(&As),
    examples: &[Example {
        title: "one part of a block as root",
        source: "fun deploy() {\n    @ssh.host(\"deploy@web1.example.com\") {\n        \
                 curl -fsSo app.deb https://example.com/app.deb\n        @as(\"root\") {\n            \
                 dpkg -i /home/deploy/app.deb\n        }\n    }\n}\n",
    }],
    action: Some(&OnOne),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct As;

impl Boundary for As {
    fn targets(&self, inputs: &Inputs, _: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        let text = inputs.text("user").unwrap_or_default();
        let user: User = text.parse().map_err(crossings::invalid)?;
        let via = Via::ALL.into_iter().find(|via| Some(via.as_str()) == inputs.text("via"));
        let name = user.as_str().parse().map_err(crossings::invalid)?;
        let hop = Hop::User { user, via: via.unwrap_or(Via::Sudo) };
        Ok(vec![crossings::member(name, "", hop, None)])
    }

    fn steering(&self) -> &'static [&'static str] {
        &["user", "via"]
    }
}
