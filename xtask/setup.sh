#!/bin/sh
# Installs what a Debian machine lacks to build, test or distribute boxscore; a second run changes nothing.
# usage: sh xtask/setup.sh [build|bench|test|dist|dist-all]
set -eu
goal=${1:-build}
cd "$(dirname "$0")/.."
rust=$(sed -n 's/^rust-version = "\([0-9.]*\)"/\1/p' Cargo.toml)

say() { echo "setup: $*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
debian() { have apt-get; }

# Packages are collected first and installed with one call.
want=""
need() { # need COMMAND PACKAGE...
    have "$1" && return 0
    shift
    want="$want $*"
}

has_postgres() { ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }

# Runs COMMAND... without starting the services that it installs, now or at the next boot: the tests start their own.
quiet() {
    policy=/usr/sbin/policy-rc.d
    services=""
    for service in nginx redis-server memcached; do have $service || services="$services $service"; done
    [ -x /usr/sbin/sshd ] || services="$services ssh"
    have ipmi_sim || services="$services openipmi"
    have ipmitool || services="$services ipmievd"
    have rsync || services="$services rsync"
    have podman || for unit in .service .socket -restart.service -auto-update.service -auto-update.timer; do
        services="$services podman$unit"
    done
    # Debian's package of PostgreSQL makes a database of its own, unless it is told not to.
    cluster=/etc/postgresql-common/createcluster.d/boxscore.conf
    if has_postgres || [ -e $cluster ]; then
        cluster=""
    else
        services="$services postgresql"
        mkdir -p "${cluster%/*}"
        echo 'create_main_cluster = false' >$cluster
    fi
    if [ -e $policy ]; then
        policy=""
    else
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
    fi
    trap 'rm -f $policy $cluster' EXIT
    trap 'exit 1' HUP INT TERM
    status=0
    "$@" || status=$?
    # shellcheck disable=SC2086 # one of them may be empty
    rm -f $policy $cluster
    trap - EXIT HUP INT TERM
    for service in $services; do
        # Without systemd there is nothing that would start it.
        have systemctl && systemctl disable --quiet $service >&2 || true
    done
    return $status
}

# True when the first cargo on the path is at least rust-version.
new_enough() {
    have cargo && have rustc || return 1
    found=$(rustc --version 2>/dev/null | sed 's/^rustc \([0-9]*\.[0-9]*\).*/\1/')
    [ -n "$found" ] || return 1
    [ "$(printf '%s\n%s\n' "$rust" "$found" | sort -V | head -n 1)" = "$rust" ]
}

HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
export HOME
[ -x "$HOME/.cargo/bin/cargo" ] && PATH="$HOME/.cargo/bin:$PATH"
need cc gcc libc6-dev
if ! new_enough; then
    want="$want rustc-web cargo-web"
    toolchain=missing
fi
case $goal in
test | dist-all)
    cargo clippy --version >/dev/null 2>&1 || want="$want rust-web-clippy"
    cargo fmt --version >/dev/null 2>&1 || want="$want rustfmt-web"
    need git git
    need lsblk util-linux
    need ip iproute2
    need ps procps
    need nginx nginx
    # Its program without a service.
    have /usr/sbin/apache2 || need httpd apache2-bin
    need redis-server redis-server
    need memcached memcached
    # Reads expressions of names as ours are read.
    need nodeset clustershell
    # Simulated BMCs, and the tools that speak with them.
    need ipmi_sim openipmi
    need ipmitool ipmitool
    have /usr/sbin/ipmipower || need ipmipower freeipmi-tools
    # A simulated BMC of Redfish is installed by pip, below.
    python3 -c 'import venv, ensurepip' 2>/dev/null || want="$want python3-venv"
    # They check the files of a plan.
    have /usr/sbin/dnsmasq || need dnsmasq dnsmasq-base
    need ssh openssh-client
    need javac default-jdk-headless
    # Assembles a Hadoop.
    need mvn maven
    # A store for a team; the tests start its program, and make certificates for it.
    has_postgres || want="$want postgresql"
    need openssl openssl
    # Containers, and a shell that needs no libraries in them.
    need systemd-nspawn systemd-container
    need podman podman
    need runc runc
    need busybox busybox-static
    # A machine that boots from the network; iPXE is no program.
    need qemu-system-x86_64 qemu-system-x86
    [ -e /usr/lib/ipxe/ipxe.efi ] || want="$want ipxe"
    [ -e /usr/share/ovmf/OVMF.fd ] || want="$want ovmf"
    have /usr/sbin/depmod || need depmod kmod
    # Trees of files go by it.
    need rsync rsync
    # Packs a log of the tests.
    need zstd zstd
    # Without a service; the tests start its program.
    need ssh openssh-client
    have /usr/sbin/sshd || need sshd openssh-server
    ;;
