//! Makefiles.

use opal_convert::{Format, Grade};

use crate::{assert_result, converted, reasons};

fn assert_make(text: &str, expected: &str, grades: &str) {
    assert_result(Format::Make, text, expected, grades);
}

#[test]
fn rules_are_functions() {
    assert_make(
        ".PHONY: all build test clean\n\nBIN := app\nFLAGS = -v -race\n\nall: build test\n\n\
         build: ## Build it.\n\t@go build -o $(BIN) ./cmd/$@\n\n\
         test: build\n\tgo test $(FLAGS) ./... $${EXTRA}\n\ncd: \n\tcd sub && $(MAKE) x\n\t$(MAKE) clean\n\n\
         clean:\n\t-rm -f $(BIN)\n",
        "var BIN = \"app\"\nvar FLAGS = [\"-v\", \"-race\"]\n\n\
         fun all() {\n    @needs.build()\n    @needs.test()\n}\n\n\
         # Build it.\nfun build() {\n    go build -o @var.BIN ./cmd/build\n}\n\n\
         fun test() {\n    @needs.build()\n    go test @var.FLAGS ./... ${EXTRA}\n}\n\n\
         fun cd() {\n    ( cd sub && make x )\n    @cmd.clean()\n}\n\n\
         fun clean() {\n    rm -f @var.BIN || true\n}\n",
        "exact exact exact adapted exact",
    );
}

#[test]
fn variables_come_from_the_environment_and_from_commands() {
    assert_make(
        "STAGE ?= dev\nTAG := $(shell git describe)\nexport STAGE\ndeploy:\n\t./deploy $(STAGE) $(TAG) $(HOST)x\n",
        "var STAGE = @env.STAGE(default=\"dev\")\nvar TAG = @shell.output(\"git describe\")\n\
         var HOST = @env.HOST(default=\"\")\n\n\
         fun deploy() {\n    @environ(STAGE=STAGE) {\n        ./deploy @var.STAGE @var.TAG @var.HOST()x\n    }\n}\n",
        "exact",
    );
}

#[test]
fn conditions_on_windows_are_decided_and_others_are_statements() {
    assert_make(
        "ifeq ($(OS),Windows_NT)\nRM = del\nelse\nRM = rm\nendif\nifdef DEBUG\nMODE = debug\nelse\nMODE = fast\nendif\n\
         a:\n\t$(RM) $(MODE)\n",
        "var RM = \"rm\"\nvar DEBUG = @env.DEBUG(default=\"\")\n\n\
         fun a() {\n    var MODE = \"\"\n    if DEBUG != \"\" {\n        MODE = \"debug\"\n    } else {\n        \
         MODE = \"fast\"\n    }\n    @var.RM @var.MODE\n}\n",
        "exact",
    );
}

#[test]
fn a_rule_whose_names_are_not_known_says_what_they_depend_on() {
    let text = "NAMES := $(shell ls)\nLATER = $(NAMES) x\nLOOP = $(LOOP)\n\
                $(NAMES):\n\techo 1\n$(LATER): y\n\techo 2\n$(HOST)-up:\n\techo 3\n\
                $(wildcard *.c):\n\techo 4\n*.h:\n\techo 5\n$(join a b,c):\n\techo 6\n\
                $(CURDIR)/x:\n\techo 7\n";
    let converted = converted(Format::Make, text);
    for (name, by) in [
        ("$(NAMES)", "`$(shell …)` runs"),
        ("$(LATER)", "`$(shell …)` runs"),
        ("$(HOST)-up", "`HOST` is set"),
        ("$(CURDIR)/x", "the directory is known"),
        ("$(wildcard *.c)", "make lists files"),
        ("*.h", "make lists files"),
        ("$(join a b,c)", "make computes `$(join …)`"),
    ] {
        let (grade, why) = reasons(&converted, name);
        let expected = format!("the names of its targets are only known when {by}");
        assert_eq!((grade, why), (Grade::Omitted, expected), "{name}");
    }
}

