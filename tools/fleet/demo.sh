#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The whole way of docs/fleet.md on one machine: `sudo tools/fleet/demo.sh`, some two minutes.
# Two hosts (namespaces), each with a service under a flight recorder; one question to both recorders for the same
# seconds; the upload to an S3 server (moto); the six questions, answered by DuckDB from there.
# It installs rclone, python3-venv, and Python packages (DuckDB, moto) in build/fleet-demo.
set -eu
cd "$(dirname "$0")/../.."
home=$PWD/build/fleet-demo
hosts="h1 h2"

# --- in the namespaces of one host ---

# host NAME SERVICE_VERSION FAULT_OR_CLEAN: runs the services and their recorder.
host() {
	local mode clean=
	hostname "$1"
	ip link set lo up
	mount -t sysfs none /sys
	mount -t tracefs none /sys/kernel/tracing 2>/dev/null || true
	[ "$2" = v2 ] || clean=-clean
	export OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES=service.version=$2
	for mode in lock-io outlier; do
		"$home/shop" $mode $clean >"$home/$1/$mode.out" 2>&1 &
	done
	exec ./gotrace flight --node --exe "$home/shop" --window 10s --max-overhead none -o "$home/$1/snapshots"
}
if [ "${1:-}" = host ]; then
	shift
	host "$@"
fi

# --- the demo ---

[ "$(id -u)" -eq 0 ] || { echo "demo: tracing needs root: sudo tools/fleet/demo.sh" >&2; exit 1; }
children=
stop() {
	# The first process of each PID namespace: all others in it end with it.
	# shellcheck disable=SC2086
	[ -z "$children" ] || kill -9 $children 2>/dev/null || true
	wait 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

# say TEXT: what happens now.
say() {
	printf '\n== %s\n' "$*"
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { echo "demo: no success within the time: $*" >&2; exit 1; }
		sleep 0.2
	done
}

say "What this needs: gotrace and Go (as make demo), rclone and python3-venv (Debian), DuckDB and moto (PyPI)"
sh tools/deps.sh demo
. tools/go.sh
find_go || { echo "demo: no Go of 1.22 or later, and none to be fetched" >&2; exit 1; }
command -v rclone >/dev/null && python3 -c 'import ensurepip' 2>/dev/null || apt-get install -y -qq rclone python3-venv >/dev/null
make -s gotrace
mkdir -p "$home"
[ -x "$home/venv/bin/python" ] || python3 -m venv "$home/venv"
"$home/venv/bin/pip" install -q --disable-pip-version-check -r tools/fleet/demo-requirements.txt
(cd tests/e2e/planted && GOTOOLCHAIN=go$GO_OF_TESTS CGO_ENABLED=0 go build -buildvcs=false -o "$home/shop" .)

say "Two hosts: h1 runs version v1 of the service, h2 version v2, which has two faults"
version=1
for name in $hosts; do
	rm -rf "${home:?}/$name"
	mkdir -p "$home/$name/snapshots"
	unshare --net --uts --mount --pid --mount-proc --fork --kill-child=KILL \
		"$PWD/tools/fleet/demo.sh" host "$name" v$version >"$home/$name/recorder.out" 2>&1 &
	children="$children $!"
	version=$((version + 1))
done
for name in $hosts; do
	wait_for 30 sh -c "[ \$(grep -c 'recording PID' '$home/$name/recorder.out') = 2 ]"
	sed "s/^/$name: /" "$home/$name/recorder.out"
done
sleep 6

say "One question to all recorders: the last five seconds (tools/fleet/ask.sh)"
# in_host NAME COMMAND...: as ssh would, in the host's namespaces.
cat >"$home/in_host" <<EOF
#!/bin/bash
name=\$1
shift
shell=\$(pgrep -f -o "^unshare .* host \$name ")
PATH=$PWD:\$PATH exec nsenter -t "\$(pgrep -P "\$shell")" --net --uts --mount --pid -- "\$@"
EOF
chmod +x "$home/in_host"
# shellcheck disable=SC2086
tools/fleet/ask.sh -l 5s -x "$home/in_host" $hosts

say "The upload to S3 (tools/fleet/upload.sh)"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$home/venv/bin/moto_server" -H 127.0.0.1 -p "$port" >"$home/moto.out" 2>&1 &
children="$children $!"
export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=demo AWS_SECRET_ACCESS_KEY=demo AWS_REGION=us-east-1
export RCLONE_CONFIG_S3_TYPE=s3 RCLONE_CONFIG_S3_PROVIDER=Other RCLONE_CONFIG_S3_ENV_AUTH=true RCLONE_CONFIG_S3_ENDPOINT=$AWS_ENDPOINT_URL
unset AWS_CA_BUNDLE
wait_for 30 rclone mkdir s3:traces
for name in $hosts; do
	PATH=$PWD:$PATH NODE=$name tools/fleet/upload.sh -1 "$home/$name/snapshots" s3:traces
done
rclone size s3:traces/lake

say "The questions of docs/fleet.md, answered by DuckDB from s3://traces/lake"
"$home/venv/bin/python" tools/fleet/questions.py s3://traces/lake
