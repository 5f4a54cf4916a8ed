import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { nextRuns, type QueuedRun, type WorkerLoad } from './schedule.ts';

const tenant = fc.constantFrom('a', 'b', 'c', 'd');

const queue = fc
  .array(fc.record({ tenant, since: fc.nat(50) }), { maxLength: 40 })
  .map((runs): QueuedRun[] =>
    runs.map(({ tenant, since }, n) => ({
      trajectoryId: `t${n}`,
      tenant,
      since: `2026-01-01T00:00:${String(since).padStart(2, '0')}.000000Z`,
    })),
  );

const load: fc.Arbitrary<WorkerLoad> = fc.record({
  carrying: fc
    .dictionary(tenant, fc.integer({ min: 0, max: 4 }))
    .map((counts) => new Map(Object.entries(counts))),
  perTenant: fc.integer({ min: 1, max: 4 }),
  slots: fc.integer({ min: 0, max: 12 }),
  last: fc.option(tenant, { nil: undefined }),
});

/** One run at a time: the next tenant in a circle that may begin one, and its oldest run. */
function model(
  queued: readonly QueuedRun[],
  { carrying, perTenant, slots, last }: WorkerLoad,
): string[] {
  const circle = ['a', 'b', 'c', 'd'];
  const counts = new Map(carrying);
  const left = [...queued];
  const begun: string[] = [];
  let at = last === undefined ? 0 : circle.indexOf(last) + 1;
  for (let passed = 0; passed < circle.length && begun.length < slots; at++) {
    const name = circle[at % circle.length]!;
    const own = left.filter((run) => run.tenant === name);
    const rank = ({ since, trajectoryId }: QueuedRun) => `${since} ${trajectoryId}`;
    const oldest = own.reduce<QueuedRun | undefined>(
      (best, run) => (best === undefined || rank(run) < rank(best) ? run : best),
      undefined,
    );
    if (oldest === undefined || (counts.get(name) ?? 0) >= perTenant) {
      passed++;
      continue;
    }
    passed = 0;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    left.splice(left.indexOf(oldest), 1);
    begun.push(oldest.trajectoryId);
  }
  return begun;
}

test('runs begin as in a circle of tenants, each with its oldest run', () => {
  fc.assert(
    fc.property(queue, load, (queued, given) => {
      expect(nextRuns(queued, given).map(({ trajectoryId }) => trajectoryId)).toEqual(
        model(queued, given),
      );
    }),
    { numRuns: cases(2_000) },
  );
});

test('a tenant with a thousand runs delays another tenant by one run', () => {
  const at = (n: number): string => `2026-01-01T00:00:00.${String(n).padStart(6, '0')}Z`;
  let queued: QueuedRun[] = Array.from({ length: 1_000 }, (_, n) => ({
    trajectoryId: `busy${n}`,
    tenant: 'busy',
    since: at(n),
  }));
  let last: string | undefined;
  const begun: string[] = [];
  for (let step = 0; step < 10; step++) {
    if (step === 3) queued = [...queued, { trajectoryId: 'late', tenant: 'z', since: at(5_000) }];
    const [next] = nextRuns(queued, { carrying: new Map(), perTenant: 1, slots: 1, last });
    last = next!.tenant;
    begun.push(next!.trajectoryId);
    queued = queued.filter((run) => run !== next);
  }
  expect(begun.indexOf('late')).toBeLessThanOrEqual(4);
});
