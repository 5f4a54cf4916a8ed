import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readScope } from '#authority';
import { cases } from '../../../../tests/support/cases.ts';
import { Coordinator, type Work } from './coordinator.ts';
import { type Access, type Claim, conflicts } from './scopes.ts';

const claimOf = (scope: string, access: Access = 'write'): Claim => ({
  scope: readScope(scope),
  access,
});
const a = claimOf('fs:/a');
const b = claimOf('fs:/b');

describe('work', () => {
  test('gets unique epochs from 1, and may act immediately if none is older', () => {
    const coordinator = new Coordinator();
    const [one, two] = [coordinator.begin([a]), coordinator.begin([b])];
    expect([one.epoch, two.epoch, coordinator.last]).toEqual([1, 2, 2]);
    expect([coordinator.blocker(one, a), coordinator.blocker(two, b)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(coordinator.blocker(two, a)).toBe(1);
  });

  test('waits for older work that conflicts, until that ends or gives it up', async () => {
    const coordinator = new Coordinator();
    const [one, two, three] = [
      coordinator.begin([a, b]),
      coordinator.begin([a]),
      coordinator.begin([b]),
    ];
    const order: string[] = [];
    const waiting = [
      coordinator.whenClear(two).then(() => order.push('two')),
      coordinator.whenClear(three).then(() => order.push('three')),
    ];
    await Promise.resolve();
    expect(order).toEqual([]);
    coordinator.release(one, [b]);
    await waiting[1];
    expect(order).toEqual(['three']);
    coordinator.end(one);
    await waiting[0];
    expect(order).toEqual(['three', 'two']);
  });

  test('keeps no reference to cancelled waiters', async () => {
    const coordinator = new Coordinator();
    const one = coordinator.begin([a]);
    const woken: number[] = [];
    for (let n = 0; n < 3; n++) {
      const controller = new AbortController();
      const { signal } = controller;
      const two = coordinator.begin([a]);
      const waiting = coordinator.whenClear(two, [a], signal);
      // Each waiter that wakes up removes its listener.
      signal.removeEventListener = () => void woken.push(n);
      controller.abort(new Error('too late'));
      await expect(waiting).rejects.toThrow('too late');
      coordinator.end(two);
    }
    coordinator.end(one);
    expect(woken).toEqual([0, 1, 2]);
  });

  test('that only reads waits for no reader, and for writers', () => {
    const coordinator = new Coordinator();
    const read = claimOf('fs:/a', 'read');
    coordinator.begin([read]);
    const second = coordinator.begin([read]);
    expect(coordinator.blocker(second, read)).toBeUndefined();
    expect(coordinator.blocker(second, a)).toBe(1);
  });

  test('that comes late where younger work has acted is stale, by name', () => {
    const coordinator = new Coordinator();
    const one = coordinator.begin([b]);
    const two = coordinator.begin([a]);
    coordinator.recordAct(two, a);
    coordinator.end(two);
    const wide = claimOf('fs:/**');
    expect(coordinator.expand(one, [claimOf('fs:/c'), wide])).toEqual({
      epoch: 1,
      by: 2,
      claim: wide,
    });
    expect(one.claims).toEqual([b]);
    expect(coordinator.expand(one, [claimOf('fs:/c')])).toBeUndefined();
    expect(coordinator.begin([a]).epoch).toBe(3);
  });

  test('that comes late just as younger work is admitted is stale, without a gap', async () => {
    const coordinator = new Coordinator();
    const [oldest, older, younger] = [
      coordinator.begin([a]),
      coordinator.begin([b]),
      coordinator.begin([a]),
    ];
    const entered = coordinator.acquire(younger, [a]);
    coordinator.end(oldest);
    // In the very turn in which the younger one is woken.
    const late = Promise.resolve().then(() => coordinator.expand(older, [a]));
    await entered;
    expect(await late).toEqual({ epoch: 2, by: 3, claim: a });
  });

  test('that is cancelled waits no longer, and leaves the others waiting', async () => {
    const coordinator = new Coordinator();
    const [one, two] = [coordinator.begin([a]), coordinator.begin([a])];
    const abort = new AbortController();
    const cancelled = coordinator.whenClear(two, [a], abort.signal);
    const other = coordinator.whenClear(two);
    abort.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    coordinator.end(one);
    await other;
  });

  test('that waits in one queue is woken when it is next, at any queue length', async () => {
    const coordinator = new Coordinator();
    let looks = 0;
    const counted = Object.assign([a], {
      *[Symbol.iterator]() {
        looks++;
        yield a;
      },
    });
    const holder = coordinator.begin([a]);
    const waiting = Array.from({ length: 50 }, async () => {
      const work = coordinator.begin([a]);
      await coordinator.whenClear(work, counted);
      coordinator.end(work);
    });
    coordinator.end(holder);
    await Promise.all(waiting);
    expect(looks).toBe(2 * 50);
  });

  test('of an earlier process is put in again under its epoch', () => {
    const coordinator = new Coordinator(7);
    coordinator.resume(3, [a]);
    expect(coordinator.oldest).toBe(3);
    const next = coordinator.begin([a]);
    expect([next.epoch, coordinator.blocker(next, a)]).toEqual([8, 3]);
  });

  test('that has ended is gone, and later calls for it have no effect', () => {
    const coordinator = new Coordinator();
    const one = coordinator.begin([a]);
    coordinator.end(one);
    coordinator.end(one);
    coordinator.release(one, [a]);
    expect([coordinator.oldest, coordinator.last]).toEqual([2, 1]);
  });
});

// Few resources, one inside of another, and patterns over them.
const scope = fc.constantFrom('r:/a', 'r:/a/x', 'r:/a/y', 'r:/b', 'r:/*', 'r:/a/**', 'r:**');
const claim = fc
  .tuple(scope, fc.constantFrom<Access>('read', 'write'))
  .map(([text, access]) => claimOf(text, access));
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ begin: fc.array(claim, { maxLength: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.nat(9), by: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ end: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      expand: fc.nat(9),
      claims: fc.array(claim, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ release: fc.nat(9), by: fc.nat(3) }) },
);

/** The same decisions by a scan of the whole history. */
class NaiveCoordinator {
  readonly live: { epoch: number; claims: Claim[] }[] = [];
  readonly history: { epoch: number; claim: Claim }[] = [];

  blocker(epoch: number, asked: Claim): number | undefined {
    const older = this.live.filter(
      (work) => work.epoch < epoch && work.claims.some((one) => conflicts(one, asked)),
    );
    return older.length === 0 ? undefined : Math.min(...older.map((work) => work.epoch));
  }

  staleBy(epoch: number, asked: Claim): number | undefined {
    const later = this.history.filter((act) => act.epoch > epoch && conflicts(act.claim, asked));
    return later.length === 0 ? undefined : Math.max(...later.map((act) => act.epoch));
  }
}

test('waiting and staleness match a naive check of the full history', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const coordinator = new Coordinator();
      const naive = new NaiveCoordinator();
      const works: Work[] = [];
      const pick = (n: number): [Work, (typeof naive.live)[number]] | undefined => {
        if (works.length === 0) return undefined;
        return [works[n % works.length]!, naive.live[n % works.length]!];
      };
      for (const each of steps) {
        if ('begin' in each) {
          works.push(coordinator.begin(each.begin));
          naive.live.push({ epoch: works.at(-1)!.epoch, claims: [...each.begin] });
        } else if ('act' in each) {
          const [work, model] = pick(each.act) ?? [];
          const given = model?.claims[each.by % Math.max(model.claims.length, 1)];
          if (work === undefined || given === undefined) continue;
          const by = coordinator.blocker(work, given);
          expect(by).toBe(naive.blocker(work.epoch, given));
          if (by !== undefined) continue;
          coordinator.recordAct(work, given);
          naive.history.push({ epoch: work.epoch, claim: given });
        } else if ('expand' in each) {
          const [work, model] = pick(each.expand) ?? [];
          if (work === undefined || model === undefined) continue;
          const late = each.claims.find((one) => naive.staleBy(work.epoch, one) !== undefined);
          const stale = coordinator.expand(work, each.claims);
          expect(stale).toEqual(
            late && { epoch: work.epoch, by: naive.staleBy(work.epoch, late), claim: late },
          );
          if (stale === undefined) model.claims.push(...each.claims);
        } else if ('release' in each) {
          const [work, model] = pick(each.release) ?? [];
          const given = model?.claims[each.by % Math.max(model.claims.length, 1)];
          if (work === undefined || model === undefined || given === undefined) continue;
          coordinator.release(work, [given]);
          model.claims = model.claims.filter((one) => one !== given);
        } else {
          const place = each.end % Math.max(works.length, 1);
          if (works[place] === undefined) continue;
          coordinator.end(works[place]);
          works.splice(place, 1);
          naive.live.splice(place, 1);
        }
        expect(coordinator.oldest).toBe(
          Math.min(coordinator.last + 1, ...naive.live.map(({ epoch }) => epoch)),
        );
      }
    }),
    { numRuns: cases(2_000) },
  );
});

