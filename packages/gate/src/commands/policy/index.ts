import type { Command } from 'commander';
import { check } from './check.ts';
import { testPolicy } from './test.ts';

export function policy(program: Command): void {
  const command = program
    .command('policy')
    .description('check, test and try policies and rules files');
  check(command);
  testPolicy(command);
}
