//! What decorators of packages open, close and act on.

use super::Line;
use crate::event::Kind;

pub(super) fn write(line: &mut Line, kind: &Kind<'_>, target: Option<&str>) {
    match kind {
        Kind::Opened { path, object } => {
            line.text("decorator", &object.decorator);
            line.text("id", &object.id);
            line.flag("kept", object.is_kept);
            line.text("kind", "object_opened");
            line.text("path", path);
            line.text("plugin", &object.plugin);
            line.maybe("target", target);
            line.text("token", &object.token.text());
            line.text("version", &object.version);
        }
        Kind::Closed { path, id } => {
            line.text("id", id);
            line.text("kind", "object_closed");
            line.text("path", path);
            line.maybe("target", target);
        }
        Kind::Object { path, identity, is_adopted } => {
            let identity = identity.as_ref().map(crate::Shown::text);
            line.maybe("identity", identity.as_deref());
            line.text("kind", if *is_adopted { "object_adopted" } else { "object_made" });
            line.text("path", path);
            line.maybe("target", target);
        }
        _ => {}
    }
}
