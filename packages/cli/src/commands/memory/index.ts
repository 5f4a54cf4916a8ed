import type { Command } from 'commander';
import { registerStatements } from './assert.ts';
import { diff } from './diff.ts';
import { erase } from './erase.ts';
import { explain } from './explain.ts';
import { importFacts } from './import.ts';
import { rebuild } from './rebuild.ts';
import { history, recall } from './recall.ts';
import { restsOn } from './rests-on.ts';
import { spaces } from './spaces.ts';
import { withdraw } from './withdraw.ts';

export function memory(program: Command): void {
  const command = program
    .command('memory')
    .description(
      'assert, recall, remember, explain, import, extract, withdraw, repair, rebuild and erase facts',
    );
  for (const register of [
    registerStatements,
    withdraw,
    erase,
    recall,
    history,
    diff,
    explain,
    restsOn,
    spaces,
    importFacts,
    rebuild,
  ])
    register(command);
}
