/**
 * A process that does a bit of everything, until it is killed:
 * `URL PORT SEED FROM TO AT_ONCE LEASE_MS`. Other processes run the same orders concurrently. The
 * sinks of the tools are at the port, in a process that survives.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isAssizeError } from '#base';
import { type CallContext, declareTool, type Tool } from '#effects';
import { createOracle } from '#oracle';
import {
  Assize,
  type Memory,
  type Ruling,
  type Trajectory,
  type Transaction,
  type UnresolvedEffect,
} from '#runtime';
import { openStore } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { operator, operatorWrit, RECOVERY_KEY } from '../support/ledger/runtime.ts';
import {
  aboutOf,
  type Call as Called,
  DOCTOR,
  FORBIDDEN,
  mixed,
  ON_PURPOSE,
  type Plan,
  type ProcessLine,
  planOf,
  SPACE,
  TOOLS,
  writOf,
} from './mixed-orders.ts';
import { say } from './process-output.ts';

const [url = '', port = '', seed = '', from = '', to = '', atOnce = '', leaseMs = ''] =
  process.argv.slice(2);
/** Maximum number of retries, and the milliseconds between them. */
const TRIES = 100;
const RETRY_MS = 20;
/** Interval of the search for work that killed processes abandoned. */
const TIDY_MS = 5;

/** Where what is asked has changed before it was answered. */
const ASKED_ANEW = ['stale_answer', 'answers_needed'];

const tell = (told: ProcessLine): void => say(JSON.stringify(told));

async function ask(
  sort: string,
  does: 'do' | 'undo' | 'has' | 'look',
  body: object,
): Promise<{ has: boolean }> {
  const answer = await fetch(`http://127.0.0.1:${port}/${sort}/${does}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the sink said ${answer.status}`);
  return (await answer.json()) as { has: boolean };
}

function toolOf([name, sink, reversibility, delivery]: (typeof TOOLS)[number]): Tool {
  return declareTool({
    name,
    input: z.strictObject({ what: z.string(), at: z.string() }),
    class: { reversibility, delivery, sink },
    writes: ['shop:{at}'],
    cost: () => ({ usd: 1 }),
    execute: ({ what }, { key }) => ask(sink, 'do', { key, what }),
    ...(reversibility === 'irreversible'
      ? {}
      : {
          compensate: async ({ what }: { what: string }, _: unknown, { key }: CallContext) => {
            await ask(sink, 'undo', { key, what });
            return { undone: 'all' as const };
          },
        }),
    ...(reversibility === 'with_cost' ? { undoCost: () => ({ usd: 1 }) } : {}),
    ...(sink === 'queryable'
      ? {
          reconcile: async (_: unknown, { key }: CallContext) =>
            (await ask(sink, 'has', { key })).has
              ? { happened: true as const, result: null }
              : { happened: false as const },
        }
      : {}),
  });
}

const store = await openStore(url);
const clock = { now: () => new Date().toISOString().replace('Z', '000Z') };
const vote = seededNumbers(process.pid);
const assize = new Assize({
  store,
  domains: [mixed],
  anchors: [operator.publicKey],
  ports: { clock },
  tools: TOOLS.map(toolOf),
  effects: { leaseMs: Number(leaseMs), recoveryKey: RECOVERY_KEY },
  snapshots: store,
  memory: {
    judge: {
      oracle: createOracle({ store, clock, mode: 'record' }),
      choose: ({ members }) => members[vote(members.length)]!.claim,
    },
  },
});
tell({ open: true });

/** Decides like an operator after a look at the sink. Another process can have decided just now. */
async function resolve({ epoch, n, tool, key }: UnresolvedEffect): Promise<void> {
  const isBlind = tool.startsWith('blind');
  const has = isBlind && (await ask('blind', 'look', { key })).has;
  const found = {
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'looked',
    ...(isBlind && !has ? { confirm: true } : {}),
  };
  try {
    await assize.resolveEffect({ epoch, n, as: has ? 'applied' : 'retry', ...found });
  } catch (error) {
    if (!isAssizeError(error)) throw error;
  }
}

async function tidy(): Promise<readonly UnresolvedEffect[]> {
  for (const each of await retried(() => assize.recoverEffects())) await resolve(each);
  return retried(() => assize.recoverEffects());
}

