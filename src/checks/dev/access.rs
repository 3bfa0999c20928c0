//! Checks whether the user under examination can open the device nodes.

use crate::{Context, npu};
use base::report::Evidence;
use data::{
    Outcome, Reason,
    findings::{dev_access, dev_group, dev_mode, dev_type},
    ui,
};
use facts::{Access, Facts, Node, NodeOwner, place};

/// Default group of the driver's installer.
const DEFAULT_GROUP: &str = "HwHiAiUser";

/// The core nodes that are devices and have known owners, or the reason why there are none.
fn owned(facts: &Facts) -> Result<Vec<(&Node, NodeOwner)>, Outcome> {
    if npu::core_nodes(facts).next().is_none() {
        return Err(Outcome::NotApplicable(Reason::NoNpu));
    }
    let nodes: Vec<_> = npu::core_nodes(facts)
        .filter(|node| !npu::is_no_device(facts, node))
        .filter_map(|node| Some((node, node.owner?)))
        .collect();
    if nodes.is_empty() { Err(Outcome::NotChecked(Reason::OwnerUnknown)) } else { Ok(nodes) }
}

fn show(node: &Node, owner: NodeOwner) -> Evidence {
    Evidence::file(&node.path)
        .value(format!("mode {:04o} uid {} gid {}", owner.mode, owner.uid, owner.gid))
}

fn install_field<'a>(facts: &'a Facts, key: &str) -> Option<&'a str> {
    facts.driver.install_info.as_ref()?.get(key)
}

/// Returns whether the driver was installed for all users: nodes then have mode 0666, else 0660.
fn for_all(facts: &Facts) -> bool {
    install_field(facts, "Driver_Install_For_All")
        .is_some_and(|value| value.eq_ignore_ascii_case("yes"))
}

/// DEV-MODE: permission bits and group as required by `/etc/ascend_install.info`.
pub(super) fn mode(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let nodes = match owned(facts) {
        Ok(nodes) => nodes,
        Err(outcome) => return outcome,
    };
    let wanted: u32 = if for_all(facts) { 0o666 } else { 0o660 };
    let mut found = Vec::new();
    let narrow: Vec<_> = nodes.iter().filter(|(_, owner)| owner.mode & wanted != wanted).collect();
    if !narrow.is_empty() {
        let paths = npu::listed(narrow.iter().map(|(node, _)| node.path.as_str()));
        let mut finding =
            dev_mode::Narrow { path: &narrow[0].0.path, paths, wanted: format!("{wanted:04o}") }
                .warning();
        for (node, owner) in narrow {
            finding = finding.evidence(show(node, *owner));
        }
        if for_all(facts) {
            finding = finding.evidence(
                Evidence::file("/etc/ascend_install.info").value("Driver_Install_For_All=yes"),
            );
        }
        found.push(finding.because(&[dev_access::ID]));
    }
    // A container may have another name for the group, or none.
    let name = install_field(facts, "UserGroup").unwrap_or(DEFAULT_GROUP);
    if !npu::in_container(facts)
        && !for_all(facts)
        && let Some(&gid) = facts.host.groups.get(name)
    {
        let foreign: Vec<_> = nodes.iter().filter(|(_, owner)| owner.gid != gid).collect();
        if !foreign.is_empty() {
            let paths = npu::listed(foreign.iter().map(|(node, _)| node.path.as_str()));
            let mut finding =
                dev_mode::Group { gid, group: name, path: &foreign[0].0.path, paths }.warning();
            for (node, owner) in foreign {
                finding = finding.evidence(show(node, *owner));
            }
            found.push(finding.because(&[dev_access::ID]));
        }
    }
    found.into()
}

