//! `sources` and `generates`, where `@cached` can compare them.

use opal_config::document::Node;

use super::nodes::{get, list, text};
use crate::form::{Cached, Expr, Task};

/// Patterns seen from the directory of the file; none where they are computed, or something else decides.
pub(super) fn files(task: &Task, node: &Node) -> Option<Cached> {
    let folder = match &task.directory {
        None => "",
        Some(Expr::Text(folder)) => folder.trim_end_matches('/'),
        Some(_) => return None,
    };
    let method = get(node, "method").map_or(Some("checksum"), text);
    let is_plain = method == Some("checksum")
        && get(node, "status").is_none()
        // They are checked in any case.
        && get(node, "preconditions").is_none()
        && task.finally.is_empty();
    if !is_plain {
        return None;
    }
    let patterns = |key: &str| -> Option<Vec<String>> {
        let all = get(node, key).map(list).unwrap_or_default();
        let all = all.into_iter().map(|it| text(it).filter(|it| !it.contains("{{")));
        let beside = |text: &str| match folder {
            "" => text.to_owned(),
            folder => format!("{folder}/{}", text.trim_start_matches("./")),
        };
        all.map(|text| text.map(beside)).collect()
    };
    Cached::new(patterns("sources")?, patterns("generates")?)
}
