import type { Command } from 'commander';
import { retire } from './retire.ts';

export function store(program: Command): void {
  const family = program.command('store').description('end the use of a store');
  retire(family);
}
