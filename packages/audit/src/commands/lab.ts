import type { Command } from 'commander';

/** The group of the commands that try something on recorded work, and change nothing. */
export function lab(program: Command): void {
  program
    .command('lab')
    .description('try other policies, domains, models and rules on recorded work');
}