test('all work ends, and conflicting acts run in epoch order, for any claims', async () => {
  const program = fc.array(fc.tuple(claim, fc.constantFrom('declared', 'later')), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(program, { maxLength: 8 }),
      fc.scheduler(),
      async (programs, scheduler) => {
        const coordinator = new Coordinator();
        const done: { epoch: number; claim: Claim }[] = [];
        const run = async (steps: (typeof programs)[number]): Promise<void> => {
          const work = coordinator.begin(
            steps.flatMap(([one, when]) => (when === 'declared' ? [one] : [])),
          );
          for (const [one, when] of steps) {
            await scheduler.schedule(Promise.resolve());
            if (when === 'later' && coordinator.expand(work, [one]) !== undefined) break;
            await coordinator.whenClear(work, [one]);
            coordinator.recordAct(work, one);
            done.push({ epoch: work.epoch, claim: one });
          }
          await scheduler.schedule(Promise.resolve());
          coordinator.end(work);
        };
        await scheduler.waitFor(Promise.all(programs.map(run)));
        for (const [n, later] of done.entries()) {
          for (const earlier of done.slice(0, n)) {
            if (conflicts(earlier.claim, later.claim))
              expect(earlier.epoch).toBeLessThanOrEqual(later.epoch);
          }
        }
        expect(coordinator.oldest).toBe(coordinator.last + 1);
      },
    ),
    { numRuns: cases(500) },
  );
});
