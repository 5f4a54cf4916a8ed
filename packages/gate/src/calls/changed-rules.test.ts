/** Questions that are open when the rules change. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { desk } from '../../../../tests/support/domains/gateway/desk.ts';
import { writFor } from '../../../../tests/support/ledger/runtime.ts';
import { configuration, readRules } from '../gateway/index.ts';
import { decideCall } from './decide-call.ts';
import { LocalWorld } from './local-world.ts';

type Effect = 'allow' | 'ask' | 'deny';
type Table = Readonly<Record<string, Effect>>;
const TOOLS = ['a', 'b', 'c'];

const effect = fc.constantFrom<Effect>('allow', 'ask', 'deny');
const table = fc.record(
  Object.fromEntries(TOOLS.map((tool) => [tool, effect])),
) as fc.Arbitrary<Table>;
const step = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...TOOLS) as fc.Arbitrary<string | Table> },
  { weight: 1, arbitrary: table as fc.Arbitrary<string | Table> },
);

/** Each file has another reason, so that an old answer is seen. */
const rulesOf = (table: Table, number: number): string =>
  [
    'id: changing',
    'tools:',
    ...TOOLS.map((tool) => `  shop/${tool}: { class: reversible }`),
    'rules:',
    ...Object.entries(table).map(
      ([tool, effect]) => `  - { id: ${tool}, ${effect}: shop/${tool}, because: file ${number} }`,
    ),
    '',
  ].join('\n');

const KINDS = { allow: 'allowed', ask: 'pending', deny: 'denied' } as const;

test('a call is answered by the rules of now, whatever was asked before', async () => {
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.array(step, { minLength: 3, maxLength: 12 }),
      async (first, steps) => {
        const { trajectory, store, clock, act } = await desk(rulesOf(first, 0), { policy: false });
        const world = new LocalWorld({
          ...{ store, clock, trajectory: trajectory as never },
          ...{ principal: 'agent:ada', writ: writFor('agent:ada') },
        });
        let [now, files, calls] = [first, 0, 0];
        for (const each of steps) {
          if (typeof each !== 'string') {
            now = each;
            files += 1;
            const { rules } = readRules(rulesOf(now, files));
            expect(await act('configure', configuration(rules) as never)).toMatchObject({
              ruling: 'committed',
            });
            continue;
          }
          calls += 1;
          const call = { id: `call-${calls}`, server: 'shop', tool: each, args: {} };
          const answer = await decideCall(world, call, { waitMs: 0 });
          expect(answer.kind).toBe(KINDS[now[each] as Effect]);
          if (answer.kind === 'pending' || answer.kind === 'denied')
            expect(answer.reason).toContain(`file ${files}`);
        }
      },
    ),
    { numRuns: cases(400) },
  );
});
