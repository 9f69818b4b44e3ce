# Sourced by ./run and ./test, with the repository's folder in $root: installs what is missing and builds.
# All messages go to stderr; stdout belongs to the program that is started afterwards.

build_packages=(
  cmake ninja-build g++ pkgconf gettext
  libsentencepiece-dev libicu-dev libdnnl-dev libcli11-dev nlohmann-json3-dev libfmt-dev libasio-dev
  libimgui-dev libstb-dev libmd4c-dev libglfw3-dev libfreetype-dev libfribidi-dev libharfbuzz-dev libfontconfig-dev libsystemd-dev libegl-dev libgl-dev libopengl-dev
  libegl1 libgl1-mesa-dri fonts-dejavu-core fonts-inter fonts-jetbrains-mono fonts-droid-fallback
)
# Debian's LibTorch calls the installed BLAS; the reference BLAS is about 30 times slower than OpenBLAS.
debian_torch_packages=(libtorch-dev libgloo-dev libopenblas0-openmp)
test_packages=(libgtest-dev libgmock-dev xvfb xdotool strace librsvg2-bin python3-numpy fonts-lohit-deva)

say() { printf '%s\n' "$*" >&2; }
fail() { say "attnscope: $*"; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -- "$@"; fi
}

# install_missing PACKAGE…: installs the missing packages after naming them.
install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    say "attnscope: this is not a Debian system, so packages are not checked. Needed are what Debian calls: $*"
    return
  fi
  local installed missing=() package
  # One call for all names; it fails if any name is unknown, which is expected here.
  installed=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    case "$installed" in *" installed=$package "*) ;; *) missing+=("$package") ;; esac
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi

  say "attnscope needs these Debian packages and installs them now: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "neither root nor sudo here. Install them yourself, as root: apt-get install --no-install-recommends ${missing[*]}"
  fi
  as_root apt-get update -qq >&2 || fail "apt-get update failed (see above)"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    fail "apt-get could not install: ${missing[*]} (see above)"
}

# LibTorch's CMake folder if LIBTORCH names one; empty for Debian's.
libtorch_prefix() {
  if [ -z "${LIBTORCH:-}" ]; then return; fi
  local folder
  folder="$(cd "$LIBTORCH" 2>/dev/null && pwd)" || fail "LIBTORCH=$LIBTORCH: no such folder"
  [ -e "$folder/share/cmake/Torch/TorchConfig.cmake" ] ||
    fail "LIBTORCH=$LIBTORCH: no share/cmake/Torch/TorchConfig.cmake in it; unpack LibTorch and name its top folder"
  printf '%s' "$folder"
}

# configure TESTS PREFIX: only the first time, or if LibTorch, the path of the checkout or the choice of tests changed.
configure() {
  local tests="$1" prefix="$2" stamp="$root/build/.configured" had_root="" had_prefix="" had_tests="" options
  if [ -e "$stamp" ] && [ -e "$root/build/build.ninja" ]; then
    { read -r had_root; read -r had_prefix; read -r had_tests; } <"$stamp" || true
    if [ "$had_tests" = ON ]; then tests=ON; fi
    if [ "$had_root" = "$root" ] && [ "$had_prefix" = "$prefix" ] && [ "$had_tests" = "$tests" ]; then return; fi
  fi
  options=(-S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DATTNSCOPE_TESTS=$tests")
  # Otherwise the cache would still point to an earlier LibTorch or path.
  if [ "$had_root" != "$root" ] || [ "$had_prefix" != "$prefix" ]; then options+=(--fresh); fi
  if [ -n "$prefix" ]; then options+=("-DCMAKE_PREFIX_PATH=$prefix"); fi
  mkdir -p "$root/build"
  # LibTorch with CUDA would compile a CUDA program to detect the GPU, which fails with an older CMake and a newer CUDA.
  # None of our code is compiled for CUDA.
  TORCH_CUDA_ARCH_LIST="${TORCH_CUDA_ARCH_LIST:-8.0}" cmake "${options[@]}" >"$root/build/configure.log" 2>&1 ||
    { cat "$root/build/configure.log" >&2; fail "CMake could not configure the build (see above)"; }
  printf '%s\n%s\n%s\n' "$root" "$prefix" "$tests" >"$stamp"
}

# One job per core, limited by memory: compiling a file that includes LibTorch takes about 2 GiB.
job_count() {
  local cores memory_kib jobs
  cores="$(nproc)"
  memory_kib="$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)"
  jobs=$((memory_kib / 2097152))
  if [ "$jobs" -gt "$cores" ]; then jobs="$cores"; fi
  if [ "$jobs" -lt 1 ]; then jobs=1; fi
  printf '%s' "$jobs"
}

# Shows ninja's "[12/80] Building…" lines as one updating line on a terminal, and only a word at the start elsewhere.
# "[0/2]" means that ninja checks whether there is anything to do.
show_progress() {
  local line said=""
  while IFS= read -r line; do
    case "$line" in "["[1-9]*/[0-9]*"]"*) ;; *) continue ;; esac
    if [ -t 2 ]; then
      printf '\r\033[Kbuilding attnscope %s]' "${line%%]*}" >&2
    elif [ -z "$said" ]; then
      say "building attnscope (a few minutes the first time)"
    fi
    said=yes
  done
  if [ -n "$said" ] && [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# build TARGET…
build() {
  local log="$root/build/build.log"
  if ! ninja -C "$root/build" -j "$(job_count)" "$@" 2>&1 | tee "$log" | show_progress; then
    grep -v '^\[[0-9]*/[0-9]*\] [BLG]' "$log" >&2 || true
    fail "the build failed (see above; all of it is in $log)"
  fi
}
