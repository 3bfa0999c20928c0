//! Versions that a document names together: in a row of a table, in a sentence, in a block of
//! commands.

use std::sync::LazyLock;

use base::version::CannVersion;
use data::Matrix;
use data::findings::lint_pair;
use data::matrix::{Basis, Support};
use pep440_rs::Version;
use regex::Regex;

use super::document::{Document, Line, Place, Table, plain};
use super::statement::{Judged, Statement, StatementKind};
use explain::{Fit, Package, versions_together};

/// The largest number of versions in a sentence that recommends them together.
const MENTIONS: usize = 5;
/// The largest number of versions in a cell.
const CELL: usize = 8;

/// Names of packages, longer ones first, and what they name.
const NAMES: [(&str, Package); 14] = [
    (r"torch[-_ ]?npu", Package::TorchNpu),
    (r"ascend extension for pytorch", Package::TorchNpu),
    (r"ascend ?pytorch", Package::TorchNpu),
    (r"vllm[-_ ]ascend", Package::VllmAscend),
    (r"triton[-_ ]ascend", Package::TritonAscend),
    (r"mindspore", Package::MindSpore),
    (r"pytorch", Package::Torch),
    (r"torch", Package::Torch),
    (r"vllm", Package::Vllm),
    (r"cann(?:[-_ ]?toolkit)?", Package::Cann),
    (r"ascend[-_ ]hdk", Package::Driver),
    (r"(?:npu[-_ ])?driver", Package::Driver),
    (r"驱动", Package::Driver),
    (r"python", Package::Python),
];

/// A package and a version next to it. Groups: name, operator, version, what follows.
static MENTION: LazyLock<Regex> = LazyLock::new(|| {
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    Regex::new(&format!(
        r"(?i)({})(?:\s*(?:版本|version|release|toolkit|社区版|商用版|的|为|is)\s*)*[\s:：]*((?:[=<>~!]=|[<>=≥≤^~]|高于|低于|不低于)?)\s*[v]?([0-9]+(?:\.[0-9]+)+(?:\.?(?:RC|post|rc|alpha|beta|dev|T)[0-9]*(?:\.[0-9]+)?)*|[0-9]+\.[0-9]+)",
        names.join("|")
    ))
    .expect("a constant")
});

/// What turns a version into a bound or a list.
static OPEN_END: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\+|^\s*(?:[~～*]|-\s*v?\d|\.x|\.\*|[/、,，]\s*v?\d|(?:or|and|及|或|和|to|through|至|到)\b|及|或|以上|以下|之后|之前|or later|and later|and above|or newer|or above|or higher)")
        .expect("a constant")
});

/// Words of sentences that state no pair to use: conflicts, upgrades, history, questions.
static NO_ADVICE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:not|n't|cannot|no|never|without|fail(?:s|ed|ure)?|error|errors|issue|bug|conflict|mismatch|incompatible|upgrade[ds]?|upgrading|downgrade|instead|unlike|from|before|after|since|until|deprecated|was|were|old|older|previous|typo|lacks?|while|wants?|missing|differs?|if|when|whether|or|wrong|earlier)\b|不|未|无法|报错|错误|失败|冲突|升级|降级|之前|之后|以前|如果|若|问题|原|旧|从|改为|？|\?")
        .expect("a constant")
});

pub(super) fn read(document: &Document<'_>, found: &mut Vec<Statement>) {
    read_tables(document, found);
    let mut block = Vec::new();
    for (index, line) in document.lines.iter().enumerate() {
        match line.place {
            Place::Prose | Place::Heading => {
                for sentence in plain(line.text).split(['。', ';', '；']) {
                    sentence_of(document, line, sentence, found);
                }
            }
            Place::Code | Place::Comment => block.push(line),
            Place::Row | Place::Output | Place::Query => {}
        }
        let is_end = document.lines.get(index + 1).is_none_or(|next| next.block != line.block);
        if is_end && !block.is_empty() {
            block_of(document, &block, found);
            block.clear();
        }
    }
}

/// A version with its package and line.
type Named = (Package, String, u32);

