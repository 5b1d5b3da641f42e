//! Trouble, on its way from a helper.

use opal_core::message::Message;
use opal_core::resolver::{Trouble, TroubleKind};
use serde_json::{Value, json};

const KINDS: [(TroubleKind, &str); 8] = [
    (TroubleKind::Missing, "missing"),
    (TroubleKind::Denied, "denied"),
    (TroubleKind::Failed, "failed"),
    (TroubleKind::TimedOut, "timed_out"),
    (TroubleKind::Unreachable, "unreachable"),
    (TroubleKind::TooLarge, "too_large"),
    (TroubleKind::NotText, "not_text"),
    (TroubleKind::Invalid, "invalid"),
];

#[must_use]
pub fn write(trouble: &Trouble) -> Value {
    let kind = KINDS.iter().find(|(kind, _)| *kind == trouble.kind).map_or("failed", |it| it.1);
    let help: Vec<Value> = trouble.help.iter().map(parts).collect();
    json!({"kind": kind, "message": parts(&trouble.message), "help": help})
}

/// The same again; none where it is none.
#[must_use]
pub fn read(value: &Value) -> Option<Trouble> {
    let kind = value.get("kind")?.as_str()?;
    let kind = KINDS.iter().find(|(_, name)| *name == kind)?.0;
    let message = whole(value.get("message")?)?;
    let help = value.get("help")?.as_array()?.iter().map(whole).collect::<Option<_>>()?;
    Some(Trouble { kind, message, help })
}

fn parts(message: &Message) -> Value {
    let given: Vec<[usize; 2]> = message.given().iter().map(|it| [it.start, it.end]).collect();
    json!({"text": message.to_string(), "given": given})
}

fn whole(value: &Value) -> Option<Message> {
    let number = |value: Option<&Value>| usize::try_from(value?.as_u64()?).ok();
    let given = value.get("given")?.as_array()?.iter();
    let given = given.map(|it| Some(number(it.get(0))?..number(it.get(1))?));
    Message::with_given(value.get("text")?.as_str()?.to_owned(), given.collect::<Option<_>>()?)
}

#[cfg(test)]
mod tests {
    use opal_core::message;

    use super::*;

    #[test]
    fn trouble_arrives_with_what_was_given_to_it() {
        let (server, status) = ("db.internal:8443".to_owned(), 503_u16);
        for (kind, _) in KINDS {
            let trouble = Trouble {
                kind,
                message: message!("`", server, "` answered ", status),
                help: vec![message!("ask `", server, "`"), Message::default()],
            };
            let found = read(&write(&trouble)).unwrap();
            assert_eq!(
                (found.kind, &found.message, &found.help),
                (kind, &trouble.message, &trouble.help)
            );
            assert_eq!(found.message.without(&["db.internal"]), "`…` answered 503");
        }
        assert!(read(&json!({"kind": "strange", "message": [], "help": []})).is_none());
    }
}