#[test]
fn a_name_of_a_variable_can_be_a_value() {
    assert_make(
        "PAPER = a4\nOPT_a4 = -D a4\nall:\n\tsphinx $(OPT_$(PAPER)) $(OPT_$(OTHER)x)\n",
        "var PAPER = \"a4\"\nvar OPT_a4 = [\"-D\", \"a4\"]\n\n# `all` is not converted: \
         `$(OPT_$(OTHER)x)` has no counterpart.\n# all:\n# \tsphinx $(OPT_$(PAPER)) $(OPT_$(OTHER)x)\n",
        "omitted",
    );
    assert_make(
        "PAPER = a4\nOPT_a4 = -D a4\nall:\n\tsphinx $(OPT_$(PAPER)) $(OPT_x$(PAPER))\n",
        "var PAPER = \"a4\"\nvar OPT_a4 = [\"-D\", \"a4\"]\nvar OPT_xa4 = @env.OPT_xa4(default=\"\")\n\n\
         fun all() {\n    sphinx @var.OPT_a4 @raw(OPT_xa4)\n}\n",
        "adapted",
    );
}

#[test]
fn the_directory_of_the_file_can_lose_its_slash() {
    let text = "DIR := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))\n\
                a:\n\tls $(DIR)/src\n";
    let found = converted(Format::Make, text);
    assert_eq!(reasons(&found, "a"), (Grade::Exact, String::new()));
    assert!(found.source.contains("dirname("), "{}", found.source);
}

#[test]
fn options_of_the_shell_decide_what_a_pipe_ends_with_and_what_a_pattern_is() {
    let recipe = "a:\n\tgrep x y | wc -l\n\trm !(keep)\n";
    let plain = converted(Format::Make, "a:\n\tgrep x y | wc -l\n");
    assert!(plain.source.contains("set +o pipefail; grep"), "{}", plain.source);
    let strict =
        format!(".SHELLFLAGS := -eu -o pipefail -O extglob -c\n{recipe}b:\n\tgrep x y | wc -l\n");
    let strict = converted(Format::Make, &strict);
    assert!(strict.source.contains("    grep x y | wc -l"), "{}", strict.source);
    let (grade, why) = reasons(&strict, "a");
    assert!(why.contains("`extglob` of `.SHELLFLAGS`"), "{grade:?} {why}");
}

#[test]
fn a_line_stops_where_the_flags_of_make_stop_it() {
    let text =
        ".SHELLFLAGS := -eu -o pipefail -c\na:\n\t@false; echo on\n\techo $$HOME\n\techo plain\n";
    let converted = converted(Format::Make, text);
    for line in ["set -e; false; echo on", "set -u; echo $HOME", "    echo plain"] {
        assert!(converted.source.contains(line), "{}", converted.source);
    }
}

#[test]
fn make_keeps_what_only_make_knows() {
    let text = "OBJS = main.o util.o\napp: $(OBJS)\n\tcc -o $@ $^\n%.o: %.c\n\tcc -c $<\n\
                dist/app.tar: README\n\ttar cf $@ $<\ninclude more.mk\nhelp:\n\t@grep '##' $(MAKEFILE_LIST)\n\
                each:\n\t$(foreach x,$(shell ls),echo $(x);)\n";
    let converted = converted(Format::Make, text);
    assert!(reasons(&converted, "app").1.contains("it still calls `make`"));
    assert!(converted.source.contains("fun app() {\n    make app\n}"), "{}", converted.source);
    let (grade, why) = reasons(&converted, "dist/app.tar");
    assert_eq!(
        (grade, why.as_str()),
        (Grade::Adapted, "`@cached` decides whether it runs: content counts, and times do not")
    );
    let expected = "fun dist-app-tar() {\n    @cached(inputs=[\"README\"], outputs=[\"dist/app.tar\"]) {\n        \
                    tar cf dist/app.tar README\n    }\n}";
    assert!(converted.source.contains(expected), "{}", converted.source);
    assert_eq!(reasons(&converted, "%.o").0, Grade::Omitted);
    assert_eq!(reasons(&converted, "include more.mk").0, Grade::Omitted);
    assert_eq!(
        reasons(&converted, "help"),
        (Grade::Adapted, "it lists the tasks of opal".to_owned())
    );
    assert_eq!(reasons(&converted, "each").0, Grade::Omitted);
}

