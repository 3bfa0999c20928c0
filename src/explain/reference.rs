//! The reference pages, with the same content as the output of `explain`.
//!
//! `cargo xtask docs` writes them into `docs/reference/`.

use std::collections::BTreeMap;

use super::{code, finding, rule};
use base::text::{Lang, Text};
use data::{Catalog, Family, ui};
use render::{Block, page_markdown};

/// All pages: path below `docs/reference/`, and content.
pub fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for (folder, lang) in [("", Lang::En), ("zh/", Lang::Zh)] {
        pages.insert(format!("{folder}README.md"), index(lang));
        for family in written() {
            pages.insert(format!("{folder}{}.md", family.family), family_file(family, lang));
        }
        pages.insert(format!("{folder}convert-rules.md"), render(&rule::tables(lang), 1));
        pages.insert(format!("{folder}errors.md"), errors(lang));
        pages.insert(format!("{folder}causes.md"), causes(lang));
        for family in errcodes::families() {
            let title = Block::Title(both(&family.title, lang), String::new());
            let mut page = code::family_page(family, lang);
            page[0] = title;
            pages.insert(format!("{folder}errors-{}.md", family.id), render(&page, 1));
        }
    }
    pages
}

/// The families that have findings.
fn written() -> impl Iterator<Item = &'static Family> {
    Catalog::builtin().families().filter(|family| !family.entries.is_empty())
}

/// Returns the title. English pages also contain the Chinese title, so that a search finds it.
fn both(title: &Text, lang: Lang) -> String {
    match lang {
        Lang::En => format!("{} / {}", title.en, title.zh),
        Lang::Zh => title.zh.clone(),
    }
}

fn index(lang: Lang) -> String {
    let mut out = render(&[Block::Title(ui::REFERENCE.get(lang), ui::GENERATED.get(lang))], 1);
    out.push('\n');
    for family in written() {
        let title = both(&family.title, lang);
        out.push_str(&format!("- [{title}]({}.md)\n", family.family));
    }
    out.push_str(&format!("- [{}](errors.md)\n", ui::CODE_FAMILIES.get(lang)));
    out.push_str(&format!("- [{}](causes.md)\n", ui::CAUSES.get(lang)));
    out.push_str(&format!("- [{}](convert-rules.md)\n", ui::RULES.get(lang)));
    out
}

fn family_file(family: &Family, lang: Lang) -> String {
    let mut head = finding::family_page(family, lang);
    head[0] = Block::Title(both(&family.title, lang), ui::GENERATED.get(lang));
    let mut out = render(&head, 1);
    for entry in &family.entries {
        let mut page = finding::page(entry, family, lang);
        if lang == Lang::En {
            page[0] = Block::Title(entry.id.clone(), both(&entry.name, lang));
        }
        out.push('\n');
        out.push_str(&render(&page, 2));
    }
    out
}

fn errors(lang: Lang) -> String {
    let mut out = render(&[Block::Title(ui::CODE_FAMILIES.get(lang), ui::GENERATED.get(lang))], 1);
    out.push('\n');
    for family in errcodes::families() {
        out.push_str(&format!(
            "- [{}](errors-{}.md) ({}): {}\n",
            both(&family.title, lang),
            family.id,
            errcodes::rows(family).len(),
            render::markdown_words(family.says.get(lang))
        ));
    }
    out
}

/// All causes, each with the codes that indicate it.
fn causes(lang: Lang) -> String {
    let mut codes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (_, code, link) in errcodes::links() {
        let known = codes.entry(&link.cause.id).or_default();
        let code = format!("`{code}`");
        if !known.contains(&code) {
            known.push(code);
        }
    }
    let mut out = render(&[Block::Title(ui::CAUSES.get(lang), ui::GENERATED.get(lang))], 1);
    for cause in errcodes::causes() {
        let mut page = vec![Block::Title(cause.id.clone(), both(&cause.title, lang))];
        if let Some(codes) = codes.get(cause.id.as_str()) {
            page.push(Block::Facts(vec![(ui::CODE.get(lang), codes.join(", "))]));
        }
        page.extend(code::about_cause(cause, None, lang));
        out.push('\n');
        out.push_str(&render(&page, 2));
    }
    out
}

fn render(page: &[Block], level: usize) -> String {
    let mut out = Vec::new();
    page_markdown(page, level, &mut out).expect("writing into memory does not fail");
    String::from_utf8(out).expect("the pages are text")
}
