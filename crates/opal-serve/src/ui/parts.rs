//! Parts of lists, by the query of an address.

use axum::http::Uri;
use opal_html::ui::Part;

/// Entries of a page of a list.
const PART: usize = 50;

/// The part of a list that an address asks for; none where it asks for something else.
pub(super) fn part(uri: &Uri, total: usize) -> Option<(Part, std::ops::Range<usize>)> {
    let page = match uri.query() {
        None | Some("") => 1,
        Some(query) => query.strip_prefix("page=")?.parse().ok()?,
    };
    let pages = total.div_ceil(PART).max(1);
    if !(1..=pages).contains(&page) {
        return None;
    }
    let from = (page - 1) * PART;
    Some((Part { page, pages, total }, from..total.min(from + PART)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_one_that_the_list_has() {
        let of = |uri: &str, total| part(&uri.parse().unwrap(), total).map(|(_, range)| range);
        assert_eq!(of("/a", 0), Some(0..0));
        assert_eq!(of("/a", 51), Some(0..50));
        assert_eq!(of("/a?page=2", 51), Some(50..51));
        for uri in ["/a?page=0", "/a?page=3", "/a?page=x", "/a?page=", "/a?page=1&page=2", "/a?x=1"]
        {
            assert_eq!(of(uri, 51), None, "{uri}");
        }
    }
}