#[test]
fn only_files_that_are_made_of_files_are_cached() {
    for (text, decides) in [
        ("out/x.txt: a.txt b.txt\n\tcat $^ > $@\n", true),
        ("out/x.txt: a.txt | dir\n\tcat $< > $@\ndir:\n\tmkdir -p out\n", true),
        ("out/x.txt:\n\ttouch $@\n", false),
        ("out/x.txt: FORCE\n\ttouch $@\nFORCE:\n", false),
        (".PHONY: gen.all\nout/x.txt: gen.all\n\ttouch $@\ngen.all:\n\ttrue\n", false),
        ("out/x.txt: ../a.txt\n\ttouch $@\n", false),
        ("out/x.txt: src/*.c\n\ttouch $@\n", false),
    ] {
        let converted = converted(Format::Make, text);
        let (_, why) = reasons(&converted, "out/x.txt");
        assert_eq!(converted.source.contains("@cached("), decides, "{}", converted.source);
        assert_eq!(why.contains("it always runs"), !decides, "{why}");
    }
}

#[test]
fn nothing_of_a_makefile_runs() {
    let text = "X := $(shell touch pwned)\n$(shell touch pwned)\n$(eval Y := $(shell touch pwned))\na:\n\ttrue\n";
    let converted = converted(Format::Make, text);
    assert!(!std::path::Path::new("pwned").exists());
    assert_eq!(reasons(&converted, "a").0, Grade::Exact);
}

#[test]
fn what_only_make_knows_about_dependencies_stays_a_call_of_make() {
    // A rule of an included file.
    assert_make(
        "include common.mk\n.PHONY: docker\ndocker: common-docker\n\techo done\n",
        "# Not converted: the file is not there.\n# include common.mk\n\n\
         fun docker() {\n    make docker\n}\n",
        "omitted adapted",
    );
    // A condition decides about dependencies.
    assert_make(
        ".PHONY: assets ui\nui:\n\tnpm run build\nifndef SKIP\nassets: ui\nelse\nassets:\n\techo skipping\nendif\n",
        "fun ui() {\n    npm run build\n}\n\nfun assets() {\n    make assets\n}\n",
        "exact adapted",
    );
}

#[test]
fn commands_in_a_recipe_are_commands_of_the_shell() {
    assert_result(
        Format::Make,
        ".PHONY: a\na:\n\tdocker stop $(shell docker ps -q | head -n 9)\n\techo '$(shell pwd)' $(SHELL)\n",
        "var SHELL = \"/bin/sh\"\n\nfun a() {\n    var value = @shell.output(\"pwd\", public=true)\n    \
         set +o pipefail; docker stop $(docker ps -q | head -n 9)\n    echo ''@var.value'' @var.SHELL\n}\n",
        "exact",
    );
}

#[test]
fn a_list_that_is_known_is_written_out() {
    assert_result(
        Format::Make,
        "DIRS = a b\n.PHONY: all $(addprefix x-,$(DIRS))\nall: $(DIRS:%=x-%)\n\t$(foreach d,$(DIRS),cd $(d);)\n\
         x-a x-b:\n\techo $@\n",
        "var DIRS = \"a b\"\n\nfun all() {\n    @needs.x-a()\n    @needs.x-b()\n    cd a; cd b;\n}\n\n\
         fun x-a() {\n    echo x-a\n}\n\nfun x-b() {\n    echo x-b\n}\n",
        "exact exact exact",
    );
}

