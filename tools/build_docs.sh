#!/usr/bin/env bash
# Builds the documentation site into build/site, to be read from there or copied to any web server. The first run installs
# MkDocs into build/docs-venv with pip; later runs need no network, and do nothing if the site is newer than all pages.
# With --versions, build/sites has one site for each tag v* and one of this checkout (main), with a menu of the versions on each page.
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

# one_version TREE NAME: Material's menu reads versions.json next to the folders of the versions.
one_version() {
    printf 'INHERIT: mkdocs.yml\nextra: {version: {provider: mike}}\n' >"$1/.mkdocs-version.yml"
    NO_MKDOCS_2_WARNING=1 $venv/bin/mkdocs build --quiet --config-file "$1/.mkdocs-version.yml" --site-dir "$root/build/sites/$2" && rm "$1/.mkdocs-version.yml"
    rows+=("{\"version\": \"$2\", \"title\": \"$2\", \"aliases\": []}")
}
if [ "${1-}" = --versions ]; then
    rm -rf build/sites && mkdir -p build/sites
    root=$PWD tree=$PWD/build/sites.tree rows=() newest=
    for tag in $(git tag --list 'v*' --sort=-version:refname); do
        rm -rf "$tree" && git worktree prune && git worktree add --quiet --detach "$tree" "$tag"
        if [ -e "$tree/mkdocs.yml" ]; then one_version "$tree" "${tag#v}" && newest=${newest:-${tag#v}}; fi
        git worktree remove --force "$tree"
    done
    one_version "$root" main
    (IFS=, && echo "[${rows[*]}]" >build/sites/versions.json)
    echo "<!doctype html><title>gpu-profile</title><meta http-equiv=\"refresh\" content=\"0; url=${newest:-main}/index.html\">" >build/sites/index.html
    echo "built ${#rows[@]} versions: build/sites/index.html"
    exit
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
