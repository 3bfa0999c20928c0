//! The versions that have to fit together, as a drawing: torch, torch_npu, CANN, the driver, and
//! between them what was found out about each pair.

use std::io::{self, Write};

use super::document::{Document, Fingerprint, State};
use super::{bilingual_html, bilingual_tspans};
use base::text::Text;
use base::text::escape_html;
use data::ui;

/// The size of a box.
const BOX: (i32, i32) = (210, 64);

/// A pair that has to fit, and the rules that say whether it does.
struct Pair {
    ends: [usize; 2],
    rules: &'static [&'static str],
}

/// Boxes by their left upper corner: the three of the triangle, and the driver below.
const PLACES: [(i32, i32); 4] = [(10, 10), (400, 10), (400, 160), (10, 160)];

const PAIRS: [Pair; 3] = [
    Pair { ends: [0, 1], rules: &["TORCH-VERSION", "TNPU-ABI"] },
    Pair { ends: [1, 2], rules: &["TNPU-MATRIX", "TNPU-SYMBOLS"] },
    Pair { ends: [2, 3], rules: &["DRV-CANN", "DRV-FEATURES"] },
];

/// The rules about each product by the beginning of their ids, in the order of [`PLACES`].
const OWN: [&str; 4] = ["TORCH-", "TNPU-", "CANN-", "DRV-"];

/// How a product itself stands, apart from whether it fits to its neighbours.
fn product_state(document: &Document, at: usize) -> State {
    let of_pairs = |id: &str| PAIRS.iter().any(|pair| pair.rules.contains(&id));
    document.state_of(|id| id.starts_with(OWN[at]) && !of_pairs(id))
}

/// A product: its name, its version, and what belongs to it.
struct Product {
    name: Text,
    version: Option<String>,
    beside: Option<Text>,
}

fn list_products(print: &Fingerprint) -> [Product; 4] {
    let plain = |name: &str, version: &Option<String>| Product {
        name: Text::same(name),
        version: version.clone(),
        beside: None,
    };
    let firmware =
        print.firmware.as_ref().map(|version| ui::PageFirmware { version: &version }.text());
    [
        plain("torch", &print.torch),
        plain("torch_npu", &print.torch_npu),
        plain("CANN", &print.cann),
        Product { name: ui::PAGE_DRIVER.text(), version: print.driver.clone(), beside: firmware },
    ]
}

/// Writes the drawing, and what it says in words. Nothing, if no version is known.
pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let Some(print) = &document.fingerprint else { return Ok(()) };
    let products = list_products(print);
    if products.iter().all(|product| product.version.is_none()) {
        return Ok(());
    }
    writeln!(
        out,
        "<section><h3>{}</h3>\n<div class=\"versions\">\n\
         <svg viewBox=\"0 0 620 234\" aria-hidden=\"true\">",
        bilingual_html(&ui::PAGE_VERSIONS.text())
    )?;
    for pair in &PAIRS {
        let state = pair_state(document, pair, &products);
        let [(x1, y1), (x2, y2)] = pair.ends.map(|at| {
            let (x, y) = PLACES[at];
            (x + BOX.0 / 2, y + BOX.1 / 2)
        });
        let (x, y) = (i32::midpoint(x1, x2), i32::midpoint(y1, y2));
        let class = state.class();
        writeln!(
            out,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>\
             <circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"15\"/>\
             <text class=\"sign\" x=\"{x}\" y=\"{}\">{}</text>",
            y + 6,
            state.sign()
        )?;
    }
    for (at, (product, (x, y))) in products.iter().zip(PLACES).enumerate() {
        let own = match product_state(document, at) {
            state @ (State::Error | State::Warning) => state.class(),
            _ if product.version.is_none() => "absent",
            _ => "",
        };
        let unknown = ui::UNKNOWN_VALUE.text();
        let version =
            product.version.as_ref().map_or(unknown, |version| Text::same(truncate_text(version)));
        let middle = x + BOX.0 / 2;
        writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"8\" class=\"{own}\"/>\
             <text class=\"name\" x=\"{middle}\" y=\"{}\">{}</text>\
             <text x=\"{middle}\" y=\"{}\">{}</text>",
            BOX.0,
            BOX.1,
            y + 22,
            bilingual_tspans(&product.name),
            y + 41,
            bilingual_tspans(&version)
        )?;
        if let Some(beside) = &product.beside {
            let beside = Text::new(truncate_text(&beside.en), truncate_text(&beside.zh));
            let y = y + 57;
            writeln!(
                out,
                "<text class=\"small\" x=\"{middle}\" y=\"{y}\">{}</text>",
                bilingual_tspans(&beside)
            )?;
        }
    }
    writeln!(out, "</svg>\n<ul>")?;
    for pair in &PAIRS {
        let state = pair_state(document, pair, &products);
        let name = |at: usize, zh: bool| {
            let Product { name, version, .. } = &products[at];
            let name = if zh { &name.zh } else { &name.en };
            format!("{name} {}", version.as_deref().unwrap_or("—"))
        };
        let [from, to] = pair.ends;
        let label = match state {
            State::Error => ui::PAGE_PAIR_ERROR,
            State::Warning => ui::PAGE_PAIR_WARNING,
            State::Good => ui::PAGE_PAIR_GOOD,
            State::Unknown | State::Nothing => ui::PAGE_PAIR_UNKNOWN,
        };
        let said = label.text();
        let text = Text::new(
            format!("{} – {}: {}", name(from, false), name(to, false), said.en),
            format!("{} – {}：{}", name(from, true), name(to, true), said.zh),
        );
        writeln!(
            out,
            "<li class=\"{}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</li>",
            state.class(),
            state.sign(),
            bilingual_html(&text)
        )?;
    }
    for (at, product) in products.iter().enumerate() {
        let state = product_state(document, at);
        let said = match state {
            State::Error => ui::PAGE_PART_ERROR.text(),
            State::Warning => ui::PAGE_PART_WARNING.text(),
            _ => continue,
        };
        let text = Text::new(
            format!("{}: {}", product.name.en, said.en),
            format!("{}：{}", product.name.zh, said.zh),
        );
        writeln!(
            out,
            "<li class=\"{}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</li>",
            state.class(),
            state.sign(),
            bilingual_html(&text)
        )?;
    }
    if let Some(chip) = &print.chip {
        writeln!(
            out,
            "<li>{} {}</li>",
            bilingual_html(&ui::COMPAT_CHIP.text()),
            escape_html(chip)
        )?;
    }
    writeln!(out, "</ul>\n</div></section>")
}

/// Of two products of which one is not there nothing is known.
fn pair_state(document: &Document, pair: &Pair, products: &[Product; 4]) -> State {
    let state = document.state_of(|id| pair.rules.contains(&id));
    let there = pair.ends.iter().all(|&at| products[at].version.is_some());
    if there || state <= State::Warning { state } else { State::Unknown }
}

/// What fits into a box.
fn truncate_text(text: &str) -> String {
    const MOST: usize = 26;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).chain(['…']).collect()
}
