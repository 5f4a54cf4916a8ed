import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalize, contentHash, parsePointer } from '#canon';
import {
  adjudicate,
  approvePending,
  type Escalated,
  type Finding,
  firstFinding,
  type PendingProposal,
  plainPatches,
  type Ruling,
  World,
} from '#kernel';
import { cases } from '../support/cases.ts';
import {
  detailOf,
  generatedDomain,
  intentOf,
  type NaiveAction,
  naiveAction,
  naiveAll,
  naiveFirst,
  naiveResult,
  type RuleSpec,
  ruleSpec,
  type ShopState,
  shopState,
} from '../support/models/generated-domain.ts';
import { type Container, clone } from '../support/models/json.ts';
import { naiveDiff } from '../support/models/naive-patch.ts';
import { ANYONE } from '../support/models/permissive-authority.ts';

const AT = '2026-03-23T09:00:00.000000Z';
const INPUTS = { at: AT, observations: [] };

interface Step {
  readonly action: NaiveAction;
  /** The treatment of the proposal once it is approved, or once it is pending. */
  readonly fate: 'keep' | 'undo' | 'override' | 'replace' | 'leave';
  /** A state of the counselor's own. */
  readonly own: ShopState;
}

const schedule: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    action: naiveAction,
    fate: fc.constantFrom(
      'keep' as const,
      'keep' as const,
      'undo' as const,
      'override' as const,
      'replace' as const,
    ),
    own: shopState,
  }),
  { minLength: 1, maxLength: 12 },
);
const rules = fc.array(ruleSpec, { minLength: 1, maxLength: 6 });

function waitingOf(action: NaiveAction, escalated: Escalated): PendingProposal {
  return {
    intent: intentOf(action),
    inputs: INPUTS,
    patches: escalated.patches,
    approval: escalated.approval,
    ...(escalated.invariantId === undefined ? {} : { invariantId: escalated.invariantId }),
    channel: escalated.channel ?? 'any',
    freezes: escalated.freezes,
    approvals: escalated.approvals,
    approvedBy: [],
    requesters: ['alice'],
  };
}

/** The content of a ruling, without the fields that only the live `World` can use. */
function said(ruling: Ruling): unknown {
  if (ruling.verdict === 'approved')
    return { verdict: 'approved', patches: canonicalize(plainPatches(ruling.changes)) };
  if (ruling.verdict === 'rejected') return ruling;
  const { compiled: _compiled, ...rest } = ruling;
  return rest;
}

function expectStanding(world: World, specs: readonly RuleSpec[], state: ShopState): void {
  const failing = world.failing.map(({ rule, keys, result }) => ({
    id: rule.id,
    keys,
    answer: { ...result },
  }));
  const order = (finding: { id: string; keys: readonly string[] }): string =>
    canonicalize([finding.id, finding.keys]);
  const byOrder = (a: { id: string; keys: readonly string[] }, b: typeof a): number =>
    order(a) < order(b) ? -1 : 1;
  expect(failing.sort(byOrder)).toEqual(naiveAll(specs, state).sort(byOrder));
}

function play(specs: readonly RuleSpec[], start: ShopState, steps: readonly Step[]): string[] {
  const { domain } = generatedDomain(specs);
  const world = new World(domain, clone(start) as never);
  const seen: string[] = [];
  let state = start;
  expectStanding(world, specs, state);
  for (const { action, fate, own } of steps) {
    const result = naiveResult(state, action);
    const expected = result && naiveFirst(specs, result);
    // A `World` that was folded again, with its keys in another order, and with every rule checked
    // at its start.
    const folded = new World(domain, JSON.parse(canonicalize(state)));
    const again = adjudicate(folded, intentOf(action), ANYONE, INPUTS);
    const ruling = adjudicate(world, intentOf(action), ANYONE, INPUTS);
    expect(said(ruling)).toEqual(said(again));
    seen.push(canonicalize(JSON.parse(JSON.stringify(said(ruling)))));

    if (result === undefined)
      expect(ruling).toMatchObject({ verdict: 'rejected', reason: 'precondition_failed' });
    else if (expected === undefined) expect(ruling.verdict).toBe('approved');
    else {
      const verdict = expected.answer.result === 'reject' ? 'rejected' : 'escalated';
      const detail = detailOf(expected, specs, expected.id);
      expect(ruling).toMatchObject({ verdict, invariantId: expected.id, detail });
    }

    if (ruling.verdict === 'approved') {
      const changed = result as ShopState;
      expect(canonicalize(plainPatches(ruling.changes))).toBe(
        canonicalize(naiveDiff(state as never, changed as never)),
      );
      expect(firstFinding(domain, world.state)).toBeUndefined();
      if (fate === 'undo') ruling.undo();
      else {
        ruling.keep();
        state = changed;
      }
    } else if (ruling.verdict === 'escalated' && (fate === 'override' || fate === 'replace')) {
      const commit = approvePending(
        world,
        waitingOf(action, ruling),
        {
          principal: 'doc',
          at: AT,
          override: true,
          ...(fate === 'override'
            ? {}
            : { replacement: naiveDiff(state as never, clone(own) as never) as never }),
        },
        ANYONE,
      );
      if (fate === 'replace') state = own;
      else state = clone(world.state) as unknown as ShopState;
      const findings = naiveAll(specs, state);
      const broken = [...new Set(findings.map(({ id }) => id))];
      expect(
        commit.vector.filter((item) => item.result !== 'pass').map((item) => item.invariant_id),
      ).toEqual(broken);
      expect(commit.overridden).toBe(broken.length > 0);
      commit.keep();
    }
    expect(canonicalize(world.state)).toBe(canonicalize(state));
    expectStanding(world, specs, state);
    const naive = naiveFirst(specs, state);
    const first = firstFinding(domain, world.state as Container);
    expect(first && { id: first.rule.id, keys: first.keys }).toEqual(
      naive && { id: naive.id, keys: naive.keys },
    );
  }
  return seen;
}

