#!/bin/sh
# Installs what the course needs and the machine lacks on Debian 12, Debian 13 and Ubuntu 24.04. On any
# other Linux it says what is missing, and which packages have it. First prints what it will do; asks
# no question; does nothing if nothing is missing.
#
#   common/tools/setup.sh [--contributor] [--dry-run]
#
#   --contributor   also clang-format, which checks the style of the sources, clangd, which tests what
#                   editors show, matplotlib, which draws the plots, pexpect, which tests what a
#                   terminal shows, Open MPI, for chapter 11's program, Sphinx, MyST, lunr and remark,
#                   which make the web site and the slides, bubblewrap, in which answers are graded,
#                   clang's library for Python, which reads them, similarity-tester, which finds similar
#                   ones, jsonschema, which tests reports, CMake, which tests the CPU device as a library, and on
#                   Debian Chromium, which tests the pages
#   --dry-run       say what would be done, and stop
#
# Exit code: 0 nothing is missing; 1 an installation failed, or this copy of the course is damaged;
# 2 something is missing that has to be installed by hand, or a bad option.
set -eu

usage() { sed -n '2,20s/^# \{0,1\}//p' "$0"; }

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
top=${COURSE_TOP:-$(dirname "$0")/../..}

# ---- 1. A machine and a copy that will do ------------------------------------------------------

case $(uname -s) in
  Linux) ;;
  Darwin)
    echo 'setup.sh: the course needs Linux. On a Mac, open this folder in its dev container: VS Code with' \
      'Docker, "Reopen in Container".' >&2
    exit 2
    ;;
  *)
    echo "setup.sh: the course needs Linux, and this is $(uname -s). On Windows: \`wsl --install -d Ubuntu-24.04\`, then" \
      'clone the course and run this there.' >&2
    exit 2
    ;;
esac

