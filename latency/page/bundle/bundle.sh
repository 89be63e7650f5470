#!/bin/bash
# Bundles Observable Plot for the page of a run: ../static/plot.js, and the licences of all that is in it.
# Needs Node.js with npm. The output is committed, so nobody needs this to run or to install the project.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json package-lock.json plot.js ../../../voice/server/page/bundle/licences.mjs "$work"
cd "$work"
npm ci --no-audit --no-fund --silent
npx esbuild plot.js --bundle --format=iife --global-name=Plot --minify --target=es2022 --legal-comments=none \
  --metafile=meta.json --outfile=bundled/plot.js --log-level=warning
node licences.mjs meta.json > plot-licences.txt
cp bundled/plot.js plot-licences.txt "$OLDPWD/../static/"