test('checking a change’s rules equals checking all, also from broken states', () => {
  fc.assert(
    fc.property(rules, shopState, schedule, (specs, start, steps) => {
      play(specs, start, steps);
    }),
    { numRuns: cases(1_000) },
  );
});

test('strict: checking all equals checking a change, even after excuses', () => {
  const excuses = fc.array(fc.option(fc.nat(1000)), { minLength: 13, maxLength: 13 });
  fc.assert(
    fc.property(rules, shopState, schedule, excuses, (specs, start, steps, salts) => {
      const { domain } = generatedDomain(specs);
      const worlds = [{}, { strict: true }].map(
        (options) => new World(domain, clone(start) as never, undefined, options),
      ) as [World, World];
      const expectSameFailing = (): void => {
        const [quick, strict] = worlds.map((world) =>
          world.failing.map(({ rule, keys }) => canonicalize([rule.id, [...keys]])).sort(),
        );
        expect(strict).toEqual(quick);
      };
      const excuse = (salt: number | null | undefined): void => {
        if (typeof salt === 'number')
          for (const { checks } of worlds) checks.excuse(isExcusedBy(salt));
      };
      excuse(salts[0]);
      for (const [i, { action, fate, own }] of steps.entries()) {
        const rulings = worlds.map((world) => adjudicate(world, intentOf(action), ANYONE, INPUTS));
        expect(said(rulings[1] as Ruling)).toEqual(said(rulings[0] as Ruling));
        for (const ruling of rulings) {
          if (ruling.verdict === 'approved') fate === 'undo' ? ruling.undo() : ruling.keep();
        }
        expectSameFailing();
        if (fate === 'replace') {
          // The changes that another writer commits, for any result of the rules.
          const changes = naiveDiff(worlds[0].state as never, clone(own) as never).map(
            ({ path }) => ({
              keys: parsePointer(path),
            }),
          );
          for (const world of worlds) world.follow(clone(own) as never, changes);
          expectSameFailing();
        }
        excuse(salts[i + 1]);
      }
    }),
    { numRuns: cases(600) },
  );
});

/** Some of all findings. */
function isExcusedBy(salt: number): (finding: Finding) => boolean {
  return ({ rule, keys }) =>
    Number.parseInt(contentHash([salt, rule.id, [...keys]]).slice(0, 1), 16) < 10;
}

test('the same inputs give the same rulings, byte for byte', () => {
  fc.assert(
    fc.property(rules, shopState, schedule, (specs, start, steps) => {
      expect(play(specs, start, steps)).toEqual(play(specs, start, steps));
    }),
    { numRuns: cases(100) },
  );
});

test('an escalating rule passes with its approval mark until its reads change', () => {
  const specs: RuleSpec[] = [
    { kind: 'plain', reads: ['/n'], with: 'nothing', otherwise: 'escalate', refuses: 16, salt: 1 },
  ];
  const { domain } = generatedDomain(specs);
  const start: ShopState = { n: {}, orders: {}, users: {}, deep: {}, log: [], approvals: {} };
  const world = new World(domain, clone(start) as never);
  const action: NaiveAction = { name: 'count', user: 'a', by: 1 };
  const ruling = adjudicate(world, intentOf(action), ANYONE, INPUTS) as Escalated;
  expect(ruling.verdict).toBe('escalated');
  const commit = approvePending(
    world,
    waitingOf(action, ruling),
    { principal: 'doc', at: AT },
    ANYONE,
  );
  expect(commit.vector).toEqual([{ invariant_id: 'RULE_0', result: 'pass' }]);
  commit.keep();
  expect(world.failing).toEqual([]);
  expect(adjudicate(world, intentOf({ name: 'note', by: 1 }), ANYONE, INPUTS).verdict).toBe(
    'approved',
  );
  world.rollback({ undo: () => {}, state: world.state } as never);
  expect(adjudicate(world, intentOf(action), ANYONE, INPUTS).verdict).toBe('escalated');
});
