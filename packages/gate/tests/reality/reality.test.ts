import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spread } from '../../../../tests/support/some-of.ts';
import { seededNumbers } from '../../../testing/src/faults.ts';
import { CEILINGS } from './ceilings.ts';
import { everydayCalls } from './everyday.ts';
import { Reality } from './reality.ts';
import { RULE_SETS } from './rule-sets.ts';
import { whyNoSandbox } from './runner.ts';
import { countsOf, type Finding, findingsUnder, tableOf } from './verdicts.ts';
import { waysRound } from './ways.ts';

// The seed of the run chooses a part of ceilings.long.test.ts.

const WAYS = 120;
const EVERYDAY = 20;
const why = whyNoSandbox();
const title = why === undefined ? 'sampled calls' : 'sampled calls (absent without bubblewrap)';

describe.skipIf(why !== undefined)(title, () => {
  let reality: Reality;
  let findings: ReadonlyMap<string, readonly Finding[]>;

  beforeAll(async () => {
    const next = seededNumbers(Number(process.env['ASSIZE_SEED'] ?? 0));
    const ways = waysRound().filter(({ writes }) => writes === undefined);
    reality = new Reality([
      ...spread(ways, WAYS, next),
      ...spread(everydayCalls(), EVERYDAY, next),
    ]);
    findings = await findingsUnder(reality, RULE_SETS);
  });

  afterAll(() => reality?.remove());

  test.each(RULE_SETS.map(({ name }) => name))('keep to the ceilings under %s', (name) => {
    const own = findings.get(name) ?? [];
    const table = tableOf(name, own);
    const ceilings = CEILINGS[name];
    for (const kind of ['fault', 'needless'] as const)
      for (const [family, count] of Object.entries(countsOf(own)[kind]))
        expect(count, `${kind} in ${family}\n${table}`).toBeLessThanOrEqual(
          ceilings?.[kind][family] ?? 0,
        );
  });
});
