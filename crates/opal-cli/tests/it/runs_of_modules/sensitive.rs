//! What Terraform calls sensitive is learnt however an apply ends: its outputs are asked for in any
//! case, before it and behind it, and what it has printed is hidden behind that.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::release::{PROFILE, Release, SCRIPT, SPEC, tree};
use crate::needs;
use crate::support::Ran;
use opal_testing::processes::{eventually, is_running, signal, unique};

pub(super) const CANARY: &str = "canary-2241-v";

/// An apply that fails behind what it has made, and outputs that tell which of it was a secret.
const APPLY: &str = "apply) echo 'made canary-2241-v'; echo 'canary-2241-v is lost' >&2; exit 7 ;;";
const OUTPUT: &str =
    "output) echo '{\"db\": {\"sensitive\": true, \"value\": \"canary-2241-v\"}}' ;;";

/// `core/net` on Terraform, with this profile and this file.
fn release(profile: &str, main: &str) -> Release {
    let release = Release::new(SCRIPT)
        .file("rel/modules/core/net/spec.yml", SPEC.replace("shell/script", "iac/terragrunt"))
        .file(
            "rel/drivers/iac/terragrunt/profiles/local@v1.profile.yml",
            format!("{}{profile}", PROFILE.replace("shell/script", "iac/terragrunt")),
        )
        .file("rel/packs/iac/terragrunt/net/stack/main.tf", main)
        .file("bin/.keep", "");
    let path = format!("{}:/usr/bin:/bin", release.path("bin").display());
    release.env("PATH", &path)
}

/// The same, on a stand-in that keeps a log of what it was asked.
pub(super) fn stand_in(profile: &str, cases: &[&str]) -> Release {
    let text = format!(
        "#!/bin/sh\necho \"$1\" >> \"$(dirname \"$0\")/log\"\ncase $1 in\n{}\nesac\n",
        cases.join("\n")
    );
    let release = release(profile, "").file("bin/tofu", text);
    fs::set_permissions(release.path("bin/tofu"), fs::Permissions::from_mode(0o755)).unwrap();
    release
}

