import { backtestStore } from '@assize/audit/internal/replay';
import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool } from '#effects';
import { call, type Domain, defineDomain, escalate, invariant, pass } from '#kernel';
import { readRow } from '#ledger';
import type { Assize, DomainRun, DomainWatch, ProposalInput, Ruling, Trajectory } from '#runtime';
import { MemoryStore } from '#stores';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

// Every piece of code of the domain notes the run around it.

class Watch implements DomainWatch {
  readonly #stack: DomainRun[] = [];
  readonly begun: DomainRun[] = [];
  /** The pieces of code that ran, with the run around each. */
  readonly code: [piece: string, run: DomainRun | undefined][] = [];
  refuses: (run: DomainRun) => boolean = () => false;

  begin(run: DomainRun): void {
    if (this.refuses(run)) throw new Error('stuck');
    this.begun.push(run);
    this.#stack.push(run);
  }

  end(): void {
    expect(this.#stack.pop()).toBeDefined();
  }

  ran(piece: string): void {
    this.code.push([piece, this.#stack.at(-1)]);
  }

  get depth(): number {
    return this.#stack.length;
  }
}

let watch = new Watch();
const ran = (piece: string): true => {
  watch.ran(piece);
  return true;
};
const AMOUNT = z.object({ n: z.number().refine(() => ran('schema')) });

const bank = declareTool({
  name: 'bank.pay',
  input: z.strictObject({ n: z.int() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank'],
  execute: ({ n }) => {
    if (n === 13) throw new DidNothing('no', { final: true });
    return n;
  },
});

function tillOf(version: string): Domain {
  return defineDomain({
    name: 'till',
    version,
    state: z.object({ total: z.number().refine(() => ran('state')), lost: z.number() }),
    initial: { total: 0, lost: 0 },
    processes: { paying: { reads: ['/total', '/lost'], writes: ['/total', '/lost'] } },
    roles: { worker: { processes: ['paying'] } },
    counselors: { boss: (principal: string) => ran('counselors') && principal.startsWith('boss') },
    memory: { predicates: { price: { cardinality: 'single-valued', strategy: 'lww' } } },
    actions: {
      pay: {
        process: 'paying',
        args: AMOUNT,
        apply: (state: any, { n }: { n: number }) => {
          ran('apply');
          state.total += n;
        },
        onApprove: (state: any) => {
          ran('onApprove');
          state.total = 0;
        },
      },
      transfer: {
        process: 'paying',
        args: AMOUNT,
        apply: (state: any, { n }: { n: number }) => {
          state.total += n;
        },
        calls: (_: unknown, { n }: { n: number }) => (ran('calls') ? [call(bank as never, { n })] : []),
        onFailure: ({ n }: { n: number }) => {
          ran('onFailure');
          return { action: 'lose', args: { n } };
        },
      },
      lose: {
        process: 'paying',
        args: AMOUNT,
        apply: (state: any, { n }: { n: number }) => {
          state.lost += n;
        },
      },
    },
    invariants: [
      invariant(
        'much',
        ['/total'],
        ({ total }) => {
          ran('invariant');
          return total % 100 > 40 ? escalate('much') : pass;
        },
        { channel: 'boss' },
      ),
    ],
  } as any) as Domain;
}

const till = tillOf('1');
const later = tillOf('2');
const writ = writFor('agent');
const BOSS = { principal: 'boss:ann', method: 'test' };
let store: MemoryStore;
let assize: Assize;
let books: Trajectory;

const over = (domains: readonly Domain[]): Assize =>
  runtimeOver(store, domains, { tools: [bank], ports: { watch } as never });
const does = (action: string, n: unknown, more: Partial<ProposalInput> = {}): Promise<Ruling> =>
  books.propose({ action, role: 'worker', args: { n }, writ, ...more } as never);
const pendingOf = (ruling: Ruling): string => (ruling.ruling === 'escalated' ? ruling.pending : '');
const digestOf = async (id: string): Promise<string> => (readRow((await store.resolve(id))!).payload as any).digest;

beforeEach(async () => {
  watch = new Watch();
  store = new MemoryStore();
  assize = over([till, later]);
  books = await assize.create(till, { trajectoryId: 't', writs: [writ] });
});

/** The runs since the last call. */
function underRuns(): readonly (Partial<DomainRun> | undefined)[] {
  expect(watch.depth).toBe(0);
  const runs = new Map(watch.code.map(([, run]) => [JSON.stringify(run), run]));
  for (const [piece, run] of watch.code) expect([piece, run === undefined]).toEqual([piece, false]);
  watch.code.length = 0;
  return [...runs.values()];
}

test('all code of a domain runs under the run that it belongs to', async () => {
  expect(underRuns()).toMatchObject([{ step: 'beginning', trajectoryId: 't', domain: till.hash }]);

  await does('pay', 1, { idempotencyKey: 'one', principal: 'agent' });
  const proposal = { step: 'proposal', trajectoryId: 't', domain: till.hash };
  expect(underRuns()).toMatchObject([{ ...proposal, action: 'pay', principal: 'agent' }]);
  await does('pay', 1, { idempotencyKey: 'one', principal: 'agent' });
  expect(underRuns()).toEqual([]);
  await does('pay', 'text', { idempotencyKey: 'bad' });
  underRuns();

  const asked = pendingOf(await does('pay', 50));
  expect(underRuns()).toMatchObject([{ ...proposal, action: 'pay' }]);
  const { deciders } = await books.approvals.decidersAmong(asked, ['boss:ann', 'other']);
  expect(deciders).toEqual(['boss:ann']);
  expect(underRuns()).toMatchObject([{ step: 'counselors', action: 'pay', id: await digestOf(asked) }]);
  await books.approvals.approve(asked, { ...BOSS, digest: await digestOf(asked) });
  expect(underRuns()).toEqual([
    { step: 'approval', trajectoryId: 't', domain: till.hash, id: asked, action: 'pay', principal: 'boss:ann' },
  ]);

  const amended = pendingOf(await does('pay', 60));
  underRuns();
  await books.approvals.approve(amended, { ...BOSS, digest: await digestOf(amended), args: { n: 1 } });
  const [amendment, ...none] = underRuns();
  expect(amendment).toMatchObject({ step: 'approval', action: 'pay' });
  expect([none, amendment!.id === amended]).toEqual([[], false]);

  const refused = pendingOf(await does('pay', 60));
  underRuns();
  await books.approvals.reject(refused, { ...BOSS, digest: await digestOf(refused), reason: 'no' });
  expect(underRuns()).toMatchObject([{ step: 'rejection', id: refused, action: 'pay' }]);

  await books.memory({ space: 's', writ }).assert({ subject: 'a', predicate: 'price', object: '1' } as never);
  underRuns();
  const chief = writFor('chief', { actions: ['assize.halt'], scopes: ['halt:**'], nonce: 'chief' });
  const { ruling: halted } = await books.halt({ reason: 'stop', writ: chief });
  expect(halted.ruling).toBe('committed');
  await books.resume({ reason: 'go', writ: chief });
  underRuns();

  const [first] = await store.entries('t', { from: 1, limit: 1 });
  await books.sliceAt(first!.id, 'worker');
  expect(underRuns()).toMatchObject([{ step: 'opening', trajectoryId: 't' }]);
  await assize.branch('t', first!.id, { trajectoryId: 'b', note: 'try', override: true });
  expect(underRuns()).toMatchObject([{ step: 'beginning', trajectoryId: 'b' }]);

  await backtestStore(store, { domains: [till, later], instead: [later], trajectoryIds: ['t'], watch });
  const tested = underRuns();
  expect(new Set(tested.map((run) => [run!.step, run!.domain].join()))).toEqual(new Set([`backtest,${later.hash}`]));
  expect(new Set(tested.map((run) => run!.id)).size).toBeGreaterThan(3);

  await books.upgrade(later, { writ, reason: 'newer' });
  expect(underRuns()).toMatchObject([{ ...proposal, action: 'assize.upgrade' }]);
  await over([later]).open('t');
  expect(underRuns()).toMatchObject([{ step: 'opening', trajectoryId: 't', domain: later.hash }]);
  await assize.close();
});

test('calls and the proposal for their failure run under a run', async () => {
  underRuns();
  await does('transfer', 2, { idempotencyKey: 'two' });
  expect(underRuns()).toMatchObject([{ step: 'proposal', action: 'transfer' }]);
  const ruling = await does('transfer', 13, { idempotencyKey: 'bad', observations: [] });
  if (ruling.ruling === 'committed') await assize.awaitEffects(ruling.entry.id).catch(() => undefined);
  await assize.recoverEffects();
  const steps = underRuns().map((run) => `${run!.step} ${run!.action}`);
  expect(steps).toEqual(expect.arrayContaining(['failure transfer', 'proposal lose']));
  await assize.close();
});

test('every attempt of a run has one id, and other content has another', async () => {
  const ids = (): string[] => watch.begun.splice(0).map(({ step, id }) => `${step} ${id}`);
  ids();
  const start = books.head;
  const once = async (n: number, key?: string): Promise<string> => {
    watch.refuses = (run) => {
      watch.begun.push(run);
      return true;
    };
    const more = key === undefined ? {} : { idempotencyKey: key };
    await expect(does('pay', n, more)).rejects.toThrow('stuck');
    watch.refuses = () => false;
    return [...new Set(ids())].join();
  };
  const [a, same, otherKey, otherContent] = [await once(1, 'a'), await once(2, 'a'), await once(1, 'b'), await once(2)];
  expect(same).toBe(a);
  expect(new Set([a, otherKey, otherContent, await once(1)]).size).toBe(4);
  expect(await once(1)).toBe(await once(1));
  expect(books.head).toBe(start);
});

test('a refused run records nothing, and the next one rules as before', async () => {
  const { head, length } = books;
  watch.refuses = ({ step }) => step === 'proposal';
  await expect(does('pay', 1, { idempotencyKey: 'one' })).rejects.toThrow('stuck');
  expect([books.head, books.length, watch.depth]).toEqual([head, length, 0]);
  watch.refuses = ({ step }) => step === 'opening' || step === 'beginning';
  await expect(over([till]).open('t')).rejects.toThrow('stuck');
  await expect(assize.create(till)).rejects.toThrow('stuck');
  expect((await does('pay', 1, { idempotencyKey: 'one' })).ruling).toBe('committed');
});