esac
case $goal in
bench)
    need git git
    need taskset util-linux
    need nginx nginx
    have /usr/sbin/apache2 || need apache2 apache2-bin
    need redis-server redis-server
    need redis-benchmark redis-tools
    need wrk wrk
    need ab apache2-utils
    need h2load nghttp2-client
    need sockperf sockperf
    need iperf3 iperf3
    need ssh openssh-client
    have /usr/sbin/sshd || need sshd openssh-server
    need clush clustershell
    # Fills a store of many runs.
    need sqlite3 sqlite3
    ;;
esac
case $goal in dist) need musl-gcc musl-tools ;; esac
case $goal in
dist-all)
    python3 -c 'import venv, ensurepip' 2>/dev/null || want="$want python3-venv"
    # Runs what is built for other machines.
    have qemu-aarch64 || need qemu-aarch64-static qemu-user-static
    ;;
esac
[ -e /etc/ssl/certs/ca-certificates.crt ] || want="$want ca-certificates"

# Installs what is wanted, or says how.
install_wanted() {
    [ -n "$want" ] || return 0
    install="apt-get update && apt-get install --no-install-recommends$want"
    if ! debian; then
        say "missing, and this is not Debian: $want (Rust $rust or newer is needed)"
        exit 1
    fi
    if [ "$(id -u)" != 0 ]; then
        say "missing:$want. Run this, then repeat: sudo sh -c '$install'"
        exit 1
    fi
    say "installing$want"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >&2
    # shellcheck disable=SC2086 # a list of words
    quiet apt-get install -qy --no-install-recommends $want >&2
    want=""
}

install_wanted
if ! new_enough; then
    say "Rust $rust or newer is needed; found: $(rustc --version 2>&1 || true)"
    say "install it with rustup, or from a distribution that packages it: of Debian 12, the security updates have it"
    exit 1
fi

# Packages that are named after the version of the compiler and of the Java machine, which are installed by now.
runtimes() {
    if ! java -zero -version >/dev/null 2>&1; then
        version=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
        known "openjdk-$version-jre-zero" "the tests of Java without a compiler"
    fi
    # Not gcc-multilib, which excludes every cross compiler.
    case $(uname -m) in
    x86_64)
        [ -e "$(gcc -m32 -print-file-name=crt1.o)" ] || known libc6-dev-i386 "the tests of 32-bit programs"
        version=$(gcc -dumpversion | cut -d . -f 1)
        [ -e "$(gcc -print-file-name=32/libgcc.a)" ] || known "gcc-$version-multilib" "the tests of 32-bit programs"
        ;;
    esac
}
# known PACKAGE WHO: wants the package; where this release has none, says who will fail without it.
known() {
    if ! debian || listed "$1" || { [ "$(id -u)" = 0 ] && apt-get update -q >&2 && listed "$1"; }; then
        want="$want $1"
    else
        say "apt-get knows no package $1 (apt-get update?): $2 will fail"
    fi
}
# The kernel that a test boots from the network, unpacked and not installed. Its name holds its version.
kernel() {
    [ "$(uname -m)" = x86_64 ] && debian && [ ! -d target/kernel ] || return 0
    package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    folder=$(mktemp -d)
    say "unpacking ${package:-a kernel} into target/kernel"
    # apt fetches under an account of its own.
    [ "$(id -u)" != 0 ] || chown _apt "$folder" 2>/dev/null || true
    if [ -n "$package" ] && (cd "$folder" && apt-get download -q "$package" >&2) &&
        dpkg-deb -x "$folder"/*.deb "$folder/root"; then
        PATH=$PATH:/usr/sbin depmod -b "$folder/root" "${package#linux-image-}"
        mkdir -p target
        mv "$folder/root" target/kernel
    else
        say "there is no kernel to boot: the test of booting from the network will not run"
    fi
    rm -rf "$folder"
}
listed() { [ -n "$(apt-cache policy "$1" 2>/dev/null)" ]; }

case $goal in
bench)
    # Not in every release; without it the comparison is skipped.
    have memtier_benchmark || ! listed memtier-benchmark || want="$want memtier-benchmark"
    install_wanted
    ;;
esac
case $goal in
test | dist-all)
    runtimes
    install_wanted
    # In a folder of its own; every version is written down.
    if [ ! -x target/sushy/bin/sushy-emulator ]; then
        say "installing sushy-tools into target/sushy"
        python3 -m venv target/sushy && target/sushy/bin/pip install --quiet --requirement xtask/sushy.txt >&2 || {
            say "sushy-tools could not be installed; the tests of Redfish need it"
            exit 1
        }
    fi
    kernel
    if ! cargo deny --version >/dev/null 2>&1; then
        # Built once into cargo's own folder. It only reads files: no time is spent on optimising it.
        say "building cargo-deny, about a minute of processor time"
        CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=0 \
            CARGO_PROFILE_RELEASE_CODEGEN_UNITS=64 CARGO_PROFILE_RELEASE_STRIP=true \
            cargo install --quiet --locked cargo-deny --version 0.20.2 || {
            say "cargo-deny could not be built; it checks the licences and sources of what we link"
            exit 1
        }
    fi
    ;;
esac
