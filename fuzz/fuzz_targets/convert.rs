//! Sources that `convert` reads: any bytes, as any kind of file.
#![no_main]

use std::path::PathBuf;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;

use convert::encoding::{Decoded, differs_only_in};
use convert::options::{Import, Options};
use convert::plan::{FileProblem, plan_bytes};
use convert::python::Project;
use treeedit::kind::FileKind;
use treeedit::walk::{Root, SourceFile};

#[path = "../kinds.rs"]
mod kinds;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, body)) = bytes.split_first() else { return };
    let name = kinds::name(first);
    let root = Root::new(".", "/", true);
    let file = SourceFile {
        path: PathBuf::from(name),
        relative: PathBuf::from(name),
        root: Arc::new(root),
        kind: FileKind::of_name(name).expect("every name of the list has a kind"),
        size: body.len() as u64,
        launch: first & 0x40 != 0,
    };
    let options = Options {
        messages: first & 0x10 != 0,
        mark: first & 0x20 != 0,
        transfer: first & 0x88 == 0x88,
        import: [Import::Need, Import::Each, Import::Entry, Import::None]
            [usize::from(first >> 1 & 3)],
        ..Options::default()
    };
    let Some(planned) = plan_bytes(&file, body.to_vec(), &options, &Project::default()) else {
        return;
    };
    let shown = || format!("{name}, {first:#x}:\n{}", String::from_utf8_lossy(body));
    // The planner verifies its output itself: it parses, and a second run changes nothing.
    if let Some(FileProblem::SelfCheck(why)) = &planned.problem {
        panic!("{}\n{}", why.en, shown());
    }
    assert_eq!(planned.before, body);
    let before = planned.text();
    for site in &planned.plan.sites {
        assert!(before.get(site.range.clone()).is_some(), "{:?}\n{}", site.range, shown());
    }
    let Some(after) = &planned.after else { return };
    assert!(*after != planned.before, "{}", shown());
    let decoded = match file.kind {
        FileKind::Python => Decoded::python(after),
        _ => Decoded::utf8(after),
    };
    let decoded = decoded.unwrap_or_else(|error| panic!("{error}\n{}", shown()));
    assert!(differs_only_in(&before, &decoded.text, &planned.plan.edits), "{}", shown());
    let again = plan_bytes(&file, after.clone(), &options, &Project::default());
    assert!(
        again.is_none_or(|again| again.after.is_none() && again.problem.is_none()),
        "{}",
        shown()
    );
});
