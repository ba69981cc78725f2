//! The processor's description of itself: CPUID on x86, AT_HWCAP on AArch64.
//!
//! Clocks are hertz. A hypervisor may hide or invent any of it, so each fact is optional. Nothing here is measured
//! (see `freq` and `clock` for that).

/// CPUID facts. A string is absent when the leaf is absent or empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CpuFacts {
    pub vendor: Option<String>,
    pub brand: Option<String>,
    pub family: Option<u32>,
    pub model: Option<u32>,
    pub stepping: Option<u32>,
    /// Name of the hypervisor, or its raw id when unknown; `None` on bare metal.
    pub hypervisor: Option<String>,
    /// Leaf 0x16, where the processor fills it in.
    pub base_hz: Option<f64>,
    pub max_hz: Option<f64>,
    /// Leaf 0x15; `None` when incomplete, as on most AMD processors and virtual machines.
    pub tsc_hz: Option<f64>,
    pub invariant_tsc: Option<bool>,
    /// Names as in /proc/cpuinfo, sorted.
    pub features: Vec<&'static str>,
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod x86 {
    use super::CpuFacts;
    use raw_cpuid::{CpuId, CpuIdReaderNative, Hypervisor};

    type Native = CpuId<CpuIdReaderNative>;

    fn filled(text: &str) -> Option<String> {
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn hypervisor(id: &Native) -> Option<String> {
        let info = id.get_hypervisor_info()?;
        Some(match info.identify() {
            Hypervisor::Xen => "Xen".into(),
            Hypervisor::VMware => "VMware".into(),
            Hypervisor::HyperV => "Hyper-V".into(),
            Hypervisor::KVM => "KVM".into(),
            Hypervisor::QEMU => "QEMU".into(),
            Hypervisor::Bhyve => "bhyve".into(),
            Hypervisor::QNX => "QNX".into(),
            Hypervisor::ACRN => "ACRN".into(),
            Hypervisor::Unknown(b, c, d) => format!("unknown ({b:08x} {c:08x} {d:08x})"),
        })
    }

    /// Crystal x ratio of leaf 0x15. Processors that leave the crystal out are not guessed at.
    pub(super) fn tsc_hz(id: &Native) -> Option<f64> {
        let hz = id.get_tsc_info()?.tsc_frequency()?;
        (hz > 0).then_some(hz as f64)
    }

    fn mhz(value: u16) -> Option<f64> {
        (value > 0).then(|| f64::from(value) * 1e6)
    }

    fn features(id: &Native) -> Vec<&'static str> {
        let mut names = Vec::new();
        let mut add = |name, has: bool| {
            if has {
                names.push(name);
            }
        };
        if let Some(f) = id.get_feature_info() {
            add("sse2", f.has_sse2());
            add("ssse3", f.has_ssse3());
            add("sse4_1", f.has_sse41());
            add("sse4_2", f.has_sse42());
            add("popcnt", f.has_popcnt());
            add("aes", f.has_aesni());
            add("pclmulqdq", f.has_pclmulqdq());
            add("avx", f.has_avx());
            add("fma", f.has_fma());
            add("f16c", f.has_f16c());
            add("rdrand", f.has_rdrand());
            add("vmx", f.has_vmx());
            add("hypervisor", f.has_hypervisor());
        }
        if let Some(f) = id.get_extended_feature_info() {
            add("avx2", f.has_avx2());
            add("bmi1", f.has_bmi1());
            add("bmi2", f.has_bmi2());
            add("erms", f.has_rep_movsb_stosb());
            add("sha_ni", f.has_sha());
            add("avx512f", f.has_avx512f());
            add("avx512bw", f.has_avx512bw());
            add("avx512vl", f.has_avx512vl());
            add("avx512_vnni", f.has_avx512vnni());
            add("vaes", f.has_vaes());
            add("vpclmulqdq", f.has_vpclmulqdq());
            add("gfni", f.has_gfni());
        }
        if let Some(f) = id.get_extended_processor_and_feature_identifiers() {
            add("pdpe1gb", f.has_1gib_pages());
            add("rdtscp", f.has_rdtscp());
            add("svm", f.has_svm());
            add("lm", f.has_64bit_mode());
        }
        names.sort_unstable();
        names
    }

    pub(super) fn facts() -> CpuFacts {
        let id = CpuId::new();
        let signature = id.get_feature_info();
        let clock = id.get_processor_frequency_info();
        CpuFacts {
            vendor: id.get_vendor_info().and_then(|v| filled(v.as_str())),
            brand: id.get_processor_brand_string().and_then(|b| filled(b.as_str())),
            family: signature.as_ref().map(|s| u32::from(s.family_id())),
            model: signature.as_ref().map(|s| u32::from(s.model_id())),
            stepping: signature.as_ref().map(|s| u32::from(s.stepping_id())),
            hypervisor: hypervisor(&id),
            base_hz: clock.as_ref().and_then(|c| mhz(c.processor_base_frequency())),
            max_hz: clock.as_ref().and_then(|c| mhz(c.processor_max_frequency())),
            tsc_hz: tsc_hz(&id),
            invariant_tsc: id.get_advanced_power_mgmt_info().map(|p| p.has_invariant_tsc()),
            features: features(&id),
        }
    }
}

