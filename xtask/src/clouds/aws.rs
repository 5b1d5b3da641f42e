//! The provider of AWS with some of its services. The whole of it takes an hour to build.
//!
//! Two of its files are lists of all services: which it registers, and the clients of their libraries. Without the
//! lines of the others Go builds only what is left.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::chores::run;

/// The services that it has.
const SERVICES: [&str; 11] =
    ["dynamodb", "ec2", "iam", "kms", "logs", "meta", "s3", "sns", "sqs", "ssm", "sts"];

/// What of a checkout is needed.
const PARTS: [&str; 6] = ["go.mod", "go.sum", "main.go", "internal", "names", "version"];

const SERVICE: &str = "terraform-provider-aws/internal/service/";
const REGISTERED: &str = "internal/provider/sdkv2/service_packages_gen.go";
const CLIENTS: &str = "internal/conns/awsclient_gen.go";
const CLIENT: &str = "func (c *AWSClient) ";

const FOLDER: &str = "target/tools/providers";

pub(super) fn build(root: &Path, go: &str, checkout: &Path) -> Result<(), String> {
    let copy = root.join(FOLDER).join("src-aws");
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(&copy).map_err(|error| format!("`{}`: {error}", copy.display()))?;
    for part in PARTS {
        let from = checkout.join(part);
        let (from, to) = (from.display().to_string(), copy.display().to_string());
        run(root, &["cp", "-r", "--no-preserve=mode", &from, &to])?;
    }
    let built = cut(&copy).and_then(|()| {
        let to = "../terraform-provider-aws";
        run(&copy, &[go, "build", "-trimpath", "-ldflags=-s -w", "-o", to, "."])
    });
    let _ = fs::remove_dir_all(&copy);
    built
}

/// Leaves only our services in both lists.
fn cut(copy: &Path) -> Result<(), String> {
    let rewrite = |name: &str, with: &dyn Fn(&str) -> String| {
        let path = copy.join(name);
        let failed = |error: std::io::Error| format!("`{name}`: {error}");
        let text = fs::read_to_string(&path).map_err(failed)?;
        fs::write(&path, with(&text)).map_err(failed)
    };
    rewrite(REGISTERED, &registered)?;
    let sources = sources(copy)?;
    rewrite(CLIENTS, &|text| clients(text, &sources))
}

/// The sources of our services, of those that they use, and of what is not a service.
fn sources(copy: &Path) -> Result<String, String> {
    let (mut text, mut read) = (String::new(), BTreeSet::new());
    let mut left: Vec<String> = SERVICES.map(str::to_owned).to_vec();
    for entry in entries(&copy.join("internal"))? {
        if !entry.ends_with("service") {
            collect(&entry, &mut text)?;
        }
    }
    while let Some(service) = left.pop() {
        if !read.insert(service.clone()) {
            continue;
        }
        let mut own = String::new();
        collect(&copy.join("internal/service").join(&service), &mut own)?;
        let named = own.split(SERVICE).skip(1);
        let name = |rest: &str| rest.split(['"', '/']).next().unwrap_or_default().to_owned();
        left.extend(named.map(name));
        text.push_str(&own);
    }
    Ok(text)
}

/// The texts of all sources of a directory, without tests and the lists themselves.
fn collect(path: &Path, text: &mut String) -> Result<(), String> {
    if path.is_dir() {
        return entries(path)?.iter().try_for_each(|entry| collect(entry, text));
    }
    let name = path.to_string_lossy();
    if name.ends_with(".go") && !name.ends_with("_test.go") && !name.ends_with(CLIENTS) {
        let own = fs::read_to_string(path).map_err(|error| format!("`{name}`: {error}"))?;
        text.push_str(&own);
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let failed = |error: std::io::Error| format!("`{}`: {error}", folder.display());
    let all = fs::read_dir(folder).map_err(failed)?;
    let all: Result<Vec<_>, _> = all.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut all = all.map_err(failed)?;
    all.sort();
    Ok(all)
}

/// The list of services without the others.
fn registered(text: &str) -> String {
    let is_ours = |name: &str| SERVICES.contains(&name);
    let stays = |line: &&str| {
        let line = line.trim();
        let imported = line.split_once(SERVICE).map(|(_, rest)| rest.trim_end_matches('"'));
        let listed = line.strip_suffix(".ServicePackage(ctx),");
        imported.or(listed).is_none_or(is_ours)
    };
    lines(text.lines().filter(stays))
}

/// The list of clients without those that nobody uses, and without their libraries.
fn clients(text: &str, sources: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_left_out = false;
    for line in text.lines() {
        if let Some((name, _)) = line.strip_prefix(CLIENT).and_then(|rest| rest.split_once('(')) {
            is_left_out = !sources.contains(&format!(".{name}("));
        }
        if !is_left_out {
            kept.push(line);
        }
        if line == "}" {
            is_left_out = false;
        }
    }
    let body = lines(kept.iter().copied());
    let is_used = |line: &&str| {
        let Some((_, path)) = line.split_once("aws-sdk-go-v2/service/") else { return true };
        let last = path.trim_end_matches('"').rsplit('/').next().unwrap_or_default();
        let alias = line.split('"').next().unwrap_or_default().trim();
        let name = if alias.is_empty() { last } else { alias };
        body.contains(&format!("*{name}.Client"))
    };
    lines(kept.iter().copied().filter(is_used))
}

fn lines<'t>(all: impl Iterator<Item = &'t str>) -> String {
    all.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_services_are_registered() {
        let text = "import (\n\t\"github.com/hashicorp/terraform-provider-aws/internal/conns\"\n\
                    \t\"github.com/hashicorp/terraform-provider-aws/internal/service/acm\"\n\
                    \t\"github.com/hashicorp/terraform-provider-aws/internal/service/iam\"\n)\n\
                    \t\tacm.ServicePackage(ctx),\n\t\tiam.ServicePackage(ctx),\n";
        let left = registered(text);
        assert!(left.contains("internal/conns") && left.contains("service/iam"), "{left}");
        assert!(left.contains("iam.ServicePackage(ctx),") && !left.contains("acm"), "{left}");
    }

    #[test]
    fn only_clients_that_are_used_stay_with_their_libraries() {
        let function = |name: &str, of: &str| {
            format!(
                "func (c *AWSClient) {name}(ctx context.Context) *{of}.Client {{\n\
                 \treturn errs.Must(client[*{of}.Client](ctx, c, names.X, nil))\n}}\n\n"
            )
        };
        let text = format!(
            "import (\n\t\"context\"\n\t\"github.com/aws/aws-sdk-go-v2/service/acm\"\n\
             \tother \"github.com/aws/aws-sdk-go-v2/service/iam\"\n)\n\n{}{}",
            function("ACMClient", "acm"),
            function("IAMClient", "other")
        );
        let left = clients(&text, "conn := meta.IAMClient(ctx)");
        assert!(left.contains("IAMClient") && left.contains("service/iam"), "{left}");
        assert!(left.contains("\"context\"") && !left.contains("acm"), "{left}");
        assert!(!left.contains("ACMClient"), "{left}");
    }
}
