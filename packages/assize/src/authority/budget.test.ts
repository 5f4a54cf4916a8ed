import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import type { Amounts } from './amounts.ts';
import { attenuate } from './attenuate.ts';
import { BudgetLedger } from './budget.ts';
import { issueWrit, type Writ, writId } from './writ.ts';

const keys = Array.from({ length: 4 }, (_, index) =>
  generateKeys(new Uint8Array(32).fill(index + 1)),
);

function rootWith(budget: Amounts, nonce = 'root'): Writ {
  return issueWrit(
    {
      issuer: keys[0]!.publicKey,
      subject: keys[1]!.publicKey,
      trajectory: 't1',
      budget,
      not_before: '2026-01-01T00:00:00.000000Z',
      expires: '2027-01-01T00:00:00.000000Z',
      max_depth: 3,
      nonce,
    },
    keys[0]!.privateKey,
  );
}

const root = rootWith({ calls: 10, usd: 1000 });
const child = attenuate(
  root,
  { subject: keys[2]!.publicKey, nonce: 'c', budget: { calls: 6 } },
  keys[1]!.privateKey,
);
const sibling = attenuate(
  root,
  { subject: 'other', nonce: 's', budget: { calls: 6, usd: 1000 } },
  keys[1]!.privateKey,
);
const grandchild = attenuate(
  child,
  { subject: 'clerk', nonce: 'g', budget: { calls: 5 } },
  keys[2]!.privateKey,
);
const [rootId, childId, siblingId, grandchildId] = [root, child, sibling, grandchild].map(
  writId,
) as [string, string, string, string];

function opened(): BudgetLedger {
  const ledger = new BudgetLedger();
  for (const writ of [root, child, sibling, grandchild]) ledger.grant(writ);
  return ledger;
}

