import { MemoryStore } from '@assize/testing/memory';
import { z } from 'zod';
import { type Agent, type ReplayRunOptions, type RunOptions, replayRun, runAgents } from '#agents';
import type { Json } from '#base';
import { type Domain, defineDomain, each, escalate, invariant, pass, reject } from '#kernel';
import { type Clock, createOracle, seededRandom } from '#oracle';
import type { AssizeOptions } from '#runtime';
import { HandClock, operator, runtimeOver, writFor } from './runtime.ts';

// A small newsroom: a writer with a model, a checker that draws the claim to check, an editor that
// prints. An article about a person needs a human approval first.

const int = z.number().int();

export const newsroom: Domain<any, any> = defineDomain<any, any>({
  name: 'newsroom',
  version: '1',
  state: z.object({
    drafts: z.record(
      z.string(),
      z.object({ text: z.string(), at: z.string(), checked: z.boolean() }),
    ),
    printed: z.array(z.string()),
    approved: z.record(z.string(), z.string()),
    ink: int,
  }),
  initial: { drafts: {}, printed: [], approved: {}, ink: 10 },
  processes: {
    write: { writes: ['/drafts'] },
    check: { writes: ['/drafts/*/checked'], reads: ['/drafts'] },
    print: { reads: ['/drafts'], writes: ['/printed', '/ink'] },
  },
  roles: {
    writer: { processes: ['write'] },
    checker: { processes: ['check'] },
    editor: { processes: ['print'] },
  },
  actions: {
    write: {
      process: 'write',
      args: z.object({ title: z.string(), text: z.string(), at: z.string() }),
      apply: (state: any, { title, text, at }: any) => {
        state.drafts[title] = { text, at, checked: false };
      },
    },
    check: {
      process: 'check',
      args: z.string(),
      apply: (state: any, title: string) => {
        state.drafts[title].checked = true;
      },
    },
    print: {
      process: 'print',
      args: z.string(),
      apply: (state: any, title: string) => {
        state.printed.push(title);
        state.ink--;
      },
    },
  },
  invariants: [
    invariant('INK', ['/ink'], (state: any) => (state.ink >= 0 ? pass : reject('there is no ink'))),
    each<any, string, any>(
      'CHECKED',
      '/printed/*',
      {
        reads: ['/drafts/*'],
        with: (title: any) => ({ draft: `/drafts/${title}` as `/${string}` }),
      },
      (title: any, { draft }: any) =>
        draft?.checked === true ? pass : reject(`${title} was not checked`),
    ),
    invariant(
      'PERSONAL',
      ['/printed', '/drafts', '/approved'],
      (state: any) => {
        const open = [...state.printed].find(
          (title: string) =>
            state.drafts[title]?.text.includes('Ms') && state.approved[title] === undefined,
        );
        return open === undefined ? pass : escalate(`${open} names a person`);
      },
      {
        onApprove: (state: any, { counselor }: any) => {
          for (const title of [...state.printed])
            if (state.approved[title] === undefined) state.approved[title] = counselor;
        },
      },
    ),
  ],
  counselors: { chief: (principal: string) => principal.startsWith('chief') },
  freeze: 'world',
});

/** A model that never says the same twice, and counts what it is asked. */
export class Model {
  calls = 0;
  readonly #tick: () => Promise<void>;

  constructor(tick: () => Promise<void> = async () => undefined) {
    this.#tick = tick;
  }

  async answer(prompt: Json): Promise<Json> {
    const n = ++this.calls;
    await this.#tick();
    return { text: `${n % 3 === 1 ? 'Ms Doe' : 'The town'} said ${n}`, prompt };
  }
}

const role = (name: string): Agent['role'] => ({ name, params: {} });

/** The three, with the model that the writer asks. `stories`: how many it writes. */
export function staff(model: Model, stories = 3): Agent[] {
  return [
    {
      name: 'wren',
      role: role('writer'),
      writ: writFor('wren'),
      async decide({ drafts }, oracle) {
        const count = Object.keys(drafts).length;
        if (count >= stories) return 'done';
        const [one, other] = await Promise.all(
          ['short', 'long'].map((length) =>
            oracle.ask({
              name: 'model',
              request: { model: 'm', n: count },
              theta: { prompt: `a ${length} story`, seed: count },
              call: () => model.answer(length),
            }),
          ),
        );
        const [byte] = await oracle.random(1);
        const { text } = ((byte as number) % 2 === 0 ? one : other) as { text: string };
        return { action: 'write', args: { title: `s${count}`, text, at: await oracle.now() } };
      },
    },
    {
      name: 'chad',
      role: role('checker'),
      writ: writFor('chad'),
      async decide({ drafts }, oracle) {
        const open = Object.keys(drafts).filter((title) => !drafts[title].checked);
        if (open.length === 0) return 'wait';
        const [byte] = await oracle.random(1);
        return { action: 'check', args: open[(byte as number) % open.length] };
      },
    },
    {
      name: 'edie',
      role: role('editor'),
      writ: writFor('edie'),
      async decide({ drafts, printed }, oracle) {
        if (printed.length >= stories) return 'done';
        const next = Object.keys(drafts).find((title) => !printed.includes(title));
        if (next === undefined) return 'wait';
        // It may be too early: the checker may not have been there yet.
        const mood = await oracle.ask({ request: 'mood', call: () => model.answer('mood') });
        return (mood as { text: string }).text.length % 2 === 0 && !drafts[next].checked
          ? 'wait'
          : { action: 'print', args: next };
      },
    },
  ];
}

/** Approves two of three, and needs to be asked twice. */
export function chief(): NonNullable<RunOptions['counsel']> {
  const asked = new Map<string, number>();
  return ({ id }) => {
    const times = (asked.get(id) ?? 0) + 1;
    asked.set(id, times);
    const by = { principal: 'chief of desk', method: 'test' };
    return id.charCodeAt(0) % 3 === 0
      ? { ...by, do: 'reject', reason: 'not of her' }
      : { ...by, do: 'approve', reason: `asked ${times} times` };
  };
}

/**
 * The newsroom on a store in memory, with everything that a run needs. Every reading advances the
 * clock.
 */
export async function desk(options: Partial<AssizeOptions> = {}, stories = 3) {
  const store = new MemoryStore();
  const hand = new HandClock();
  const clock: Clock = {
    now: () => {
      hand.forward(1);
      return hand.now();
    },
  };
  const model = new Model();
  const agents = staff(model, stories);
  const oracle = createOracle({ store, clock, mode: 'record' });
  const assize = runtimeOver(store, [newsroom], {
    oracle: store,
    ...options,
    ports: { clock, ...options.ports },
  });
  const trajectory = await assize.create(newsroom, { trajectoryId: 'desk' });
  const run = (more: Partial<RunOptions> = {}, who: readonly Agent[] = agents) =>
    runAgents(trajectory, who, {
      oracle,
      clock,
      random: seededRandom('run'),
      counsel: chief(),
      maxTurns: 60,
      ...more,
    });
  const replay = (more: Partial<ReplayRunOptions> = {}, who: readonly Agent[] = agents) =>
    replayRun({ store, oracleStore: store, trajectoryId: 'desk' }, newsroom, who, {
      anchors: [operator.publicKey],
      ...more,
    });
  return { store, hand, clock, model, agents, oracle, assize, trajectory, run, replay };
}
