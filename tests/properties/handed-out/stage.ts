/** A shop. Each of its calls and callbacks goes through the hands of a caller. */
import type { LedgerStore } from '#ledger';
import * as agents from '../../../packages/agents/src/public/agents.ts';
import type { Store } from '../../../packages/assize/src/public/index.ts';
import * as index from '../../../packages/assize/src/public/index.ts';
import * as memory from '../../../packages/assize/src/public/memory.ts';
import * as audit from '../../../packages/audit/src/public/audit.ts';
import { keysOf } from '../../support/ledger/rows.ts';
import { HandClock, operator } from '../../support/ledger/runtime.ts';
import type { Hands } from './hands.ts';
import { type Freeze, shopOf } from './shop.ts';

export const ROLE = { name: 'clerk', params: { desk: 'd1' } };
export const MANAGER = { principal: 'manager:mia', method: 'test' };
export const DOCTOR = { principal: 'doctor:dan', method: 'test' };
export const MOVE = { from: 'ann', to: 'bob', cents: 5, tags: ['x', 'y'] };

/** The key of a principal that may delegate. */
export const LEAD = keysOf(11);

export type Stage = Awaited<ReturnType<typeof openShop>>;

/** `store`: an empty store. The shop uses it directly. */
export async function openShop(hands: Hands, store: Store, freeze: Freeze) {
  const on = hands.callback.bind(hands);
  const library = {
    ...hands.module(index),
    ...hands.module(audit),
    ...hands.module(agents),
    ...hands.module(memory),
  };
  const clock = new HandClock();
  const shop = shopOf(hands, freeze);
  const domains = [shop.domain, shop.next];
  const oracle = library.createOracle({ store, clock, mode: 'record' });
  const policy = {
    id: 'house',
    digest: 'd'.repeat(64),
    evaluate: on('Policy.evaluate', ({ action, args }: any) => ({
      decision: action === 'pay' && args.to === 'stranger' ? ('deny' as const) : ('allow' as const),
      reasons: ['house rules'],
      errors: [],
    })),
  };
  const options: index.AssizeOptions = {
    store: store as LedgerStore,
    oracle: store,
    snapshots: store,
    domains,
    anchors: [operator.publicKey],
    tools: shop.tools,
    policy,
    maxClockAheadMs: 'unlimited',
    approvals: {
      timeoutMs: 'never',
      onPending: on('ApprovalOptions.onPending', () => undefined),
      onResolved: on('ApprovalOptions.onResolved', () => {
        throw new Error('the listener is deaf');
      }),
    },
    effects: { resolvers: { account: on('Resolver', (scope: string) => scope) } },
    memory: {
      judge: { oracle, choose: on('Judge.choose', ({ members }) => members[0]!.claim) },
      embedder: {
        id: 'letters',
        dimensions: 2,
        embed: on('Embedder.embed', async (texts: readonly string[]) =>
          texts.map((text) => Float32Array.of(text.length, 1)),
        ),
      },
    },
    ports: {
      clock,
      random: library.seededRandom('shop'),
      pause: on('RuntimePorts.pause', async () => undefined),
    },
    onNotificationFailed: on('AssizeOptions.onNotificationFailed', () => undefined),
  };
  const assize: any = hands.watched(new index.Assize(options));
  const writFor = (subject: string, grant: object = {}): index.Writ =>
    library.issueWrit(
      {
        issuer: operator.publicKey,
        subject,
        actions: ['**'],
        scopes: ['**'],
        not_before: '2026-01-01T00:00:00.000000Z',
        expires: '2027-01-01T00:00:00.000000Z',
        max_depth: 4,
        nonce: subject,
        ...grant,
      },
      operator.privateKey,
    );
  const clerk = writFor('clerk', { budget: { cents: 1_000_000 }, trajectory: 'shop' });
  const leader = writFor(LEAD.publicKey, { budget: { cents: 1_000 }, trajectory: 'shop' });
  const trajectory: any = await assize.create(shop.domain, {
    trajectoryId: 'shop',
    writs: [clerk, leader],
    initial: shop.domain.initial,
  });
  // Entries about outcomes are written in the background. The next call waits for them, so that
  // every run has the same order.
  const settled = async <T>(answer: Promise<T>): Promise<T> => {
    const given = await answer;
    await assize.recoverEffects();
    return given;
  };
  const propose = (action: string, args: unknown, more: object = {}): Promise<any> =>
    settled(trajectory.propose({ action, role: ROLE, args, writ: clerk, ...more }));
  const approve = (id: string, input: object): Promise<any> =>
    settled(trajectory.approvals.approve(id, input).catch(() => undefined));
  const { domain, next } = shop;
  const writs = { clerk, leader };
  const actors = { settled, propose, approve, writFor };
  return {
    hands,
    on,
    library,
    store,
    clock,
    domain,
    next,
    domains,
    oracle,
    policy,
    options,
    assize,
    trajectory,
    writs,
    ...actors,
  };
}