/// The versions of a text that stand alone: no bounds, lists or ranges.
fn mentions(text: &str, line: u32, any_bound: bool) -> (Vec<Named>, bool) {
    let mut all = Vec::new();
    let mut has_bound = false;
    for captures in MENTION.captures_iter(text) {
        let (Some(whole), Some(version)) = (captures.get(0), captures.get(3)) else { continue };
        let joined = text[..whole.start()]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.'));
        let rest = &text[version.end()..];
        let is_exact = matches!(&captures[2], "" | "==" | "=") && !OPEN_END.is_match(rest);
        let is_word = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if joined || is_word {
            continue;
        }
        if !is_exact && !any_bound {
            has_bound = true;
            continue;
        }
        let name = captures[1].to_lowercase();
        let package = NAMES.iter().find(|(pattern, _)| is_name(pattern, &name));
        if let Some((_, package)) = package {
            all.push((*package, version.as_str().to_owned(), line));
        }
    }
    (all, has_bound)
}

fn is_name(pattern: &str, name: &str) -> bool {
    static EXACT: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        let compile = |(pattern, _): &(&'static str, Package)| {
            (*pattern, Regex::new(&format!("^(?:{pattern})$")).expect("a constant"))
        };
        NAMES.iter().map(compile).collect()
    });
    EXACT.iter().any(|(own, exact)| *own == pattern && exact.is_match(name))
}

/// Keeps packages with one version.
fn unambiguous(all: Vec<Named>) -> Vec<Named> {
    let mut kept: Vec<Named> = Vec::new();
    let mut ambiguous: Vec<Package> = Vec::new();
    for one in all {
        match kept.iter().find(|known| known.0 == one.0) {
            Some(known) if known.1 != one.1 => ambiguous.push(one.0),
            Some(_) => {}
            None => kept.push(one),
        }
    }
    kept.retain(|one| !ambiguous.contains(&one.0));
    kept
}

fn sentence_of(
    document: &Document<'_>,
    line: &Line<'_>,
    sentence: &str,
    found: &mut Vec<Statement>,
) {
    let (all, has_bound) = mentions(sentence, line.number, false);
    if has_bound || all.len() < 2 || all.len() > MENTIONS || NO_ADVICE.is_match(sentence) {
        return;
    }
    let count = all.len();
    let kept = unambiguous(all);
    // Several versions of a package are a list or a comparison.
    if kept.len() < count {
        return;
    }
    judge_all(document, &kept, Origin::Words, found);
}

/// Pins of a block of commands, or of a script: what it installs, it installs together. A comment
/// directly above a pin names its partner.
fn block_of(document: &Document<'_>, lines: &[&Line<'_>], found: &mut Vec<Statement>) {
    let mut pins: Vec<Named> = Vec::new();
    let mut comment: Option<(Vec<Named>, u32)> = None;
    for line in lines {
        if line.place == Place::Comment {
            let text = line.text.trim_start_matches(['#', '/', ' ']);
            let (named, has_bound) = mentions(text, line.number, false);
            let is_advice = !has_bound && !NO_ADVICE.is_match(text);
            comment = is_advice.then_some((named, line.number));
            continue;
        }
        let own = pins_of(line);
        if let Some((named, at)) = comment.take()
            && line.number == at + 1
            && !own.is_empty()
        {
            let both: Vec<Named> = named.into_iter().chain(own.iter().cloned()).collect();
            judge_all(document, &unambiguous(both), Origin::Words, found);
        }
        pins.extend(own);
    }
    judge_all(document, &unambiguous(pins), Origin::Words, found);
}

static PIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:^|[\s"'])(torch[-_]npu|vllm[-_]ascend|triton[-_]ascend|mindspore|torch|vllm)(?:\[[^\]]*\])?\s*==\s*([0-9]+(?:\.[0-9]+)+(?:\.?(?:post|rc)[0-9]+)*)"#)
        .expect("a constant")
});
static IMAGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)/(cann|vllm-ascend):v?([0-9]+(?:\.[0-9]+)+(?:\.?(?:rc|post)[0-9]+)*)")
        .expect("a constant")
});

fn pins_of(line: &Line<'_>) -> Vec<Named> {
    if line.text.contains("uninstall") {
        return Vec::new();
    }
    let found = PIN.captures_iter(line.text).chain(IMAGE.captures_iter(line.text));
    let named = found.filter_map(|captures| {
        let end = captures.get(0).map_or(0, |whole| whole.end());
        let is_longer = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '*' | '+');
        if line.text[end..].starts_with(is_longer) {
            return None;
        }
        let name = captures[1].to_lowercase();
        let (_, package) = NAMES.iter().find(|(pattern, _)| is_name(pattern, &name))?;
        Some((*package, captures[2].to_owned(), line.number))
    });
    named.collect()
}

