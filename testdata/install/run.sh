#!/bin/sh
# Installs the pinned clients, unless they are there, and runs run.mjs with the
# Node.js among them.
set -eu
CLIENTS=$(cd "$(dirname "$0")" && pwd)
export CLIENTS
exec sh "$CLIENTS/../clients/run.sh" "$@"
