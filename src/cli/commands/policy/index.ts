import type { Command } from 'commander';
import { check } from './check.ts';

export function policy(program: Command): void {
  check(program.command('policy').description('check rule tables'));
}
