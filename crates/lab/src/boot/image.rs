//! The image that a node boots: a kernel and an initramfs, made here of boxscore and the kernel's modules, or those of
//! the user.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::cpio::Cpio;
use super::modules::Modules;

/// Where the modules lie in the initramfs, and their lists.
pub const MODULES: &str = "modules";

/// Drivers by which a node reaches the network, and those of its disks.
const FOLDERS: [&str; 10] = [
    "kernel/drivers/net/ethernet/",
    "kernel/drivers/net/hyperv/",
    "kernel/drivers/net/phy/",
    "kernel/drivers/net/virtio_net.",
    "kernel/drivers/net/vmxnet3/",
    "kernel/drivers/virtio/",
    "kernel/drivers/block/virtio_blk.",
    "kernel/drivers/nvme/",
    "kernel/drivers/ata/",
    "kernel/drivers/scsi/",
];

/// An image that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadImage {
    #[error("{}: {why}", .path.display())]
    File { path: PathBuf, why: String },
    #[error("the initramfs cannot be made: {0}")]
    Made(String),
}

/// A kernel, its initramfs and its command line.
#[derive(Clone, Debug)]
pub struct Image {
    pub kernel: Vec<u8>,
    pub initrd: Vec<u8>,
    pub command_line: String,
    /// True if boxscore runs in it, and tells how far it has come.
    pub reports: bool,
}

/// A file of the initramfs.
#[derive(Clone, Debug)]
pub struct Packed {
    pub path: String,
    pub mode: u32,
    pub bytes: Vec<u8>,
}

fn read(path: &Path) -> Result<Vec<u8>, BadImage> {
    std::fs::read(path).map_err(|error| BadImage::File { path: path.to_owned(), why: error.to_string() })
}

/// The processor of a kernel, as `uname -m` calls it; `None` for a file that does not say it.
pub fn architecture(kernel: &[u8]) -> Option<&'static str> {
    let bytes = |at: usize, count: usize| kernel.get(at..at.checked_add(count)?);
    let word = |at: usize| Some(u16::from_le_bytes(bytes(at, 2)?.try_into().ok()?));
    // x86: the header of its boot protocol, which tells 64 bits from version 2.12 on.
    if bytes(0x202, 4) == Some(b"HdrS") {
        let is_long = word(0x206)? >= 0x020c && word(0x236)? & 1 == 1;
        return Some(if is_long { "x86_64" } else { "i686" });
    }
    if bytes(0x38, 4) == Some(b"ARM\x64") {
        return Some("aarch64");
    }
    // Any other that EFI can start: the machine of its PE header.
    let at = usize::try_from(u32::from_le_bytes(bytes(0x3c, 4)?.try_into().ok()?)).ok()?;
    if bytes(0, 2) != Some(b"MZ") || bytes(at, 4) != Some(b"PE\0\0") {
        return None;
    }
    match word(at.checked_add(4)?)? {
        0x8664 => Some("x86_64"),
        0x014c => Some("i686"),
        0xaa64 => Some("aarch64"),
        _ => None,
    }
}

impl Image {
    /// The user's: `vmlinuz`, `initrd` and `cmdline` of a folder.
    pub fn of_folder(folder: &Path) -> Result<Image, BadImage> {
        let line = read(&folder.join("cmdline"))?;
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if line.contains('\n') {
            let why = "it has more than one line".to_owned();
            return Err(BadImage::File { path: folder.join("cmdline"), why });
        }
        let (kernel, initrd) = (read(&folder.join("vmlinuz"))?, read(&folder.join("initrd"))?);
        Ok(Image { kernel, initrd, command_line: line, reports: false })
    }

