#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Prints the contents of the static file as SPDX 2.3 (tag-value): sbom.sh VERSION FILE. The libraries are
# Debian's, so run it where the file was linked. Their versions are those of the packages; what a package's
# source consists of is documented by that distribution's own SPDX files.
set -eu
version=$1
file=$2
created=$(date -u -d "@${SOURCE_DATE_EPOCH:-0}" +%Y-%m-%dT%H:%M:%SZ)
sum=$(sha256sum "$file" | cut -d ' ' -f 1)

package() { # NAME ID VERSION LICENCE
	cat <<-END

	PackageName: $1
	SPDXID: SPDXRef-$2
	PackageVersion: $3
	PackageDownloadLocation: NOASSERTION
	FilesAnalyzed: false
	PackageLicenseConcluded: NOASSERTION
	PackageLicenseDeclared: $4
	PackageCopyrightText: NOASSERTION
	END
}

cat <<END
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: gotrace-$version
DocumentNamespace: https://spdx.org/spdxdocs/gotrace-$version-$sum
Creator: Tool: gotrace tools/release/sbom.sh
Created: $created
END
package gotrace gotrace "$version" 'GPL-2.0-only OR BSD-2-Clause'
printf 'PackageChecksum: SHA256: %s\nRelationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-gotrace\n' "$sum"

while read -r name licence; do
	installed=$(dpkg-query -W -f '${Version}' "$name" 2>/dev/null) || { echo "sbom.sh: package $name is not installed" >&2; exit 1; }
	id=$(echo "$name" | tr -c 'A-Za-z0-9.\n' -)
	package "$name" "$id" "$installed" "$licence"
	echo "Relationship: SPDXRef-gotrace STATIC_LINK SPDXRef-$id"
done <<END
libc6-dev LGPL-2.1-or-later
libiberty-dev LGPL-2.0-or-later AND GPL-2.0-or-later
libbpf-dev LGPL-2.1-only OR BSD-2-Clause
libelf-dev GPL-2.0-or-later OR LGPL-3.0-or-later
libdw-dev GPL-2.0-or-later OR LGPL-3.0-or-later
zlib1g-dev Zlib
libdeflate-dev MIT
liblzma-dev 0BSD
libbz2-dev bzip2-1.0.6
libseccomp-dev LGPL-2.1-only
libcap-dev BSD-3-Clause OR GPL-2.0-only
libncurses-dev X11
libprotobuf-c-dev BSD-2-Clause
libsqlite3-dev blessing
END
