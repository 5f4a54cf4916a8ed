import { copyJson, toPointer, WORLD_LIMITS } from '#canon';
import type { Change } from '../domain/change.ts';
import { changeOutside, compileScope, contains, type Pattern, patternText, type Scope } from '../domain/footprint.ts';
import { refusePromise } from '../domain/host-code.ts';
import { hasErased } from '../domain/sensitive.ts';
import { FootprintFault, messageOf } from '../errors.ts';
import { changesOf } from '../state/changes.ts';
import { Draft } from '../state/draft.ts';
import { type PatchOperation, patchesOf } from '../state/patches.ts';
import { candidateOf, type Inputs } from './candidate.ts';
import { approvalsFor, channelOf } from './channel.ts';
import { compile } from './compile.ts';
import type { Authority, Compiled, HeldBack, Intent, Refusal } from './compiled.ts';
import type { Finding } from './finding.ts';
import { detailOf, readBy } from './full-check.ts';
import type { World } from './world.ts';

/** A state change that passed everything. `keep` makes it the world's state, `undo` and `holdBack` take it back; call one, once. */
export interface Approved {
  readonly verdict: 'approved';
  readonly compiled: Compiled;
  readonly changes: readonly Change[];
  /** What the ledger says of the changes; to be asked before `keep` or `undo`. */
  patches(): PatchOperation[];
  /** All that the rules read to judge it; to be asked before `keep` or `undo`. */
  judgedBy(): readonly Pattern[];
  keep(): void;
  undo(): void;
  /** Puts it up for a person, for a reason that only who commits it knows. */
  holdBack(held: HeldBack): Escalated | Rejected;
}

/** `conflict`: what the proposal rests on was changed, says who asked for the judgement. */
export interface Rejected extends Omit<Refusal, 'reason'> {
  readonly verdict: 'rejected';
  readonly reason: Refusal['reason'] | 'conflict';
}

/** What waits for a person. The world is as before. */
export interface Escalated {
  readonly verdict: 'escalated';
  readonly compiled: Compiled;
  readonly patches: readonly PatchOperation[];
  /** What the approval mark adds, with `$counselor` for who approves and the proposal's time for when. */
  readonly approval: readonly PatchOperation[];
  readonly reason: 'invariant_escalated' | HeldBack['reason'];
  readonly detail: string;
  readonly invariantId?: string;
  /** Who may resolve it: a kind of counselor, several joined by `+`, or `any`. */
  readonly channel: string;
  /** How many different people must approve it. */
  readonly approvals: number;
  readonly freezes: 'world' | readonly string[];
}

export type Ruling = Approved | Rejected | Escalated;

/** Stands for the counselor's name while nobody has approved yet. */
export const COUNSELOR_PLACEHOLDER = '$counselor';

/**
 * The walk of a proposal: compile, candidate, the invariants in order; the first that does not pass decides
 * (seed 000, Definition A.35). Synchronous and total; without `keep` the world stays as it was. `parsed`: the arguments
 * are those of an entry, which were parsed when it was made. `conflict`: asked once, when it is known that the proposal may be made at
 * all, so that who may not make it hears nothing else; what it answers is why the proposal is refused.
 */
export function adjudicate(
  world: World,
  intent: Intent,
  authority: Authority,
  inputs: Inputs,
  options: {
    readonly parsed?: boolean;
    readonly conflict?: () => string | undefined;
  } = {},
): Ruling {
  const compiled = compile(world.domain, intent, authority, options);
  if ('reason' in compiled) return { verdict: 'rejected', ...compiled };
  const policy = compiled.policy === undefined ? {} : { policy: compiled.policy };
  const conflict = options.conflict?.();
  if (conflict !== undefined) return { verdict: 'rejected', reason: 'conflict', detail: conflict, ...policy };
  // As in arguments: `apply` may put what was observed where something sensitive stands.
  if (world.domain.sensitive !== undefined && options.parsed !== true && hasErased(inputs.observations)) {
    const detail = 'an observation has a value that is said to be erased, which only an erasure leaves';
    return { verdict: 'rejected', reason: 'type_mismatch', detail, ...policy };
  }
  const candidate = candidateOf(world, compiled, inputs);
  if ('reason' in candidate) return { verdict: 'rejected', ...candidate, ...policy };
  const { draft, changes } = candidate;
  const { finding, keep } = world.standing.judgeChanges(draft.state, changes);

  if (finding?.result.result === 'reject') {
    const detail = detailOf(finding);
    world.takeBack(draft);
    return { verdict: 'rejected', reason: 'invariant_rejected', detail, invariantId: finding.rule.id, ...policy };
  }
  if (finding !== undefined || compiled.heldBack !== undefined) {
    const escalated = escalation(world, compiled, draft, changes, finding, inputs);
    world.takeBack(draft);
    return escalated.verdict === 'rejected' ? { ...escalated, ...policy } : escalated;
  }
  return {
    verdict: 'approved',
    compiled,
    changes,
    patches: () => patchesOf(world.domain, draft.state, changes),
    judgedBy: () => world.standing.readBy(draft.state, changes),
    keep: () => {
      world.adopt(draft);
      keep();
    },
    undo: () => world.takeBack(draft),
    holdBack: (held) => {
      const escalated = escalation(world, { ...compiled, heldBack: held }, draft, changes, undefined, inputs);
      world.takeBack(draft);
      return escalated.verdict === 'rejected' ? { ...escalated, ...policy } : escalated;
    },
  };
}

