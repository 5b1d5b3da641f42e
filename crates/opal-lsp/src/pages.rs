//! The pages of error codes, as `opal explain` prints them.

/// In the order of their codes.
static PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page of a code.
pub(crate) fn of(code: &str) -> Option<&'static str> {
    let at = PAGES.binary_search_by_key(&code, |(name, _)| *name).ok()?;
    Some(PAGES[at].1)
}

#[cfg(test)]
mod tests {
    use opal_core::Code;

    #[test]
    fn every_code_has_its_page() {
        for code in Code::ALL {
            let page = super::of(code.as_str());
            assert!(page.is_some_and(|page| page.contains(code.as_str())), "{}", code.as_str());
        }
        assert!(super::of("E9999").is_none());
    }
}
