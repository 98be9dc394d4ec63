#!/usr/bin/env bash
# Builds the documentation into site/, strictly: a link that leads nowhere is an error. bash run/docs.sh
if [ $# -ne 0 ]; then
    echo "usage: bash run/docs.sh" >&2
    exit 2
fi
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
cd "$root"
command -v mkdocs >/dev/null || { echo "docs.sh: mkdocs is not installed: pip install '.[docs]'" >&2 && exit 2; }
# the builder advertises a future version of itself, which is not used here
export NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true
# --strict does not fail on warnings that --quiet hides
log=$(mkdocs build --strict 2>&1) || { echo "$log" >&2 && exit 1; }
# every file that a browser fetches by itself must lie in site/
if grep -rnoE '(src|srcset|<link[^>]* href)="?(https?:)?//[^" >]*' site --include='*.html'; then
    echo "docs.sh: the pages above fetch something from elsewhere" >&2
    exit 1
fi
echo "site/index.html: $(find site -name '*.html' | wc -l) pages; with search: python -m http.server --directory site"
