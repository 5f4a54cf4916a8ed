import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Case } from './cases.ts';
import type { Effects } from './effects.ts';
import { everydayCalls } from './everyday.ts';
import { Reality } from './reality.ts';
import { KINDS, RULE_SETS, type RuleSet, SANDBOXED_SETS } from './rule-sets.ts';
import { findingsInside, findingsOf, tableOf } from './verdicts.ts';
import { waysRound } from './ways.ts';

// npm run reality [-- --calls FILE… --everyday FILE… --rules FILE…] [--kept FILE] [--all]
// npm run reality -- --sandbox [--calls FILE… --everyday FILE… --rules FILE…]
// Judges calls, runs them in a sandbox, and prints which ones were let through and reached what the
// rules stop, and which were asked about without need. Without files: the project's own calls.
// A file of calls has one a line: {"tool": …, "input": …}. PROJECT, HOME and ELSEWHERE in it stand
// for folders. --sandbox: commands run in the sandbox of their rules. --kept: a file that keeps the
// effects of calls. --all: prints the verdicts and the effects of each call in a line.

const words = process.argv.slice(2);
const given = (name: string): string[] =>
  words.flatMap((word, i) => (word === name ? [words[i + 1] as string] : []));
const callsIn = (path: string): Case['call'][] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Case['call']);
const isOwn = given('--calls').length + given('--everyday').length === 0;
const cases: Case[] = [
  ...(isOwn ? [...waysRound(), ...everydayCalls()] : []),
  ...given('--calls').flatMap((path) => callsIn(path).map((call) => ({ family: path, call }))),
  ...given('--everyday').flatMap((path) =>
    callsIn(path).map((call) => ({ family: path, call, everyday: true })),
  ),
];
const isSandboxed = words.includes('--sandbox');
const own = isSandboxed ? SANDBOXED_SETS : RULE_SETS;
const sets: readonly RuleSet[] = [
  ...(isOwn ? own : own.filter(({ name }) => name === 'first')),
  ...given('--rules').map((path) => ({
    name: path,
    text: readFileSync(path, 'utf8'),
    stops: KINDS,
  })),
];
const reality = new Reality(cases);
try {
  if (isSandboxed)
    for (const set of sets) console.log(tableOf(set.name, await findingsInside(reality, set)));
  else await printAll();
} finally {
  reality.remove();
}

async function printAll(): Promise<void> {
  const verdicts = await reality.judge(sets.map(({ text }) => ({ rules: text })));
  const effects = await effectsOf(reality, given('--kept')[0]);
  for (const [name, found] of findingsOf(reality, sets, verdicts, effects))
    console.log(tableOf(name, found));
  if (words.includes('--all'))
    for (const [i, { at, call }] of reality.placed.entries())
      console.log(
        JSON.stringify({
          family: at.family,
          call,
          verdicts: verdicts[i]!.map(({ was }) => was),
          effects: effects.get(i),
        }),
      );
}

/** The effects of the cases. A file may keep those that an earlier run saw. */
async function effectsOf(
  reality: Reality,
  kept: string | undefined,
): Promise<ReadonlyMap<number, Effects>> {
  const known: Record<string, Effects> =
    kept !== undefined && existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {};
  const places = reality.placed.map((_, i) => i);
  const ran = await reality.run(places.filter((i) => known[reality.keyOf(i)] === undefined));
  for (const [i, effects] of ran) known[reality.keyOf(i)] = effects;
  if (kept !== undefined) writeFileSync(kept, JSON.stringify(known));
  return new Map(places.map((i) => [i, known[reality.keyOf(i)] as Effects]));
}
