/** The suite finds the planted fault of each driver, and finds no other one. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runConformance, SCENARIOS } from '#conformance';
import { someOf } from '../../../tests/support/some-of.ts';
import { type Fault, guideDriver } from './support/conformance/guide-driver.ts';

const ANSWER = 'const { decision, person } = answers[id] ?? {};';
const ASKS = "if ((await asks()) !== true) return told('the program does not say who decides');";
const DECIDED = "const isApproved = read(path('decided', run, id));";
const BEGIN = "if (first(path('begun', run, id), true)) first(";
const EFFECT = 'effect({ run, call: id, tool, args })';
const SAME = '[asked.tool, asked.args], [tool, args]';
const START = '(write(run, calls), goOn(run))';
const FORGET =
  "for (const kind of ['asked', 'begun', 'result']) process.getBuiltinModule('fs').rmSync(path(kind, run, id), { force: true });";

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
      ...[
        'concurrent-approvals',
        'crash-recorded',
        'crash-reply-lost',
        'crash-sent',
        'double-resume',
      ],
      ...['fork-after-effect', 'retry-after-timeout', 'siblings'],
    ],
  ],
  [
    'takes every answer for an approval',
    [ANSWER, "const { decision, person } = { decision: 'approve', person: 'boss:ann' };"],
    [
      ...[
        'denied-then-approved',
        'no-decision',
        'no-person',
        'one-of-two',
        'other-run',
        'stale-answer',
      ],
      'unusable-answer',
    ],
  ],
  [
    'takes null for an approval',
    [
      `${ANSWER}\n`,
      `const person = answers[id]?.person, decision = answers[id]?.decision ?? (person && 'approve');\n`,
    ],
    ['no-decision'],
  ],
  [
    'takes an answer for the call that waits',
    [ANSWER, 'const { decision, person } = Object.values(answers)[0] ?? {};'],
    ['one-of-two', 'other-run', 'stale-answer'],
  ],
  [
    'takes every word for an approval',
    ["decision === 'approve' ? true", "decision && decision !== 'reject' ? true"],
    ['unusable-answer'],
  ],
  ['takes an approval of no person', [' && isNamed', ''], ['no-person']],
  ['trusts the stored arguments', [SAME, 'asked.tool, tool'], ['tampered-arguments']],
  ['trusts the stored tool', [SAME, 'asked.args, args'], ['other-tool']],
  [
    'forgets a call with its message, and not its approval',
    [START, `(calls.forEach(({ id }) => { ${FORGET} }), ${START.slice(1)}`],
    ['repeated-id'],
  ],
  [
    'takes an approval for later calls too',
    [DECIDED, `${DECIDED.slice(0, -1)} ?? (read(path('decided', run, 'p1')) || undefined);`],
    ['new-id-after-error'],
  ],
  [
    'takes the last decision',
    [
      "first(path('decided', run, id), isApproved)",
      "writeFileSync(path('decided', run, id), JSON.stringify(isApproved))",
    ],
    ['denied-then-approved'],
  ],
  ['has no expiry', [' && !isLate', ''], ['expired']],
  [
    'goes on without a silent hook',
    [ASKS, `if (settings.hook === 'silent') return told(await ${EFFECT}, false);`],
    ['silent-hook'],
  ],
  [
    'goes on with an answer of the hook that it does not know',
    [ASKS, `if ((await asks()) !== true) return told(await ${EFFECT}, false);`],
    ['unusable-hook'],
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
    [
      "throw new Error('a call was started, and its outcome is not known');",
      "return told('done', false);",
    ],
    ['crash-recorded', 'crash-reserved'],
  ],
];

/** The scenarios of whole runs. The driver of the guide says that it cannot run them. */
const RUNS = SCENARIOS.filter(({ needs }) => needs.includes('ends')).map(({ name }) => name);

/** The scenarios that do not pass, of those that have to fail and of some that have to pass. */
async function failedOf(
  fails: readonly string[],
  ...faults: readonly Fault[]
): Promise<readonly string[]> {
  const { file } = guideDriver(...faults);
  const others = SCENARIOS.map(({ name }) => name).filter((name) => !fails.includes(name));
  const scenarios = [...fails, ...(faults.length === 0 ? others : someOf(others))];
  const { verdicts, isConforming } = await runConformance({
    driver: [process.execPath, file],
    scenarios,
  });
  expect(verdicts.length).toBeGreaterThanOrEqual(scenarios.length);
  const failed = verdicts
    .filter(({ scenario, verdict }) => verdict !== (RUNS.includes(scenario) ? 'n.a.' : 'pass'))
    .map(({ scenario }) => scenario);
  expect(isConforming).toBe(failed.length === 0);
  return failed.sort();
}

test('a sound driver passes every scenario', async () => {
  expect(await failedOf([])).toEqual([]);
});

test.each(FAULTS)('a driver that %s fails its scenarios, and no other', async (_, fault, fails) => {
  expect(await failedOf(fails, fault)).toEqual(fails);
});

test('a program without a gate fails every scenario of whole runs', async () => {
  const file = join(import.meta.dirname, '../../../peers/drivers/no-gate.driver.ts');
  const { verdicts } = await runConformance({
    ...{ driver: [process.execPath, file], scenarios: RUNS },
  });
  expect(verdicts.map(({ scenario, findings }) => [scenario, findings[0]?.kind])).toEqual([
    ['approved-once', undefined],
    ['lost-change', 'lost-change'],
    ['failed-run', 'not-taken-back'],
    ['crash-goes-on', 'made-twice'],
    ['crash-taken-back', 'not-taken-back'],
    ['endless-run', 'lost-change'],
  ]);
});

test('every scenario but the control has a driver that fails it', () => {
  const found = new Set([...RUNS, ...FAULTS.flatMap(([, , fails]) => fails)]);
  const [, ...others] = SCENARIOS.map(({ name }) => name);
  expect(others.filter((name) => !found.has(name))).toEqual([]);
});

describe('a driver without a sound approval is not judged further', () => {
  test.each<readonly [string, Fault, string]>([
    ['makes nothing', [`await ${EFFECT}`, "'done'"], 'approved, and not made'],
    [
      'makes each call twice',
      [`await ${EFFECT}`, `(await ${EFFECT}, await ${EFFECT})`],
      'made 2 times',
    ],
    [
      'makes another call',
      [`await ${EFFECT}`, `await ${EFFECT.replace('args', "args: { ...args, to: 'eve' }")}`],
      'eve',
    ],
    [
      'makes a call before it asks',
      [
        'if (isApproved === undefined) return undefined;',
        `if (isApproved === undefined) return first(path('begun', run, id), true) && first(path('result', run, id), await ${EFFECT}), undefined;`,
      ],
      'made before its approval',
    ],
    [
      'asks no person',
      ["if (tool !== 'note')", "if (tool === 'note')"],
      'has to wait for a person about p1',
    ],
  ])('%s', async (_, fault, why) => {
    const { file } = guideDriver(fault);
    const { verdicts, isConforming } = await runConformance({
      ...{ driver: [process.execPath, file], scenarios: ['no-decision'] },
    });
    expect(isConforming).toBe(false);
    expect(verdicts).toMatchObject([
      { scenario: 'approved-once', verdict: 'fail' },
      {
        scenario: 'no-decision',
        verdict: 'error',
        reasons: ['not judged, as approved-once did not pass'],
      },
    ]);
    expect(verdicts[0]!.reasons.join()).toContain(why);
  });
});