#[test]
fn only_checks_that_cannot_be_written_are_omitted() {
    let text = "ifndef TOKEN\n$(error TOKEN is not set)\nendif\n\
                ifneq ($(firstword $(sort $(MAKE_VERSION) 4.0)),4.0)\n$(error need make 4)\nendif\n\
                ifeq ($(wildcard go.mod),)\n$(error no module)\nendif\n.PHONY: a\na:\n\techo a\n";
    let found = converted(Format::Make, text);
    for kept in ["TOKEN is not set", "no module", "@needs._checks-at-the-start()"] {
        assert!(found.source.contains(kept), "{kept}\n{}", found.source);
    }
    let (grade, why) = reasons(&found, "a check at the start");
    assert_eq!(grade, Grade::Omitted);
    assert!(why.contains("`$(sort …)`"), "{why}");
    let omitted = found.outcomes.iter().filter(|it| it.grade == Grade::Omitted);
    assert_eq!(omitted.map(|it| it.line).collect::<Vec<_>>(), [5]);
    // Without a check that is left, no task needs them.
    let only = text.replace("ifndef TOKEN\n$(error TOKEN is not set)\nendif\n", "");
    let only = only.replace("ifeq ($(wildcard go.mod),)\n$(error no module)\nendif\n", "");
    let found = converted(Format::Make, &only);
    assert!(!found.source.contains("@needs"), "{}", found.source);
}

#[test]
fn blanks_in_the_arguments_of_subst_count() {
    assert_result(
        Format::Make,
        "X := 1.2\nMAJOR := $(firstword $(subst ., ,$(shell cat VERSION)))\n.PHONY: a\na:\n\techo $(MAJOR) $(subst ., ,$(X))\n",
        "var X = \"1.2\"\nvar MAJOR = split(trim(replace(@shell.output(\"cat VERSION\"), \".\", \" \")), \" \")[0]\n\n\
         fun a() {\n    echo @var.MAJOR 1 2\n}\n",
        "exact",
    );
}

#[test]
fn a_canned_recipe_is_its_commands() {
    assert_make(
        "define greet\n\t@echo \"hello $(1)\"\n\t-@false\n\n\tawk '{print $$1}' $(2)\nendef\n\n\
         define plain =\n@echo one \\\n  two\necho $@\nendef\n\n\
         a:\n\t$(call greet,world,data.txt)\n\n\
         b:\n\t-$(plain)\n\techo last\n",
        "fun a() {\n    echo \"hello world\"\n    false || true\n    awk '{print $1}' data.txt\n}\n\n\
         fun b() {\n    echo one two || true\n    echo b || true\n    echo last\n}\n",
        "exact exact",
    );
}

#[test]
fn a_canned_recipe_may_use_another_and_a_command_around_it() {
    assert_make(
        "define inner\n@echo in $(1)\nendef\ndefine outer\n$(call inner,$(1))\n@echo out\nendef\n\
         a:\n\t@cd sub && $(call outer,x)\n",
        "fun a() {\n    ( cd sub && \\@echo in x )\n    echo out\n}\n",
        "exact",
    );
}

#[test]
fn a_canned_recipe_that_is_not_certain_is_omitted() {
    for text in [
        // Defined under a condition that only the environment decides.
        "ifdef CI\ndefine go\n@echo ci\n@echo x\nendef\nelse\ndefine go\n@echo me\n@echo y\nendef\nendif\na:\n\t$(call go)\n",
        // Expanded when it is read.
        "define go :=\n@echo $(1)\n@echo $$x\nendef\na:\n\t$(call go,1)\n",
        // Never ends.
        "define go\n$(call go)\n@echo\nendef\na:\n\t$(call go)\n",
    ] {
        let converted = converted(Format::Make, text);
        let tasks: Vec<_> = converted.outcomes.iter().filter(|it| it.is_task).collect();
        assert_eq!(tasks[0].grade, Grade::Omitted, "{text}\n{}", converted.source);
    }
}

#[test]
fn assignments_before_a_program_stay_assignments() {
    assert_result(
        Format::Make,
        "GO = X=1 go\n.PHONY: a\na:\n\t$(GO) test\n\tenv $(GO) vet\n",
        "var GO = [\"X=1\", \"go\"]\n\nfun a() {\n    X=1 go test\n    env X=1 go vet\n}\n",
        "exact",
    );
}
