import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededNumbers } from '../../../testing/src/faults.ts';
import type { Case } from './cases.ts';
import { PASTS, type Past } from './fixture.ts';

/** The seed of the ways that the tests try. Another seed puts other parts together. */
export const SEED = 20_260_323;

const read = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'calls', name), 'utf8');
const linesOf = (name: string): readonly string[] =>
  read(name)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replaceAll('␤', '\n'));

/** How many wrapped commands there are, each of one wrapper and one payload. */
const WRAPPED = 400;

/**
 * Ways round rules: every line of `calls/ways.txt` with one spelling of each place, wrapped
 * commands, and calls of other tools.
 */
export function waysRound(seed: number = SEED): readonly Case[] {
  const next = seededNumbers(seed);
  const pick = (list: readonly string[]): string => list[next(list.length)] as string;
  const ways = [...written(pick), ...wrapped(pick), ...ofTools()];
  const known = new Set<string>();
  return ways.filter((each) => {
    const key = JSON.stringify(each);
    const isNew = !known.has(key);
    known.add(key);
    return isNew;
  });
}

type Pick = (list: readonly string[]) => string;

function* written(pick: Pick): Generator<Case> {
  const places = {
    FILE: linesOf('spellings.txt'),
    OUT: linesOf('places.txt'),
    MIG: linesOf('migration-places.txt'),
  };
  let family = '';
  let past: Past = 'plain';
  let writes: Record<string, string> = {};
  for (const line of linesOf('ways.txt')) {
    const head = /^== (\S+)(?: past=(\S+))?$/.exec(line);
    const file = /^@ (\S+) = ([\s\S]*)$/.exec(line);
    if (head !== null) {
      family = head[1] as string;
      past = PASTS.find((each) => each === head[2]) ?? 'plain';
    } else if (file !== null) writes = { ...writes, [file[1] as string]: `${file[2]}\n` };
    else {
      const command = Object.entries(places).reduce(
        (text, [name, list]) => filledIn(text, name, pick(list)),
        line,
      );
      yield {
        family,
        call: { tool: 'Bash', input: { command } },
        ...(past !== 'plain' && { past }),
        ...(Object.keys(writes).length > 0 && { writes }),
      };
      writes = {};
    }
  }
}

/** A spelling with quotes of its own does not fit into quotes: the plain one stands there. */
function filledIn(text: string, name: string, spelling: string): string {
  const plain: Readonly<Record<string, string>> = {
    FILE: '.env',
    OUT: '../other/new',
    MIG: 'migrations/9.sql',
  };
  const inQuotes = new RegExp(`['"][^'"]*\\b${name}\\b|\\S\\b${name}\\b|\\b${name}\\b[^\\s;)}|&]`);
  const isPlain = /^[\w./]+$/.test(spelling);
  return text.replaceAll(
    new RegExp(`\\b${name}\\b`, 'g'),
    () => (isPlain || !inQuotes.test(text) ? spelling : plain[name]) as string,
  );
}

function* wrapped(pick: Pick): Generator<Case> {
  const payloads = linesOf('payloads.txt');
  const wrappers = linesOf('wrappers.txt');
  for (let i = 0; i < WRAPPED; i++) {
    const payload = pick(payloads);
    const wrapper = wrappers[i % wrappers.length] as string;
    const command = wrapper
      .replaceAll('CD', () => 'cd PROJECT;')
      .replaceAll(/\bCMD\b/g, () => payload);
    yield { family: 'wrappers', call: { tool: 'Bash', input: { command } } };
  }
}

function* ofTools(): Generator<Case> {
  for (const line of linesOf('tools.jsonl'))
    yield { family: 'tools', call: JSON.parse(line) as Case['call'] };
}
