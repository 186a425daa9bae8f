#!/bin/sh
# Installs what the course needs and the machine lacks: Debian 12 and 13, Ubuntu 24.04. First prints
# what it will do; asks no question; does nothing if nothing is missing.
#
#   common/tools/setup.sh [--contributor] [--dry-run]
#
#   --contributor   also clang-format, which checks the style of the sources, matplotlib, which draws
#                   the plots, pexpect, which tests what a terminal shows, Open MPI, for chapter 11's
#                   program, and on Debian Chromium, which tests
#                   the pages
#   --dry-run       say what would be done, and stop
#
# Exit code: 0 nothing is missing; 1 an installation failed; 2 an unknown system, or a bad option.
set -eu

usage() { sed -n '2,11s/^# \{0,1\}//p' "$0"; }

contributor=no
dry_run=no
for option in "$@"; do
  case $option in
    --contributor) contributor=yes ;;
    --dry-run) dry_run=yes ;;
    -h | --help) usage; exit 0 ;;
    *) echo "setup.sh: unknown option '$option'" >&2; usage >&2; exit 2 ;;
  esac
done

# Where the system describes itself; the tests use other systems' files instead.
os_release=${COURSE_OS_RELEASE:-/etc/os-release}
apt_folder=${COURSE_APT_FOLDER:-/etc/apt}

packages="g++ binutils git ninja-build pkg-config python3 libboost-context-dev libcli11-dev libfmt-dev nlohmann-json3-dev"
[ $contributor = no ] || packages="$packages clang-format python3-matplotlib python3-pexpect libopenmpi-dev openmpi-bin"
meson_minimum=1.4

clang_minimum=16  # compiles kernels: it shows the checker what g++ leaves out

# at_least 1.4 1.10.0: true
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }
has_package() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }
package_version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || true; }
meson_version() { meson --version 2>/dev/null || echo 0; }
# The newest clang++ that is here, as simtcc.py (common/build) finds it; 0 if there is none that will do.
clang_version() {
  for clang in clang++ $(seq -f 'clang++-%g' 30 -1 $clang_minimum); do
    version=$($clang -dumpversion 2>/dev/null) && at_least $clang_minimum "$version" && echo "$version" && return
  done
  echo 0
}

what_is_needed() {
  cat <<END
The course needs:
  g++ 12, clang 16, each or a newer one; binutils, git, ninja, pkg-config, python3
  Meson 1.4 or newer, Catch2 3.4 or newer
  fmt 9, CLI11 2.1, nlohmann-json 3.11, Boost.Context, each with its headers
Meson downloads Catch2, fmt, CLI11 and nlohmann-json by itself where they are not installed.
END
}

system=unknown
if [ -r "$os_release" ]; then
  # shellcheck disable=SC1090
  system=$(. "$os_release"; echo "${ID:-unknown} ${VERSION_ID:-}")
fi
suite=
meson_from=apt
clang=clang  # Debian 13: 19, Ubuntu 24.04: 18
case $system in
  'debian 12') suite=bookworm-backports clang=clang-16 ;;  # Meson 1.7 and Catch2 3.7; bookworm has 1.0, 2.13, clang 14
  'debian 13') ;;
  'ubuntu 24.04') meson_from=pipx ;;  # Meson is 1.3.2 there
  *)
    echo "setup.sh knows Debian 12, Debian 13 and Ubuntu 24.04; this is '$system'."
    what_is_needed
    exit 2
    ;;
esac
# A browser for the tests of pages. Ubuntu has Chromium as a snap only: these tests are skipped there.
[ $contributor = no ] || [ "${system%% *}" != debian ] || packages="$packages chromium chromium-driver python3-selenium"

# ---- 1. What is missing? -----------------------------------------------------------------------

missing=
for package in $packages; do
  has_package "$package" || missing="$missing $package"
done

at_least $clang_minimum "$(clang_version)" || missing="$missing $clang"

newer=  # what comes from the backports
catch2=catch2
has_package catch2 && at_least 3.4 "$(package_version catch2)" && catch2=
if [ -n "$catch2" ]; then
  if [ -n "$suite" ]; then newer="$newer catch2"; else missing="$missing catch2"; fi
