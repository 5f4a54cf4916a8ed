import type { Command } from 'commander';
import { adopt } from './adopt.ts';
import { retire } from './retire.ts';

export function store(program: Command): void {
  const family = program.command('store').description('move the work of a store to another store');
  adopt(family);
  retire(family);
}
