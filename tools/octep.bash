# bash completion for octep(1).

_octep() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-} options=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "replay slot definitions help version" -- "$word")
    return
  fi
  case $before in
    --device) mapfile -t COMPREPLY < <(compgen -W "xgs3300 xgs136" -- "$word"); return ;;
    --choice) mapfile -t COMPREPLY < <(compgen -W "rank oldest" -- "$word"); return ;;
    --hash) mapfile -t COMPREPLY < <(compgen -W "recorded fold keyed fault" -- "$word"); return ;;
    --set | --compare)
      # From the command itself, so that no list here grows old.
      mapfile -t COMPREPLY < <(compgen -S = -W "$("${COMP_WORDS[0]}" help settings 2> /dev/null |
        sed -n 's/^  \([a-z][a-z0-9_]*\) (from .*/\1/p')" -- "$word")
      compopt -o nospace 2> /dev/null
      return ;;
    --trace | --csv | --html) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    --write) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    --slots | --places | --seed | --nat-of | --why | --at | --connections | --find | --self) return ;;
  esac
  case $command in
    replay) options="--help --device --set --slots --places --choice --hash --seed --nat --nat-of --compare --compare-device --trace --csv --html --why --at --json" ;;
    slot) options="--help --hash --seed --slots --connections --find --self --json" ;;
    definitions) options="--help --write" ;;
    help) mapfile -t COMPREPLY < <(compgen -W "replay slot definitions settings" -- "$word"); return ;;
  esac
  case $command/$word in
    */-*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    replay/*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    definitions/*) mapfile -t COMPREPLY < <(compgen -W "settings counters reasons" -- "$word") ;;
  esac
}
complete -o filenames -F _octep octep
