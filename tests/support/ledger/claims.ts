import { z } from 'zod';
import { type Domain, defineDomain, escalate, pass, reject } from '#kernel';

/** The rules of the domain of claims, in order. */
export type ClaimRule = 'NAMES' | 'NO_SELF' | 'LEVEL';

export interface ClaimTerms {
  /** How many approvers a claim needs, and how many names the rule wants to see in the state. */
  readonly approvals: number;
  readonly names?: number;
  readonly final?: ClaimRule | undefined;
  /** Whether an override may cover a rejection by NO_SELF, if it is not final. Default: true. */
  readonly overridable?: boolean;
  /** `push` keeps every approver, `last` only the last one. */
  readonly mark?: 'push' | 'last';
}

/**
 * Claims that doctors approve. NAMES escalates a claim until enough names are in the state. NO_SELF
 * refuses an approval by the claimant, who need not be the requester. LEVEL is about loads. They
 * change while a claim is pending.
 */
export function claimsOf({
  approvals,
  names = approvals,
  final,
  overridable = true,
  mark = 'push',
}: ClaimTerms): Domain<any, any> {
  const optionsOf = (rule: ClaimRule) => (final === rule ? { final: true } : {});
  return defineDomain<any, any>({
    name: 'claims',
    version: `${approvals}.${names}.${final}.${overridable}.${mark}`,
    freeze: 'footprint',
    state: z.object({
      euros: z.number(),
      claimant: z.string(),
      approvers: z.array(z.string()),
      loads: z.record(z.string(), z.number()),
    }),
    initial: { euros: 0, claimant: '', approvers: [], loads: { u: 0, v: 0 } },
    counselors: { doctor: (principal: string) => principal.startsWith('dr-') },
    processes: {
      claiming: { writes: ['/euros', '/claimant'] },
      loading: { writes: ['/loads/{load}'] },
    },
    roles: {
      clerk: { processes: ['claiming'] },
      loader: { params: ['load'], processes: ['loading'] },
    },
    actions: {
      claim: {
        process: 'claiming',
        args: z.object({ euros: z.number(), claimant: z.string() }),
        apply: (state: any, { euros, claimant }: any) => {
          state.euros = euros;
          state.claimant = claimant;
        },
      },
      load: {
        process: 'loading',
        args: z.object({ to: z.number() }),
        apply: (state: any, { to }: any, { role }: any) => {
          state.loads[role.load] = to;
        },
      },
    } as never,
    invariants: ({ invariant, each }: any) => [
      invariant(
        'NAMES',
        ['/euros', '/approvers'],
        ({ euros, approvers }: any) =>
          euros === 0 || approvers.length >= names
            ? pass
            : escalate(`${approvers.length} names are too few`),
        {
          channel: 'doctor',
          approvals,
          ...optionsOf('NAMES'),
          onApprove: (state: any, { counselor }: any) => {
            if (mark === 'push') state.approvers.push(counselor);
            else state.approvers = [counselor];
          },
        },
      ),
      invariant(
        'NO_SELF',
        ['/approvers', '/claimant'],
        ({ approvers, claimant }: any) =>
          approvers.includes(claimant) ? reject(`${claimant} approves the own claim`) : pass,
        final === 'NO_SELF' ? { final: true } : { overridable },
      ),
      each('LEVEL', '/loads/*', optionsOf('LEVEL'), (load: number) =>
        load < 5 ? pass : escalate(`${load}`),
      ),
    ],
  });
}
