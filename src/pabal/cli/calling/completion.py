"""`pabal completion`: prints a script that lets a shell complete commands and options."""

import argparse

from pabal.cli.shared.options import CommandParser

_BASH = """\
_pabal() {{
  local word path="" previous="${{COMP_WORDS[COMP_CWORD-1]}}" candidates=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path/$word" in
      {paths}) path="$path/$word" ;;
    esac
  done
  case "$path $previous" in
{values}
  esac
  [ -n "$candidates" ] || case "$path" in
{words}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _pabal pabal
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
SHELLS = ("bash", "zsh", "fish")


def declare_completion(parser: CommandParser) -> None:
    """Declare `pabal completion`."""
    parser.add_option(
        "shell",
        "셸. 예: source <(pabal completion bash)",
        "the shell; for example: source <(pabal completion bash)",
        choices=SHELLS,
    )
    parser.set_defaults(complete=print_script)


def print_script(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script that completes the commands of a parser."""
    commands = _find_commands(parser, "")
    if shell == "fish":
        print("\n".join(_write_fish(commands)))
    else:
        print((_ZSH if shell == "zsh" else "") + _write_bash(commands), end="")
    return 0


def _find_commands(parser: argparse.ArgumentParser, path: str) -> dict[str, argparse.ArgumentParser]:
    """Return every command by its path, such as /key/create."""
    found = {path: parser}
    for name, each in _subcommands(parser).items():
        found |= _find_commands(each, f"{path}/{name}")
    return found


def _subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _words(parser: argparse.ArgumentParser) -> list[str]:
    """Return what may follow a command: subcommands, choices of arguments, and options."""
    options = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
    choices = [str(word) for each in parser._actions if not each.option_strings for word in each.choices or ()]
    return [*choices, *options]


def _choices(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """Return the allowed values of each option that has some."""
    return {
        option: [str(word) for word in action.choices]
        for action in parser._actions
        if action.choices
        for option in action.option_strings
    }


def _write_bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    values = [
        f'    "{path} {option}") candidates="{" ".join(words)}" ;;'
        for path, parser in commands.items()
        for option, words in _choices(parser).items()
    ]
    values += [
        f'    "{path} {option}") COMPREPLY=(); return ;;  # a value, perhaps a file'
        for path, parser in commands.items()
        for action in parser._actions
        if action.nargs != 0 and not action.choices
        for option in action.option_strings
    ]
    words = [f'    "{path}") candidates="{" ".join(_words(parser))}" ;;' for path, parser in commands.items()]
    paths = "|".join(path for path in commands if path)
    return _BASH.format(paths=paths, values="\n".join(values or ["    *) ;;"]), words="\n".join(words))


def _write_fish(commands: dict[str, argparse.ArgumentParser]) -> list[str]:
    lines = ["complete -c pabal -f"]
    for path, parser in commands.items():
        names = path.split("/")[1:]
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in names)
        condition = f'-n "{seen}"' if seen else "-n __fish_use_subcommand"
        for action in parser._actions:
            if not action.option_strings:
                lines += [f"complete -c pabal {condition} -a {name}" for name in action.choices or ()]
            value = "" if action.nargs == 0 else " -r -F"
            if action.choices:
                value = f' -r -f -a "{" ".join(map(str, action.choices))}"'
            options = [each.removeprefix("--") for each in action.option_strings if each.startswith("--")]
            lines += [f"complete -c pabal {condition} -l {option}{value}" for option in options]
    return lines
