//! What decorators of packages open, close and act on.

use opal_core::action::ObjectNews;

use super::Line;
use crate::event::Kind;

/// An object is about to be acted on, and it was acted on.
pub(in crate::record) const INTENDED: &str = "object_intended";
pub(in crate::record) const MADE: &str = "object_made";

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
        Kind::Object { path, plugin, version, of, identity, news } => {
            let (deed, kind) = match news {
                ObjectNews::Intended(deed) => (Some(*deed), INTENDED),
                ObjectNews::Made => (None, MADE),
                ObjectNews::Adopted => (None, "object_adopted"),
            };
            let identity = identity.as_ref().map(crate::Shown::text);
            line.maybe("deed", deed);
            line.maybe("identity", identity.as_deref());
            line.text("kind", kind);
            line.text("path", path);
            line.text("plugin", plugin);
            line.maybe("target", target);
            line.maybe("type", of.as_deref());
            line.text("version", version);
        }
        _ => {}
    }
}
