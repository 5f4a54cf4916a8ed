import { describe, expect, test } from 'vitest';
import { disclosureInitial } from './index.ts';
import { Office, SETTINGS } from './testing/office.ts';
import { type Move, movesOf, type Node, reached, type Walked, walk } from './testing/walk.ts';

/**
 * Registered vulnerabilities, each with its own organisation and agents, in the settings of the
 * tests.
 */
async function registered(...things: readonly ('a' | 'b')[]): Promise<Node> {
  const office = await Office.open({ initial: disclosureInitial(SETTINGS) });
  for (const v of things) await office.registered(v, v === 'a' ? {} : { organisation: 'beta' });
  return {
    state: office.state,
    model: { today: 0, things: Object.fromEntries(things.map((v) => [v, {}])) },
    path: [],
  };
}

function some(v: string, ...names: readonly string[]): Record<string, Move> {
  const all = movesOf(v);
  return Object.fromEntries(names.map((name) => [`${v}: ${name}`, all[name] as Move]));
}

function taken(v: string, ...names: readonly string[]): (readonly [string, Move])[] {
  return Object.entries(some(v, ...names));
}

function expectAgreement(
  walked: Walked,
  { states, disclosures }: { states: number; disclosures: number },
): void {
  expect(walked.disagreements.slice(0, 10)).toEqual([]);
  expect({ states: walked.states, disclosures: walked.disclosures }).toEqual({
    states,
    disclosures,
  });
}

const UNDER_EMBARGO = ['report', 'receipt', 'embargo', 'join'];
const WAIT = 'wait a month and a half';

describe('for any proposals in any order the kernel follows the policy exactly', () => {
  test('of one vulnerability, from its discovery on, 12 proposals deep', async () => {
    const patch = ['develop', 'good', 'bad', 'release'];
    const record = ['say where the patch is', 'say why there is none', 'disclose'];
    const walked = walk(
      await registered('a'),
      12,
      some('a', ...UNDER_EMBARGO, ...patch, ...record, WAIT),
    );
    expectAgreement(walked, { states: 5_750, disclosures: 134 });
  });

  test('of one vulnerability, with its triage, 7 proposals deep', async () => {
    const names = ['triage', ...UNDER_EMBARGO, 'leak', 'say why there is none', 'disclose'];
    const walked = walk(await registered('a'), 7, some('a', ...names, WAIT));
    expectAgreement(walked, { states: 589, disclosures: 23 });
  });

  test.each([
    ['that is under embargo', [], { states: 2_305, disclosures: 47 }],
    ['whose embargo is over', [WAIT, WAIT], { states: 2_779, disclosures: 86 }],
  ])('of one %s, with all that may happen, 6 deep', async (_, waits, found) => {
    const { report, 'wait a week': week, ...moves } = movesOf('a');
    const path = [...UNDER_EMBARGO, ...waits].flatMap((name) => taken('a', name));
    expectAgreement(walk(reached(await registered('a'), path), 6, moves), found);
  });

  test.each([
    ['a reviewed patch', [], { states: 6_192, disclosures: 34 }],
    ['a released one', ['release'], { states: 2_943, disclosures: 145 }],
  ])('of two in a group, each with %s, 6 deep', async (_, last, found) => {
    const before = [...UNDER_EMBARGO, 'develop', 'good', ...last];
    const path = [
      ...before.flatMap((name) => taken('a', name)),
      ...before.flatMap((name) => taken('b', name)),
    ];
    const start = reached(await registered('a', 'b'), [...path, ...taken('a', WAIT)]);
    const names = [
      'release',
      'say where the patch is',
      'disclose',
      'extend',
      'cve',
      'leave',
      'leak',
      'join',
    ];
    const moves = {
      ...some('a', ...names, WAIT),
      ...some('b', ...names, 'say where the patch is, and the CVE'),
    };
    expectAgreement(walk(start, 6, moves), found);
  });
});
