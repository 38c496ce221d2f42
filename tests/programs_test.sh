#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs that come with ACRF (reset-gpu, power-cap, test-node), with stand-ins for the vendors'
# own: what they call, in which order, and when they call nothing.
set -u
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
programs=$top_srcdir/healthd/programs
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
failures=0
uuid=GPU-11111111-2222-3333-4444-555555555555 # NVIDIA's
amd=00a1b2c3d4e5f607                          # AMD's unique id

# stand_in NAME: writes its command line down and then runs the body that comes on standard input.
stand_in() {
  {
    printf '#!/bin/bash\necho "${0##*/} $*" >>"%s/calls"\n' "$here"
    cat
  } >"$here/bin/$1"
  chmod 755 "$here/bin/$1"
}

# A machine without any of them; the words are the stand-ins that it has.
machine() {
  local tool
  rm -rf "$here/bin" "$here/calls" "$here/said"
  mkdir "$here/bin"
  for tool in sh bash awk cat cut find readlink sed sleep sort tr; do
    ln -s "$(command -v "$tool")" "$here/bin/$tool"
  done
  persistence=Disabled reset_status=0 cap_status=0 minor=97
  for tool in "$@"; do "$tool"; done
}

nvidia() {
  stand_in nvidia-smi <<EOS
case "\$*" in
*query-gpu=minor_number*) [ -n "\$MINOR" ] && echo "\$MINOR" ;;
*query-gpu=persistence_mode*) echo "\$PERSISTENCE" ;;
*--gpu-reset*) exit "\$RESET_STATUS" ;;
*--power-limit=*) exit "\$CAP_STATUS" ;;
esac
EOS
}

rocm() {
  stand_in rocm-smi <<'EOS'
case "$*" in
*--showbus*) printf 'device,PCI Bus\ncard0,10000:C1:00.0\ncard1,0000:83:00.0\ncard2,0000:C1:00.0\n' ;;
*--gpureset*) exit "$RESET_STATUS" ;;
*--setpoweroverdrive*) exit "$CAP_STATUS" ;;
esac
EOS
}

# As DCGM 3 and 4 print it.
dcgm() {
  stand_in dcgmi <<'EOS'
if [ "$1" = discovery ]; then
  echo "2 GPUs found."
  echo "| GPU ID | Device Information                                        |"
  echo "| 0      | Name: NVIDIA H100 80GB HBM3                               |"
  echo "|        | PCI Bus ID: 00000000:10:00.0                              |"
  echo "|        | Device UUID: GPU-00000000-0000-0000-0000-000000000000     |"
  echo "| 4      | Name: NVIDIA H100 80GB HBM3                               |"
  echo "|        | PCI Bus ID: 00000000:50:00.0                              |"
  echo "|        | Device UUID: GPU-44444444-4444-4444-4444-444444444444     |"
  exit 0
fi
echo "diagnostics say $DIAG"
exit "$DIAG"
EOS
}

# runs STATUS PROGRAM ARGUMENT...: it ends with that status. What it says goes to $here/said.
runs() {
  local wanted=$1 status
  shift
  "${inside[@]}" env -i PATH="$here/bin" MINOR="$minor" PERSISTENCE="$persistence" RESET_STATUS="$reset_status" \
    CAP_STATUS="$cap_status" DIAG="${diag-0}" "$programs/$1" "${@:2}" >"$here/said" 2>&1
  status=$?
  [ $status = "$wanted" ] || problem+=" $1 ended with $status, not $wanted: $(cat "$here/said");"
}
inside=()

