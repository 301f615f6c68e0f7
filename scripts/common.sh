# Sourced by the scripts beside it: where the tree is, how to say what happens, how to build.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
started=$SECONDS

say() { printf '\n== %s\n' "$*"; }

elapsed() {
  local s=$((SECONDS - started))
  printf '%d min %02d s' $((s / 60)) $((s % 60))
}

# The last line of a script always says how it ended.
closing_name=${0##*/}
close_with() {
  local status=$?
  if [ "$status" -eq 0 ]; then
    printf '\n== %s: OK (%s)\n' "$closing_name" "$(elapsed)"
  else
    printf '\n== %s: FAILED with status %d (%s)\n' "$closing_name" "$status" "$(elapsed)" >&2
  fi
}

# Without these, a script that a signal ends would close with the status of its last command.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

jobs=${WEFT_JOBS:-$(nproc)}

# Configures (once) and builds a preset, showing ninja's progress.
build() {
  local preset=$1
  shift
  say "Configuring build/$preset"
  cmake --preset "$preset" --log-level=NOTICE
  say "Building build/$preset with $jobs jobs"
  cmake --build --preset "$preset" -j "$jobs" "$@"
}