/// Where versions stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A table of compatible versions: each row is a recommendation.
    Table,
    /// A sentence or commands.
    Words,
}

/// The column of a package, by its head.
fn column(head: &str) -> Vec<Package> {
    let head = head.to_lowercase();
    if head.contains("镜像") || head.contains("image") || head.contains("branch") {
        return Vec::new();
    }
    let parts: Vec<&str> = head.split('/').map(str::trim).collect();
    let of = |part: &str| {
        let word = part
            .trim_end_matches("版本")
            .trim_end_matches("安装包")
            .trim_end_matches("versions")
            .trim_end_matches("version")
            .trim_end_matches("toolkit")
            .trim_start_matches("stable ")
            .trim_start_matches("配套")
            .trim_start_matches("支持的")
            .trim();
        NAMES.iter().find(|(pattern, _)| is_name(pattern, word)).map(|(_, package)| *package)
    };
    let found: Vec<Package> = parts.iter().filter_map(|part| of(part)).collect();
    if found.len() == parts.len() { found } else { Vec::new() }
}

static CELL_VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:cann|python|pytorch|torch|torch[-_]npu|vllm|vllm-ascend)?\s*(?:==?\s*)?v?([0-9]+(?:\.[0-9]+)+(?:\.?(?:RC|post|alpha|beta|T)[0-9]*(?:\.[0-9]+)?)*)$").expect("a constant")
});

/// The versions of a cell. Empty if it has anything else, such as bounds or remarks.
fn cell_versions(cell: &str) -> Vec<String> {
    let parts: Vec<&str> =
        cell.split([',', '，', '、', ';']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let versions: Vec<String> = parts
        .iter()
        .filter_map(|part| Some(CELL_VERSION.captures(part)?.get(1)?.as_str().to_owned()))
        .collect();
    if versions.len() == parts.len() && versions.len() <= CELL { versions } else { Vec::new() }
}

static PYTHON_RANGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:python\s*)?3\.(\d+)(?:\.x)?\s*(?:-|~|～|至|到|to)\s*(?:python\s*)?3\.(\d+)(?:\.x)?$",
    )
    .expect("a constant")
});

/// The ends of a range of Python versions, which the row claims like all others.
fn python_versions(cell: &str) -> Vec<String> {
    match PYTHON_RANGE.captures(&cell.to_lowercase()) {
        Some(range) => vec![format!("3.{}", &range[1]), format!("3.{}", &range[2])],
        None => cell_versions(cell),
    }
}

fn read_tables(document: &Document<'_>, found: &mut Vec<Statement>) {
    for table in &document.tables {
        list_of(document, table, found);
        let columns: Vec<Vec<Package>> = table.head.iter().map(|head| column(head)).collect();
        let named = columns.iter().flatten().count();
        if named < 2 {
            continue;
        }
        for (line, cells) in &table.rows {
            let mut values: Vec<(Package, Vec<String>)> = Vec::new();
            for (packages, cell) in columns.iter().zip(cells) {
                match packages.as_slice() {
                    [] => {}
                    [Package::Python] => values.push((Package::Python, python_versions(cell))),
                    [one] => values.push((*one, cell_versions(cell))),
                    // `2.7.1 / 2.7.1.post1` in a column of two packages.
                    many => {
                        let parts: Vec<&str> = cell.split('/').collect();
                        if parts.len() == many.len() {
                            let pairs = many.iter().zip(parts);
                            values.extend(
                                pairs.map(|(one, part)| (*one, cell_versions(part.trim()))),
                            );
                        }
                    }
                }
            }
            row_of(document, *line, &values, found);
        }
    }
}

static NAME_HEAD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:包名?|组件|软件|依赖|名称|package|component|software|dependency|name|item|项目|类别)")
        .expect("a constant")
});
static VERSION_HEAD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)version|版本").expect("a constant"));

