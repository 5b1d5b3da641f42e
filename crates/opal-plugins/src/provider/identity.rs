//! Whether the arguments of a step identify its object, without asking the provider.

use opal_core::Code;
use opal_core::identified::{Identified, IdentityFault};
use opal_core::recipe::template::Template;
use opal_core::recipe::{Recipes, Way};

use super::Provider;

/// How objects of a type are identified.
#[derive(Debug)]
pub(super) struct TypeIdentity {
    pub(super) provider: &'static Provider,
    /// `aws_vpc`.
    pub(super) of: &'static str,
    /// The attributes of the identity that the provider describes; those that must be given.
    pub(super) required: Vec<String>,
}

impl TypeIdentity {
    fn recipes(&self) -> &Recipes {
        &self.provider.project.recipes.rows
    }

    /// Whether the identity that the provider describes is given as arguments. An `id` is the provider's.
    fn is_derived(&self, has: &dyn Fn(&str) -> bool) -> bool {
        !self.required.is_empty() && self.required.iter().all(|name| name != "id" && has(name))
    }

    fn unidentified(&self, why: Option<String>) -> IdentityFault {
        let of = self.of;
        let mut help = Vec::new();
        match self.recipes().way(of) {
            Some(Way::Mark(_)) => help.push("name it: `mark=\"NAME\"`".to_owned()),
            _ => help
                .push(format!("say in opal.mod how it is identified: `[terraform.recipes.{of}]`")),
        }
        help.push("or name an object that exists: `adopt=\"ID\"`".to_owned());
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        IdentityFault {
            code: Code::Unidentified,
            message: format!("cannot identify `{of}`{why}"),
            help,
        }
    }
}

/// What to use instead of a type that has nothing in the world.
#[must_use]
pub fn instead(of: &str) -> String {
    match of.split('_').next().unwrap_or(of) {
        "random" => "use `@random.password`, or a step that makes the value".to_owned(),
        "tls" => "use `@crypto.generate_key`, or a step that makes the key".to_owned(),
        "time" => "use `@time.now`".to_owned(),
        _ => "use a step that does the work".to_owned(),
    }
}

impl Identified for TypeIdentity {
    fn fault(&self, given: &[&str]) -> Option<IdentityFault> {
        let has = |attribute: &str| {
            let top = attribute.split('.').next().unwrap_or(attribute);
            // A parameter of opal's own name has a `_`.
            given.iter().any(|name| *name == top || name.strip_suffix('_') == Some(top))
        };
        let way = self.recipes().way(self.of);
        if way == Some(&Way::State) {
            return Some(IdentityFault {
                code: Code::StateOnly,
                message: format!("`{}` exists only in a state file", self.of),
                help: vec![instead(self.of)],
            });
        }
        if given.contains(&"adopt") {
            return None;
        }
        let is_marked = given.contains(&"mark");
        if is_marked && self.provider.project.name.is_none() {
            let help = vec!["add `name = \"NAME\"` to opal.mod".to_owned()];
            let message = "a mark requires `name` in opal.mod".to_owned();
            return Some(IdentityFault { code: Code::Unidentified, message, help });
        }
        if is_marked && !way.is_some_and(Way::takes_mark) {
            let of = self.of;
            let how = "`mark = { in = \"tags\", list = {} }`";
            let help = vec![
                format!("say where in opal.mod, in `[terraform.recipes.{of}]`: {how}"),
                "or leave out `mark`".to_owned(),
            ];
            let message = format!("`{of}` cannot have a mark: no recipe says where its tags are");
            return Some(IdentityFault { code: Code::Unidentified, message, help });
        }
        let missing = |all: &[&Template]| {
            let needed = all.iter().flat_map(|it| it.needed());
            needed.into_iter().find(|path| !has(path)).map(|path| format!("`{path}` is not given"))
        };
        let missing = match way {
            Some(Way::Import(template)) => missing(&[template]),
            Some(Way::Identity(all) | Way::Replay(all)) => {
                missing(&all.values().collect::<Vec<_>>())
            }
            Some(Way::Mark(_)) if is_marked => None,
            _ if self.is_derived(&has) => None,
            _ => return Some(self.unidentified(None)),
        };
        missing.map(|why| self.unidentified(Some(why)))
    }
}
