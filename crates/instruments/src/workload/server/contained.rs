//! A server of ours in a container: how its command is run there, and which processes are its own.
//!
//! It has the network of the host, and sees its private folder and its content under their own paths. Its processes
//! are those below the container's first one, whoever their parent on this system is.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::tree::{self, Stat};
use crate::workload::container::{self, Container};
use crate::workload::guard::Contained;

/// Where a server runs; the default is this system itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inside<'a> {
    pub container: Option<&'a Container>,
    /// Folders beside its private one that it must see.
    pub binds: &'a [&'a Path],
}

/// The container of a server that was started.
#[derive(Debug)]
pub struct Running {
    container: Container,
    name: String,
    /// Its first processes, once they are known.
    roots: Mutex<BTreeSet<i32>>,
    /// Of docker and podman, until it is removed.
    ward: Option<Contained>,
}

/// Why another kind of server than nginx is not started in a container.
pub fn only_nginx(container: &Container) -> String {
    format!("in={container}: server=nginx is the one web server that is started in a container")
}

impl Inside<'_> {
    /// The command, in its container where it has one; `place` is its working directory. Fails when the guard cannot
    /// be told of the container.
    pub fn wrapped(
        self,
        command: Command,
        place: &Path,
        cpus: &[usize],
    ) -> Result<(Command, Option<Running>), String> {
        let Some(container) = self.container else { return Ok((command, None)) };
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let name = Container::new_name();
        let env = [("LC_ALL".to_owned(), "C".to_owned())];
        let inside = container::Inside {
            words: &words,
            dir: Some(place),
            env: &env,
            cpus,
            name: &name,
            binds: self.binds,
            is_server: true,
        };
        let wrapped = container.command(&inside);
        let ward = container.guarded(&name)?;
        let roots = Mutex::new(BTreeSet::new());
        Ok((wrapped, Some(Running { container: container.clone(), name, roots, ward })))
    }
}

impl Running {
    /// Its living processes; `leader` is the client that started it. Fails when /proc cannot be read.
    pub fn processes(&self, leader: i32) -> Result<Vec<Stat>, String> {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if roots.is_empty() && self.ward.is_some() != self.container.is_child() {
            *roots = self.container.roots(&self.name, leader)?;
        }
        tree::family(&roots)
    }

    /// Ends it by the tool that started it.
    pub fn remove(&mut self) {
        self.ward = None;
    }
}

/// True if one of these processes has this number in its own namespace.
pub fn is_named(processes: &[Stat], number: i32) -> bool {
    let status = |stat: &Stat| std::fs::read_to_string(format!("/proc/{}/status", stat.pid));
    processes.iter().filter_map(|stat| status(stat).ok()).any(|text| own_number(&text) == Some(number))
}

/// The last of `NSpid:`, which is that of the innermost namespace.
fn own_number(status: &str) -> Option<i32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_number_in_its_own_namespace() {
        assert_eq!(own_number("Name:\tx\nNSpid:\t4711\t12\t2\nNSpgid:\t1\n"), Some(2));
        assert_eq!(own_number("NSpid:\t4711\n"), Some(4711));
        assert_eq!(own_number("Name:\tx\n"), None);
        let me = tree::one(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(is_named(std::slice::from_ref(&me), me.pid) && !is_named(std::slice::from_ref(&me), 1));
    }

    #[test]
    fn a_command_stays_as_it_is_without_a_container() {
        let (command, running) =
            Inside::default().wrapped(Command::new("nginx"), Path::new("/"), &[]).unwrap();
        assert!(running.is_none() && command.get_program() == "nginx");
        let container = Container::parse("nspawn:/srv/root").unwrap();
        let inside = Inside { container: Some(&container), binds: &[Path::new("/docs")] };
        let mut command = Command::new("nginx");
        command.arg("-p");
        let (command, running) = inside.wrapped(command, Path::new("/place"), &[0]).unwrap();
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let all = words.join(" ");
        assert!(command.get_program() == "systemd-nspawn" && running.is_some());
        assert!(all.contains("--bind=/place --bind=/docs --chdir=/place"), "{all}");
        assert!(all.ends_with("-- nginx -p"), "{all}");
    }
}
