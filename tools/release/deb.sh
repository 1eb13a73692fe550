#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds the Debian package of HEAD in build/deb: deb.sh VERSION.
# Its maintainer is DEBFULLNAME and DEBEMAIL, as for dch(1).
set -eu
cd "$(dirname "$0")/../.."
version=$1
command -v dh >/dev/null || { echo "deb: no debhelper: run tools/deps.sh deb" >&2; exit 1; }
tree=build/deb/gotrace-$version
rm -rf build/deb
mkdir -p "$tree"
git archive HEAD | tar -x -C "$tree"
cp -R tools/release/debian "$tree/debian"
# Outside of git the version must be given.
sed -i "s/^VERSION := .*/VERSION := $version/" "$tree/Makefile"
date=$(date -u -R -d "@$SOURCE_DATE_EPOCH")
maintainer="${DEBFULLNAME:-gotrace maintainers} <${DEBEMAIL:-gotrace@localhost.localdomain}>"
sed -i "s/^Maintainer: .*/Maintainer: $maintainer/" "$tree/debian/control"
cat > "$tree/debian/changelog" <<END
gotrace ($version) unstable; urgency=medium

  * Version $version: see /usr/share/doc/gotrace/CHANGELOG.md.gz.

 -- $maintainer  $date
END
(cd "$tree" && dpkg-buildpackage -b -us -uc -rfakeroot)
ls -l build/deb/*.deb
