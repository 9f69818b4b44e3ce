# Sourced by the tests of Python code. python_with MODULE: sets $python to one that has the module; the test is skipped
# (77) if none has it.
python_with() {
  for python in /usr/bin/python3 python3; do
    if "$python" -c "import $1" 2>/dev/null; then return; fi
  done
  echo "skipped: no python3 here has $1 (Debian: python3-$1)"
  exit 77
}
