//! The user's environment: `HOST-USER`, `HOST-CWD`.

use super::{Check, Context, Family};
use base::report::{Evidence, Severity};
use data::{
    Outcome, Reason,
    findings::{host_cwd, host_user},
};
use facts::{Access, NodeOwner};

use super::npu;

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Host, host_user::ID, user),
    Check::new(Family::Host, host_cwd::ID, working_directory),
];

/// Variables that `getpass.getuser()` reads before `/etc/passwd`.
const NAMES: [&str; 2] = ["LOGNAME", "USER"];

/// HOST-USER: the uid has a name. A directory service may have names that `/etc/passwd` does not.
fn user(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if facts.python.interpreter.is_none() || !npu::has_stack(facts) {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let (Some(uid), true) = (facts.process.uid, facts.host.accounts_read) else {
        return Outcome::NotChecked(Reason::Unreadable { what: "/etc/passwd".to_owned() });
    };
    let named = || NAMES.iter().any(|name| facts.env.non_empty(name).is_some());
    if facts.host.user.is_some() || named() || !facts.env.known {
        return Outcome::Passed;
    }
    if !facts.host.accounts_of_files {
        return Outcome::NotChecked(Reason::Unreadable { what: "/etc/nsswitch.conf".to_owned() });
    }
    let found = host_user::Nameless { uid }.warning();
    vec![found.evidence(Evidence::file("/etc/passwd")).evidence(Evidence::env("USER"))].into()
}

/// HOST-CWD: CANN keeps compiled operators (`kernel_meta`) and dumps in the working directory. The
/// working directory of the workload is known only for a running process; a shell may have any.
fn working_directory(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if !npu::has_stack(facts) {
        return Outcome::NotApplicable(Reason::NoCann);
    }
    let (Some(cwd), Some(owner)) = (&facts.process.cwd, facts.host.cwd_owner) else {
        return Outcome::NotChecked(Reason::Unreadable { what: "cwd".to_owned() });
    };
    let NodeOwner { mode, uid, gid } = owner;
    let moved = ["ASCEND_CACHE_PATH", "ASCEND_WORK_PATH"];
    let moved = moved.iter().any(|name| facts.env.non_empty(name).is_some());
    match facts.process.may(Access::ReadWrite, mode, uid, gid) {
        None => Outcome::NotChecked(Reason::Unreadable { what: "uid".to_owned() }),
        Some(false) if !moved => {
            let severity =
                if facts.process.pid.is_some() { Severity::Warning } else { Severity::Info };
            let found = host_cwd::Closed { path: cwd }.at(severity);
            let owner = format!("{:04o} {uid}:{gid}", mode & 0o7777);
            vec![found.evidence(Evidence::file(cwd).value(owner))].into()
        }
        Some(_) => Outcome::Passed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};
    use facts::Facts;

    fn machine() -> Facts {
        let mut facts = facts_with(python("3.11"), vec![dist("torch-npu", "2.7.1")]);
        facts.env.known = true;
        facts.process.uid = Some(1000);
        facts.process.gid = Some(1000);
        facts.process.cwd = Some("/w".to_owned());
        facts.host.accounts_read = true;
        facts.host.accounts_of_files = true;
        facts.host.cwd_owner = Some(NodeOwner { mode: 0o755, uid: 0, gid: 0 });
        facts
    }

    fn run(check: fn(&Context<'_>) -> Outcome, facts: &Facts) -> Vec<String> {
        ids(check(&Context::of(facts, Profile::General)))
    }

    #[test]
    fn a_uid_needs_a_name() {
        let mut facts = machine();
        assert_eq!(run(user, &facts), ["warning HOST-USER nameless"]);
        facts.env.vars.insert("USER".to_owned(), "me".to_owned());
        assert_eq!(run(user, &facts), [""; 0]);
        facts.env.vars.clear();
        facts.host.accounts_of_files = false;
        assert_eq!(run(user, &facts), ["not checked: unreadable"]);
        facts.host.user = Some("me".to_owned());
        assert_eq!(run(user, &facts), [""; 0]);
    }

    #[test]
    fn a_working_directory_is_written_to() {
        let mut facts = machine();
        assert_eq!(run(working_directory, &facts), ["info HOST-CWD closed"]);
        facts.process.pid = Some(7);
        assert_eq!(run(working_directory, &facts), ["warning HOST-CWD closed"]);
        facts.env.vars.insert("ASCEND_CACHE_PATH".to_owned(), "/c".to_owned());
        assert_eq!(run(working_directory, &facts), [""; 0]);
        facts.env.vars.clear();
        facts.process.uid = Some(0);
        assert_eq!(run(working_directory, &facts), [""; 0]);
        facts.host.cwd_owner = None;
        assert_eq!(run(working_directory, &facts), ["not checked: unreadable"]);
    }
}
