import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalize } from '#canon';
import { applyPatches, fresh, type Patch, type PendingPayload } from '#ledger';
import type { Ruling } from '#runtime';
import { cases } from '../support/cases.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import {
  generatedDomain,
  intentOf,
  meet,
  type NaiveAction,
  naiveAction,
  naiveAll,
  naiveFirst,
  naiveMark,
  naiveResult,
  naiveVector,
  type RuleSpec,
  readBy,
  type ShopState,
  touchedBy,
} from '../support/models/generated-domain.ts';
import { clone } from '../support/models/json.ts';
import { naiveDiff } from '../support/models/naive-patch.ts';
import { askingRules, fitted, payloadOf, shopState } from '../support/models/schedule.ts';

// `freeze: 'footprint'`: an open approval blocks changes that touch its closure, and nothing else
// (decisions §2.5).

type Step =
  | { readonly do: 'propose'; readonly action: NaiveAction }
  | { readonly do: 'approve' | 'reject'; readonly nth: number }
  | { readonly do: 'reopen' };

const narrow = naiveAction.filter(({ name }) => name !== 'edit');
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('propose' as const),
        // A wide action freezes all others, so most actions are narrow.
        action: fc.oneof({ weight: 1, arbitrary: naiveAction }, { weight: 9, arbitrary: narrow }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constantFrom('approve' as const, 'approve' as const, 'reject' as const),
        nth: fc.nat(3),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ do: 'reopen' as const }) },
  ),
  { minLength: 4, maxLength: 20 },
);

interface Open {
  readonly id: string;
  readonly action: NaiveAction;
  readonly rule: string;
  /** All that could possibly be frozen for it. */
  readonly closure: readonly string[];
  readonly surely: Surely;
}

/**
 * The paths that an action may touch. The closure adds the reads of every rule that its writes
 * overlap, and of the rule that escalated, if any.
 */
function closureOf(specs: readonly RuleSpec[], action: NaiveAction, asked?: number): string[] {
  const { touched, written } = touchedBy(action);
  const met = specs.flatMap((spec, index) => {
    const reads = readBy(spec, index);
    return index === asked || reads.some((read) => written.some((write) => meet(read, write)))
      ? reads
      : [];
  });
  return [...touched, ...met];
}

/**
 * The part of the closure that is frozen for any items: against writing, and against being read.
 */
interface Surely {
  readonly judgedBy: readonly string[];
  readonly changing: readonly string[];
}

/** Rules that count members, or judge each, freeze only what the changes reach. */
function surelyOf(
  specs: readonly RuleSpec[],
  action: NaiveAction,
  changed: readonly string[],
): Surely {
  const { touched, written } = touchedBy(action);
  const met = specs.flatMap((spec, index) => {
    const reads = spec.kind === 'plain' && spec.index === undefined ? readBy(spec, index) : [];
    return reads.some((read) => changed.some((path) => meet(read, path))) ? reads : [];
  });
  return { judgedBy: [...touched, ...met], changing: written };
}

function isSurely({ judgedBy, changing }: Surely, action: NaiveAction): boolean {
  const { touched, written } = touchedBy(action);
  const meets = (left: readonly string[], right: readonly string[]): boolean =>
    left.some((place) => right.some((other) => meet(place, other)));
  return meets(judgedBy, written) || meets(changing, touched);
}

const writ = writFor('alice');
const by = { principal: 'doc', method: 'test' };

