//! Reads the documents in one file.

use super::record::{Record, RejectReason, SiteJudge, read_and_judge};
use super::split::{Piece, Splitter};

/// Maximum number of documents in a file.
const MAX_PER_FILE: usize = 20_000;

/// The source of a document, and its record or the reason to refuse it.
pub type DocumentResult = (String, Result<Record, RejectReason>);

/// Reads the documents in a file, which usually holds one report. `arrived` is the modification
/// time of the file: seconds since 1970, UTC. `judge` compares each document with the expectations
/// of a site.
pub fn read_documents(
    bytes: &[u8],
    source: &str,
    arrived: Option<i64>,
    judge: Option<SiteJudge<'_>>,
) -> Vec<DocumentResult> {
    let source = source.to_owned();
    let read = |bytes: &[u8]| read_and_judge(bytes, judge);
    let with_time = |record: Record| Record { arrived, ..record };
    let whole = read(bytes);
    if !matches!(whole, Err(RejectReason::Form(_) | RejectReason::Stage)) {
        return vec![(source, whole.map(with_time))];
    }
    // The file has several documents, or a damaged one.
    let (mut splitter, mut out, mut more) = (Splitter::default(), Vec::new(), 0_usize);
    let mut take = |piece| {
        let outcome = match piece {
            Piece::Document(bytes) => read(&bytes).map(with_time),
            Piece::Broken(_) => Err(RejectReason::Form(data::faults::BreaksOff.value())),
            Piece::Other(_) => return,
        };
        match outcome {
            Err(RejectReason::Stage) => {}
            _ if out.len() >= MAX_PER_FILE => more += 1,
            outcome => out.push((source.clone(), outcome)),
        }
    };
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        splitter.line(line, false, &mut take);
    }
    splitter.end(&mut take);
    if more > 0 {
        let why = data::faults::MoreDocuments { n: more, limit: MAX_PER_FILE }.value();
        out.push((source.clone(), Err(RejectReason::Form(why))));
    }
    if out.is_empty() {
        let why = match whole {
            Err(RejectReason::Stage) => RejectReason::Form(data::faults::StagesOnly.value()),
            Err(refused) => refused,
            Ok(_) => return out,
        };
        return vec![(source, Err(why))];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_several_documents_are_split() {
        let report = r#"{"schema": "ascend-doctor/check/1"}"#;
        let stage = r#"{"schema": "ascend-doctor/verify-stage/1"}"#;
        let read = |text: &str| read_documents(text.as_bytes(), "n1", Some(7), None);
        let found = read(&format!("{stage}\n{report}\n{report}\n"));
        assert_eq!(found.len(), 2);
        for (source, outcome) in found {
            assert_eq!((source.as_str(), outcome.unwrap().arrived), ("n1", Some(7)));
        }
        for text in ["", "nothing", stage, &format!("{stage}\n{stage}\n")] {
            let found = read(text);
            let is_refused = matches!(&found[..], [(_, Err(RejectReason::Form(_)))]);
            assert!(is_refused, "{text}: {found:?}");
        }
    }
}
