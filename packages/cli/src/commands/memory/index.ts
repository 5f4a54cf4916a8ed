import type { Command } from 'commander';
import { ask } from './ask.ts';
import { registerStatements } from './assert.ts';
import { diff } from './diff.ts';
import { erase } from './erase.ts';
import { explain } from './explain.ts';
import { extract } from './extract.ts';
import { importFacts } from './import.ts';
import { rebuild } from './rebuild.ts';
import { history, recall } from './recall.ts';
import { remember } from './remember.ts';
import { repair } from './repair.ts';
import { restsOn } from './rests-on.ts';
import { spaces } from './spaces.ts';
import { withdraw } from './withdraw.ts';

export function memory(program: Command): void {
  const command = program
    .command('memory')
    .description('assert, recall, remember, explain, import, extract, withdraw, repair, rebuild and erase facts');
  for (const register of [
    registerStatements,
    withdraw,
    repair,
    erase,
    recall,
    remember,
    ask,
    history,
    diff,
    explain,
    restsOn,
    spaces,
    importFacts,
    extract,
    rebuild,
  ])
    register(command);
}