# calls LINE...: just these, in this order.
calls() {
  local wanted= made
  [ $# = 0 ] || wanted=$(printf '%s\n' "$@")
  made=$(cat "$here/calls" 2>/dev/null)
  [ "$made" = "$wanted" ] || problem+=" called was: ${made:-nothing};"
}
# Questions change nothing.
acts() {
  sed -i '/--query-gpu=/d; /--showbus/d' "$here/calls" 2>/dev/null
  calls "$@"
}
says() { grep -q -e "$1" "$here/said" || problem+=" it does not say '$1' but: $(cat "$here/said");"; }

# check NAME: the function of that name leaves what is wrong in $problem.
check() {
  problem=
  echo "[ RUN      ] Programs.$1"
  "$1"
  if [ -z "$problem" ]; then
    echo "[       OK ] Programs.$1 (0 ms)"
  else
    echo "$problem"
    echo "[  FAILED  ] Programs.$1 (0 ms)"
    failures=1
  fi
}

# --- reset-gpu ---------------------------------------------------------------------------------

OneGpuOfNvidiasIsResetByItsUuid() {
  machine nvidia rocm
  runs 0 reset-gpu n1 $uuid 0000:10:00 gpu_reset_required n1-1
  acts "nvidia-smi --gpu-reset --id=$uuid"
}

PersistenceModeIsOffDuringAResetAndOnAfterIt() {
  machine nvidia
  persistence=Enabled
  runs 0 reset-gpu n1 $uuid 0000:10:00 gpu_reset_required n1-1
  acts "nvidia-smi --id=$uuid --persistence-mode=0" "nvidia-smi --gpu-reset --id=$uuid" \
    "nvidia-smi --id=$uuid --persistence-mode=1"
}

AFailedResetIsSaidAndPersistenceModeComesBack() {
  machine nvidia
  persistence=Enabled reset_status=9
  runs 1 reset-gpu n1 $uuid 0000:10:00 gpu_reset_required n1-1
  acts "nvidia-smi --id=$uuid --persistence-mode=0" "nvidia-smi --gpu-reset --id=$uuid" \
    "nvidia-smi --id=$uuid --persistence-mode=1"
}

AGpuOfUnknownNumberIsLeftToNvidiasOwnRefusal() {
  machine nvidia
  minor=
  runs 0 reset-gpu n1 $uuid 0000:10:00 gpu_reset_required n1-1
  acts "nvidia-smi --gpu-reset --id=$uuid"
}

OneGpuOfAmdsIsResetByItsPlaceOnTheBus() {
  machine nvidia rocm
  runs 0 reset-gpu n1 $amd 0000:c1:00 gpu_hang n1-1
  acts "rocm-smi --gpureset -d 2"
}

AFailedResetOfAmdsIsSaid() {
  machine rocm
  reset_status=2
  runs 2 reset-gpu n1 $amd 0000:83:00 gpu_hang n1-1
  acts "rocm-smi --gpureset -d 1"
}

AGpuThatAmdsProgramDoesNotListIsNotReset() {
  machine rocm
  runs 1 reset-gpu n1 $amd 0000:99:00 gpu_hang n1-1
  acts
  says 'does not list a GPU at 0000:99:00'
}

# With device files of its own below /dev, which takes namespaces.
can_make_devices() {
  mkdir -p "$here/dev"
  touch "$here/dev/null" "$here/dev/nvidia97" "$here/dev/kfd"
  chmod 666 "$here/dev/null"
  [ "$(id -u)" = 0 ] && inside=(unshare --mount) || inside=(unshare --map-root-user --mount)
  inside+=(/bin/bash -c 'mount --bind "$0" /dev && exec "$@"' "$here/dev")
  "${inside[@]}" true 2>/dev/null
}

# held DEVICE COMMAND...: runs it while a process has the device open, for $holding seconds.
holding=60
held() {
  local device=$1
  shift
  inside+=(/bin/bash -c 'exec 8<"$0"; sleep "$1" & holder=$!; exec 8<&-; shift; "$@"; status=$?; kill $holder 2>/dev/null; exit $status'
    "$device" "$holding")
  "$@"
  inside=()
}

AGpuThatAProcessHoldsIsNotReset() {
  machine nvidia
  persistence=Enabled
  held /dev/nvidia97 runs 1 reset-gpu n1 $uuid 0000:10:00 gpu_reset_required n1-1
  acts "nvidia-smi --id=$uuid --persistence-mode=0" "nvidia-smi --id=$uuid --persistence-mode=1"
  says "GPU $uuid is held by: [0-9]* (sleep)"
}

AHolderThatGoesIsWaitedFor() {
  machine nvidia
  can_make_devices
  holding=1
  held /dev/nvidia97 runs 0 reset-gpu n1 $uuid 0000:10:00 gpu_reset_required n1-1
  holding=60
  acts "nvidia-smi --gpu-reset --id=$uuid"
}

AnotherGpuThatAProcessHoldsDoesNotMatter() {
  machine nvidia
  minor=9
  can_make_devices
  held /dev/nvidia97 runs 0 reset-gpu n1 $uuid 0000:10:00 gpu_reset_required n1-1
  acts "nvidia-smi --gpu-reset --id=$uuid"
}

AGpuOfAmdsIsNotResetUnderAProcess() {
  machine rocm
  can_make_devices
  held /dev/kfd runs 1 reset-gpu n1 $amd 0000:83:00 gpu_hang n1-1
  acts
  says '/dev/kfd is held by: [0-9]* (sleep)'
}

# --- power-cap ---------------------------------------------------------------------------------

APowerLimitIsSetByNvidiasProgram() {
  machine nvidia rocm
  runs 0 power-cap n1 $uuid 0000:10:00 temperature_limit n1-1 560
  calls "nvidia-smi --id=$uuid --power-limit=560"
}

APowerLimitIsSetByAmdsProgram() {
  machine nvidia rocm
  runs 0 power-cap n1 $amd 0000:C1:00 temperature_limit n1-1 560
  acts "rocm-smi -d 2 --autorespond y --setpoweroverdrive 560"
}

APowerLimitThatWasNotSetIsSaid() {
  machine nvidia rocm
  cap_status=3
  runs 3 power-cap n1 $uuid 0000:10:00 temperature_limit n1-1 560
  runs 3 power-cap n1 $amd 0000:83:00 temperature_limit n1-1 560
  runs 1 power-cap n1 $amd 0000:99:00 temperature_limit n1-1 560
}

APowerLimitThatIsNoNumberReachesNoProgram() {
  local watts
  for watts in '' -1 56.5 560W '$(id)' ' 560'; do
    machine nvidia rocm
    runs 1 power-cap n1 $uuid 0000:10:00 temperature_limit n1-1 "$watts"
    calls
  done
  machine nvidia rocm
  runs 1 power-cap n1 $uuid 0000:10:00 temperature_limit n1-1
  calls
}

# --- test-node ---------------------------------------------------------------------------------

ANodePassesWhatDcgmSaysAndNothingElse() {
  machine dcgm
  diag=0 runs 0 test-node n1 - - node_lost n1-1
  calls 'dcgmi diag -r 2'
  says 'diagnostics say 0'
  diag=226 runs 226 test-node n1 - - node_lost n1-1 node
}

# The others may be at work.
AGpuIsTestedAloneWhereItsNodeServesOn() {
  machine dcgm
  diag=0 runs 0 test-node n1 GPU-44444444-4444-4444-4444-444444444444 0000:50:00 ecc_dbe n1-1 gpu
  calls 'dcgmi discovery -l' 'dcgmi diag -r 2 -i 4'
  machine dcgm
  diag=0 runs 0 test-node n1 GPU-44444444-4444-4444-4444-444444444444 0000:50:00 ecc_dbe n1-1 node
  calls 'dcgmi diag -r 2'
  machine dcgm
  diag=0 runs 77 test-node n1 GPU-55555555-5555-5555-5555-555555555555 0000:60:00 ecc_dbe n1-1 gpu
  calls 'dcgmi discovery -l'
  says 'DCGM knows no GPU GPU-55555555'
}

# --- all ---------------------------------------------------------------------------------------

WithoutTheVendorsProgramsNothingCanBeDone() {
  machine
  runs 77 reset-gpu n1 $uuid 0000:10:00 gpu_reset_required n1-1
  runs 77 reset-gpu n1 $amd 0000:10:00 gpu_hang n1-1
  runs 77 power-cap n1 $uuid 0000:10:00 temperature_limit n1-1 560
  runs 77 power-cap n1 $amd 0000:10:00 temperature_limit n1-1 560
  runs 77 test-node n1 $uuid 0000:10:00 gpu_lost n1-1
  says 'name a TestProgram in acrf.conf'
}

# One vendor's program is never asked for another vendor's GPU.
AGpuOfTheOtherVendorIsNotTouched() {
  machine rocm
  runs 77 reset-gpu n1 $uuid 0000:83:00 gpu_reset_required n1-1
  runs 77 power-cap n1 $uuid 0000:83:00 temperature_limit n1-1 560
  calls
  machine nvidia
  runs 77 reset-gpu n1 $amd 0000:83:00 gpu_hang n1-1
  runs 77 power-cap n1 $amd 0000:83:00 temperature_limit n1-1 560
  calls
}

# A node as a whole has '-' for GPU and place, and whoever calls by hand may forget them.
WithoutAGpuNoneIsTouched() {
  machine nvidia rocm
  runs 77 reset-gpu n1 - - node_lost n1-1
  runs 77 power-cap n1 - - node_lost n1-1 560
  runs 77 reset-gpu n1 '' '' node_lost n1-1
  runs 77 power-cap n1 '' '' node_lost n1-1 560
  runs 77 reset-gpu
  calls
}

# acrf-healthd ends the whole process group when the time is up.
AProgramThatHangsEndsWithItsGroup() {
  local program tries
  machine
  stand_in nvidia-smi <<<'echo $$ >"${0%/bin/*}/hung.new"; mv "${0%/bin/*}/hung.new" "${0%/bin/*}/hung"; exec sleep 600'
  ln -s "$(command -v mv)" "$here/bin/mv"
  setsid env -i PATH="$here/bin" "$programs/reset-gpu" n1 $uuid 0000:10:00 gpu_reset_required n1-1 &
  program=$!
  for ((tries = 0; tries < 600; tries++)); do [ -e "$here/hung" ] && break || sleep 0.05; done
  kill -KILL -- -$program
  wait $program 2>/dev/null
  for ((tries = 0; tries < 600; tries++)); do
    grep -qs '^State:[[:space:]]*[^Z]' "/proc/$(cat "$here/hung")/status" && sleep 0.05 || return
  done
  problem+=' nvidia-smi runs on;'
}

for name in OneGpuOfNvidiasIsResetByItsUuid PersistenceModeIsOffDuringAResetAndOnAfterIt \
  AFailedResetIsSaidAndPersistenceModeComesBack AGpuOfUnknownNumberIsLeftToNvidiasOwnRefusal \
  OneGpuOfAmdsIsResetByItsPlaceOnTheBus AFailedResetOfAmdsIsSaid AGpuThatAmdsProgramDoesNotListIsNotReset \
  APowerLimitIsSetByNvidiasProgram APowerLimitIsSetByAmdsProgram APowerLimitThatWasNotSetIsSaid \
  APowerLimitThatIsNoNumberReachesNoProgram ANodePassesWhatDcgmSaysAndNothingElse AGpuIsTestedAloneWhereItsNodeServesOn \
  WithoutTheVendorsProgramsNothingCanBeDone AGpuOfTheOtherVendorIsNotTouched WithoutAGpuNoneIsTouched \
  AProgramThatHangsEndsWithItsGroup; do
  check $name
done
if can_make_devices; then
  check AGpuThatAProcessHoldsIsNotReset
  check AHolderThatGoesIsWaitedFor
  check AnotherGpuThatAProcessHoldsDoesNotMatter
  check AGpuOfAmdsIsNotResetUnderAProcess
else
  echo 'the programs under a process that holds a GPU: skipped, no namespaces here'
fi
exit $failures
