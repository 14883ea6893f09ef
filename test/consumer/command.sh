#!/bin/sh
# command.sh SOURCE BUILD: the octep command as it is installed runs from where it is put, with its page and its completion.
set -eu
source=$1
build=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cmake --install "$build" --component tools --prefix "$dir/prefix" > "$dir/install.log"
cd "$dir/prefix"
find . -type f | LC_ALL=C sort > ../installed
cat > ../expected << 'END'
./bin/octep
./share/bash-completion/completions/octep
./share/man/man1/octep.1
END
diff ../expected ../installed
bin/octep version
bin/octep replay "$source/test/captures/lan-nat.pcapng" > ../report
grep -q '^IN HARDWARE' ../report
grep -q '^\.Dt OCTEP 1' share/man/man1/octep.1
bash -c '. share/bash-completion/completions/octep && complete -p octep'
