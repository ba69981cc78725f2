//! `boxscore lab bootdev`: what nodes boot from.

use lab::bmc::boot::{self, Boot, Boots, Device};
use lab::bmc::{Bmcs, Failure, reached};
use model::doc::{LabBootdevDoc, LabBootdevNodeDoc};
use model::format::count;
use report::text::lab_bmc as text;

use super::bmc::{self, Nodes};
use super::reach;
use crate::cli::Global;
use crate::cli::lab::bootdev::{BootDevice, BootdevArgs};
use crate::error::CliError;

pub fn run(args: &BootdevArgs, global: &Global) -> Result<u8, CliError> {
    let device = device(args.device);
    if (args.persistent || args.efi) && device.is_none() {
        return Err(CliError::usage("--persistent and --efi are of a setting, and `status` makes none"));
    }
    let nodes = Nodes::select(&args.expressions, &args.select)?;
    let boot = device.map(|device| Boot { device, persistent: args.persistent, efi: args.efi });
    let says = boot.map_or_else(|| "status".to_owned(), |boot| boot.says());
    let what = format!("boot from {says}: {}: {}", count(nodes.names.len(), "node"), nodes.folded());
    if !bmc::agreed(&what, boot.is_some(), (args.dry_run, args.yes), global)? {
        return Ok(0);
    }
    let accesses = nodes.accesses();
    let stop = reach::stop()?;
    let bmcs = Bmcs::new(None, args.bmc.insecure, &stop);
    let all = reached(&accesses, |all| match boot {
        None => bmcs.boots(all),
        Some(boot) => boot::set(&bmcs, boot, all),
    });
    let action = device.map_or("status", Device::word).to_owned();
    let document = document(action, &nodes.names, &all, stop.is_requested());
    bmc::tell(&document, &text::states(&document.states), &document.failures, global);
    Ok(reach::code(document.failures.is_empty(), document.interrupted))
}

const fn device(device: BootDevice) -> Option<Device> {
    Some(match device {
        BootDevice::Status => return None,
        BootDevice::None => Device::None,
        BootDevice::Pxe => Device::Pxe,
        BootDevice::Disk => Device::Disk,
        BootDevice::Cdrom => Device::Cdrom,
        BootDevice::Bios => Device::Bios,
    })
}

fn document(
    action: String,
    names: &[String],
    all: &[Result<Boot, Failure>],
    interrupted: bool,
) -> LabBootdevDoc {
    let of = |(name, boot): (&String, &Result<Boot, Failure>)| {
        let (failure, why) = bmc::failed(boot.as_ref().err());
        let known = boot.as_ref().ok();
        LabBootdevNodeDoc {
            node: name.clone(),
            ok: boot.is_ok(),
            device: known.map(|boot| boot.device.word().to_owned()),
            persistent: known.map(|boot| boot.persistent),
            efi: known.map(|boot| boot.efi),
            failure,
            why,
        }
    };
    LabBootdevDoc {
        schema: "boxscore.lab-bootdev/1".to_owned(),
        action,
        nodes: names.iter().zip(all).map(of).collect(),
        states: bmc::states(names, all, |boot| (*boot, boot.says())),
        failures: bmc::failures_of(names, all),
        interrupted,
    }
}
