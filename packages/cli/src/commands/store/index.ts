import type { Command } from 'commander';
import { adopt } from './adopt.ts';
import { retire } from './retire.ts';
import { seal } from './seal.ts';

export function store(program: Command): void {
  const family = program
    .command('store')
    .description('seal the entries of a store, or move its work to another store');
  adopt(family);
  retire(family);
  seal(family);
}
