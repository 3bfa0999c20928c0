//! `aclnn_8.1.RC1.tsv`: the aclnn functions of a CANN 8.1.RC1 installation.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use regex::Regex;

use super::unnamed;
use crate::context::Context;
use crate::extract::Content;

const SOURCE: &str = "cann-8.1.RC1";
const HEADERS: &str = r"/opp/(?:.*/)?aclnnop/.*\.h$";

/// Returns the functions that a header declares as two steps.
fn declared(text: &str) -> Result<BTreeSet<String>> {
    let step = Regex::new(r"(aclnn[A-Z]\w*)GetWorkspaceSize\s*\(")?;
    Ok(step.captures_iter(text).map(|found| found[1].to_owned()).collect())
}

/// Extracts `aclnn_8.1.RC1.tsv`.
pub(super) fn extract(context: &Context) -> Result<Content> {
    let tree = context.tree(SOURCE)?;
    let mut functions = BTreeSet::new();
    for path in tree.find(HEADERS)? {
        functions.extend(declared(&String::from_utf8_lossy(&tree.bytes(path)?))?);
    }
    ensure!(functions.len() >= 769, "{} declares {} functions", tree.origin(), functions.len());
    let remarks = format!(
        "The aclnn functions that the headers of CANN 8.1.RC1 declare.\n\
         source 0: {}:**/opp/**/aclnnop/*.h\n\
         Columns: function.",
        tree.origin()
    );
    let rows = functions.into_iter().map(|name| vec![name]).collect();
    Ok(unnamed(&["function"], &remarks, rows).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_declared_by_their_first_step() {
        let text = "ACLNN_API aclnnStatus aclnnAbsGetWorkspaceSize(const aclTensor* x);\naclnnStatus aclnnAbs(void* workspace);\naclnnStatus aclnnAddGetWorkspaceSize (\n";
        let found = declared(text).unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["aclnnAbs", "aclnnAdd"]);
    }
}
