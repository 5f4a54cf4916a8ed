/**
 * Uses, delegations, branches and revocations in any order, by two processes that restart now and
 * then. The model knows the ancestors of each writ and keeps one set of revocations for each
 * trajectory.
 */

import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attenuate, delegateWrit, type Writ, writId } from '#authority';
import { isAssizeError } from '#base';
import type { EntryRow } from '#ledger';
import { seededRandom } from '#oracle';
import { backtestStore } from '#replay';
import { type Assize, verifyStore } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { deskOf } from '../support/ledger/desk.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';

const desk = deskOf();
const KEYS = Array.from({ length: 10 }, (_, n) => keysOf(60 + n));

/** A writ, the number of the key that holds it, and its ancestors. */
interface Held {
  readonly writ: Writ;
  readonly level: number;
  readonly chain: readonly Writ[];
}

const OFFICE = { actions: ['**', 'assize.revoke'], scopes: ['**', 'writ:**'] };

const root = (nonce: string, grant: Parameters<typeof writFor>[1] = {}): Held => ({
  writ: writFor(KEYS[0]!.publicKey, { nonce, max_depth: 8, ...grant }),
  level: 0,
  chain: [],
});

function childOf({ writ, level, chain }: Held, nonce: string, trajectory?: string): Held {
  const terms = { subject: KEYS[level + 1]!.publicKey, nonce };
  const { privateKey } = KEYS[level]!;
  const made =
    trajectory === undefined
      ? attenuate(writ, terms, privateKey)
      : delegateWrit(writ, { ...terms, trajectory }, privateKey);
  return { writ: made, level: level + 1, chain: [writ, ...chain] };
}

const lineageOf = ({ writ, chain }: Held): string[] => [writ, ...chain].map(writId);

/**
 * The writs of a trajectory: its first writ, two children of it, and a grandchild. The first
 * trajectory has two more roots.
 */
class Place {
  /** Not started by a delegation, so that its writs hold in branches of it too. */
  readonly isFree: boolean;
  readonly writs: readonly Held[];
  readonly revoked = new Set<string>();
  /** Of those, what was revoked in it, and not where it begins. */
  readonly own = new Set<string>();
  readonly below: { readonly name: string; readonly writ: Held }[] = [];

  constructor(first: Held, more: readonly Held[] = []) {
    this.isFree = first.chain.length === 0;
    const [a, b] = [childOf(first, 'a'), childOf(first, 'b')];
    this.writs = [first, a, b, childOf(a, 'c'), ...more];
  }

  stands(held: Held): boolean {
    return !lineageOf(held).some((id) => this.revoked.has(id));
  }
}

function mayRevoke(by: Held, target: Held): boolean {
  const above = lineageOf(target).slice(1).includes(writId(by.writ));
  // All roots here are of one issuer, and one of them is an officer's.
  const isOfficer = by.chain.length === 0 && by.writ.nonce === 'officer';
  return above || (isOfficer && writId(by.writ) !== writId(target.writ));
}

const step = fc.record({
  where: fc.nat(5),
  process: fc.nat(1),
  by: fc.nat(5),
  act: fc.oneof(
    { weight: 5, arbitrary: fc.constant('use' as const) },
    { weight: 3, arbitrary: fc.record({ revoke: fc.nat(8), asId: fc.boolean() }) },
    { weight: 2, arbitrary: fc.constant('delegate' as const) },
    { weight: 1, arbitrary: fc.constant('branch' as const) },
    { weight: 1, arbitrary: fc.constant('start over' as const) },
  ),
});

