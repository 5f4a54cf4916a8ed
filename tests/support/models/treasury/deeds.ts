import type { Writ } from '#authority';
import type { Domain } from '#kernel';
import type { Hash } from '#ledger';
import type {
  HaltOutcome,
  Revocation,
  Ruling,
  Trajectory,
  Upgrade,
  UpgradeOptions,
} from '#runtime';
import { writFor } from '../../ledger/runtime.ts';
import { migrationTo } from './domain.ts';
import type { Action, Call } from './naive.ts';
import type { Ask } from './schedule.ts';
import type { Version } from './versions.ts';

// The deeds of agents, counselors and officers on a trajectory, through the real runtime.

/** A proposal as it was made. */
export interface Asked {
  readonly do: 'ask';
  readonly ref: number;
  readonly agent: string;
  readonly writ: Writ;
  readonly action: Action;
  readonly key: string | undefined;
  readonly body: Ask['body'];
}

/** A decision on a pending proposal. */
export interface Decided {
  readonly do: 'approve' | 'reject';
  readonly pending: Hash;
  /** The digest that the counselor was shown. */
  readonly digest: Hash | undefined;
  readonly principal: string;
  readonly override: boolean;
  /** The amended action. */
  readonly amended: Action | undefined;
}

export interface Upgraded {
  readonly do: 'upgrade';
  readonly to: Version;
  /** The version that the process knows, and that the migration is for. */
  readonly from?: string;
  readonly raise: number;
  readonly principal: string | undefined;
  readonly dryRun: boolean;
  readonly isElsewhere: boolean;
}

export type Deed =
  | Asked
  | Decided
  | Upgraded
  | { readonly do: 'halt' | 'resume' }
  | { readonly do: 'revoke'; readonly writ: Writ }
  | { readonly do: 'branch'; readonly source: string; readonly entry: Hash };

const OFFICER = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });
const UPGRADER = writFor('upgrader', { actions: ['assize.upgrade'], scopes: ['upgrade:**'] });
const HALTER = writFor('security', { actions: ['assize.halt'], scopes: ['halt:**'] });

/** Does a deed on an open trajectory. `domains`: by the number of the version. */
export async function carryOut(
  open: Trajectory,
  deed: Deed,
  domains: readonly Domain[],
): Promise<Ruling | Upgrade> {
  switch (deed.do) {
    case 'ask':
      return ask(open, deed);
    case 'approve':
    case 'reject':
      return decide(open, deed);
    case 'upgrade':
      return open.upgrade(domains[deed.to.number - 1] as Domain, optionsOf(deed));
    case 'halt':
    case 'resume':
      return (await (open[deed.do]({ writ: HALTER, reason: 'stop' }) as Promise<HaltOutcome>))
        .ruling;
    case 'revoke': {
      const revoked: Revocation = await open.writs.revoke({
        writ: deed.writ,
        reason: 'lost',
        by: OFFICER,
      });
      return revoked.ruling;
    }
    case 'branch':
      throw new Error('a branch is not a deed of a trajectory');
  }
}

async function ask(open: Trajectory, { action, writ, key, body }: Asked): Promise<Ruling> {
  const intent = { action: action.name, role: roleOf(action), args: action.args };
  if (body === undefined)
    return open.propose({
      ...intent,
      writ,
      ...(key === undefined ? {} : { idempotencyKey: key }),
    } as never);
  const { ruling } = await open.transaction({ writ, writes: ['bank:**'] }, async (tx) => {
    if (body.tip !== undefined && action.name === 'pay')
      await tx.call('bank.tip', tipOf(action, body.tip));
    tx.propose(intent as never);
  });
  return ruling;
}

/** The call that the body of a transaction makes itself. */
export function tipOf(
  { args: { id: of, to } }: Extract<Action, { name: 'pay' }>,
  cents: number,
): Call['input'] {
  return { to, cents, of };
}

export function optionsOf({ to, raise, principal, dryRun }: Upgraded): UpgradeOptions {
  return {
    writ: UPGRADER,
    reason: `raise ${raise}`,
    migrate: migrationTo(to, raise),
    dryRun,
    ...(principal === undefined ? {} : { override: { principal, method: 'desk' } }),
  };
}

function decide(open: Trajectory, deed: Decided): Promise<Ruling> {
  const { do: does, pending, digest, principal, override, amended } = deed;
  const by = { principal, method: 'desk', ...(digest === undefined ? {} : { digest }) };
  if (does === 'reject') return open.approvals.reject(pending, { ...by, reason: 'no' });
  if (amended === undefined) return open.approvals.approve(pending, { ...by, override });
  const amendment = amended.name === 'note' ? { role: roleOf(amended) } : { args: amended.args };
  return open.approvals.approve(pending, { ...by, override, ...amendment });
}

/** The role of an action. */
export function roleOf(action: Action) {
  return action.name === 'note'
    ? { name: 'writer', params: { who: action.who } }
    : { name: 'clerk', params: {} };
}

/** The action that an entry records, with the role's parameter. */
export function actionIn({
  name,
  role,
  args,
}: {
  name: string;
  role: { params: object };
  args: unknown;
}): Action {
  return (
    name === 'note' ? { name, args, who: (role.params as { who: string }).who } : { name, args }
  ) as Action;
}
