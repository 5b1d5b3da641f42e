use super::*;

fn task() -> Command {
    let from = Arg::new("from").long("from");
    Command::new("deploy").arg(from).arg(Arg::new("target").num_args(0..))
}

fn plain() -> Command {
    Command::new("deploy").arg(Arg::new("target").num_args(0..))
}

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn asked(text: &str) -> Result<Asked, Failure> {
    Asked::from(&parse(&plain, &words(text), Behind::Work).unwrap())
}

#[test]
fn the_table_is_sound() {
    behind(plain(), Behind::Work).debug_assert();
    Command::new("opal").args(args()).args(run_args()).debug_assert();
}

#[test]
fn every_option_of_a_run_is_read() {
    let run = asked(
        "prod --timeout 30m --from step:3 -y -j4 --no-record --no-pty --events log.jsonl -v --timings",
    );
    let run = run.unwrap().run;
    assert_eq!(run.timeout, Duration::parse("30m").ok());
    assert_eq!(run.from.as_deref(), Some("step:3"));
    assert_eq!(run.jobs.map(std::num::NonZeroUsize::get), Some(4));
    assert_eq!(run.events, Some(PathBuf::from("log.jsonl")));
    assert!(run.yes && run.no_record && run.no_pty && run.verbose && run.timings);
    assert!(!run.quiet && !run.sync && run.resume.is_none());
}

#[test]
fn the_run_to_resume_is_named_behind_an_equals_sign_only() {
    assert_eq!(asked("--resume prod").unwrap().run.resume, Some(Resume::Last));
    let named = Some(Resume::Run("run-1".to_owned()));
    assert_eq!(asked("prod --resume=run-1").unwrap().run.resume, named);
}

#[test]
fn the_words_that_are_there_give_the_same_as_the_whole_command_line() {
    for text in ["", "prod", "-qy", "--json --timeout=5s", "--env-file a --env-file=b -o x", "-j 2"]
    {
        let quick = asked(text).unwrap();
        let whole =
            behind(plain(), Behind::Work).no_binary_name(true).try_get_matches_from(words(text));
        let whole = Asked::from(&whole.unwrap()).unwrap();
        assert_eq!(format!("{quick:?}"), format!("{whole:?}"), "{text}");
    }
}

#[test]
fn a_wrong_word_is_met_with_a_suggestion() {
    let error = parse(&plain, &words("--timout 3s"), Behind::Work).unwrap_err();
    assert!(error.render().to_string().contains("--timeout"), "{error}");
}

#[test]
fn a_functions_own_flag_wins() {
    let matches = parse(&task, &words("--from here --jobs 2"), Behind::Work).unwrap();
    assert_eq!(matches.get_one::<String>("from").map(String::as_str), Some("here"));
    let run = Asked::from(&matches).unwrap().run;
    assert!(run.from.is_none() && run.jobs.is_some());
}

#[test]
fn what_cannot_be_meant_is_a_usage_error() {
    for text in
        ["--timeout 0s", "--timeout 5x", "--jobs 0", "-j x", "--from step:0", "--from step:x"]
    {
        assert!(asked(text).is_err(), "{text}");
    }
    for text in ["--from a --resume", "-v -q", "--no-record --sync", "--json --events -"] {
        assert!(asked(text).unwrap().for_run().is_err(), "{text}");
    }
    for text in ["--resolve", "-o x", "--format tree", "--sign k", "--once"] {
        let refused = asked(text).unwrap().for_run().unwrap_err();
        assert!(refused.message.ends_with("applies to a plan"), "{text}: {}", refused.message);
    }
}

#[test]
fn a_plan_takes_no_option_of_a_run_and_the_other_way_round() {
    for row in ROWS.iter().filter(|row| row.of == Of::Run) {
        let value = match row.name {
            "jobs" => "3",
            "report" => "r.xml",
            _ if row.takes_value() => "3s",
            _ => "",
        };
        let asked = asked(&format!("--dry-run --{} {value}", row.name)).unwrap();
        let refused = asked.for_plan().unwrap_err();
        assert!(refused.message.contains(row.name), "{}", refused.message);
    }
    for text in ["--env-file a", "--debug=paths", "--telemetry timing", "--json", "--root r"] {
        let asked = asked(text).unwrap();
        asked.for_plan().unwrap();
        asked.for_run().unwrap();
    }
}

#[test]
fn files_before_the_name_come_before_those_behind_it() {
    let before = Asked::before(&words("--env-file first -v")).unwrap();
    let both = asked("--env-file second -y").unwrap().or(before);
    assert_eq!(both.plan.env_files, ["first", "second"].map(PathBuf::from));
    assert!(both.run.yes && both.run.verbose);
}

#[test]
fn letters_may_stand_together() {
    assert_eq!(known("-v"), Some(false));
    assert_eq!(known("-qy"), Some(false));
    assert_eq!(known("-yj"), Some(true));
    assert_eq!(known("-jy"), None);
    assert_eq!(known("-"), None);
    assert_eq!(known("-x"), None);
    assert_eq!(known("--resume"), Some(false));
    assert_eq!(known("--jobs"), Some(true));
}