/// CPUID facts of the core that runs this thread; `None` on processors without CPUID.
pub fn facts() -> Option<CpuFacts> {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    {
        Some(x86::facts())
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
    {
        None
    }
}

/// The TSC's rate of CPUID leaf 0x15.
pub fn tsc_hz() -> Option<f64> {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    {
        x86::tsc_hz(&raw_cpuid::CpuId::new())
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
    {
        None
    }
}

/// AT_HWCAP bits of AArch64 Linux (a stable kernel interface); only those used here.
#[cfg(any(target_arch = "aarch64", test))]
const ARM_HWCAP: &[(u32, &str)] = &[
    (0, "fp"),
    (1, "asimd"),
    (3, "aes"),
    (4, "pmull"),
    (5, "sha1"),
    (6, "sha2"),
    (7, "crc32"),
    (8, "atomics"),
    (9, "fphp"),
    (10, "asimdhp"),
    (11, "cpuid"),
    (17, "sha3"),
    (20, "asimddp"),
    (21, "sha512"),
    (22, "sve"),
];

#[cfg(any(target_arch = "aarch64", test))]
const ARM_HWCAP2: &[(u32, &str)] = &[(1, "sve2"), (13, "i8mm"), (14, "bf16"), (16, "rng"), (23, "sme")];

#[cfg(any(target_arch = "aarch64", test))]
fn named(bits: u64, table: &[(u32, &'static str)]) -> Vec<&'static str> {
    let set = |(bit, _): &&(u32, &'static str)| bits >> bit & 1 == 1;
    table.iter().filter(set).map(|(_, name)| *name).collect()
}

/// AArch64 features by their /proc/cpuinfo names; `None` on other processors.
pub fn hwcap_names() -> Option<Vec<&'static str>> {
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: getauxval only reads the process's auxiliary vector.
        let (one, two) = unsafe { (libc::getauxval(libc::AT_HWCAP), libc::getauxval(libc::AT_HWCAP2)) };
        let mut names = named(one, ARM_HWCAP);
        names.extend(named(two, ARM_HWCAP2));
        names.sort_unstable();
        Some(names)
    }
    #[cfg(not(target_arch = "aarch64"))]
    {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_become_names() {
        assert_eq!(named(1 << 7 | 1 << 3, ARM_HWCAP), ["aes", "crc32"]);
        assert!(named(0, ARM_HWCAP2).is_empty());
    }

    #[test]
    fn one_of_the_two_sources_speaks() {
        let arm = cfg!(target_arch = "aarch64");
        assert_eq!(hwcap_names().is_some(), arm);
        assert_eq!(facts().is_none(), arm);
        if let Some(facts) = facts() {
            assert!(facts.vendor.is_some() && facts.family.is_some());
            assert!(facts.features.contains(&"sse2"));
            assert!(facts.features.is_sorted());
        }
    }
}