# A zip or a copy by another program may have made files of the links.
for link in "$top"/course "$top"/chapters/*/common; do
  case $link in *'*'*) continue ;; esac
  if [ ! -L "$link" ]; then
    echo "setup.sh: ${link#"$top"/} should be a symbolic link, and is a file of its own: what made this copy of the course" \
      'keeps no links. Clone it with git (on Windows: inside WSL).' >&2
    exit 1
  fi
done

# ---- 2. What is missing? -----------------------------------------------------------------------

# at_least 1.4 1.10.0: true
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }
first_line() { "$@" 2>/dev/null | head -n 1; }
is_here() { for name in "$@"; do command -v "$name" >/dev/null && echo here && return; done; true; }
library_version() { first_line pkg-config --modversion "$1" || true; }
has_package() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }
meson_version() { first_line meson --version || true; }
clang_minimum=16  # compiles kernels: it shows the checker what g++ leaves out
# The newest clang++ that is here, as simtcc.py (common/build) finds it.
clang_version() {
  for clang in clang++ $(seq -f 'clang++-%g' 30 -1 $clang_minimum); do
    version=$($clang -dumpversion 2>/dev/null) && at_least $clang_minimum "$version" && echo "$version" && return
  done
  first_line clang++ -dumpversion || true
}
boost_context() {
  printf '#include <boost/context/detail/fcontext.hpp>\nint main() {}\n' |
    if g++ -x c++ - -o /dev/null -lboost_context >/dev/null 2>&1; then echo here; fi
}

missing=  # a line for each
apt='' dnf='' pacman=''  # packages
# need NAME MINIMUM FOUND APT DNF PACMAN: notes what is not here, or too old. FOUND is a version, "here" or nothing.
need() {
  [ "$3" != here ] || return 0
  [ -z "$3" ] || ! at_least "$2" "$3" || return 0
  missing="$missing  $1${2:+ $2 or newer}${3:+ (here is $3)}
"
  apt="$apt $4" dnf="$dnf $5" pacman="$pacman $6"
}
need 'g++' 12 "$(first_line g++ -dumpfullversion || true)" g++ gcc-c++ gcc
need 'clang++' $clang_minimum "$(clang_version)" clang clang clang
need 'addr2line' '' "$(is_here addr2line)" binutils binutils binutils
need 'git' '' "$(is_here git)" git git git
need 'ninja' '' "$(is_here ninja ninja-build)" ninja-build ninja-build ninja
need 'pkg-config' '' "$(is_here pkg-config)" pkg-config pkgconf-pkg-config pkgconf
need 'python3' 3.11 "$(first_line python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' || true)" python3 python3 python
need 'Boost.Context' '' "$(boost_context)" libboost-context-dev boost-devel boost
need 'Meson' 1.4 "$(meson_version)" meson meson meson
must=$missing
# Meson downloads these where they are not installed.
need 'fmt' 9 "$(library_version fmt)" libfmt-dev fmt-devel fmt
need 'CLI11' 2.1 "$(library_version CLI11)" libcli11-dev cli11-devel cli11
need 'nlohmann-json' 3.11 "$(library_version nlohmann_json)" nlohmann-json3-dev json-devel nlohmann-json
need 'Catch2' 3.4 "$(library_version catch2)" catch2 catch-devel catch2

show_versions() {
  echo "g++ $(g++ -dumpfullversion), clang $(clang_version), Meson $(meson_version), ninja $(first_line ninja --version ||
    first_line ninja-build --version), Catch2 $(library_version catch2)"
}
all_is_here() {
  echo 'Everything that the course needs is installed.'
  show_versions
  exit 0
}

# ---- 3. A system that this program can install on? ---------------------------------------------

system=unknown
if [ -r "$os_release" ]; then
  # shellcheck disable=SC1090
  system=$(. "$os_release"; echo "${ID:-unknown} ${VERSION_ID:-}")
fi
suite=
meson_from=apt
case $system in
  'debian 12') suite=bookworm-backports ;;  # Meson 1.7 and Catch2 3.7; bookworm has 1.0, 2.13, clang 14
  'debian 13') ;;
  'ubuntu 24.04') meson_from=pipx ;;  # Meson is 1.3.2 there
  *)
    if [ $contributor = yes ]; then
      echo 'Contributors also need clang-format, clangd 16, matplotlib, pexpect, Open MPI, Sphinx, MyST (myst-parser), jsonschema, lunr, remark, bubblewrap, libclang for Python (python3-clang, of the version of clang), similarity-tester, CMake, and Chromium with chromedriver and Selenium.'
    fi
    [ -n "$missing" ] || all_is_here
    if [ -z "$must" ]; then
      printf 'Everything that the course needs is installed, but for what Meson downloads at set-up:\n%s' "$missing"
      exit 0
    fi
    printf 'setup.sh installs nothing on this system (%s). Missing are:\n%s' "$system" "$missing"
    echo 'These packages have it, where they are new enough:'
    found=no
    if [ -n "$(is_here apt-get)" ]; then found=yes; echo "  sudo apt-get install$apt"; fi
    if [ -n "$(is_here dnf)" ]; then found=yes; echo "  sudo dnf install$dnf"; fi
    if [ -n "$(is_here pacman)" ]; then found=yes; echo "  sudo pacman -S --needed$pacman"; fi
    if [ $found = no ]; then printf '  apt:   %s\n  dnf:   %s\n  pacman:%s\n' "$apt" "$dnf" "$pacman"; fi
    echo 'A newer Meson: pipx install meson. A newer clang for Ubuntu 22.04 and its relatives: https://apt.llvm.org'
    echo 'fmt, CLI11, nlohmann-json and Catch2 need not be installed: Meson downloads them.'
    exit 2
    ;;
esac

from_apt='' newer=''  # what comes from the system's own suite, and from the backports
need_meson=no
for package in $apt; do
  case $package in
    clang) [ -z "$suite" ] || package='clang-16'; from_apt="$from_apt $package" ;;  # Debian 13: 19, Ubuntu 24.04: 18
    catch2) if [ -n "$suite" ]; then newer="$newer catch2"; else from_apt="$from_apt catch2"; fi ;;
    meson)
      need_meson=yes
      if [ $meson_from = pipx ]; then
        has_package pipx || from_apt="$from_apt pipx"
      elif [ -n "$suite" ]; then
        newer="$newer meson"
      else
        from_apt="$from_apt meson"
      fi
      ;;
    *) from_apt="$from_apt $package" ;;
  esac
done
if [ $contributor = yes ]; then
  more="clang-format clangd${suite:+-16} python3-matplotlib python3-pexpect libopenmpi-dev openmpi-bin"
  more="$more python3-sphinx python3-myst-parser python3-jsonschema libjs-remark-slide libjs-lunr bubblewrap similarity-tester cmake"
  # clang's library for Python, of the version of the clang that compiles kernels or will be installed for them.
  version=$(clang_version)
  if [ -n "$version" ] && at_least $clang_minimum "$version"; then
    more="$more python3-clang-${version%%.*}"
  else
    more="$more python3-clang${suite:+-16}"
  fi
  # A browser for the tests of pages. Ubuntu has Chromium as a snap only: these tests are skipped there.
  [ "${system%% *}" != debian ] || more="$more chromium chromium-driver python3-selenium"
  for package in $more; do
    has_package "$package" || from_apt="$from_apt $package"
  done
fi
[ -n "$from_apt$newer" ] || [ $need_meson = yes ] || all_is_here

# ---- 4. Where do the backports come from? ------------------------------------------------------

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

# ---- 5. Say it, then do it ---------------------------------------------------------------------

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
[ -z "$from_apt" ] || echo "  install$from_apt"
[ -z "$newer" ] || echo "  install$newer from $suite"
if [ $need_meson = yes ] && [ $meson_from = pipx ]; then
  echo '  install meson with pipx, as /usr/local/bin/meson (Ubuntu 24.04 has 1.3.2)'
fi
[ $dry_run = no ] || exit 0

# What apt-get and pipx say when they reach no server.
unreachable='could not resolve|temporary failure (in name resolution|resolving)|could not connect|unable to connect|network is unreachable|cannot initiate the connection|failed to establish a new connection'
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# try COMMAND...: runs it; ends this program with a reason where it fails.
try() {
  { "$@" </dev/null 2>&1 && : >"$log.ok"; } | tee "$log"
  if [ -e "$log.ok" ] && { [ "$*" != "apt update" ] || ! grep -Eiq "$unreachable" "$log"; }; then
    rm "$log.ok"
    return 0
  fi
  rm -f "$log.ok"
  if grep -Eiq "$unreachable" "$log"; then
    echo 'setup.sh: no server of packages can be reached: is there a network, or a proxy to be set?' >&2
  else
    echo "setup.sh: failed: $*" >&2
  fi
  exit 1
}
apt() { $sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y "$@"; }
if [ -n "$mirror" ]; then
  echo "deb $mirror $suite main" | $sudo tee "$backports_file" >/dev/null
fi
try apt update
# shellcheck disable=SC2086  # lists of words
[ -z "$from_apt" ] || try apt install --no-install-recommends $from_apt
# shellcheck disable=SC2086
[ -z "$newer" ] || try apt install --no-install-recommends -t $suite $newer
if [ $need_meson = yes ] && [ $meson_from = pipx ]; then
  try $sudo env PIPX_HOME=/opt/pipx PIPX_BIN_DIR=/usr/local/bin pipx install 'meson>=1.4'
fi
if ! at_least 1.4 "$(meson_version)"; then
  echo "setup.sh: Meson $(meson_version) comes first on PATH, and is too old." >&2
  exit 1
fi
show_versions
