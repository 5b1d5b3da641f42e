//! Blocks in pods, with a stand-in for `kubectl`, and in a cluster where `$OPAL_TEST_KUBECONFIG` names one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use opal_testing::needs;

use crate::support::{Opal, binary};

/// A project whose `kubectl` knows these pods, and what it was asked.
struct Cluster {
    opal: Opal,
    folder: tempfile::TempDir,
}

impl Cluster {
    fn new(pods: &str, source: &str) -> Option<Self> {
        let helper = binary().with_file_name("opal-target");
        if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (log, list) = (folder.path().join("log"), folder.path().join("pods"));
        fs::write(&list, pods).unwrap();
        // It does what the real one does: lists names, or runs the command after `--` with its own pipes.
        let text = format!(
            "#!/bin/sh\nfor w in \"$@\"; do [ \"$w\" = -- ] && break; printf '%s ' \"$w\"; done >>{log}\n\
             echo >>{log}\ncase \" $* \" in *' get pods '*) cat {list}; exit;; esac\n\
             while [ \"$1\" != exec ]; do shift; done; POD=$3; export POD\n\
             while [ \"$1\" != -- ]; do shift; done; shift\nexec \"$@\"\n",
            log = log.display(),
            list = list.display(),
        );
        let program = folder.path().join("kubectl");
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let opal = Opal::project(source).env("PATH", &path);
        Some(Self { opal, folder })
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn asked(&self) -> Vec<String> {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

#[test]
fn a_block_runs_in_the_pod_that_is_named() {
    let source = "fun task() {\n    @k8s.exec(\"web-0\", namespace=\"shop\", container=\"app\", context=\"a@eu:1/x\") {\n        \
                  echo \"$POD is @target.name\"\n    }\n}\n";
    let Some(cluster) = Cluster::new("", source) else { return };
    assert_eq!(cluster.opal.call(&["task"]).code(0).stdout, "web-0 is web-0\n");
    assert_eq!(
        cluster.asked(),
        ["--context a@eu:1/x --namespace shop exec -i web-0 -c app"],
        "nothing is listed where the pod is named"
    );
}

#[test]
fn a_selector_runs_the_block_in_every_pod_and_lists_them_first() {
    let source = "fun task() {\n    @k8s.exec(selector=\"app=web,tier in (a, b)\", namespace=\"shop\") {\n        \
                  echo \"on $POD\"\n    }\n}\n";
    let Some(cluster) = Cluster::new("web-1\nweb-0\n", source) else { return };
    let ran = cluster.opal.call(&["task"]);
    assert_eq!(ran.code(0).stdout, "on web-0\non web-1\n");
    ran.says("pods with `app=web,tier in (a, b)`: web-0 web-1");
    let asked = cluster.asked();
    assert!(
        asked[0].starts_with(
            "--namespace shop get pods --selector=app=web,tier in (a, b) \
             --field-selector=status.phase=Running --output=jsonpath="
        ),
        "{asked:?}"
    );
    assert_eq!(asked.len(), 3, "{asked:?}");
}

#[test]
fn a_quick_plan_asks_no_cluster() {
    let source = "fun task() {\n    @k8s.exec(selector=\"app=web\") {\n        id\n    }\n}\n";
    let Some(cluster) = Cluster::new("web-0\n", source) else { return };
    cluster.opal.call(&["task", "--dry-run"]).code(0);
    cluster.opal.call(&["check"]).code(0);
    assert_eq!(cluster.asked(), [""; 0]);
}

#[test]
fn a_secret_does_not_reach_a_foreign_pod_that_has_the_label() {
    let source = "fun task() {\n    var TOKEN = @secret.env.TOKEN\n    \
                  @k8s.exec(selector=\"app=web\") {\n        echo @var.TOKEN > /dev/null\n    }\n}\n";
    let Some(cluster) = Cluster::new("web-0\nweb-0-evil\n", source) else { return };
    let opal = &cluster.opal;
    let ran = opal.call_with(&[("TOKEN", "correct-horse")], &["task"]);
    ran.code(65).says("E1507").says("web-0 web-0-evil").says("expect=2");
    assert!(!cluster.asked().iter().any(|line| line.contains("exec")), "{:?}", cluster.asked());
    // Who expects both gets both, and one alone is fine.
    let source = source.replace("\"app=web\"", "\"app=web\", expect=2");
    let Some(cluster) = Cluster::new("web-0\nweb-1\n", &source) else { return };
    cluster.opal.call_with(&[("TOKEN", "correct-horse")], &["task"]).code(0);
    let Some(cluster) = Cluster::new("web-0\n", &source.replace(", expect=2", "")) else { return };
    cluster.opal.call_with(&[("TOKEN", "correct-horse")], &["task"]).code(0);
}

#[test]
fn names_of_pods_and_selectors_have_closed_grammars() {
    for (arguments, said) in [
        ("\"--kubeconfig=x\"", "must not begin with `-`"),
        ("selector=\"--all\"", "must not begin with `-`"),
        ("selector=\"a=b;id\"", "must not contain `;`"),
        ("\"web-0\", namespace=\"../x\"", "must not begin with `.`"),
        ("\"web-0\", context=\"a b\"", "must not contain ` `"),
        ("\"web-0\", container=\"a/b\"", "must not contain `/`"),
    ] {
        let source =
            format!("fun task() {{\n    @k8s.exec({arguments}) {{\n        id\n    }}\n}}\n");
        let Some(cluster) = Cluster::new("", &source) else { return };
        cluster.opal.call(&["plan", "task", "--resolve"]).code(65).says("E1501").says(said);
        assert_eq!(cluster.asked(), [""; 0]);
    }
    // A cluster that lists something else than names is refused too.
    let source = "fun task() {\n    @k8s.exec(selector=\"app=web\") {\n        id\n    }\n}\n";
    let Some(cluster) = Cluster::new("web-0\n--kubeconfig=x\n", source) else { return };
    cluster.opal.call(&["task"]).code(65).says("must not begin with `-`");
    let Some(cluster) = Cluster::new("", source) else { return };
    cluster.opal.call(&["task"]).code(65).says("no running pod has the labels `app=web`");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "`kubectl` is the user's, and a variable names the cluster"
)]
fn a_real_cluster_runs_the_block_in_its_pods() {
    let variables = ["OPAL_TEST_KUBECONFIG", "PATH"].map(std::env::var_os);
    let has_cluster = variables[0].is_some();
    if !needs::has("a cluster of Kubernetes, in `$OPAL_TEST_KUBECONFIG`", has_cluster) {
        return;
    }
    let [config, path] = variables.map(|it| it.unwrap().into_string().unwrap());
    let name = format!("opal-test-{}", std::process::id());
    let kubectl = |words: &str| {
        let mut command = Command::new("kubectl");
        command.args(words.replace("NAME", &name).split(' ')).env("KUBECONFIG", &config);
        let output = command.output().unwrap();
        assert!(output.status.success(), "kubectl {words}: {output:?}");
    };
    kubectl(
        "run NAME --image=docker.io/library/busybox:1 --labels=app=NAME --restart=Never -- sleep 600",
    );
    kubectl("wait --for=condition=Ready pod/NAME --timeout=180s");
    let source = format!(
        "fun task() {{\n    @k8s.exec(selector=\"app={name}\") {{\n        @file.copy(destination=\"/tmp/x\", content=\"sent\")\n        \
         echo \"$(cat /tmp/x) to $(hostname)\"\n        exit 7\n    }}\n}}\n"
    );
    let opal = Opal::project(&source).env("KUBECONFIG", &config).env("PATH", &path);
    let ran = opal.call(&["task"]);
    kubectl("delete pod NAME --now");
    assert_eq!(ran.code(7).stdout, format!("sent to {name}\n"));
}
