//! Scripts of a `package.json`.

use opal_convert::{Format, Options, convert};

use crate::{assert_program, assert_result, options, registry};

const SCRIPTS: &str = "{\n  \"scripts\": {\n    \"build\": \"vite build\",\n    \"lint:css\": \"stylelint .\",\n    \
                       \"ci\": \"npm run lint:css && npm run build\",\n    \"prebuild\": \"rimraf dist\"\n  }\n}\n";

#[test]
fn scripts_are_run_by_the_package_manager() {
    assert_result(
        Format::Package,
        SCRIPTS,
        "fun build(args...) {\n    npm run build -- @var.args\n}\n\n\
         fun lint-css(args...) {\n    npm run lint:css -- @var.args\n}\n\n\
         fun ci(args...) {\n    npm run ci -- @var.args\n}\n\n\
         fun prebuild(args...) {\n    npm run prebuild -- @var.args\n}\n",
        "exact exact exact exact",
    );
}

#[test]
fn the_lock_file_or_the_file_itself_names_the_manager() {
    let registry = registry();
    let written = |text: &str, siblings: &[&'static str]| {
        let options = Options { siblings, ..options(&registry) };
        convert(text, Format::Package, options).expect("it is JSON").source
    };
    let text = "{\"scripts\": {\"a\": \"x\"}}";
    assert!(written(text, &["pnpm-lock.yaml"]).contains("pnpm run a @var.args"));
    assert!(written(text, &["yarn.lock"]).contains("yarn run a @var.args"));
    assert!(written(text, &["bun.lock"]).contains("bun run a @var.args"));
    let named = "{\"packageManager\": \"pnpm@9.1.0\", \"scripts\": {\"a\": \"x\"}}";
    assert!(written(named, &["yarn.lock"]).contains("pnpm run a @var.args"));
}

#[test]
fn inline_translates_the_commands() {
    let registry = registry();
    let options = Options { inline: true, ..options(&registry) };
    let found = convert(SCRIPTS, Format::Package, options).expect("it is JSON");
    assert_program(&found, &registry);
    for part in [
        "    @cmd.prebuild()\n    export PATH=\"$PWD/node_modules/.bin:$PATH\"; vite build @var.args\n",
        "fun ci() {\n    @cmd.lint-css()\n    @cmd.build()\n}\n",
    ] {
        assert!(found.source.contains(part), "{part}\n{}", found.source);
    }
}
