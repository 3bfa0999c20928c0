//! TorchScript: the code that `torch.jit.save` writes, in Python's grammar with static types.
//!
//! The archive has one code file per module below `code/`. The operators of the model are those
//! that `forward` of its class reaches. The class is the first name in `data.pkl`, which is read as
//! bytes. The code names operators without overloads (`torch.add`), and uses the same names for
//! tensors and for numbers, so types are followed as far as necessary
//! (torch/csrc/jit/serialization/python_print.cpp).

mod body;
mod hosts;
mod library;
mod values;

use data::faults;
use ruff_python_ast::Mod;

use pysyntax::{SyntaxError, on_enough_stack, parse_module};

use self::library::Library;
use super::archive::Archive;
use super::model::{Format, Model, Note, Op};
use super::unreadable::{Unreadable, damaged};

/// The maximum size of the code, in bytes. A model of a thousand layers has about one megabyte.
const CODE_LIMIT: usize = 64 << 20;
/// The number of bytes at the beginning of `data.pkl` that contain the class of the model.
const HEAD: u64 = 4096;

pub(super) fn read(archive: &mut Archive<'_>, code: &[String]) -> Result<Model, Unreadable> {
    let mut files = Vec::new();
    let mut total = 0;
    for name in code {
        let bytes = archive.entry(name)?;
        total += bytes.len();
        if total > CODE_LIMIT {
            let what = faults::PartCode.value();
            return Err(Unreadable::TooLarge { what, limit: CODE_LIMIT as u64 });
        }
        let text =
            String::from_utf8(bytes).map_err(|_| damaged(faults::EntryNotUtf8 { name }.value()))?;
        files.push((module_name(name), name.clone(), text));
    }
    let root = root(archive);
    // Deeply nested code needs a large stack, whose size depends on the deepest file.
    let deepest = files.iter().map(|(_, _, text)| text.as_str()).collect::<Vec<_>>().join("\n");
    on_enough_stack(&deepest, || Ok(walk(&files, root.as_deref())))
        .map_err(|error| syntax("code", &error))?
}

fn syntax(name: &str, error: &SyntaxError) -> Unreadable {
    damaged(faults::ScriptLine { name, line: error.line, message: &error.message }.value())
}

fn walk(files: &[(String, String, String)], root: Option<&str>) -> Result<Model, Unreadable> {
    let mut modules = Vec::with_capacity(files.len());
    for (module, name, text) in files {
        modules.push((module, parse_module(text, false).map_err(|error| syntax(name, &error))?));
    }
    let mut library = Library::default();
    for (module, tree) in &modules {
        if let Mod::Module(tree) = tree {
            library.add(module, tree);
        }
    }
    let mut model = Model::new(Format::Torchscript);
    model.note(Note::NoOverloads);
    let mut walker = body::Walker::new(&library);
    if let Some((root, class)) = root.and_then(|root| library.classes.get_key_value(root)) {
        let start: Vec<&str> = match class.methods.get_key_value("forward") {
            Some((name, _)) => vec![name],
            None => class.methods.keys().copied().collect(),
        };
        for method in start {
            walker.method(root, method);
        }
    } else {
        model.note(Note::NotFollowed);
        walker.everything();
    }
    let (counts, followed) = walker.finish();
    if !followed {
        model.note(Note::NotFollowed);
    }
    for ((name, place), count) in counts {
        if let Some(op) = Op::parse(&name, false) {
            model.uses(op, count, Some(&place));
        }
    }
    Ok(model)
}

/// Converts `net/code/__torch__/torch/nn/modules/linear.py` to `__torch__.torch.nn.modules.linear`.
fn module_name(entry: &str) -> String {
    let path = entry.split_once("code/").map_or(entry, |(_, path)| path);
    path.strip_suffix(".py").unwrap_or(path).replace('/', ".")
}

/// Returns the class of the model: the first global name in `data.pkl` (opcode `c`, two lines).
fn root(archive: &mut Archive<'_>) -> Option<String> {
    let name = archive.names().find(|name| {
        name.ends_with("/data.pkl") && name.matches('/').count() == 1 || *name == "data.pkl"
    })?;
    let name = name.into_owned();
    let head = archive.head(&name, HEAD).ok()?;
    let rest = head.strip_prefix(b"\x80\x02c")?;
    let mut lines = rest.split(|byte| *byte == b'\n');
    let module = std::str::from_utf8(lines.next()?).ok()?;
    let class = std::str::from_utf8(lines.next()?).ok()?;
    Some(format!("{module}.{class}"))
}

#[cfg(test)]
mod tests;
