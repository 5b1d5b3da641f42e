//! `@git.repo` with real repositories.

use std::fs;
use std::os::unix::fs::chown;

use opal_core::resource::Status;

use crate::resources::support::Site;
use opal_testing::needs;

const CALL: &str = "@git.repo(\"server.git\", \"copy\")";

/// A server with one commit on `main`, and a working copy `work` to change it from.
fn site() -> Site {
    let site = Site::new();
    git(&site, "git init --quiet --bare --initial-branch=main server.git");
    git(&site, "git clone --quiet server.git work 2>/dev/null");
    git(&site, "git -C work config user.name Ann");
    git(&site, "git -C work config user.email ann@example.com");
    git(&site, "git -C work checkout --quiet -B main");
    commit(&site, "work", "one");
    push(&site);
    site
}

#[track_caller]
fn git(site: &Site, command: &str) -> String {
    let ran = site.apply(command);
    ran.ok();
    ran.output().concat()
}

#[track_caller]
fn commit(site: &Site, copy: &str, name: &str) {
    site.file(&format!("{copy}/{name}"), name);
    git(site, &format!("git -C {copy} add --force {name}"));
    let who = "-c user.name=Ann -c user.email=ann@example.com";
    git(site, &format!("git -C {copy} {who} commit --quiet -m {name}"));
}

#[track_caller]
fn push(site: &Site) {
    git(site, "git -C work push --quiet origin HEAD");
}

fn head(site: &Site, copy: &str) -> String {
    git(site, &format!("git -C {copy} rev-parse HEAD"))
}

#[test]
fn what_is_not_there_is_cloned() {
    let site = site();
    site.applies(CALL, Status::Missing);
    assert_eq!(site.text("copy/one"), "one");
    assert_eq!(head(&site, "copy"), head(&site, "work"));
}

#[test]
fn directories_above_are_made_and_an_empty_one_is_filled() {
    let site = site();
    site.applies("@git.repo(\"server.git\", \"a/b/copy\")", Status::Missing);
    site.directory("copy");
    site.applies(CALL, Status::Drifted);
}

#[test]
fn a_copy_with_older_commits_moves_forward() {
    let site = site();
    site.apply(CALL).ok();
    commit(&site, "work", "two");
    push(&site);
    let found = site.verify(CALL);
    let expected = format!(", expected {}", head(&site, "work").trim());
    assert!(found.message.text().ends_with(&expected), "{}", found.message.text());
    let details = found.details.unwrap();
    assert!(details.text().contains(&format!("-commit: {}", head(&site, "work").trim())));
    site.applies(CALL, Status::Drifted);
    assert_eq!(site.text("copy/two"), "two");
}

#[test]
fn a_shallow_copy_has_few_commits_and_still_moves_forward() {
    let site = site();
    for name in ["two", "three"] {
        commit(&site, "work", name);
    }
    push(&site);
    let call = "@git.repo(\"server.git\", \"copy\", depth=1)";
    site.applies(call, Status::Missing);
    assert_eq!(git(&site, "git -C copy rev-list --count HEAD").trim(), "1");
    commit(&site, "work", "four");
    push(&site);
    site.applies(call, Status::Drifted);
    assert_eq!(git(&site, "git -C copy rev-list --count HEAD").trim(), "2");
}

#[test]
fn another_branch_is_checked_out_and_the_first_one_kept() {
    let site = site();
    site.apply(CALL).ok();
    commit(&site, "copy", "mine");
    let mine = head(&site, "copy");
    git(&site, "git -C work checkout --quiet -b stable");
    commit(&site, "work", "stable");
    push(&site);
    let call = "@git.repo(\"server.git\", \"copy\", branch=\"stable\")";
    site.applies(call, Status::Drifted);
    assert_eq!(git(&site, "git -C copy rev-parse main"), mine);
    assert_eq!(git(&site, "git -C copy branch --show-current").trim(), "stable");
}

#[test]
fn a_branch_of_another_working_copy_is_not_taken_from_it() {
    let site = site();
    git(&site, "git clone --quiet server.git dev");
    git(&site, "git -C dev worktree add --quiet ../deploy -b wip");
    commit(&site, "work", "two");
    push(&site);
    let main = head(&site, "dev");
    let call = "@git.repo(\"server.git\", \"deploy\")";
    let reason = site.blocked(call);
    assert!(reason.contains("`main` is checked out in `"), "{reason}");
    assert!(reason.contains("/dev`"), "{reason}");
    assert!(site.apply(call).failure().contains("`main` is checked out in"));
    assert_eq!((head(&site, "dev"), head(&site, "deploy")), (main.clone(), main));
    git(&site, "git -C dev checkout --quiet --detach");
    site.applies(call, Status::Drifted);
}

