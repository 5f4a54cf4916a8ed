import type { Command } from 'commander';
import { ASSIZE, program } from '../../packages/cli/src/program.ts';

/** The page of all commands: the help of each, in the groups of the help of `assize`. */
export async function commandsPage(): Promise<string> {
  const whole = await program(['help', '--all'], ASSIZE);
  const groups = Map.groupBy(whole.commands, (command) => command.helpGroup() ?? '');
  const parts = [...groups].map(
    ([group, commands]) => `## ${group.replace(/:$/, '')}\n\n${commands.map(section).join('\n')}`,
  );
  return `# Commands\n\nWhat \`assize help COMMAND\` prints, for every command.\n\n${parts.join('\n')}`;
}

function section(command: Command): string {
  const own = command.commands.filter((each) => each.name() !== 'help');
  const path = pathOf(command);
  const level = '#'.repeat(path.split(' ').length + 1);
  return `${level} ${path}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n\n${own.map(section).join('\n')}`;
}

function helpOf(command: Command): string {
  let text = '';
  const writeOut = (part: string): void => {
    text += part;
  };
  command.configureOutput({ writeOut }).outputHelp();
  return text.trimEnd();
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
