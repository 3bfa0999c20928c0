//! The rules whose changes a run applies: `--only` and `--skip`.

use data::{Fault, faults};

use super::rules::{Place, Rule, Rules};

/// The rules whose changes are applied. Places of the others stay.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The only rules: IDs and families. Empty for all.
    only: Vec<&'static str>,
    /// The excluded rules: IDs and families.
    skip: Vec<&'static str>,
}

impl Selection {
    /// All rules.
    pub const ALL: Self = Self { only: Vec::new(), skip: Vec::new() };

    /// Reads the IDs of rules, in any case, and families: the files of the rules, such as
    /// `environment`.
    ///
    /// # Errors
    ///
    /// For the first name that is neither a rule nor a family.
    pub fn new(only: &[String], skip: &[String]) -> Result<Self, Fault> {
        Ok(Self { only: known(only)?, skip: known(skip)? })
    }

    /// Whether every rule is selected.
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.skip.is_empty()
    }

    /// Whether the changes of a rule are applied. The import of torch_npu follows from other
    /// changes, so `--only` need not name it.
    pub fn selects(&self, rule: &Rule) -> bool {
        let is_in =
            |names: &[&str]| names.iter().any(|&name| name == rule.id || name == rule.field);
        if is_in(&self.skip) {
            return false;
        }
        let is_import = || Rules::builtin().site(Place::InsertTorchNpu).id == rule.id;
        self.only.is_empty() || is_in(&self.only) || is_import()
    }
}

fn known(names: &[String]) -> Result<Vec<&'static str>, Fault> {
    let names = names.iter().map(|name| name.trim());
    let known = names.map(|name| {
        if let Some(rule) = Rules::builtin().by_id(name) {
            // Places of such a rule are reported under another one.
            return Ok(rule.reported_as.unwrap_or(rule.id));
        }
        let family = name.to_ascii_lowercase().replace('-', "_");
        let rule = Rules::builtin().rules.iter().find(|rule| rule.field == family);
        rule.map(|rule| rule.field).ok_or_else(|| faults::UnknownRule { name }.fault())
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(only: &[&str], skip: &[&str]) -> Result<Selection, Fault> {
        let owned =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Selection::new(&owned(only), &owned(skip))
    }

    fn selects(selection: &Selection, id: &str) -> bool {
        selection.selects(Rules::builtin().by_id(id).unwrap())
    }

    #[test]
    fn rules_are_selected_by_id() {
        let import = Rules::builtin().site(Place::InsertTorchNpu).id;
        let only = selection(&["cv0269"], &[]).unwrap();
        assert!(selects(&only, "CV0269") && selects(&only, import) && !selects(&only, "CV0334"));
        let skip = selection(&[], &[" CV0269", import]).unwrap();
        assert!(!selects(&skip, "CV0269") && !selects(&skip, import) && selects(&skip, "CV0334"));
        let both = selection(&["CV0269", "CV0334"], &["CV0334"]).unwrap();
        assert!(selects(&both, "CV0269") && !selects(&both, "CV0334"));
        let family = selection(&["torch-cuda"], &[]).unwrap();
        assert!(selects(&family, "CV0088") && !selects(&family, "CV0403"));
        assert!(Selection::ALL.is_all() && !both.is_all());
    }

    #[test]
    fn unknown_rules_are_refused() {
        for name in ["CV9999", "", "PY-CUDA", "\u{1b}[31m"] {
            assert!(selection(&[name], &[]).is_err(), "{name}");
        }
    }
}
