#!/usr/bin/env bash
# Unpacks packages of any release and architecture of Debian into a folder: libraries to cross-compile with, other
# compilers. It needs no root, and leaves this system's packages and apt as they are. A second call does nothing.
#
#   scripts/debian_root.sh [--alone] SUITE ARCHITECTURE FOLDER PACKAGE...
#
#   --alone   without what the packages depend on
#
# Scripts of the packages do not run, so that alternatives (c++, sh) are missing.
# Exit codes  0 all of it is there; 1 apt failed; 2 wrong usage, or not a Debian
set -euo pipefail

alone=false
if [[ ${1:-} == --alone ]]; then
    alone=true
    shift
fi
if [[ $# -lt 4 ]]; then
    sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
suite=$1 architecture=$2 folder=$3
shift 3
keys=/usr/share/keyrings/debian-archive-keyring.gpg
if ! command -v apt-get >/dev/null || [[ ! -e $keys ]]; then
    echo "debian_root: this is not Debian: no apt-get, or no $keys" >&2
    exit 2
fi
stamp=$folder/packages
wanted="$suite $architecture $alone $*"
if [[ $(cat "$stamp" 2>/dev/null) == "$wanted" ]]; then
    exit 0
fi

mkdir -p "$folder"
apt_folder=$(mktemp -d)
trap 'rm -rf "$apt_folder"' EXIT
mkdir -p "$apt_folder"/{lists/partial,archives/partial,parts}
: >"$apt_folder/status"
cat >"$apt_folder/apt.conf" <<END
Dir::State::lists "$apt_folder/lists";
Dir::State::status "$apt_folder/status";
Dir::Cache "$apt_folder";
Dir::Etc::sourcelist "$apt_folder/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::parts "$apt_folder/parts";
Dir::Etc::preferencesparts "$apt_folder/parts";
APT::Architecture "$architecture";
APT::Architectures "$architecture";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
END
echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$apt_folder/sources.list"
export APT_CONFIG=$apt_folder/apt.conf DEBIAN_FRONTEND=noninteractive
apt-get -q update >&2 || exit 1
if "$alone"; then
    (cd "$apt_folder/archives" && apt-get -q download "$@") >&2 || exit 1
else
    apt-get -q -y --download-only install "$@" >&2 || exit 1
fi
for package in "$apt_folder"/archives/*.deb; do
    dpkg -x "$package" "$folder"
done
echo "$wanted" >"$stamp"
