#!/usr/bin/env bash
# Builds the documentation site into build/site, to be read from there or copied to any web server. The first run installs
# MkDocs into build/docs-venv with pip; later runs need no network, and do nothing if the site is newer than all pages.
set -euo pipefail
root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/..
cd "$root"
venv=build/docs-venv stamp=build/site/.built

mkdir -p build
wanted=$(cksum tools/requirements-docs.txt)
if [ "$(cat $venv/.made-for 2>/dev/null)" != "$wanted" ]; then
    python3 -m venv --clear $venv
    $venv/bin/pip install --quiet --disable-pip-version-check -r tools/requirements-docs.txt
    printf '%s' "$wanted" >$venv/.made-for
fi
# A deleted page makes its folder newer. Sources are listed because pages link to them.
sources=(docs ./*.md mkdocs.yml tools/build_docs.sh tools/site tools/requirements-docs.txt capi collect core io analyze ranks present measure examples)
if [ -e $stamp ] && [ -z "$(find "${sources[@]}" -newer $stamp -print -quit)" ]; then
    echo "build/site is up to date"
    exit
fi
begun=$(mktemp) # before the build: a page edited during the build stays newer
trap 'rm -f "$begun"' EXIT
NO_MKDOCS_2_WARNING=1 $venv/bin/mkdocs build --quiet --strict
touch -r "$begun" $stamp
echo "built $(find build/site -name '*.html' | wc -l) pages: build/site/index.html"
