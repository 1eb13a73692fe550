#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Asks the flight recorders of all nodes for the same seconds of wall-clock time (docs/fleet.md):
#   ask.sh [-t TIME] [-l TIME] [-n NAMESPACE]             the pods of the DaemonSet, by kubectl
#   ask.sh [-t TIME] [-l TIME] [-x COMMAND] HOST...       hosts, by ssh or what -x says: COMMAND HOST gotrace ...
# ssh asks for no password, and gives up on a host after ten seconds.
# -t is the end of the window (gotrace snapshot --at; default: now), -l how much before it (--last; default: 5s).
# Prints "NODE: FILE" for each snapshot. The exit status is 1 if a node did not answer.
set -u

usage() {
	echo "usage: ask.sh [-t TIME] [-l TIME] [-n NAMESPACE | [-x COMMAND] HOST...]" >&2
	exit 2
}

at=@$(date +%s) last=5s namespace=gotrace by="ssh -o BatchMode=yes -o ConnectTimeout=10"
while getopts t:l:n:x: option; do
	case $option in
	t) at=$OPTARG ;;
	l) last=$OPTARG ;;
	n) namespace=$OPTARG ;;
	x) by=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then
	pods=$(kubectl get pods -n "$namespace" -l app.kubernetes.io/name=gotrace-flight \
		--field-selector=status.phase=Running -o name) || exit 1
	[ -n "$pods" ] || { echo "ask: no recorder runs in namespace $namespace" >&2; exit 1; }
	# shellcheck disable=SC2086 # one argument a pod
	set -- $pods
	ask='said=$(kubectl exec -n "$3" -c gotrace "$4" -- /gotrace snapshot --all --at "$1" --last "$2")'
	by=$namespace
else
	# shellcheck disable=SC2016
	ask='said=$($3 "$4" gotrace snapshot --all --at "$1" --last "$2")'
fi
# All at the same time, as far as that goes. Clocks of the nodes must agree; when each is asked does not matter.
# shellcheck disable=SC2016
printf '%s\n' "$@" | xargs -P 32 -I '{}' sh -c "$ask"'
status=$?
[ -z "$said" ] || printf "%s\n" "$said" | sed "s|^|${4##*/}: |"
[ $status -eq 0 ] || echo "ask: ${4##*/}: exit status $status" >&2
exit $status' ask "$at" "$last" "$by" '{}' || exit 1