fi
need_meson=no
at_least $meson_minimum "$(meson_version)" || need_meson=yes
if [ $need_meson = yes ]; then
  if [ $meson_from = pipx ]; then
    has_package pipx || missing="$missing pipx"
  elif [ -n "$suite" ]; then
    newer="$newer meson"
  else
    missing="$missing meson"
  fi
fi

# ---- 2. Where do the backports come from? ------------------------------------------------------

# The mirror that the sources of this machine name for Debian 12 itself.
sources() { cat "$apt_folder"/sources.list "$apt_folder"/sources.list.d/*.list 2>/dev/null || true; }
find_mirror() {
  # One-line format: deb [options] URI suite components
  mirror=$(sources | sed -n 's/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\)  *bookworm  *.*main.*/\2/p' | head -n 1)
  if [ -z "$mirror" ]; then  # deb822 format: a stanza with URIs: and Suites:
    for file in "$apt_folder"/sources.list.d/*.sources; do
      [ -r "$file" ] || continue
      mirror=$(awk '
        function flush() { if (suites ~ / bookworm /) { print uri; found = 1; exit } uri = ""; suites = "" }
        /^[ \t]*$/ { flush() }
        /^URIs:/ { uri = $2 }
        /^Suites:/ { $1 = ""; suites = $0 " " }
        END { if (!found && suites ~ / bookworm /) print uri }' "$file")
      [ -z "$mirror" ] || break
    done
  fi
  echo "$mirror"
}
has_backports() {
  sources | grep -Eq "^deb .*[[:space:]]$suite([[:space:]]|\$)" && return 0
  grep -Eqs "^Suites:.*[[:space:]]$suite([[:space:]]|\$)" "$apt_folder"/sources.list.d/*.sources
}

backports_file=$apt_folder/sources.list.d/cuda-atomics-course-backports.list
mirror=
if [ -n "$newer" ] && ! has_backports; then
  mirror=$(find_mirror)
  if [ -z "$mirror" ]; then
    echo "setup.sh: found no mirror for 'bookworm main' in $apt_folder: add $suite yourself and run this again." >&2
    exit 1
  fi
fi

# ---- 3. Say it, then do it ---------------------------------------------------------------------

show_versions() {
  echo "g++ $(g++ -dumpfullversion), clang $(clang_version), Meson $(meson_version), ninja $(ninja --version)," \
    "Catch2 $(package_version catch2), Boost.Context $(package_version libboost-context-dev)"
}

if [ -z "$missing$newer" ] && [ $need_meson = no ]; then
  echo 'Everything that the course needs is installed.'
  show_versions
  exit 0
fi

sudo=
if [ "$(id -u)" != 0 ]; then
  sudo=sudo
  if [ $dry_run = no ] && ! command -v sudo >/dev/null; then
    echo 'setup.sh: run it as root: there is no sudo here.' >&2
    exit 1
  fi
fi

echo "On this machine ($system), this will:"
[ -z "$mirror" ] || echo "  add $suite from $mirror, in $backports_file"
echo '  update the list of packages'
[ -z "$missing" ] || echo "  install$missing"
[ -z "$newer" ] || echo "  install$newer from $suite"
if [ $need_meson = yes ] && [ $meson_from = pipx ]; then
  echo "  install meson with pipx, as /usr/local/bin/meson (Ubuntu 24.04's own is older than $meson_minimum)"
fi
[ $dry_run = no ] || exit 0

apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null; }
if [ -n "$mirror" ]; then
  echo "deb $mirror $suite main" | $sudo tee "$backports_file" >/dev/null
fi
apt update
# shellcheck disable=SC2086  # lists of words
[ -z "$missing" ] || apt install --no-install-recommends $missing
# shellcheck disable=SC2086
[ -z "$newer" ] || apt install --no-install-recommends -t $suite $newer
if [ $need_meson = yes ] && [ $meson_from = pipx ]; then
  $sudo env PIPX_HOME=/opt/pipx PIPX_BIN_DIR=/usr/local/bin pipx install 'meson>=1.4' </dev/null
fi
if ! at_least $meson_minimum "$(meson_version)"; then
  echo "setup.sh: Meson $(meson_version) comes first on PATH, and is too old." >&2
  exit 1
fi
show_versions
