/** The suite finds the planted fault of each driver, and finds no other one. */
import { describe, expect, test } from 'vitest';
import { runConformance, SCENARIOS } from '#conformance';
import { type Fault, guideDriver } from '../support/conformance/guide-driver.ts';

const DECISION = 'const decision = answers[id]?.decision;';
const BEGIN = "if (first(path('begun', run, id), true)) first(";
const EFFECT = 'effect({ run, call: id, tool, args })';

const FAULTS: readonly (readonly [fault: string, from: Fault, fails: readonly string[]])[] = [
  [
    'records only results',
    [BEGIN, "if (!existsSync(path('result', run, id))) first("],
    ['concurrent-approvals', 'crash-reply-lost', 'crash-sent', 'retry-after-timeout'],
  ],
  [
    'makes a call whenever a run goes on',
    [BEGIN, 'first('],
    [
      ...['concurrent-approvals', 'crash-recorded', 'crash-reply-lost', 'crash-sent', 'double-resume'],
      ...['fork-after-effect', 'retry-after-timeout', 'siblings'],
    ],
  ],
  [
    'takes every answer for an approval',
    [DECISION, "const decision = 'approve';"],
    ['denied-then-approved', 'no-decision', 'one-of-two', 'other-run', 'stale-answer'],
  ],
  [
    'takes null for an approval',
    [DECISION, "const decision = id in answers ? (answers[id]?.decision ?? 'approve') : undefined;"],
    ['no-decision'],
  ],
  [
    'takes an answer for the call that waits',
    [DECISION, 'const decision = Object.values(answers)[0]?.decision;'],
    ['one-of-two', 'other-run', 'stale-answer'],
  ],
  ['trusts the stored arguments', ["read(path('asked', run, id)).args, args", 'args, args'], ['tampered-arguments']],
  [
    'takes the last decision',
    ["first(path('decided', run, id), decision)", "writeFileSync(path('decided', run, id), JSON.stringify(decision))"],
    ['denied-then-approved'],
  ],
  ['has no expiry', [' && !isLate', ''], ['expired']],
  [
    'goes on without a silent hook',
    ['await new Promise(() => {});', `return told(await ${EFFECT}, false);`],
    ['silent-hook'],
  ],
  [
    'shows other arguments',
    [
      '({ id, ...shown }) => ({ call: id, ...shown })),\n  };',
      "({ id, tool }) => ({ call: id, tool, args: { to: 'bob' } })),\n  };",
    ],
    ['shown-is-made'],
  ],
  [
    'tells of a success that it does not know',
    ["throw new Error('a call was begun, and its outcome is not known');", "return told('done', false);"],
    ['crash-recorded', 'crash-reserved'],
  ],
];

async function failedOf(...faults: readonly Fault[]): Promise<readonly string[]> {
  const { file } = guideDriver(...faults);
  const { verdicts, isConforming } = await runConformance({ driver: [process.execPath, file] });
  expect(verdicts).toHaveLength(SCENARIOS.length);
  const failed = verdicts.filter(({ verdict }) => verdict !== 'pass').map(({ scenario }) => scenario);
  expect(isConforming).toBe(failed.length === 0);
  return failed.sort();
}

test('a sound driver passes every scenario', async () => {
  expect(await failedOf()).toEqual([]);
});

test.each(FAULTS)('a driver that %s fails its scenarios, and no other', async (_, fault, fails) => {
  expect(await failedOf(fault)).toEqual(fails);
});

test('every scenario but the control has a driver that fails it', () => {
  const found = new Set(FAULTS.flatMap(([, , fails]) => fails));
  const [, ...others] = SCENARIOS.map(({ name }) => name);
  expect(others.filter((name) => !found.has(name))).toEqual([]);
});

describe('a driver without a sound approval is not judged further', () => {
  test.each<readonly [string, Fault, string]>([
    ['makes nothing', [`await ${EFFECT}`, "'done'"], 'approved, and not made'],
    ['makes each call twice', [`await ${EFFECT}`, `(await ${EFFECT}, await ${EFFECT})`], 'made 2 times'],
    [
      'makes another call',
      [`await ${EFFECT}`, `await ${EFFECT.replace('args', "args: { ...args, to: 'eve' }")}`],
      'eve',
    ],
    ['asks no person', ["if (tool === 'pay')", "if (tool === 'note')"], 'has to wait for a person about p1'],
  ])('%s', async (_, fault, why) => {
    const { file } = guideDriver(fault);
    const { verdicts, isConforming } = await runConformance({
      ...{ driver: [process.execPath, file], scenarios: ['no-decision'] },
    });
    expect(isConforming).toBe(false);
    expect(verdicts).toMatchObject([
      { scenario: 'approved-once', verdict: 'fail' },
      { scenario: 'no-decision', verdict: 'error', reasons: ['not judged, as approved-once did not pass'] },
    ]);
    expect(verdicts[0]!.reasons.join()).toContain(why);
  });
});