#[test]
fn another_origin_is_corrected_and_an_absent_one_added() {
    let site = site();
    site.apply(CALL).ok();
    git(&site, "git -C copy remote set-url origin https://ann:pw-5150@example.com/x.git");
    let found = site.verify(CALL);
    assert!(!found.details.unwrap().text().contains("5150"));
    site.applies(CALL, Status::Drifted);
    git(&site, "git -C copy remote remove origin");
    site.applies(CALL, Status::Drifted);
}

#[test]
fn a_repository_without_a_commit_is_filled() {
    let site = site();
    git(&site, "git init --quiet --initial-branch=main copy");
    site.applies(CALL, Status::Drifted);
    assert_eq!(site.text("copy/one"), "one");
}

/// Its apply fails for this reason and leaves every byte of the files as it was.
#[track_caller]
fn refused(site: &Site, call: &str, reason: &str) {
    assert_eq!(site.status(call), Status::Drifted);
    let files = || {
        let files = fs::read_dir(site.path("copy")).unwrap().map(|it| it.unwrap().path());
        let mut files: Vec<_> = files.filter(|it| it.is_file()).collect();
        files.sort();
        files.into_iter().map(|it| (fs::read(&it).unwrap(), it)).collect::<Vec<_>>()
    };
    let before = files();
    let failure = site.apply(call).failure();
    assert!(failure.contains(reason), "{failure}");
    assert_eq!(files(), before);
}

#[test]
fn files_of_somebody_are_never_deleted() {
    let site = site();
    site.file("copy/notes", "mine");
    refused(&site, CALL, "with other files; opal does not delete it");
    assert_eq!(site.text("copy/notes"), "mine");
    let file = "@git.repo(\"server.git\", \"work/one\")";
    assert_eq!(site.status(file), Status::Drifted);
    assert!(site.apply(file).failure().contains("is a file; opal does not delete it"));
}

#[test]
fn a_link_is_not_followed() {
    let site = site();
    site.apply(CALL).ok();
    site.link("link", "copy");
    let call = "@git.repo(\"server.git\", \"link\")";
    assert_eq!(site.status(call), Status::Drifted);
    assert!(site.apply(call).failure().contains("is a symlink"));
    site.link("dangling", "nowhere");
    assert_eq!(site.status("@git.repo(\"server.git\", \"dangling\")"), Status::Drifted);
}

#[test]
fn changes_and_commits_that_are_only_here_are_never_lost() {
    let site = site();
    site.apply(CALL).ok();
    commit(&site, "work", "two");
    push(&site);
    site.file("copy/one", "changed");
    refused(&site, CALL, "has changes that are not committed");
    site.file("copy/one", "one");
    site.file("copy/two", "untracked");
    refused(&site, CALL, "could not be fast-forwarded");
    fs::remove_file(site.path("copy/two")).unwrap();
    commit(&site, "copy", "mine");
    let mine = head(&site, "copy");
    refused(&site, CALL, "`main` in");
    assert_eq!(head(&site, "copy"), mine);
    git(&site, "git -C copy checkout --quiet --detach");
    git(&site, "git -C copy branch --quiet --force main origin/main");
    refused(&site, CALL, "is on no branch");
    assert_eq!(head(&site, "copy"), mine);
}

#[test]
fn changes_are_discarded_only_for_a_move_that_is_made() {
    let site = site();
    let call = "@git.repo(\"server.git\", \"copy\", force=true)";
    site.apply(CALL).ok();
    commit(&site, "work", "two");
    push(&site);
    site.file("copy/one", "changed");
    git(&site, "git -C copy add one");
    site.file("copy/one", "changed twice");
    // A file of somebody is in the way.
    site.file("copy/two", "untracked");
    refused(&site, call, "fast-forwarded");
    assert_eq!(site.text("copy/one"), "changed twice");
    assert_eq!(git(&site, "git -C copy show :one"), "changed");
    fs::remove_file(site.path("copy/two")).unwrap();
    // The branch has a commit that only it has.
    let before = head(&site, "copy");
    let who = "-c user.name=Ann -c user.email=ann@example.com";
    git(&site, &format!("git -C copy {who} commit --quiet --allow-empty --only -m mine"));
    refused(&site, call, "has commits that the server does not have");
    assert_eq!(site.text("copy/one"), "changed twice");
    git(&site, &format!("git -C copy reset --quiet --soft {}", before.trim()));
    site.applies(call, Status::Drifted);
    assert_eq!((site.text("copy/one"), site.text("copy/two")), ("one".into(), "two".into()));
}