    /// The discovery image: a kernel, the modules of its folder (`/lib/modules/VERSION`), and a program as `/init`
    /// with the files that it needs.
    pub fn discovery(
        kernel: Vec<u8>,
        modules: &Path,
        program: &[Packed],
        command_line: &str,
    ) -> Result<Image, BadImage> {
        let text = |name: &str| {
            let path = modules.join(name);
            let bytes = read(&path).map_err(|error| match error {
                BadImage::File { path, why } => {
                    let hint = "its modules have no lists (`depmod -b` of their root makes them)";
                    BadImage::File { path, why: format!("{why}: {hint}") }
                }
                other => other,
            })?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (dep, alias) = (text("modules.dep")?, text("modules.alias")?);
        let all = Modules::read(&dep, &alias);
        let packed = |error: std::io::Error| BadImage::Made(error.to_string());
        let mut cpio = Cpio::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for folder in ["dev", "proc", "sys", "tmp", "run", "root"] {
            cpio.folder(folder).map_err(packed)?;
        }
        // The first process opens them before anything is mounted.
        cpio.device("dev/console", (5, 1)).map_err(packed)?;
        cpio.device("dev/null", (1, 3)).map_err(packed)?;
        for Packed { path, mode, bytes } in program {
            cpio.file(path, *mode, bytes).map_err(packed)?;
        }
        for (name, text) in [("modules.dep", &dep), ("modules.alias", &alias)] {
            cpio.file(&format!("{MODULES}/{name}"), 0o644, text.as_bytes()).map_err(packed)?;
        }
        for path in all.below(&FOLDERS) {
            let bytes = read(&modules.join(path))?;
            cpio.file(&format!("{MODULES}/{path}"), 0o644, &bytes).map_err(packed)?;
        }
        let mut archive = cpio.finish().map_err(packed)?;
        archive.flush().map_err(packed)?;
        let initrd = archive.finish().map_err(packed)?;
        Ok(Image { kernel, initrd, command_line: command_line.to_owned(), reports: true })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_kernel_says_for_which_processor_it_is() {
        let file = |parts: &[(usize, &[u8])]| {
            let mut bytes = vec![0; 0x300];
            parts.iter().for_each(|(at, part)| bytes[*at..*at + part.len()].copy_from_slice(part));
            architecture(&bytes)
        };
        let x86 = |version: &[u8], flags: &[u8]| file(&[(0x202, b"HdrS"), (0x206, version), (0x236, flags)]);
        assert_eq!(x86(&[0x0f, 2], &[1, 0]), Some("x86_64"));
        assert_eq!(x86(&[0x0f, 2], &[0, 0]), Some("i686"));
        assert_eq!(x86(&[0x09, 2], &[1, 0]), Some("i686"), "it is too old for the flags");
        assert_eq!(file(&[(0x38, b"ARM\x64")]), Some("aarch64"));
        let packed =
            |machine: &[u8]| file(&[(0, b"MZ"), (0x3c, &[0x80]), (0x80, b"PE\0\0"), (0x84, machine)]);
        assert_eq!(packed(&[0x64, 0xaa]), Some("aarch64"));
        assert_eq!(packed(&[0x64, 0x86]), Some("x86_64"));
        assert_eq!((packed(&[1, 0]), file(&[]), architecture(b"\x1f\x8b")), (None, None, None));
    }

    #[test]
    fn an_initramfs_has_the_program_and_drivers_with_what_they_need() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("vmlinuz", "kernel");
        let program = [Packed { path: "init".into(), mode: 0o755, bytes: b"program".to_vec() }];
        let make = || Image::discovery(b"kernel".to_vec(), dir.path(), &program, "quiet");
        assert!(make().unwrap_err().to_string().contains("depmod"));
        write(
            "modules.dep",
            "kernel/drivers/net/ethernet/e.ko: kernel/x/needed.ko\nkernel/x/needed.ko:\nkernel/fs/f.ko:\n",
        );
        write("modules.alias", "");
        write("kernel/drivers/net/ethernet/e.ko", "e");
        assert!(make().unwrap_err().to_string().contains("needed.ko"));
        write("kernel/x/needed.ko", "n");
        let image = make().unwrap();
        let mut archive = Vec::new();
        flate2::read::GzDecoder::new(&image.initrd[..]).read_to_end(&mut archive).unwrap();
        let text = String::from_utf8_lossy(&archive);
        for name in [
            "init\0",
            "modules/kernel/x/needed.ko\0",
            "modules/kernel/drivers/net/ethernet/e.ko\0",
            "program",
        ] {
            assert!(text.contains(name), "{name:?}");
        }
        assert!(!text.contains("fs/f.ko\0"));
        assert!(Image::of_folder(dir.path()).unwrap_err().to_string().contains("cmdline"));
        write("cmdline", "console=ttyS0\n");
        write("initrd", "i");
        let own = Image::of_folder(dir.path()).unwrap();
        assert_eq!((own.command_line.as_str(), own.reports), ("console=ttyS0", false));
    }
}
