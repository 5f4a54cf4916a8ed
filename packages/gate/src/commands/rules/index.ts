import type { Command } from 'commander';
import { init } from './init.ts';
import { promote } from './promote.ts';
import { report } from './report.ts';

export function rules(program: Command): void {
  const command = program
    .command('rules')
    .description('what the rules of the gateway ask, refuse and observe, and new ones in force');
  init(command);
  report(command);
  promote(command);
}
