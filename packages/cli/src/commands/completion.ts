import { EXIT, inSession, withoutStore } from '@assize/command';
import { Argument, type Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function completion(program: Command): void {
  withoutStore(
    program
      .command('completion')
      .description('print the script that completes commands and options in a shell')
      .addArgument(new Argument('<shell>').choices(SHELLS)),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  eval "$(assize completion bash)"\n  assize completion fish > ~/.config/fish/completions/assize.fish\n',
    )
    .action(
      inSession(async ({ out }, _options: object, shell: (typeof SHELLS)[number]) => {
        const cases = casesOf(program).reverse();
        await out.piece(shell === 'fish' ? fish(cases) : bash(cases, shell === 'zsh'));
        return EXIT.ok;
      }),
    );
}

/** A command line so far, ending with a space, and the words that can follow. */
interface Case {
  readonly line: string;
  readonly words: string;
}

/** A command before its subcommands. */
function casesOf(command: Command, line = ''): Case[] {
  const shown = command.commands.filter((one) => one.name() !== 'hook');
  const names = shown.map((one) => one.name());
  const options = command.options.flatMap(({ long }) => long ?? []);
  return [
    { line, words: [...names, ...options, '--help'].join(' ') },
    ...shown.flatMap((one) => casesOf(one, `${line}${one.name()} `)),
  ];
}

/** Zsh runs the script of bash. */
function bash(cases: readonly Case[], isZsh: boolean): string {
  const choices = cases.map(({ line, words }) => `    '${line}'*) words='${words}' ;;`);
  return `${isZsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_assize() {
  local words line="\${COMP_WORDS[*]:1:COMP_CWORD-1} "
  case "\${line# }" in
${choices.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _assize assize
`;
}

function fish(cases: readonly Case[]): string {
  const choices = cases.map(
    ({ line, words }) => `    case '${line}*'\n      string split ' ' '${words}'`,
  );
  return `function __assize_words
  set -l line (string join ' ' (commandline -opc)[2..] '')
  switch "$line"
${choices.join('\n')}
  end
end
complete -c assize -a '(__assize_words)'
`;
}
