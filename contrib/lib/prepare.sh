# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by contrib's commands: everything between a bare Debian machine
# and a staged build. Says what it will install before it does; safe to run again at any time.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$top/build
program=${0##*/}
export PCH=${PCH-.gch} # see Makefile.am
# A compiler cache where there is one: it takes what another checkout has compiled already, and precompiled headers too.
if [ -d /usr/lib/ccache ]; then
  export PATH=/usr/lib/ccache:$PATH CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1 \
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi

die() {
  echo "$program: $*" >&2
  exit 1
}

packages="build-essential autoconf automake libtool pkg-config dpkg-dev
  slurmctld slurmd slurm-client munge libmunge-dev libslurm-dev
  libcli11-dev libcpp-httplib-dev libcurl4-openssl-dev libfmt-dev libspdlog-dev libssl-dev nlohmann-json3-dev libsqlite3-dev
  prometheus-cpp-dev
  libsystemd-dev
  libgtest-dev libgmock-dev librocm-smi-dev libze-dev python3 python3-jsonschema prometheus iproute2 openssl ca-certificates"

# For the dashboard's tests. Debian's nodejs brings npm in a package of its own, others bring both.
web_packages() {
  echo chromium
  command -v node >/dev/null || echo nodejs
  command -v npm >/dev/null || echo npm
}

need_root() {
  [ "$(id -u)" = 0 ] || die "must be run as root: it installs packages and starts a private Slurm cluster"
}

need_disk() {
  local free_mb
  mkdir -p "$build" || die "cannot create $build"
  free_mb=$(df -Pm "$build" | awk 'NR == 2 { print $4 }')
  [ "$free_mb" -ge 2000 ] || die "$build: $free_mb MB of disk space are free, 2000 are needed"
}

# One at a time: two of these commands in one checkout would build over each other.
take_lock() {
  exec 9>"$build/.lock"
  flock -n 9 || die "another of contrib's commands is running in this checkout"
}

missing_packages() {
  local package
  for package in $packages "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

install_packages() {
  local missing
  command -v apt-get >/dev/null || die "apt-get is missing: this needs Debian 12 or 13"
  missing=$(missing_packages "$@" | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  echo "Installing with apt-get: $missing"
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
    >"$build/apt.log" 2>&1; then
    tail -n 5 "$build/apt.log" >&2
    die "apt-get could not install the packages (is a package registry within reach?); all it said is in $build/apt.log"
  fi
}

# Runs a command that ends with this script, even if the script is killed.
mortal() { setpriv --pdeathsig TERM "$@"; }

# Runs a command with its output in a log, and shows the log's end when it fails.
logged() {
  local log=$1
  shift
  mortal "$@" >"$log" 2>&1 && return 0
  tail -n 30 "$log" >&2
  die "'$*' failed; all it said is in $log"
}

# build_tree DIR [CONFIGURE-OPTION...]: configures, builds and stages into DIR/stage.
build_tree() {
  local dir=$1 multiarch
  shift
  mkdir -p "$dir"
  if [ ! -x "$top/configure" ] || [ "$top/configure.ac" -nt "$top/configure" ] ||
    [ "$top/Makefile.am" -nt "$top/Makefile.in" ]; then
    logged "$build/autogen.log" "$top/autogen.sh"
  fi
  if [ ! -f "$dir/config.status" ] || [ "$top/configure" -nt "$dir/config.status" ] ||
    [ "$build/slurm-source/META" -nt "$dir/config.status" ]; then
    multiarch=$(gcc -print-multiarch)
    (cd "$dir" && logged "$dir/configure.log" "$top/configure" --prefix=/usr --sysconfdir=/etc \
      --localstatedir=/var --libdir="/usr/lib/$multiarch" --enable-werror \
      --with-slurm-source="$build/slurm-source" "$@") || exit 1
  fi
  logged "$dir/make.log" make -C "$dir" -j "$(nproc)" ${make_options:-}
  rm -rf "$dir/stage"
  logged "$dir/install.log" make -C "$dir" install DESTDIR="$dir/stage" ${make_options:-}
}

prepare() {
  need_root
  need_disk
  take_lock
  install_packages "$@"
  "$top/contrib/slurm-source" "$build/slurm-source" || exit 1
  echo "Building in $build"
  # Lines and functions are all that a backtrace wants; more costs a quarter of the time.
  build_tree "$build" CXXFLAGS='-O2 -g1' CFLAGS='-O2 -g1'
}