async function retried<T>(make: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await make();
    } catch (error) {
      if (!isAssizeError(error) || !error.retryable || tries === TRIES) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function call(tx: Pick<Transaction, 'call'>, { tool, what, at }: Called): Promise<void> {
  await tx.call(tool, { what, at });
}

/** The last call of a branch is one of a part of it. */
async function speculate(tx: Transaction, { branches, isChosen }: Plan): Promise<void> {
  const bodies = branches.map((calls) => async (branch: Transaction) => {
    for (const each of calls.slice(0, -1)) await call(branch, each);
    await branch.nested((part) => call(part, calls.at(-1)!));
  });
  try {
    await tx.speculate(bodies, () => (isChosen ? 0 : undefined));
  } catch (error) {
    if (isChosen || !isAssizeError(error, 'no_branch')) throw error;
  }
}

async function transact(trajectory: Trajectory, plan: Plan): Promise<Ruling> {
  const { name, calls, branches } = plan;
  const places = [name, `${name}-0`, `${name}-1`, 'shared-0', 'shared-1'];
  const writes = places.map((place) => `shop:${place}`);
  const { ruling } = await trajectory.transaction(
    { writ: writOf(plan.trajectory), name, writes },
    async (tx) => {
      for (const each of calls) await call(tx, each);
      if (branches.length > 0) await speculate(tx, plan);
      if (plan.throws) throw new Error(ON_PURPOSE);
      tx.propose({ action: 'count', role: 'counter', args: plan.isForbidden ? FORBIDDEN : name });
    },
  );
  return ruling;
}

/** Days of February. */
const day = (n: number): string => `2026-02-0${1 + n}T00:00:00.000000Z`;

function believe(memory: Memory, { kind, name, number }: Plan): Promise<Ruling> {
  const key = { idempotencyKey: name };
  const about = aboutOf(name);
  const valid = { from: day(number % 4), to: day((number % 4) + 1 + (number % 3)) };
  if (kind === 'change')
    return memory.change({ ...about, predicate: 'drug', from: day(number % 5) }, key);
  if (kind !== 'say') return memory.assert({ ...about, predicate: kind, valid }, key);
  const said = [
    { ...about, predicate: 'drug', valid },
    { ...about, predicate: 'allergy' },
    { ...about, predicate: 'weight', confidence: (number % 7) / 7 },
  ];
  return memory.assertMany(said, key);
}

async function put(trajectory: Trajectory, plan: Plan): Promise<Ruling> {
  const writ = writOf(plan.trajectory);
  const memory = trajectory.memory({ space: SPACE, writ });
  await memory.recall({ text: plan.name, valid: 'any', limit: 3 });
  if (plan.kind === 'transaction') return transact(trajectory, plan);
  if (plan.kind !== 'count') return retried(() => believe(memory, plan));
  const intent = {
    action: 'count',
    role: 'counter',
    args: plan.name,
    writ,
    idempotencyKey: plan.name,
  };
  return retried(() => trajectory.propose(intent));
}

/**
 * The doctor answers the questions and approves the pending proposal. If its read set has changed
 * in the meantime, the doctor rejects it.
 */
async function decide(
  trajectory: Trajectory,
  pending: string,
  { kind, number }: Plan,
): Promise<Ruling> {
  const questions = kind === 'diagnosis' ? await trajectory.approvals.questionsOf(pending) : [];
  const answers = questions.map(({ request, members }) => ({
    request,
    winner: members[number % members.length]!.claim,
  }));
  try {
    const rest = kind === 'transaction' ? { override: true } : { answers };
    return await retried(() => trajectory.approvals.approve(pending, { ...DOCTOR, ...rest }));
  } catch (error) {
    if (!isAssizeError(error, 'changed_since')) throw error;
    return trajectory.approvals.reject(pending, { ...DOCTOR, reason: 'it has changed' });
  }
}

async function rulingOf(number: number): Promise<Ruling> {
  const plan = planOf(Number(seed), number);
  const trajectory = await assize.open(plan.trajectory, mixed);
  const ruling = await put(trajectory, plan);
  return ruling.ruling === 'escalated' ? decide(trajectory, ruling.pending, plan) : ruling;
}

function nameOf(ruling: Ruling): string {
  return ruling.ruling === 'rejected' ? ruling.reason : ruling.ruling;
}

/**
 * Whether the order has ended. A frozen order, or one that is pending again, is proposed again
 * after the others.
 */
async function order(number: number): Promise<boolean> {
  try {
    const ruling = await rulingOf(number);
    if (ruling.ruling === 'frozen' || ruling.ruling === 'escalated') return false;
    tell({ number, ruling: nameOf(ruling) });
  } catch (error) {
    // Another process has asserted a further candidate in the meantime: the question is asked
    // again.
    if (isAssizeError(error) && ASKED_ANEW.includes(error.code)) return false;
    const { message } = error as Error;
    // Every other failure is an error with a code and advice.
    if (message !== ON_PURPOSE && !isAssizeError(error)) throw error;
    tell({ number, failed: isAssizeError(error) ? error.code : message });
  }
  return true;
}

let isOver = false;
async function tidyAllTheTime(): Promise<void> {
  while (!isOver) {
    await sleep(TIDY_MS);
    await tidy();
  }
}

await tidy();
const tidying = tidyAllTheTime();
const orders = Array.from({ length: Number(to) - Number(from) }, (_, n) => ({
  number: Number(from) + n,
  tries: 0,
}));
await Promise.all(
  Array.from({ length: Number(atOnce) }, async () => {
    for (let next = orders.shift(); next !== undefined; next = orders.shift()) {
      const { number, tries } = next;
      if ((await order(number)) || tries === TRIES) continue;
      orders.push({ number, tries: tries + 1 });
      await sleep(RETRY_MS);
    }
  }),
);
isOver = true;
await tidying;
tell({ left: (await tidy()).map(({ epoch, n, tool }) => ({ epoch, n, tool })) });
await assize.close();
await store.close();
