//! Pages about the rules of `convert`.

use base::text::Lang;
use data::ui;
use render::Block;
use rules::{Example, Match, Rule, Rules};

/// The page of a rule: its names, its action, its note and its advice.
pub fn page(rule: &Rule, lang: Lang) -> Vec<Block> {
    let mut facts = vec![
        (ui::RULE_IS.get(lang), rule.how.label().get(lang)),
        (ui::RULE_CLASS.get(lang), rule.class.label().get(lang)),
        (ui::RULE_ACTION.get(lang), rule.action.label().get(lang)),
    ];
    if let Some(to) = rule.to {
        facts.insert(1, (ui::RULE_TO.get(lang), to.to_owned()));
    }
    if let Some(versions) = &rule.torch_npu {
        facts.push((ui::RULE_VERSIONS.get(lang), in_order(versions)));
    }
    if let Some(other) = rule.reported_as {
        facts.push((ui::RULE_REPORTED_AS.get(lang), other.to_owned()));
    }
    let mut page = vec![Block::Title(rule.id.to_owned(), names(rule)), Block::Facts(facts)];
    let words =
        [(ui::RULE_NOTE_HEADING, rule.text().note), (ui::RULE_ADVICE_HEADING, rule.text().advice)];
    for (heading, text) in words {
        if let Some(text) = text {
            page.push(Block::Heading(heading.get(lang)));
            page.push(Block::Paragraph(text.get(lang).to_owned()));
        }
    }
    if let Some(example) = &rule.text().example {
        page.extend(shown(example, lang));
    }
    page.push(Block::Heading(ui::SOURCES.get(lang)));
    page.push(Block::Bullets(rule.text().source.iter().map(|&source| source.to_owned()).collect()));
    page
}

/// An example: one block of code if nothing changes, else two.
fn shown(example: &Example, lang: Lang) -> Vec<Block> {
    let language = match example.file.map(|file| file.rsplit('.').next()) {
        None => "python",
        Some(Some("sh")) => "sh",
        Some(Some("yml" | "yaml")) => "yaml",
        Some(Some("json" | "ipynb")) => "json",
        Some(_) => "text",
    };
    let code = |text: &str| Block::Code(language, text.to_owned());
    match example.after {
        Some(after) => vec![
            Block::Heading(ui::RULE_BEFORE.get(lang)),
            code(example.before),
            Block::Heading(ui::RULE_AFTER.get(lang)),
            code(after),
        ],
        None => vec![Block::Heading(ui::RULE_UNCHANGED.get(lang)), code(example.before)],
    }
}

/// The versions in the order of the table, oldest first.
fn in_order(found: &[&str]) -> String {
    let all = &Rules::builtin().versions;
    let found: Vec<&str> = all.iter().filter(|version| found.contains(version)).copied().collect();
    found.join(", ")
}

/// The names that the rule matches, in readable form.
fn names(rule: &Rule) -> String {
    let names: Vec<&str> = rule.names().collect();
    let star = if rule.how == Match::Prefix { "*" } else { "" };
    format!("{}{star}", names.join(", "))
}

/// The text that the rule finds, as written in a source: its names, or a line of its example if the
/// name is internal.
fn found(rule: &Rule) -> String {
    const SIGNS: &[&str] = &["cuda", "CUDA", "nccl", "nvidia", "gpu"];
    let Some(example) = &rule.text().example else { return names(rule) };
    if !matches!(rule.how, Match::Site | Match::File) {
        return names(rule);
    }
    let mut after = example.after.unwrap_or_default().lines();
    let line = example.before.lines().find(|line| match &example.after {
        Some(_) => after.next() != Some(line),
        None => SIGNS.iter().any(|sign| line.contains(sign)),
    });
    line.or_else(|| example.before.lines().last()).unwrap_or_default().trim().to_owned()
}

/// All rules in tables, one for each field.
pub(super) fn tables(lang: Lang) -> Vec<Block> {
    let head = [ui::RULE, ui::RULE_FOUND, ui::RULE_BECOMES, ui::RULE_DONE, ui::RULE_NOTE_HEADING];
    let head: Vec<String> = head.iter().map(|label| label.get(lang)).collect();
    let mut page = vec![
        Block::Title(ui::RULES.get(lang), ui::GENERATED.get(lang)),
        Block::Paragraph(ui::RULES_ABOUT.get(lang)),
    ];
    for (field, rules) in Rules::builtin().fields() {
        page.push(Block::Heading(field.get(lang)));
        let rows = rules.iter().map(|rule| {
            let words: Vec<&str> = [rule.text().note, rule.text().advice]
                .into_iter()
                .flatten()
                .map(|text| text.get(lang))
                .collect();
            let joint = if lang == Lang::Zh { "" } else { " " };
            vec![
                rule.id.to_owned(),
                format!("`{}`", found(rule)),
                rule.to.map_or_else(String::new, |to| format!("`{to}`")),
                rule.action.label().get(lang),
                words.join(joint),
            ]
        });
        page.push(Block::Table(head.clone(), rows.collect()));
    }
    page
}
