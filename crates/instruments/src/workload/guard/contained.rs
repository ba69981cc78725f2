//! Containers of docker and podman: they are no children of who started them, and are ended by the tool that did.

use std::process::{Command, Stdio};

use super::book;

/// How the names of containers begin: the guard ends no other.
pub const CONTAINER: &str = "boxscore-";

/// A container of docker or podman that the guard knows of. Dropping it removes the container.
#[derive(Debug)]
pub struct Contained {
    text: String,
}

impl Contained {
    /// Tells the guard of a container that is about to be started. Fails when the guard is gone, or the name is none
    /// of ours.
    pub fn tell(tool: &str, name: &str) -> Result<Contained, String> {
        let text = format!("{tool} {name}");
        container_of(&text).ok_or_else(|| format!("{text} is no container of ours"))?;
        let mut book = book();
        book.tell(&format!("+!{text}\n"))?;
        book.wards.containers.insert(text.clone());
        Ok(Contained { text })
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        remove_container(&self.text);
        let mut book = book();
        if book.wards.containers.remove(&self.text) {
            let _told = book.tell(&format!("-!{}\n", self.text));
        }
    }
}

/// The tool and the name of a container; only those that are named as ours are.
pub(super) fn container_of(text: &str) -> Option<(&'static str, &str)> {
    let (tool, name) = text.split_once(' ')?;
    let tool = ["docker", "podman"].into_iter().find(|known| *known == tool)?;
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    (name.starts_with(CONTAINER) && name.chars().all(is_part)).then_some((tool, name))
}

/// Ends a container by the tool that started it.
pub(super) fn remove_container(text: &str) {
    let Some((tool, name)) = container_of(text) else { return };
    let mut command = Command::new(tool);
    command.args(["rm", "--force", name]);
    // One that is gone is what was wanted, and there is nobody to tell of another failure.
    let _gone = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::guard::Wards;

    #[test]
    fn only_containers_of_ours_are_ended() {
        assert_eq!(container_of("podman boxscore-1-2-3"), Some(("podman", "boxscore-1-2-3")));
        for not in ["", "podman", "podman x", "sh boxscore-1", "docker boxscore-1 -f", "docker boxscore-$x"] {
            assert_eq!(container_of(not), None, "{not}");
        }
        let mut wards = Wards::default();
        for line in ["+!podman boxscore-1", "+!docker boxscore-2", "+!docker db", "-!podman boxscore-1"] {
            wards.note(line.as_bytes());
        }
        assert_eq!(wards.lines(), "+!docker boxscore-2\n");
    }
}