function escalation(
  world: World,
  compiled: Compiled,
  draft: Draft,
  changes: readonly Change[],
  finding: Finding | undefined,
  inputs: Inputs,
): Escalated | Rejected {
  const mark = new Draft(draft.state, world.owned);
  try {
    markApproval(mark, compiled, finding, { counselor: COUNSELOR_PLACEHOLDER, at: inputs.at });
    const marks = changesOf(mark);
    const outside = changeOutside(closureOf(compiled, finding).patterns, marks);
    if (outside !== undefined) throw new FootprintFault(toPointer(outside.keys), 'write');
    const approval = copied(patchesOf(world.domain, mark.state, marks));
    mark.undo();
    draft.exchangeRoot(mark.state);
    const reasons = [finding && detailOf(finding), compiled.heldBack?.detail].filter((text) => text !== undefined);
    return {
      verdict: 'escalated',
      compiled,
      patches: copied(patchesOf(world.domain, draft.state, changes)),
      approval,
      reason: reasonOf(compiled, finding),
      detail: reasons.join('; '),
      ...(finding === undefined ? {} : { invariantId: finding.rule.id }),
      channel: channelOf(compiled, finding),
      approvals: approvalsFor(compiled, finding),
      freezes:
        compiled.heldBack?.reason === 'contradiction' && finding === undefined
          ? []
          : freezesOf(world, compiled, draft, changes, marks),
    };
  } catch (error) {
    mark.undo();
    return {
      verdict: 'rejected',
      reason: 'precondition_failed',
      detail: `onApprove of ${compiled.name}: ${messageOf(error)}`,
    };
  }
}

/** What can't be undone is what a person has to know first, also where a rule asks for them. */
function reasonOf({ heldBack }: Compiled, finding: Finding | undefined): Escalated['reason'] {
  if (heldBack === undefined || (finding !== undefined && heldBack.reason !== 'irreversible'))
    return 'invariant_escalated';
  return heldBack.reason;
}

/**
 * What changes with it, and all that it is judged by, the approval's mark included (decisions §2.5). Nothing is frozen for a
 * decision that nobody can take: without counselors the queue only grows (Definition A.35).
 */
function freezesOf(
  { domain, standing }: World,
  { binding }: Compiled,
  draft: Draft,
  changes: readonly Change[],
  marks: readonly Change[],
): 'world' | readonly string[] {
  if (Object.keys(domain.counselors).length === 0) return [];
  if (domain.freeze === 'world') return 'world';
  const frozen = [...binding.reads, ...binding.writes, ...standing.readBy(draft.state, changes)];
  // A change may begin what leads to a place of the footprint.
  const changed = [...changes, ...marks].map(({ keys }) => ({ segments: keys, append: false }));
  frozen.push(...changed.filter((place) => !contains(frozen, place)));
  return [...new Set(frozen.map(patternText))];
}

function copied(patches: readonly PatchOperation[]): PatchOperation[] {
  return copyJson(patches, WORLD_LIMITS) as unknown as PatchOperation[];
}

/**
 * All that an approval may touch, as far as footprints say. A rule that did not pass before has its say also where the
 * proposal's writes do not meet it.
 */
export function closureOf(
  { binding }: Compiled,
  finding: Pick<Finding, 'rule' | 'keys'> | undefined,
): { patterns: readonly Pattern[]; scope: Scope } {
  const read = finding === undefined ? [] : readBy(finding);
  const more = read.filter((pattern) => !contains(binding.closure, pattern));
  if (more.length === 0) return { patterns: binding.closure, scope: binding.closureScope };
  const patterns = [...binding.closure, ...more];
  return { patterns, scope: compileScope(patterns) };
}

/** Lets the action and the rule that escalated write the approval into the state (decisions §2.1). */
export function markApproval(
  draft: Draft,
  compiled: Compiled,
  finding: Pick<Finding, 'rule' | 'keys'> | undefined,
  approval: { counselor: string; at: string },
): void {
  const { action, args, role } = compiled;
  draft.within(closureOf(compiled, finding).scope, (state) => {
    refusePromise(action.onApprove?.(state, args, { ...approval, role: role.params }), 'onApprove');
    refusePromise(finding?.rule.spec.onApprove?.(state, { ...approval, keys: finding.keys }), 'onApprove');
  });
}