/// DEV-ACCESS: read and write for the user, groups and capabilities under examination.
pub(super) fn access(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let nodes = match owned(facts) {
        Ok(nodes) => nodes,
        Err(outcome) => return outcome,
    };
    let process = &facts.process;
    let Some(uid) = process.uid else {
        return Outcome::NotChecked(Reason::ProcessUnknown);
    };
    let closed: Vec<_> = nodes
        .iter()
        .filter(|(_, o)| process.may(Access::ReadWrite, o.mode, o.uid, o.gid) == Some(false))
        .collect();
    let Some((first, owner)) = closed.first() else {
        return Outcome::Passed;
    };
    let group_name =
        facts.host.groups.iter().find(|(_, gid)| **gid == owner.gid).map(|(name, _)| name.as_str());
    let group_opens = owner.mode >> 3 & 0o6 == 0o6;
    let listed_as_member =
        group_name.is_some_and(|name| facts.host.user_groups.iter().any(|own| own == name));
    let user = facts.host.user.clone().unwrap_or_else(|| uid.to_string());
    let group = group_name.map_or_else(|| owner.gid.to_string(), str::to_owned);
    let (path, gid) = (&first.path, owner.gid);
    let paths = npu::listed(closed.iter().map(|(node, _)| node.path.as_str()));
    let mut found = if !group_opens {
        dev_access::Closed { path, paths, uid, user }.error()
    } else if uid == 0 {
        dev_access::Capability { gid, paths }.error()
    } else if npu::in_container(facts) {
        dev_access::Container { gid, paths, uid, user }.error()
    } else if listed_as_member {
        dev_access::OldSession { group, paths, user }.error()
    } else {
        dev_access::Group { group, paths, uid, user }.error()
    };
    for (node, owner) in &closed {
        found = found.evidence(show(node, *owner));
    }
    let groups: Vec<String> = process.groups.iter().map(u32::to_string).collect();
    let groups = groups.join(" ");
    let gid = process.gid.map_or_else(|| "-".to_owned(), |gid| gid.to_string());
    let seen = match &process.caps {
        Some(_) if process.has_cap("dac_override") => {
            ui::SeenProcessOverride { gid, groups, uid }.text()
        }
        Some(_) => ui::SeenProcessPlain { gid, groups, uid }.text(),
        None => ui::SeenProcessUnknown { gid, groups, uid }.text(),
    };
    found = found.evidence(Evidence::option("process").says(seen));
    vec![found.because(&[dev_type::ID])].into()
}

/// DEV-GROUP: the driver's user and group exist, and the caller is a member.
pub(super) fn group(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if npu::in_container(facts) {
        return Outcome::NotApplicable(Reason::InContainer);
    }
    if !npu::has_driver(facts) {
        return Outcome::NotApplicable(Reason::NoDriver);
    }
    if !facts.host.accounts_read {
        return Outcome::NotChecked(Reason::Unreadable {
            what: "/etc/passwd, /etc/group".to_owned(),
        });
    }
    let Some(info) = &facts.driver.install_info else {
        return Outcome::NotChecked(Reason::NoFile { what: "/etc/ascend_install.info".to_owned() });
    };
    let mut found = Vec::new();
    if let Some(user) = info.get("UserName").filter(|name| !facts.host.users.contains_key(*name)) {
        found.push(
            dev_group::NoUser { group: info.get("UserGroup").unwrap_or(DEFAULT_GROUP), user }
                .warning()
                .evidence(info.place("UserName").value(format!("UserName={user}")))
                .evidence(Evidence::file("/etc/passwd")),
        );
    }
    let Some(name) = info.get("UserGroup") else { return found.into() };
    let Some(&gid) = facts.host.groups.get(name) else {
        found.push(
            dev_group::NoGroup { group: name }
                .warning()
                .evidence(info.place("UserGroup").value(format!("UserGroup={name}")))
                .evidence(Evidence::file("/etc/group")),
        );
        return found.into();
    };
    let process = &facts.process;
    let member = process.gid == Some(gid) || process.groups.contains(&gid);
    // If the nodes' owners are known, DEV-ACCESS decides: a user with access does not need to be a
    // member.
    let open = |owner: &NodeOwner| {
        process.may(Access::ReadWrite, owner.mode, owner.uid, owner.gid) == Some(true)
    };
    let lets_in = owned(facts).is_ok_and(|nodes| nodes.iter().any(|(_, owner)| open(owner)));
    if let Some(uid) = process.uid
        && !member
        && !for_all(facts)
        && !lets_in
        && !process.has_cap("dac_override")
        && facts.host.users.values().all(|&driver| driver != uid)
    {
        let user = facts.host.user.clone().unwrap_or_else(|| uid.to_string());
        found.push(
            dev_group::NotMember { group: name, user }
                .warning()
                .evidence(
                    place("/etc/group", &facts.host.group_lines, name)
                        .value(format!("{name} = {gid}")),
                )
                .because(&[dev_access::ID]),
        );
    }
    found.into()
}
