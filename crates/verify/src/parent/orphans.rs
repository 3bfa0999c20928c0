//! Ends processes that the vendor's code starts and leaves behind: a process that left its group
//! and lost its parent becomes a child of this process, which is the nearest subreaper.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};

/// The time limit for ending orphans: ending one can create others.
const LIMIT: Duration = Duration::from_secs(1);
/// The maximum number of orphans named.
const NAMED: usize = 16;

/// Makes this process adopt orphans from now on.
pub fn adopt() {
    let _ = set_child_subreaper(Some(rustix::process::getpid()));
}

/// Ends all children of this process except those in `known`, and returns the names of those that
/// were running. A child that cannot be ended is added to `known`.
pub fn end_orphans(known: &mut Vec<u32>) -> Vec<String> {
    let start = Instant::now();
    let (mut named, mut seen) = (Vec::new(), Vec::new());
    loop {
        let mut left = Vec::new();
        for pid in list_children().into_iter().filter(|pid| !known.contains(pid)) {
            let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { continue };
            let (name, state) = read_name_and_state(pid);
            // A process that ended by itself only needs to be reaped.
            if state != Some('Z') && !seen.contains(&pid) {
                seen.push(pid);
                if named.len() < NAMED {
                    named.push(format!("{name} ({pid})"));
                }
            }
            let _ = kill_process(process, Signal::KILL);
            if !matches!(waitpid(Some(process), WaitOptions::NOHANG), Ok(Some(_))) {
                left.push(pid);
            }
        }
        if left.is_empty() {
            return named;
        }
        if start.elapsed() > LIMIT {
            known.extend(left);
            return named;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The name of a process, and its state.
fn read_name_and_state(pid: u32) -> (String, Option<char>) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((head, rest)) = stat.rsplit_once(") ") else { return ("?".to_owned(), None) };
    let name = head.split_once('(').map_or("?", |(_, name)| name);
    (name.to_owned(), rest.chars().next())
}

/// The children of this process.
fn list_children() -> Vec<u32> {
    let mut found = Vec::new();
    let mut lists = false;
    for thread in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        if let Ok(list) = std::fs::read_to_string(thread.path().join("children")) {
            lists = true;
            found.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    // Kernels can be built without these lists.
    if lists { found } else { list_children_by_parent() }
}

/// Lists the children by the parent of every process.
fn list_children_by_parent() -> Vec<u32> {
    let own = super::own_pid().to_string();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        rest.split(' ').nth(1) == Some(own.as_str())
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_are_seen_in_both_ways() {
        let mut child =
            Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().expect("there is a sleep");
        let pid = child.id();
        assert!(list_children().contains(&pid) && list_children_by_parent().contains(&pid));
        assert_eq!(read_name_and_state(pid).1.map(|state| "SRD".contains(state)), Some(true));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!list_children().contains(&pid) && !list_children_by_parent().contains(&pid));
        assert_eq!(read_name_and_state(u32::MAX), ("?".to_owned(), None));
    }
}
