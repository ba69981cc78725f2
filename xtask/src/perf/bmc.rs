//! `boxscore lab power status` beside ipmipower on 132 simulated BMCs (ipmi_sim) of this host: wall time and CPU time.
//!
//! Both ask all BMCs at once. CPU time is that of the program and its children; that of the BMCs is not counted, though
//! they share this host's cores.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::bound::{Took, timed};
use super::generators::folder;
use super::options::Options;
use super::pairs::{Outcome, comparison, in_turns, load};

const BMCS: usize = 132;
const LIMIT: Duration = Duration::from_secs(120);
/// Until all answer, after their start.
const PATIENCE: Duration = Duration::from_secs(60);
const USER: &str = "ADMIN";
const PASSWORD: &str = "perf-bmc";

pub fn run(options: &Options, outcome: &mut Outcome) -> Result<()> {
    let what = format!("lab power status, {BMCS} BMCs");
    let folder = folder("bmc")?;
    match Bmcs::start(&folder).and_then(|bmcs| compare(options, outcome, &bmcs, &what)) {
        Ok(()) => {}
        Err(error) => outcome.skip(&format!("{what} beside ipmipower"), &format!("{error:#}")),
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn compare(options: &Options, outcome: &mut Outcome, bmcs: &Bmcs<'_>, what: &str) -> Result<()> {
    let before = load();
    let product = options.product();
    let pairs = in_turns(options.pairs, 25, || bmcs.ours(&product), || bmcs.ipmipower())?;
    let walls: Vec<_> = pairs.iter().map(|(ours, theirs)| (ours.wall, theirs.wall)).collect();
    outcome.keep(comparison(&format!("{what}: wall time"), "ipmipower", "s", &walls, true, before)?);
    let cpus: Vec<_> = pairs.iter().map(|(ours, theirs)| (ours.cpu, theirs.cpu)).collect();
    outcome.keep(comparison(&format!("{what}: CPU time"), "ipmipower", "s", &cpus, true, before)?);
    Ok(())
}

/// The simulated BMCs, ended when dropped.
struct Bmcs<'a> {
    folder: &'a Path,
    port: u16,
    sims: Vec<Child>,
}

impl Drop for Bmcs<'_> {
    fn drop(&mut self) {
        for sim in &mut self.sims {
            // One that has ended needs no end.
            let _ended = sim.kill();
            let _reaped = sim.wait();
        }
    }
}

impl<'a> Bmcs<'a> {
    fn start(folder: &'a Path) -> Result<Bmcs<'a>> {
        let port = UdpSocket::bind("127.0.3.1:0")?.local_addr()?.port();
        fs::write(
            folder.join("bmc.emu"),
            "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02\n\
             mc_enable 0x20\n",
        )?;
        let mut bmcs = Bmcs { folder, port, sims: Vec::new() };
        for number in 1..=BMCS {
            let sim = bmcs.sim(number)?;
            bmcs.sims.push(sim);
        }
        bmcs.configure()?;
        let began = Instant::now();
        while let Err(error) = bmcs.ipmipower() {
            if began.elapsed() > PATIENCE {
                return Err(error);
            }
            thread::sleep(Duration::from_millis(200));
        }
        Ok(bmcs)
    }

    fn sim(&self, number: usize) -> Result<Child> {
        let name = format!("n{number}");
        let config = self.folder.join(format!("{name}.conf"));
        fs::write(
            &config,
            format!(
                "name \"{name}\"\nset_working_mc 0x20\n startlan 1\n addr 127.0.3.{number} {}\n priv_limit admin\n \
                 allowed_auths_admin none md2 md5 straight\n guid a123456789abcdefa123456789abcdef\n endlan\n \
                 chassis_control \"echo power:1 #\"\n \
                 user 2 true \"{USER}\" \"{PASSWORD}\" admin 10 none md2 md5 straight\n",
                self.port
            ),
        )?;
        let mut command = Command::new("ipmi_sim");
        command.args(["-n", "-c"]).arg(config).arg("-f").arg(self.folder.join("bmc.emu"));
        command.arg("-s").arg(self.folder.join("state")).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().context("cannot start ipmi_sim")
    }

    /// The inventory for ours, and what ipmipower reads its user and password from.
    fn configure(&self) -> Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let private = |name: &str, text: String| -> Result<()> {
            let path = self.folder.join(name);
            fs::write(&path, text)?;
            Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?)
        };
        private("password", format!("{PASSWORD}\n"))?;
        private(
            "freeipmi.conf",
            format!(
                "username {USER}\npassword {PASSWORD}\ndriver-type LAN_2_0\nworkaround-flags opensesspriv\n"
            ),
        )?;
        let bmc = format!(
            "kind = \"ipmi\", port = {}, user = \"{USER}\", password_file = \"password\", \
             address = \"127.0.3.1+{BMCS}\"",
            self.port
        );
        Ok(fs::write(
            self.folder.join("lab.toml"),
            format!("[[nodes]]\nname = \"n[1-{BMCS}]\"\nbmc = {{ {bmc} }}\n"),
        )?)
    }

    fn ours(&self, product: &str) -> Result<Took> {
        let inventory = self.folder.join("lab.toml").display().to_string();
        let words = [product, "lab", "power", "status", "@*", "--inventory", &inventory];
        let (out, took) = timed(&words, &[("XDG_RUNTIME_DIR", self.folder)], LIMIT)?;
        match out.contains(&format!("{BMCS} nodes")) {
            true => Ok(took),
            false => bail!("boxscore: not every BMC answered:\n{out}"),
        }
    }

    fn ipmipower(&self) -> Result<Took> {
        let config = self.folder.join("freeipmi.conf").display().to_string();
        let hosts: Vec<String> = (1..=BMCS).map(|number| format!("127.0.3.{number}:{}", self.port)).collect();
        let (config, hosts) = (format!("--config-file={config}"), hosts.join(","));
        let (out, took) = timed(&["ipmipower", &config, "-h", &hosts, "--stat"], &[], LIMIT)?;
        match out.lines().filter(|line| line.ends_with(": on")).count() {
            BMCS => Ok(took),
            count => bail!("ipmipower: {count} of {BMCS} BMCs answered:\n{out}"),
        }
    }
}
