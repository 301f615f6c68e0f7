#!/bin/bash
# package.sh CMAKE BUILD_DIR NAME LIBDIR: BUILD_DIR/NAME.tar.zst, an installed tree with the shared
# libraries it needs, for machines of the same architecture with a C++ runtime at least as new.
set -euo pipefail
cmake=$1 build=$2 name=$3 libdir=$4
stage=$build/package/$name

# What belongs to the machine: the C and C++ runtimes.
system='^(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libstdc\+\+|libgcc_s)\.so'

rm -rf "$build/package"
DESTDIR='' "$cmake" --install "$build" --prefix "$stage" --strip >/dev/null
rm -rf "${stage:?}/etc"  # an ICD file needs an absolute path, which an archive does not have

# copy_needed DESTINATION FILE...: what ldd says the files need, beside the library that needs it.
copy_needed() {
  local destination=$1 library path
  shift
  ldd "$@" | awk '$2 == "=>" { print $1, $3 }' | sort -u | while read -r library path; do
    [[ $library =~ $system ]] && continue
    case "$path" in
      "$stage"/*) continue ;;
      not)
        echo "package: $library is not found" >&2
        exit 1
        ;;
    esac
    [ -e "$destination/$library" ] || cp -L "$path" "$destination/$library"
  done
}
# Programs and libraries: what starts with the mark of an ELF file.
executables() {
  find "$1" -maxdepth 1 -type f -print0 | xargs -0 -r grep -l -a -m 1 -P '\A\x7fELF'
}

mapfile -t compiler < <(executables "$stage/$libdir/weft")
mapfile -t rest < <(executables "$stage/bin"; executables "$stage/$libdir"; executables "$stage/$libdir/weft/examples")
[ "${#compiler[@]}" -eq 0 ] || copy_needed "$stage/$libdir/weft" "${compiler[@]}"
copy_needed "$stage/$libdir" "${rest[@]}"

cat > "$stage/README.txt" <<TEXT
Weft, an OpenCL implementation. Nothing here has to be installed:

  bin/weft info
  bin/weft demo
  OCL_ICD_VENDORS=\$PWD/$libdir/libweft.so any-opencl-program       (ocl-icd)
  OCL_ICD_FILENAMES=\$PWD/$libdir/libweft.so any-opencl-program     (Khronos' loader)
TEXT

tar -C "$build/package" --owner=0 --group=0 --sort=name -c "$name" | zstd -q -T0 -12 -f -o "$build/$name.tar.zst"
printf 'Packed %s (%s MiB)\n' "$build/$name.tar.zst" "$(($(stat -c %s "$build/$name.tar.zst") / 1048576))"
