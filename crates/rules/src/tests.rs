//! The table itself and its words. `convert` tests the examples.

use data::table;

use super::table::File;
use super::*;

#[test]
fn the_table_is_sound() {
    let rules = Rules::builtin();
    for rule in &rules.rules {
        assert!(rule.text().source.iter().all(|source| source.len() > 1), "{}: no source", rule.id);
        assert!(!rule.text().source.is_empty(), "{}: no source", rule.id);
        assert!(
            rule.id.len() == 6
                && rule.id.starts_with("CV")
                && rule.id[2..].bytes().all(|byte| byte.is_ascii_digit()),
            "{}: ids are CV and four digits",
            rule.id
        );
        for version in rule.torch_npu.iter().flatten() {
            assert!(rules.versions.contains(version), "{}: {version}", rule.id);
        }
        if let Some(other) = &rule.reported_as {
            let other = rules.by_id(other).unwrap_or_else(|| panic!("{}: {other}", rule.id));
            assert!(other.reported_as.is_none(), "{}: a chain of rules", rule.id);
        }
    }
}

#[test]
fn finds_by_name_and_prefix() {
    let rules = Rules::builtin();
    assert_eq!(rules.find(Match::Api, "torch.cuda.Event").unwrap().id, "CV0017");
    assert_eq!(rules.find(Match::Api, "torch._C._cuda_init").unwrap().id, "CV0289");
    assert_eq!(rules.find(Match::Env, "CUDNN_LOGINFO_DBG").unwrap().id, "CV0457");
    assert!(rules.find(Match::Api, "torch.nn.Linear").is_none());
    assert_eq!(rules.site(Place::MapLocation).id, "CV0274");
}

#[test]
fn every_place_has_a_rule_and_every_such_rule_a_place() {
    let rules = Rules::builtin();
    for place in Place::ALL {
        assert_eq!(
            rules.site(*place).names().find(|name| *name == place.name()),
            Some(place.name())
        );
    }
    for rule in rules.rules.iter().filter(|rule| matches!(rule.how, Match::Site | Match::File)) {
        // What stays has no place, and what has the shape of another is reported as that.
        let met = rule.action == Action::Keep
            || rule.reported_as.is_some()
            || rule.names().all(|name| Place::ALL.iter().any(|place| place.name() == name));
        assert!(met, "{}: no place is called {}", rule.id, rule.name);
    }
}

#[test]
fn refuses_a_name_that_stands_twice() {
    let row = |id: &str| {
        format!(
            "[[rule]]\nid = \"{id}\"\nmatch = \"env\"\nname = \"A\"\nclass = \"keep\"\n\
             action = \"keep\"\n"
        )
    };
    let both = row("CV0001") + &row("CV0002");
    let file: File = toml::from_str(both.leak()).unwrap();
    let error = Rules::new(table("convert_rules"), [("x", file)]).unwrap_err().to_string();
    assert!(error.contains("CV0001") && error.contains("CV0002"), "{error}");
}

#[test]
fn reported_rules_have_note_and_advice() {
    for rule in &Rules::builtin().rules {
        let speaks = rule.text().note.is_some();
        if rule.action == Action::Flag {
            assert!(rule.text().advice.is_some(), "{}: flagged without advice", rule.id);
        }
        if matches!(rule.action, Action::Flag | Action::Note) || rule.class == Class::Semantics {
            assert!(speaks, "{}: reported without a note", rule.id);
        }
    }
}

#[test]
fn words_are_in_their_language() {
    let han = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let full_width = |text: &str| text.contains(['，', '。', '；', '：', '（', '）', '、']);
    for rule in &Rules::builtin().rules {
        for text in [&rule.text().note, &rule.text().advice].into_iter().flatten() {
            assert!(han(text.zh), "{}: no Chinese in {:?}", rule.id, text.zh);
            assert!(!han(text.en) && !full_width(text.en), "{}: {:?}", rule.id, text.en);
            assert!(text.zh.ends_with('。'), "{}: {:?}", rule.id, text.zh);
            assert!(text.en.ends_with('.'), "{}: {:?}", rule.id, text.en);
            // The same commands and names in both.
            let code = |text: &str| text.split('`').skip(1).step_by(2).count();
            assert_eq!(code(text.en), code(text.zh), "{}: code in one language", rule.id);
        }
    }
}
