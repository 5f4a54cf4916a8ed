import type { Command } from 'commander';
import { registerStatements } from './assert.ts';
import { diff } from './diff.ts';
import { erase } from './erase.ts';
import { explain } from './explain.ts';
import { extract } from './extract.ts';
import { importFacts } from './import.ts';
import { rebuild } from './rebuild.ts';
import { history, recall } from './recall.ts';
import { spaces } from './spaces.ts';

export function memory(program: Command): void {
  const command = program
    .command('memory')
    .description('assert, recall, explain, import, extract, rebuild and erase facts');
  for (const register of [
    registerStatements,
    erase,
    recall,
    history,
    diff,
    explain,
    spaces,
    importFacts,
    extract,
    rebuild,
  ])
    register(command);
}