pub(super) fn log(release: &Release) -> Vec<String> {
    let text = fs::read_to_string(release.path("bin/log")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The files that hold the secret, except for the state of the tool.
pub(super) fn in_clear(release: &Release, secret: &str) -> Vec<PathBuf> {
    let holds = |content: &[u8]| String::from_utf8_lossy(content).contains(secret);
    let all = ["root", "records"].into_iter().flat_map(|folder| tree(&release.path(folder)));
    let found = all.filter(|(.., content)| holds(content)).map(|(path, ..)| path);
    found.filter(|path| !path.starts_with(release.path("root/state/tools"))).collect()
}

pub(super) fn nothing() -> Vec<PathBuf> {
    Vec::new()
}

pub(super) fn printed(release: &Release, stream: &str) -> String {
    let name = format!("terragrunt_apply.{stream}.txt");
    fs::read_to_string(release.evidence().join(name)).unwrap()
}

#[test]
fn what_a_failed_apply_has_printed_of_a_sensitive_output_is_hidden() {
    let release = stand_in("", &[APPLY, OUTPUT]);
    release.apply(&[]).code(7);
    assert_eq!(log(&release), ["init", "output", "apply", "output"]);
    assert_eq!(in_clear(&release, CANARY), nothing());
    assert_eq!(printed(&release, "stdout"), "made <redacted>\n");
    assert_eq!(printed(&release, "stderr"), "<redacted> is lost\n");
    assert_eq!(release.document("driver_result.json")["error"], "terragrunt_apply ended with 7");
    assert_eq!(release.document("terragrunt_output.result.json")["rc"], 0);
    assert_eq!(release.state()["status"], "error");
    assert_eq!(release.state()["outputs"], json!({}), "nothing is published");
}

#[test]
fn outputs_that_cannot_be_told_change_nothing_of_how_an_apply_has_failed() {
    for output in ["output) exit 3 ;;", "output) echo '{\"db' ;;", "output) kill -9 $$ ;;"] {
        let release = stand_in("policy: {defaults: {retries: 0}}\n", &[APPLY, output]);
        let ran = release.apply(&["--json"]).code(7).json();
        assert_eq!(ran["error"]["message"], "terragrunt_apply ended with 7", "{output}");
        assert_eq!(release.document("driver_result.json")["status"], "error");
        assert_eq!(log(&release).last().unwrap(), "output");
    }
    let release = stand_in("", &["apply) ;;", "output) exit 3 ;;"]);
    release.apply(&[]).code(3).says("terragrunt_output ended with 3");
}

#[test]
fn outputs_are_asked_for_once_all_attempts_have_failed_and_not_where_nothing_was_applied() {
    let release = stand_in("policy: {defaults: {retries: 1}}\n", &[APPLY, OUTPUT]);
    release.apply(&[]).code(7);
    assert_eq!(log(&release), ["init", "output", "apply", "apply", "output"]);
    let release = stand_in("", &["init) exit 4 ;;", OUTPUT]);
    release.apply(&[]).code(4);
    assert_eq!(log(&release), ["init"]);
}

#[test]
fn outputs_that_do_not_come_are_not_waited_for_longer_than_for_any_tool() {
    let profile = "policy: {defaults: {command_timeout_s: 1}}\n";
    let release = stand_in(profile, &[APPLY, "output) exec sleep 600 ;;"]);
    release.apply(&[]).code(7).says("terragrunt_apply ended with 7");
    assert_eq!(release.document("terragrunt_output.result.json")["rc"], 124);
}

#[test]
fn outputs_are_asked_for_within_a_limit_where_a_profile_has_none() {
    let release = stand_in("", &[APPLY, OUTPUT]);
    let ran = release.run(&["apply", "core/net", "--dry-run"]);
    let plan = &ran.code(0).stdout;
    assert_eq!(plan.matches("@timeout(duration=5m)").count(), 2, "{plan}");
}

#[test]
fn what_an_apply_that_was_stopped_has_printed_is_hidden() {
    let release = stand_in("", &[]);
    let word = unique(&release.path(""));
    let waits = replaces(&format!("exec python3 -c 'import time; time.sleep(600)' {word}"));
    let release =
        release.file("bin/tofu", format!("#!/bin/sh\ncase $1 in\n{waits}\n{REPLACED}\nesac\n"));
    let child = release.started(&["apply", "core/net"]).spawn().unwrap();
    eventually("the tool waits", || is_running(&word));
    let lists = tree(&release.path("root/state/exposed"));
    let list: Vec<_> =
        lists.into_iter().map(|(.., text)| String::from_utf8(text).unwrap()).collect();
    for name in ["hyops.outputs.json", "hyops.outputs.before.json"] {
        assert!(
            list.concat().contains(name),
            "where opal is killed, the next run removes `{name}`"
        );
    }
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130);
    both_are_hidden(&release);
    assert_eq!(release.state()["status"], "error");
}

#[test]
fn what_is_looked_at_or_taken_down_is_asked_for_its_outputs_before() {
    for (verb, tool) in [("plan", "plan"), ("verify", "plan"), ("destroy", "destroy")] {
        let prints = format!("{tool}) echo 'input = {CANARY} -> null' ;;");
        let release = stand_in("", &[&prints, OUTPUT]);
        release.run(&[verb, "core/net"]).code(0);
        assert_eq!(log(&release), ["init", "output", tool]);
        assert_eq!(in_clear(&release, CANARY), nothing(), "{verb}");
        let evidence = release.evidence().join(format!("terragrunt_{tool}.stdout.txt"));
        assert_eq!(fs::read_to_string(evidence).unwrap(), "input = <redacted> -> null\n");
    }
}

/// Outputs that are others once an apply has begun, one of them without a secret.
const REPLACED: &str = "output)
if [ -e \"$(dirname \"$0\")/applied\" ]
then echo '{\"db\": {\"sensitive\": true, \"value\": \"canary-2241-v\"}, \"name\": {\"value\": \"net-2\"}}'
else echo '{\"db\": {\"sensitive\": true, \"value\": \"earlier-1130-v\"}, \"name\": {\"value\": \"net-1\"}}'
fi ;;";
const EARLIER: &str = "earlier-1130-v";

/// An apply that prints both, and ends like this.
fn replaces(end: &str) -> String {
    format!(
        "apply) touch \"$(dirname \"$0\")/applied\"\n\
         echo 'input = {EARLIER} -> {CANARY}'; echo 'was {EARLIER}' >&2; {end} ;;"
    )
}

fn both_are_hidden(release: &Release) {
    for secret in [EARLIER, CANARY] {
        assert_eq!(in_clear(release, secret), nothing(), "{secret}");
    }
    assert_eq!(printed(release, "stdout"), "input = <redacted> -> <redacted>\n");
    // Behind that, a program that was stopped may say where.
    assert!(printed(release, "stderr").starts_with("was <redacted>\n"));
    let work = tree(&release.path("root/work"));
    let outputs = work.iter().filter(|(path, ..)| path.to_string_lossy().contains("outputs"));
    assert_eq!(outputs.count(), 0);
}

#[test]
fn a_sensitive_output_that_an_apply_replaces_is_hidden_as_it_was_and_as_it_is() {
    let release = stand_in("", &[&replaces("exit 0"), REPLACED]);
    release.apply(&[]).code(0);
    both_are_hidden(&release);
    assert_eq!(release.document("terragrunt_output_before.result.json")["rc"], 0);
    assert_eq!(
        release.state()["outputs"],
        json!({"name": "net-2"}),
        "the earlier is not published"
    );
}

#[test]
fn an_output_that_is_no_longer_sensitive_is_published_by_the_next_run() {
    let apply = "apply) touch \"$(dirname \"$0\")/applied\"; echo 'it is kept-1130-v' ;;";
    let output = "output) test -e \"$(dirname \"$0\")/applied\" && is=false || is=true\n\
        echo \"{\\\"name\\\": {\\\"sensitive\\\": $is, \\\"value\\\": \\\"kept-1130-v\\\"}}\" ;;";
    let release = stand_in("", &[apply, output]);
    let warning = "the output `name` was secret when the run began: the next run publishes it";
    release.apply(&[]).code(0).says(warning);
    assert_eq!(release.state()["outputs"], json!({}));
    assert_eq!(printed(&release, "stdout"), "it is <redacted>\n");
    release.apply(&[]).code(0);
    assert_eq!(release.state()["outputs"], json!({"name": "kept-1130-v"}));
    assert_eq!(printed(&release, "stdout"), "it is kept-1130-v\n");
}

#[test]
fn a_failed_apply_hides_what_it_was_to_replace() {
    let release = stand_in("", &[&replaces("exit 7"), REPLACED]);
    release.apply(&[]).code(7).says("terragrunt_apply ended with 7");
    both_are_hidden(&release);
    assert_eq!(release.state()["outputs"], json!({}));
}

#[test]
fn what_was_sensitive_before_is_hidden_while_the_tools_behind_print_it() {
    let looks =
        format!("echo 'was {EARLIER}'; test -e hyops.outputs.before.json || echo 'it is gone'");
    let release = stand_in("", &[&format!("plan) {looks} ;;"), &replaces(&looks), REPLACED]);
    for verb in ["plan", "apply"] {
        let events = release.path("events.jsonl");
        let ran = release.run(&[verb, "core/net", "--events", &events.display().to_string()]);
        ran.code(0).says("was <redacted>").says("it is gone");
        assert!(!ran.stdout.contains(EARLIER) && !ran.stderr.contains(EARLIER), "{verb}");
        assert!(!fs::read_to_string(events).unwrap().contains(EARLIER), "{verb}");
    }
}

#[test]
fn what_was_sensitive_before_is_hidden_where_opal_is_killed() {
    let release = stand_in("", &[]);
    let word = unique(&release.path(""));
    let waits = replaces(&format!("exec python3 -c 'import time; time.sleep(20)' {word}"));
    let release =
        release.file("bin/tofu", format!("#!/bin/sh\ncase $1 in\n{waits}\n{REPLACED}\nesac\n"));
    let mut child = release.started(&["apply", "core/net"]).spawn().unwrap();
    eventually("the tool waits", || is_running(&word));
    signal(&child, "KILL");
    child.wait().unwrap();
    assert_eq!(in_clear(&release, EARLIER), nothing());
}

/// The real tools of this machine, by their names.
pub(super) fn real() -> Vec<(&'static str, PathBuf)> {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let found = |name| folders.iter().map(|it| it.join(name)).find(|path| path.is_file());
    ["tofu", "terraform"].into_iter().filter_map(|name| Some((name, found(name)?))).collect()
}

#[test]
fn the_real_tools_tell_what_was_sensitive_after_an_apply_that_failed() {
    let tools = real();
    if !needs::has("tofu or terraform", !tools.is_empty()) {
        return;
    }
    let main = "\
resource \"terraform_data\" \"first\" {
  input = join(\"-\", [\"canary\", \"2241\", \"v\"])
  provisioner \"local-exec\" { command = \"echo made ${self.input}\" }
}
resource \"terraform_data\" \"second\" {
  depends_on = [terraform_data.first]
  provisioner \"local-exec\" { command = \"exit 3\" }
}
output \"db\" {
  value     = terraform_data.first.output
  sensitive = true
}
";
    for (name, tool) in tools {
        let spec = SPEC.replace("shell/script", "iac/terragrunt");
        let spec = spec.replace("{size: small, network: {cidr: 10.0.0.0/8}}", "{}");
        let release = release("", main).file("rel/modules/core/net/spec.yml", spec);
        symlink(tool, release.path("bin").join(name)).unwrap();
        release.apply(&[]).code(1).says("terragrunt_apply ended with 1");
        assert_eq!(in_clear(&release, CANARY), nothing());
        assert!(printed(&release, "stdout").contains("(local-exec): made <redacted>\n"));
    }
}

