import type { Command } from 'commander';
import { allow } from './allow.ts';
import { check } from './check.ts';
import { testPolicy } from './test.ts';

export function policy(program: Command): void {
  const command = program
    .command('policy')
    .description('check, test, try and add to policies and rules files');
  check(command);
  testPolicy(command);
  allow(command);
}
