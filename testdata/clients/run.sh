#!/bin/sh
# Installs the pinned clients, unless they are there, and runs run.mjs with the
# Node.js among them. See run.mjs for the arguments. CLIENTS is the folder with
# another package.json and run.mjs than those beside this file.
set -eu
here=${CLIENTS:-$(cd "$(dirname "$0")" && pwd)}
node=$here/node_modules/node/bin/node
if ! cmp -s "$here/package-lock.json" "$here/node_modules/.installed"; then
	# Not npm ci, which fails over an optional package for another system.
	(cd "$here" && npm install --no-save --no-audit --no-fund --loglevel error >&2)
	cp "$here/package-lock.json" "$here/node_modules/.installed"
fi
exec "$node" "$here/run.mjs" "$@"