test('a use commits exactly while no ancestor is revoked there or above it', async () => {
  const seen = new Map<string, number>();
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const run = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
    const store = new MemoryStore();
    let made = 0;
    const make = (): Assize =>
      runtimeOver(store, [desk], { ports: { random: seededRandom(`process ${made++}`) } });
    const processes = [make(), make()];
    const first = root('first');
    await processes[0]!.create(desk, { trajectoryId: 't', writs: [first.writ] });
    const places = new Map([['t', new Place(first, [root('second'), root('officer', OFFICE)])]]);

    const revoke = (name: string, id: string): void => {
      const place = places.get(name) as Place;
      place.revoked.add(id);
      place.own.add(id);
      for (const { name: child, writ } of place.below)
        if (lineageOf(writ).includes(id)) revoke(child, id);
    };

    for (const { where, process, by: index, act } of steps) {
      const name = [...places.keys()][where % places.size] as string;
      const place = places.get(name) as Place;
      const by = place.writs[index % place.writs.length] as Held;
      if (act === 'start over') {
        processes[process] = make();
        continue;
      }
      const trajectory = await processes[process]!.open(name);
      const { writ, chain } = by;
      if (act === 'use') {
        const { ruling } = await trajectory.propose(
          intent('keep', { value: 1 }, { writ, chain } as never),
        );
        expect(ruling).toBe(place.stands(by) ? 'committed' : 'rejected');
        count(`use ${ruling}`);
      } else if (act === 'branch') {
        if (!place.isFree) continue;
        const rows = await store.entries(name);
        const from = rows.findLast(
          ({ kind }) => kind !== 'rejection' && kind !== 'delegation',
        ) as EntryRow;
        const branch = `b${places.size}`;
        await processes[process]!.branch(name, from.id, { trajectoryId: branch, note: 'x' });
        const copy = new Place(first, place.writs.slice(4));
        for (const id of place.revoked) copy.revoked.add(id);
        places.set(branch, copy);
        if (copy.revoked.size > 0) count('branch');
      } else if (act === 'delegate') {
        if (by.level > 5) continue;
        const child = `c${places.size}`;
        const delegated = childOf(by, child, child);
        const terms = { task: child, writ: { writ, chain }, signed: delegated.writ };
        const code = await trajectory.delegations.delegate(terms).then(
          () => 'done',
          (error: unknown) => (isAssizeError(error) ? error.code : String(error)),
        );
        expect(code).toBe(place.stands(by) ? 'done' : 'bad_writ');
        count(`delegate ${code}`);
        if (code !== 'done') continue;
        place.below.push({ name: child, writ: delegated });
        places.set(child, new Place(delegated));
      } else {
        const targets = [...place.writs, ...place.below.map(({ writ: delegated }) => delegated)];
        const target = targets[act.revoke % targets.length] as Held;
        const id = writId(target.writ);
        const isKnown = place.below.some(({ writ: delegated }) => writId(delegated.writ) === id);
        const given = act.asId && isKnown ? id : { writ: target.writ, chain: target.chain };
        const { ruling, propagated } = await trajectory.writs.revoke({
          writ: given,
          reason: 'so',
          by: { writ, chain },
        });
        const wasBefore = place.own.has(id);
        const fits = wasBefore || (place.stands(by) && mayRevoke(by, target));
        expect(ruling.ruling).toBe(fits ? 'committed' : 'rejected');
        count(`revoke ${wasBefore ? 'again' : ruling.ruling}`);
        if (fits) {
          const under = place.below.filter(({ writ: delegated }) =>
            lineageOf(delegated).includes(id),
          );
          expect(propagated).toEqual(under.map(({ name: child }) => ({ trajectoryId: child })));
          if (under.length > 0) count('carried');
          revoke(name, id);
        }
      }
    }
    for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
    for (const { differences, not_judgeable } of await backtestStore(store, { domains: [desk] }))
      expect([differences, not_judgeable]).toEqual([[], {}]);
    const last = make();
    for (const [name, place] of places)
      expect(new Set((await last.open(name)).writs.revoked())).toEqual(place.revoked);
  });
  await fc.assert(run, { numRuns: cases(300) });
  const wanted = [
    'use committed',
    'use rejected',
    'delegate done',
    'delegate bad_writ',
    'revoke committed',
    'revoke rejected',
  ];
  if (hasUsualCases())
    for (const what of [...wanted, 'revoke again', 'carried', 'branch'])
      expect([what, (seen.get(what) ?? 0) > cases(10)]).toEqual([what, true]);
});
