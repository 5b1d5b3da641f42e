//! `opal self syntax`.

use crate::support::{Opal, assert_schema};

const SOURCE: &str = "fun ship(é = 1) = echo \"ü @var.é\" @var.x # c\n";

#[test]
fn classes_and_boundaries_are_a_document_whose_places_are_bytes() {
    let source = "fun f(x = \"ü\") {\n    echo ü @var.x\n}\n";
    let opal = Opal::project(source).args(["self", "syntax", "commands.opl", "--json"]);
    let json = opal.run().code(0).json();
    assert_schema("syntax-1.json", &json);
    let text = |span: &serde_json::Value| {
        let at = |key: &str| span[key].as_u64().unwrap() as usize;
        source[at("start")..at("end")].to_owned()
    };
    let runs = json["classes"].as_array().unwrap();
    assert_eq!(runs.iter().map(text).collect::<String>(), source);
    let string = runs.iter().find(|run| run["class"] == "string").unwrap();
    assert_eq!(text(string), "\"ü\"");
    let only = |key: &str| text(&json[key][0]);
    assert_eq!(only("functions"), source.trim_end());
    assert_eq!(only("blocks"), "{\n    echo ü @var.x\n}");
    assert_eq!(only("steps"), "echo ü @var.x");
    assert_eq!(json["errors"], 0);
}

#[test]
fn people_get_a_line_for_each_run() {
    let opal = Opal::project("fun a() = ls # c\n").args(["self", "syntax", "commands.opl"]);
    opal.run().code(0).stdout(
        "1:1      keyword      fun\n1:5      function     a\n1:6      punctuation  ()\n1:9      operator     =\n\
         1:11     shell        ls\n1:14     comment      # c\n",
    );
}

#[test]
fn errors_are_counted_and_the_rest_is_shown() {
    let opal = Opal::project(SOURCE).args(["self", "syntax", "commands.opl", "--json"]);
    let json = opal.run().code(65).json();
    assert!(json["errors"].as_u64().unwrap() > 0, "{json}");
    assert!(!json["classes"].as_array().unwrap().is_empty());
}

#[test]
fn the_words_of_the_language_can_be_asked_for() {
    let json = Opal::new().args(["self", "syntax", "--words", "--json"]).run().code(0).json();
    assert!(json["keywords"].as_array().unwrap().contains(&"finally".into()));
    assert!(json["types"].as_array().unwrap().contains(&"Duration".into()));
    let paths = json["paths"].as_array().unwrap();
    let script = paths.iter().find(|it| it["path"] == "script").unwrap();
    assert_eq!((&script["text"], &script["action"]), (&true.into(), &true.into()));
    Opal::new().args(["self", "syntax", "--words"]).run().code(0).says("keywords: as catch");
}

#[test]
fn the_command_takes_no_name_from_a_task() {
    Opal::project("fun syntax() = echo mine\n").call(&["syntax"]).code(0).stdout("mine\n");
    Opal::new().args(["self", "syntax"]).run().code(2).says("FILE");
    Opal::new().args(["self", "syntax", "none.opl"]).run().code(66);
    Opal::new().args(["self", "syntax", "--help"]).run().code(0).says("opal self syntax --words");
    let config = Opal::new().file("a.yaml", "steps: []\n").args(["self", "syntax", "a.yaml"]);
    config.run().code(2).says("name a source");
}