/// A table with a row for each package: the versions of one environment.
fn list_of(document: &Document<'_>, table: &Table, found: &mut Vec<Statement>) {
    let [name, version] = [&NAME_HEAD, &VERSION_HEAD]
        .map(|head| table.head.iter().position(|cell| head.is_match(cell)));
    let versions = table.head.iter().filter(|cell| VERSION_HEAD.is_match(cell)).count();
    let (Some(name), Some(version), 1) = (name, version, versions) else { return };
    let named = table.rows.iter().filter_map(|(line, cells)| {
        let packages = column(cells.get(name)?);
        match (packages.as_slice(), cell_versions(cells.get(version)?).as_slice()) {
            ([package], [version]) => Some((*package, version.clone(), *line)),
            _ => None,
        }
    });
    judge_all(document, &unambiguous(named.collect()), Origin::Words, found);
}

/// A row: a cell of several versions claims each of them with the single ones of the others.
fn row_of(
    document: &Document<'_>,
    line: u32,
    values: &[(Package, Vec<String>)],
    found: &mut Vec<Statement>,
) {
    let mut single: Vec<Named> = values
        .iter()
        .filter_map(|(package, versions)| match versions.as_slice() {
            [one] => Some((*package, one.clone(), line)),
            _ => None,
        })
        .collect();
    // A column of torch_npu decides what torch and CANN have to do with each other, also where its
    // cell is no version that the tables have.
    let has_torch_npu = values.iter().any(|(package, _)| *package == Package::TorchNpu);
    let has_npu_version = single.iter().any(|one| one.0 == Package::TorchNpu);
    if has_torch_npu && !has_npu_version {
        single.retain(|one| one.0 != Package::Torch);
    }
    judge_all(document, &single, Origin::Table, found);
    for (package, versions) in values.iter().filter(|(_, versions)| versions.len() > 1) {
        for version in versions {
            for other in &single {
                if has_torch_npu && (*package, other.0) == (Package::Python, Package::Torch) {
                    continue;
                }
                let pair = [(*package, version.clone(), line), other.clone()];
                judge_all(document, &pair, Origin::Table, found);
            }
        }
    }
}

/// Judges each two of the versions that a table connects.
fn judge_all(document: &Document<'_>, named: &[Named], origin: Origin, found: &mut Vec<Statement>) {
    for (index, first) in named.iter().enumerate() {
        for second in &named[index + 1..] {
            let (first, second) = in_order(first, second);
            let Some(judged) = judge(first, second, named, origin) else { continue };
            let line = first.2.max(second.2);
            found.push(judged.at(StatementKind::Pair, document.file, line));
        }
    }
}

/// The pair in the order in which sentences name it: the package that was built for the other first.
fn in_order<'a>(a: &'a Named, b: &'a Named) -> (&'a Named, &'a Named) {
    let rank = |one: &Named| match one.0 {
        Package::VllmAscend => 0,
        Package::TorchNpu => 1,
        Package::MindSpore => 2,
        Package::Driver => 3,
        _ => 4,
    };
    if rank(b) < rank(a) { (b, a) } else { (a, b) }
}

/// Pairs that a table decides.
fn is_decidable(a: Package, b: Package, has_torch_npu: bool) -> bool {
    use Package::{Cann, Driver, Python, Torch, TorchNpu, Vllm, VllmAscend};
    match (a, b) {
        (TorchNpu, Cann | Torch | Python)
        | (VllmAscend, Vllm | TorchNpu | Torch | Python)
        | (Driver, Cann) => true,
        // torch_npu between the two decides it.
        (Torch, Cann | Python) | (Cann | Python, Torch) => !has_torch_npu,
        _ => false,
    }
}

fn judge(first: &Named, second: &Named, all: &[Named], origin: Origin) -> Option<Judged> {
    let has_torch_npu = all.iter().any(|one| one.0 == Package::TorchNpu);
    if first.0 == second.0 || !is_decidable(first.0, second.0, has_torch_npu) {
        return None;
    }
    // `2.9` is a line of releases, and lines overlap. Python has no other versions.
    let is_line = |one: &Named| {
        let has_lines = !matches!(one.0, Package::Python | Package::Cann | Package::Driver);
        has_lines && one.1.split('.').count() < 3
    };
    if is_line(first) || is_line(second) {
        return None;
    }
    let shown = |one: &Named| format!("{} {}", one.0.label(), one.1);
    let (package, other) = (shown(first), shown(second));
    let says = format!("{package}, {other}");
    let versions = [(first.0, first.1.clone()), (second.0, second.1.clone())];
    let sheet = versions_together(&versions)?;
    let judgement = sheet.judgement?;
    Some(match judgement.fit {
        Fit::Fits => match replaced(first, second).filter(|_| origin == Origin::Table) {
            Some((right, source)) => {
                let right_pair = format!("{right} {other}");
                let finding =
                    lint_pair::Replaced { both: right_pair, other, package, right }.warning();
                Judged::contradicts(says, vec![source], finding)
            }
            None => Judged::agrees(says, sheet.sources),
        },
        Fit::Unknown => Judged::undecided(says),
        Fit::Conflict => {
            let verdict = judgement.statement;
            let both = format!("{package} {other}");
            let finding = lint_pair::Conflict { both, other, package, verdict }.error();
            Judged::contradicts(says, sheet.sources, finding)
        }
    })
}

