//! The work that opal is made for, from end to end, with stand-ins for tools that reach out: each
//! writes down what it was called with.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Opal, Ran};

/// A project with stand-ins for `tools`, which write to `calls`.
fn with_tools(text: &str, tools: &[&str]) -> Opal {
    let opal = Opal::machine(text);
    let folder = opal.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    for tool in tools {
        let path = folder.join(tool);
        let stub = format!(
            "#!/bin/sh\nfor word; do printf '{tool} <%s>\\n' \"$word\"; done >> \"$CALLS\"\n"
        );
        std::fs::write(&path, stub).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    let calls = opal.path().join("calls").display().to_string();
    opal.env("PATH", &path).env("CALLS", &calls)
}

fn calls(opal: &Opal) -> String {
    std::fs::read_to_string(opal.path().join("calls")).unwrap_or_default()
}

#[test]
fn a_deployment_follows_the_branch_that_the_environment_chose() {
    let text = "var STAGE = @env.STAGE\nvar REPLICAS = int(@env.REPLICAS(default=\"2\"))\n\n\
                fun deploy(services: Array[String] = [\"api\", \"worker\"]) {\n    when STAGE {\n        \
                \"production\" -> kubectl apply -f k8s/prod/\n        else -> kubectl apply -f k8s/dev/\n    }\n    \
                for service in services {\n        \
                kubectl scale deployment/@var.service --replicas=@var.REPLICAS\n    }\n}\n";
    let opal = with_tools(text, &["kubectl"]);
    let environment = [("STAGE", "production"), ("REPLICAS", "3")];
    opal.call_with(&environment, &["deploy"]).code(0).says("replicas=3");
    let expected = "kubectl <apply>\nkubectl <-f>\nkubectl <k8s/prod/>\nkubectl <scale>\n\
                    kubectl <deployment/api>\nkubectl <--replicas=3>\nkubectl <scale>\n\
                    kubectl <deployment/worker>\nkubectl <--replicas=3>\n";
    assert_eq!(calls(&opal), expected);
}

#[test]
fn a_generated_password_reaches_the_program_and_nobody_else() {
    let text = "var PASSWORD = @random.password(length=24, alphabet=\"A-Za-z0-9!@#\")\n\n\
                fun deploy() {\n    \
                kubectl create secret generic db --from-literal=password=@var.PASSWORD\n}\n";
    let opal = with_tools(text, &["kubectl"]);
    let ran = opal.call(&["deploy"]);
    let calls = calls(&opal);
    let (_, password) = calls.trim_end().trim_end_matches('>').rsplit_once('=').unwrap();
    assert_eq!(password.chars().count(), 24);
    ran.code(0).hides(password).says("password=<24:sha256:");
    opal.call(&["plan", "deploy", "-o", "d.plan"]).code(0);
    for _ in 0..2 {
        opal.call(&["run", "--plan", "d.plan"]).code(0);
    }
    let again = self::calls(&opal);
    let drawn: Vec<&str> = again.lines().filter(|line| line.contains("password=")).collect();
    assert_ne!(drawn[0], drawn[1], "a direct run draws its own");
    assert_eq!(drawn[1], drawn[2], "a contract draws the same at every run");
}

#[test]
fn the_directory_carries_on_and_operators_belong_to_the_shell() {
    let text = "fun build() {\n    mkdir -p tmp/build && cd tmp/build\n    npm install && npm run build\n    \
                basename \"$PWD\"\n    echo \"First\" && false || echo \"Fallback\"\n}\n";
    let opal = with_tools(text, &["npm"]);
    opal.call(&["build"]).code(0).stdout("build\nFirst\nFallback\n");
    assert_eq!(calls(&opal), "npm <install>\nnpm <run>\nnpm <build>\n");
}

#[test]
fn a_database_is_migrated_and_brought_back_on_failure() {
    let text = "fun migrate() {\n    let.url = @shell(\"cat url\")\n    \
                try {\n        psql @let.url --file migrate.sql\n        test -e healthy\n    } catch {\n        \
                psql @let.url --file before.sql\n        @log(\"rolled back\", level=\"warn\")\n    } finally {\n        \
                rm -f before.sql\n    }\n}\n";
    let opal = with_tools(text, &["psql"])
        .file("before.sql", "")
        .file("url", "postgres://app:s3cret-word@db/app\n");
    let ran: Ran = opal.call(&["migrate"]);
    ran.code(0).hides("s3cret").says("rolled back");
    assert!(
        calls(&opal)
            .contains("psql <postgres://app:s3cret-word@db/app>\npsql <--file>\npsql <before.sql>")
    );
    assert!(!opal.path().join("before.sql").exists());
}

#[test]
fn shipped_examples_run() {
    let examples = crate::support::repository().join("examples");
    let hello = examples.join("hello.opl").display().to_string();
    let opal = Opal::machine("");
    opal.call(&["-f", &hello, "hello", "--name", "you"]).code(0).stdout("hello, you\n");
    opal.call(&["-f", &hello, "hello", "--loud"]).code(0).stdout("HELLO, WORLD!\n");
}