#[test]
fn the_real_tools_tell_what_an_apply_replaces() {
    let tools = real();
    if !needs::has("tofu or terraform", !tools.is_empty()) {
        return;
    }
    let main = "\
variable \"db_password\" {}
locals { conn = \"conn-${var.db_password}-v\" }
resource \"terraform_data\" \"first\" { input = upper(local.conn) }
resource \"terraform_data\" \"second\" { input = jsonencode({ alpha = replace(local.conn, \"conn\", \"Conn\") }) }
output \"db\" {
  value     = upper(local.conn)
  sensitive = true
}
output \"document\" {
  value     = jsonencode({ alpha = replace(local.conn, \"conn\", \"Conn\") })
  sensitive = true
}
";
    for (name, tool) in tools {
        let spec = SPEC.replace("shell/script", "iac/terragrunt");
        let spec =
            spec.replace("{size: small, network: {cidr: 10.0.0.0/8}}", "{db_password: \"\"}");
        let mut release = release("", main).file("rel/modules/core/net/spec.yml", spec);
        symlink(tool, release.path("bin").join(name)).unwrap();
        for secret in ["alpha-2241", "beta-1130"] {
            release = release.env("HYOPS_INPUT_db_password", secret);
            release.apply(&[]).code(0);
            assert!(printed(&release, "stdout").contains("input  = \"<redacted>\""));
        }
        for secret in
            ["CONN-ALPHA-2241-V", "CONN-BETA-1130-V", "Conn-alpha-2241-v", "Conn-beta-1130-v"]
        {
            assert_eq!(in_clear(&release, secret), nothing());
        }
    }
}