/// The torch_npu that the vendor's table has for this CANN and the same torch, if it is another.
fn replaced(npu: &Named, cann: &Named) -> Option<(String, String)> {
    if (npu.0, cann.0) != (Package::TorchNpu, Package::Cann) {
        return None;
    }
    let matrix = Matrix::builtin();
    let (version, with): (Version, CannVersion) = (npu.1.parse().ok()?, cann.1.parse().ok()?);
    let Support::Compatible { basis: Basis::Window, .. } =
        matrix.torch_npu_with_cann(&version, &with)
    else {
        return None;
    };
    let own = matrix.torch_npu(&version)?;
    // A release that the vendor lists with another CANN.
    own.cann.as_ref()?;
    let rows = matrix.torch_npu_for(&own.torch.0);
    let right = rows.into_iter().find(|row| {
        row.version.0 != version
            && row.cann.as_ref().is_some_and(|cann| cann.0 == with)
            && matches!(
                matrix.torch_npu_with_cann(&row.version.0, &with),
                Support::Recommended { .. }
            )
    })?;
    Some((format!("torch_npu {}", right.version), right.source.clone()))
}

#[cfg(test)]
mod tests {
    use super::super::document::parse;
    use super::super::statement::StatementState::{self, Agrees, Contradicts};
    use super::*;

    fn states(text: &str) -> Vec<StatementState> {
        let mut found = Vec::new();
        read(&parse("a.md", text), &mut found);
        found.iter().map(|one| one.state).collect()
    }

    #[test]
    fn rows_of_tables_are_pairs() {
        let head = "| CANN版本 | PyTorch版本 | torch\\_npu版本 | Python版本 |\n|---|---|---|---|\n";
        let right = format!("{head}| CANN 8.3.RC1 | 2.7.1 | 2.7.1 | 3.9-3.11 |\n");
        assert!(states(&right).iter().all(|state| *state == Agrees), "{:?}", states(&right));
        let old = format!("{head}| CANN 9.0.0 | 2.8.0 | 2.8.0.post2 | 3.10 |\n");
        assert_eq!(states(&old).iter().filter(|state| **state == Contradicts).count(), 1);
        let python = format!("{head}| CANN 9.0.0 | 2.10.0 | 2.10.0 | 3.9-3.13 |\n");
        assert_eq!(states(&python).iter().filter(|state| **state == Contradicts).count(), 1);
    }

    #[test]
    fn sentences_and_blocks_are_pairs() {
        assert_eq!(states("Use torch_npu 2.5.1 with CANN 8.5.0."), [Contradicts]);
        let block =
            "```bash\n# Install torch-npu for CANN 8.5.0\npip install torch-npu==2.5.1\n```";
        assert_eq!(states(block), [Contradicts]);
        let install = "```bash\npip install torch==2.6.0 torch-npu==2.7.1\n```";
        assert_eq!(states(install), [Contradicts]);
    }

    #[test]
    fn what_is_no_advice_is_no_statement() {
        for text in [
            "torch_npu 2.5.1 fails with CANN 8.5.0.",
            "torch_npu 2.5.1 不支持 CANN 8.5.0。",
            "torch_npu 2.5.1 requires CANN 8.1 or later, such as CANN 8.5.0",
            "Upgrade from CANN 8.1.RC1 to CANN 8.5.0 and torch_npu 2.5.1",
            "torch_npu 2.5.1 / 2.6.0 and CANN 8.5.0",
            "Use vllm-ascend 0.18 with torch 2.10",
            "Use torch_npu 2.5.1 with CANN 8.5.0, torch_npu 2.6.0 with CANN 8.5.1",
            "torch>=2.1 torch_npu>=2.7",
        ] {
            assert!(states(text).is_empty(), "{text}: {:?}", states(text));
        }
    }
}
