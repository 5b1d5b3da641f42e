use std::fs;

use opal_core::resource::Status;

use crate::resources::support::{Site, details};

fn to(site: &Site, name: &str) -> String {
    fs::read_link(site.path(name)).unwrap().display().to_string()
}

#[test]
fn a_link_is_made_and_turned_round() {
    let site = Site::new();
    let call = "@file.symlink(\"source\", \"link\")";
    site.applies(call, Status::Missing);
    assert_eq!(to(&site, "link"), site.path("source").display().to_string());
    fs::remove_file(site.path("link")).unwrap();
    site.link("link", "/somewhere/else");
    let found = site.verify(call);
    assert!(details(&found).contains("+/somewhere/else\n"), "{}", details(&found));
    site.applies(call, Status::Drifted);
}

#[test]
fn a_link_that_says_it_shorter_points_there_too() {
    let site = Site::new();
    site.link("link", "source");
    assert_eq!(site.status("@file.symlink(\"source\", \"link\")"), Status::Satisfied);
}

#[test]
fn a_link_and_its_source_may_both_be_written_with_parents() {
    let site = Site::new();
    site.file("a/source", "");
    site.file("a/b/file", "");
    site.link("a/b/link", "../source");
    for source in ["a/source", "a/b/../source", "a/../a/b/../source"] {
        let call = format!("@file.symlink(\"{source}\", \"a/b/link\")");
        assert_eq!(site.status(&call), Status::Satisfied, "{source}");
    }
    // It is satisfied by what it makes, whatever is there on the way.
    for source in ["a/b/../source", "gone/../source", "a/b/link/../other"] {
        site.applies(&format!("@file.symlink(\"{source}\", \"made\", force=true)"), {
            if source == "a/b/../source" { Status::Missing } else { Status::Drifted }
        });
    }
}

#[test]
fn a_link_that_leads_nowhere_is_as_good_as_any() {
    let site = Site::new();
    site.link("link", "gone");
    assert_eq!(site.status("@file.symlink(\"gone\", \"link\")"), Status::Satisfied);
    site.applies("@file.symlink(\"other\", \"link\")", Status::Drifted);
}

#[test]
fn what_is_in_its_place_goes_only_by_force() {
    let site = Site::new();
    site.file("file", "x");
    site.file("full/of/things", "x");
    for (name, what) in [("file", "a file"), ("full", "a directory")] {
        let said = site.blocked(&format!("@file.symlink(\"source\", \"{name}\")"));
        assert!(said.contains(&format!("/{name}` is {what}, not a symlink")), "{said}");
        assert!(said.contains("force=true"), "{said}");
        let forced = format!("@file.symlink(\"source\", \"{name}\", force=true)");
        site.applies(&forced, Status::Drifted);
    }
    let left: Vec<_> =
        fs::read_dir(site.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn nothing_points_to_itself_and_no_directory_is_made_up() {
    let site = Site::new();
    let said = site.blocked("@file.symlink(\"link\", \"link\")");
    assert!(said.contains("cannot point to itself"), "{said}");
    let failure = site.apply("@file.symlink(\"source\", \"no/such/link\")").failure();
    assert!(failure.contains("the directory `"), "{failure}");
}
