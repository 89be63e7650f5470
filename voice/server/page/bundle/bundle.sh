#!/bin/bash
# Bundles pipecat's JavaScript client for the page: ../static/pipecat.js, and the licences of all that is in it.
# Needs Node.js with npm. The output is committed, so nobody needs this to run or to install the project.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json package-lock.json client.js without_daily.js licences.mjs "$work"
cd "$work"
npm ci --no-audit --no-fund --silent
npx esbuild client.js --bundle --format=esm --minify --target=es2022 --legal-comments=none --metafile=meta.json \
  --alias:@daily-co/daily-js=./without_daily.js --outfile=pipecat.js --log-level=warning
node licences.mjs meta.json > pipecat-licences.txt
cp pipecat.js pipecat-licences.txt "$OLDPWD/../static/"
