#!/bin/sh
# Runs the scenarios of the conformance suite (2026-07-28) through bridge/: those
# about asking a person and about requests without a session against fixture/,
# those about lists, prompts, resources and completion against the server itself.
# Installs what package.json pins, unless it is there. The exit code is 0 if all
# of them passed without a warning.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${MCP_URL:-}" ]; then
	if ! cmp -s "$here/package-lock.json" "$here/node_modules/.installed"; then
		(cd "$here" && npm install --no-save --no-audit --no-fund --loglevel error >&2)
		cp "$here/package-lock.json" "$here/node_modules/.installed"
	fi
	box=$(mktemp -d)
	trap 'rm -rf "$box"' EXIT
	(cd "$here" && go build -o "$box/" ./bridge ./fixture ../../cmd/vault-mcp)
	cp -R "$here/../vaults/garden" "$box/garden"
	printf '#!/bin/sh\nHOME=%s XDG_STATE_HOME= exec %s/vault-mcp serve %s/garden\n' "$box" "$box" "$box" >"$box/server"
	chmod +x "$box/server"
	export BOX="$box"
	code=0
	SCENARIOS='tools-list resources-list prompts-list prompts-get-simple prompts-get-with-args completion-complete caching
		sep-2164-resource-not-found' "$box/bridge" "$box/server" "$0" || code=1
	SCENARIOS='server-stateless
		input-required-result-basic-elicitation input-required-result-basic-sampling input-required-result-basic-list-roots
		input-required-result-request-state input-required-result-multiple-input-requests input-required-result-multi-round
		input-required-result-missing-input-response input-required-result-non-tool-request input-required-result-result-type
		input-required-result-unsupported-methods input-required-result-tampered-state input-required-result-capability-check
		input-required-result-ignore-extra-params input-required-result-validate-input' "$box/bridge" "$box/fixture" "$0" || code=1
	exit $code
fi

# From here on it is run by the bridge.
failed=0
for scenario in $SCENARIOS; do
	if out=$("$here/node_modules/node/bin/node" "$here/node_modules/@modelcontextprotocol/conformance/dist/index.js" \
		server --url "$MCP_URL" --spec-version 2026-07-28 --scenario "$scenario" -o "$BOX/out" 2>&1) &&
		printf '%s\n' "$out" | grep -q '^Passed: .*, 0 failed, 0 warnings'; then
		echo "$scenario: $(printf '%s\n' "$out" | grep '^Passed:')"
	else
		failed=1
		printf '%s: FAILED\n%s\n' "$scenario" "$out"
	fi
done
exit $failed
