import { z } from 'zod';
import { segment } from '#authority';
import { deepFreeze, type Json } from '#base';
import { BUILT_IN_ROLE } from '../domain/built-in-role.ts';
import type { Change } from '../domain/change.ts';
import type { ActionSpec, Binding, Domain } from '../domain/domain.ts';
import { compileScope, WHOLE_STATE } from '../domain/footprint.ts';
import { refusePromise } from '../domain/host-code.ts';
import { isOverridable } from '../domain/invariant.ts';
import { stateFault } from '../domain/schema.ts';
import { messageOf } from '../errors.ts';
import { changesOf } from '../state/changes.ts';
import { Draft } from '../state/draft.ts';
import { type PatchOperation, patchesOf } from '../state/patches.ts';
import type { Container } from '../state/view.ts';
import type { Rejected } from './adjudicate.ts';
import { neverWaits } from './at-once.ts';
import { counselorKind } from './channel.ts';
import { authorised } from './compile.ts';
import type { Authority, Compiled } from './compiled.ts';
import { detailOf, type detectionVector } from './full-check.ts';
import { World } from './world.ts';

/**
 * The built-in action that continues a trajectory under another version of its domain. It needs a
 * writ for `upgrade:NAME:VERSION` of the new version.
 */
export const UPGRADE_ACTION = 'assize.upgrade';

/** The resource that a writ must cover to upgrade to a version of a domain: `upgrade:counter:2`. */
export function upgradeScope({ name, version }: Pick<Domain, 'name' | 'version'>): string {
  return `upgrade:${segment(name)}:${segment(version)}`;
}

const upgradeAction: ActionSpec = Object.freeze({
  process: UPGRADE_ACTION,
  args: z.custom<Json>(),
  scopes: (args: Json) => [upgradeScope((args as unknown as { readonly to: Domain }).to)],
  apply: () => {},
});

const WHOLE: Binding = Object.freeze({
  reads: [WHOLE_STATE],
  writes: [WHOLE_STATE],
  scope: compileScope([WHOLE_STATE]),
  closure: [WHOLE_STATE],
  closureScope: compileScope([WHOLE_STATE]),
});

/** Changes the state of one version of a domain into a state of the next version, in place. */
export type Migration = (state: any) => unknown;

export interface UpgradeProposal {
  /** The arguments, as the entry records them. */
  readonly args: Json;
  readonly next: Domain;
  readonly migrate: Migration | undefined;
  /** The counselor that overrides the rules that do not pass. */
  readonly counselor: string | undefined;
  /** The requester and the grantors of the writ. None of them may override. */
  readonly requesters: readonly string[];
}

/** An upgrade that every check accepts. Call exactly one of `keep` and `undo`, once. */
export interface ApprovedUpgrade {
  readonly verdict: 'approved';
  readonly compiled: Compiled;
  readonly changes: readonly Change[];
  /** The result of every rule of the new version. */
  readonly vector: ReturnType<typeof detectionVector>;
  /** The counselor kind of the overriding counselor. Undefined if every rule passes. */
  readonly as: string | undefined;
  /** The state under the new version. */
  readonly world: World;
  /** The changes as the ledger records them. Call before `undo`. */
  patches(): PatchOperation[];
  /** The changes are in `world` already. */
  keep(): void;
  undo(): void;
}

/**
 * Adjudicates an upgrade: writ, policy and budget, then the migration on the current state. The
 * result must fit the new schema, and must pass every rule of the new version or be overridden by a
 * counselor of the new version. An upgrade never waits for an approval. `world` may already have
 * the new version as its domain: only the state of `world` is read.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export function adjudicateUpgrade(
  world: World,
  { args, next, migrate, counselor, requesters }: UpgradeProposal,
  authority: Authority,
): ApprovedUpgrade | Rejected {
  const intent = { action: UPGRADE_ACTION, role: BUILT_IN_ROLE, args };
  const compiled = authorised(
    intent,
    { action: upgradeAction, args: deepFreeze(args), binding: WHOLE },
    authority,
  );
  if ('reason' in compiled) return { verdict: 'rejected', ...compiled };
  if (compiled.approvalDemand !== undefined)
    return neverWaits(compiled, compiled.approvalDemand, 'an upgrade');
  const draft = new Draft(world.state, world.owned, next.texts);
  try {
    const upgraded = migrated({ world, next, draft, counselor, requesters }, migrate, compiled);
    if (upgraded.verdict === 'rejected') world.rollback(draft);
    return upgraded;
  } catch (error) {
    world.rollback(draft);
    throw error;
  }
}

/** The ruling on the migrated state. If it is not approved, the caller undoes the draft. */
function migrated(
  {
    world,
    next,
    draft,
    counselor,
    requesters,
  }: Pick<UpgradeProposal, 'next' | 'counselor' | 'requesters'> & {
    readonly world: World;
    readonly draft: Draft;
  },
  migrate: Migration | undefined,
  compiled: Compiled,
): ApprovedUpgrade | Rejected {
  const policy = compiled.policy === undefined ? {} : { policy: compiled.policy };
  const refused = (refusal: Pick<Rejected, 'reason' | 'detail' | 'invariantId'>): Rejected => ({
    verdict: 'rejected',
    ...refusal,
    ...policy,
  });
  try {
    draft.within(WHOLE.scope, (state) => refusePromise(migrate?.(state), 'migrate'));
  } catch (error) {
    return refused({ reason: 'precondition_failed', detail: `migrate: ${messageOf(error)}` });
  }
  const misfit = stateFault(next.state, draft.state);
  if (misfit !== undefined)
    return refused({
      reason: 'type_mismatch',
      detail: `the state does not fit ${nameOf(next)}, so its migrate function must change it: ${misfit}`,
    });
  const changes = changesOf(draft);
  const after = new World(next, draft.state as Container, world.owned, { strict: world.strict });
  const [broken] = after.failing;
  const final = after.failing.find(({ rule, result }) => !isOverridable(rule.spec, result.result));
  if (final !== undefined)
    return refused({
      reason: 'invariant_rejected',
      detail: detailOf(final),
      invariantId: final.rule.id,
    });
  if (broken !== undefined && counselor === undefined)
    return refused({
      reason: 'invariant_rejected',
      detail: detailOf(broken),
      invariantId: broken.rule.id,
    });
  const asked = { action: compiled.name, role: compiled.role, args: compiled.args };
  return {
    verdict: 'approved',
    compiled,
    changes,
    vector: after.vector(),
    as:
      broken === undefined
        ? undefined
        : counselorKind(next, 'any', counselor as string, requesters, asked),
    world: after,
    patches: () => patchesOf(next, draft.state, changes),
    keep: () => {},
    undo: () => world.rollback(draft),
  };
}

function nameOf({ name, version }: Domain): string {
  return `${name}@${version}`;
}