describe('BudgetLedger', () => {
  test('counts a cost against the writ and every ancestor, and no sibling', () => {
    const ledger = opened();
    ledger.spend(grandchildId, { calls: 2 });
    expect([rootId, childId, siblingId, grandchildId].map((id) => ledger.spent(id))).toEqual([
      { calls: 2 },
      { calls: 2 },
      {},
      { calls: 2 },
    ]);
  });

  test('the remaining budget is the least along the chain', () => {
    const ledger = opened();
    ledger.spend(siblingId, { calls: 6 });
    expect(ledger.left(rootId)).toEqual({ calls: 4, usd: 1000 });
    expect(ledger.left(grandchildId)).toEqual({ calls: 4 });
    expect(ledger.covers(grandchildId, { calls: 4 })).toEqual({ ok: true });
    expect(ledger.covers(grandchildId, { calls: 5 })).toEqual({
      ok: false,
      writ_id: rootId,
      unit: 'calls',
      left: 4,
      cost: 5,
      short: 1,
    });
  });

  test('names the nearest writ that falls short', () => {
    const short = { ok: false, writ_id: grandchildId, unit: 'calls', left: 5, cost: 20, short: 15 };
    expect(opened().covers(grandchildId, { calls: 20 })).toEqual(short);
  });

  test('a unit that is not named is not granted, but nothing of it costs nothing', () => {
    const ledger = opened();
    expect(ledger.covers(childId, { usd: 1 })).toEqual({
      ok: false,
      writ_id: childId,
      unit: 'usd',
      left: 0,
      cost: 1,
      short: 1,
    });
    expect(ledger.covers(childId, { usd: 0 })).toEqual({ ok: true });
    expect(ledger.covers(childId, {})).toEqual({ ok: true });
    const names = { toString: 1, constructor: 1, __proto__: 1 };
    expect(ledger.covers(childId, names)).toMatchObject({ ok: false, left: 0 });
    expect(ledger.covers(childId, JSON.parse('{"__proto__": 1}'))).toMatchObject({
      ok: false,
      unit: '__proto__',
    });
  });

  test('a writ without a budget has none', () => {
    const ledger = new BudgetLedger();
    const id = ledger.grant(rootWith({}));
    expect(ledger.left(id)).toEqual({});
    expect(ledger.covers(id, { calls: 1 })).toMatchObject({ ok: false, unit: 'calls', left: 0 });
  });

  test('spending beyond the budget is an error and books nothing anywhere', () => {
    const ledger = opened();
    const evidence = { writ_id: childId, unit: 'usd', left: 0, cost: 1, short: 1 };
    expect(() => ledger.spend(childId, { calls: 1, usd: 1 })).toThrowError(
      expect.objectContaining({ code: 'budget_exhausted', evidence }),
    );
    expect([rootId, childId].map((id) => ledger.spent(id))).toEqual([{}, {}]);
  });

  test('amounts up to 2^53−1 are exact and never pass it', () => {
    const ledger = new BudgetLedger();
    const id = ledger.grant(rootWith({ usd: Number.MAX_SAFE_INTEGER }));
    ledger.spend(id, { usd: Number.MAX_SAFE_INTEGER - 1 });
    expect(ledger.left(id)).toEqual({ usd: 1 });
    expect(ledger.covers(id, { usd: Number.MAX_SAFE_INTEGER })).toMatchObject({
      ok: false,
      left: 1,
    });
    ledger.spend(id, { usd: 1 });
    expect(ledger.covers(id, { usd: 1 })).toMatchObject({ ok: false, left: 0, short: 1 });
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null, 1n])(
    'an amount of %s is refused',
    (amount) => {
      const ledger = opened();
      for (const step of ['covers', 'spend', 'refund'] as const) {
        expect(() => ledger[step](childId, { calls: amount as number })).toThrowError(
          expect.objectContaining({
            code: 'bad_argument',
            message: expect.stringContaining('whole number'),
          }),
        );
      }
      expect(ledger.spent(childId)).toEqual({});
    },
  );

  test('a refund reverts exactly the spending, and nothing more', () => {
    const ledger = opened();
    ledger.spend(siblingId, { calls: 3 });
    ledger.spend(grandchildId, { calls: 3 });
    ledger.refund(grandchildId, { calls: 3 });
    expect(ledger.left(rootId)).toEqual({ calls: 7, usd: 1000 });
    const evidence = { writ_id: grandchildId, unit: 'calls', spent: 0, cost: 1 };
    expect(() => ledger.refund(grandchildId, { calls: 1 })).toThrowError(
      expect.objectContaining({ code: 'bad_argument', evidence }),
    );
    expect(ledger.left(rootId)).toEqual({ calls: 7, usd: 1000 });
  });

  test('an unknown writ, or a writ with an unknown parent, has no account', () => {
    const ledger = new BudgetLedger();
    const unknown = expect.objectContaining({
      code: 'not_found',
      message: expect.stringContaining('The budget has no writ'),
      name: 'AuthorityError',
    });
    expect(() => ledger.grant(child)).toThrowError(unknown);
    for (const step of [
      () => ledger.covers(rootId, {}),
      () => ledger.left(rootId),
      () => ledger.spent(rootId),
    ]) {
      expect(step).toThrowError(unknown);
    }
  });

  test('granting twice changes nothing', () => {
    const ledger = opened();
    ledger.spend(rootId, { calls: 4 });
    expect(ledger.grant(root)).toBe(rootId);
    expect(ledger.left(rootId)).toEqual({ calls: 6, usd: 1000 });
  });
});

/** A generated family of writs: each child's grant is at most its parent's. */
const family = fc
  .array(fc.record({ parent: fc.nat(), share: fc.integer({ min: 0, max: 100 }) }), { maxLength: 6 })
  .map((links) => {
    const writs: { writ: Writ; parent: number }[] = [{ writ: rootWith({ calls: 40 }), parent: -1 }];
    for (const [index, link] of links.entries()) {
      const parent = link.parent % writs.length;
      const above = writs[parent]!.writ;
      const key = keys.find(({ publicKey }) => publicKey === above.subject);
      if (key === undefined || above.max_depth === 0) continue;
      const subject = keys[keys.indexOf(key) + 1]?.publicKey ?? `clerk ${index}`;
      const calls = Math.floor((above.budget!['calls']! * link.share) / 100);
      writs.push({
        writ: attenuate(above, { subject, nonce: `${index}`, budget: { calls } }, key.privateKey),
        parent,
      });
    }
    return writs;
  });

