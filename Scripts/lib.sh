# The common part of the scripts. Sourced, not run.
# shellcheck shell=bash

# shellcheck disable=SC2034 # the scripts that source this use it
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Installs missing Debian packages, as root or through sudo without a password. Otherwise prints their names.
need_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    command -v apt-get >/dev/null 2>&1 ||
        fail "these libraries are missing, under your system's names for them: ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            fail "packages are missing: run 'sudo apt-get install ${missing[*]}', then this script again"
        fi
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" \
        >/dev/null 2>&1 ||
        { "${as_root[@]}" apt-get update >/dev/null &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
                "${missing[@]}"; } || fail "apt-get could not install ${missing[*]}"
}

# Checks the toolchain, and installs missing system libraries that every build needs.
need_build_tools() {
    command -v swift >/dev/null 2>&1 ||
        fail "no 'swift' in PATH: install a Swift 6.3 toolchain from https://www.swift.org/install/linux/"
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    read -r major minor <<<"${version:-0 0}"
    if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 3 ]; }; then
        fail "Swift 6.3 or later is needed, this is $major.$minor"
    fi
    need_packages libuv1-dev libsqlite3-dev libstemmer-dev libzstd-dev zlib1g-dev pkg-config
}

# The parts that a user must ask for, and that these scripts always build.
# shellcheck disable=SC2034 # the scripts that source this use it
traits=(--enable-all-traits)

# The documentation catalogs: one for each public module, with its name.
# shellcheck disable=SC2034 # the scripts that source this use it
catalogs=("$root"/Sources/*/*.docc "$root"/Sources/Integrations/*/*.docc "$root"/Sources/Stores/*/*.docc)

# Builds the package and sets `modules`: the compiler's options for a file that imports its modules. Sets `products` and
# `tools`: the folders of what was built and of the toolchain.
build_modules() {
    swift build "${traits[@]}"
    products=$(swift build "${traits[@]}" --show-bin-path)
    tools=$(dirname "$(readlink -f "$(command -v swift)")")
    # shellcheck disable=SC2034 # the scripts that source this use it
    modules=(
        -I "$products/Modules"
        -Xcc "-fmodule-map-file=$products/CQoSShims.build/module.modulemap"
        -Xcc "-fmodule-map-file=$products/CQoSGuests.build/module.modulemap"
        -Xcc "-fmodule-map-file=$root/Sources/C/CLibUV/module.modulemap"
        -Xcc "-fmodule-map-file=$root/Sources/C/CSQLiteSettings/module.modulemap"
        -Xcc "-fmodule-map-file=$root/.build/checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap"
    )
}

# Writes the symbol graphs of a module's public declarations, and sets `symbols`: their folder. Those of an earlier call
# stay until the module is built again. `build_modules` comes before.
extract_symbols() {
    local module=$1 built triple
    symbols=$products/SymbolGraphs/$module
    if [ -e "$symbols/$module.symbols.json" ]; then
        built=$(find "$products/Modules" -name "$module.swift*" -newer "$symbols/$module.symbols.json")
        [ -n "$built" ] || return 0
    fi
    rm -rf "$symbols"
    mkdir -p "$symbols"
    triple=$(swift -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",$/\1/p' | head -n 1)
    "$tools/swift-symbolgraph-extract" -module-name "$module" -target "$triple" "${modules[@]}" \
        -minimum-access-level public -skip-synthesized-members -output-dir "$symbols"
}
