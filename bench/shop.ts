/**
 * The state of the benchmarks: many members, and each proposal changes three fields of one member.
 */
import {
  Assize,
  type Domain,
  defineDomain,
  generateKeys,
  issueWrit,
  type KeyPair,
  type LedgerStore,
  pass,
  reject,
  ruleTable,
  type Trajectory,
  type Writ,
} from 'assize';
import { z } from 'zod';

const member = z.object({
  name: z.string(),
  balance: z.number().int(),
  visits: z.number().int(),
  last: z.string(),
  limit: z.number().int(),
});

/** One of a shop with plain rules and `each`, and also with rules over all members together. */
function shopWith(name: string, isWhole: boolean) {
  return defineDomain({
    name,
    version: '1',
    // The benchmarks of effects measure calls that no rule judges.
    unjudgedCalls: 'allow',
    state: z.object({ members: z.record(z.string(), member), open: z.boolean() }),
    processes: { visiting: { reads: ['/open'], writes: ['/members/{member}'] } },
    roles: { clerk: { params: ['member'], processes: ['visiting'] } },
    actions: {
      visit: {
        process: 'visiting',
        args: z.object({ spend: z.number().int().nonnegative(), note: z.string() }),
        cost: () => ({ calls: 1 }),
        apply: (state, { spend, note }, { role }) => {
          const who = state.members[role.member];
          if (who === undefined || !state.open) throw new Error('no such member, or closed');
          who.balance -= spend;
          who.visits += 1;
          who.last = note;
        },
      },
    },
    invariants: ({ invariant, each, unique, sum, count }) => [
      invariant('OPEN_IS_KNOWN', ['/open'], ({ open }) =>
        typeof open === 'boolean' ? pass : reject('open is not known'),
      ),
      each('WITHIN_LIMIT', '/members/*', {}, (m) =>
        m.balance >= -m.limit ? pass : reject('over the limit'),
      ),
      each('VISITS_COUNTED', '/members/*', {}, (m) =>
        m.visits >= 0 ? pass : reject('negative visits'),
      ),
      each('NAMED', '/members/*', {}, (m) => (m.name.length > 0 ? pass : reject('no name'))),
      ...(isWhole
        ? [
            unique('NAMES_DIFFER', '/members/*', { by: (m) => m.name }),
            sum('DEBTS_BOUNDED', '/members/*', { of: (m) => m.balance }, (total) =>
              total > -(2 ** 52) ? pass : reject(`all members together owe ${-total}`),
            ),
            count(
              'SOME_WITHIN',
              '/members/*',
              { where: (m) => m.balance > -(2 ** 40) },
              (members) => (members > 0 ? pass : reject('everybody is deep in debt')),
            ),
          ]
        : []),
    ],
  });
}

export const shop = shopWith('bench-shop', false);
/** With `unique`, `sum` and `count` too. */
export const wholeShop = shopWith('bench-whole-shop', true);

export function shopState(size: number): unknown {
  const members: Record<string, unknown> = {};
  for (let i = 0; i < size; i++) {
    members[`m${i}`] = { name: `member ${i}`, balance: 0, visits: 0, last: '-', limit: 2 ** 50 };
  }
  return { members, open: true };
}

export interface OpenShop {
  readonly trajectory: Trajectory;
  readonly writ: Writ;
}

/** A trajectory with everything on that a proposal meets: a writ with a budget and a rule table. */
export async function openShop(
  store: LedgerStore,
  size: number,
  domain: Domain = shop,
): Promise<OpenShop> {
  const keys = generateKeys();
  const policy = ruleTable({
    id: 'bench',
    rules: [
      { id: 'no-refunds', effect: 'deny', actions: ['refund'] },
      { id: 'visits', effect: 'allow', actions: ['visit'] },
    ],
    otherwise: 'deny',
  });
  const assize = new Assize({ store, domains: [domain], anchors: [keys.publicKey], policy });
  const trajectoryId = assize.newTrajectoryId();
  const writ = benchWrit(keys, trajectoryId);
  const trajectory = await assize.create(domain, {
    trajectoryId,
    initial: shopState(size),
    writs: [writ],
  });
  return { trajectory, writ };
}

/** A writ with a budget that no benchmark uses up; by default for visits. */
export function benchWrit(
  keys: KeyPair,
  trajectory: string,
  actions = ['visit'],
  scopes = ['role:clerk:*'],
): Writ {
  return issueWrit(
    {
      issuer: keys.publicKey,
      subject: 'agent:bench',
      trajectory,
      actions,
      scopes,
      budget: { calls: 2 ** 52 },
      not_before: '2020-01-01T00:00:00.000000Z',
      expires: '2100-01-01T00:00:00.000000Z',
      max_depth: 0,
      nonce: 'bench',
    },
    keys.privateKey,
  );
}

/** The i-th visit, spread over the members. */
export function visit(
  i: number,
  size: number,
): { action: string; role: { name: string; params: { member: string } }; args: unknown } {
  const member = `m${(i * 7919) % size}`;
  return {
    action: 'visit',
    role: { name: 'clerk', params: { member } },
    args: { spend: i % 100, note: `visit ${i} of ${member}` },
  };
}