#[test]
fn changes_are_kept_where_the_fetch_fails() {
    let site = site();
    let call = "@git.repo(\"server.git\", \"copy\", force=true)";
    site.apply(CALL).ok();
    commit(&site, "work", "two");
    push(&site);
    site.file("copy/one", "changed");
    // The server has the commit, and not what is in it.
    let tree = git(&site, "git -C server.git rev-parse 'main^{tree}'");
    let (folder, name) = tree.trim().split_at(2);
    fs::remove_file(site.path(&format!("server.git/objects/{folder}/{name}"))).unwrap();
    refused(&site, call, "fetched");
    assert_eq!(site.text("copy/one"), "changed");
}

#[test]
fn a_file_that_is_ignored_here_is_not_written_over() {
    let site = site();
    site.apply(CALL).ok();
    site.file("copy/.git/info/exclude", "two\n");
    site.file("copy/two", "precious");
    commit(&site, "work", "two");
    push(&site);
    refused(&site, CALL, "could not be fast-forwarded");
    assert_eq!(site.text("copy/two"), "precious");
}

#[test]
fn a_history_that_was_rewritten_is_not_followed() {
    let site = site();
    site.apply(CALL).ok();
    git(&site, "git -C work commit --quiet --amend -m rewritten");
    git(&site, "git -C work push --quiet --force origin main");
    refused(&site, CALL, "has commits that the server does not have");
}

#[test]
fn a_server_that_does_not_answer_blocks() {
    let site = site();
    let reason = site.blocked("@git.repo(\"server.git\", \"\")");
    assert!(reason.contains("invalid path in `destination`"), "{reason}");
    let reason = site.blocked("@git.repo(\"nowhere.git\", \"copy\")");
    assert!(reason.contains("nowhere.git` does not answer: "), "{reason}");
    let call = "@git.repo(\"https://ann:pw-5150@127.0.0.1:1/x.git\", \"copy\")";
    let reason = site.blocked(call);
    assert!(reason.contains("https://127.0.0.1:1/x.git"), "{reason}");
    assert!(!reason.contains("5150"), "{reason}");
}

#[test]
fn a_branch_that_the_server_does_not_have_blocks() {
    let site = site();
    for branch in ["stable", "ma*", "main..x"] {
        let reason =
            site.blocked(&format!("@git.repo(\"server.git\", \"copy\", branch=\"{branch}\")"));
        assert!(reason.contains(&format!("has no branch `{branch}`")), "{reason}");
    }
    git(&site, "git init --quiet --bare empty.git");
    let reason = site.blocked("@git.repo(\"empty.git\", \"copy\")");
    assert!(reason.contains("is empty"), "{reason}");
}

#[test]
fn nothing_is_taken_for_an_option_or_a_command() {
    let site = site();
    for call in [
        "@git.repo(\"--upload-pack=touch made\", \"copy\")",
        "@git.repo(\"server.git\", \"copy\", branch=\"--orphan\")",
        "@git.repo(\"ext::touch made\", \"copy\")",
    ] {
        site.blocked(call);
    }
    assert!(!site.path("made").exists());
}

#[test]
fn hooks_and_programs_of_a_repository_do_not_run() {
    let site = site();
    site.apply(CALL).ok();
    for hook in ["post-checkout", "post-merge", "reference-transaction"] {
        site.file(&format!("copy/.git/hooks/{hook}"), "#!/bin/sh\ntouch \"$HOME/made\"\n");
        site.set_mode(&format!("copy/.git/hooks/{hook}"), 0o755);
    }
    let monitor = site.file("monitor", "#!/bin/sh\ntouch \"$HOME/made\"\n");
    site.set_mode("monitor", 0o755);
    git(&site, &format!("git -C copy config core.fsmonitor {}", monitor.display()));
    commit(&site, "work", "two");
    push(&site);
    site.applies(CALL, Status::Drifted);
    assert!(!site.path("made").exists());
}

#[test]
fn a_repository_of_somebody_else_blocks_and_says_so() {
    let site = site();
    if !needs::root() {
        return;
    }
    site.apply(CALL).ok();
    for path in ["copy", "copy/.git"] {
        chown(site.path(path), Some(65534), Some(65534)).unwrap();
    }
    let reason = site.blocked(CALL);
    assert!(reason.contains("git does not trust the owner of"), "{reason}");
}

#[test]
fn a_repository_above_is_not_taken_for_this_one() {
    let site = site();
    site.file("work/inner/notes", "mine");
    let call = "@git.repo(\"server.git\", \"work/inner\")";
    assert_eq!(site.status(call), Status::Drifted);
    assert!(site.apply(call).failure().contains("with other files; opal does not delete it"));
}

#[test]
fn what_a_hook_around_opal_has_set_leads_nowhere_else() {
    let site = site();
    let call =
        format!("@environ(GIT_DIR=\"{}\") {{\n    {CALL}\n}}", site.path("work/.git").display());
    let before = head(&site, "work");
    site.applies(&call, Status::Missing);
    assert_eq!(site.text("copy/one"), "one");
    assert_eq!(head(&site, "work"), before);
}
