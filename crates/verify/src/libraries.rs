//! CANN libraries that the dynamic linker cannot load: installed outside its search path, or built
//! for another architecture.

use super::run::RunResult;

/// An installation of CANN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Its root.
    pub path: String,
    /// Variables that let child processes use it.
    pub env: Vec<(String, String)>,
}

impl Installation {
    /// Creates the variables for the installation in `path`, and for the driver in `driver`.
    /// `search_path` is the `LD_LIBRARY_PATH` of this process.
    pub fn new(
        path: &str,
        driver: Option<&str>,
        search_path: &str,
        is_dir: &dyn Fn(&str) -> bool,
    ) -> Self {
        let arch = std::env::consts::ARCH;
        let mut dirs = vec![format!("{path}/lib64"), format!("{path}/{arch}-linux/lib64")];
        // The libraries of operators and of the compiler, which load these as dependencies.
        dirs.push(format!("{path}/lib64/plugin/opskernel"));
        dirs.push(format!("{path}/lib64/plugin/nnengine"));
        if let Some(driver) = driver {
            dirs.extend([format!("{driver}/lib64/common"), format!("{driver}/lib64/driver")]);
            dirs.push(format!("{driver}/lib64"));
        }
        dirs.retain(|dir| is_dir(dir));
        dirs.extend(Some(search_path.to_owned()).filter(|own| !own.is_empty()));
        let env = [
            ("LD_LIBRARY_PATH", dirs.join(":")),
            ("ASCEND_HOME_PATH", path.to_owned()),
            ("ASCEND_TOOLKIT_HOME", path.to_owned()),
            ("ASCEND_AICPU_PATH", path.to_owned()),
            ("ASCEND_OPP_PATH", format!("{path}/opp")),
        ];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { path: path.to_owned(), env }
    }
}

/// Returns the libraries that a run did not find although they are in `search_path`, because they
/// are for another architecture, and that architecture. `foreign_architecture` returns it for a
/// path, and `None` for libraries of this architecture and for all other files.
pub fn find_foreign_libraries(
    done: &RunResult,
    search_path: &str,
    foreign_architecture: &dyn Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let names = done.missing_libraries().unwrap_or_default();
    let mut found = Vec::new();
    for dir in search_path.split(':').filter(|dir| dir.starts_with('/')) {
        for name in names {
            let path = format!("{}/{name}", dir.trim_end_matches('/'));
            if let Some(arch) = foreign_architecture(&path) {
                found.push((path, arch));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_search_path_follows_the_installation() {
        let is_dir = |dir: &str| ["/cann/lib64", "/driver/lib64"].contains(&dir);
        let installed = Installation::new("/cann", Some("/driver"), "/own", &is_dir);
        let variable = |name: &str| {
            let found = installed.env.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        assert_eq!(variable("LD_LIBRARY_PATH"), "/cann/lib64:/driver/lib64:/own");
        assert_eq!(variable("ASCEND_OPP_PATH"), "/cann/opp");
        let none = Installation::new("/cann", None, "", &|_| false);
        assert_eq!(none.env[0].1, "");
    }
}