async function play(
  specs: readonly RuleSpec[],
  start: ShopState,
  schedule: readonly Step[],
): Promise<void> {
  const { domain } = generatedDomain(specs, 'footprint');
  const store = new MemoryStore();
  const clock = new HandClock();
  let assize = runtimeOver(store, [domain], { ports: { clock } });
  let trajectory = await assize.create(domain, { trajectoryId: 't', initial: clone(start) });
  let state = start;
  let open: Open[] = [];
  const outcomeOf = (promise: Promise<Ruling>): Promise<Ruling | Error> =>
    promise.catch((error: Error) => error);

  for (const step of schedule) {
    const { length } = trajectory;
    if (step.do === 'reopen') {
      assize = runtimeOver(store, [domain], { ports: { clock } });
      trajectory = await assize.open('t');
    } else if (step.do === 'propose') {
      const { action } = step;
      const ruling = await trajectory.propose({ ...intentOf(action), writ });
      if (ruling.ruling === 'frozen') {
        const holder = open.find(({ id }) => id === ruling.by) as Open;
        const related = closureOf(specs, action);
        expect(holder.closure.some((place) => related.some((mine) => meet(place, mine)))).toBe(
          true,
        );
        expect(trajectory.length).toBe(length);
      } else {
        expect(trajectory.length).toBe(length + 1);
        expect(open.some(({ surely }) => isSurely(surely, action))).toBe(false);
        const next = naiveResult(state, action);
        const first = next && naiveFirst(specs, next);
        if (next === undefined)
          expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'precondition_failed' });
        else if (first === undefined) {
          expect(ruling.ruling).toBe('committed');
          state = next;
        } else {
          const asks = first.answer.result === 'escalate';
          expect(ruling).toMatchObject({
            ruling: asks ? 'escalated' : 'rejected',
            invariantId: first.id,
          });
          const asked = Number(first.id.slice('RULE_'.length));
          if (asks) {
            const closure = closureOf(specs, action, asked);
            const changed = naiveDiff(state as never, next as never).map(({ path }) => path);
            open.push({
              id: ruling.entry.id,
              action,
              rule: first.id,
              closure,
              surely: surelyOf(specs, action, changed),
            });
          }
        }
      }
    } else if (open.length > 0) {
      const chosen = open[step.nth % open.length] as Open;
      const pending = payloadOf((await store.resolve(chosen.id)) as never) as PendingPayload;
      if (step.do === 'reject') {
        expect(await trajectory.approvals.reject(chosen.id, { ...by, reason: 'no' })).toMatchObject(
          {
            ruling: 'rejected',
          },
        );
        open = open.filter((one) => one !== chosen);
      } else {
        const outcome = await outcomeOf(trajectory.approvals.approve(chosen.id, by));
        // For any commits in the meantime, the pending proposal is the submitted one.
        const fold = fresh(clone(state) as never);
        applyPatches(fold, clone(pending.proposal.delta.state) as readonly Patch[]);
        const next = naiveMark(specs, fold.state as never, chosen.rule);
        const passes = naiveVector(specs, next).every(({ result }) => result === 'pass');
        const changed = naiveDiff(state as never, next as never).map(({ path }) => path);
        const others = open.filter((one) => one !== chosen).flatMap(({ closure }) => closure);
        const isOthers = others.some((place) => changed.some((path) => meet(place, path)));
        if ((outcome as { code?: string }).code === 'frozen') {
          // Its change would touch paths that are frozen for another pending proposal.
          expect(isOthers).toBe(true);
          expect(trajectory.length).toBe(length);
        } else if (passes) {
          expect(outcome).toMatchObject({ ruling: 'committed' });
          state = next;
          open = open.filter((one) => one !== chosen);
        } else {
          expect(outcome).toMatchObject({ code: 'override_needed' });
          expect(trajectory.length).toBe(length);
        }
      }
    }
    expect(canonicalize(trajectory.state())).toBe(canonicalize(state));
    expect(naiveAll(specs, state)).toEqual([]);
    expect(trajectory.approvals.pending().map(({ id }) => id)).toEqual(open.map(({ id }) => id));
  }
}

test('unrelated proposals go on, related ones freeze, pending ones stay fixed', () =>
  fc.assert(
    fc.asyncProperty(askingRules, shopState, steps, (specs, start, schedule) =>
      play(fitted(specs, start), start, schedule),
    ),
    { numRuns: cases(500) },
  ));