/** The ids of the writs; both ledgers grant them. */
function granting(
  writs: readonly { readonly writ: Writ }[],
  one: BudgetLedger,
  other: BudgetLedger,
): string[] {
  for (const { writ } of writs) other.grant(writ);
  return writs.map(({ writ }) => one.grant(writ));
}

const step = fc.record({ who: fc.nat(), calls: fc.nat({ max: 15 }), refund: fc.boolean() });

describe('under any order of spending', () => {
  test('no grant is exceeded, and the ledger equals a naive sum over subtrees', () => {
    fc.assert(
      fc.property(family, fc.array(step, { maxLength: 60 }), (writs, steps) => {
        const ledger = new BudgetLedger();
        const ids = writs.map(({ writ }) => ledger.grant(writ));
        const own = writs.map(() => 0);
        const under = (at: number): number =>
          own[at]! +
          writs.reduce((sum, { parent }, index) => sum + (parent === at ? under(index) : 0), 0);
        for (const { who, calls, refund } of steps) {
          const at = who % ids.length;
          const cost = { calls };
          if (refund) {
            if (calls <= own[at]!) {
              ledger.refund(ids[at]!, cost);
              own[at]! -= calls;
            }
          } else {
            const answer = ledger.covers(ids[at]!, cost);
            expect(answer.ok).toBe(pays(at, calls));
            if (answer.ok) {
              ledger.spend(ids[at]!, cost);
              own[at]! += calls;
            }
          }
          for (const [index, id] of ids.entries()) {
            expect(ledger.spent(id)['calls'] ?? 0).toBe(under(index));
            expect(under(index)).toBeLessThanOrEqual(writs[index]!.writ.budget!['calls']!);
          }
        }

        function pays(at: number, calls: number): boolean {
          if (calls === 0) return true;
          for (let index = at; index >= 0; index = writs[index]!.parent) {
            if (under(index) + calls > writs[index]!.writ.budget!['calls']!) return false;
          }
          return true;
        }
      }),
      { numRuns: 500 },
    );
  });

  test('paid costs are booked up to the remaining budget, in any order', () => {
    const paid = fc.record({ who: fc.nat(), calls: fc.nat({ max: 15 }), isPaid: fc.boolean() });
    let short = 0;
    fc.assert(
      fc.property(family, fc.array(paid, { maxLength: 40 }), (writs, steps) => {
        const [ledger, last] = [new BudgetLedger(), new BudgetLedger()];
        const ids = granting(writs, ledger, last);
        const booked: { id: string; calls: number }[] = [];
        for (const { who, calls, isPaid } of steps) {
          const id = ids[who % ids.length]!;
          const before = ledger.left(id)['calls']!;
          if (isPaid) {
            ledger.spendUpTo(id, { calls, other: calls });
            booked.push({ id, calls });
            expect(ledger.left(id)['calls']).toBe(Math.max(0, before - calls));
            expect(ledger.spent(id)['other'] ?? 0).toBe(0);
            short += before < calls ? 1 : 0;
          } else if (ledger.covers(id, { calls }).ok) {
            ledger.spend(id, { calls });
            last.spend(id, { calls });
          }
        }
        // As in a fold: all covered costs come first.
        for (const { id, calls } of booked.reverse()) last.spendUpTo(id, { calls });
        expect(last.state()).toEqual(ledger.state());
      }),
      { numRuns: 500 },
    );
    expect(short).toBeGreaterThan(0);
  });

  test('a reservation under any writ counts as spent for every requester', () => {
    const reserving = fc.array(fc.record({ who: fc.nat(), calls: fc.nat({ max: 9 }) }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(
        family,
        reserving,
        fc.nat(),
        fc.nat({ max: 40 }),
        (writs, reservations, who, calls) => {
          const [ledger, other] = [new BudgetLedger(), new BudgetLedger()];
          const ids = granting(writs, ledger, other);
          const reserved = reservations
            .map((each) => ({ writId: ids[each.who % ids.length]!, cost: { calls: each.calls } }))
            .filter(({ writId: id, cost }) => {
              const { ok } = other.covers(id, cost);
              if (ok) other.spend(id, cost);
              return ok;
            });
          const id = ids[who % ids.length]!;
          expect(ledger.covers(id, { calls }, reserved)).toEqual(other.covers(id, { calls }));
          expect(ledger.left(id, reserved)).toEqual(other.left(id));
          const [was = 0, is = 0] = [ledger.spent(id)['calls'], other.spent(id)['calls']];
          const granted = 'calls' in ledger.left(id);
          expect(ledger.reserved(id, reserved)).toEqual(
            granted && is > was ? { calls: is - was } : {},
          );
          expect(ledger.state()).toEqual({});
        },
      ),
      { numRuns: 500 },
    );
    const ledger = opened();
    const elsewhere = { writId: 'of another trajectory', cost: { calls: 10 } };
    expect(ledger.covers(childId, { calls: 1 }, [elsewhere])).toEqual({ ok: true });
    // More than the remainder, as after another spender used the reservation.
    const much = { writId: childId, cost: { calls: 1_000 } };
    expect(ledger.covers(childId, { calls: 1 }, [much])).toMatchObject({
      ok: false,
      left: 0,
      short: 1,
    });
    expect(ledger.left(childId, [much])).toMatchObject({ calls: 0 });
  });

  test('row 22: of 50 siblings that take 60 % each, one is paid', () => {
    const ledger = new BudgetLedger();
    ledger.grant(root);
    const paid = Array.from({ length: 50 }, (_, index) => {
      const changes = { subject: `agent ${index}`, nonce: `${index}`, budget: { calls: 6 } };
      const id = ledger.grant(attenuate(root, changes, keys[1]!.privateKey));
      const answer = ledger.covers(id, { calls: 6 });
      if (answer.ok) ledger.spend(id, { calls: 6 });
      return answer.ok;
    });
    expect(paid.filter(Boolean)).toHaveLength(1);
    expect(ledger.spent(rootId)).toEqual({ calls: 6 });
  });

  test('spend and refund in reverse order is where one began', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ who: fc.nat({ max: 3 }), calls: fc.nat({ max: 4 }) }), {
          maxLength: 20,
        }),
        (steps) => {
          const ledger = opened();
          const ids = [rootId, childId, siblingId, grandchildId];
          const before = ids.map((id) => ledger.left(id));
          const done: { id: string; cost: Amounts }[] = [];
          for (const { who, calls } of steps) {
            const [id, cost] = [ids[who]!, { calls }];
            if (!ledger.covers(id, cost).ok) continue;
            ledger.spend(id, cost);
            done.push({ id, cost });
          }
          for (const { id, cost } of done.reverse()) ledger.refund(id, cost);
          expect(ids.map((id) => ledger.left(id))).toEqual(before);
        },
      ),
    );
  });
});

test('a state that does not fit is restored not at all', () => {
  const ledger = opened();
  expect(() => ledger.restore({ [rootId]: { calls: 3 }, [childId]: { calls: 7 } })).toThrow(
    expect.objectContaining({ code: 'budget_exhausted' }),
  );
  expect(ledger.state()).toEqual({});
  ledger.restore({ [rootId]: { calls: 3 }, [childId]: { calls: 2 } });
  expect(ledger.state()).toEqual({ [rootId]: { calls: 3 }, [childId]: { calls: 2 } });
});
